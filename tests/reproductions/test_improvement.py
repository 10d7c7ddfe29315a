"""Improvement between years of a HAPI folder: changes planted and counted by hand, and the paper's own case."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace
from rich.console import Console

import polyculture as pc
from polyculture.claims import ecosystem_level as paper
from polyculture.claims.records import ClaimRecord, Improvement
from polyculture.report.improvement import improvement_rows, undoing_chart
from polyculture.report.json import json_schema
from polyculture.report.reproduction import html, print_reproduction
from polyculture.reproductions.improvement import claims

# A year is a text a service; a letter an example: "x" is failed, "." is not.
SERVICES = ("amazon", "baidu", "google")

#            ten examples:   failed by amazon alone, with baidu, by all; then by none
EARLIER = {"amazon": "xxxxxx....", "baidu": "..xxxx....", "google": "....xx...."}
# amazon undoes 0 (alone), 2 (with baidu), 4 (of all), and newly fails 9. Later google fails 2 too, not 5.
LATER = {"amazon": ".x.x.x...x", "baidu": "..xxxx....", "google": "..x.x....."}


def write(folder: Path, dataset: str, years: dict[int, dict[str, str]]) -> Path:
    place = folder / "sa" / dataset
    examples = len(next(iter(next(iter(years.values())).values())))
    for year, services in years.items():
        for service, outcomes in services.items():
            (place / service).mkdir(parents=True, exist_ok=True)
            rows = [
                {"example_id": str(i), "predicted_label": "bad" if mark == "x" else "good", "confidence": 0.5}
                for i, mark in enumerate(outcomes)
            ]
            (place / service / f"{year}-03-05.json").write_text(json.dumps(rows))
    labels = [{"example_id": str(i), "true_label": "good"} for i in range(examples)]
    (place / "labels.json").write_text(json.dumps(labels))
    return folder


def of_improvement(found: Sequence[ClaimRecord]) -> list[ClaimRecord]:
    told = tuple(one.statement for one in paper.IMPROVEMENT)
    return [claim for claim in found if claim.statement.startswith(told)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> pc.Reproduction:
    folder = tmp_path_factory.mktemp("planted")
    times = {20: {name: text * 20 for name, text in EARLIER.items()}}
    times[21] = {name: text * 20 for name, text in LATER.items()}
    return pc.reproduce(data=write(folder, "waimai", times))


def test_counts_are_those_that_were_planted(planted: pc.Reproduction) -> None:
    found = {one.model: one for one in planted.record.improvements}
    assert list(found) == list(SERVICES)
    amazon = found["amazon"]
    assert (amazon.dataset, amazon.task, amazon.before, amazon.after) == ("waimai", "sa", "2020", "2021")
    assert (amazon.judged, amazon.failed_before) == (200, 120)
    assert (amazon.error.before.value, amazon.error.after.value) == (0.6, 0.4)
    assert amazon.error.difference.value == pytest.approx(-0.2)
    assert (amazon.improved, amazon.regressed, amazon.net) == (60, 20, 40)
    before, after = amazon.undoing
    # In 2020 examples 4 and 5 are failed by all others, of which 4 is undone; in 2021 2 and 4, both undone.
    assert (before.reading, before.potential, before.potential_systemic) == ("before", 120, 40)
    assert (before.undone, before.undone_systemic, before.net_systemic) == (60, 20, 20)
    assert before.share.value == pytest.approx(1 / 3)
    assert before.uniform == pytest.approx(1 / 3)
    assert (after.reading, after.potential_systemic, after.undone_systemic) == ("after", 40, 40)
    assert after.share.value == pytest.approx(2 / 3)


def test_the_same_as_a_comparison_of_the_folder(planted: pc.Reproduction, tmp_path: Path) -> None:
    times = {year: {n: text * 20 for n, text in one.items()} for year, one in ((20, EARLIER), (21, LATER))}
    alone = pc.compare(write(tmp_path, "waimai", times) / "sa" / "waimai", snapshot="year", seed=0)
    for one, model in zip(planted.record.improvements, alone.record.changes[0].models, strict=True):
        assert one.error == model.error
        assert [share.share for share in one.undoing] == [own.share for own in model.undoing]
        assert [share.adjusted for share in one.undoing] == [own.adjusted for own in model.undoing]


def test_counts_of_other_examples_are_given_and_not_tested(planted: pc.Reproduction) -> None:
    error, net, earlier, later, *means = of_improvement(planted.claims)
    assert (error.judged_by, error.verdict) == ("interval", "disagrees")
    assert [claim.found.value for claim in (net, earlier, later)] == [40, 20, 40]
    for claim in (net, earlier, later):
        assert claim.verdict == "not tested"
        assert "200 judged in both years and 120 failures in 2020, there 11,987 and 2,114" in claim.reason
    assert "the others read in the earlier year" in earlier.statement
    assert "the others read in the later year" in later.statement
    assert [claim.verdict for claim in means] == ["not tested", "not tested"]
    assert "only 1 data set: the figure is descriptive" in means[0].reason


def waimai(net_systemic: int) -> dict[int, dict[str, str]]:
    """Make both years of WAIMAI of its bundled patterns: 400 improvements and 97 regressions of amazon."""
    patterns = {"": 8731, "g": 749, "b": 213, "bg": 180, "a": 720, "ag": 463, "ab": 156, "abg": 775}
    order = [pattern for pattern, count in patterns.items() for _ in range(count)]
    before = {name: "".join("x" if name[0] in pattern else "." for pattern in order) for name in SERVICES}
    amazon = list(before["amazon"])
    alone, everyone, nobody = order.index("a"), order.index("abg"), order.index("")
    undone = [*range(alone, alone + 400 - net_systemic), *range(everyone, everyone + net_systemic)]
    for place in undone:
        amazon[place] = "."
    for place in range(nobody, nobody + 97):
        amazon[place] = "x"
    return {20: before, 21: {**before, "amazon": "".join(amazon)}}


@pytest.mark.parametrize(("systemic", "verdict"), [(0, "agrees"), (3, "disagrees")])
def test_the_papers_own_examples_are_held_as_the_same_data(tmp_path: Path, systemic: int, verdict: str) -> None:
    record = pc.reproduce(data=write(tmp_path, "waimai", waimai(systemic))).record
    error, net, earlier, later, *_ = of_improvement(record.claims)
    assert (error.judged_by, error.verdict) == ("same data", "agrees")
    assert (net.found.value, net.verdict) == (303, "agrees")
    for claim in (earlier, later):
        assert (claim.judged_by, claim.found.value, claim.verdict) == ("same data", systemic, verdict)


def test_counts_with_other_services_beside_are_not_tested(tmp_path: Path) -> None:
    times = {year: {n: text for n, text in one.items() if n != "google"} for year, one in waimai(0).items()}
    record = pc.reproduce(data=write(tmp_path, "waimai", times)).record
    _, net, earlier, *_ = of_improvement(record.claims)
    assert net.verdict == "agrees"
    assert (earlier.verdict, earlier.reason[:14]) == ("not tested", "other services")


def test_the_mean_has_an_interval_over_data_sets(planted: pc.Reproduction) -> None:
    one = planted.record.improvements[0]
    shares = [0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.05, 0.1, 0.08]

    def with_share(place: int, value: float) -> Improvement:
        undoing = tuple(replace(own, share=replace(own.share, value=value)) for own in one.undoing)
        return replace(one, dataset=f"d{place}", undoing=undoing)

    found = [with_share(place, value) for place, value in enumerate(shares) for _ in range(3)]
    claim = of_improvement(claims(found))[4]
    assert claim.found.value == pytest.approx(0.1)
    assert claim.found.low == pytest.approx(0.0596, abs=5e-4)  # t(9) x sd / sqrt(10): the services add nothing
    assert claim.verdict == "agrees"
    assert "the mean of 30 comparisons; expected would be 33.3 % if each failure" in claim.reason


def test_without_the_service_or_the_years_the_claims_say_so(tmp_path: Path) -> None:
    times = {20: EARLIER, 22: {**LATER, "tencent": LATER["baidu"]}}
    record = pc.reproduce(data=write(tmp_path, "digit", times)).record
    assert {(one.before, one.after) for one in record.improvements} == {("2020", "2022")}
    first = of_improvement(record.claims)[0]
    assert first.reason == "the folder holds no WAIMAI with amazon in both 2020 and 2021"


def test_years_without_a_common_service_are_named_and_one_service_has_no_others(tmp_path: Path) -> None:
    write(tmp_path, "digit", {20: EARLIER, 21: {"ibm": "x" * 10, "tencent": "." * 10}, 22: {"ibm": "." * 10, **LATER}})
    record = pc.reproduce(data=tmp_path).record
    assert any("digit: 2020 and 2021 were not compared: No model is in both" in note for note in record.notes)
    (alone,) = record.improvements
    assert (alone.model, alone.improved, alone.undoing) == ("ibm", 10, ())
    assert "undefined" in html(record)
    assert of_improvement(record.claims)[4].verdict == "not tested"


def test_every_output_holds_the_improvements(planted: pc.Reproduction, tmp_path: Path) -> None:
    planted.write(tmp_path / "out")
    written = json.loads((tmp_path / "out" / "reproduction.json").read_text())
    jsonschema.validate(written, json_schema("reproduction"))
    assert written["improvements"][0]["net"] == 40
    with (tmp_path / "out" / "improvements.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["model"], row["reading"], row["undone_systemic"]) for row in rows[:2]] == [
        ("amazon", "before", "20"),
        ("amazon", "after", "40"),
    ]
    with (tmp_path / "out" / "dictionary.csv").open(encoding="utf-8", newline="") as file:
        told = {(row["table"], row["column"]): row["unit"] for row in csv.DictReader(file)}
    assert all(told["improvements", column] for column in rows[0])
    assert planted.frame("improvements").height == 6


def test_the_page_and_the_chart_show_them(planted: pc.Reproduction) -> None:
    page = html(planted.record)
    part = page[page.index('<section id="improvement"') : page.index('<section id="claims"')]
    assert part.count('<tr><th scope="row">') == 3
    assert "difficulty alone" in part
    chart: Any = undoing_chart(improvement_rows(planted.record.improvements))
    assert chart.rows[0]["label"] == "waimai, amazon, 2020-21"
    assert chart.rows[0]["value"] == chart.rows[0]["expected"] == pytest.approx(1 / 3)
    assert undoing_chart([]) is None


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_terminal_shows_them(planted: pc.Reproduction, width: int) -> None:
    out = io.StringIO()
    print_reproduction(planted.record, Console(file=out, width=width))
    assert "Improvement between years" in " ".join(out.getvalue().split())
    assert "+40" in out.getvalue()
    assert "published -2.5 points, found -20.0 points" in " ".join(out.getvalue().split())
    assert max(len(line) for line in out.getvalue().splitlines()) <= width
