"""Many models and many individuals: exact tables by number of failures, pairs, and a sample of individuals.

With more than 20 models nearly every individual has a pattern of its own, so patterns cannot be kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from polyculture.outcomes import Outcomes
from polyculture.outcomes.counting import fetch, is_polars, is_spark
from polyculture.outcomes.individuals import Individuals
from polyculture.tally.counts import ExactTables
from polyculture.tally.engines import PRIORITY, PRIORITY_RANGE, adapter_of
from polyculture.tally.grouped import Grouped, patterns_of
from polyculture.tally.tables import IntArray

if TYPE_CHECKING:
    from polyculture.outcomes.survey import Survey
    from polyculture.tally.engines.polars import OnePass

__all__ = [
    "SAMPLE",
    "ProfileRows",
    "complete_indicators",
    "exact_tables",
    "is_complete_indicators_candidate",
    "pair_tables",
    "pairs_of",
    "profile_rows",
    "sample_of",
]

PairTables = tuple[IntArray, IntArray, IntArray]

SAMPLE = 100_000
"""So many individuals are kept as a sample."""


@dataclass(frozen=True)
class ProfileRows:
    """What the pass for the exact tables brought back; ``groups`` are raw group values, a list a column."""

    table: nw.DataFrame[Any]
    groups: tuple[list[Any], ...]

    @property
    def count(self) -> IntArray:
        """The individuals of each row."""
        return _column(self.table, "__n")


def _bits(people: Individuals, no_answer_policy: str) -> dict[str, Sequence[nw.Expr] | None]:
    """Return judged and failed under a reading of "no answer", and no_answer, as 0/1 expressions."""
    masks = people.masks
    judged, failed, silent = masks.judged_bits, masks.failed_bits, masks.no_answer_bits
    failed = tuple(bit.cast(nw.Int8) for bit in failed)
    judged = None if judged is None else tuple(bit.cast(nw.Int8) for bit in judged)
    silent = None if silent is None else tuple(bit.cast(nw.Int8) for bit in silent)
    if silent is not None and no_answer_policy == "failed":
        # A cell without an answer is never failed itself, so the sum is 0 or 1.
        failed = tuple(bit + none for bit, none in zip(failed, silent, strict=True))
    elif silent is not None:
        known = (nw.lit(1).cast(nw.Int8),) * len(failed) if judged is None else judged
        judged = tuple(bit - none for bit, none in zip(known, silent, strict=True))
    return {"judged": judged, "failed": failed, "no_answer": silent}


def _total(columns: Sequence[nw.Expr]) -> nw.Expr:
    # A chain of additions of 16-bit integers: a horizontal sum is three times slower in Polars.
    total = columns[0].cast(nw.Int16)
    for column in columns[1:]:
        total = total + column.cast(nw.Int16)
    return total


def profile_rows(people: Individuals, outcomes: Outcomes) -> ProfileRows:
    """Group individuals by cell, number judging and number failing; sum what each model did in each group."""
    bits = _bits(people, outcomes.mapping.no_answer)
    columns: dict[str, nw.Expr] = {f"__g{i}": expr for i, expr in enumerate(people.groups)}
    for kind, exprs in bits.items():
        columns |= {f"__{kind}{i}": expr for i, expr in enumerate(exprs or ())}
    if people.count is not None:
        columns["__count"] = people.count
    if people.weight is not None:
        columns["__w"] = people.weight
    frame = people.frame.select(**columns)
    models = range(len(outcomes.models))
    keys = {"__t": _total([nw.col(f"__failed{i}") for i in models])}
    if bits["judged"] is not None:
        keys["__m"] = _total([nw.col(f"__judged{i}") for i in models])
    names = [f"__g{i}" for i in range(len(people.groups))]
    present = [name for name in columns if name not in names and not name.startswith(("__count", "__w"))]
    frame = frame.with_columns(**keys)
    if people.count is not None:
        frame = frame.with_columns(*[nw.col(name).cast(nw.Int64) * nw.col("__count") for name in present])
    sums = [nw.len().alias("__n") if people.count is None else nw.col("__count").sum().alias("__n")]
    # Polars adds 8-bit integers in 64 bits; other engines are told to.
    wide = is_spark(frame) or not frame.implementation.is_polars()
    sums += [(nw.col(name).cast(nw.Int64) if wide else nw.col(name)).sum() for name in present]
    if people.weight is not None:
        sums.append(nw.col("__w").sum())
        weighted = [name for name in present if not name.startswith("__no_answer")]
        frame = frame.with_columns(**{f"{name}_w": nw.col(name) * nw.col("__w") for name in weighted})
        sums += [nw.col(f"{name}_w").sum() for name in weighted]
    table = fetch(frame.group_by(*names, *keys).agg(*sums))
    return ProfileRows(table, tuple(table[name].to_list() for name in names))


def exact_tables(rows: ProfileRows, cell: IntArray, models: int, pairs: PairTables) -> ExactTables:
    """Turn the engine's answer into tables; ``cell`` is the cell of each of its rows."""
    table = rows.table
    count = rows.count
    judged_by = _column(table, "__m") if "__m" in table.columns else np.full(len(count), models, dtype=np.int64)

    def by_model(kind: str, suffix: str = "") -> Any:
        if f"__{kind}0{suffix}" not in table.columns:
            return None
        dtype = np.float64 if suffix else np.int64
        return np.stack([table[f"__{kind}{i}{suffix}"].to_numpy() for i in range(models)], axis=1).astype(dtype)

    everyone = np.repeat(count[:, None], models, axis=1)
    judged, failed, silent = by_model("judged"), by_model("failed"), by_model("no_answer")
    judged = everyone if judged is None else judged
    weighted = "__w" in table.columns
    weight = table["__w"].to_numpy().astype(np.float64) if weighted else count.astype(np.float64)
    failed_weight = by_model("failed", "_w") if weighted else failed.astype(np.float64)
    judged_weight = by_model("judged", "_w") if weighted else judged.astype(np.float64)
    if judged_weight is None:
        judged_weight = np.repeat(weight[:, None], models, axis=1)
    return ExactTables(
        cell=cell,
        judged=judged_by,
        failed=_column(table, "__t"),
        count=count,
        weight=weight,
        model_judged=judged,
        model_failed=failed,
        model_no_answer=np.zeros_like(failed) if silent is None else silent,
        model_judged_weight=judged_weight,
        model_failed_weight=failed_weight,
        both_judged=pairs[0],
        both_failed=pairs[1],
        first_failed=pairs[2],
    ).merged()


