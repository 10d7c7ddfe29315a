"""Which models are of which kind: names and globs to columns, each model in one kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from polyculture.errors import UsageError, first_few, nearest

__all__ = ["FEWEST", "kind_models"]

FEWEST = 2


def kind_models(kinds: Mapping[str, Sequence[str]], models: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the models of each kind, in the order of the models.

    Parameters
    ----------
    kinds : mapping of str to sequence of str
        Kind -> names or globs.
    models : sequence of str
        All models.

    Raises
    ------
    UsageError
        If a name is no model's (the nearest is named), a model is of two kinds, or there is one kind only.

    Examples
    --------
    >>> kind_models({"human": ["expert_*"], "model": ["b", "a"]}, ["a", "b", "expert_1", "expert_2"])
    {'human': ('expert_1', 'expert_2'), 'model': ('a', 'b')}
    """
    if len(kinds) < FEWEST:
        raise UsageError(
            f"{len(kinds) or 'No'} kind of decision-makers: there is nothing to hold it against.",
            hint="Name two or more: --kinds 'human=expert_*,model=api_*'.",
        )
    found: dict[str, tuple[str, ...]] = {}
    taken: dict[str, str] = {}
    for kind, wanted in kinds.items():
        if not wanted:
            raise UsageError(f"The kind {kind!r} has no models.", hint="Name them, or leave the kind out.")
        chosen = {name for one in wanted for name in _matching(one, kind, models)}
        for name in sorted(chosen):
            if name in taken:
                raise UsageError(
                    f"The model {name!r} is of two kinds, {taken[name]!r} and {kind!r}.", hint="Name it in one of them."
                )
            taken[name] = kind
        found[kind] = tuple(name for name in models if name in chosen)
    return found


def _matching(wanted: str, kind: str, models: Sequence[str]) -> list[str]:
    if wanted in models:
        return [wanted]
    found = [name for name in models if fnmatchcase(name, wanted)]
    if not found:
        hint = nearest(wanted, models) or f"The models are: {first_few(models, limit=20)}."
        raise UsageError(f"There is no model {wanted!r} for the kind {kind!r}.", hint=hint)
    return found
