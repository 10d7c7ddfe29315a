"""Networks: an encoder with a linear classifier on top, which of their parameters train, and training by skorch.

Imports torch at its top, and is imported where something is trained. How an encoder is made stands in ``encoders``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from polyculture.lab.training import NotFiniteError, rates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.levels import Method
    from polyculture.lab.training import Training

__all__ = [
    "Classifier",
    "Inputs",
    "deterministic",
    "features",
    "fit",
    "learn_words",
    "net_settings",
    "predict",
    "prepared",
]

Inputs = dict[str, "NDArray[Any]"]
"""What an encoder takes, a row an individual, by the names of its arguments."""

_LEFT_OUT = 0.15
_BATCH = 64  # of inference: always the same, since other batches may differ in the last bits


@contextmanager
def deterministic(seed: int, device: str = "cpu") -> Iterator[None]:
    """Run a block with one thread, deterministic algorithms and a random state of its own; then all is as before."""
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    if device != "cpu":  # cuBLAS reads it when it is first used, and is not deterministic without
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng(devices=[] if device == "cpu" else [torch.device(device)]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)


class Classifier(nn.Module):  # type: ignore[misc] # torch is an extra, and may be untyped
    """An encoder and a linear classifier on its features; without an encoder, on the features themselves.

    Parameters
    ----------
    encoder : torch.nn.Module or None
        Inputs to features, (n, D).
    width : int
        D.
    classes : int
        Number of classes.
    frozen : bool
        Whether statistics that the encoder keeps of its batches stay as they are.
    """

    def __init__(self, encoder: nn.Module | None, width: int, classes: int, *, frozen: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(width, classes)
        self.frozen = frozen

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Return a score a class, (n, classes)."""
        found = inputs["features"] if self.encoder is None else self.encoder(**inputs)
        scores: torch.Tensor = self.head(found)
        return scores

    def train(self, mode: bool = True) -> Classifier:
        """Set the mode; frozen statistics stay frozen."""
        super().train(mode)
        if self.frozen:
            for module in self.modules():
                if getattr(module, "track_running_stats", False):
                    module.eval()
        return self


def prepared(encoder: nn.Module, width: int, classes: int, method: Method, training: Training) -> Classifier:
    """Return the classifier of a way to adapt: the parameters that it trains require a gradient, the others do not.

    Notes
    -----
    bitfit: parameters called bias, and the head (Ben Zaken and others, BitFit, 2022). lora: matrices of low rank beside
    every linear layer of the encoder, or every convolution where it has none (Hu and others, LoRA, 2022), and the head.
    scratch and finetune: all.
    """
    encoder.requires_grad_(method in {"scratch", "finetune"})
    if method == "bitfit":
        for name, parameter in encoder.named_parameters():
            parameter.requires_grad_(name.rpartition(".")[2] == "bias")
    elif method == "lora":
        from peft import LoraConfig, inject_adapter_in_model

        kinds: list[Any] = [nn.Linear, nn.Conv2d]
        found = [[name for name, module in encoder.named_modules() if isinstance(module, kind)] for kind in kinds]
        settings = LoraConfig(
            r=training.rank, lora_alpha=2 * training.rank, lora_dropout=0.0, target_modules=found[0] or found[1]
        )
        inject_adapter_in_model(settings, encoder)
        for name, parameter in encoder.named_parameters():
            parameter.requires_grad_("lora_" in name)
    return Classifier(encoder, width, classes, frozen=method in {"bitfit", "lora"})


def fit(classifier: Classifier, inputs: Inputs, label: NDArray[np.int64], method: Method, training: Training) -> Any:
    """Train a classifier by skorch and return the fitted net.

    Parameters
    ----------
    classifier : Classifier
        As `prepared` returns it.
    inputs : dict of ndarray
        A row an individual.
    label : ndarray of int, shape (n,)
        0 to classes - 1.
    method : str
        How it is adapted.
    training : Training
        Settings.

    Raises
    ------
    NotFiniteError
        If the loss of a batch is not finite.
    """
    from skorch import NeuralNetClassifier

    own, head = rates(method, training)
    settings = {**net_settings(len(label), own, training), "optimizer__param_groups": [("head.*", {"lr": head})]}
    net = NeuralNetClassifier(classifier, criterion=nn.CrossEntropyLoss, **settings)
    net.set_params(callbacks__print_log=None)
    net.fit(inputs, np.ascontiguousarray(label))
    return net


