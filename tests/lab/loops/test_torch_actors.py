"""Networks as actors: what they learn, that their random state alone decides it, their weights, and bad parameters."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from polyculture.errors import UsageError
from polyculture.lab.training import NotFiniteError

torch = pytest.importorskip("torch", reason="needs the extra [torch]")
pytest.importorskip("skorch", reason="needs the extra [torch]")
actors = pytest.importorskip("polyculture.lab.loops.torch_actors")
modules = pytest.importorskip("polyculture.lab.loops.modules")
training = pytest.importorskip("polyculture.lab.loops.torch_training")

RNG = np.random.default_rng(5)
ROWS = RNG.normal(size=(300, 6))
LABEL = (ROWS[:, 0] * ROWS[:, 1] > 0).astype(np.int64)
IMAGES = RNG.random((40, 64))
IMAGE = [1, 8, 8]
SMALL = {"image": IMAGE, "channels": [2], "kernel": 3, "padding": 1, "hidden": [4], "epochs": 1}
RESNET = {"image": IMAGE, "epochs": 1, "configuration": {"embedding_size": 2, "hidden_sizes": [2, 4], "depths": [1, 1]}}
HERE = "nets_of_a_test"
NETS = """
from torch import nn
SEEN = []
class Linear(nn.Module):
    def __init__(self, shape, classes, wide=False):
        super().__init__()
        self.linear = nn.Linear(shape[0], classes)
    def forward(self, features):
        if self.training:
            SEEN.append(sorted(features[:, 0].tolist()))
        return self.linear(features)
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 2)
    def forward(self, features):
        return self.linear(features)
def nothing():
    return 3
