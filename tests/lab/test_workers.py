"""Who runs trials: processes here, or a real Dask cluster; with the same bytes, and a clear end where one is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from polyculture.errors import PolycultureError, UsageError
from polyculture.lab import run as running
from polyculture.lab import workers
from polyculture.lab.plan import Plan
from polyculture.lab.run import run
from store_tree import tree

Make = Callable[..., Plan]
NETWORK = {
    "estimator": "sklearn.neural_network.MLPClassifier",
    "parameters": {"max_iter": 20, "hidden_layer_sizes": [64]},
}
BOTH = [{"estimator": "sklearn.linear_model.LogisticRegression"}, NETWORK]
PLAN = """
blocks = [2]
model_seeds = 2
partition_seeds = 2
chunk = 1
[data]
source = "people.csv"
[[task]]
name = "good"
label = "good"
copies = 2
[[learner]]
estimator = "sklearn.naive_bayes.GaussianNB"
"""
COMMAND = [sys.executable, "-m", "polyculture.cli", "lab", "sharing", "plan.toml", "--quiet"]
DIES = """
import os, signal
from sklearn.naive_bayes import GaussianNB

class Dies(GaussianNB):
    def fit(self, features, label):
        if os.environ.get("DIE_HERE"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(features, label)
"""

WATCHES = """
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_info

class Watches(GaussianNB):
    def fit(self, features, label):
        found = {pool["num_threads"] for pool in threadpool_info()}
        if found != {1}:
            raise RuntimeError(f"threads: {found}")
        return super().fit(features, label)
"""


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Return a client of a Dask cluster of this machine: two processes, the first with three threads."""
    distributed = pytest.importorskip("distributed", reason="needs the extra [dask]")
    many = {"cls": distributed.Nanny, "options": {"nthreads": 3}}
    one = {"cls": distributed.Nanny, "options": {"nthreads": 1}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard": False}}
    with (
        distributed.SpecCluster(scheduler=scheduler, workers={0: many, 1: one}) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


def test_any_number_of_jobs_and_a_dask_cluster_give_the_same_bytes(plan: Make, tmp_path: Path, cluster: Any) -> None:
    own = plan(learner=BOTH, blocks=[4], partition_seeds=2, chunk=2, share={"rows": ["fixed", 0.5, "disjoint"]})
    run(own, tmp_path / "one")
    run(own, tmp_path / "two", jobs=2)
    with cluster.as_current():
        run(own, tmp_path / "connected", backend="dask")
    import dask

    with dask.config.set(scheduler_address=cluster.scheduler.address):
        run(own, tmp_path / "address", backend="dask")
    one = tree(tmp_path / "one")
    assert len(one) == 4 + 2
    for other in ("two", "connected", "address"):
        assert tree(tmp_path / other) == one, other
    # The cluster did it: each chunk is a task that it was given.
    done = [len(calls) for calls in cluster.run(lambda dask_worker: list(dask_worker.state.log)).values()]
    assert sum(done) > 0
    assert cluster.status == "running"  # a client of the caller's is left as it is


def test_a_learner_has_one_thread_whatever_the_process_has(
    plan: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "watches_threads.py").write_text(WATCHES)
    monkeypatch.syspath_prepend(tmp_path)
    own = plan(learner=[{"estimator": "watches_threads.Watches"}])
    with threadpool_limits(limits=2):
        assert any(pool["num_threads"] == 2 for pool in threadpool_info())
        outcomes = list(run(own, tmp_path / "out").outcomes())
    assert [fault.said for outcome in outcomes for fault in outcome.faults] == []


def test_a_cluster_whose_libraries_differ_is_refused(plan: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    from polyculture.lab.data import prepare

    own = plan()
    begun_with = {**running.versions(), "scikit-learn": "0.1"}
    with pytest.raises(UsageError, match=r"other libraries than this one: scikit-learn"):
        running._run_chunk(own, prepare(own), range(1), begun_with)


GROWS = """
import time
import numpy as np
kept = []
def grow(number):
    time.sleep(1.1)  # loky looks at most once a second
    kept.append(np.ones(45_000_000))
    return number
"""


@pytest.mark.full
def test_a_worker_whose_memory_grows_is_replaced_and_the_run_ends(tmp_path: Path) -> None:
    (tmp_path / "grows.py").write_text(GROWS)
    words = (
        "from joblib import delayed; from grows import grow; from polyculture.lab.workers import workers\n"
        "with workers('loky', 2, None) as work:\n    print(*work(delayed(grow)(number) for number in range(8)))"
    )
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    command = [sys.executable, "-W", "error::UserWarning", "-c", words]
    done = subprocess.run(command, env={**os.environ, **path}, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == list("01234567")
    assert not done.stderr


@pytest.mark.full
def test_dask_without_a_cluster_starts_its_own_in_the_shell(tmp_path: Path, table: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra [dask]")
    (tmp_path / "plan.toml").write_text(PLAN)
    for name, words in {"plain": (), "dask": ("--backend", "dask", "--jobs", "2")}.items():
        done = subprocess.run([*COMMAND, "--out", name, *words], cwd=tmp_path, check=True, capture_output=True)
        assert not done.stdout
    assert tree(tmp_path / "dask") == tree(tmp_path / "plain")


def test_a_cluster_that_does_not_answer_or_has_no_worker_is_named(
    plan: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra [dask]")
    import dask

    monkeypatch.setattr(workers, "CONNECT_WITHIN", 0.5)
    monkeypatch.setattr(workers, "WORKERS_WITHIN", 0.5)
    with dask.config.set(scheduler_address="tcp://127.0.0.1:1"), pytest.raises(UsageError, match="No Dask scheduler"):
        run(plan(), tmp_path / "out", backend="dask")
    with (
        distributed.SpecCluster(scheduler={"cls": distributed.Scheduler, "options": {"dashboard": False}}) as empty,
        dask.config.set(scheduler_address=empty.scheduler_address),
        pytest.raises(UsageError, match="has no worker"),
    ):
        run(plan(), tmp_path / "out", backend="dask")


@pytest.mark.parametrize(("backend", "module"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_is_named(
    plan: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=f"needs {module}") as caught:
        run(plan(), tmp_path / "out", backend=backend)
    assert backend in caught.value.hint


def test_ray_gets_the_work_in_rounds(plan: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray itself is not installed in the tests: a backend that, like its own, gives nothing before all is done."""
    from joblib import register_parallel_backend
    from joblib._parallel_backends import SequentialBackend

    begun: list[int] = []

    class AllAtOnce(SequentialBackend):  # type: ignore[misc]
        supports_return_generator = False

        def configure(self, *words: Any, **more: Any) -> Any:
            begun.append(1)
            return super().configure(*words, **more)

    module = ModuleType("ray.util.joblib")
    module.register_ray = lambda: register_parallel_backend("ray", AllAtOnce)  # type: ignore[attr-defined]
    for name in ("ray", "ray.util"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "ray.util.joblib", module)
    run(plan(chunk=2), tmp_path / "ray", backend="ray")
    run(plan(chunk=2), tmp_path / "plain")
    assert begun
    assert tree(tmp_path / "ray") == tree(tmp_path / "plain")
    sizes: list[int] = []

    def pool(calls: Iterable[int]) -> list[int]:
        sizes.append(len(found := list(calls)))
        return found

    assert list(workers._in_rounds(pool, iter(range(10)), 4)) == list(range(10))
    assert sizes == [4, 4, 2]


@pytest.mark.parametrize("backend", ["loky", "dask"])
@pytest.mark.full
def test_a_process_that_is_killed_ends_the_run_with_what_is_kept(tmp_path: Path, table: Path, backend: str) -> None:
    """The learner is a module beside the plan, which the shell finds there."""
    if backend == "dask":
        pytest.importorskip("distributed", reason="needs the extra [dask]")
    (tmp_path / "dies.py").write_text(DIES)
    (tmp_path / "plan.toml").write_text(PLAN.replace("sklearn.naive_bayes.GaussianNB", "dies.Dies"))
    command = [*COMMAND, "--out", "out", "--jobs", "2", "--backend", backend]
    killed = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "DIE_HERE": "1"}, capture_output=True, text=True, check=False
    )
    assert killed.returncode == 2
    said = " ".join(killed.stderr.split())
    assert "0 of 4 trials are kept. Run the same command again" in said
    assert "Traceback" not in said
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([*COMMAND, "--out", "whole"], cwd=tmp_path, check=True)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_memory_that_runs_out_says_what_is_kept_and_how_to_go_on() -> None:
    said = r"not enough memory for a model \(tried to allocate 9 GiB\)\. 3 of 9 trials are kept"
    with (
        pytest.raises(PolycultureError, match=said) as caught,
        workers.saying_what_is_kept(lambda: "3 of 9 trials are kept"),
    ):
        raise MemoryError("tried to allocate 9 GiB\nof 8")
    assert "goes on there" in caught.value.hint
