"""A number that does not exist has its reason beside it, in every record of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec
import numpy as np
import polars as pl
import pytest
from msgspec import UNSET

import polyculture as pc
from polyculture.audit import change_records, portfolio_records, records
from polyculture.audit.component_table import ComponentTable
from polyculture.audit.records import AuditRecord, Record
from polyculture.errors import PolycultureError
from polyculture.gate import records as gate_records
from polyculture.report.compare_html import compare_html
from polyculture.report.html import html

# Fields whose reason has another name than their own with "_reason" behind it.
EXPLAINED_BY = {
    "value": "reason",
    "low": "reason",
    "high": "reason",
    "expected": "expected_interval",
    "p_value": "p_method",
    "profile_p_value": "profile_p_method",
    "spread_p_value": "spread_p_method",
    "p_adjusted": "method",
    "systemic_failure": "reason",
    "ties_independent": "independent_reason",
    "expected_before": "expected_reason",
    "expected_after": "expected_reason",
}
# None says here that there is no such thing, not that a number is undefined.
ABSENT = {"InputFile.bytes", "InputFile.rows", "Provenance.clusters"}
# Of a limit: it has no baseline unless it is on a change, and no line unless it stands in a file.
ABSENT |= {"LimitRecord.baseline", "LimitRecord.change", "LimitRecord.line"}
# Of a portfolio: no bound was asked for.
ABSENT |= {"PortfolioRecord.most_mean_failure"}


def numbers(kind: type[Record]) -> Iterator[str]:
    """Yield the fields that hold a number or None."""
    for field in msgspec.structs.fields(kind):
        parts = set(get_args(field.type))
        if type(None) in parts and parts & {int, float} and f"{kind.__name__}.{field.name}" not in ABSENT:
            yield field.name


def explained_by(kind: type[Record], name: str) -> str:
    known = {field.name for field in msgspec.structs.fields(kind)}
    candidates = (f"{name}_reason", EXPLAINED_BY.get(name, ""), "method", "p_method" if name == "p_adjusted" else "")
    return next((candidate for candidate in candidates if candidate in known), "")


OTHERS = (*vars(change_records).values(), *vars(portfolio_records).values(), *vars(gate_records).values())
KINDS = list(
    dict.fromkeys(
        kind
        for kind in (*(getattr(records, name) for name in records.__all__), *OTHERS)
        if isinstance(kind, type) and issubclass(kind, Record)
    )
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_every_number_that_may_be_missing_has_a_field_for_the_reason(kind: type[Record]) -> None:
    for name in numbers(kind):
        assert explained_by(kind, name), f"{kind.__name__}.{name}"


def bare(record: Record, place: str = "audit") -> Iterator[str]:
    """Yield the places of numbers that are None without a reason."""
    kind = type(record)
    for name in numbers(kind):
        if getattr(record, name) is not None:
            continue
        why = getattr(record, explained_by(kind, name))
        why = why.reason if isinstance(why, Record) else why
        if why in {None, "", UNSET}:
            yield f"{place}.{name}"
    for field in msgspec.structs.fields(kind):
        value = getattr(record, field.name)
        inside = value if isinstance(value, tuple) else (value,)
        for index, one in enumerate(inside):
            if isinstance(one, Record):
                yield from bare(one, f"{place}.{field.name}[{index}]")


def random_failures(rng: np.random.Generator, n: int = 120, k: int = 4) -> Any:
    return rng.random((n, k)) < 0.4 * rng.random((n, 1)) + 0.2


def _plain(rng: np.random.Generator) -> dict[str, Any]:
    return {"failed": random_failures(rng), "groups": {"g": rng.integers(0, 2, 120)}, "null_models": ("all",)}


def _three_groups(rng: np.random.Generator) -> dict[str, Any]:
    return {"failed": random_failures(rng), "groups": {"g": rng.integers(0, 3, 120)}, "min_cell": 5}


def _one_group(rng: np.random.Generator) -> dict[str, Any]:
    return {"failed": random_failures(rng), "groups": {"g": [0] * 120}}


def _census(rng: np.random.Generator) -> dict[str, Any]:
    return {**_plain(rng), "census": True}


def _weighted(rng: np.random.Generator) -> dict[str, Any]:
    return {**_plain(rng), "weight": rng.uniform(0.5, 2.0, 120)}


def _few_clusters(rng: np.random.Generator) -> dict[str, Any]:
    return {**_plain(rng), "cluster": rng.integers(0, 5, 120)}


def _unequal_sets(rng: np.random.Generator) -> dict[str, Any]:
    return {**_plain(rng), "judged": rng.random((120, 4)) < 0.7}


def _perfect_model(rng: np.random.Generator) -> dict[str, Any]:
    failed = random_failures(rng)
    failed[:, 0] = False
    return {**_plain(rng), "failed": failed}


def _all_perfect(rng: np.random.Generator) -> dict[str, Any]:
    return {"failed": np.zeros((120, 4), dtype=bool), "groups": {"g": rng.integers(0, 2, 120)}, "null_models": ("all",)}


def _one_model(rng: np.random.Generator) -> dict[str, Any]:
    return {"failed": random_failures(rng, k=1), "null_models": ("all",)}


def _strangers(rng: np.random.Generator) -> dict[str, Any]:
    """Two models judged the one half and two the other, so that some pairs judged nobody in common."""
    judged = np.zeros((120, 4), dtype=bool)
    judged[:60, :2] = judged[60:, 2:] = True
    return {"failed": random_failures(rng), "judged": judged}


def _nobody(rng: np.random.Generator) -> dict[str, Any]:
    """Each individual is judged by one model only: the headline is about nobody."""
    return {"failed": random_failures(rng, 8), "judged": np.tile(np.eye(4, dtype=bool), (2, 1))}


def _components(rng: np.random.Generator) -> dict[str, Any]:
    """Components of every kind, with conditions that hold and that do not."""
    kinds = (("x", 3), ("y", 2.5), ("x", None), ("z", 100))
    rows = {f"m{j}": {"vendor": kinds[j % 4][0], "size": kinds[j % 4][1], "own": f"o{j}"} for j in range(12)}
    return {"failed": random_failures(rng, k=12), "component_table": ComponentTable("the table", rows)}


def _few_components(rng: np.random.Generator) -> dict[str, Any]:
    rows = {f"m{j}": {"vendor": "x", "size": j} for j in range(3)}
    failed = random_failures(rng)
    failed[:, 0] = False
    return {"failed": failed, "component_table": ComponentTable("the table", rows)}


CASES: list[Callable[[np.random.Generator], dict[str, Any]]] = [
    *(_plain, _three_groups, _one_group, _census, _weighted, _few_clusters, _unequal_sets),
    *(_components, _few_components),
    *(_perfect_model, _all_perfect, _one_model, _strangers, _nobody),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.__name__).strip("_"))
def test_no_number_of_an_audit_is_missing_without_a_reason(
    case: Callable[[np.random.Generator], dict[str, Any]], audit: Callable[..., AuditRecord]
) -> None:
    record = audit(**case(np.random.default_rng(4)))
    assert list(bare(record)) == []
    html(record)  # every output can say so


@pytest.mark.parametrize(
    "case", [case for case in CASES if case is not _one_model], ids=lambda case: str(case.__name__)
)
def test_no_number_of_kinds_is_missing_without_a_reason(
    case: Callable[[np.random.Generator], dict[str, Any]], audit: Callable[..., AuditRecord]
) -> None:
    options = {**case(np.random.default_rng(4)), "null_models": ()}
    record = audit(**options, kinds={"one": ["m0", "m1"], "other": ["m2", "m3"]})
    assert list(bare(record)) == []
    html(record)


def test_the_page_says_why_there_is_no_ceiling(audit: Callable[..., AuditRecord]) -> None:
    failed = np.array([[0, 1], [0, 0]] * 40, dtype=bool)
    record = audit(failed)
    assert record.systemic_failure.ceiling is None
    why = record.systemic_failure.ceiling_reason or ""
    assert why == "0 is expected, since the rate of a model is 0: the ratio does not exist"
    assert why in html(record)


COMPARED = [case for case in CASES if case not in {_components, _few_components}]


def _snapshot(case: Callable[[np.random.Generator], dict[str, Any]], seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return one snapshot of a case as a table, and what its columns mean."""
    given = case(np.random.default_rng(seed))
    failed = np.asarray(given["failed"])
    judged = np.asarray(case(np.random.default_rng(4)).get("judged", np.ones_like(failed)), dtype=bool)
    names = [f"m{j}" for j in range(failed.shape[1])]
    values = {
        name: [int(x) if known else None for x, known in zip(failed[:, j], judged[:, j], strict=True)]
        for j, name in enumerate(names)
    }
    table = pl.DataFrame({"id": range(len(failed)), **values})
    options: dict[str, Any] = {"id": "id", "outcomes": "failed", "models": names, "min_cell": given.get("min_cell", 30)}
    first = case(np.random.default_rng(4))
    for name in ("weight", "cluster"):
        if name in first:
            table, options[name] = table.with_columns(pl.Series(name, first[name])), name
    if "groups" in first:
        table, options["by"] = table.with_columns(pl.Series("g", first["groups"]["g"]).cast(pl.String)), ["g"]
    return table, {**options, "census": bool(first.get("census", False))}


