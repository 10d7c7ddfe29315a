"""Encoders: a backbone of the plan as a torch module from inputs to features, and what it reads as arrays.

Weights come from a folder, a configuration (then they are random), a function of the user's, or, named as such, the
Hugging Face hub. Nothing else is fetched, and nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from polyculture.errors import FileError, UsageError, nearest
from polyculture.lab.components import import_path

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from polyculture.lab.networks import Inputs
    from polyculture.lab.plan import Backbone, Data, Plan

__all__ = ["encoder", "image_inputs", "need_torch", "state_hash", "text_inputs", "width"]

_PACKAGES = {
    "torch": "torch",
    "skorch": "torch",
    "safetensors": "torch",
    "transformers": "text",
    "peft": "text",
}
"""Library -> the extra that installs it."""


def need_torch(plan: Plan) -> None:
    """Refuse to go on without what the plan's backbones and ways to adapt need.

    Raises
    ------
    UsageError
        The message says how to install it.
    """
    from importlib.util import find_spec

    wanted = ["torch", "skorch", "safetensors"]
    if any(not one.module for one in plan.backbones):
        wanted.append("transformers")
    if any(learner.adapt == "lora" for learner in plan.learners):
        wanted.append("peft")
    for library in wanted:
        if find_spec(library) is None:
            extra = "torch,text" if _PACKAGES[library] == "text" else "torch"
            raise UsageError(
                f"Pretrained models need {library}, which is not installed.",
                hint=f"Install it: pip install 'polyculture[lab,{extra}]'",
            )


def encoder(backbone: Backbone, data: Data, *, fresh: bool = False) -> Any:
    """Return a backbone as a torch module: its inputs as keywords to features, (n, D).

    Parameters
    ----------
    backbone : Backbone
        Of the plan.
    data : Data
        Whether it reads texts or sees images.
    fresh : bool
        Whether its weights are drawn anew, from torch's random state, instead of being its own.

    Raises
    ------
    FileError
        If a folder holds no model.
    UsageError
        If a configuration or an import path is none.
    """
    if backbone.module:
        return _own_module(backbone, fresh=fresh)
    from transformers import AutoModel

    from polyculture.lab.pooling import Pooled

    with _quiet():
        if backbone.configuration or fresh:
            model = AutoModel.from_config(_configuration(backbone, data), trust_remote_code=False)
        else:
            model = _loaded(AutoModel, backbone, use_safetensors=True)
    return Pooled(model, text=data.text is not None)


def width(encoder: Any, inputs: Inputs) -> int:
    """Return the number of features D that an encoder makes.

    Raises
    ------
    UsageError
        If it does not take the inputs, or makes no features of them.
    """
    from polyculture.lab.networks import features

    try:
        found = features(encoder, {name: values[:2] for name, values in inputs.items()})
    except (TypeError, RuntimeError, ValueError, IndexError, AttributeError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UsageError(
            f"The backbone does not take the inputs {', '.join(inputs)}: {said}.",
            hint="See that text, image and the backbone fit together.",
        ) from error
    if found.ndim != 2:
        raise UsageError(
            f"The backbone makes an array of {found.ndim} dimensions.", hint="Return features, a row an individual."
        )
    return int(found.shape[1])


def _own_module(backbone: Backbone, *, fresh: bool) -> Any:
    from torch import nn

    from polyculture.lab.pooling import Positional

    try:
        module = import_path(backbone.module, "backbone")(**backbone.parameters)
    except TypeError as error:
        raise UsageError(
            f"The backbone {backbone.module!r} cannot be made with these parameters: {error}.",
            hint="Correct its parameters.",
        ) from None
    if not isinstance(module, nn.Module):
        raise UsageError(
            f"The backbone {backbone.module!r} made a {type(module).__name__}.", hint="Return a torch.nn.Module."
        )
    if fresh:
        for name, part in module.named_modules():
            if callable(getattr(part, "reset_parameters", None)):
                part.reset_parameters()
            elif next(part.parameters(recurse=False), None) is not None:
                raise UsageError(
                    f"The weights of {name or type(part).__name__!r} in {backbone.module!r} cannot be drawn anew.",
                    hint="Give it a method reset_parameters, or leave scratch out.",
                )
    return Positional(module)


def _folder(backbone: Backbone, place: str) -> str:
    """Return the folder of a model: a path, or what ``module:function`` returns."""
    module, colon, name = place.partition(":")
    if colon and all(part.isidentifier() for part in module.split(".")) and name.isidentifier():
        place = str(import_path(place, "model")())
    if not (Path(place) / "config.json").is_file() and not (Path(place) / "tokenizer.json").is_file():
        there = "There is no folder" if not Path(place).is_dir() else "There is no model (no config.json) in"
        raise FileError(
            f"{there} {place!r}, named by backbone {backbone.shown()!r}.",
            hint="Name a folder as transformers saves it; nothing is fetched unless you write hub = NAME.",
        )
    return place


def _loaded(kind: Any, backbone: Backbone, *, tokenizer: bool = False, **options: Any) -> Any:
    """Return a model, configuration or tokenizer from its folder, or from the hub where that is named."""
    place = backbone.tokenizer if tokenizer and backbone.tokenizer else backbone.model
    source = backbone.hub if not place else _folder(backbone, place)
    try:
        return kind.from_pretrained(source, local_files_only=bool(place), trust_remote_code=False, **options)
    except (OSError, ValueError, KeyError) as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise FileError(
            f"{source!r} is no model that transformers can read: {said}",
            hint="It needs config.json, model.safetensors and, for texts, tokenizer.json.",
        ) from None


def _configuration(backbone: Backbone, data: Data) -> Any:
    """Return the transformers configuration of a backbone; an image's size is filled in where it is not said."""
    from transformers import AutoConfig

    if not backbone.configuration:
        return _loaded(AutoConfig, backbone)
    given = dict(backbone.configuration)
    kind = str(given.pop("model_type", ""))
    try:
        plain = AutoConfig.for_model(kind)
    except ValueError:
        from transformers import CONFIG_MAPPING

        raise UsageError(
            f"Backbone {backbone.shown()!r}: there is no model_type {kind!r}.",
            hint=nearest(kind, list(CONFIG_MAPPING.keys())) or "Write for example model_type = 'vit'.",
        ) from None
    known = [*plain.to_dict(), *getattr(plain, "attribute_map", {})]
    for key in given:
        if key not in known:
            raise UsageError(
                f"Backbone {backbone.shown()!r}: a configuration of {kind} has no key {key!r}.",
                hint=nearest(key, known) or f"See the configuration of {kind} in transformers.",
            )
    if data.image is not None:
        for key, value in (("num_channels", data.image[0]), ("image_size", data.image[1])):
            if key in known:
                given.setdefault(key, value)
    return AutoConfig.for_model(kind, **given)


