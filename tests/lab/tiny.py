"""Tiny backbones and plans over made texts and the small digits of scikit-learn."""

from __future__ import annotations

from typing import Any

from polyculture.lab.plan import Backbone, Plan
from polyculture.lab.planfile import plan_from

VIT = {
    "model_type": "vit",
    "patch_size": 4,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}
RESNET = {"model_type": "resnet", "embedding_size": 4, "hidden_sizes": [4, 8], "depths": [1, 1], "layer_type": "basic"}
BERT = {
    "model_type": "bert",
    "vocab_size": 97,
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "max_position_embeddings": 16,
}
DIGITS = "polyculture.reproductions.images:digits"
MADE = "polyculture.reproductions.texts:made"


def images(**changed: Any) -> dict[str, Any]:
    """Return the table of a plan on 60 images, probed by two tasks."""
    return {
        "data": {
            "source": DIGITS,
            "parameters": {"individuals": 60},
            "image": [1, 8, 8],
            "white": 16.0,
            "groups": ["digit"],
        },
        "task": [{"name": "odd", "label": "digit in [5, 7, 9]"}, {"name": "large", "label": "digit >= 8"}],
        "backbone": [{"name": "vit", "configuration": VIT}],
        "learner": [{"adapt": "probe", "parameters": {"epochs": 2}}],
        "share": {"rows": ["fixed"]},
        "blocks": [1],
        "model_seeds": 1,
        "partition_seeds": 1,
        "chunk": 1,
        **changed,
    }


def texts(**changed: Any) -> dict[str, Any]:
    """Return the table of a plan on 60 made texts."""
    data = {"source": MADE, "parameters": {"individuals": 60}, "text": "text", "id": "id", "groups": ["length"]}
    return images(
        **{
            "data": data,
            "task": [{"name": name, "label": name} for name in ("polarity", "source")],
            "backbone": [{"name": "bert", "configuration": BERT, "max_length": 16}],
            **changed,
        }
    )


def plan(**changed: Any) -> Plan:
    """Return the plan of `images`."""
    return plan_from(images(**changed))


def backbone(configuration: dict[str, Any]) -> Backbone:
    """Return a backbone with random weights."""
    return Backbone(name="tiny", configuration=configuration)
