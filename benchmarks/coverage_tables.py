"""Tables of the coverage study: docs/coverage.md for people, docs/coverage.csv for programs.

What is simulated, and how, stands in ``coverage_study``.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

GROUP_SHARES = (0.5, 0.3, 0.2)
FIGURES = ("SF", "E", "excess", "H", "success_excess", "group_difference", "average", "uniform", "worst")
CORRECTED = ("average_corrected", "uniform_corrected", "worst_corrected")
TESTS = ("independence", "group_contrast", "spread")
LOWEST, HIGHEST, MOST_REJECTED, LEAST_REJECTED = 0.93, 0.97, 0.07, 0.03
FEWEST = 5
PLACE = ("n", "k", "rates", "law", "clusters")
FEWEST_DEFINED = 50

NAMES = {
    "SF": "SF",
    "E": "E",
    "excess": "excess",
    "H": "log H",
    "success_excess": "excess of consistent success",
    "group_difference": "SF difference of two groups",
    "average": "average",
    "uniform": "uniform",
    "worst": "worst",
    "average_corrected": "average, corrected",
    "uniform_corrected": "uniform, corrected",
    "worst_corrected": "worst, corrected",
    "independence": "independence",
    "group_contrast": "group contrast",
    "spread": "spread",
}


_OPENING = """# How often intervals hold the truth

Written by `benchmarks/coverage_study.py`; do not edit. `docs/coverage.csv` holds every number. What the methods
are, and what this study changed in them, stands in [statistics.md](statistics.md).

- {cells} cells{whole}; seed {seed}; code at commit {commit}; {minutes:.0f} minutes, cell by cell, of a busy
  machine of two cores.
- {replicates} replicates of SF, E, excess and log H (the fewer, the larger N x k), and fewer of group differences,
  group homogenization and the spread: the CSV has the number of each. With 1,000 replicates the standard error at 95 %
  is 0.7 points, with 400 it is 1.1, with 250 it is 1.4, with 100 it is 2.2, with 60 it is 2.8.
- Laws: *independent* failures (with clusters: each model has its own cluster effects); *homogenized*: one normal
  factor with .3 of the latent variance (with clusters: a third of it shared by the cluster), and a last group whose
  failures are shifted by .3. Clusters are of unequal size (1 : 4) and reach over the groups, whose shares are .5, .3
  and .2. Truths are products, or sums over 8,001 values of the factor; no estimator enters them.
- Target: coverage of {low:.0%} to {high:.0%} where at least {fewest} events and {fewest} failures a model (in the
  smallest group, for group figures) and 30 clusters are expected; elsewhere at least {low:.0%}, or no interval but the
  reason. For *worst* and for consistent success only the lower bound.
- Tests: at most {most:.0%} rejections of a true null at 5 %; of independence at least {least:.0%} where N x E is 5 or
  more (without clusters).
- A figure that has an interval in fewer than {defined} replicates of a cell is not judged there.
"""


def records(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one record a cell and figure, with its target and whether it is met."""
    rows = []
    for result in results:
        cell, truth = result["cell"], result["truth"]
        for figure in (*FIGURES, *CORRECTED, *TESTS):
            tally = result["tallies"].get(figure)
            if tally is None:
                continue
            defined = tally["defined"]
            share = tally["hit"] / defined if defined else None
            low, high = _target(figure, cell, truth)
            enough = defined >= FEWEST_DEFINED
            met = None if share is None or not enough else low <= share <= high
            error = (share * (1 - share) / defined) ** 0.5 if defined and share is not None else None
            rows.append(
                {
                    **cell,
                    "figure": figure,
                    "kind": "rejections" if figure in TESTS else "coverage",
                    "truth": truth.get(figure.removesuffix("_corrected")),
                    "expected_events": cell["n"] * truth["SF"],
                    "replicates": tally["tried"],
                    "defined": defined,
                    "share": share,
                    "standard_error": error,
                    "interval_below_truth": tally["below"],
                    "interval_above_truth": tally["above"],
                    "target_low": low,
                    "target_high": high,
                    "met": met,
                }
            )
    return rows


def _target(figure: str, cell: dict[str, Any], truth: dict[str, float]) -> tuple[float, float]:
    """Return the target of statistics.md for a figure in a cell."""
    n, least = cell["n"], cell["n"] * float(cell["rates"].split("-")[0])
    if figure in TESTS:
        demanding = figure == "independence" and n * truth["E"] >= FEWEST and not cell["clusters"]
        return (LEAST_REJECTED if demanding else 0.0), MOST_REJECTED
    inside = least >= FEWEST and (cell["clusters"] == 0 or cell["clusters"] >= 30)
    events = n * truth["SF"] * GROUP_SHARES[-1] / 1.5 if figure == "group_difference" else n * truth["SF"]
    if figure in {"SF", "excess", "H", "group_difference"}:
        inside = inside and events >= FEWEST
    elif figure in {"average", "uniform", "average_corrected", "uniform_corrected"}:
        inside = inside and least * GROUP_SHARES[-1] >= FEWEST
    elif figure != "E":
        inside = False  # simultaneous limits are wide by intent; consistent success has no target of its own
    return LOWEST, HIGHEST if inside else 1.0


def write(results: list[dict[str, Any]], *, missing: int, seed: int, commit: str, docs: Path) -> None:
    """Write both tables."""
    rows = records(results)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _rounded(value) for key, value in row.items()})
    (docs / "coverage.csv").write_text(buffer.getvalue(), encoding="utf-8")
    seconds = sum(result["seconds"] for result in results)
    text = "\n".join(
        [
            *_opening(results, missing, seed, commit, seconds),
            "",
            *_summary(rows),
            *_outside(rows),
            *_coverage(results, rows),
            *_rejections(results, rows),
        ]
    )
    (docs / "coverage.md").write_text(text + "\n", encoding="utf-8")


