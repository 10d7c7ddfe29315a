"""The page of a comparison in a real browser: accessible in light and dark, on a phone and on a desk, silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compare_samples as samples
import pytest

from browse import Open, unfold, violations
from polyculture.report.compare_charts import SHADES
from polyculture.report.compare_html import compare_html, compare_repr_html

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("comparisons")
    found = {name: folder / f"{name}.html" for name in samples.ALL}
    for name, path in found.items():
        path.write_text(compare_html(samples.ALL[name]()), encoding="utf-8")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["groups", "hostile", "trend"])
def test_axe_finds_no_violation(opened: Open, name: str, width: int, scheme: str) -> None:
    page = opened(name, width=width, scheme=scheme)
    unfold(page)
    assert violations(page) == []
    assert page.left == []


@pytest.mark.parametrize("name", samples.ALL)
@pytest.mark.parametrize("width", [320, 1280])
def test_no_page_scrolls_sideways(opened: Open, name: str, width: int) -> None:
    page = opened(name, width=width)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "shown", "hidden"), [(360, "compact", "wide"), (1280, "wide", "compact")])
def test_each_screen_gets_its_size_of_chart(opened: Open, width: int, shown: str, hidden: str) -> None:
    page = opened("trend", width=width)
    figures = page.locator("figure")
    assert figures.count() >= 8
    for index in range(figures.count()):
        assert figures.nth(index).locator(f".{shown} svg").is_visible()
        assert not figures.nth(index).locator(f".{hidden} svg").is_visible()
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('figure text')].filter(e => e.checkVisibility())"
        ".map(e => parseFloat(getComputedStyle(e).fontSize) * Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b)))"
    )
    assert smallest >= 9.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_the_heat_map_stand_out_from_their_cells(opened: Open, scheme: str) -> None:
    """WCAG 2: at least 4.5 to 1, by the colours that the cells have on this page."""
    page = opened("plain", scheme=scheme)
    colours = page.evaluate(
        "Object.fromEntries(['paper', 'ink', 'observed']"
        ".map(n => [n, getComputedStyle(document.documentElement).getPropertyValue('--' + n).trim()]))"
    )
    paper, ink, observed = (rgb(colours[name]) for name in ("paper", "ink", "observed"))
    for opacity in (0.0, *(shade for shade, _ in SHADES), 1.0):
        cell = [opacity * a + (1 - opacity) * b for a, b in zip(observed, paper, strict=True)]
        text = ink if opacity < 0.7 else paper
        assert contrast(luminance(text), luminance(cell)) >= 4.5, opacity


def rgb(colour: str) -> list[float]:
    return [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]


def luminance(parts: list[float]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_all_is_there_without_javascript_and_on_paper(opened: Open, tmp_path: Path) -> None:
    page = opened("trend", javascript=False)
    for name in ("trend", "change-0", "change-2", "reading"):
        assert page.locator(f"#{name} h2").is_visible()
    page = opened("groups", scheme="dark")
    assert page.pdf(path=str(tmp_path / "c.pdf"), format="A4").startswith(b"%PDF")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#change-0 details table").first.is_visible()


@pytest.mark.parametrize("name", ["plain", "hostile", "one_model"])
def test_a_notebook_shows_the_compact_view(chromium: Any, name: str) -> None:
    page = chromium.new_page()
    page.set_content(compare_repr_html(samples.ALL[name]()))
    assert page.locator(".polyculture-audit table").first.is_visible()
    page.close()
