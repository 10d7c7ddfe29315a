"""Chains of networks: whom they train on in which batch, who labels, and what their store holds to go on from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from killed import Killed
from polyculture.errors import FileError, UsageError
from polyculture.lab.loops.chain import Chain
from polyculture.lab.loops.generation import generation_bytes
from polyculture.lab.loops.kept import read_models
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.rows import Rows
from polyculture.lab.loops.run import check_actors, run
from polyculture.lab.loops.star import quotas
from polyculture.lab.loops.store import LoopStore
from polyculture.lab.loops.world import everyone
from store_tree import tree

torch = pytest.importorskip("torch", reason="needs the extra [torch]")
pytest.importorskip("skorch", reason="needs the extra [torch]")

Plan = Callable[..., LoopPlan]
HERE = "polyculture.lab.loops.torch_actors"
VAE = {"estimator": f"{HERE}.VAE", "parameters": {"hidden": [8], "latent": 2, "epochs": 8, "learning_rate": 0.01}}
MLP = {"estimator": f"{HERE}.MLP", "parameters": {"hidden": [8], "epochs": 12, "learning_rate": 0.02}}
STAR = {"setting": "SeqGenSeqClass", "intervention": [{"kind": "STAR", "of": ["generator", "classifier"]}]}
RECORDS = """
from polyculture.lab.loops.torch_actors import MLP, VAE
GIVEN = []
class Records(MLP):
    def fit(self, X, y, sample_weight=None, batches=None):
        GIVEN.append(("classifier", X, batches, sample_weight))
        return super().fit(X, y, sample_weight, batches)
class RecordsVAE(VAE):
    def fit(self, X, y=None, batches=None):
        GIVEN.append(("generator", X, batches, y))
        return super().fit(X, y, batches)
"""


@pytest.fixture
def networks(plan: Plan) -> Plan:
    return lambda **changed: plan(**{"generator": VAE, "classifier": [MLP], "samples": 120, "seeds": 1, **changed})


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    (tmp_path / "records_of_fits.py").write_text(RECORDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "records_of_fits", raising=False)
    found: list[Any] = __import__("records_of_fits").GIVEN
    return found


def recorded(purpose: str, of: dict[str, Any]) -> dict[str, Any]:
    name = {"generator": "RecordsVAE", "classifier": "Records"}[purpose]
    return {"estimator": f"records_of_fits.{name}", "parameters": of["parameters"]}


def test_reparation_curates_each_batch_in_which_networks_are_trained(networks: Plan, given: list[Any]) -> None:
    own = networks(
        batch=40,
        arm=[STAR],
        generator=recorded("generator", VAE),
        classifier=[recorded("classifier", MLP)],
        label_annotator=MLP,
        group_annotator=MLP,
        ideal=[
            {"target": t, "group": g, "share": s} for t, g, s in (("0", "f", 0.4), ("0", "m", 0.3), ("1", "f", 0.3))
        ],
    )
    one = Chain(own, everyone(own), 0)
    assert [(purpose, batches is None) for purpose, _, batches, _ in given] == [("generator", True)]
    one.step(0)
    given.clear()
    before = one.classifiers[0]
    generation, state = one.step(1)
    assert [purpose for purpose, *_ in given] == ["generator", "classifier"]
    for purpose, features, batches, _ in given:
        rows = state[0][purpose]
        assert (rows.features == features).all()
        assert (rows.label == before.decide(features)).all()
        assert np.bincount(batches).tolist() == [40, 40, 40, 40, 8]
        assert (np.diff(batches) >= 0).all()
        books = generation.made[0].accounting[purpose]
        stratum = one.world.stratum(rows.label, rows.group)
        wanted = np.array([quotas(one.world.ideal, size) for size in (40, 40, 40, 40, 8)])
        assert books.quota.tolist() == wanted.sum(axis=0).tolist() == [67, 50, 50, 0]
        assert books.pool.sum() == 4 * 50 + 10
        assert (books.taken + books.filled).tolist() == np.bincount(stratum, minlength=4).tolist()
        held = np.array([np.bincount(stratum[batches == batch], minlength=4) for batch in range(5)])
        # Of each batch no more of a stratum than its quota was taken: what is over is filled as it came.
        assert np.maximum(held - wanted, 0).sum() <= books.filled.sum() == books.shortfall


def test_without_reparation_batches_are_the_networks_own_of_the_plans_size(networks: Plan, given: list[Any]) -> None:
    own = networks(batch=40, classifier=[recorded("classifier", MLP)], label_annotator=MLP, group_annotator=MLP)
    one = Chain(own, everyone(own), 0)
    one.step(0)
    assert [(batches, weight) for _, _, batches, weight in given] == [(None, None)]
    assert one.classifiers[0].estimator.batch_size == 40
    assert one.generators[0].last.batch_size == 40
    assert Chain(networks(), everyone(own), 0).generators[0].last.batch_size == 256


def test_weights_of_people_reach_networks_in_the_batches_of_reparation(networks: Plan, given: list[Any]) -> None:
    arm = {"setting": "SeqClass", "intervention": [{"kind": "STAR", "batch": 30}, {"kind": "reweighting"}]}
    own = networks(arm=[arm], classifier=[recorded("classifier", MLP)], label_annotator=MLP, group_annotator=MLP)
    _, state = Chain(own, everyone(own), 0).step(0)
    _, _, batches, weight = given[-1]
    assert np.bincount(batches).tolist() == [30, 30, 30, 30, 30, 18]
    assert (weight == state[0]["classifier"].weight).all()
    assert weight.std() > 0.0


class Counts:
    """An annotator that counts whom it labels."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.many = inner, 0

    def decide(self, features: np.ndarray) -> np.ndarray:
        self.many += len(features)
        return np.asarray(self.inner.decide(features))


