"""`pc.lab`: run a component-sharing experiment, and what it found as users hold it.

What is trained and measured stands in ``lab``, how it looks in ``report``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from polyculture.experiments import AnyPath, Experiment, carried_out
from polyculture.lab.plan import Plan
from polyculture.lab.planfile import STARTER, plan_of

if TYPE_CHECKING:
    import polars as pl

    from polyculture.audit.frames import Row
    from polyculture.lab.records import ArmRecord, EffectRecord, SharingRecord
    from polyculture.lab.store import Store
    from polyculture.outcomes import Outcomes

__all__ = ["Sharing", "open", "read_plan", "sharing", "starter"]


@dataclass(frozen=True, repr=False)
class Sharing(Experiment):
    """What an experiment found. ``record`` holds the figures, ``store`` the outcomes of every trial.

    `frame` gives "results", "effects", "components", "interactions", "faults", "accuracy" or "notes".
    """

    _named = "sharing"
    _called = "experiment"
    _main = "results"

    record: SharingRecord
    store: Store

    def _repr_html_(self) -> str:
        from polyculture.report.lab_sharing import repr_html

        return repr_html(self.record)

    @property
    def results(self) -> tuple[ArmRecord, ...]:
        """Systemic failure, expected, H and accuracy by arm: all together, then by learner and blocks."""
        return self.record.results

    @property
    def effects(self) -> tuple[EffectRecord, ...]:
        """What sharing each component goes with: all together, then by learner and blocks."""
        return self.record.effects

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.report.lab_tables import tables

        return tables(self.record)

    def outcomes(self, trial: int, arm: str) -> Outcomes:
        """Return one arm of one trial as Outcomes, for `polyculture.audit`.

        Raises
        ------
        UsageError
            If there is no such trial or arm.
        """
        from polyculture.lab.export import trial_outcomes

        return trial_outcomes(self.store, trial, arm)

    def export(self, path: AnyPath) -> Path:
        """Write every outcome, a row each: trial, seed, partition_seed, learner, blocks, arm, id, model, failed.

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
        import polars as pl

        from polyculture.lab.export import tidy
        from polyculture.listing import check_ending, write_listing

        check_ending(path)
        with TemporaryDirectory(prefix="polyculture-") as folder:
            for number, part in enumerate(_batches(tidy(self.store), 100)):  # so that memory stays small
                pl.concat(part).write_parquet(Path(folder) / f"{number:08d}.parquet")
            write_listing(nw.from_native(pl.scan_parquet(Path(folder) / "*.parquet")), path)
        return Path(path)

    def _page(self) -> str:
        from polyculture.report.lab_sharing import html

        return html(self.record)

    def _write_tables(self, directory: AnyPath) -> None:
        from polyculture.report.lab_tables import TABLES
        from polyculture.report.tables import write_rows

        write_rows(self._rows, directory, replaced=TABLES)


def _batches(frames: Iterator[pl.DataFrame], size: int) -> Iterator[list[pl.DataFrame]]:
    while part := list(islice(frames, size)):
        yield part


def sharing(
    plan: Plan | AnyPath | Mapping[str, Any],
    /,
    *,
    out: AnyPath | None = None,
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    jobs: int = 1,
    backend: str = "loky",
    progress: Callable[[str], None] | None = None,
) -> Sharing:
    """Run a component-sharing experiment: who is failed by all when decision-makers share what they learn from.

    Parameters
    ----------
    plan : Plan, path of a TOML file, or mapping
        What is to be run.
    out : path, optional
        Folder of the results. Outcomes are kept in it, and the same call goes on where it was stopped. Without
        it outcomes live as long as the result.
    set : iterable of str
        ``KEY=VALUE``, overrides of the plan: ``"model_seeds=2"``, ``"learner=sklearn.svm.SVC"``.
    jobs : int
        Processes; -1 for as many as there are processors. Any number gives the same bytes.
    backend : str
        Where joblib runs them: "loky", "dask" (the client that is connected, the scheduler at
        DASK_SCHEDULER_ADDRESS, or processes of its own here) or "ray".
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    Sharing
        Frozen results; ``print`` shows the headline.

    Raises
    ------
    InputError, UsageError, OutputError
        If the plan, its data or its learners do not fit together, or the results cannot be written.

    Examples
    --------
    >>> found = sharing({
    ...     "data": {"source": "german_credit"},
    ...     "task": [{"name": "good", "label": "credit"}, {"name": "large", "label": "credit_amount > 2000"}],
    ...     "learner": [{"estimator": "sklearn.naive_bayes.GaussianNB"}],
    ...     "blocks": [4], "model_seeds": 1, "partition_seeds": 2})
    >>> [(result.arm, result.trials) for result in found.results]
    [('fixed', 2), ('disjoint', 2)]
    """
    from polyculture.lab.analysis import analyse
    from polyculture.lab.run import run

    chosen = plan_of(plan, set, Plan)
    return carried_out(
        lambda folder: run(chosen, folder, jobs=jobs, backend=backend, progress=progress),
        lambda store: Sharing(analyse(store), store),
        out,
        progress,
    )


def read_plan(source: AnyPath | Mapping[str, Any], /, *, set: Iterable[str] = ()) -> Plan:  # noqa: A002
    """Read a plan from a TOML file or a mapping, and check it.

    Raises
    ------
    FileError, UsageError
        If the file cannot be read, or the plan does not fit together.
    """
    return plan_of(source, set, Plan)


def open(folder: AnyPath, /) -> Sharing:  # noqa: A001 (pc.lab.open)
    """Read the results of a run again from its folder.

    Raises
    ------
    FileError
        If there is no complete store, or it is damaged.
    """
    from polyculture.lab.analysis import analyse
    from polyculture.lab.store import Store

    store = Store.open(Path(folder) / "store")
    return Sharing(analyse(store), store)


def starter() -> str:
    """Return a commented plan to start from, as `polyculture lab init` writes it."""
    return STARTER
