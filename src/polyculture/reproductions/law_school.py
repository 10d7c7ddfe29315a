"""Law school (LSAC), as in 2211.13972: passing the bar, and grades above the mean, from a file or a loader of yours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from polyculture.claims import outcome_homogenization as paper
from polyculture.errors import ColumnError, UsageError, first_few, nearest
from polyculture.reproductions.experiments import AnyPath, Scale, Size, experiment, sized

if TYPE_CHECKING:
    import polars as pl

    from polyculture.reproductions.result import Reproduction

__all__ = ["BAR", "DERIVED", "GROUPS", "NAME", "ROW_NUMBERS", "passed", "plan", "reproduce"]

NAME = "law-school"
_SIZES: dict[Scale, Size] = {
    "quick": Size((10, 30), 3, 3),
    "laptop": Size((6, 12, 18, 24, 30), 3, 5),
    "paper": Size(paper.SIZES[NAME], *paper.TRIALS[NAME]),
}
BAR = ("first_pf", "pass_bar", "bar", "bar_passed")
"""Columns that say whether the bar was passed, in the published forms of these data."""
DERIVED = ("sander_index",)
"""Made of UGPA and LSAT: with it the grade would be arithmetic, and hardly a mistake be made."""
GROUPS = ("race", "sex")
ROW_NUMBERS = ("", "row", "index", "Unnamed: 0")
_NOTES = (
    "The paper's second task is a grade above the mean; which grade, is not known to us. The default is the grade "
    "point average before law school (UGPA); gpa=ZFYA takes that of the first year.",
    "An index of grades and test (sander_index) is left out of the second task, which it would give away.",
    "Test individuals are drawn anew for each trial.",
)


def plan(data: AnyPath, scale: str = "quick", *, gpa: str = "UGPA", seed: int = 0) -> dict[str, Any]:
    """Return the plan of the experiment on a table with one of the columns of `BAR`, and ``gpa``.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, or lack a column.
    """
    from polyculture.lab.plan import Data
    from polyculture.lab.sources import read_frame

    size = sized(scale, _SIZES)
    source = str(data)
    frame, _ = read_frame(Data(source=source))
    bar = next((name for name in BAR if name in frame.columns), None)
    if bar is None:
        raise ColumnError(
            f"{source} has no column that says who passed the bar.", hint=f"Name it one of {', '.join(BAR)}."
        )
    if gpa not in frame.columns or not frame[gpa].dtype.is_numeric():
        raise ColumnError(
            f"There is no column {gpa!r} with numbers in {source}.",
            hint=nearest(gpa, frame.columns) or f"The columns are: {first_few(frame.columns, limit=20)}.",
        )
    derived = [name for name in DERIVED if name in frame.columns and gpa == "UGPA"]
    return {
        "name": NAME,
        "blocks": size.blocks,
        "model_seeds": size.model_seeds,
        "partition_seeds": size.partition_seeds,
        "seed": seed,
        "chunk": 6,
        "data": {
            "source": source,
            "groups": [name for name in GROUPS if name in frame.columns][:1],
            "leave_out": [name for name in ROW_NUMBERS if name in frame.columns],
        },
        "task": [
            {"name": "passes bar", "label": passed(frame, bar)},
            {
                "name": "grades above mean",
                "label": f"{_quoted(gpa)} > {_mean(frame, gpa)!r}",
                "leave_out": [bar, *derived],
            },
        ],
        "learner": [{"estimator": path} for path in paper.LEARNERS],
    }


def passed(frame: pl.DataFrame, bar: str) -> str:
    """Return the condition of having passed: 1, true, or a text such as "Passed".

    Raises
    ------
    UsageError
        If no value of the column is known to mean it.
    """
    values = sorted({str(value) for value in frame[bar].unique().to_list() if value is not None})
    for passed in ("1", "1.0", "true", "True", "Passed", "passed", "TRUE"):
        if passed in values:
            text = passed if frame[bar].dtype.is_numeric() else passed.lower() if passed in {"True", "TRUE"} else passed
            return f"{_quoted(bar)} = {text}"
    raise UsageError(
        f"What means passed in column {bar!r} is not known: {first_few(values)}.", hint="Write it as 1 and 0."
    )


def _mean(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].cast(float).drop_nulls().drop_nans().to_numpy().mean())


def _quoted(column: str) -> str:
    return f"`{column}`"


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    gpa: Literal["UGPA", "ZFYA"] = "UGPA",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('law-school')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the law school experiment and hold the paper against it.

    Parameters
    ----------
    data : path, or "module:function"
        The table, or a loader of your own that returns it.
    scale : {"quick", "laptop", "paper"}
        Some sizes and few seeds; more; all sizes with 5 x 5 seeds.
    gpa : str
        Column of the grades of the second task.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.sharing` and `polyculture.reproduce`.
    """
    if data is None:
        raise UsageError(
            "law-school needs its data, which are not bundled.", hint="Give --data FILE, or --data module:function."
        )
    return experiment(
        NAME,
        plan(data, scale, gpa=gpa, seed=seed),
        reading=f"grades {gpa}, scale {scale}",
        notes=_NOTES,
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        command=command,
        progress=progress,
    )