def _column(table: nw.DataFrame[Any], name: str) -> IntArray:
    return np.asarray(table[name].to_numpy(), dtype=np.int64)


def pair_tables(people: Individuals, outcomes: Outcomes, individuals: int) -> PairTables:
    """Return (both judged, both failed, failed by the first where the second judged), each (k, k), over everyone.

    Rows that stand for several individuals cannot be counted bit by bit; then there are no pairs, (0, 0).
    """
    if people.count is not None:
        nothing = np.zeros((0, 0), dtype=np.int64)
        return nothing, nothing, nothing
    bits = _bits(people, outcomes.mapping.no_answer)
    models = len(outcomes.models)
    # Failures and judgements side by side, so that one reading gives all three tables.
    exprs = [*(bits["failed"] or ()), *(bits["judged"] or ())]
    names = [f"__b{i}" for i in range(len(exprs))]
    found = adapter_of(people.frame).pairs(people.frame.select(**dict(zip(names, exprs, strict=True))), names)
    failed = found[:models, :models]
    if bits["judged"] is None:
        return _complete_pairs(failed, individuals)
    return found[models:, models:], failed, found[:models, models:]


def _complete_pairs(failed: IntArray, individuals: int) -> PairTables:
    """Return the tables of models that all judged everyone."""
    alone = np.repeat(np.diag(failed)[:, None], len(failed), axis=1)
    return np.full_like(failed, individuals), failed, alone


def _limit(rows: int) -> int:
    """Return the priority up to which about SAMPLE individuals lie; a little more pass, the lowest are kept."""
    return int(min(1.0, 1.1 * SAMPLE / max(rows, 1)) * PRIORITY_RANGE) - 1


def sample_of(people: Individuals, outcomes: Outcomes) -> Grouped:
    """Return the patterns of about SAMPLE individuals, chosen by a hash of their id."""
    frame = adapter_of(people.frame).with_priority(people.frame, outcomes.mapping.id)
    chosen = frame.filter(nw.col(PRIORITY) <= _limit(outcomes.survey.rows))
    return patterns_of(people, len(outcomes.models), chosen, priority=True)


def is_complete_indicators_candidate(outcomes: Outcomes) -> bool:
    """Whether the models' columns may be complete 0/1 columns of a wide table that Polars holds."""
    mapping = outcomes.mapping
    return (
        is_polars(outcomes.frame)
        and outcomes.rule.is_indicator
        and not (mapping.long or mapping.pending or mapping.no_answer_values or mapping.count)
        and all(outcomes.schema[name].is_integer() or outcomes.schema[name] == nw.Boolean for name in outcomes.models)
    )


def complete_indicators(outcomes: Outcomes, survey: Survey) -> OnePass | None:
    """Read complete 0/1 columns once, for pairs and sample; None where they are not complete 0/1.

    Saves two of the four passes that other outcomes take (missing values, sample).
    """
    from polyculture.tally.engines.polars import pairs_and_sample

    mapping = outcomes.mapping
    named = [mapping.weight, mapping.cluster, mapping.label]
    others = [*(name for group in outcomes.groups for name in group.sources()), *(n for n in named if n is not None)]
    chosen = [name for name in dict.fromkeys(others) if name not in outcomes.models]
    found = pairs_and_sample(outcomes.frame, outcomes.models, chosen, mapping.id, _limit(survey.rows))
    if not found.complete:
        return None
    return found if outcomes.rule.kind == "failed" else replace(found, pairs=_of_opposites(found.pairs, survey.rows))


def _of_opposites(pairs: IntArray, rows: int) -> IntArray:
    """Turn "both are 1" into "both are 0": n - n_i - n_j + n_ij."""
    ones = np.diag(pairs)
    return rows - ones[:, None] - ones[None, :] + pairs


def pairs_of(one_pass: OnePass, rows: int) -> PairTables:
    """Return (both judged, both failed, failed by the first) of complete columns."""
    return _complete_pairs(one_pass.pairs, rows)