def test_nobody_is_labelled_twice(networks: Plan) -> None:
    arms = [{"setting": name} for name in ("SeqClass", "SeqGenNonSeqClass")]
    own = networks(arm=arms)
    for number, trained in ((0, 0), (1, 168 + 168)):
        one = Chain(own, everyone(own), number)
        one.step(0)
        one.annotator, one.grouping = Counts(one.annotator), Counts(one.grouping)
        before = Counts(one.classifiers[0])
        one.classifiers[0] = before
        one.step(1)
        sets = 168 if number == 0 else 2 * 168
        assert one.annotator.many == trained + 120  # those that are measured are labelled by it in any setting
        assert one.grouping.many == sets + 120
        assert before.many == (168 + 120 if number == 0 else 0)


def test_a_conditional_generator_labels_its_people_where_no_classifier_does(networks: Plan, given: list[Any]) -> None:
    vae = recorded("generator", {"parameters": {**VAE["parameters"], "conditional": True}})
    own = networks(generator=vae, arm=[{"setting": name} for name in ("SeqGenNonSeqClass", "SeqGenSeqClass")], keep=120)
    for number in range(2):
        given.clear()
        one = Chain(own, everyone(own), number)
        assert (given[0][3] == one.world.label).all()
        one.step(0)
        before = one.classifiers[0]
        generation, state = one.step(1)
        rows = state[0]["classifier"]
        assert (given[-1][3] == state[0]["generator"].label).all()
        assert (rows.label != one.annotator.decide(rows.features)).any()
        assert (rows.label == before.decide(rows.features)).all() == (number == 1)
        made = generation.made[0]
        group = one.grouping.decide(made.kept)
        annotated = np.bincount(2 * one.annotator.decide(made.kept) + group, minlength=4)
        assert made.annotated.tolist() == annotated.tolist()
        assert made.strata.tolist() != annotated.tolist()


