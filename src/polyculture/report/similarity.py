"""What the sections about likeness of models hold: the map, the numbers of the collection, the tables of pairs.

Reads an AuditRecord and computes nothing; HTML stands in the templates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from polyculture.audit.records import AuditRecord, CollectionRecord, PairRecord, Statistic, SuspectKeysRecord
from polyculture.report import words
from polyculture.report.similarity_map import SHADES, Map, similarity_map

__all__ = ["Nearest", "PairTables", "Together", "context", "most_alike", "near_duplicate_words", "suspect_words"]

MOST_ALIKE = 25
MOST_ROWS = 1500  # rows of the table that the filter searches
MOST_NAMED = 5


class Together(NamedTuple):
    """One number of the collection: its name, what it means, the value, its kind."""

    name: str
    meaning: str
    value: Statistic
    kind: str


class Nearest(NamedTuple):
    """A model and the one most like it."""

    model: str
    nearest: str
    pair: PairRecord


class PairTables(NamedTuple):
    """The pairs: the most alike in full, all in short, each model's nearest, and which columns there are."""

    alike: Sequence[PairRecord]
    every: Sequence[PairRecord]
    nearest: Sequence[Nearest]
    total: int
    answers: bool
    capa_method: str
    baseline: str


class MapFigure(NamedTuple):
    """The map as a figure of the page."""

    name: str
    wide: Any
    compact: Any
    note: str
    compact_note: str
    sentence: str
    shades: Sequence[tuple[int, str]]


def context(record: AuditRecord) -> dict[str, Any]:
    """Return what the sections "collection" and "pairs" need."""
    collection = record.collection
    drawn = None if collection is None else similarity_map(collection, record.pairs, "kappa-map")
    return {
        "together": () if collection is None else _together(collection, record.noun),
        "near_duplicates": "" if collection is None else near_duplicate_words(collection),
        "map_figure": None if drawn is None else _figure(drawn, record.pairs),
        "suspect_words": "" if record.suspect_keys is None else suspect_words(record.suspect_keys),
        "pair_tables": _tables(record.pairs) if record.pairs else None,
    }


def _together(collection: CollectionRecord, noun: str) -> tuple[Together, ...]:
    baseline = words.shown(collection.baseline_model or "")
    most = words.shown(collection.discrepancy_model or "none")
    return (
        Together(
            "Effective number of models",
            "so many independently failing models would vary as much in how many fail; it may exceed their number",
            collection.n_eff,
            "number",
        ),
        Together("Mean phi", "mean correlation of failures over pairs", collection.mean_phi, "number"),
        Together(
            "Fleiss' kappa",
            "agreement of any two models on whom they fail, beyond the mean failure rate",
            collection.fleiss,
            "number",
        ),
        Together(
            "CAPA for all",
            f"agreement beyond what accuracies make likely, averaged over pairs before the ratio; of "
            f"{words.shown(collection.capa_method)}",
            collection.capa,
            "number",
        ),
        Together(
            "Ambiguity",
            f"{words.shown(noun)} that get another outcome from some model than from {baseline}, which fails least",
            collection.ambiguity,
            "percent",
        ),
        Together(
            "Discrepancy",
            f"most {words.shown(noun)} that get another outcome from one model than from {baseline}: {most}",
            collection.discrepancy,
            "percent",
        ),
    )


def near_duplicate_words(collection: CollectionRecord) -> str:
    """Name the pairs that may be one model; an empty text where there is none."""
    found = collection.near_duplicates
    if not found:
        return ""
    named = "; ".join(
        f"{words.shown(pair.models[0])} and {words.shown(pair.models[1])} (kappa {words.ratio(pair.kappa)})"
        for pair in found[:MOST_NAMED]
    )
    more = f"; and {len(found) - MOST_NAMED} more pairs" if len(found) > MOST_NAMED else ""
    return f"May be the same model, or nearly so: {named}{more}."


def suspect_words(found: SuspectKeysRecord) -> str:
    """Say how many labels are contradicted, and systemic failure with and without them."""
    if not found.count:
        return "On no item do models share one wrong answer beyond expectation."
    return (
        f"On {words.plural(found.count, 'item')} models share one answer that is not the label, beyond expectation: "
        "the labels may be wrong, or the models share a mistake. Systemic failure is "
        f"{words.statistic(found.systemic_failure)} with them and {words.statistic(found.systemic_failure_without)} "
        "without."
    )


def most_alike(pairs: Sequence[PairRecord]) -> list[PairRecord]:
    """Return the pairs by error consistency, the most alike first; undefined ones last."""
    return sorted(pairs, key=lambda pair: (pair.kappa.value is None, -(pair.kappa.value or 0.0), pair.models))


def _figure(drawn: Map, pairs: Sequence[PairRecord]) -> MapFigure:
    first = most_alike(pairs)[0]
    told = "no pair has a defined error consistency"
    if first.kappa.value is not None:
        told = (
            f"most alike are {words.shown(first.models[0])} and {words.shown(first.models[1])} "
            f"({words.ratio(first.kappa.value)})"
        )
    used = {cell for row in drawn.cells for cell in row}
    return MapFigure(
        "kappa-map",
        drawn.wide,
        drawn.compact,
        "" if drawn.named else "There are too many models to name them here: the tables below name them.",
        "" if drawn.named_compact or not drawn.named else "This narrow screen leaves the names out.",
        f"Error consistency of every pair of models, ordered by the tree beside it: {told}.",
        [(index, name) for index, name in enumerate(SHADES) if index in used],
    )


def _tables(pairs: Sequence[PairRecord]) -> PairTables:
    ordered = most_alike(pairs)
    nearest: dict[str, Nearest] = {}
    for pair in ordered:
        for model, other in (pair.models, pair.models[::-1]):
            nearest.setdefault(model, Nearest(model, other, pair))
    names = dict.fromkeys(model for pair in pairs for model in pair.models)
    baseline = {pair.baseline for pair in pairs if pair.baseline is not None}
    return PairTables(
        ordered[:MOST_ALIKE],
        ordered[:MOST_ROWS] if len(ordered) > MOST_ALIKE else (),
        [nearest[name] for name in names] if len(names) > MOST_ALIKE else (),
        len(ordered),
        any(
            pair.agree_when_both_wrong.value is not None or pair.agree_when_either_wrong.value is not None
            for pair in pairs
        ),
        pairs[0].capa_method,
        _span(baseline),
    )


def _span(baseline: Collection[float]) -> str:
    """Return the chance of two same wrong answers, or its range over pairs; empty where no pair has one."""
    if not baseline:
        return ""
    low, high = words.percent(min(baseline)), words.percent(max(baseline))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"
