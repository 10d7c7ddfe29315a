"""The dermatology analysis of 2307.05862: models and human experts on the same images, by skin tone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import msgspec

from polyculture.api import audit
from polyculture.audit.statistic import Statistic, undefined
from polyculture.claims import ecosystem_level as paper
from polyculture.claims.records import ClaimRecord, Verdict
from polyculture.claims.verdict import absent, direction, within_interval
from polyculture.errors import ColumnError

if TYPE_CHECKING:
    from polyculture.audit.records import GroupRecord, KindsRecord
    from polyculture.results import Audit

__all__ = ["DEFAULTS", "claims", "look"]

# A table without a mapping: image, label, skin_tone, and one column a decision-maker.
DEFAULTS = {"id": "image", "label": "label", "models": ("model_*", "human_*"), "by": ("skin_tone",)}
DEFAULT_KINDS = {"model": ("model_*",), "human": ("human_*",)}
_TONES = {
    "I-II": {"I-II", "I & II", "I and II", "1-2", "12"},
    "III-IV": {"III-IV", "III & IV", "III and IV", "3-4", "34"},
    "V-VI": {"V-VI", "V & VI", "V and VI", "5-6", "56"},
}
_COLUMNS = (
    "Without a map the table has the columns image, label, skin_tone, model_* and human_*; "
    "if yours are called otherwise, write a TOML file that says so (--map FILE)."
)
NO_TABLE = "needs a table of predictions: --dermatology FILE"
_OUTCOME = "homogeneous outcomes"


def look(
    table: str | PathLike[str],
    *,
    mapping: str | PathLike[str] | None,
    kinds: Mapping[str, Sequence[str] | str] | str | PathLike[str] | None,
    seed: int,
    progress: Callable[[str], None],
) -> Audit:
    """Audit a table of predictions by skin tone, models and humans apart.

    Parameters
    ----------
    table : path
        A row an image.
    mapping : path or None
        TOML file with what the columns mean; by default image, label, skin_tone, model_* and human_*.
    kinds : mapping, text, path or None
        The columns of kind "model" and of kind "human"; by default model_* and human_*.
    seed, progress
        As in `reproduce`.

    Raises
    ------
    InputError, UsageError
        If the table cannot be read, or the mapping or the kinds do not fit it.
    """
    progress("Auditing the table of dermatology")
    chosen: Any = {} if mapping is not None else DEFAULTS
    try:
        return audit(
            table, seed=seed, map=mapping, kinds=DEFAULT_KINDS if kinds is None else kinds, noun="images", **chosen
        )
    except ColumnError as error:
        if mapping is not None:
            raise
        raise ColumnError(error.message, hint=f"{error.hint} {_COLUMNS}") from None


def claims(found: Audit | None) -> list[ClaimRecord]:
    """Hold the reported excesses against those of a table; all are not tested without one.

    Whether the paper's numbers are points or ratios is not known, so each is tested under both readings.
    """
    kinds = None if found is None else found.kinds
    lines = [line for one in paper.DERMATOLOGY for line in _reported(one, kinds)]
    return [*lines, _no_pattern(kinds), _models_differ(kinds)]


def _reported(one: paper.Dermatology, kinds: KindsRecord | None) -> Iterator[ClaimRecord]:
    """Yield one reported excess under both readings."""
    group, reason = _group(kinds, one.kind, one.group)
    outcome = None if group is None else group.homogeneous_outcomes
    for reading, unit in (("in points", "points"), ("as a ratio", "ratio")):
        none, published = (0.0, one.published) if unit == "points" else (1.0, 1.0 + one.published)
        stat = undefined(reason) if outcome is None else outcome.difference if unit == "points" else outcome.ratio
        verdict, why = _tested(within_interval(published, one.decimals, stat, none=none), stat, reason)
        yield _claim(
            about=f"dermatology, {one.kind}s, skin tone {one.group}",
            statement=f"homogeneous outcomes against the baseline of the group's own rates, read {reading}",
            unit=unit,
            published=published,
            decimals=one.decimals,
            found=stat,
            judged_by="interval",
            verdict=verdict,
            reason=why,
        )


def _no_pattern(kinds: KindsRecord | None) -> ClaimRecord:
    """Hold the absence of a pattern in humans against the difference that the paper sees in models."""
    margin = paper.DERMATOLOGY[0].published - paper.DERMATOLOGY[1].published
    stat = _between_groups(kinds, paper.NO_PATTERN_KIND)
    verdict, why = _tested(absent(stat, none=0.0, margin=margin), stat, _reason(stat))
    return _claim(
        about="dermatology, humans",
        statement=paper.NO_PATTERN_STATEMENT,
        unit="points",
        published=None,
        decimals=3,
        found=stat,
        judged_by="absence",
        margin=margin,
        verdict=verdict,
        reason=why,
    )


def _models_differ(kinds: KindsRecord | None) -> ClaimRecord:
    stat = _between_kinds(kinds)
    verdict, why = _tested(direction(stat, none=0.0, above=True), stat, _reason(stat))
    return _claim(
        about="dermatology, models and humans",
        statement=paper.MODELS_DIFFER_STATEMENT,
        unit="points",
        published=None,
        decimals=3,
        found=stat,
        judged_by="direction",
        verdict=verdict,
        reason=why,
    )


def _claim(**fields: Any) -> ClaimRecord:
    return ClaimRecord(source=paper.DERMATOLOGY_SOURCE, **fields)


def _tested(found: tuple[Verdict, str], stat: Statistic, reason: str) -> tuple[Verdict, str]:
    """Return the verdict, or why there is none: a missing table or group says more than "undefined"."""
    return ("not tested", reason or _reason(stat)) if stat.value is None else found


def _reason(stat: Statistic) -> str:
    return stat.reason if isinstance(stat.reason, str) else ""


def _tone(value: str | None) -> str:
    """Return the skin tone that a group value stands for, or an empty string."""
    return next((tone for tone, words in _TONES.items() if value in words), "")


def _group(kinds: KindsRecord | None, kind: str, tone: str) -> tuple[GroupRecord | None, str]:
    """Return the group of a skin tone under a kind, or why there is none."""
    if kinds is None:
        return None, NO_TABLE
    own = next((one for one in kinds.kinds if one.name == kind), None)
    if own is None:
        return None, f"there is no kind {kind!r}"
    found = [group for group in own.groups if len(group.by) == 1 and _tone(next(iter(group.by.values()))) == tone]
    if not found:
        return None, f"no group is called skin tone {tone} (also known: {', '.join(sorted(_TONES[tone]))})"
    if found[0].homogeneous_outcomes is None:
        return None, f"the group of skin tone {tone} is too small"
    return found[0], ""


def _between_groups(kinds: KindsRecord | None, kind: str) -> Statistic:
    if kinds is None:
        return undefined(NO_TABLE)
    for one in kinds.group_differences:
        if one.outcome == _OUTCOME and one.kind == kind and (sign := _order(one.groups)):
            return _signed(one.excess_difference, sign)
    return undefined(f"there is no kind {kind!r} with groups of skin tones V-VI and I-II")


def _between_kinds(kinds: KindsRecord | None) -> Statistic:
    """Return the difference of differences, models less humans, V-VI less I-II."""
    if kinds is None:
        return undefined(NO_TABLE)
    for one in kinds.differences:
        if one.outcome == _OUTCOME and set(one.kinds) == {"model", "human"} and (sign := _order(one.groups)):
            return _signed(one.excess_difference, sign * (1 if one.kinds[0] == "model" else -1))
    return undefined("there are no kinds 'model' and 'human' with groups of skin tones V-VI and I-II")


def _order(groups: tuple[dict[str, str | None], dict[str, str | None]]) -> int:
    """Return 1 where the groups are V-VI and I-II, -1 the other way round, 0 for any others."""
    tones = tuple(_tone(next(iter(by.values()), None)) for by in groups)
    return {("V-VI", "I-II"): 1, ("I-II", "V-VI"): -1}.get(tones, 0)  # type: ignore[arg-type]


def _signed(stat: Statistic, sign: int) -> Statistic:
    if sign > 0 or stat.value is None:
        return stat
    low, high = (None if end is None else -end for end in (stat.high, stat.low))
    return msgspec.structs.replace(stat, value=-stat.value, low=low, high=high)