@pytest.mark.parametrize(
    "kind", ["class balance", "group balance", "reweighting", "fresh data", "drop detected", "fairness constraint"]
)
def test_every_intervention_trains_networks(networks: Plan, tmp_path: Path, kind: str) -> None:
    of = ["classifier"] if kind in {"reweighting", "fairness constraint"} else ["classifier", "generator"]
    one = {"kind": kind, "of": of, **({"rounds": 2} if kind == "fairness constraint" else {})}
    own = networks(generations=2, arm=[{"setting": "SeqGenSeqClass", "intervention": [one]}])
    store = run(own, tmp_path)
    (generations,) = store.chains()
    assert [generation.stopped for generation in generations] == ["", ""]
    # A constrained classifier is a mixture of networks, which is fitted again: its weights are not stored.
    assert ("classifier 1" in store.models(0, 0)) == (kind != "fairness constraint")


def test_a_diverging_network_ends_its_chain_and_finished_generations_stay(networks: Plan, tmp_path: Path) -> None:
    diverging = {"estimator": f"{HERE}.MLP", "parameters": {"learning_rate": 1e30, "epochs": 30, "hidden": [8]}}
    own = networks(classifier=[diverging], label_annotator=MLP, group_annotator=MLP, arm=[STAR])
    store = run(own, tmp_path / "out")
    (only,) = next(iter(store.chains()))
    assert only.stopped.startswith("NotFiniteError: ")
    assert not store.models(0, 0)


def test_weights_are_stored_of_each_generation_and_taken_up(networks: Plan, tmp_path: Path) -> None:
    own = networks(generations=4, decision_makers=2, arm=[{**STAR, "pool": 0.5}])
    store = run(own, tmp_path / "out")
    whole = tree(tmp_path / "out")
    assert {path.suffix for path in store.path.iterdir()} == {".parquet", ".json", ".safetensors"}
    first, third = store.models(0, 0), store.models(0, 2)
    makers = {f"{what} {maker}" for what in ("generator", "classifier") for maker in (1, 2)}
    assert set(first) == makers | {"label annotator", "group annotator"}
    assert set(third) == makers
    (place,) = store.path.glob("models-000000-0002-*.safetensors")
    assert set(read_models(place)) == makers
    everybody = everyone(own)
    again = Chain(own, everybody, 0, first)
    assert (
        again.annotator.estimator.get_weights()["module.head.bias"] == first["label annotator"]["module.head.bias"]
    ).all()
    generations = store.generations(0)
    again.take_up(generations[:3], third)
    assert generation_bytes(again.step(3)[0]) == generation_bytes(generations[3])
    # What is gone of weights is trained again, to the same bytes.
    for gone in (["models-000000-0003", "generation-000000-0003"], ["models-000000-0002", "generation-000000-0003"],
                 ["models-000000-0000", "generation-000000-0003"], ["models-", "generation-000000-0003"]):  # fmt: skip
        for path in store.path.iterdir():
            if path.name.startswith(tuple(gone)):
                path.unlink()
        run(own, tmp_path / "out")
        assert tree(tmp_path / "out").keys() <= whole.keys()
        assert all(whole[name] == content for name, content in tree(tmp_path / "out").items())


def test_no_network_is_trained_again_that_was_stored(
    networks: Plan, tmp_path: Path, given: list[Any]
) -> None:  # fmt: skip
    own = networks(arm=[{"setting": "SeqGenSeqClass"}], generator=recorded("generator", VAE),
                   classifier=[recorded("classifier", MLP)])  # fmt: skip
    store = run(own, tmp_path / "out")
    given.clear()
    (last,) = store.path.glob("generation-000000-0002-*")
    last.unlink()
    run(own, tmp_path / "out")
    assert [purpose for purpose, *_ in given] == ["generator", "classifier"]
    assert not list(store.path.glob("state-*"))