"""


@pytest.fixture
def nets(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / f"{HERE}.py").write_text(NETS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, HERE, raising=False)
    return HERE


def test_a_perceptron_tells_what_no_line_tells() -> None:
    net = actors.MLP(hidden=[16, 16], epochs=40, learning_rate=0.01).fit(ROWS, LABEL + 4)
    assert net.classes_.tolist() == [4, 5]
    assert (net.predict(ROWS) == LABEL + 4).mean() > 0.95
    assert net.predict_proba(ROWS).sum(axis=1) == pytest.approx(1.0)
    assert net.transform(ROWS).shape == (300, 16)


def test_networks_on_images_learn_where_the_light_is() -> None:
    images = 0.2 * RNG.random((120, 8, 8))
    label = RNG.integers(0, 2, 120)
    images[label == 1, :4, :4] += 0.7
    images = images.reshape(120, 64)
    larger = {**SMALL, "epochs": 8, "channels": [4], "hidden": [16]}
    small = actors.CNN(**larger, optimizer="adam", learning_rate=0.02, batch_size=20).fit(images, label)
    assert (small.predict(images) == label).mean() > 0.9
    assert (small.predict(images.reshape(120, 1, 8, 8)) == small.predict(images)).all()
    pytest.importorskip("transformers", reason="needs the extra [text]")
    residual = actors.ResNet(**{**RESNET, "epochs": 6}, batch_size=20, learning_rate=0.1).fit(images, label)
    assert (residual.predict(images) == label).mean() > 0.9


def test_the_digit_classifier_is_that_of_the_paper() -> None:
    net = actors.CNN(image=[3, 28, 28], epochs=1).fit(np.zeros((4, 3 * 28 * 28)), np.array([0, 1, 0, 1]))
    shapes = [tuple(value.shape) for name, value in net.module_.state_dict().items() if name.endswith("weight")]
    assert shapes == [(6, 3, 5, 5), (16, 6, 5, 5), (120, 256), (84, 120), (2, 84)]
    settings = net.get_params()
    assert [settings[name] for name in ("epochs", "batch_size", "learning_rate", "optimizer", "momentum")] == [
        1,
        256,
        0.1,
        "sgd",
        0.0,
    ]


@pytest.mark.parametrize("actor", ["MLP", "CNN", "ResNet", "Network", "VAE", "conditional", "images"])
def test_weights_alone_are_the_network_and_its_random_state_alone_decides(actor: str, nets: str) -> None:
    if actor == "ResNet":
        pytest.importorskip("transformers", reason="needs the extra [text]")
    kinds: dict[str, tuple[Any, dict[str, Any], bool]] = {
        "MLP": (actors.MLP, {"hidden": [4], "epochs": 2}, False),
        "CNN": (actors.CNN, SMALL, True),
        "ResNet": (actors.ResNet, RESNET, True),
        "Network": (actors.Network, {"module": f"{nets}.Linear", "epochs": 2}, False),
        "VAE": (actors.VAE, {"hidden": [4], "latent": 2, "epochs": 2}, False),
        "conditional": (actors.VAE, {"hidden": [4], "latent": 2, "epochs": 2, "conditional": True}, False),
        "images": (actors.VAE, {"image": IMAGE, "hidden": [2, 4], "latent": 2, "epochs": 2}, True),
    }
    kind, parameters, images = kinds[actor]
    features = IMAGES if images else ROWS[:40]

    def says(net: Any) -> bytes:
        if not hasattr(net, "sample"):
            return bytes(net.predict_proba(features).tobytes())
        found = net.sample(50, random_state=3)
        return b"".join(part.tobytes() for part in (found if isinstance(found, tuple) else (found,)))

    torch.manual_seed(1)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    one = kind(random_state=7, **parameters).fit(features, LABEL[:40])
    torch.manual_seed(2)
    again = kind(random_state=7, **parameters).fit(features, LABEL[:40])
    other = kind(random_state=8, **parameters).fit(features, LABEL[:40])
    torch.manual_seed(1)
    assert (torch.get_rng_state() == before).all()
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()
    assert says(one) == says(again)
    assert says(one) != says(other)
    taken = kind(random_state=9, **parameters).set_weights(again.get_weights())
    if hasattr(taken, "sample"):
        assert says(taken) == says(one)
    else:
        assert says(taken) == says(one)
        assert taken.classes_.tolist() == [0, 1]
    assert {type(value) for value in one.get_weights().values()} == {np.ndarray}


def test_batches_that_were_made_up_stay_together_and_come_in_a_new_order(nets: str) -> None:
    seen = __import__(nets).SEEN
    batches = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    features = np.arange(9.0)[:, None]
    net = actors.Network(module=f"{nets}.Linear", epochs=12, batch_size=5)
    net.fit(features, np.arange(9) % 2, batches=batches)
    wanted = [[0.0, 1.0, 2.0], [3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]
    epochs = [seen[at : at + 3] for at in range(0, 36, 3)]
    assert len(seen) == 36
    assert all(sorted(epoch) == wanted for epoch in epochs)
    assert len({tuple(map(tuple, epoch)) for epoch in epochs}) > 2
    seen.clear()
    net.fit(features, np.arange(9) % 2)
    epochs = [seen[at : at + 2] for at in range(0, 24, 2)]
    assert {tuple(len(batch) for batch in epoch) for epoch in epochs} == {(5, 4)}
    assert all(sorted(epoch[0] + epoch[1]) == list(range(9)) for epoch in epochs)
    assert len({tuple(epoch[0]) for epoch in epochs}) > 6


def test_people_without_weight_teach_nothing() -> None:
    label = (ROWS[:, 0] > 0).astype(np.int64)
    wrong = RNG.random(300) < 0.6
    told = np.where(wrong, 1 - label, label)
    net = actors.MLP(hidden=[8], epochs=30, learning_rate=0.01)
    assert (net.fit(ROWS, told, sample_weight=np.where(wrong, 0.0, 1.0)).predict(ROWS) == label).mean() > 0.9
    assert (net.fit(ROWS, told).predict(ROWS) == label).mean() < 0.5
    scores, told = torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0])
    found = modules.WeightedLoss()(scores, (told, torch.tensor([1.0, 3.0])))
    by_hand = (np.log1p(np.exp(-2.0)) + 3.0 * np.log1p(np.exp(1.0))) / 4.0
    assert float(found) == pytest.approx(by_hand)


def test_the_loss_of_an_autoencoder_is_the_bound_by_distributions() -> None:
    generator = torch.Generator().manual_seed(0)
    mean, log_variance = torch.randn(5, 3, generator=generator), torch.randn(5, 3, generator=generator)
    decoded, deviation = torch.randn(5, 4, generator=generator), torch.randn(4, generator=generator)
    features = torch.rand(5, 4, generator=generator)
    evidence = modules.Evidence(decoded, deviation, mean, log_variance)
    normal, kl = torch.distributions.Normal, torch.distributions.kl_divergence
    apart = kl(normal(mean, (0.5 * log_variance).exp()), normal(0.0, 1.0)).sum(dim=1)
    likely = normal(decoded, deviation.exp()).log_prob(features).sum(dim=1) + 2.0 * np.log(2.0 * np.pi)
    pixels = -torch.nn.functional.binary_cross_entropy(torch.sigmoid(decoded), features, reduction="none").sum(dim=1)
    for likelihood, log_likelihood in (("gaussian", likely), ("bernoulli", pixels)):
        found = modules.VariationalLoss(likelihood, beta=0.5)(evidence, features)
        assert float(found) == pytest.approx(float((0.5 * apart - log_likelihood).mean()), rel=1e-5)


def test_an_autoencoder_samples_what_it_has_seen() -> None:
    z = RNG.normal(size=1000)
    rows = np.column_stack([2.0 + z, -z + 0.1 * RNG.normal(size=1000), 0.5 * RNG.normal(size=1000), np.ones(1000)])
    net = actors.VAE(hidden=[32], latent=2, epochs=40, batch_size=100, learning_rate=0.005).fit(rows)
    found = net.sample(4000, random_state=1)
    assert found.mean(axis=0) == pytest.approx([2.0, 0.0, 0.0, 1.0], abs=0.15)
    assert found.std(axis=0) == pytest.approx([1.0, 1.0, 0.5, 0.0], abs=0.2)
    assert np.corrcoef(found[:, 0], found[:, 1])[0, 1] < -0.8
    assert abs(net.sample(50, random_state=1) - net.sample(50, random_state=2)).max() > 0.1


def test_a_conditional_autoencoder_gives_classes_in_their_shares_with_their_features() -> None:
    label = np.repeat([2, 5], [900, 300])
    rows = RNG.normal(size=(1200, 3)) * 0.3 + np.where(label == 5, 2.0, -1.0)[:, None]
    net = actors.VAE(hidden=[16], latent=2, epochs=20, batch_size=100, learning_rate=0.01, conditional=True)
    found, classes = net.fit(rows, label).sample(2000, random_state=0)
    assert (classes == 5).mean() == pytest.approx(0.25, abs=0.03)
    assert found[classes == 5].mean() == pytest.approx(2.0, abs=0.3)
    assert found[classes == 2].mean() == pytest.approx(-1.0, abs=0.3)
    with pytest.raises(ValueError, match="needs classes"):
        net.fit(rows)


def test_a_convolutional_autoencoder_makes_images_of_any_side_between_black_and_white() -> None:
    images = np.zeros((200, 2, 7, 9))
    images[:, 0, 3] = 1.0
    net = actors.VAE(image=[2, 7, 9], hidden=[4, 8], latent=2, epochs=30, batch_size=40, learning_rate=0.01)
    found = net.fit(images.reshape(200, 126)).sample(60)
    assert found.shape == (60, 126)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert found.mean(axis=0).reshape(2, 7, 9)[0, 3].min() > 0.8
    assert found.mean(axis=0).reshape(2, 7, 9)[1].max() < 0.2
    with pytest.raises(ValueError, match=r"set data\.white"):
        net.fit(255.0 * images)
    assert actors.VAE(image=[2, 7, 9], hidden=[2], epochs=1, likelihood="gaussian").fit(9.0 * images).sample(3).shape


def test_the_generator_of_digits_is_that_of_the_paper() -> None:
    net = actors.VAE(image=[3, 28, 28], epochs=1).fit(np.zeros((2, 3 * 28 * 28)))
    shapes = {tuple(one.shape) for one in net.module_.state_dict().values()}
    assert {(64, 3, 4, 4), (128, 64, 4, 4), (40, 128 * 7 * 7)} <= shapes
    assert (net.latent, net.learning_rate, net.optimizer) == (20, 1e-3, "adam")


@pytest.mark.parametrize("actor", ["MLP", "VAE"])
def test_a_loss_that_is_not_finite_stops_the_training(actor: str) -> None:
    with pytest.raises(NotFiniteError, match=r"the loss is (nan|inf)"):
        getattr(actors, actor)(learning_rate=1e30, epochs=20).fit(1e10 * ROWS, LABEL)


def test_memory_that_runs_out_is_said_as_python_says_it() -> None:
    with pytest.raises(MemoryError, match="tried to allocate"), training.out_of_memory():
        torch.empty(10**16)
    with pytest.raises(MemoryError, match="CUDA"), training.out_of_memory():
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
    with pytest.raises(RuntimeError, match="other"), training.out_of_memory():
        raise RuntimeError("other")


@pytest.mark.parametrize(
    ("actor", "parameters", "said"),
    [
        ("MLP", {"epochs": 0}, "MLP has epochs = 0"),
        ("MLP", {"hidden": []}, r"hidden = \[\]"),
        ("MLP", {"hidden": "64"}, "hidden = 64"),
        ("MLP", {"optimizer": "adamm"}, "optimizer"),
        ("MLP", {"momentum": 1.0}, "momentum = 1"),
        ("MLP", {"device": "gpu"}, "no device 'gpu'"),
        ("CNN", {}, "not said what they are"),
        ("CNN", {"image": [1, 8]}, r"image = \[1, 8\]"),
        ("CNN", {"image": IMAGE}, "too small for 2 convolutions of 5 x 5"),
        ("CNN", {**SMALL, "channels": [0]}, r"channels = \[0\]"),
        ("ResNet", {**RESNET, "configuration": {"depth": [1]}}, "no key 'depth'"),
        ("Network", {}, "names no module"),
        ("Network", {"module": "nowhere.Net"}, "cannot be imported"),
        ("VAE", {"latent": 0}, "latent = 0"),
        ("VAE", {"beta": -1.0}, "beta = -1"),
        ("VAE", {"likelihood": "normal"}, "likelihood = 'normal'"),
        ("VAE", {"hidden": [0]}, r"hidden = \[0\]"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_before_anything_is_trained(
    actor: str, parameters: dict[str, Any], said: str
) -> None:
    if actor == "ResNet":
        pytest.importorskip("transformers", reason="needs the extra [text]")
    with pytest.raises(UsageError, match=said):
        getattr(actors, actor)(**parameters).check()


def test_modules_of_the_user_that_do_not_fit_are_refused(nets: str) -> None:
    for parameters, said in (
        ({"module": f"{nets}.Linear", "parameters": {"wid": True}}, "cannot be made with these parameters"),
        ({"module": f"{nets}.nothing"}, "made a int"),
    ):
        with pytest.raises(UsageError, match=said):
            actors.Network(**parameters).fit(ROWS, LABEL)
    net = actors.Network(module=f"{nets}.Plain", epochs=1).fit(ROWS, LABEL)
    with pytest.raises(UsageError, match="no layer is known"):
        net.transform(ROWS)
    with pytest.raises(UsageError, match="rows of 6 features"):
        actors.VAE(image=IMAGE).fit(ROWS)
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        actors.MLP(epoch=3)


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    for lacking, extra in (("torch", "lab,torch"), ("skorch", "lab,torch"), ("safetensors", "lab,torch")):
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, lacking=lacking: None if name == lacking else real(name)
        )
        with pytest.raises(UsageError, match=f"need {lacking}, which is not installed") as caught:
            actors.MLP().check()
        assert f"polyculture[{extra}]" in caught.value.hint
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "transformers" else real(name))
    with pytest.raises(UsageError, match="needs transformers"):
        actors.ResNet(image=IMAGE).check()


def test_networks_are_named_and_checked_without_importing_torch() -> None:
    said = (
        "import sys; from polyculture.lab.loops.torch_actors import MLP; MLP().check(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_said() -> None:
    with pytest.raises(UsageError, match="finds no GPU") as caught:
        actors.MLP(device="cuda").check()
    assert "Leave device out" in caught.value.hint
