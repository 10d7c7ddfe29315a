"""The report in a real browser: accessible in light and dark, on a phone and on a desk, silent, printable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sample_lab
import sample_loop
import sample_records as samples

import polyculture as pc
from browse import Open, unfold, violations
from polyculture.audit.records import AuditRecord
from polyculture.report import lab_loop, lab_sharing
from polyculture.report.html import html, repr_html

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

MORE = ("kinds", "reproduction", "sharing", "loop")


def with_kinds() -> AuditRecord:
    """Two kinds of decision-makers, one with a name that is markup, on two groups."""
    rng = np.random.default_rng(1)
    hard = rng.random(300) < 0.3
    columns = {f"m{j}": (rng.random(300) < np.where(hard, 0.7, 0.2)).astype(int) for j in range(5)}
    table = pl.DataFrame({"tone": ["<b>I-II</b>", "V-VI"] * 150, **columns})
    kinds = {"model": ["m0", "m1", "m2"], "<i>human</i>": ["m3", "m4"]}
    return pc.audit(table, outcomes="failed", by=["tone"], kinds=kinds).record


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    found = {name: folder / f"{name}.html" for name in samples.ALL}
    for name, path in found.items():
        path.write_text(html(samples.ALL[name]()), encoding="utf-8")
    found["kinds"] = folder / "kinds.html"
    found["kinds"].write_text(html(with_kinds()), encoding="utf-8")
    found["reproduction"] = folder / "reproduction.html"
    pc.reproduce().report(found["reproduction"])
    found["sharing"] = folder / "sharing.html"
    found["sharing"].write_text(lab_sharing.html(sample_lab.adapting("<b>model</b>")), encoding="utf-8")
    found["loop"] = folder / "loop.html"
    found["loop"].write_text(lab_loop.html(sample_loop.record("<b>tones</b>")), encoding="utf-8")
    leaking = '<!doctype html><img alt="" src="http://127.0.0.1:9/x.png">'
    found["leaking"] = folder / "leaking.html"
    found["leaking"].write_text(leaking, encoding="utf-8")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["with_groups", "hostile", "one_model", "many_models", *MORE])
def test_axe_finds_no_violation(opened: Open, name: str, width: int, scheme: str) -> None:
    page = opened(name, width=width, scheme=scheme)
    unfold(page)
    assert violations(page) == []
    assert page.left == []


@pytest.mark.parametrize(
    ("injection", "rule"),
    [
        ("<p style='color:#aaa;background:#fff'>too pale to read</p>", "color-contrast"),
        ("<img src='data:,'>", "image-alt"),
        ("<svg role='img'></svg>", "svg-img-alt"),
        ("<button></button>", "button-name"),
    ],
)
def test_axe_finds_an_injected_violation(opened: Open, injection: str, rule: str) -> None:
    page = opened("waimai")
    page.evaluate("text => document.querySelector('main').insertAdjacentHTML('beforeend', text)", injection)
    assert any(found.startswith(rule) for found in violations(page))


@pytest.mark.parametrize("name", [*samples.ALL, *MORE])
@pytest.mark.parametrize("width", [320, 360, 700, 1280])
def test_no_page_scrolls_sideways(opened: Open, name: str, width: int) -> None:
    page = opened(name, width=width)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


WIDE_TABLES = """() => [...document.querySelectorAll("table")].flatMap((table) => {
  const area = table.closest(".scroll");
  const room = (area ?? table.parentElement).clientWidth;
  if (table.scrollWidth <= room) return [];
  if (!area) return [{name: table.caption?.textContent, reached: false}];
  area.scrollLeft = table.scrollWidth;
  const left = area.getBoundingClientRect().left;
  const heads = [...table.tBodies[0].rows].map((row) => row.querySelector("th"));
  heads.push(table.tHead.rows[0].cells[heads[0].cellIndex]);
  const first = heads.map((cell) => cell.getBoundingClientRect());
  return [{
    name: table.caption?.textContent,
    reached: area.tabIndex === 0 && area.getAttribute("role") === "region" && !!area.getAttribute("aria-label"),
    moved: area.scrollLeft > 0,
    kept: first.every((cell) => Math.abs(cell.left - left) < 1),
    room: room - Math.max(...first.map((cell) => cell.width)),
  }];
})"""


@pytest.mark.parametrize("name", ["with_groups", "many_models", "hostile"])
def test_a_wide_table_scrolls_beside_the_names_of_its_rows(opened: Open, name: str) -> None:
    page = opened(name, width=360)
    unfold(page)
    tables = page.evaluate(WIDE_TABLES)
    assert len(tables) > 3
    for table in tables:
        assert table["reached"], table
        assert table["moved"], table
        assert table["kept"], table
        assert table["room"] > 150, table


ROOM = """(columns) => {
  const section = document.querySelector("main > section");
  const cells = `<td class="num">1,234,567,890</td>`.repeat(columns);
  section.insertAdjacentHTML("beforeend", `<div class="scroll"><table><tbody><tr><th>a_very_long_name_of_a_model</th>
    ${cells}</tr></tbody></table></div>`);
  const area = section.lastElementChild, box = area.getBoundingClientRect(), column = section.getBoundingClientRect();
  return {
    width: box.width,
    column: column.width,
    hidden: area.scrollWidth - area.clientWidth,
    aside: Math.abs(box.left + box.width / 2 - column.left - column.width / 2),
    lines: Math.round(area.querySelector("th").getBoundingClientRect().height / 30),
    page: document.documentElement.scrollWidth,
  };
}"""


@pytest.mark.parametrize(
    ("width", "columns", "room"),
    [(1280, 2, "column"), (1280, 8, "more"), (1280, 20, "all"), (1100, 6, "more"), (800, 8, "column")],
)
def test_a_wide_table_takes_the_room_beside_the_text_before_it_scrolls(
    opened: Open, width: int, columns: int, room: str
) -> None:
    found = opened("waimai", width=width).evaluate(ROOM, columns)
    assert found["page"] <= width
    if room == "column":
        assert found["width"] == pytest.approx(found["column"])
        return
    assert found["aside"] <= 1
    assert found["width"] > found["column"] + 20
    assert (found["hidden"] > 0) is (room == "all")
    if room == "all":
        assert found["width"] == pytest.approx(width - 64, abs=1)
    assert found["lines"] <= 1  # the name is not broken


@pytest.mark.parametrize("name", [*samples.ALL, *MORE])
def test_no_request_leaves_the_file(opened: Open, name: str) -> None:
    assert opened(name).left == []


def test_a_request_that_leaves_would_be_seen(opened: Open) -> None:
    assert "http://127.0.0.1:9/x.png" in opened("leaking").left


def test_the_policy_of_the_page_stops_what_is_smuggled_in(
    chromium: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    text = pages["waimai"].read_text(encoding="utf-8").replace("</main>", "<script>window.ran = true</script></main>")
    path = tmp_path / "smuggled.html"
    path.write_text(text, encoding="utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.ran") is None
    page.close()


def test_the_keyboard_reaches_skip_link_contents_and_scroll_areas(opened: Open) -> None:
    page = opened("with_groups", width=360)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.tagName")
        )
    areas = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.checkVisibility()).map(e => e.ariaLabel)"
    )
    assert areas
    assert set(areas) <= reached
    assert "SUMMARY" in reached


def test_a_focused_table_scrolls_with_arrow_keys(opened: Open) -> None:
    page = opened("with_groups", width=360)
    area = page.locator("#groups .scroll").first
    area.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    assert area.evaluate("element => element.scrollLeft") > 0


def test_the_skip_link_leads_to_the_numbers(opened: Open) -> None:
    page = opened("waimai")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_all_is_there_without_javascript(opened: Open) -> None:
    page = opened("with_groups", javascript=False)
    assert page.locator("h1").inner_text().startswith("775 of 11,987")
    for name in ("outcomes", "profile", "patterns", "models", "groups", "gaps", "reading"):
        assert page.locator(f"#{name} h2").is_visible()
    assert page.locator("#profile .wide svg").first.is_visible()
    page.locator("#groups summary").first.click()
    assert page.locator("#groups details table").first.is_visible()


@pytest.mark.parametrize(("width", "shown", "hidden"), [(360, "compact", "wide"), (1280, "wide", "compact")])
def test_each_screen_gets_its_size_of_chart(opened: Open, width: int, shown: str, hidden: str) -> None:
    page = opened("with_groups", width=width)
    for index in range(page.locator("figure").count()):
        figure = page.locator("figure").nth(index)
        assert figure.locator(f".{shown} svg").is_visible()
        assert not figure.locator(f".{hidden} svg").is_visible()
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('figure text')].filter(e => e.checkVisibility())"
        ".map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))"
    )
    assert smallest >= 9.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out_from_the_page(opened: Open, scheme: str) -> None:
    """WCAG 2: at least 3 to 1 for marks, 4.5 to 1 for text in charts, which axe cannot measure in SVG."""
    page = opened("with_groups", scheme=scheme)
    colours = page.evaluate(
        "Object.fromEntries(['paper', 'ink', 'muted', 'observed', 'expected', 'heat-0', 'heat-1', 'heat-2', 'line']"
        ".map(n => [n, getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()]))"
    )
    paper = luminance(colours["paper"])
    for name, least in {
        "ink": 7,
        "muted": 4.5,
        **dict.fromkeys(("observed", "expected", "heat-0", "heat-1"), 3),
    }.items():
        assert contrast(luminance(colours[name]), paper) >= least, name
    assert contrast(luminance(colours["heat-2"]), paper) >= 3
    assert contrast(luminance(colours["line"]), paper) >= 3


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_paper_gets_everything_on_white(opened: Open, tmp_path: Path) -> None:
    page = opened("with_groups", scheme="dark")
    pdf = page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 20_000
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("code.hash").first.is_visible()
    assert page.locator("#groups details table").first.is_visible()
    assert not page.locator("nav.contents").is_visible()
    assert page.locator("figure .wide svg").first.is_visible()


@pytest.mark.parametrize("name", samples.ALL)
def test_a_notebook_shows_the_compact_view_and_keeps_its_own_look(chromium: Any, name: str) -> None:
    page = chromium.new_page()
    page.set_content(f"<h1>mine</h1><table><tr><td>mine</td></tr></table>{repr_html(samples.ALL[name]())}")
    assert page.locator(".polyculture-audit table").first.is_visible()
    mine = page.evaluate("getComputedStyle(document.querySelector('td')).padding")
    assert mine == "1px"
    page.close()


def test_the_search_field_shows_the_rows_that_hold_all_words(opened: Open) -> None:
    page = opened("many_models")
    unfold(page)
    rows = page.locator("table[data-filter]").first.locator("tbody tr")
    total = rows.count()
    page.locator(".filter input").first.fill("-03b- ORGANISATION-4")
    shown = [text for text in rows.all_inner_texts() if text]
    visible = rows.locator("visible=true").count()
    assert 0 < visible < total
    assert page.locator(".filter output").first.inner_text() == f"{visible} of {total} rows"
    assert all("-03b-" in row.inner_text() for row in rows.all() if row.is_visible())
    assert shown
    page.locator(".filter input").first.fill("")
    assert rows.locator("visible=true").count() == total
    assert violations(page) == []


def test_the_searched_tables_are_whole_without_javascript(opened: Open) -> None:
    page = opened("many_models", javascript=False)
    assert page.locator(".filter").count() == 0
    page.locator("#pairs summary").first.click()
    rows = page.locator("table[data-filter]").first.locator("tbody tr")
    assert rows.count() == 1500  # the most alike of 1,770; the remark beneath says where the others are
    assert rows.last.is_visible()
