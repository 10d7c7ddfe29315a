"""The training-data experiments of 2211.13972 held against what the paper reports: from a plan to claims with verdicts.

Each experiment's plan stands in a module of its own; what it finds comes from ``lab``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from polyculture._version import __version__
from polyculture.audit.records import InputFile
from polyculture.audit.statistic import Statistic
from polyculture.audit.words import listed, plural
from polyculture.claims import outcome_homogenization as paper
from polyculture.claims.records import VERDICTS, ClaimRecord, ReproductionRecord, Verdict
from polyculture.claims.verdict import absent, direction
from polyculture.errors import UsageError, nearest
from polyculture.labs import sharing
from polyculture.reproductions.result import Reproduction

if TYPE_CHECKING:
    from polyculture.lab.records import EffectRecord, SharingRecord

__all__ = ["ALL", "SCALES", "AnyPath", "Scale", "Size", "claim", "experiment", "near", "rise", "sized", "verdicts_told"]

Scale = Literal["quick", "laptop", "paper"]
SCALES: tuple[Scale, ...] = ("quick", "laptop", "paper")
AnyPath = str | PathLike[str]
ALL = "all learners and sizes"


@dataclass(frozen=True)
class Size:
    """How large an experiment is: numbers of blocks, model seeds, partition seeds."""

    blocks: tuple[int, ...]
    model_seeds: int
    partition_seeds: int


V = TypeVar("V")


def sized(scale: str, sizes: Mapping[Scale, V]) -> V:
    """Return the size of a scale.

    Raises
    ------
    UsageError
        If there is no such scale.
    """
    for name, size in sizes.items():
        if name == scale:
            return size
    raise UsageError(f"There is no scale {scale!r}.", hint=nearest(scale, SCALES) or f"Choose {', '.join(SCALES)}.")


def experiment(
    name: str,
    plan: dict[str, Any],
    *,
    reading: str,
    notes: Sequence[str],
    out: AnyPath | None,
    settings: Iterable[str],
    jobs: int,
    backend: str,
    command: str,
    progress: Callable[[str], None] | None,
    claims_of_groups: Callable[[SharingRecord], list[ClaimRecord]] | None = None,
    claims: Callable[[SharingRecord], list[ClaimRecord]] | None = None,
) -> Reproduction:
    """Run an experiment and hold what the paper reports against it.

    Parameters
    ----------
    name : str
        Of the experiment.
    plan : dict
        As a TOML file has it.
    reading : str
        What was chosen where the paper leaves a choice open, and the scale, in words.
    notes : sequence of str
        What a reader should know of it.
    out : path or None
        Folder of the results; outcomes go into ``out/experiment``, and the same call goes on there.
    settings : iterable of str
        ``KEY=VALUE`` overrides of the plan.
    jobs, backend, progress
        As in `polyculture.lab.sharing`.
    command : str
        The call as the record shows it.
    claims_of_groups : callable, optional
        Further claims from the record.
    claims : callable, optional
        All claims from the record, in place of those on sharing training data.
    """
    settings = tuple(settings)
    folder = None if out is None else Path(out) / "experiment"
    found = sharing(plan, out=folder, set=settings, jobs=jobs, backend=backend, progress=progress)
    record = found.record
    held = [*_raises(record), _uncorrelated(record)] if claims is None else claims(record)
    if claims_of_groups is not None:
        held += claims_of_groups(record)
    counts = Counter(claim.verdict for claim in held)
    return Reproduction(
        ReproductionRecord(
            name=name,
            paper=paper.PAPER,
            sentence=_sentence(record, held, counts),
            version=__version__,
            seed=record.plan.seed,
            command=command,
            inputs=tuple(InputFile(name=key, format="data", sha256=value) for key, value in record.data.items()),
            verdicts={verdict: counts[verdict] for verdict in VERDICTS},
            claims=tuple(held),
            snapshots=(),
            notes=(
                f"What was run: {', '.join([reading, *settings])}.",
                *(["The experiment itself is in the folder experiment: report.html, tables, outcomes."] if out else []),
                *notes,
                _MANY,
                *record.notes,
            ),
        ),
        experiment=found,
    )


_MANY = (
    "Claims of single learners and sizes are many looks at the same trials, and their intervals are not corrected for "
    "it; the first is of all together."
)


def _sentence(record: SharingRecord, claims: Sequence[ClaimRecord], counts: Counter[Verdict]) -> str:
    return f"{record.headline} Of {plural(len(claims), 'claim')} of the paper {verdicts_told(counts)}."


def verdicts_told(counts: Mapping[Verdict, int]) -> str:
    """Return how many claims have each verdict, in words.

    >>> verdicts_told({"agrees": 1, "cannot tell": 7, "not tested": 2})
    '1 agrees, 7 cannot be told and 2 were not tested'
    """
    told: dict[Verdict, tuple[str, str]] = {
        "agrees": ("agrees", "agree"),
        "disagrees": ("disagrees", "disagree"),
        "cannot tell": ("cannot be told", "cannot be told"),
        "not tested": ("was not tested", "were not tested"),
    }
    return listed(
        [f"{many} {one if many == 1 else several}" for verdict, (one, several) in told.items()
         if (many := counts.get(verdict, 0))]
    )  # fmt: skip


def _raises(record: SharingRecord) -> list[ClaimRecord]:
    """Hold the claim that sharing raises H against the effect: all together, by learner, by size."""
    found = []
    for effect in record.effects:
        if (effect.component, effect.level) != ("rows", "fixed") or None not in {effect.learner, effect.blocks}:
            continue
        verdict, reason = rise(effect.ratio)
        words = f"{paper.RAISES}: H of the fixed arm / H of the disjoint"
        found.append(claim(_where(effect), words, effect.ratio, "direction", verdict, reason))
    return found


def rise(ratio: Statistic) -> tuple[Verdict, str]:
    """Return the verdict on a reliable rise of H; an interval that holds 1 but no rise worth the word disagrees.

    A rise that is there and is small agrees, since the paper names no size; the reason says that it is small.

    >>> rise(Statistic(value=1.01, low=0.98, high=1.03))[0], rise(Statistic(value=1.2, low=1.1, high=1.3))[0]
    ('disagrees', 'agrees')
    >>> rise(Statistic(value=1.01, low=0.9, high=1.15))[0]
    'cannot tell'
    """
    verdict, reason = direction(ratio, none=1.0, above=True)
    if ratio.high is None or ratio.high >= 1.0 + paper.SMALLEST_RISE:
        return verdict, reason
    none = f"leaves a rise of {paper.SMALLEST_RISE:.0%} or more out"
    if verdict == "cannot tell":
        return "disagrees", f"the interval holds 1, and {none}"
    return verdict, f"{reason}, and {none}" if verdict == "agrees" else reason


def _where(effect: EffectRecord) -> str:
    if effect.learner is not None:
        return effect.learner
    return ALL if effect.blocks is None else f"{effect.blocks} blocks of {effect.training_rows} rows"


def _uncorrelated(record: SharingRecord) -> ClaimRecord:
    found = record.homogenization_and_accuracy["all arms"]
    verdict, reason = near(found, 0.0, paper.LARGEST_CORRELATION)
    words = f"{paper.UNCORRELATED}: rank correlation over trials"
    return claim(ALL, words, found, "absence", verdict, reason, margin=paper.LARGEST_CORRELATION)


def near(found: Statistic, none: float, margin: float) -> tuple[Verdict, str]:
    """Return the verdict on a number said to be near another: an interval within the margin of it agrees.

    >>> near(Statistic(value=0.05, low=0.01, high=0.09), 0.0, 0.3)[0]
    'agrees'
    >>> near(Statistic(value=0.25, low=0.1, high=0.4), 0.0, 0.3)[0]
    'cannot tell'
    >>> near(Statistic(value=-0.5, low=-0.6, high=-0.4), 0.0, 0.3)[0]
    'disagrees'
    """
    if found.low is None or found.high is None:
        return absent(found, none=none, margin=margin)
    low, high = none - margin, none + margin
    if low < found.low and found.high < high:
        return "agrees", f"the interval lies within {margin:g} of {none:g}"
    if found.low > high or found.high < low:
        return "disagrees", f"the interval lies beyond {margin:g} of {none:g}"
    return "cannot tell", f"the interval reaches beyond {margin:g} of {none:g}"


def claim(  # noqa: PLR0917 (the columns of one table)
    about: str,
    statement: str,
    found: Statistic,
    judged_by: Literal["interval", "direction", "absence"],
    verdict: Verdict,
    reason: str,
    *,
    margin: float | None = None,
    published: float | None = None,
) -> ClaimRecord:
    """Return a claim of this paper: a ratio or a correlation, printed with one decimal where it is."""
    return ClaimRecord(
        about=about,
        statement=statement,
        unit="ratio",
        published=published,
        decimals=1,
        found=found,
        judged_by=judged_by,
        margin=margin,
        verdict=verdict,
        reason=reason,
        source=paper.SOURCE,
    )
