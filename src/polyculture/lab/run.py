"""Running a plan: chunks of trials through joblib into the store, with progress and the time left.

The same plan gives the same bytes with any number of jobs: a trial depends on its number alone, and the threads of
numerical libraries are held to one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.errors import UsageError
from polyculture.lab.chunks import chunk_bytes
from polyculture.lab.components import check_learners, need_lab
from polyculture.lab.data import prepare
from polyculture.lab.folder import locked, note, versions
from polyculture.lab.pretrained import with_backbones
from polyculture.lab.store import Store, libraries_of
from polyculture.lab.trial import run_trial, tested
from polyculture.lab.workers import alone, check_call, check_worker, saying_what_is_kept, time_left, workers

if TYPE_CHECKING:
    from polyculture.lab.data import Prepared
    from polyculture.lab.plan import Plan

__all__ = ["check_blocks", "run"]

Progress = Callable[[str], None]


def run(
    plan: Plan,
    out: Path,
    *,
    jobs: int = 1,
    backend: str = "loky",
    progress: Progress | None = None,
) -> Store:
    """Run what is still to be run of a plan.

    Parameters
    ----------
    plan : Plan
        The experiment.
    out : Path
        Folder of the results; the store goes into ``out/store``, how long chunks took into ``out/timings.csv``.
    jobs : int
        Processes; -1 for as many as there are processors.
    backend : str
        One of `workers.BACKENDS`.
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    Store
        Complete.

    Raises
    ------
    InputError, UsageError
        If plan, data or learners do not fit together; nothing has been run then.
    OutputError
        If the store cannot be written; what was written stays, and the same call goes on there.
    """
    need_lab()
    tell = progress or (lambda _: None)
    check_call(jobs, backend)
    check_learners(plan)
    tell("Reading the data")
    data = prepare(plan)
    check_blocks(plan, data.individuals)
    with locked(out):
        data = with_backbones(plan, data, out / "backbones", tell)
        store = Store.begin(out / "store", plan, data)
        _fill(store, data, jobs, backend, tell, out / "timings.csv")
    return store


def check_blocks(plan: Plan, individuals: int) -> None:
    """Refuse more blocks than there are training rows.

    Raises
    ------
    UsageError
        The message names both numbers.
    """
    train = individuals - tested(plan, individuals)
    for blocks in plan.blocks:
        if blocks > train:
            raise UsageError(
                f"blocks = {blocks} is more than the {train} training rows.", hint="Give fewer blocks, or more rows."
            )


def _fill(  # noqa: PLR0917 (what a run is made of)
    store: Store, data: Prepared, jobs: int, backend: str, tell: Progress, timings: Path
) -> None:
    from joblib import delayed

    missing = store.missing()
    if not missing:
        return
    total = sum(len(store.trials_of(chunk)) for chunk in missing)
    before = store.manifest.trials - total
    manifest, done, begun = store.manifest, 0, time.monotonic()

    def kept() -> str:
        return f"{before + done} of {manifest.trials} trials are kept"

    tell(f"Trial {before} of {manifest.trials}")
    calls = (delayed(_run_chunk)(manifest.plan, data, store.trials_of(chunk), manifest.versions) for chunk in missing)
    with saying_what_is_kept(kept), workers(backend, jobs, data) as work:
        for chunk, (content, seconds) in zip(missing, work(calls), strict=True):
            store.write(chunk, content)
            row = (chunk, len(store.trials_of(chunk)), f"{seconds:.3f}")
            note(timings, ("chunk", "trials", "seconds"), row)
            done += len(store.trials_of(chunk))
            tell(f"Trial {before + done} of {manifest.trials}, {time_left(begun, done, total)}")


def _run_chunk(plan: Plan, data: Prepared, trials: range, begun_with: dict[str, str]) -> tuple[bytes, float]:
    """Run some trials; in a process of its own where there are several jobs, on another machine in a cluster."""
    check_worker(begun_with, versions(libraries_of(plan)))
    return alone(
        lambda: check_learners(plan),
        lambda: chunk_bytes(plan, [run_trial(plan, data, trial) for trial in trials]),
    )
