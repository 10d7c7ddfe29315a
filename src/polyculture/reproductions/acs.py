"""Census data (ACS PUMS 2018, persons), as in 2211.13972: employment, income-poverty ratio, health insurance, by race.

The persons come from ``census``, and become one small table beside the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from polyculture.claims import outcome_homogenization as paper
from polyculture.claims.records import ClaimRecord
from polyculture.claims.verdict import direction
from polyculture.errors import UsageError
from polyculture.reproductions.census import people
from polyculture.reproductions.experiments import ALL, AnyPath, Scale, Size, claim, experiment, near, sized

if TYPE_CHECKING:
    import polars as pl

    from polyculture.lab.records import SharingRecord
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plan", "reproduce"]

NAME = "acs"
_SIZES: dict[Scale, Size] = {
    "quick": Size((10, 100, 1000), 2, 3),
    "laptop": Size((10, 100, 1000, 10000), 3, 5),
    "paper": Size(paper.SIZES[NAME], *paper.TRIALS[NAME]),
}
_INDIVIDUALS: dict[str, int | None] = {"quick": 20_000, "laptop": 200_000, "paper": None}
_NOTES = (
    "All three tasks are told from the features that the tasks of folktables have in common, so that they are of the "
    "same individuals; which features the paper takes is not known to us. A feature without a value is -1.",
    "Codes go in as the numbers that they are in the files, as in folktables.",
    "Income-poverty ratio is below 250 %; where it is not known, that task judges the individual not.",
)


def plan(source: AnyPath, scale: str = "quick", *, seed: int = 0) -> dict[str, Any]:
    """Return the plan of the experiment on a table that `people` made."""
    size = sized(scale, _SIZES)
    return {
        "name": NAME,
        "blocks": size.blocks,
        "model_seeds": size.model_seeds,
        "partition_seeds": size.partition_seeds,
        "seed": seed,
        "chunk": 2,
        "data": {"source": str(source), "groups": ["RAC1P"]},
        "task": [
            {"name": "employment", "label": "employed"},
            {"name": "income-poverty ratio", "label": "poor"},
            {"name": "health insurance", "label": "insured"},
        ],
        "learner": [{"estimator": path} for path in paper.LEARNERS],
    }


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    individuals: int | None = None,
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('acs')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the census experiment and hold the paper against it.

    Parameters
    ----------
    data : path, or "folktables"
        Folder with the person files of the 2018 1-year PUMS, or one of them; or folktables fetches them.
    scale : {"quick", "laptop", "paper"}
        Some sizes, few seeds and 20,000 persons; more; all of it.
    individuals : int, optional
        How many persons are drawn; default as the scale says.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.sharing` and `polyculture.reproduce`.
    """
    sized(scale, _SIZES)
    wanted = individuals if individuals is not None else _INDIVIDUALS[scale]
    if wanted is not None and wanted < 100:
        raise UsageError(f"individuals = {wanted} is too few.", hint="Give 100 or more.")
    if data is None:
        raise UsageError(
            "acs needs the person files of the 2018 1-year PUMS, which are not bundled.",
            hint="Give --data FOLDER with psam_pXX.csv, or --data folktables to fetch them from the Census Bureau.",
        )
    found = people(data, progress=progress)
    total = found.height
    if wanted is not None and wanted < total:
        found = found.sample(wanted, seed=seed)
    with TemporaryDirectory(prefix="polyculture-") as scratch:
        folder = Path(scratch if out is None else out)
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "people.parquet"
        _write(found, table)
        return experiment(
            NAME,
            plan(table, scale, seed=seed),
            reading=f"{found.height:,} of {total:,} persons, scale {scale}",
            notes=_NOTES,
            out=out,
            settings=set,
            jobs=jobs,
            backend=backend,
            command=command,
            progress=progress,
            claims_of_groups=_of_groups,
        )


def _write(frame: pl.DataFrame, path: Path) -> None:
    from io import BytesIO

    from polyculture.files import atomic_write

    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=False)
    atomic_write(path, buffer.getvalue())


def _of_groups(record: SharingRecord) -> list[ClaimRecord]:
    """Hold what the paper says of race groups: their H stays near 1, that of individuals goes beyond 1.2."""
    effect = record.effects[0]
    found = []
    if effect.beyond_groups is not None:
        words = f"{paper.BEYOND_GROUPS}: difference of the effects, in logarithms"
        verdict = direction(effect.beyond_groups, none=0.0, above=True)
        found.append(claim(ALL, words, effect.beyond_groups, "direction", *verdict))
    fixed = record.results[0]
    if fixed.groups is not None:
        group, margin = fixed.groups.uniform, paper.ACS_GROUP_MARGIN
        words = "H of race groups (uniform) is near 1 in the fixed arm"
        verdict = near(group, paper.ACS_GROUP_H, margin)
        found.append(claim(ALL, words, group, "absence", *verdict, margin=margin, published=paper.ACS_GROUP_H))
    words = "H of individuals exceeds 1.2 in the fixed arm"
    verdict = direction(fixed.homogenization, none=paper.ACS_INDIVIDUAL_H, above=True)
    found.append(claim(ALL, words, fixed.homogenization, "direction", *verdict, published=paper.ACS_INDIVIDUAL_H))
    return found