def test_weights_of_the_first_and_last_generation_alone_are_enough(networks: Plan, tmp_path: Path) -> None:
    run(networks(generations=4), tmp_path / "all")
    store = run(networks(generations=4, weights="last"), tmp_path / "out")
    names = sorted(path.name[:18] for path in store.path.glob("models-*"))
    assert names == ["models-000000-0000", "models-000000-0003"]
    whole = tree(tmp_path / "out")
    (last,) = store.path.glob("generation-000000-0003-*")
    last.unlink()
    run(networks(generations=4, weights="last"), tmp_path / "out")
    assert tree(tmp_path / "out") == whole
    alike = {name: one for name, one in tree(tmp_path / "all").items() if "generation-" in name}
    assert alike == {name: one for name, one in whole.items() if "generation-" in name}


def test_networks_in_pipelines_are_fitted_again_to_what_they_saw(networks: Plan, tmp_path: Path) -> None:
    pca = {"estimator": "sklearn.decomposition.PCA", "parameters": {"n_components": 3}}
    own = networks(generator={"steps": [pca, VAE]}, arm=[STAR, {"setting": "SeqClass"}])
    store = run(own, tmp_path / "out")
    whole = tree(tmp_path / "out")
    assert set(store.models(0, 1)) == {"classifier 1"}
    kept = Chain(own, everyone(own), 0)
    _, state = kept.step(0)
    generations = store.generations(0)
    for path in [*store.path.glob("generation-00000*-0002-*")]:
        path.unlink()
    store.write(0, generations[0], state, store.models(0, 0))
    run(own, tmp_path / "out")
    assert tree(tmp_path / "out") == whole


def test_a_training_set_of_one_class_is_taken_up_too(networks: Plan, tmp_path: Path) -> None:
    dummy = {"estimator": "sklearn.dummy.DummyClassifier", "parameters": {"strategy": "constant", "constant": 1}}
    own = networks(label_annotator=dummy, arm=[{"setting": "SeqClass"}])
    store = run(own, tmp_path / "out")
    whole = tree(tmp_path / "out")
    assert {name: value.tolist() for name, value in store.models(0, 1)["classifier 1"].items()} == {"constant": [1]}
    (last,) = store.path.glob("generation-000000-0002-*")
    last.unlink()
    run(own, tmp_path / "out")
    assert tree(tmp_path / "out") == whole


def test_damaged_weights_are_named(networks: Plan, tmp_path: Path) -> None:
    store = run(networks(generations=1), tmp_path / "out")
    (place,) = store.path.glob("models-*")
    content = place.read_bytes()
    place.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(FileError, match="is damaged") as caught:
        store.models(0, 0)
    assert "Delete it" in caught.value.hint
    (tmp_path / "none.safetensors").write_bytes(b"no tensors")
    with pytest.raises(FileError, match="cannot be read"):
        read_models(tmp_path / "none.safetensors")
    from safetensors.numpy import save

    (tmp_path / "other.safetensors").write_bytes(save({"weight": np.zeros(2)}))
    with pytest.raises(FileError, match="does not hold the models"):
        read_models(tmp_path / "other.safetensors")


def test_images_are_seen_as_images_and_steps_after_others_are_not(plan: Plan) -> None:
    data = {"source": "polyculture.reproductions.images:digits", "parameters": {"individuals": 120},
            "image": [1, 8, 8], "white": 16.0, "groups": ["digit>=8"]}  # fmt: skip
    small = {"channels": [2], "kernel": 3, "padding": 1, "hidden": [8], "epochs": 2}
    cnn = {"estimator": f"{HERE}.CNN", "parameters": small}
    vae = {"estimator": f"{HERE}.VAE", "parameters": {"hidden": [2, 4], "latent": 2, "epochs": 1}}
    pca = {"estimator": "sklearn.decomposition.PCA", "parameters": {"n_components": 3}}
    own = plan(data=data, label="digit in [5, 7, 9]", generator=vae, classifier=[cnn], label_annotator=cnn,
               group_annotator={"steps": [pca, MLP]}, seeds=1, keep=2)  # fmt: skip
    one = Chain(own, everyone(own), 0)
    assert one.world.features.shape[1:] == (1, 8, 8)
    assert (one.world.features.min(), one.world.features.max()) == (0, 255)
    generation, state = one.step(0)
    assert not generation.stopped
    assert state[0]["classifier"].features.shape == (84, 1, 8, 8)
    assert one.generators[0].last.shape_ == one.annotator.estimator.shape_ == (1, 8, 8)
    assert one.grouping.estimator.steps[-1][1].shape_ == (3,)


