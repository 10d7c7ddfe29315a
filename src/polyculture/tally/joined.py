"""The pass over two snapshots: outcomes joined by the id and counted by the engine that holds them -> Changes."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from polyculture.errors import ColumnError, InputError, UsageError, first_few
from polyculture.outcomes import Outcomes
from polyculture.outcomes.answers import refuse_unsaid_value
from polyculture.outcomes.counting import fetch, fetch_rows
from polyculture.outcomes.masks import WORD_BITS
from polyculture.outcomes.survey import refuse_many_groups
from polyculture.tally.cells import Cell, in_order
from polyculture.tally.changes import Changes, ChangeTable, table_of_masks
from polyculture.tally.sides import Side, bit, same_table, side_of, sides_joined
from polyculture.tally.tables import BoolArray, IntArray

__all__ = ["changes_of"]

MANY = 1 << 20
"""Up to so many rows every distinct pattern of both snapshots is brought back; beyond, only with few models."""

_FEW_MODELS = 10
_CLUSTER_LIMIT = 1000
_MOST_LABELS = 1000
_KEY_BITS = 62


def changes_of(before: Outcomes, after: Outcomes) -> Changes:
    """Make the Changes of two snapshots; see ``Changes.of``."""
    if len(before.models) != len(after.models):
        raise UsageError(
            f"{len(before.models)} models before and {len(after.models)} after cannot be compared one by one.",
            hint="Name the same models on both sides.",
        )
    if before.mapping.min_judged > max(2, len(before.models)):
        raise UsageError(
            f"min_judged={before.mapping.min_judged}, but only {len(before.models)} models are in both snapshots.",
            hint=f"Give {len(before.models)} or less.",
        )
    pair = (before, after)
    _check_labels(pair)
    sides = [side_of(before, "s0"), side_of(after, "s1")]
    joined = sides_joined(pair, sides, [_first(sides[0]), {}] if same_table(pair) else _carried(pair, sides))
    counted = _Counted(pair, sides, joined)
    table, cells, clusters, judged_otherwise = counted.table()
    relabelled = counted.relabelled
    totals = [_individuals(one, side) for one, side in zip(pair, sides, strict=True)]
    matched = int(table.count.sum())
    if matched + relabelled == 0:
        raise InputError(_nothing_in_common(pair), hint=_ids_shown(pair))
    for one, failures in zip(pair, (table.model_before, table.model_after), strict=True):
        if not failures.any():
            refuse_unsaid_value(one)
    return Changes(
        models=tuple(zip(before.models, after.models, strict=True)),
        groups=tuple(group.name for group in before.groups),
        cells=cells,
        table=table,
        failure_rule=str(before.rule),
        no_answer_policy=before.mapping.no_answer,
        min_judged=before.mapping.min_judged,
        weighted=before.mapping.weight is not None,
        cluster_names=clusters,
        thresholds=(before.thresholds, after.thresholds),
        only_before=totals[0] - matched - relabelled,
        only_after=totals[1] - matched - relabelled,
        relabelled=relabelled,
        judged_otherwise=judged_otherwise,
    )


def _first(side: Side) -> dict[str, nw.Expr]:
    """Return what only the earlier snapshot tells: groups, cluster, weight, count."""
    people = side.people
    found = {f"__g{i}": expr for i, expr in enumerate(people.groups)}
    named = {"__cluster": people.cluster, "__w": people.weight, "__count": people.count}
    return found | {name: expr for name, expr in named.items() if expr is not None}


def _carried(pair: tuple[Outcomes, Outcomes], sides: list[Side]) -> list[dict[str, nw.Expr]]:
    """Return the further columns of both snapshots, with the labels where failure is measured by them."""
    carried = [_first(sides[0]), {}]
    if all(one.rule.needs_label and not one.mapping.long for one in pair):
        for name, one, own in zip(("__label0", "__label1"), pair, carried, strict=True):
            own[name] = nw.col(str(one.mapping.label))
    return carried


def _check_labels(pair: tuple[Outcomes, Outcomes]) -> None:
    """Refuse snapshots whose labels have other values: each has some that the other lacks."""
    if same_table(pair) or not all(one.rule.needs_label for one in pair):
        return
    values = [_labels(one) for one in pair]
    if any(len(one) > _MOST_LABELS for one in values):
        return  # not a set of classes
    extra = [sorted(map(str, values[0] - values[1])), sorted(map(str, values[1] - values[0]))]
    if extra[0] and extra[1]:
        raise ColumnError(
            f"The snapshots have other labels: only {pair[0].source} has {first_few(extra[0])}, "
            f"only {pair[1].source} has {first_few(extra[1])}.",
            hint="Bring both to the same labels first; a failure must mean the same at both snapshots.",
        )


def _labels(outcomes: Outcomes) -> set[Any]:
    column = nw.col(str(outcomes.mapping.label))
    distinct = outcomes.frame.select(label=column).drop_nulls().unique().head(_MOST_LABELS + 1)
    return {row["label"] for row in fetch_rows(distinct)}


def _individuals(outcomes: Outcomes, side: Side) -> int:
    if outcomes.mapping.long:
        return int(fetch_rows(side.people.frame.select(n=nw.len()))[0]["n"])
    if outcomes.mapping.count is not None:
        total = side.people.frame.select(n=nw.col(outcomes.mapping.count).cast(nw.Int64).sum())
        return int(fetch_rows(total)[0]["n"] or 0)
    return outcomes.survey.used


def _nothing_in_common(pair: tuple[Outcomes, Outcomes]) -> str:
    name = pair[0].mapping.id
    return f"No individual of {pair[0].source} has the same {name!r} as one of {pair[1].source}."


def _ids_shown(pair: tuple[Outcomes, Outcomes]) -> str:
    shown = []
    for one in pair:
        name = str(one.mapping.id)
        rows = fetch_rows(one.frame.select(id=nw.col(name)).drop_nulls().head(3))
        shown.append(first_few([row["id"] for row in rows]))
    return f"The ids begin with {shown[0]} and with {shown[1]}; check --id."


class _Counted:
    """The joined individuals, counted by pattern or by sums."""

    def __init__(self, pair: tuple[Outcomes, Outcomes], sides: list[Side], joined: nw.LazyFrame[Any]) -> None:
        self.outcomes, self.sides = pair[0], sides
        self.models = len(pair[0].models)
        names = joined.collect_schema().names()
        self.labels = "__label0" in names
        self.values = [name for name in ("__w", "__count") if name in names]
        self.groups = [name for name in names if name.startswith("__g")]
        self.keys = [*self.groups, *(["__cluster"] if "__cluster" in names else [])]
        if self.labels:
            differs = (nw.col("__label0") != nw.col("__label1")).fill_null(True)
            joined = joined.with_columns(__relabelled=differs)
            self.keys.append("__relabelled")
        self.joined = joined
        self.complete = not any(side.judged for side in sides)
        self.relabelled = 0

    def table(self) -> tuple[ChangeTable, tuple[Cell, ...], tuple[str, ...] | None, int]:
        """Return the table, its cells, the names of its clusters, and how many are judged by other models."""
        few = self.complete and self.models <= _FEW_MODELS
        rows = self.outcomes.survey.rows
        return self._by_pattern() if few or rows <= MANY else self._by_sums()

    def _sums(self) -> list[nw.Expr]:
        sums = [nw.col("__count").sum() if "__count" in self.values else nw.len().alias("__count")]
        if "__w" in self.values:
            sums += [nw.col("__w").sum(), (nw.col("__w") * nw.col("__w")).sum().alias("__w2")]
        return sums

    def _by_pattern(self) -> tuple[ChangeTable, tuple[Cell, ...], tuple[str, ...] | None, int]:
        words = [name for side in self.sides for name in (*side.failed, *side.judged)]
        folded = self.models * len(words) <= _KEY_BITS and len(words) > 1
        kept = [nw.col(name) for name in (*self.keys, *self.values)]
        if folded:
            # Separate keys cost three times what one integer does.
            key = nw.col(words[0]).cast(nw.Int64)
            for place, name in enumerate(words[1:], start=1):
                key = key + nw.col(name).cast(nw.Int64) * (1 << (self.models * place))
            chosen = self.joined.select(*kept, __key=key)
            table = fetch(chosen.group_by("__key", *self.keys).agg(*self._sums()))
            whole = table["__key"].to_numpy().astype(np.int64)
            bits = [_bits(whole >> (self.models * place), self.models) for place in range(len(words))]
        else:
            chosen = self.joined.select(*kept, *[nw.col(name) for name in words])
            table = fetch(chosen.group_by(*words, *self.keys).agg(*self._sums()))
            bits = [_bits(table[name].to_numpy().astype(np.int64), WORD_BITS) for name in words]
        masks = dict(zip(words, bits, strict=True))
        everyone = np.ones((len(table), self.models), dtype=np.bool_)
        failed = [_together(masks, side.failed, self.models) for side in self.sides]
        judged = [_together(masks, side.judged, self.models) if side.judged else everyone for side in self.sides]
        count, weight, squared, cell, cells, cluster, names, kept_rows = self._keyed(table)
        folded_table = table_of_masks(
            [one[kept_rows] for one in judged],
            [one[kept_rows] for one in failed],
            cell=cell,
            cluster=cluster,
            count=count,
            weight=weight,
            weight_squared=squared,
            weighted="__w" in self.values,
        )
        otherwise = (judged[0] != judged[1])[kept_rows].any(axis=1)
        return folded_table, cells, names, int(count[otherwise].sum())

    def _by_sums(self) -> tuple[ChangeTable, tuple[Cell, ...], tuple[str, ...] | None, int]:
        models = range(self.models)
        first, second = self.sides
        both = {f"__j{i}": bit(first, "judged", i) * bit(second, "judged", i) for i in models if not self.complete}
        frame = self.joined.with_columns(**both) if both else self.joined

        def common(i: int) -> nw.Expr:
            return nw.lit(1, nw.Int64) if self.complete else nw.col(f"__j{i}")

        frame = frame.with_columns(
            **{f"__b{i}": bit(first, "failed", i) * common(i) for i in models},
            **{f"__a{i}": bit(second, "failed", i) * common(i) for i in models},
        )
        frame = frame.with_columns(**{f"__x{i}": nw.col(f"__b{i}") * nw.col(f"__a{i}") for i in models})
        kinds = ["b", "a", "x", *([] if self.complete else ["j"])]
        totals = {f"__n{kind}": _total([nw.col(f"__{kind}{i}") for i in models]) for kind in kinds}
        if not self.complete:
            judgements = [_total([bit(side, "judged", i) for i in models]) for side in self.sides]
            totals["__otherwise"] = judgements[0] + judgements[1]
        frame = frame.with_columns(**totals)
        sums = self._sums()
        columns = [f"__{kind}{i}" for kind in kinds for i in models]
        if "__count" in self.values:
            sums += [(nw.col(name) * nw.col("__count")).sum() for name in columns]
        else:
            sums += [nw.col(name).sum() for name in columns]
        if "__w" in self.values:
            sums += [(nw.col(name) * nw.col("__w")).sum().alias(f"{name}_w") for name in columns]
        if not self.complete:
            differs = nw.col("__otherwise") > 2 * nw.col("__nj")
            each = nw.col("__count") if "__count" in self.values else nw.lit(1, nw.Int64)
            sums.append(nw.when(differs).then(each).otherwise(nw.lit(0, nw.Int64)).sum().alias("__differ"))
        table = fetch(frame.group_by(*[f"__n{kind}" for kind in kinds], *self.keys).agg(*sums))
        return self._unpacked(table)

    def _unpacked(self, table: nw.DataFrame[Any]) -> tuple[ChangeTable, tuple[Cell, ...], tuple[str, ...] | None, int]:
        count, weight, squared, cell, cells, cluster, names, kept = self._keyed(table)
        weighted = "__w" in self.values

        def column(name: str) -> IntArray:
            return np.asarray(table[name].to_numpy()[kept], dtype=np.int64)

        def by_model(kind: str) -> tuple[IntArray, npt.NDArray[np.float64]]:
            if kind == "j" and self.complete:
                each = np.repeat(count[:, None], self.models, axis=1)
                return each, np.repeat(weight[:, None], self.models, axis=1)
            found = np.stack([column(f"__{kind}{i}") for i in range(self.models)], axis=1)
            if not weighted:
                return found, found.astype(np.float64)
            names = [f"__{kind}{i}_w" for i in range(self.models)]
            return found, np.stack([table[name].to_numpy()[kept].astype(np.float64) for name in names], axis=1)

        judged, before, after, both = (by_model(kind) for kind in ("j", "b", "a", "x"))
        otherwise = 0 if self.complete else int(column("__differ").sum())
        found = ChangeTable(
            cell=cell,
            cluster=cluster,
            judged=np.full(len(count), self.models, dtype=np.int64) if self.complete else column("__nj"),
            before=column("__nb"),
            after=column("__na"),
            both=column("__nx"),
            count=count,
            weight=weight,
            weight_squared=squared,
            model_judged=judged[0],
            model_before=before[0],
            model_after=after[0],
            model_both=both[0],
            weight_judged=judged[1],
            weight_before=before[1],
            weight_after=after[1],
            weight_both=both[1],
        ).merged()
        return found, cells, names, otherwise

    def _keyed(self, table: nw.DataFrame[Any]) -> Any:
        """Return counts, weights, cells and clusters of the rows that are kept: those of an unchanged label."""
        count = table["__count"].to_numpy().astype(np.int64)
        kept = np.ones(len(count), dtype=np.bool_)
        if self.labels:
            kept = ~table["__relabelled"].to_numpy().astype(np.bool_)
            self.relabelled = int(count[~kept].sum())
        weighted = "__w" in self.values
        weight = table["__w"].to_numpy().astype(np.float64) if weighted else count.astype(np.float64)
        squared = table["__w2"].to_numpy().astype(np.float64) if weighted else count.astype(np.float64)
        cell, cells = self._cells(table, kept)
        cluster, names = self._clusters(table, kept)
        return count[kept], weight[kept], squared[kept], cell, cells, cluster, names, kept

    def _cells(self, table: nw.DataFrame[Any], kept: BoolArray) -> tuple[IntArray, tuple[Cell, ...]]:
        if not self.groups:
            return np.zeros(int(kept.sum()), dtype=np.int64), ((),)
        columns = []
        for group, name in zip(self.outcomes.groups, self.groups, strict=True):
            edges = self.outcomes.edges.get(group.name)
            values = table[name].to_list()
            texts = {value: group.show(value, edges) for value in set(values)}
            refuse_many_groups(group, len(texts), self.outcomes.mapping.max_groups)
            columns.append([texts[value] for value in values])
        rows = [row for row, keep in zip(zip(*columns, strict=True), kept.tolist(), strict=True) if keep]
        cells = in_order(rows)
        index = {cell: i for i, cell in enumerate(cells)}
        return np.array([index[row] for row in rows], dtype=np.int64), cells

    def _clusters(self, table: nw.DataFrame[Any], kept: BoolArray) -> tuple[IntArray, tuple[str, ...] | None]:
        if "__cluster" not in self.keys:
            return np.full(int(kept.sum()), -1, dtype=np.int64), None
        values = [v for v, keep in zip(table["__cluster"].to_list(), kept.tolist(), strict=True) if keep]
        column = self.outcomes.mapping.cluster
        if any(value is None for value in values):
            raise ColumnError(
                f"The cluster column {column!r} is empty on some rows.", hint="Give every individual a cluster."
            )
        names = sorted({str(value) for value in values})
        if len(names) > _CLUSTER_LIMIT and self.outcomes.survey.rows > MANY:
            raise ColumnError(
                f"The cluster column {column!r} has {len(names):,} clusters, over {_CLUSTER_LIMIT:,}.",
                hint="Join small clusters; a thousand are enough for an interval.",
            )
        index = {name: i for i, name in enumerate(names)}
        return np.array([index[str(value)] for value in values], dtype=np.int64), tuple(names)


def _bits(words: IntArray, models: int) -> BoolArray:
    """Return the lowest bits of integers as truth values, (P, models)."""
    as_bytes = np.ascontiguousarray(words.astype("<i8")).view(np.uint8).reshape(-1, 8)
    return np.unpackbits(as_bytes, axis=1, count=models, bitorder="little").view(np.bool_)


def _together(masks: dict[str, BoolArray], names: dict[str, nw.Expr], models: int) -> BoolArray:
    return np.concatenate([masks[name] for name in names], axis=1)[:, :models]


def _total(columns: list[nw.Expr]) -> nw.Expr:
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total
