"""`reproduce`: a published analysis by name. Each stands in a module of its own, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any

from polyculture.errors import UsageError, nearest

if TYPE_CHECKING:
    from polyculture.reproductions.result import Reproduction

__all__ = ["NAMES", "reproduce"]

# Name -> module with a function ``reproduce`` (or the one named) whose keywords are the options of that analysis.
_MODULES = {
    "ecosystem-level": "polyculture.reproductions.run",
    "german-credit": "polyculture.reproductions.german_credit",
    "law-school": "polyculture.reproductions.law_school",
    "acs": "polyculture.reproductions.acs",
    "shared-vision": "polyculture.reproductions.shared_vision",
    "shared-text": "polyculture.reproductions.shared_text",
    "tabular-loop": "polyculture.reproductions.tabular_loop",
    "two-pools": "polyculture.reproductions.two_pools",
    "colored-mnist": "polyculture.reproductions.colored_mnist",
    "colored-svhn": "polyculture.reproductions.colored_svhn",
    "celeba": "polyculture.reproductions.faces:celeba",
    "fairface": "polyculture.reproductions.faces:fairface",
    "image-ablations": "polyculture.reproductions.image_ablations",
    "image-pools": "polyculture.reproductions.image_pools",
}
NAMES = tuple(_MODULES)


def reproduce(name: str = "ecosystem-level", /, **options: Any) -> Reproduction:
    """Do a published analysis again, and hold what the paper reports against what is found.

    Parameters
    ----------
    name : str
        "ecosystem-level" (2307.05862); "german-credit", "law-school" or "acs" (2211.13972, sharing training data);
        "tabular-loop" or "two-pools" (2403.07857, feedback loops); "colored-mnist", "colored-svhn", "celeba" or
        "fairface" (its loops on images), "image-ablations", "image-pools".
    **options
        Of that analysis. ecosystem-level: data, dermatology, map, kinds. The others: scale ("quick", "laptop",
        "paper"), set, out, jobs, backend, and codes and split (german-credit), data and gpa (law-school), data and
        individuals (acs), data (tabular-loop, two-pools, and all loops on images). All: seed, command, progress.

    Returns
    -------
    Reproduction
        Claims with verdicts, and the ways to show and write them.

    Raises
    ------
    InputError, UsageError
        If the name or an option is unknown, or data cannot be read.

    Examples
    --------
    >>> found = reproduce("ecosystem-level")
    >>> found.record.verdicts["disagrees"]
    0
    """
    if name not in NAMES:
        hint = nearest(str(name), NAMES) or f"There are: {', '.join(NAMES)}."
        raise UsageError(f"There is no reproduction {name!r}.", hint=hint)
    module, _, own = _MODULES[name].partition(":")
    function = getattr(import_module(module), own or "reproduce")
    names = list(signature(function).parameters)
    for option in options:
        if option not in names:
            hint = nearest(option, names) or f"Its options are: {', '.join(names)}."
            raise UsageError(f"{name} has no option {option!r}.", hint=hint)
    for option in ("data", "dermatology", "map", "kinds", "out"):
        if options.get(option) == "":  # as a path it would mean the current folder
            raise UsageError(f"{option} is empty text.", hint=f"Name a file or folder, or leave {option} out.")
    found: Reproduction = function(**options)
    return found
