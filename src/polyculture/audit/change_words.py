"""The sentences of a comparison: what changed, whom improvements reached, and what a reader should know.

It reads records and writes words; it computes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.change_verdict import FEW_MODELS
from polyculture.audit.words import all_models, count, interval, listed, number, number_of, percent, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyculture.audit.change_records import ChangeRecord, ModelChange, PairedRate, TrendRecord
    from polyculture.audit.settings import Settings
    from polyculture.tally.changes import Changes


def versions(one: ModelChange) -> str:
    """Return the name of a model, or of its two versions.

    >>> from types import SimpleNamespace
    >>> versions(SimpleNamespace(name="a-1", name_after="a-2")), versions(SimpleNamespace(name="a", name_after="a"))
    ('a-1 -> a-2', 'a')
    """
    return one.name if one.name == one.name_after else f"{one.name} -> {one.name_after}"


def short_versions(one: ModelChange) -> str:
    """Return both versions, the later one without what both begin with.

    >>> from types import SimpleNamespace
    >>> short_versions(SimpleNamespace(name="openai/gpt-4-0314", name_after="openai/gpt-4-0613"))
    'openai/gpt-4-0314 -> ...0613'
    """
    old, new = one.name, one.name_after
    if old == new:
        return old
    letters = zip(old, new, strict=False)
    same = next((place for place, (a, b) in enumerate(letters) if a != b), min(len(old), len(new)))
    same = max((place + 1 for place, letter in enumerate(new[:same]) if not letter.isalnum()), default=0)
    return f"{old} -> ...{new[same:]}" if same > 3 else f"{old} -> {new}"


def moved(rate: PairedRate) -> str:
    """Return a rate before and after with the change and its interval, in words."""
    if rate.difference.value is None or rate.before.value is None or rate.after.value is None:
        return "is undefined"
    ends = interval(rate.difference, "points")
    told = number(rate.difference, "points") + (f", 95 % interval {ends.removesuffix(' points')}" if ends else "")
    if rate.difference.value == 0:
        return f"stayed at {percent(rate.before.value)} ({told})"
    verb = "rose" if rate.difference.value > 0 else "fell"
    return f"{verb} from {percent(rate.before.value)} to {percent(rate.after.value)} ({told})"


def change_headline(record: ChangeRecord, noun: str) -> str:
    """Return the sentence that leads one change."""
    if record.individuals == 0:
        return (
            f"None of the {count(record.matched)} {noun} in both snapshots was judged at both by enough models, "
            "so that there is nothing to compare."
        )
    systemic = record.systemic_failure
    who = number_of(record.individuals, noun)
    models = all_models(len(record.models))
    return (
        f"From {record.before} to {record.after}, the share of {who} failed by {models} "
        f"{moved(systemic.rate)}: {count(systemic.undone)} no longer are, {count(systemic.new)} newly are."
    )


def compare_headline(changes: Sequence[ChangeRecord], trend: Sequence[TrendRecord], noun: str) -> str:
    """Return the sentence that leads a comparison: the one change, or the first and last of many snapshots."""
    if len(changes) == 1 or not trend:
        return changes[0].headline
    series = trend[0]
    first, last = series.points[0], series.points[-1]
    if first.rate.value is None or last.rate.value is None:
        return changes[-1].headline
    ends = interval(series.slope, "points").removesuffix(" points")
    return (
        f"Over {len(series.points)} snapshots, {first.snapshot} to {last.snapshot}, the share of "
        f"{number_of(series.individuals, noun)} failed by all models went from {percent(first.rate.value)} to "
        f"{percent(last.rate.value)}: {number(series.slope, 'points')} from one snapshot to the next"
        + (f" (95 % interval {ends})." if ends else ".")
    )


def change_notes(record: ChangeRecord, changes: Changes, settings: Settings) -> tuple[str, ...]:
    """Return what a reader of one change should know."""
    noun, found = settings.noun, []
    if record.only_before or record.only_after:
        found.append(
            f"{count(record.only_before)} {noun} are only in {record.before} and {count(record.only_after)} only in "
            f"{record.after}; they are not compared."
        )
    if record.relabelled:
        found.append(
            f"{count(record.relabelled)} {noun} have another label in {record.after} than in {record.before} and are "
            "left out: a change there would not be the models'."
        )
    if record.models_left:
        found.append(f"Only in {record.before}, and not compared: {listed(record.models_left)}.")
    if record.models_joined:
        found.append(f"Only in {record.after}, and not compared: {listed(record.models_joined)}.")
    if record.judged_otherwise:
        found.append(
            f"{count(record.judged_otherwise)} {noun} were judged by other models in {record.after} than in "
            f"{record.before}; a model counts for them only where it judged them at both snapshots."
        )
    if record.judged_too_little:
        told = listed(
            [f"{count(number)} by {plural(judged, 'model')}" for judged, number in record.judged_too_little.items()]
        )
        found.append(f"Judged at both snapshots by too few models for the headline: {told}.")
    if len(record.models) > 1:
        found += _about_baselines(record)
    if changes.cluster_count is not None:
        found.append(f"The {noun} come in {plural(changes.cluster_count, 'cluster')}; intervals allow for that.")
    return tuple(found)


def _about_baselines(record: ChangeRecord) -> list[str]:
    found = [
        "A failure shared with all other models is a hard one, and hard failures are undone less often even by a "
        "version that changes nothing but its luck: read the share of improvements against the baseline that is "
        "adjusted for difficulty, not against the uniform one alone."
    ]
    if len(record.models) <= FEW_MODELS and any(one.adjusted.value is not None for one in record.undoing):
        found.append(
            f"With {plural(len(record.models), 'model')} these data hardly show how difficulty is distributed, so "
            "that the adjusted baseline is rough."
        )
    return found