@pytest.mark.parametrize("case", COMPARED, ids=lambda case: str(case.__name__).strip("_"))
def test_no_number_of_a_comparison_is_missing_without_a_reason(
    case: Callable[[np.random.Generator], dict[str, Any]],
) -> None:
    tables = [_snapshot(case, seed)[0] for seed in (4, 5, 6)]
    options = _snapshot(case, 4)[1]
    record = pc.compare(tables[0], tables[1], **options).record
    assert list(bare(record)) == []
    compare_html(record)
    dated = pl.concat([table.with_columns(date=pl.lit(str(place))) for place, table in enumerate(tables)])
    assert list(bare(pc.compare(dated, snapshot="date", **options).record)) == []


@pytest.mark.parametrize("objective", ["systemic-failure", "majority"])
@pytest.mark.parametrize("case", COMPARED, ids=lambda case: str(case.__name__).strip("_"))
def test_no_number_of_a_portfolio_is_missing_without_a_reason(
    case: Callable[[np.random.Generator], dict[str, Any]], objective: str
) -> None:
    table, options = _snapshot(case, 4)
    if case is _one_model or (case is _nobody and objective == "systemic-failure"):
        with pytest.raises(PolycultureError):
            pc.portfolio(table, size=2, objective=objective, splits=3, **options)
        return
    assert list(bare(pc.portfolio(table, size=2, objective=objective, splits=3, **options).record)) == []


def test_no_number_of_a_check_or_of_slices_is_missing_without_a_reason() -> None:
    table, options = _snapshot(_plain, 4)
    found = pc.audit(table, **options)
    wide = pc.audit(table, **{**options, "census": True})
    limits = [{"field": "systemic_failure.observed.high", "at_most": 0.5}]
    record = pc.check(wide, limits).record
    assert record.limits[0].value is None
    assert record.limits[0].reason
    assert list(bare(pc.check(found, limits).record)) == []
    for census in (False, True):
        searched = pc.slices(table, ["g"], **{**options, "by": (), "census": census, "min_cell": 5}).record
        assert list(bare(searched)) == []
