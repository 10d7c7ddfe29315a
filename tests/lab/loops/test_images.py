"""Loops on images: pixels of one byte all the way, the same after being taken up again, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from killed import Killed
from make_images import mnist_file
from polyculture.errors import ColumnError, UsageError
from polyculture.files import atomic_write
from polyculture.lab.folder import summed
from polyculture.lab.images import as_numbers
from polyculture.lab.loops.chain import Chain
from polyculture.lab.loops.generation import read_state, state_bytes
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.sampled import MOST_STRIPS
from polyculture.lab.loops.world import everyone, world_of
from polyculture.lab.planfile import plan_from

MIXTURE = {
    "steps": [
        {"estimator": "sklearn.decomposition.PCA", "parameters": {"n_components": 8}},
        {"estimator": "sklearn.mixture.GaussianMixture", "parameters": {"n_components": 4, "reg_covar": 0.001}},
    ]
}
Content = Callable[..., dict[str, Any]]


@pytest.fixture
def content(tmp_path: Path) -> Content:
    path = mnist_file(tmp_path / "mnist.npz", 240)

    def make(parameters: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
        return {
            "data": {
                "source": "polyculture.datasets.images:colored_mnist",
                "groups": ["colour"],
                "parameters": {"path": str(path), "side": 7, "channels": 2, **(parameters or {})},
            },
            "label": "class",
            "favourable": "1",
            "generator": MIXTURE,
            "classifier": [{"estimator": "sklearn.linear_model.LogisticRegression"}],
            "generations": 3,
            "seeds": 2,
            "samples": 200,
            "keep": 5,
            "arm": [{"setting": "SeqGenSeqClass"}],
            **changed,
        }

    return make


def plan(content: dict[str, Any]) -> LoopPlan:
    return plan_from(content, "the plan", LoopPlan)


def test_the_world_holds_images_as_they_are(content: Content) -> None:
    own = plan(content())
    everybody = everyone(own)
    world = world_of(own, everybody, 0)
    assert everybody.image == world.image == (2, 7, 7)
    assert world.features.dtype == world.test_features.dtype == np.uint8
    assert world.features.shape == (168, 2, 7, 7)
    assert set(everybody.groups) == {"colour = green", "colour = red"}


def test_distances_are_those_of_the_principal_components(content: Content) -> None:
    world = world_of(own := plan(content({"side": 14})), everyone(own), 0)
    flat = as_numbers(world.features)
    assert flat.shape[0] < flat.shape[1]  # so that the smaller matrix is taken
    _, _, other = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)
    found = world.embedded(world.test_features)
    expected = (as_numbers(world.test_features) - flat.mean(axis=0)) @ other[:10].T
    assert np.abs(found) == pytest.approx(np.abs(expected), abs=1e-6)


def test_pixels_in_columns_are_images_too(content: Content, tmp_path: Path) -> None:
    loaded = everyone(plan(content()))
    frame = pl.DataFrame(
        {"class": loaded.label, "colour": loaded.group}
        | {f"p{at}": column / 255.0 for at, column in enumerate(loaded.features.reshape(240, -1).T)}
    )
    frame.write_parquet(tmp_path / "pixels.parquet")
    data = {"source": str(tmp_path / "pixels.parquet"), "groups": ["colour"], "leave_out": ["colour"]}
    again = everyone(plan(content(data={**data, "image": [2, 7, 7], "white": 1.0})))
    assert (again.features == loaded.features).all()
    with pytest.raises(UsageError, match="has 7 channels"):
        everyone(plan(content(data={**data, "image": [7, 2, 7], "white": 1.0})))


def test_what_does_not_fit_is_refused(content: Content) -> None:
    with pytest.raises(UsageError, match=r"image = \[1, 28, 28\], and the images .* are \[2, 7, 7\]"):
        everyone(plan(content(data=content()["data"] | {"image": [1, 28, 28]})))
    with pytest.raises(ColumnError, match="no column 'name'"):
        everyone(plan(content(data=content()["data"] | {"id": "name"})))
    with pytest.raises(UsageError, match="Did you mean 'minority'"):
        everyone(plan(content({"minorit": 0.2})))


@pytest.mark.parametrize("star", [False, True])
def test_a_chain_of_images_goes_on_to_the_same(content: Content, tmp_path: Path, star: bool) -> None:
    arm: dict[str, Any] = {"setting": "SeqGenSeqClass"}
    if star:
        arm["intervention"] = [{"kind": "STAR", "of": ["classifier", "generator"]}]
    own = content(arm=[arm], seeds=1)
    whole = pc.lab.loop(own, out=tmp_path / "whole")
    part = tmp_path / "part"
    pc.lab.loop(own, out=part)
    store = part / "store"
    states: dict[int, bytes] = {}
    chain = Chain(plan(own), everyone(plan(own)), 0)
    for number in range(2):
        _, state = chain.step(number)
        assert state[0]["classifier"].features.dtype == np.uint8
        states[number] = state_bytes(state)
    (tmp_path / "state").write_bytes(states[1])
    read = read_state(tmp_path / "state", 1, (2, 7, 7))[0]["generator"]
    assert (read.features == state[0]["generator"].features).all()
    assert read.features.dtype == np.uint8
    last = next(store.glob("generation-000000-0002-*"))
    content_of = last.read_bytes()
    last.unlink()
    atomic_write(store / summed("state-000000-0001", states[1]), states[1])
    again = pc.lab.loop(own, out=part)
    assert last.read_bytes() == content_of
    assert again.record.curves == whole.record.curves


@pytest.mark.parametrize(
    "arm",
    [
        {"shift": [{"kind": "reacting population"}]},
        {"shift": [{"kind": "data spill"}]},
        {"intervention": [{"kind": "drop detected", "of": ["classifier", "generator"]}]},
        {"intervention": [{"kind": "fresh data"}]},
    ],
)
def test_shifts_and_interventions_take_images(content: Content, arm: dict[str, Any]) -> None:
    own = plan(content(arm=[{"setting": "SeqGenSeqClass", **arm}], seeds=1))
    chain = Chain(own, everyone(own), 0)
    for number in range(2):
        generation, state = chain.step(number)
        assert not generation.stopped, generation.stopped
        assert state[0]["classifier"].features.dtype == np.uint8


def test_several_decision_makers_share_images(content: Content) -> None:
    own = plan(content(decision_makers=2, start="own", arm=[{"setting": "SeqGenSeqClass", "pool": "shared"}]))
    chain = Chain(own, everyone(own), 0)
    for number in range(2):
        generation, _ = chain.step(number)
        assert len(generation.made) == 2
        assert generation.made[1].kept.shape == (5, 2, 7, 7)


MODELS = """
import numpy as np
from sklearn.mixture import GaussianMixture
class NaN(GaussianMixture):
    '''Gives no numbers from the second time on that it is fitted in a chain.'''
    fits = 0
    def fit(self, X):
        type(self).fits += 1
        return super().fit(X)
    def sample(self, n):
        found = super().sample(n)[0]
        if type(self).fits > 1:
            found[:] = np.nan
        return found
