"""Running a plan: chunks of trials through joblib into the store, with progress and the time left.

The same plan gives the same bytes with any number of jobs: a trial depends on its number alone, and the threads of
numerical libraries are held to one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from polyculture.errors import UsageError
from polyculture.files import output_error
from polyculture.lab.chunks import chunk_bytes
from polyculture.lab.components import check_learners, need_lab
from polyculture.lab.data import prepare
from polyculture.lab.folder import differing, locked, versions
from polyculture.lab.pretrained import with_backbones
from polyculture.lab.store import Store, libraries_of
from polyculture.lab.trial import run_trial, tested
from polyculture.lab.workers import check_call, worker_gone, workers

if TYPE_CHECKING:
    from polyculture.lab.data import Prepared
    from polyculture.lab.plan import Plan

__all__ = ["ONE_AT_A_TIME", "check_blocks", "check_worker", "duration", "note", "run"]

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
    try:
        with workers(backend, jobs, data) as work:
            for chunk, (content, seconds) in zip(missing, work(calls), strict=True):
                store.write(chunk, content)
                row = (chunk, len(store.trials_of(chunk)), f"{seconds:.3f}")
                note(timings, ("chunk", "trials", "seconds"), row)
                done += len(store.trials_of(chunk))
                left = (time.monotonic() - begun) / done * (total - done)
                tell(f"Trial {before + done} of {manifest.trials}, about {duration(left)} left")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{kept()}, and the same command goes on there") from None
    except Exception as error:
        if (said := worker_gone(error, kept())) is None:
            raise
        raise said from error


ONE_AT_A_TIME = Lock()  # warnings and the number of BLAS threads belong to a process, not to a thread of a worker


def _run_chunk(plan: Plan, data: Prepared, trials: range, begun_with: dict[str, str]) -> tuple[bytes, float]:
    """Run some trials; in a process of its own where there are several jobs, on another machine in a cluster."""
    from threadpoolctl import threadpool_limits

    check_worker(begun_with, versions(libraries_of(plan)))
    with ONE_AT_A_TIME:
        begun = time.monotonic()
        check_learners(plan)  # their libraries must be there before their threads can be limited
        with threadpool_limits(limits=1):
            content = chunk_bytes(plan, [run_trial(plan, data, trial) for trial in trials])
        return content, time.monotonic() - begun


def check_worker(begun_with: dict[str, str], own: dict[str, str]) -> None:
    """Refuse to run anything with other libraries than the store was begun with.

    Raises
    ------
    UsageError
        The message names them.
    """
    if other := differing(begun_with, own):
        raise UsageError(
            f"A process that is to run trials has other libraries than this one: {', '.join(other)}.",
            hint="Install the same versions on all machines of the cluster.",
        )


def note(timings: Path, columns: Sequence[str], row: Sequence[object]) -> None:
    """Add a row on how long something took to a file beside the store, whose bytes depend on the machine.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    try:
        with timings.open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(f"{','.join(columns)}\n")
            file.write(f"{','.join(map(str, row))}\n")
    except OSError as error:
        raise output_error(timings, error) from error


def duration(seconds: float) -> str:
    """Return a duration in words.

    >>> duration(8), duration(200), duration(9000)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
