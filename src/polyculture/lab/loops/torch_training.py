"""How networks of a loop are trained, by skorch, and what they say afterwards: arrays in, arrays out.

Imports torch at its top, and is imported where something is trained. Batches are slices of whole arrays, in a random
order or as reparation made them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from polyculture.lab.loops.modules import Autoencoder, VariationalLoss, WeightedLoss
from polyculture.lab.networks import net_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.loops.rows import Floats, Ints
    from polyculture.lab.training import Training

__all__ = ["Batches", "arrays_of", "autoencoded", "generated", "in_parts", "out_of_memory", "put_arrays", "taught"]

_PART = 512  # rows at once after training: always the same, since other parts may differ in the last bits


class Batches:
    """What skorch goes through in an epoch: batches of arrays, drawn anew, or made up before and in a new order.

    Parameters
    ----------
    dataset : skorch.dataset.Dataset
        Its X and y are tensors, or several by name or in a tuple.
    batch_size : int
        Rows of a batch that is drawn.
    made_up : list of Tensor, optional
        Which rows are in each batch, instead.
    """

    def __init__(self, dataset: Any, batch_size: int, made_up: list[torch.Tensor] | None = None) -> None:
        self.inputs, self.told, self.rows = dataset.X, dataset.y, len(dataset)
        self.batch_size, self.made_up = batch_size, made_up

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        if self.made_up is None:
            parts = torch.randperm(self.rows).split(self.batch_size)
        else:
            parts = tuple(self.made_up[place] for place in torch.randperm(len(self.made_up)).tolist())
        for part in parts:
            yield _rows(self.inputs, part), _rows(self.told, part)


def _rows(values: Any, part: torch.Tensor) -> Any:
    if isinstance(values, dict):
        return {name: value[part] for name, value in values.items()}
    if isinstance(values, tuple):
        return tuple(value[part] for value in values)
    return values[part]


def _made_up(batches: Ints | None) -> list[torch.Tensor] | None:
    if batches is None:
        return None
    order = np.argsort(batches, kind="stable")
    cuts = np.flatnonzero(np.diff(batches[order])) + 1
    return [torch.from_numpy(part) for part in np.split(order, cuts)]


def taught(  # noqa: PLR0917 (what a training is made of)
    module: nn.Module,
    inputs: dict[str, NDArray[np.float32]],
    label: Ints,
    weight: Floats | None,
    batches: Ints | None,
    training: Training,
    rate: float,
    device: str,
) -> None:
    """Train a classifier: inputs as keywords to scores, (n, K).

    Parameters
    ----------
    module : torch.nn.Module
        It is changed.
    inputs : dict of ndarray
        A row an individual.
    label : ndarray of int, shape (n,)
        0 to K - 1.
    weight : ndarray, shape (n,), optional
        How much each counts.
    batches : ndarray of int, shape (n,), optional
        The batch that each is in, instead of one that is drawn.
    training : Training
        Settings.
    rate : float
        Learning rate.
    device : str
        Where.

    Raises
    ------
    NotFiniteError
        If the loss of a batch is not finite.
    MemoryError
        If the device has no memory left.
    """
    many = torch.ones(len(label)) if weight is None else torch.from_numpy(weight.astype(np.float32))
    told = (torch.from_numpy(np.ascontiguousarray(label, dtype=np.int64)), many)
    tensors = {name: torch.from_numpy(value) for name, value in inputs.items()}
    _fit(module, WeightedLoss, {}, (tensors, told), batches, training, rate, device)


def autoencoded(  # noqa: PLR0917
    module: Autoencoder,
    features: NDArray[np.float32],
    condition: Ints | None,
    loss: dict[str, Any],
    batches: Ints | None,
    training: Training,
    rate: float,
    device: str,
) -> None:
    """Train a variational autoencoder; ``loss`` holds the parameters of its loss, the rest is as in `taught`."""
    tensors = {"features": torch.from_numpy(features)}
    told = tensors["features"]
    if condition is not None:
        tensors["condition"] = torch.from_numpy(np.ascontiguousarray(condition, dtype=np.int64))
    _fit(module, VariationalLoss, loss, (tensors, told), batches, training, rate, device)


def _fit(  # noqa: PLR0917
    module: nn.Module,
    criterion: type[nn.Module],
    parameters: dict[str, Any],
    data: tuple[dict[str, torch.Tensor], Any],
    batches: Ints | None,
    training: Training,
    rate: float,
    device: str,
) -> None:
    from skorch import NeuralNet

    rows = len(next(iter(data[0].values())))
    settings = net_settings(rows, rate, training)
    settings = {name: value for name, value in settings.items() if not name.startswith("iterator_")}
    net = NeuralNet(
        module,
        criterion=criterion,
        device=device,
        iterator_train=Batches,
        iterator_train__made_up=_made_up(batches),
        **{f"criterion__{name}": value for name, value in parameters.items()},
        **settings,
    )
    net.set_params(callbacks__print_log=None)
    with out_of_memory():
        net.fit(*data)
    module.eval()


@contextmanager
def out_of_memory() -> Iterator[None]:
    """Say as Python does that memory ran out, which torch says in an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError) or "tried to allocate" in str(error):
            raise MemoryError(str(error).splitlines()[0]) from error
        raise


def in_parts(
    function: Callable[..., torch.Tensor], inputs: dict[str, NDArray[Any]], device: str
) -> NDArray[np.float32]:
    """Return what a function makes of rows, a part of them at a time, without gradients."""
    size = len(next(iter(inputs.values())))
    with out_of_memory(), torch.inference_mode():
        parts = [
            function(**{name: torch.from_numpy(one[at : at + _PART]).to(device) for name, one in inputs.items()})
            .cpu()
            .numpy()
            for at in range(0, size, _PART)
        ]
    return np.concatenate(parts)


def generated(module: Autoencoder, number: int, condition: Ints | None, likelihood: str, device: str) -> Floats:
    """Return so many individuals' features: z from N(0, 1), decoded; with their deviation where they are normal.

    Pixels of a Bernoulli likelihood are given as their probabilities, as is usual, and not drawn.
    """
    z = torch.randn(number, module.latent).numpy()
    inputs: dict[str, NDArray[Any]] = {"z": z}
    if condition is not None:
        inputs["condition"] = condition
    noise = torch.randn(number, *module.shape).numpy() if likelihood == "gaussian" else None
    found = in_parts(module.decode, inputs, device)
    if noise is None:
        return np.asarray(1.0 / (1.0 + np.exp(-found.astype(np.float64))))
    deviation = module.deviation().detach().exp().cpu().numpy()
    return np.asarray(found + deviation * noise, dtype=np.float64)


def arrays_of(module: nn.Module) -> dict[str, NDArray[Any]]:
    """Return all weights and buffers of a module, by name."""
    return {name: value.detach().cpu().numpy().copy() for name, value in module.state_dict().items()}


def put_arrays(module: nn.Module, arrays: dict[str, NDArray[Any]], device: str) -> None:
    """Put weights and buffers into a module, bring it to its device, and end its training."""
    module.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in arrays.items()})
    module.to(device).eval()
