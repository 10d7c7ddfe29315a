"""The analysis of 2307.05862 (ecosystem-level): the audits, and each claim beside what they find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from polyculture._version import __version__
from polyculture.audit.proportion import plain_shares
from polyculture.audit.statistic import Statistic
from polyculture.audit.words import listed, plural
from polyculture.claims import ecosystem_level as paper
from polyculture.claims.records import VERDICTS, ClaimRecord, ReproductionRecord
from polyculture.claims.verdict import direction, same_data
from polyculture.errors import UsageError
from polyculture.reproductions import dermatology as skin
from polyculture.reproductions import improvement
from polyculture.reproductions.result import Reproduction
from polyculture.reproductions.snapshots import Snapshot, bundled, later

if TYPE_CHECKING:
    from polyculture.audit.records import Outcome

__all__ = ["reproduce"]

Path = str | PathLike[str]


def reproduce(
    *,
    data: Path | None = None,
    dermatology: Path | None = None,
    map: Path | None = None,  # noqa: A002 (the word of the shell)
    kinds: Mapping[str, Sequence[str] | str] | Path | None = None,
    seed: int = 0,
    command: str = "polyculture.reproduce(...)",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Do a published analysis again, and hold what the paper reports against what is found.

    Parameters
    ----------
    data : path, optional
        Folder of the HAPI layout; every year of every data set in it is audited as well, and
        consecutive years are compared.
    dermatology : path, optional
        Table of predictions of models and human experts, a row an image.
    map : path, optional
        What the columns of that table mean (TOML); by default image, label, skin_tone, model_* and human_*.
    kinds : mapping, text or path, optional
        Which of its columns are of kind "model" and which of kind "human"; by default model_* and human_*.
    seed : int
        Seed of every random draw.
    command : str
        The call as the record shows it.
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    Reproduction
        Claims, audits, and the ways to show and write them.

    Raises
    ------
    InputError, UsageError
        If the name is unknown, or a file or folder cannot be read.

    Examples
    --------
    >>> found = reproduce()
    >>> found.record.verdicts["disagrees"]
    0
    """
    if dermatology is None and (map is not None or kinds is not None):
        raise UsageError(
            "map and kinds are of the table of dermatology.", hint="Give that table too, or leave them out."
        )
    tell = progress or (lambda _: None)
    table = None
    if dermatology is not None:  # first, since what users wrote themselves is wrong most often
        table = skin.look(dermatology, mapping=map, kinds=kinds, seed=seed, progress=tell)
    folder = None if data is None else later(data, seed, tell)
    years = [] if folder is None else folder.snapshots
    snapshots = bundled(seed, tell)
    found = [claim for snapshot in snapshots for claim in _figures(snapshot)]
    found += [claim for snapshot in snapshots for claim in _trend(snapshot)]
    found += improvement.claims(None if folder is None else folder.improvements)
    found += skin.claims(table)
    return Reproduction(
        ReproductionRecord(
            name=paper.NAME,
            paper=paper.PAPER,
            sentence=_sentence(found, [*snapshots, *years]),
            version=__version__,
            seed=seed,
            command=command,
            inputs=tuple(
                dict.fromkeys(
                    one
                    for source in ([s.audit for s in snapshots + years] + ([] if table is None else [table]))
                    for one in source.provenance.inputs
                )
            ),
            verdicts=_counts(found),
            claims=tuple(found),
            snapshots=tuple(snapshot.record for snapshot in [*snapshots, *years]),
            improvements=() if folder is None else tuple(folder.improvements),
            dermatology=None if table is None else table.kinds,
            notes=(*_NOTES, *(() if folder is None else folder.left_out)),
        )
    )


_NOTES = (
    "The paper speaks of eleven data sets; the counts of twelve are bundled. Which one it leaves out is not known.",
    "Published figures of the bundled counts are of the same examples, so that they must agree but for rounding; their "
    "intervals say what other examples of the same kind might show.",
    "Where it is not known whether a published number is in points or a ratio, or at which of two years the other "
    "services are read, each reading counts as a claim.",
)


