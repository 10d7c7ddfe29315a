"""What the loops on tables have in common: data sets, arms, claims of a direction, and the record of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture._version import __version__
from polyculture.audit.records import InputFile
from polyculture.audit.statistic import Statistic, undefined
from polyculture.audit.words import listed, plural
from polyculture.claims import feedback_loops as paper
from polyculture.claims.records import VERDICTS, ClaimRecord, ReproductionRecord
from polyculture.claims.verdict import direction
from polyculture.lab.loops.sentences import flag
from polyculture.lab.loops.units import CHANGE, LAST
from polyculture.loops import Loop, loop
from polyculture.reproductions.experiments import AnyPath, verdicts_told
from polyculture.reproductions.law_school import BAR, DERIVED, GROUPS, ROW_NUMBERS, passed
from polyculture.reproductions.law_school import NAME as LAW_SCHOOL
from polyculture.reproductions.result import Reproduction

if TYPE_CHECKING:
    from polyculture.lab.loops.records import EndpointRecord, LoopRecord

__all__ = ["ClaimsOf", "claim", "data_sets", "endpoint", "on_data_sets", "on_tables", "run_loops", "trends"]

ClaimsOf = Callable[[Loop, str], list[ClaimRecord]]
GENERATOR = {
    "steps": [
        {"estimator": "sklearn.decomposition.PCA", "parameters": {"n_components": 0.95}},
        {"estimator": "sklearn.mixture.GaussianMixture", "parameters": {"n_components": 4, "reg_covar": 0.001}},
    ]
}
_ON_TABLES = (
    "The paper's loops are of images, generators are variational autoencoders and 40 generations long. On tables, with "
    "mixtures and short loops, only its directions can be held against what is found."
)
_LOOKS = "Each claim of a data set is one of several looks at the same chains; no interval is corrected for that."


def data_sets(law_school: AnyPath | None, seed: int) -> dict[str, dict[str, Any]]:
    """Return what each data set adds to a plan: German Credit, and law school where its table is given.

    Raises
    ------
    InputError, UsageError
        If the table cannot be read, or lacks a column.
    """
    from polyculture.errors import ColumnError
    from polyculture.lab.plan import Data
    from polyculture.lab.sources import read_frame

    found: dict[str, dict[str, Any]] = {
        "german-credit": {
            "data": {"source": "german_credit", "groups": ["age>=25"]},
            "label": "credit = 1",
            "favourable": "true",
            "seed": seed,
        }
    }
    if law_school is None:
        return found
    source = str(law_school)
    frame, _ = read_frame(Data(source=source))
    bar = next((name for name in BAR if name in frame.columns), None)
    race = next((name for name in GROUPS if name in frame.columns), None)
    if bar is None or race is None:
        raise ColumnError(
            f"{source} has no column that says who passed the bar, or of which race or sex they are.",
            hint=f"Name them one of {', '.join(BAR)}, and race or sex.",
        )
    found[LAW_SCHOOL] = {
        "data": {
            "source": source,
            "groups": ["race = White"] if race == "race" else [race],
            "leave_out": [name for name in (*ROW_NUMBERS, *DERIVED) if name in frame.columns],
        },
        "label": passed(frame, bar),
        "favourable": "true",
        "rows": 2000,
        "seed": seed,
    }
    return found


def on_data_sets(name: str, common: dict[str, Any], law_school: AnyPath | None, seed: int) -> dict[str, dict[str, Any]]:
    """Return the plan of each of `data_sets`: what all have in common, and what the data set adds.

    Raises
    ------
    InputError, UsageError
        As `data_sets`.
    """
    found = data_sets(law_school, seed)
    return {data: {**common, **own, "name": f"{name}, {data}"} for data, own in found.items()}


def on_tables(plans: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """Return what a reader should know of loops on tables."""
    left_out = [] if LAW_SCHOOL in plans else ["Law school was not run: give its table as --data FILE."]
    return (*left_out, _ON_TABLES)


def endpoint(
    record: LoopRecord, arm: str, measure: str, name: str = LAST, of: str | None = None
) -> EndpointRecord | None:
    """Return one endpoint of a record; None where there is none."""
    key = (arm, measure, of, name)
    return next((one for one in record.endpoints if (one.arm, one.measure, one.of, one.endpoint) == key), None)


def claim(
    about: str,
    statement: str,
    found: Statistic | None,
    *,
    above: bool,
    unit: str = "points",
    source: str = paper.SOURCE,
    beside: str = "",
) -> ClaimRecord:
    """Return a claim of a direction, held against an interval over seeds; ``beside`` is said with the reason."""
    stat = undefined("this arm or measure was not run") if found is None else found
    verdict, reason = direction(stat, none=1.0 if unit == "ratio" else 0.0, above=above)
    return ClaimRecord(
        about=about,
        statement=statement,
        unit=unit,  # type: ignore[arg-type]
        published=None,
        decimals=3,
        found=stat,
        judged_by="direction",
        verdict=verdict,
        reason=f"{reason}; {beside}" if beside else reason,
        source=source,
    )


def trends(
    record: LoopRecord, about: str, settings: Sequence[str], drift: tuple[str, str], endings: dict[str, tuple[str, str]]
) -> list[ClaimRecord]:
    """Return the claims of the paper's directions: how settings drift, and what reparation holds.

    Parameters
    ----------
    record : LoopRecord
        The loop.
    about : str
        Its data set.
    settings : sequence of str
        Of which a fall of accuracy, a growing gap and a drift of classes are claimed; the last one has sequential
        generators too, and its arm is compared with the first.
    drift : tuple of str
        The claim on a class, and the class.
    endings : dict
        Ending of the name of an arm with reparation -> measure that ends lower than without, and the claim.
    """
    found = []
    for setting in settings:
        changes = (
            (paper.FALLS, endpoint(record, setting, "accuracy", CHANGE), False),
            (paper.EQUALIZED_ODDS, endpoint(record, setting, "equalized_odds_difference", CHANGE), True),
            (drift[0], endpoint(record, setting, "class_share", CHANGE, drift[1]), True),
        )
        beside = next((flag(one) for one in record.collapse if one.arm == setting), "")
        found += [
            claim(
                f"{about}, {setting}",
                words,
                None if one is None else one.value,
                above=up,
                beside=beside if words == paper.EQUALIZED_ODDS else "",
            )
            for words, one, up in changes
        ]
    faster = endpoint(record, settings[-1], "accuracy")
    found.append(claim(about, paper.FASTER, None if faster is None else faster.difference, above=False))
    for arm in record.arms:
        for ending, (measure, words) in endings.items():
            if arm.endswith(f" + {ending}"):
                one = endpoint(record, arm, measure)
                stat = None if one is None else one.difference
                statement = f"{words} (difference of KL, nats)"
                found.append(claim(f"{about}, {arm}", statement, stat, above=False, unit="number"))
    return found


def run_loops(
    name: str,
    plans: dict[str, dict[str, Any]],
    claims_of: ClaimsOf,
    *,
    notes: Sequence[str],
    out: AnyPath | None,
    settings: Iterable[str],
    jobs: int,
    backend: str,
    seed: int,
    command: str,
    progress: Callable[[str], None] | None,
) -> Reproduction:
    """Run a loop on each data set and hold claims against what is found.

    Parameters
    ----------
    name : str
        Of the reproduction.
    plans : dict of str to dict
        Data set -> plan.
    claims_of : callable
        Claims from a loop and the name of its data set.
    notes : sequence of str
        What a reader should know of it, beside what is known of any loop.
    out : path or None
        Folder of the results; the loop of each data set goes into a folder of its name.
    settings, jobs, backend, seed, command, progress
        As in `polyculture.lab.loop` and `polyculture.reproduce`.
    """
    found: dict[str, Loop] = {}
    settings = tuple(settings)
    for data, plan in plans.items():
        folder = None if out is None else Path(out) / data
        said = None if progress is None else _prefixed(progress, data)
        found[data] = loop(plan, out=folder, set=settings, jobs=jobs, backend=backend, progress=said)
    claims = [one for data, result in found.items() for one in claims_of(result, data)]
    counts = Counter(one.verdict for one in claims)
    inputs = {key: value for result in found.values() for key, value in result.record.data.items()}
    return Reproduction(
        ReproductionRecord(
            name=name,
            paper=paper.PAPER,
            sentence=f"Of {plural(len(claims), 'claim')} on {listed(list(found))} {verdicts_told(counts)}.",
            version=__version__,
            seed=seed,
            command=command,
            inputs=tuple(InputFile(name=key, format="data", sha256=value) for key, value in inputs.items()),
            verdicts={verdict: counts[verdict] for verdict in VERDICTS},
            claims=tuple(claims),
            snapshots=(),
            notes=(
                *(f"{data}: {result.headline}" for data, result in found.items()),
                *(["The loops themselves are in folders of the data sets' names: report.html, tables."] if out else []),
                *([f"The plans were changed: {', '.join(settings)}."] if settings else []),
                *notes,
                _LOOKS,
                *dict.fromkeys(note for result in found.values() for note in result.record.notes[:3]),
            ),
        ),
        loops=found,
    )


def _prefixed(progress: Callable[[str], None], data: str) -> Callable[[str], None]:
    return lambda stage: progress(f"{data}: {stage}")