def test_a_device_is_refused_where_it_is_not_there_or_nobody_uses_it(networks: Plan, plan: Plan) -> None:
    with pytest.raises(UsageError, match="no actor of the plan can be trained there"):
        check_actors(plan(device="cuda"))
    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="finds no GPU"):
            check_actors(networks(device="cuda"))
    with pytest.raises(UsageError, match="MLP has epochs = 0"):
        check_actors(networks(classifier=[{**MLP, "parameters": {"epochs": 0}}]))
    with pytest.raises(UsageError, match="sees images"):
        check_actors(networks(classifier=[{"estimator": f"{HERE}.CNN"}]))
    with pytest.raises(UsageError, match="'epoch'"):
        check_actors(networks(classifier=[{**MLP, "parameters": {"epoch": 1}}]))


def test_the_store_notes_the_device_and_is_not_added_to_on_another(
    networks: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = run(networks(generations=1), tmp_path / "out")
    assert LoopStore.open(store.path).manifest.device == "cpu"
    assert {"torch", "skorch", "safetensors"} <= set(store.manifest.versions)
    monkeypatch.setattr("polyculture.lab.loops.store.device_name", lambda _: "cuda: Another 9000")
    with pytest.raises(UsageError, match="begun on cpu, and this is cuda: Another 9000"):
        run(networks(generations=1), tmp_path / "out")


def test_a_store_without_networks_does_not_ask_for_their_libraries(plan: Plan, tmp_path: Path) -> None:
    store = run(plan(generations=1, seeds=1), tmp_path / "out")
    assert "torch" not in store.manifest.versions


def test_rows_keep_their_batches_when_some_are_chosen() -> None:
    rows = Rows(np.zeros((4, 1)), np.arange(4), np.zeros(4, dtype=np.int64), batch=np.array([0, 0, 1, 1]))
    assert rows[1:3].batch.tolist() == [0, 1]
    assert rows.labelled(np.zeros(4, dtype=np.int64)).batch is rows.batch


PLAN = """
label = "good"
generations = {generations}
seeds = 1
samples = 100
decision_makers = 2
batch = 64
[data]
source = "people.csv"
id = "person"
groups = ["sex"]
[generator]
estimator = "polyculture.lab.loops.torch_actors.VAE"
parameters = {{ hidden = [8], latent = 2, epochs = 2 }}
[[classifier]]
estimator = "polyculture.lab.loops.torch_actors.MLP"
parameters = {{ hidden = [8], epochs = 2 }}
[[arm]]
setting = "SeqGenSeqClass"
pool = "shared"
intervention = [{{ kind = "STAR", of = ["generator", "classifier"] }}]
"""


def killed(generations: int) -> Killed:
    return Killed("loop", PLAN.format(generations=generations), "generation-*", generations, 0.1)


def test_two_kills_leave_the_same_bytes_of_networks(tmp_path: Path) -> None:
    store = killed(generations=5).again_and_again(tmp_path, 2)
    assert len(list(store.glob("models-*.safetensors"))) == 5


@pytest.mark.full
def test_twelve_kills_leave_the_same_bytes_of_networks(tmp_path: Path) -> None:
    killed(generations=8).again_and_again(tmp_path, 12)