def learn_words(encoder: nn.Module, inputs: Inputs, width: int, training: Training) -> None:
    """Train an encoder of texts to tell words that are left out, as BERT was (Devlin and others, 2019).

    Raises
    ------
    NotFiniteError
        If the loss of a batch is not finite.
    """
    from skorch import NeuralNet

    rows = len(inputs["input_ids"])
    settings = net_settings(rows, rates("scratch", training)[0], training)
    net = NeuralNet(Masked(encoder, width), criterion=OfPairs, **settings)
    net.set_params(callbacks__print_log=None)
    net.fit(inputs, np.zeros(rows, dtype=np.int64))


class Masked(nn.Module):  # type: ignore[misc]
    """An encoder of texts that tells words left out: each token with probability .15, at least one in a batch."""

    def __init__(self, encoder: nn.Module, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.vocabulary = int(encoder.model.config.vocab_size)
        self.words = nn.Linear(width, self.vocabulary)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores of the words left out, (m, vocabulary), and which they are, (m,)."""
        longest = int(attention_mask.sum(dim=1).max())
        numbers, there = input_ids[:, :longest], attention_mask[:, :longest]
        left_out = (torch.rand(numbers.shape) < _LEFT_OUT) & there.bool()
        left_out[0, 0] = True
        hidden = self.encoder.model(
            input_ids=numbers.masked_fill(left_out, self.vocabulary - 1), attention_mask=there
        ).last_hidden_state
        return self.words(hidden[left_out]), numbers[left_out]


class OfPairs(nn.Module):  # type: ignore[misc]
    """Cross-entropy of scores and what they should be, which come in one pair."""

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor], _: torch.Tensor) -> torch.Tensor:
        """Return the mean loss."""
        loss: torch.Tensor = nn.functional.cross_entropy(*pair)
        return loss


_OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}


def net_settings(rows: int, rate: float, training: Training) -> dict[str, Any]:
    """Return the arguments of a net of skorch that is trained on so many rows; it stops where a loss is not finite."""
    from skorch.callbacks import Callback, LRScheduler

    class Finite(Callback):  # type: ignore[misc]
        """Stops a training whose loss is not finite."""

        def on_batch_end(self, net: Any, training: bool = True, loss: Any = None, **_: Any) -> None:
            if training and loss is not None and not bool(torch.isfinite(loss)):
                raise NotFiniteError(f"the loss is {loss.item()} in epoch {len(net.history)}")

    callbacks: list[Any] = [("finite", Finite())]
    if training.schedule == "cosine":
        steps = training.epochs * -(-rows // training.batch_size)
        schedule = LRScheduler(
            policy=torch.optim.lr_scheduler.CosineAnnealingLR, T_max=steps, step_every="batch", event_name=None
        )
        callbacks.append(("schedule", schedule))
    return {
        "optimizer": _OPTIMIZERS[training.optimizer],
        "optimizer__weight_decay": training.weight_decay,
        "lr": rate,
        "max_epochs": training.epochs,
        "batch_size": training.batch_size,
        "iterator_train__shuffle": True,
        "iterator_valid__batch_size": _BATCH,
        "train_split": None,
        "callbacks": callbacks,
        "verbose": 0,
        **({"optimizer__momentum": training.momentum} if training.optimizer == "sgd" else {}),
    }


def predict(net: Any, inputs: Inputs) -> NDArray[np.int64]:
    """Return the most probable class of each individual, (n,).

    Raises
    ------
    NotFiniteError
        If a probability is not finite.
    """
    probability = net.predict_proba(inputs)
    if not np.isfinite(probability).all():
        raise NotFiniteError("the network's predictions are not numbers")
    return np.asarray(probability.argmax(axis=1), dtype=np.int64)


def features(encoder: nn.Module, inputs: Inputs) -> NDArray[np.float32]:
    """Return what an encoder makes of each individual, (n, D); it is not changed."""
    encoder.eval()
    size = len(next(iter(inputs.values())))
    with torch.inference_mode():
        parts = [
            encoder(**{name: torch.from_numpy(values[at : at + _BATCH]) for name, values in inputs.items()}).numpy()
            for at in range(0, size, _BATCH)
        ]
    return np.concatenate(parts)