def text_inputs(backbone: Backbone, texts: Sequence[str], encoder: Any) -> Inputs:
    """Return texts as numbers of tokens, padded at the end, and which of them are some.

    Returns
    -------
    dict
        input_ids and attention_mask, int64, (n, max_length).
    """
    if backbone.module:
        tokenize = getattr(encoder.module, "tokenize", None)
        if tokenize is None:
            raise UsageError(
                f"The backbone {backbone.module!r} reads texts and has no method tokenize.",
                hint="Give it one: a list of texts to a dict of arrays, a row a text.",
            )
        return {name: np.ascontiguousarray(values) for name, values in tokenize(list(texts)).items()}
    if backbone.configuration and not backbone.tokenizer:
        vocabulary = getattr(encoder.model.config, "vocab_size", None)
        if vocabulary is None:
            raise UsageError(
                f"Backbone {backbone.shown()!r} of type {encoder.model.config.model_type} reads no texts.",
                hint="Name a model_type for texts, such as bert.",
            )
        return _hashed_words(texts, int(vocabulary), backbone.max_length)
    from transformers import AutoTokenizer

    with _quiet():
        tokenizer = _loaded(AutoTokenizer, backbone, tokenizer=True)
    found = tokenizer(
        list(texts), padding="max_length", truncation=True, max_length=backbone.max_length, return_tensors="np"
    )
    return {name: found[name].astype(np.int64) for name in ("input_ids", "attention_mask")}


def _hashed_words(texts: Sequence[str], vocabulary: int, length: int) -> Inputs:
    """Return each word's place by its hash, 1 to vocabulary - 2, and 0 where a text has ended; the last is no word."""
    numbers = np.zeros((len(texts), length), dtype=np.int64)
    for row, text in enumerate(texts):
        words = text.lower().split()[:length] or [""]
        numbers[row, : len(words)] = [1 + crc32(word.encode()) % (vocabulary - 2) for word in words]
    return {"input_ids": numbers, "attention_mask": (numbers > 0).astype(np.int64)}


def image_inputs(pixels: NDArray[np.float64], data: Data) -> Inputs:
    """Return images, (n, channels, height, width), black -1 and white 1."""
    if data.image is None:
        return {"features": pixels.astype(np.float32)}
    return {"pixel_values": ((pixels / data.white - 0.5) * 2.0).astype(np.float32).reshape(-1, *data.image)}


def state_hash(encoder: Any) -> str:
    """Return the SHA-256 of all weights and buffers of an encoder, by name."""
    found = sha256()
    for name, value in sorted(encoder.state_dict().items()):
        found.update(f"{name} {value.dtype} {tuple(value.shape)}".encode())
        found.update(value.detach().contiguous().numpy().tobytes())
    return found.hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from printing bars and advice while a block runs."""
    from transformers.utils import logging

    level, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bar:
            logging.enable_progress_bar()
