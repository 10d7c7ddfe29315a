"""Actors of a loop that are networks of PyTorch, trained through skorch: `CNN`, `MLP`, `ResNet`, `Network`, `VAE`.

A plan names them by import path, as estimators of scikit-learn. What the plan says of images, batches and the device
they take from it, where their parameters do not say otherwise. The modules stand in ``modules``, their training in
``torch_training``; torch is imported where something is trained.
"""

from __future__ import annotations

from polyculture.lab.loops.torch_classifiers import CNN, MLP, Network, ResNet
from polyculture.lab.loops.torch_generators import VAE

__all__ = ["CNN", "MLP", "VAE", "Network", "ResNet"]