class Black(GaussianMixture):
    '''Gives black images.'''
    def sample(self, n):
        return np.zeros_like(super().sample(n)[0])
"""


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "image_models.py").write_text(MODELS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "image_models", raising=False)
    return "image_models"


def test_a_generator_that_gives_no_numbers_ends_its_chain_and_what_was_done_stays(
    content: Content, models: str, tmp_path: Path
) -> None:
    generator = {"estimator": f"{models}.NaN", "parameters": {"reg_covar": 0.01, "covariance_type": "diag"}}
    found = pc.lab.loop(content(generator=generator, seeds=1), out=tmp_path / "out")
    (fault,) = [one for one in found.record.faults if one.reason == "stopped"]
    assert fault.first == 1
    assert "168 of 168 people are no finite numbers" in fault.said
    accuracy = next(one for one in found.curves if one.measure == "accuracy")
    assert accuracy.seeds == (1, 0, 0)
    assert [one.generation for one in found.record.sampled] == [0]


def test_classes_and_groups_that_vanish_are_recorded(content: Content, models: str) -> None:
    generator = {"estimator": f"{models}.Black", "parameters": {"reg_covar": 0.01, "covariance_type": "diag"}}
    found = pc.lab.loop(content(generator=generator, seeds=1, generations=2))
    reasons = {one.reason for one in found.record.faults}
    assert {"class vanished", "group vanished", "class missing"} <= reasons
    assert next(one for one in found.record.collapse).constant == 1


def test_pictures_are_of_the_first_seed_and_of_generations_evenly(content: Content, tmp_path: Path) -> None:
    arms = [{"setting": "SeqClass"}, {"setting": "SeqGenSeqClass"}]
    found = pc.lab.loop(content(arm=arms, generations=MOST_STRIPS + 2), out=tmp_path / "out")
    own = [one for one in found.record.sampled if one.arm == "SeqClass"]
    assert len(own) == MOST_STRIPS
    assert (own[0].generation, own[-1].generation, own[0].images) == (0, MOST_STRIPS + 1, 5)
    assert found.record.image == (2, 7, 7)
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 2 * MOST_STRIPS
    assert not pc.lab.loop(content(arm=arms[:1], keep=0, generations=1)).record.sampled


PLAN = """
label = "class"
generations = {generations}
seeds = 1
samples = 200
keep = 2
classifier = [{{ estimator = "sklearn.naive_bayes.GaussianNB" }}]
arm = [{{ setting = "SeqGenSeqClass", intervention = [{{ kind = "STAR", of = ["classifier", "generator"] }}] }}]
[data]
source = "polyculture.datasets.images:colored_mnist"
groups = ["colour"]
parameters = {{ path = {path!r}, side = 7, channels = 2 }}
[generator]
steps = [{{ estimator = "sklearn.decomposition.PCA", parameters = {{ n_components = 4 }} }},
         {{ estimator = "sklearn.mixture.GaussianMixture", parameters = {{ reg_covar = 0.001 }} }}]
"""


@pytest.mark.parametrize("times", [2, pytest.param(12, marks=pytest.mark.full)])
def test_kills_leave_the_same_bytes_of_images(tmp_path: Path, times: int) -> None:
    path = str(mnist_file(tmp_path / "mnist.npz", 240))
    killed = Killed("loop", PLAN.format(generations=2 * times, path=path), "generation-*", 2 * times, 0.1)
    store = killed.again_and_again(tmp_path, times)
    assert not list(store.glob("state-*"))
