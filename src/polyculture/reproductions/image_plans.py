"""Plans of loops on images: the six arms of the paper, their actors by scale, and how large a run is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["ARMS", "DIGITS", "FACES", "MIXTURE", "NETWORKS", "SMALL", "SMALLER", "Extent", "plan_of", "star"]


def star(*of: str, budget: float = 0.25) -> list[dict[str, Any]]:
    """Return reparation of classifiers, generators or both."""
    return [{"kind": "STAR", "of": list(of), "budget": budget}]


ARMS: tuple[dict[str, Any], ...] = (
    {"setting": "SeqClass"},
    {"setting": "SeqClass", "intervention": star("classifier")},
    {"setting": "SeqGenSeqClass"},
    {"setting": "SeqGenSeqClass", "intervention": star("classifier"), "against": "SeqGenSeqClass"},
    {"setting": "SeqGenSeqClass", "intervention": star("generator"), "against": "SeqGenSeqClass"},
    {"setting": "SeqGenNonSeqClass"},
)
"""The paper's settings, and reparation of either kind."""


def mixture(components: int, normals: int) -> dict[str, Any]:
    """Return a small generator of images: principal components, and a mixture of normal distributions on them."""
    return {
        "steps": [
            {
                "estimator": "sklearn.decomposition.PCA",
                "parameters": {"n_components": components, "svd_solver": "randomized"},
            },
            {
                "estimator": "sklearn.mixture.GaussianMixture",
                "parameters": {"n_components": normals, "reg_covar": 0.001},
            },
        ]
    }


MIXTURE = mixture(40, 20)
PERCEPTRON = {
    "estimator": "sklearn.neural_network.MLPClassifier",
    "parameters": {"hidden_layer_sizes": [64], "learning_rate_init": 0.003, "tol": 0.01, "n_iter_no_change": 3},
}
"""A small network that stops when its loss no longer falls by .01."""
SMALL: dict[str, Any] = {"generator": MIXTURE, "classifier": [PERCEPTRON]}
"""Actors of the quick scale: seconds a generation."""
SMALLER: dict[str, Any] = {"generator": mixture(30, 10), "classifier": [PERCEPTRON]}
"""The same with fewer normal distributions, where there are many generations."""


def _networks(vae: dict[str, Any], classifier: str, settings: dict[str, Any], batch: int) -> dict[str, Any]:
    """Return a variational autoencoder and a classifier; reparation works on each of their batches."""
    actors = "polyculture.lab.loops.torch_actors"
    return {
        "generator": {"estimator": f"{actors}.VAE", "parameters": vae},
        "classifier": [{"estimator": f"{actors}.{classifier}", "parameters": settings}],
        "batch": batch,
        "weights": "last",
    }


NETWORKS = _networks(
    {"hidden": [16, 32], "latent": 20, "epochs": 24, "learning_rate": 0.003, "schedule": "cosine"},
    "CNN",
    {"kernel": 3, "padding": 1, "epochs": 6, "optimizer": "adam", "learning_rate": 0.003},
    64,
)
"""Actors of the laptop scale: networks of the paper's kind, smaller and trained for less long.

Convolutions are narrow and batches small, since an autoencoder needs steps: after few it gives one digit or two.
"""
DIGITS = _networks({}, "CNN", {}, 256)
"""The paper's models of digits, which are the defaults: 64-128 convolutions, 20 latent dimensions, Adam with rate .001;
6-16 convolutions and 120-84 units, SGD with rate .1; 30 epochs of batches of 256."""
FACES = _networks({"hidden": [32, 64, 128, 256], "latent": 128}, "ResNet", {}, 256)
"""Residual networks as classifiers of faces, as the paper has; its autoencoder of faces is not known to us."""


@dataclass(frozen=True)
class Extent:
    """How large a loop on images is.

    Attributes
    ----------
    generations, seeds : int
        Of each of the six arms.
    images : dict
        Parameters of the loader: how many, how large.
    models : dict
        Generator and classifiers.
    more : dict
        Further keys of the plan.
    """

    generations: int
    seeds: int
    images: dict[str, Any]
    models: dict[str, Any] = field(default_factory=lambda: SMALL)
    more: dict[str, Any] = field(default_factory=dict)


def plan_of(name: str, extent: Extent, data: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the plan of a loop on images.

    Parameters
    ----------
    name : str
        Of the experiment.
    extent : Extent
        How large it is.
    data : dict
        What the data set adds: ``data`` with source, parameters and groups, ``label``, ``favourable``.
    seed : int
        Of all draws.
    """
    own = data["data"]
    return {
        "name": name,
        "generations": extent.generations,
        "seeds": extent.seeds,
        "split": "fixed",
        "keep": 12,
        "seed": seed,
        "endpoints": ["accuracy", "equalized_odds_difference", "divergence"],
        "arm": list(ARMS),
        **extent.models,
        **extent.more,
        **{key: value for key, value in data.items() if key != "data"},
        "data": {
            **own,
            "image": [extent.images.get("channels", 3), extent.images["side"], extent.images["side"]],
            "parameters": {**own.get("parameters", {}), **extent.images},
        },
    }
