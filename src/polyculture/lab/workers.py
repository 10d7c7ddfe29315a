"""Where chunks of trials are run: processes here, or a Dask or Ray cluster, all behind joblib.

What a chunk is stands in ``run``; here is who runs it, and what is said where nobody can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from importlib import import_module
from itertools import islice
from typing import Any

from polyculture.errors import PolycultureError, UsageError, nearest

__all__ = ["BACKENDS", "check_call", "worker_gone", "workers"]

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


def worker_gone(error: BaseException, kept: str) -> PolycultureError | None:
    """Return the error to show where a process that ran trials is gone; None where it is something else.

    Parameters
    ----------
    error : BaseException
        What the backend raised.
    kept : str
        What is kept, in words.
    """
    cluster = type(error).__module__.partition(".")[0]
    if not isinstance(error, BrokenProcessPool) and cluster not in {"distributed", "ray"}:
        return None
    return PolycultureError(
        f"A process that ran trials ended ({type(error).__name__}); memory may have run out. {kept}.",
        hint="Run the same command again: it goes on there. Fewer --jobs, or a smaller chunk, need less memory.",
    )
