"""Running a loop: chains through joblib, each generation into the store when it is finished, progress with time left.

The same plan gives the same bytes with any number of jobs: a chain depends on its number alone, and the threads of
numerical libraries are held to one. Chains that train the same generators are run one after the other in one process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING

from polyculture.errors import UsageError
from polyculture.lab.components import build, need_lab, parameters_of
from polyculture.lab.folder import locked, note
from polyculture.lab.loops.actors import takes_batches, weight_name
from polyculture.lab.loops.chain import Chain, Stopped
from polyculture.lab.loops.embedding import check_embedding
from polyculture.lab.loops.memory import Memory, together
from polyculture.lab.loops.store import LoopStore, versions_of
from polyculture.lab.loops.world import everyone, world_of
from polyculture.lab.workers import alone, check_call, check_worker, saying_what_is_kept, time_left, workers

if TYPE_CHECKING:
    from polyculture.lab.loops.generation import Generation
    from polyculture.lab.loops.plan import LoopPlan
    from polyculture.lab.loops.world import Everyone

__all__ = ["run"]

WATCHED = 1.0  # seconds between two looks at what has been written

Progress = Callable[[str], None]


def run(
    plan: LoopPlan, out: Path, *, jobs: int = 1, backend: str = "loky", progress: Progress | None = None
) -> LoopStore:
    """Run what is still to be run of a plan.

    Parameters
    ----------
    plan : LoopPlan
        The experiment.
    out : Path
        Folder of the results; the store goes into ``out/store``, how long chains took into ``out/timings.csv``.
    jobs : int
        Processes; -1 for as many as there are processors.
    backend : str
        Where joblib runs them; processes of other machines must see ``out``, into which each writes what it finished.
    progress : callable, optional
        Called with what is being done, in words.

    Returns
    -------
    LoopStore
        Complete.

    Raises
    ------
    InputError, UsageError
        If plan, data or actors do not fit together; nothing has been run then.
    OutputError
        If the store cannot be written; generations that were finished stay, and the same call goes on there.
    """
    need_lab()
    tell = progress or (lambda _: None)
    check_call(jobs, backend)
    check_actors(plan)
    tell("Reading the data")
    everybody = everyone(plan)
    for seed in range(plan.seeds if plan.split == "seed" else 1):
        world_of(plan, everybody, seed)
    _check_constraint(plan, everybody)
    with locked(out):
        store = LoopStore.begin(out / "store", plan, everybody)
        _fill(store, everybody, jobs, backend, tell, out / "timings.csv")
    return store


def check_actors(plan: LoopPlan) -> None:
    """Build every actor once, so that a wrong name is refused before anything runs.

    Raises
    ------
    UsageError
        If one cannot be built, or lacks what is asked of it.
    """
    _check_device(plan)
    check_embedding(plan)
    generator = [step for _, step in build(plan.steps("generator"), 0, plan.offered()).steps]
    for step in generator[:-1]:
        if not hasattr(step, "inverse_transform"):
            raise UsageError(
                f"{type(step).__name__} of the generator cannot be undone.",
                hint="Before what samples only transformers with inverse_transform can stand, such as PCA.",
            )
    if not all(hasattr(generator[-1], method) for method in ("fit", "sample")):
        raise UsageError(
            f"{type(generator[-1]).__name__} samples nothing.",
            hint="Name a generator, such as sklearn.mixture.GaussianMixture.",
        )
    weights = any(one.__struct_config__.tag == "reweighting" for arm in plan.arms for one in arm.interventions)
    for role in ("label", "group", *range(len(plan.classifiers))):
        pipeline = build(plan.steps(role), 0, plan.offered())
        last = pipeline.steps[-1][1]
        if not hasattr(last, "fit"):
            raise UsageError(
                f"{type(last).__name__} learns nothing (fit).",
                hint="Name a classifier, such as sklearn.linear_model.LogisticRegression.",
            )
        if not hasattr(last, "predict_proba"):
            raise UsageError(
                f"{type(last).__name__} gives no probabilities (predict_proba).",
                hint="Name a classifier that does, such as sklearn.linear_model.LogisticRegression.",
            )
        if len(pipeline.steps) > 1 and not hasattr(last, "get_params"):
            raise UsageError(
                f"{type(last).__name__} stands behind other steps, and is no estimator of scikit-learn.",
                hint="Derive it from sklearn.base.BaseEstimator, or name it alone.",
            )
        if isinstance(role, int) and weights:
            weight_name(pipeline, last)
        learns = takes_batches(last) or hasattr(last, "partial_fit")
        if isinstance(role, int) and plan.batch and (len(pipeline.steps) > 1 or not learns):
            raise UsageError(
                f"{type(last).__name__} cannot learn from batches (partial_fit, or fit with batches).",
                hint="Set batch = 0, or choose one that does, such as sklearn.linear_model.SGDClassifier.",
            )


def _check_device(plan: LoopPlan) -> None:
    """Refuse parameters that networks cannot use, and a device that is not there or that no actor knows of."""
    offered, known = plan.offered(), False
    for role in ("generator", "label", "group", *range(len(plan.classifiers))):
        for _, step in build(plan.steps(role), 0, offered).steps:
            known = known or "device" in parameters_of(step)
            if callable(getattr(step, "check", None)):
                step.check()
    if plan.device != "cpu" and not known:
        raise UsageError(
            f"device = {plan.device!r}, and no actor of the plan can be trained there.",
            hint="Leave device out, or name networks, such as polyculture.lab.loops.torch_actors.VAE.",
        )


def _check_constraint(plan: LoopPlan, everybody: Everyone) -> None:
    constrained = any(one.__struct_config__.tag == "fairness constraint" for a in plan.arms for one in a.interventions)
    if constrained and len(everybody.classes) != 2:
        raise UsageError(
            f"A fairness constraint needs two classes; the label has {len(everybody.classes)}.",
            hint="Make the label a condition, or leave that intervention out.",
        )


def _fill(  # noqa: PLR0917 (what a run is made of)
    store: LoopStore, everybody: Everyone, jobs: int, backend: str, tell: Progress, timings: Path
) -> None:
    from joblib import cpu_count, delayed

    plan = store.manifest.plan
    there = store.there()
    missing = []
    for chain, places in there.items():
        found = store.read(places)
        if store.finished(found):
            store.tidy(chain, found[-1].number, finished=True)
        else:
            missing.append(chain)
    if not missing:
        return
    total = plan.chains * plan.generations
    groups = together(plan, missing, cpu_count() if jobs == -1 else jobs)
    calls = (delayed(_run_chains)(store, everybody, chains) for chains in groups)

    def kept() -> str:
        return f"{store.count()} of {total} generations are kept"

    with saying_what_is_kept(kept), workers(backend, jobs, everybody) as work, _watching(store, total, tell):
        for chains, done in zip(groups, work(calls), strict=True):
            for chain, (generations, seconds) in zip(chains, done, strict=True):
                note(timings, ("chain", "generations", "seconds"), (chain, generations, f"{seconds:.3f}"))


@contextmanager
def _watching(store: LoopStore, total: int, tell: Progress) -> Iterator[None]:
    """Tell how many generations have been written, while a block runs: workers write them themselves."""
    begun, before, done = time.monotonic(), store.count(), Signal()

    def watch() -> None:
        tell(f"Generation {before} of {total}")
        while not done.wait(WATCHED):
            now = store.count()
            if now > before:
                tell(f"Generation {now} of {total}, {time_left(begun, now - before, total - before)}")

    thread = Thread(target=watch, name="polyculture-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _run_chains(store: LoopStore, everybody: Everyone, numbers: Sequence[int]) -> list[tuple[int, float]]:
    """Run chains from where they are; in a process of its own where there are several jobs.

    They go generation by generation, so that what several of them need is trained by the first, and let go of after
    the last. Returns how many generations were run of each, and in how many seconds.
    """
    check_worker(store.manifest.versions, versions_of(store.manifest.plan))
    return alone(lambda: check_actors(store.manifest.plan), lambda: _in_step(store, everybody, numbers))[0]


def _in_step(store: LoopStore, everybody: Everyone, numbers: Sequence[int]) -> list[tuple[int, float]]:
    memory = Memory()
    going = {number: _going_on(store, everybody, number, memory) for number in numbers}
    reached, done, seconds = dict.fromkeys(numbers, 0), dict.fromkeys(numbers, -1), dict.fromkeys(numbers, 0.0)
    while reached:
        number = min(reached, key=lambda one: (reached[one], one))
        begun = time.monotonic()
        following = next(going[number], None)
        seconds[number] += time.monotonic() - begun
        if following is None:
            del reached[number]
            continue
        reached[number], done[number] = following, done[number] + 1
        memory.forget(min(reached.values()))
    return [(done[number], seconds[number]) for number in numbers]


def _going_on(store: LoopStore, everybody: Everyone, number: int, memory: Memory) -> Iterator[int]:
    """Run what is missing of a chain, and yield the generation that comes next: before the first, and after each."""
    plan = store.manifest.plan
    generations: list[Generation] = store.generations(number)
    first = store.models(number, 0) if generations else {}
    yield len(generations)
    try:
        chain = Chain(plan, everybody, number, first, memory)
    except Stopped as stop:
        store.write(number, Chain.unborn(plan, str(stop)), [])
        yield plan.generations
        return
    while generations:
        last = generations[-1].number
        models = store.models(number, last)
        state = (
            None if chain.trainer.enough(last, models) else store.state(number, last, chain.world.features.shape[1:])
        )
        if chain.trainer.enough(last, models, state):
            chain.take_up(generations, models, state)
            break
        generations.pop()  # what it left was deleted or lost: that generation is run again, to the same bytes
    if first and not generations:
        chain = Chain(plan, everybody, number, memory=memory)  # what its annotators say belongs to the first generation
    for following in range(len(generations), plan.generations):
        generation, trained = chain.step(following)
        models = {} if generation.stopped else chain.models(following)
        store.write(number, generation, [] if chain.trainer.enough(following, models) else trained, models)
        yield following + 1
        if generation.stopped:
            break
