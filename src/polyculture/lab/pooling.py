"""Encoders around models: one row of features an individual. Imports torch, and is imported where it is used."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

__all__ = ["Pooled", "Positional"]


class Pooled(nn.Module):  # type: ignore[misc] # torch is an extra, and may be untyped
    """A transformers model and the mean of its last hidden state: over the tokens of a text, or the places of an image.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        Any with a last hidden state, (n, places, D) or (n, D, height, width).
    text : bool
        Whether it reads texts.
    """

    def __init__(self, model: Any, *, text: bool) -> None:
        super().__init__()
        self.model = model
        self.text = text
        pooler = getattr(model, "pooler", None)
        if isinstance(pooler, nn.Module) and next(pooler.parameters(), None) is not None:
            model.pooler = None  # its weights would stay without a gradient

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Return features, (n, D)."""
        if not self.text:
            hidden: torch.Tensor = self.model(**inputs).last_hidden_state
            return hidden.mean(dim=1) if hidden.ndim == 3 else hidden.mean(dim=(2, 3))
        mask = inputs["attention_mask"]
        longest = int(mask.sum(dim=1).max())
        mask = mask[:, :longest]  # tokens stand at the beginning: what no text of the batch fills is not computed
        hidden = self.model(input_ids=inputs["input_ids"][:, :longest], attention_mask=mask).last_hidden_state
        weight = mask.unsqueeze(-1).to(hidden.dtype)
        pooled: torch.Tensor = (hidden * weight).sum(dim=1) / weight.sum(dim=1)
        return pooled


class Positional(nn.Module):  # type: ignore[misc]
    """A module of the user's: a single input is its first argument, several are keywords."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Return features, (n, D)."""
        found: torch.Tensor = self.module(*inputs.values()) if len(inputs) == 1 else self.module(**inputs)
        return found