def _opening(results: list[dict[str, Any]], missing: int, seed: int, commit: str, seconds: float) -> list[str]:
    replicates = sorted({result["tallies"]["SF"]["tried"] for result in results})
    text = _OPENING.format(
        cells=len(results),
        whole=f" ({missing} more of the grid were not run)" if missing else ", the whole grid",
        seed=seed,
        commit=commit,
        minutes=seconds / 60,
        replicates=" or ".join(f"{number:,}" for number in replicates),
        low=LOWEST,
        high=HIGHEST,
        fewest=FEWEST,
        most=MOST_REJECTED,
        least=LEAST_REJECTED,
        defined=FEWEST_DEFINED,
    )
    return text.splitlines()


def _summary(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## Summary",
        "",
        "Cells; *short* means coverage below the target (or too many rejections), *wide* above it (or too few).",
        "In brackets those by more than two standard errors of the simulation.",
        "",
        "| figure | judged | on target | short | wide | lowest | highest |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for figure in (*FIGURES, *CORRECTED, *TESTS):
        own = [row for row in rows if row["figure"] == figure and row["met"] is not None]
        if not own:
            continue
        shares = [row["share"] for row in own]
        short, wide = [row for row in own if _side(row) < 0], [row for row in own if _side(row) > 0]
        counts = " | ".join(f"{len(part)} ({sum(map(_far, part))})" if part else "0" for part in (short, wide))
        lines.append(
            f"| {NAMES[figure]} | {len(own)} | {sum(row['met'] for row in own)} | {counts} "
            f"| {min(shares):.1%} | {max(shares):.1%} |"
        )
    return [*lines, ""]


def _side(row: dict[str, Any]) -> int:
    """Return -1 for a figure that is short, 1 for one that is wide, 0 on target."""
    side = int(row["share"] > row["target_high"]) - int(row["share"] < row["target_low"])
    return -side if row["kind"] == "rejections" else side


def _far(row: dict[str, Any]) -> bool:
    error = max(row["standard_error"], 1e-3)
    return bool(row["share"] < row["target_low"] - 2 * error or row["share"] > row["target_high"] + 2 * error)


def _outside(rows: list[dict[str, Any]]) -> list[str]:
    outside = [row for row in rows if row["met"] is False]
    lines = [
        "## Every cell off target",
        "",
        "Bold: by more than two standard errors of the simulation. *below*: share of intervals wholly below the truth.",
        "",
        "| figure | N | k | rates | law | clusters | expected events | share | target | below | above | replicates |",
        "| --- | ---: | ---: | --- | --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |",
    ]
    for row in outside:
        share = f"{row['share']:.1%}"
        test = row["kind"] == "rejections"
        place = f"{row['n']:,} | {row['k']} | {row['rates']} | {row['law']} | {row['clusters'] or ''}"
        sides = (
            ["", ""]
            if test
            else [f"{row[name] / row['defined']:.1%}" for name in ("interval_below_truth", "interval_above_truth")]
        )
        lines.append(
            f"| {NAMES[row['figure']]} | {place} | {row['expected_events']:.3g} "
            f"| {f'**{share}**' if _far(row) else share} "
            f"| {row['target_low']:.0%} to {row['target_high']:.0%} | {sides[0]} | {sides[1]} | {row['defined']} |"
        )
    return [*lines, ""] if outside else [*lines[:2], "None.", ""]


def _coverage(results: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    figures = (*FIGURES, "uniform_corrected")
    lines = [
        "## Coverage in per cent, cell by cell",
        "",
        "In brackets the share of replicates with an interval, where it is below 99 %. A star: off target.",
        "",
        "| N | k | rates | law | clusters | N x SF | " + " | ".join(NAMES[figure] for figure in figures) + " |",
        "| ---: | ---: | --- | --- | ---: | ---: | " + " | ".join("---:" for _ in figures) + " |",
    ]
    return lines + _table(results, rows, figures) + [""]


def _rejections(results: list[dict[str, Any]], rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "## Rejections of true nulls at 5 %, in per cent",
        "",
        "Independence is tested where it is true. Groups of contrast and spread are drawn at random.",
        "",
        "| N | k | rates | law | clusters | N x SF | " + " | ".join(NAMES[figure] for figure in TESTS) + " |",
        "| ---: | ---: | --- | --- | ---: | ---: | " + " | ".join("---:" for _ in TESTS) + " |",
    ]
    return lines + _table(results, rows, TESTS)


def _table(results: list[dict[str, Any]], rows: list[dict[str, Any]], figures: tuple[str, ...]) -> list[str]:
    by_cell: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_cell.setdefault(tuple(row[name] for name in PLACE), {})[row["figure"]] = row
    lines = []
    for result in results:
        cell = result["cell"]
        own = by_cell[tuple(cell[name] for name in PLACE)]
        events = cell["n"] * result["truth"]["SF"]
        numbers = " | ".join(_shown(own.get(figure)) for figure in figures)
        lines.append(
            f"| {cell['n']:,} | {cell['k']} | {cell['rates']} | {cell['law']} | {cell['clusters'] or ''} "
            f"| {events:.3g} | {numbers} |"
        )
    return lines


def _shown(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if row["defined"] < FEWEST_DEFINED:
        return "no interval" if row["kind"] == "coverage" else "no test"
    text = f"{row['share'] * 100:.1f}"
    if row["defined"] < 0.99 * row["replicates"]:
        text += f" ({row['defined'] / row['replicates'] * 100:.0f})"
    return text if row["met"] else text + " *"


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
