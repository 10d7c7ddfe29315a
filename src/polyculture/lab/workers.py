"""Where trials and chains are run: processes here, or a Dask or Ray cluster, all behind joblib.

What is run stands in ``run``; here is who runs it and how, how long it takes, and what is said where nobody can.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any, TypeVar

from polyculture.errors import PolycultureError, UsageError, nearest
from polyculture.lab.folder import differing

__all__ = [
    "BACKENDS",
    "alone",
    "check_call",
    "check_worker",
    "saying_what_is_kept",
    "time_left",
    "worker_gone",
    "workers",
]

BACKENDS = ("loky", "dask", "ray")
"""Where joblib may send chunks."""

Work = Callable[[Iterable[Any]], Iterator[Any]]
"""Takes delayed calls of joblib, and gives their results in order."""

CONNECT_WITHIN = 10.0  # seconds for a scheduler of Dask to answer
WORKERS_WITHIN = 60.0  # and for its first worker to be there: a queue may have to start it


def check_call(jobs: int, backend: str) -> None:
    """Refuse a backend that is none of `BACKENDS`, or a number of jobs that is none.

    Raises
    ------
    UsageError
        The message names the nearest.
    """
    if backend not in BACKENDS:
        hint = nearest(backend, BACKENDS) or f"Choose one of {', '.join(BACKENDS)}."
        if backend == "threading":
            hint = "Warnings of learners cannot be told apart between threads: choose loky."
        raise UsageError(f"There is no backend {backend!r} here.", hint=hint)
    if jobs == 0 or jobs < -1:
        raise UsageError(f"jobs = {jobs} is no number of processes.", hint="Give 1 or more, or -1 for all processors.")


@contextmanager
def workers(backend: str, jobs: int, shared: object) -> Iterator[Work]:
    """Give what sends calls to a backend, and leave nothing of it running afterwards.

    Parameters
    ----------
    backend : str
        One of `BACKENDS`. "dask" takes the client that is connected, else the scheduler at DASK_SCHEDULER_ADDRESS,
        else starts ``jobs`` processes of its own here. "ray" takes what ray.init finds.
    jobs : int
        Processes; a cluster has its own number.
    shared : object
        What every call takes: a Dask cluster gets it once, not with each.

    Raises
    ------
    UsageError
        If the backend is not installed, or its cluster does not answer.
    """
    from joblib import Parallel, cpu_count, parallel_config

    with ExitStack() as stack:
        options: dict[str, Any] = {}
        if backend == "dask":
            options = {"client": stack.enter_context(_dask_client(jobs)), "scatter": [shared]}
        elif backend == "ray":
            _needed("ray", "ray")
            import_module("ray.util.joblib").register_ray()
        elif backend == "loky":
            # A worker whose memory grew is replaced, and no call is lost. Where warnings are errors, that loky says so
            # would end the thread that hands out the calls, and the run would wait for ever.
            stack.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        stack.enter_context(parallel_config(backend, n_jobs=jobs, **options))
        if backend != "ray":
            yield Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")
            return
        # Ray's backend gives nothing before all is done, so that calls go to it in rounds.
        pool = stack.enter_context(Parallel(n_jobs=jobs))
        yield lambda calls: _in_rounds(pool, calls, 4 * (cpu_count() if jobs == -1 else jobs))


def _in_rounds(pool: Callable[[Iterable[Any]], list[Any]], calls: Iterable[Any], size: int) -> Iterator[Any]:
    waiting = iter(calls)
    while part := list(islice(waiting, size)):
        yield from pool(part)


@contextmanager
def _dask_client(jobs: int) -> Iterator[Any]:
    """Give the client that is connected, or one for this run alone."""
    _needed("distributed", "polyculture[dask]")
    from dask import config
    from distributed import Client, LocalCluster, get_client

    try:
        connected = get_client()
    except ValueError:  # none is
        connected = None
    if connected is not None:
        yield _with_workers(connected)
        return
    address = config.get("scheduler-address", None)
    with ExitStack() as stack:
        if address is None:
            number = None if jobs == -1 else jobs
            address = stack.enter_context(LocalCluster(n_workers=number, threads_per_worker=1, dashboard_address=None))
        try:
            client = stack.enter_context(Client(address, timeout=CONNECT_WITHIN, set_as_default=False))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"No Dask scheduler answers at {address!r}: {error}.",
                hint="Start it, or unset DASK_SCHEDULER_ADDRESS for processes of this machine.",
            ) from None
        yield _with_workers(client)


def _with_workers(client: Any) -> Any:
    try:
        client.wait_for_workers(1, timeout=WORKERS_WITHIN)
    except OSError:  # which a timeout is
        raise UsageError(
            f"The Dask scheduler at {client.scheduler.address!r} has no worker.",
            hint="Start some: dask worker ADDRESS --nthreads 1",
        ) from None
    return client


def _needed(module: str, package: str) -> None:
    try:
        import_module(module)
    except ImportError as error:
        raise UsageError(
            f"The backend needs {module}, which is not there: {error}.",
            hint=f"Install it (pip install '{package}'), or leave --backend out.",
        ) from None


T = TypeVar("T")
_ONE_AT_A_TIME = Lock()  # warnings and the number of BLAS threads belong to a process, not to a thread of a worker


def alone(load: Callable[[], object], work: Callable[[], T]) -> tuple[T, float]:
    """Run something with one thread, and nothing beside it in this process; return also the seconds that it took.

    Parameters
    ----------
    load : callable
        Brings in the libraries of the work: they must be there before their threads can be limited.
    work : callable
        What is run.
    """
    from threadpoolctl import threadpool_limits

    with _ONE_AT_A_TIME:
        begun = time.monotonic()
        load()
        with threadpool_limits(limits=1):
            found = work()
        return found, time.monotonic() - begun


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


def time_left(begun: float, done: int, total: int) -> str:
    """Return in words how long the rest takes, of work that was begun at a time of `time.monotonic`.

    >>> time_left(time.monotonic(), 1, 1)
    'about 0 s left'
    """
    return f"about {_duration((time.monotonic() - begun) / done * (total - done))} left"


def _duration(seconds: float) -> str:
    """Return a duration in words.

    >>> _duration(8), _duration(200), _duration(9000)
    ('8 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def saying_what_is_kept(kept: Callable[[], str]) -> Iterator[None]:
    """Say what is kept where a run ends before its time: by Ctrl-C, or since a process is gone.

    Parameters
    ----------
    kept : callable
        Gives it in words.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{kept()}, and the same command goes on there") from None
    except Exception as error:
        if (said := worker_gone(error, kept())) is None:
            raise
        raise said from error


def worker_gone(error: BaseException, kept: str) -> PolycultureError | None:
    """Return the error to show where a process that ran trials is gone, or had no memory left; None where it is else.

    Parameters
    ----------
    error : BaseException
        What the backend raised.
    kept : str
        What is kept, in words.
    """
    if isinstance(error, MemoryError):
        said = f" ({str(error).splitlines()[0]})" if str(error) else ""
        return PolycultureError(
            f"There is not enough memory for a model{said}. {kept}.",
            hint="Run the same command again: it goes on there. Fewer --jobs, or smaller batches, need less memory.",
        )
    cluster = type(error).__module__.partition(".")[0]
    if not isinstance(error, BrokenProcessPool) and cluster not in {"distributed", "ray"}:
        return None
    return PolycultureError(
        f"A process that ran trials ended ({type(error).__name__}); memory may have run out. {kept}.",
        hint="Run the same command again: it goes on there. Fewer --jobs, or a smaller chunk, need less memory.",
    )