def _figures(snapshot: Snapshot) -> list[ClaimRecord]:
    """Hold the printed profile of a data set, and what each service could improve, against its audit."""
    record, name = snapshot.record, snapshot.record.dataset
    found = []
    if name in paper.PROFILES:
        printed = paper.PROFILES[name]
        found.append(
            _same(name, "examples", "count", printed.individuals, 0, Statistic(value=float(record.individuals)))
        )
        for row in record.profile:
            words = f"share failed by {row.failed} of {row.judged} services"
            found.append(_same(name, words, "share", printed.observed[row.failed], 3, row.observed))
            expected = Statistic(value=row.expected, reason="a function of the failure rates; no interval of its own")
            words = f"{words}, under the baseline"
            found.append(_same(name, words, "share", printed.expected[row.failed], 3, expected))
        words = "failed by all services: observed over baseline"
        ratio = record.systemic_failure.ratio
        found.append(_same(name, words, "ratio", printed.ratio, printed.ratio_decimals, ratio))
    for potential in paper.POTENTIAL:
        if potential.dataset == name:
            found += _potential(snapshot, potential)
    return found


def _potential(snapshot: Snapshot, printed: paper.Potential) -> list[ClaimRecord]:
    """Hold the failures of one service, by how many others fail too, against the patterns of the audit."""
    counts = np.zeros(len(snapshot.record.models), dtype=np.int64)
    for pattern in snapshot.audit.patterns:
        if printed.model in pattern.failed:
            counts[len(pattern.failed) - 1] += pattern.count
    total = int(counts.sum())
    about, source = f"{printed.dataset}, {printed.model}", paper.POTENTIAL_SOURCE
    found = []
    if printed.failures is not None:
        stat = Statistic(value=float(total))
        found.append(_same(about, "failures of this service", "count", printed.failures, 0, stat, source))
    shares = plain_shares(counts, np.full_like(counts, total))
    for others, (share, published) in enumerate(zip(shares, printed.shares, strict=True)):
        words = f"share of its failures that {others} of the other services fail too"
        found.append(_same(about, words, "share", published, 3, share, source))
    return found


def _same(  # noqa: PLR0917 (the columns of one table)
    about: str,
    words: str,
    unit: str,
    published: float,
    decimals: int,
    stat: Statistic,
    source: str = paper.PROFILE_SOURCE,
) -> ClaimRecord:
    verdict, reason = same_data(published, decimals, stat)
    return ClaimRecord(
        about=about,
        statement=words,
        unit=unit,  # type: ignore[arg-type]
        published=published,
        decimals=decimals,
        found=stat,
        judged_by="same data",
        verdict=verdict,
        reason=reason,
        source=source,
    )


def _trend(snapshot: Snapshot) -> list[ClaimRecord]:
    """Hold the claim of polarized outcomes against both ends of the profile."""
    record = snapshot.record
    ends: tuple[tuple[str, Outcome], ...] = (
        ("more are failed by all services than expected", record.systemic_failure),
        ("more are failed by none than expected", record.consistent_success),
    )
    found = []
    for words, outcome in ends:
        verdict, reason = direction(outcome.difference, none=0.0, above=True)
        found.append(
            ClaimRecord(
                about=record.dataset,
                statement=words,
                unit="points",
                published=None,
                decimals=3,
                found=outcome.difference,
                judged_by="direction",
                verdict=verdict,
                reason=reason,
                source=paper.TREND.source,
            )
        )
    return found


def _counts(found: Sequence[ClaimRecord]) -> dict[str, int]:
    counts = Counter(claim.verdict for claim in found)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def _sentence(found: Sequence[ClaimRecord], snapshots: Sequence[Snapshot]) -> str:
    """Say how many claims were tested and how they came out, and how many data sets are polarized."""
    counts = _counts(found)
    tested = len(found) - counts["not tested"]
    told = {"agree": "agrees", "disagree": "disagrees", "cannot be told from these data": "cannot tell"}
    parts = [f"{counts[verdict]} {words}" for words, verdict in told.items() if counts[verdict]]
    data_sets = len({snapshot.record.dataset.casefold() for snapshot in snapshots})
    return (
        f"Of {plural(len(found), 'claim')} of the paper {tested} could be tested on {data_sets} data sets: "
        f"{listed(parts)}; {counts['not tested']} were not tested."
    )
