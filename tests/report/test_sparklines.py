"""Small lines in cells: where their points lie, where they break, and every measure of a loop as one."""

from __future__ import annotations

import re

import pytest
from sample_loop import HOSTILE, record

from polyculture.report.lab_loop import KINDS, TITLES, html
from polyculture.report.lab_loop_curves import FAMILIES, MOST_OF, _first, curve_tables
from polyculture.report.sparklines import EDGE, HEIGHT, WIDTH, axis_of, sparkline


def points(text: str, tag: str) -> list[list[tuple[float, float]]]:
    found = re.findall(rf'<{tag} points="([^"]*)"', text)
    return [[(float(x), float(y)) for x, y in (pair.split(",") for pair in one.split())] for one in found]


def test_a_line_goes_from_edge_to_edge_and_its_band_around_it() -> None:
    drawn = str(sparkline([0.0, 0.5, 1.0], [0.0, 0.25, 0.5], [0.5, 0.75, 2.0], (0.0, 1.0), "a < b"))
    top, bottom, right = EDGE, HEIGHT - EDGE, WIDTH - EDGE
    assert points(drawn, "polyline") == [[(EDGE, bottom), (WIDTH / 2, HEIGHT / 2), (right, top)]]
    (band,) = points(drawn, "polygon")
    assert band == [
        (EDGE, HEIGHT / 2),
        (WIDTH / 2, 10.5),
        (right, top),  # cut at the axis
        (right, HEIGHT / 2),
        (WIDTH / 2, 25.5),
        (EDGE, bottom),
    ]
    assert f'<circle cx="{right:.1f}" cy="{top:.1f}"' in drawn
    assert 'role="img" aria-label="a &lt; b"' in drawn


def test_a_line_breaks_where_nothing_is_known_and_has_no_band_without_ends() -> None:
    drawn = str(sparkline([0.1, None, 0.3, 0.4], [None, None, 0.2, None], [None, None, 0.5, None], (0.0, 1.0), "x"))
    assert [len(line) for line in points(drawn, "polyline")] == [1, 2]
    assert not points(drawn, "polygon")
    assert drawn.count("<circle") == 2
    assert len(points(str(sparkline([0.1], [None], [None], (0.0, 1.0), "x")), "polyline")) == 1


def test_the_axis_holds_every_line_and_no_impossible_value() -> None:
    assert axis_of([[0.2, 0.4], [None, 0.6]]) == pytest.approx((0.0, 0.8))
    assert axis_of([[0.9, 1.0]], 0.0, 1.0) == pytest.approx((0.85, 1.0))
    assert axis_of([[0.0]]) == (-0.5, 0.5)
    assert axis_of([]) == (0.0, 1.0)


def test_every_measure_of_the_record_is_a_row_and_every_arm_a_column() -> None:
    one = record()
    tables = curve_tables(one, TITLES, KINDS)
    told = {(curve.measure, curve.of) for curve in one.curves}
    assert sum(len(table.rows) + table.left_out for table in tables) == len(told)
    assert {measure for measure, _ in told} <= {name for _, names, _ in FAMILIES for name in names}
    assert {len(row.cells) for table in tables for row in table.rows} == {len(one.arms)}
    accuracy = tables[0].rows[0]
    first = next(curve for curve in one.curves if (curve.measure, curve.of) == ("accuracy", None))
    assert accuracy.title == "accuracy"
    assert accuracy.cells[0][1] == f"{100 * first.value[0]:.1f} % to {100 * first.value[-1]:.1f} %"
    page = html(one)
    assert page.count('class="spark"') == sum(
        cell[0] is not None for t in tables for row in t.rows for cell in row.cells
    )
    assert "<script>" not in html(record(HOSTILE))


def test_of_many_strata_the_first_are_shown_and_the_others_counted() -> None:
    names: list[tuple[str, str | None]] = [("stratum_share", str(one)) for one in range(30)]
    shown, left_out = _first([*names, ("trained_share", "0")])
    assert (len(shown), left_out) == (MOST_OF + 1, 30 - MOST_OF)
    assert shown[-1] == ("trained_share", "0")
