"""`pc.lab.loop`: run a feedback loop, and what it found as users hold it.

What is trained and measured stands in ``lab.loops``, how it looks in ``report``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from polyculture.giving import Reported
from polyculture.lab import planfile
from polyculture.lab.loops.plan import LoopPlan

if TYPE_CHECKING:
    from polyculture.audit.frames import Row
    from polyculture.lab.loops.records import CurveRecord, EndpointRecord, LoopRecord
    from polyculture.lab.loops.store import LoopStore
    from polyculture.outcomes import Outcomes

__all__ = ["Loop", "loop", "loop_plan", "open_loop"]

AnyPath = str | PathLike[str]


@dataclass(frozen=True, repr=False)
class Loop(Reported):
    """What a feedback loop found. ``record`` holds the figures, ``store`` every generation.

    `frame` gives "endpoints", "generations", "collapse", "strata", "accounting", "faults" or "notes".
    """

    _named = "loop"
    _called = "loop"
    _main = "endpoints"

    record: LoopRecord
    store: LoopStore

    def __repr__(self) -> str:
        return self.record.headline

    def _repr_html_(self) -> str:
        from polyculture.report.lab_loop import repr_html

        return repr_html(self.record)

    @property
    def headline(self) -> str:
        """The first sentence of the report."""
        return self.record.headline

    @property
    def curves(self) -> tuple[CurveRecord, ...]:
        """Each measure of each arm over the generations, with simultaneous bands."""
        return self.record.curves

    @property
    def endpoints(self) -> tuple[EndpointRecord, ...]:
        """Each measure as one number an arm, and its difference from the first arm."""
        return self.record.endpoints

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.report.lab_loop_tables import tables

        return tables(self.record)

    def outcomes(self, arm: str, seed: int = 0, generation: int = -1) -> Outcomes:
        """Return the decisions of one generation as Outcomes, for `polyculture.audit`.

        Parameters
        ----------
        arm : str
            Name of the arm.
        seed : int
            Which of its seeds.
        generation : int
            Which generation; -1 is the last.

        Raises
        ------
        UsageError
            If there is no such arm, seed or generation, or the chain had stopped before it.
        """
        from polyculture.lab.loops.export import generation_outcomes

        return generation_outcomes(self.store, arm, seed, generation)

    def export(self, path: AnyPath) -> Path:
        """Write every decision, a row each: arm, seed, generation, id, model, predicted, score, label, group.

        Parameters
        ----------
        path : path-like
            Ends in .csv, .jsonl or .parquet.

        Raises
        ------
        OutputError, UsageError
            If the file cannot be written, or its ending says no format.
        """
        import narwhals as nw

        from polyculture.lab.loops.export import every_decision
        from polyculture.listing import check_ending, write_listing

        check_ending(path)
        write_listing(nw.from_native(every_decision(self.store).lazy()), path)
        return Path(path)

    def _page(self) -> str:
        from polyculture.report.lab_loop import html

        return html(self.record)

    def _files(self) -> dict[str, bytes]:
        from polyculture.report.dictionary_loop import LOOP_COLUMNS
        from polyculture.report.tables import csv_files

        return {f"{name}.csv": content for name, content in csv_files(self._rows, LOOP_COLUMNS).items()}

    def _write_tables(self, directory: AnyPath) -> None:
        from polyculture.report.lab_loop_tables import TABLES
        from polyculture.report.tables import write_folder

        write_folder(self._files(), directory, replaced=[f"{name}.csv" for name in TABLES])

    def write(self, directory: AnyPath) -> Path:
        """Write loop.json, report.html and the folder ``tables``, and return the folder.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        target = Path(directory)
        self.json(target / "loop.json")
        self.report(target / "report.html")
        self.tables(target / "tables")
        return target


def loop(
    plan: LoopPlan | AnyPath | Mapping[str, Any],
    /,
    *,
    out: AnyPath | None = None,
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    jobs: int = 1,
    backend: str = "loky",
    progress: Callable[[str], None] | None = None,
) -> Loop:
    """Run a feedback loop: generations of models that train on each other's outputs, and what is done about it.

    Parameters
    ----------
    plan : LoopPlan, path of a TOML file, or mapping
        What is to be run.
    out : path, optional
        Folder of the results. Generations are kept in it, and the same call goes on where it was stopped. Without it
        they live as long as the result.
    set : iterable of str
        ``KEY=VALUE``, overrides of the plan: ``"generations=5"``, ``"classifier=sklearn.svm.SVC"``.
    jobs : int
        Processes; -1 for as many as there are processors. Any number gives the same bytes.
    backend : str
        Where joblib runs them: "loky", "dask" or "ray", as in `polyculture.lab.sharing`; all must see the folder.
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    Loop
        Frozen results; ``print`` shows the headline.

    Raises
    ------
    InputError, UsageError, OutputError
        If the plan, its data or its actors do not fit together, or the results cannot be written.

    Examples
    --------
    >>> found = loop({"data": {"source": "german_credit", "groups": ["age>=25"]}, "label": "credit",
    ...               "favourable": "1", "generations": 2, "seeds": 2, "samples": 500,
    ...               "generator": {"estimator": "sklearn.mixture.GaussianMixture"}})
    >>> [(one.measure, one.arm) for one in found.endpoints[:1]], len(found.curves[0].value)
    ([('accuracy', 'SeqClass')], 2)
    """
    from polyculture.lab.loops.analysis import analyse
    from polyculture.lab.loops.run import run

    chosen = loop_plan(plan, set=set)
    target = Path(mkdtemp(prefix="polyculture-") if out is None else out)
    store = run(chosen, target, jobs=jobs, backend=backend, progress=progress)
    if progress is not None:
        progress("Measuring")
    found = Loop(analyse(store), store)
    if out is None:
        finalize(found.store, rmtree, target, ignore_errors=True)
    else:
        if progress is not None:
            progress("Writing the report")
        found.write(target)
    return found


def loop_plan(
    given: LoopPlan | AnyPath | Mapping[str, Any],
    /,
    *,
    set: Iterable[str] = (),  # noqa: A002
) -> LoopPlan:
    """Read the plan of a loop from a TOML file or a mapping, and check it.

    Raises
    ------
    FileError, UsageError
        If the file cannot be read, or the plan does not fit together.
    """
    import msgspec

    if isinstance(given, str | PathLike):
        return planfile.read_plan(given, set, LoopPlan)
    content = msgspec.to_builtins(given) if isinstance(given, LoopPlan) else given
    return planfile.plan_from(planfile.with_settings(content, set), "the plan", LoopPlan)


def open_loop(folder: AnyPath, /) -> Loop:
    """Read the results of a loop again from its folder.

    Raises
    ------
    FileError
        If there is no complete store, or it is damaged.
    """
    from polyculture.lab.loops.analysis import analyse
    from polyculture.lab.loops.store import LoopStore

    store = LoopStore.open(Path(folder) / "store")
    return Loop(analyse(store), store)
