"""Addition and comparison of Tallies: models, cells and clusters are matched by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import numpy as np

from polyculture.errors import TallyError, first_few
from polyculture.tally.cells import Cell, in_order
from polyculture.tally.tables import IntArray, RawPatterns, pack, unpack
from polyculture.tally.tally import Tally

__all__ = ["add", "same"]

_SAME = (
    ("failure_rule", "failure rules"),
    ("no_answer_policy", "readings of no answer"),
    ("min_judged", "min_judged"),
    ("weighted", "kinds of weights"),
    ("groups", "group columns"),
    ("thresholds", "thresholds"),
    ("binary_labels", "kinds of labels"),
    ("selection", "positive labels"),
)


def add(left: Tally, right: Tally) -> Tally:
    """Return the Tally of all individuals of both.

    Raises
    ------
    TallyError
        If they were made under different rules, thresholds, groups or models.
    """
    for name, words in _SAME:
        mine, theirs = getattr(left, name), getattr(right, name)
        if mine != theirs:
            raise TallyError(
                f"These Tallies have different {words} ({mine!r} and {theirs!r}) and cannot be added.",
                hint="Make both with the same mapping; resolve thresholds on the whole.",
            )
    if set(left.models) != set(right.models):
        odd = sorted(set(left.models) ^ set(right.models))
        raise TallyError(
            f"These Tallies are of different models: only one of them has {first_few(odd)}.",
            hint="Make both over the same models; a model that judged nobody in one half is still named.",
        )
    if left.clustered != right.clustered or left.exact != right.exact:
        raise TallyError(
            "One of these Tallies has clusters or exact patterns and the other has none.",
            hint="Make both with the same mapping.",
        )
    if (left.probabilities is None) != (right.probabilities is None):
        raise TallyError(
            "One of these Tallies has probabilities and the other has none.",
            hint="Make both with the same --probabilities.",
        )
    cells = in_order((*left.cells, *right.cells))
    clusters = tuple(sorted({*(left.cluster_names or ()), *(right.cluster_names or ())}))
    parts = [_moved(part, left.models, cells, clusters) for part in (left, right)]
    raw = _stack(parts[0], parts[1])
    tables = None
    if left.tables is not None and right.tables is not None:
        raw = raw.lowest(max(left.raw.rows, right.raw.rows))
        tables = left.tables.add(right.tables, left, right, cells)
    answers = probabilities = None
    order = [right.models.index(name) for name in left.models]
    if left.answers is not None and right.answers is not None:
        answers = left.answers.add(right.answers, order)
    if left.probabilities is not None and right.probabilities is not None:
        probabilities = left.probabilities + right.probabilities.ordered(order)
    return replace(
        left,
        answers=answers,
        probabilities=probabilities,
        cells=cells,
        cluster_names=clusters if left.clustered else None,
        raw=raw.merged(),
        tables=tables,
        no_answer_reasons=_add_reasons(left.no_answer_reasons, right.no_answer_reasons),
        rows_read=left.rows_read + right.rows_read,
        rows_used=left.rows_used + right.rows_used,
        left_out=dict(sorted((Counter(left.left_out) + Counter(right.left_out)).items())),
    )


def _moved(tally: Tally, models: tuple[str, ...], cells: tuple[Cell, ...], clusters: tuple[str, ...]) -> RawPatterns:
    """Return the patterns with models, cells and clusters in the order of the sum."""
    raw = tally.raw
    if tally.models != models:
        order = [tally.models.index(name) for name in models]
        masks = (pack(unpack(mask, len(models))[:, order]) for mask in (raw.judged, raw.failed, raw.no_answer))
        judged, failed, no_answer = masks
        raw = replace(raw, judged=judged, failed=failed, no_answer=no_answer)
    where = {cell: i for i, cell in enumerate(cells)}
    to_cell: IntArray = np.array([where[cell] for cell in tally.cells], dtype=np.int64)
    raw = replace(raw, cell=to_cell[raw.cell])
    if tally.cluster_names is not None:
        place = {name: i for i, name in enumerate(clusters)}
        to_cluster: IntArray = np.array([place[name] for name in tally.cluster_names], dtype=np.int64)
        raw = replace(raw, cluster=to_cluster[raw.cluster])
    return raw


def _stack(first: RawPatterns, second: RawPatterns) -> RawPatterns:
    names = [entry.name for entry in fields(RawPatterns)]
    return RawPatterns(**{name: np.concatenate([getattr(first, name), getattr(second, name)]) for name in names})


def _add_reasons(left: dict[str, dict[str, int]], right: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {
        model: dict(sorted((Counter(left.get(model, {})) + Counter(right.get(model, {}))).items()))
        for model in sorted({*left, *right})
    }


def same(left: Tally, right: Tally) -> bool:
    """Whether two Tallies say the same; weights to 1e-9, everything else exactly."""
    for entry in fields(Tally):
        if entry.name in ("raw", "tables", "answers", "probabilities"):
            continue
        if getattr(left, entry.name) != getattr(right, entry.name):
            return False
    if left.raw.rows != right.raw.rows or (left.tables is None) != (right.tables is None):
        return False
    for entry in fields(RawPatterns):
        mine, theirs = getattr(left.raw, entry.name), getattr(right.raw, entry.name)
        equal = np.allclose(mine, theirs, rtol=1e-9) if mine.dtype.kind == "f" else np.array_equal(mine, theirs)
        if not equal:
            return False
    if (left.answers is None) != (right.answers is None):
        return False
    if left.answers is not None and right.answers is not None and not left.answers.same(right.answers):
        return False
    if (left.probabilities is None) != (right.probabilities is None):
        return False
    both = left.probabilities, right.probabilities
    if both[0] is not None and both[1] is not None and not both[0].same(both[1]):
        return False
    return left.tables is None or right.tables is None or left.tables.same(right.tables)
