"""Settings of training a network, and what stops it: the words of a plan's ``parameters``, checked. No torch here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from polyculture.errors import UsageError, nearest
from polyculture.lab.levels import Method

__all__ = ["NotFiniteError", "Training", "rates", "training_of"]

_RATES: dict[Method, float] = {"scratch": 5e-4, "probe": 1e-2, "finetune": 1e-4, "bitfit": 1e-3, "lora": 1e-3}
_HEAD_RATE = 2e-3


class NotFiniteError(ArithmeticError):
    """The loss of a batch, or a prediction, is not a number or infinite."""


class Training(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of training.

    Attributes
    ----------
    epochs, batch_size : int
        Passes over the training rows, and rows in one step.
    learning_rate : float, optional
        Default by the way to adapt.
    head_learning_rate : float, optional
        Of the linear classifier on top; default the larger of ``learning_rate`` and 0.002.
    weight_decay : float
        Of the optimizer; of AdamW apart from the loss.
    optimizer : {"adamw", "adam", "sgd"}
        What takes the steps.
    momentum : float
        Of SGD.
    schedule : {"cosine", "constant"}
        What becomes of the learning rate.
    rank : int
        Of the matrices of LoRA; they are scaled by 2.
    """

    epochs: int = 10
    batch_size: int = 32
    learning_rate: float | None = None
    head_learning_rate: float | None = None
    weight_decay: float = 0.01
    optimizer: Literal["adamw", "adam", "sgd"] = "adamw"
    momentum: float = 0.9
    schedule: Literal["cosine", "constant"] = "cosine"
    rank: int = 8


def training_of(parameters: Mapping[str, Any], where: str) -> Training:
    """Return settings from a table of the plan.

    Raises
    ------
    UsageError
        If a key is unknown (the message names the nearest), or a value no setting.

    Examples
    --------
    >>> training_of({"epochs": 3}, "Learner 'probe'").epochs
    3
    """
    known = Training.__struct_fields__
    for key in parameters:
        if key not in known:
            hint = nearest(key, known) or f"The settings are: {', '.join(known)}."
            raise UsageError(f"{where} has no setting {key!r}.", hint=hint)
    try:
        found = msgspec.convert(dict(parameters), Training, strict=True)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}.", hint="Mend that setting.") from None
    for name in ("epochs", "batch_size", "rank"):
        if getattr(found, name) < 1:
            raise UsageError(f"{where} has {name} = {getattr(found, name)}.", hint="Give 1 or more.")
    for name in ("learning_rate", "head_learning_rate"):
        value = getattr(found, name)
        if value is not None and not value > 0.0:
            raise UsageError(f"{where} has {name} = {value:g}.", hint="Give a number above 0.")
    if not 0.0 <= found.momentum < 1.0:
        raise UsageError(f"{where} has momentum = {found.momentum:g}.", hint="Give 0 or more, below 1.")
    return found


def rates(method: Method, training: Training) -> tuple[float, float]:
    """Return the learning rates of the backbone and of the classifier on top.

    >>> rates("finetune", Training()), rates("probe", Training(learning_rate=0.1))
    ((0.0001, 0.002), (0.1, 0.1))
    """
    own = _RATES[method] if training.learning_rate is None else training.learning_rate
    return own, max(own, _HEAD_RATE) if training.head_learning_rate is None else training.head_learning_rate
