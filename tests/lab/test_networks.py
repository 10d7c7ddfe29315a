"""Which parameters each way to adapt moves, and that training depends on its random state alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
import tiny

from polyculture.lab import encoders
from polyculture.lab.levels import Method
from polyculture.lab.plan import Data
from polyculture.lab.training import NotFiniteError, Training

torch = pytest.importorskip("torch", reason="needs the extra [torch]")
networks = pytest.importorskip("polyculture.lab.networks")

IMAGE = Data(source="x", image=(1, 8, 8), white=1.0)
TRAINING = Training(epochs=2, batch_size=8, learning_rate=0.05)
Weights = dict[str, Any]


def inputs(rows: int = 16) -> dict[str, Any]:
    return encoders.image_inputs(np.random.default_rng(0).random((rows, 64)), IMAGE)


@pytest.fixture
def trained() -> Callable[..., tuple[Weights, Weights, Any]]:
    """Return all weights of a classifier before and after it is trained, and the fitted net."""

    def run(method: Method, configuration: dict[str, Any], training: Training = TRAINING) -> Any:
        with networks.deterministic(1):
            encoder = encoders.encoder(tiny.backbone(configuration), IMAGE)
            classifier = networks.prepared(encoder, encoders.width(encoder, inputs()), 2, method, training)
            before = {name: value.clone() for name, value in classifier.state_dict().items()}
            net = networks.fit(classifier, inputs(), np.arange(16) % 2, method, training)
        return before, net.module_.state_dict(), net

    return run


def moved(before: Weights, after: Weights) -> set[str]:
    assert before.keys() == after.keys()
    return {name for name in before if not torch.equal(before[name], after[name])}


HEAD = {"head.weight", "head.bias"}


def test_bitfit_moves_biases_and_the_head_and_nothing_else(trained: Callable[..., Any]) -> None:
    before, after, _ = trained("bitfit", tiny.VIT)
    biases = {name for name in before if name.endswith(".bias")}
    assert len(biases) > 8
    # A bias of the keys moves no attention: softmax takes it out, up to rounding.
    keys = {name for name in biases if ".key." in name or ".k_proj." in name}
    assert biases - keys <= moved(before, after) <= biases | HEAD
    assert moved(before, after) >= HEAD


def test_lora_moves_its_matrices_and_the_head_and_nothing_else(trained: Callable[..., Any]) -> None:
    before, after, _ = trained("lora", tiny.VIT)
    added = {name for name in before if "lora_" in name}
    layers = {name for name in before if name.endswith("base_layer.weight")}
    assert len(added) == 2 * len(layers) == 2 * 6
    found = moved(before, after)
    assert HEAD <= found <= added | HEAD
    assert {name for name in added if "lora_B" in name} <= found
    assert all(value.shape[0] == 8 for name, value in before.items() if "lora_A" in name)


@pytest.mark.parametrize("method", ["finetune", "scratch"])
def test_all_weights_are_trained_on(trained: Callable[..., Any], method: Method) -> None:
    before, after, _ = trained(method, tiny.VIT)
    still = {name for name in before if name not in moved(before, after)}
    assert all("mask_token" in name for name in still), still


def test_frozen_statistics_of_batches_stay(trained: Callable[..., Any]) -> None:
    for method in ("bitfit", "lora"):
        before, after, _ = trained(method, tiny.RESNET)
        found = moved(before, after)
        assert not {name for name in found if "running_" in name or "num_batches" in name}
        assert found - HEAD
    before, after, _ = trained("finetune", tiny.RESNET)
    assert {name for name in moved(before, after) if "running_mean" in name}


def test_convolutions_take_lora_where_nothing_is_linear(trained: Callable[..., Any]) -> None:
    before, after, _ = trained("lora", tiny.RESNET)
    assert all("lora_" in name or name in HEAD for name in moved(before, after))
    assert any("lora_" in name for name in moved(before, after))


@pytest.mark.parametrize("method", [method for method in get_args(Method) if method != "probe"])
def test_the_same_random_state_gives_the_same_weights(trained: Callable[..., Any], method: Method) -> None:
    torch.manual_seed(5)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    _, first, net = trained(method, tiny.VIT)
    _, second, _ = trained(method, tiny.VIT)
    assert not moved(first, second)
    assert torch.equal(torch.random.get_rng_state(), state), "the caller's random state was used"
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()
    assert networks.predict(net, inputs()).shape == (16,)


def test_a_head_alone_learns_what_is_linear() -> None:
    features = np.random.default_rng(1).standard_normal((200, 3)).astype(np.float32)
    label = (features[:, 0] > 0).astype(np.int64)
    with networks.deterministic(0):
        net = networks.fit(
            networks.Classifier(None, 3, 2, frozen=True),
            {"features": features},
            label,
            "probe",
            Training(epochs=20, learning_rate=0.05),
        )
    assert (networks.predict(net, {"features": features}) == label).mean() > 0.95


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("schedule", ["cosine", "constant"])
def test_rates_of_backbone_and_head(optimizer: Any, schedule: Any) -> None:
    """The schedule ends at 0 or stays; the head has a rate of its own."""
    training = Training(
        epochs=2, batch_size=8, learning_rate=1e-3, head_learning_rate=1e-2, optimizer=optimizer, schedule=schedule
    )
    with networks.deterministic(1):
        encoder = encoders.encoder(tiny.backbone(tiny.VIT), IMAGE)
        classifier = networks.prepared(encoder, 8, 2, "finetune", training)
        net = networks.fit(classifier, inputs(), np.arange(16) % 2, "finetune", training)
    assert type(net.optimizer_).__name__ == {"adamw": "AdamW", "sgd": "SGD"}[optimizer]
    head, rest = (group["lr"] for group in net.optimizer_.param_groups)
    assert (head, rest) == pytest.approx((0.0, 0.0) if schedule == "cosine" else (1e-2, 1e-3), abs=1e-12)


def test_words_are_left_out_and_weights_move() -> None:
    data = Data(source="x", text="text")
    inputs = encoders._hashed_words([" ".join([word] * 6) for word in "abcdefgh"] * 8, 97, 6)
    with networks.deterministic(0):
        encoder = encoders.encoder(tiny.backbone({**tiny.BERT, "hidden_size": 16}), data)
        before = {name: value.clone() for name, value in encoder.state_dict().items()}
        networks.learn_words(encoder, inputs, 16, Training(epochs=1, learning_rate=0.0001))
        assert moved(before, encoder.state_dict())
        masked = networks.Masked(encoder, 16)
        scores, words = masked(**{name: torch.from_numpy(value) for name, value in inputs.items()})
    assert scores.shape == (len(words), 97)
    assert 0.05 < len(words) / inputs["input_ids"].size < 0.3
    assert set(words.tolist()) <= set(inputs["input_ids"].ravel().tolist())
    assert 96 not in words.tolist(), "the last of the vocabulary stands for a word left out"


def test_a_loss_that_is_no_number_stops_the_training(trained: Callable[..., Any]) -> None:
    with pytest.raises(NotFiniteError, match=r"the loss is (nan|inf) in epoch \d"):
        trained("finetune", tiny.VIT, Training(epochs=6, batch_size=8, learning_rate=1e20, optimizer="sgd"))


def test_predictions_that_are_no_numbers_are_refused(trained: Callable[..., Any]) -> None:
    _, _, net = trained("finetune", tiny.VIT)
    with torch.no_grad():
        net.module_.head.weight.fill_(float("nan"))
    with pytest.raises(NotFiniteError, match="predictions"):
        networks.predict(net, inputs())
