"""The individuals of a loop: features, classes, groups, the strata and their ideal, and who is tested on.

Strata are class x group: stratum = class * G + group, for any number of either.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from polyculture.audit.words import group_words
from polyculture.errors import ColumnError, UsageError, ValueInDataError, first_few, nearest
from polyculture.lab.data import prepare
from polyculture.lab.images import as_numbers

if TYPE_CHECKING:
    from polyculture.lab.data import Prepared
    from polyculture.lab.loops.plan import LoopPlan, Stratum
    from polyculture.lab.loops.rows import Features, Floats, Ints

__all__ = ["Everyone", "World", "everyone", "ideal_of", "strata_names", "tested_of", "world_of"]

EVERYBODY = "everyone"
MOST_EMBEDDED = 10
"""Principal components of the original features in which distances are measured, at most."""
MOST_SPANNING = 2000
"""Images whose principal components they are, at most: of more they hardly differ, and cost minutes."""


@dataclass(frozen=True, eq=False)
class Everyone:
    """All individuals of a plan, before they are split.

    Attributes
    ----------
    prepared : Prepared
        As the lab reads them.
    label, group : ndarray of int, shape (N,)
        Class and group of each.
    classes : tuple of str
        The classes as labels are written, in sorted order.
    groups : tuple of str
        The groups in words.
    favourable : int
        The class that is good to get.
    ideal : ndarray, shape (K * G,), or None
        The ideal distribution; None where it is that of the training individuals.
    """

    prepared: Prepared
    label: Ints
    group: Ints
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    favourable: int
    ideal: Floats | None

    @property
    def features(self) -> Features:
        """Their images where there are some, else their numbers, (N, ...)."""
        pixels = self.prepared.pixels
        return self.prepared.features if pixels is None else pixels

    @property
    def image(self) -> tuple[int, int, int] | None:
        """Channels, height and width of their images; None where there are none."""
        pixels = self.prepared.pixels
        return None if pixels is None else pixels.shape[1:]


@dataclass(frozen=True, eq=False)
class World:
    """What a chain knows of the real world: those it trains on, and those it is tested on.

    Attributes
    ----------
    features : ndarray, shape (n, ...)
        Of the training individuals, each column with mean 0 and deviation 1; images as they are, pixels of one byte.
    label, group : ndarray of int, shape (n,)
        Theirs.
    test_features, test_label, test_group : ndarray
        Those of the test individuals, in the scale of the training individuals.
    classes, groups : tuple of str
        Names.
    favourable : int
        The class that is good to get.
    ideal : ndarray, shape (K * G,)
        The ideal distribution over the strata.
    """

    features: Features
    label: Ints
    group: Ints
    test_features: Features
    test_label: Ints
    test_group: Ints
    classes: tuple[str, ...]
    groups: tuple[str, ...]
    favourable: int
    ideal: Floats

    @property
    def strata(self) -> int:
        """S, the number of strata."""
        return len(self.classes) * len(self.groups)

    def stratum(self, label: Ints, group: Ints) -> Ints:
        """Return the stratum of each person, (n,)."""
        return label * len(self.groups) + group

    @cached_property
    def embedding(self) -> tuple[Floats, Floats]:
        """Mean (P,) and components (P, d) of the training features, in which distances are measured."""
        many = MOST_SPANNING if self.image else None
        flat = _flat(self.features[:many])
        mean = flat.mean(axis=0)
        kept = min(MOST_EMBEDDED, *flat.shape)
        if flat.shape[0] < flat.shape[1]:  # the same components, by the smaller of the two matrices
            values, vectors = np.linalg.eigh((flat - mean) @ (flat - mean).T)
            order = np.argsort(values)[::-1][:kept]
            spanned = (flat - mean).T @ vectors[:, order]
            return mean, spanned / np.maximum(np.linalg.norm(spanned, axis=0), 1e-300)
        values, vectors = np.linalg.eigh(np.cov(flat - mean, rowvar=False, ddof=1).reshape(flat.shape[1], -1))
        order = np.argsort(values)[::-1][:kept]
        return mean, np.ascontiguousarray(vectors[:, order])

    def embedded(self, features: Features) -> Floats:
        """Return people in the embedding, (n, d)."""
        mean, components = self.embedding
        return np.asarray((_flat(features) - mean) @ components)

    @property
    def image(self) -> tuple[int, ...]:
        """Channels, height and width of images; empty where people are numbers."""
        return self.features.shape[1:] if self.features.dtype == np.uint8 else ()


def _flat(features: Features) -> Floats:
    """Return a row of numbers each, (n, P)."""
    return np.asarray(as_numbers(features), dtype=np.float64).reshape(len(features), -1)


def everyone(plan: LoopPlan) -> Everyone:
    """Read the individuals of a plan, with classes, groups and the ideal.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, a label or group is not known, or the ideal names no stratum.
    """
    prepared = prepare(plan, images=True)
    target = prepared.targets[0]
    if (target.label < 0).any():
        raise ValueInDataError(
            f"The label {plan.label!r} is missing for {int((target.label < 0).sum())} individuals.",
            hint="Leave those rows out: every individual of a loop has a class.",
        )
    if not np.isfinite(prepared.features).all():
        column = prepared.columns[prepared.origin[~np.isfinite(prepared.features).all(axis=0)][0]]
        raise ValueInDataError(
            f"The column {column!r} has empty cells or infinite numbers, which a generator cannot learn.",
            hint="Fill them, or leave the column out (data.leave_out).",
        )
    groups, group = _groups(plan, prepared)
    classes = target.classes
    favourable = _favourable(plan, classes)
    return Everyone(prepared, target.label, group, classes, groups, favourable, ideal_of(plan, classes, groups))


def _groups(plan: LoopPlan, prepared: Prepared) -> tuple[tuple[str, ...], Ints]:
    if not prepared.cells:
        return (EVERYBODY,), np.zeros(prepared.individuals, dtype=np.int64)
    if (prepared.cell < 0).any():
        raise ValueInDataError(
            f"The group is not known of {int((prepared.cell < 0).sum())} individuals.",
            hint="Leave those rows out: every individual of a loop has a group.",
        )
    if len(prepared.cells) * 2 > prepared.individuals // 4:
        raise ColumnError(
            f"{', '.join(plan.data.groups)} makes {len(prepared.cells)} groups of {prepared.individuals} individuals.",
            hint="Name columns with fewer values, or conditions such as age>=25.",
        )
    return tuple(_group_words(plan, values) for values in prepared.cells), prepared.cell


def _group_words(plan: LoopPlan, values: tuple[str, ...]) -> str:
    """Return a group in words: "age>=25", "not age>=25", "sex = f, race = x"."""
    return group_words(dict(zip(plan.data.groups, values, strict=True)))


def _favourable(plan: LoopPlan, classes: tuple[str, ...]) -> int:
    if plan.favourable is None:
        return len(classes) - 1
    if plan.favourable not in classes:
        raise UsageError(
            f"favourable = {plan.favourable!r} is no class of the label {plan.label!r}.",
            hint=nearest(plan.favourable, classes) or f"The classes are: {first_few(classes)}.",
        )
    return classes.index(plan.favourable)


def ideal_of(plan: LoopPlan, classes: tuple[str, ...], groups: tuple[str, ...]) -> Floats | None:
    """Return the ideal distribution over class x group, (K * G,); None where it is the original one.

    Raises
    ------
    UsageError
        If it names no class or group, or a stratum twice.
    """
    if plan.ideal == "original":
        return None
    size = len(classes) * len(groups)
    if isinstance(plan.ideal, str):
        return np.full(size, 1.0 / size)
    found, named = np.zeros(size), set[int]()
    for stratum in plan.ideal:
        group = _named(plan, stratum, groups)
        for what, name, known in (("class", stratum.target, classes), ("group", group, groups)):
            if name not in known:
                raise UsageError(
                    f"ideal names the {what} {name!r}, which there is not.",
                    hint=nearest(name, known) or f"There are: {first_few(known)}.",
                )
        place = classes.index(stratum.target) * len(groups) + groups.index(group)
        if place in named:
            raise UsageError(f"ideal names {stratum.target!r} of {group!r} twice.", hint="Leave one out.")
        named.add(place)
        found[place] = stratum.share
    return found


def _named(plan: LoopPlan, stratum: Stratum, groups: tuple[str, ...]) -> str:
    """Return the group of an ideal stratum in words; its values, or the words themselves, may be written."""
    values = stratum.group_values
    if not values:
        return EVERYBODY
    if len(values) == len(plan.data.groups) and (words := _group_words(plan, values)) in groups:
        return words
    return ", ".join(values)


def strata_names(classes: tuple[str, ...], groups: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return class and group of each stratum, in order."""
    return tuple((target, group) for target in classes for group in groups)


