"""`pc.lab.loop`: run a feedback loop, and what it found as users hold it.

What is trained and measured stands in ``lab.loops``, how it looks in ``report``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyculture.experiments import AnyPath, Experiment, carried_out
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.planfile import plan_of

if TYPE_CHECKING:
    from polyculture.audit.frames import Row
    from polyculture.lab.loops.records import CurveRecord, EndpointRecord, LoopRecord
    from polyculture.lab.loops.store import LoopStore
    from polyculture.outcomes import Outcomes

__all__ = ["Loop", "loop", "loop_plan", "open_loop"]


@dataclass(frozen=True, repr=False)
class Loop(Experiment):
    """What a feedback loop found. ``record`` holds the figures, ``store`` every generation.

    `frame` gives "endpoints", "generations", "collapse", "strata", "accounting", "faults" or "notes".
    """

    _named = "loop"
    _called = "loop"
    _main = "endpoints"

    record: LoopRecord
    store: LoopStore

    def _repr_html_(self) -> str:
        from polyculture.report.lab_loop import repr_html

        return repr_html(self.record)

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

    def _write_tables(self, directory: AnyPath) -> None:
        from polyculture.report.dictionary_loop import LOOP_COLUMNS
        from polyculture.report.lab_loop_tables import TABLES
        from polyculture.report.tables import write_rows

        write_rows(self._rows, directory, LOOP_COLUMNS, replaced=TABLES)


def loop(
    plan: LoopPlan | AnyPath | Mapping[str, Any],
    /,
    *,
    out: AnyPath | None = None,
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    jobs: int = 1,
    backend: str = "loky",
    device: str | None = None,
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
    device : {"cpu", "cuda"}, optional
        Where networks are trained; default what the plan says.
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

    chosen = loop_plan(plan, set=set if device is None else (*set, f"device={device}"))
    return carried_out(
        lambda folder: run(chosen, folder, jobs=jobs, backend=backend, progress=progress),
        lambda store: Loop(analyse(store), store),
        out,
        progress,
    )


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
    return plan_of(given, set, LoopPlan)


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