def tested_of(plan: LoopPlan, individuals: int, seed: int) -> Ints:
    """Return the individuals that a chain is tested on, by their place, sorted."""
    key = (0,) if plan.split == "fixed" else (0, seed)
    order = np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=key)).permutation(individuals)
    size = min(max(round(plan.test_share * individuals), 1), individuals - 1)
    return np.sort(order[:size])


def world_of(plan: LoopPlan, everybody: Everyone, seed: int) -> World:
    """Return the world of a chain: train and test, features in the scale of those trained on.

    Raises
    ------
    ColumnError
        If a class has no training individual, or there is nobody of a group.
    """
    individuals = len(everybody.label)
    test = tested_of(plan, individuals, seed)
    train = np.setdiff1d(np.arange(individuals), test)
    scaled = everybody.features if everybody.image else _scaled(everybody.prepared.features, train)
    label, group = everybody.label[train], everybody.group[train]
    for names, there, what in ((everybody.classes, label, "class"), (everybody.groups, group, "group")):
        lacking = sorted(set(range(len(names))) - set(there.tolist()))
        if lacking:
            raise ColumnError(
                f"The {what} {names[lacking[0]]!r} has no training individual at seed {seed}.",
                hint="Give more individuals, a smaller test_share, or fewer groups.",
            )
    ideal = everybody.ideal
    if ideal is None:
        size = len(everybody.classes) * len(everybody.groups)
        ideal = np.bincount(label * len(everybody.groups) + group, minlength=size) / len(train)
    return World(
        scaled[train],
        label,
        group,
        scaled[test],
        everybody.label[test],
        everybody.group[test],
        everybody.classes,
        everybody.groups,
        everybody.favourable,
        ideal,
    )


def _scaled(features: Floats, train: Ints) -> Floats:
    """Return features with mean 0 and deviation 1 over those trained on."""
    mean, deviation = features[train].mean(axis=0), features[train].std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    return np.ascontiguousarray((features - mean) / deviation)
