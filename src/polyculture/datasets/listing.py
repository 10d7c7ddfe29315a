"""The list of bundled data sets, as `polyculture datasets` shows it."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.datasets.hapi2020 import FACTS, PERIOD, patterns

__all__ = ["Dataset", "listing"]


@dataclass(frozen=True)
class Dataset:
    """One bundled data set.

    Parameters
    ----------
    name : str
        How it is addressed: ``hapi:WAIMAI``, or the name of its loader in `polyculture.datasets`.
    task : str
        What was to be told.
    individuals : int
        How many examples or people it holds.
    models : tuple of str
        The models whose outcomes it holds; empty where it holds data to train on.
    period : str
        When the outcomes, or the data, were made.
    licence : str
        Under which terms it is bundled.
    line : str
        One line on what it is.
    """

    name: str
    task: str
    individuals: int
    models: tuple[str, ...]
    period: str
    licence: str
    line: str


_TASKS = {"fer": "facial emotion", "sa": "sentiment", "scr": "spoken words"}


def listing() -> list[Dataset]:
    """Return all bundled data sets: outcomes first, then data to train on.

    Examples
    --------
    >>> [entry.name for entry in listing()][-2:]
    ['hapi:YELP', 'german_credit']
    """
    outcomes = [
        Dataset(
            name=f"hapi:{name}",
            task=_TASKS[own.task],
            individuals=own.individuals,
            models=own.models,
            period=PERIOD,
            licence="counts (facts)",
            line=FACTS[name].title,
        )
        for name, own in patterns().items()
    ]
    credit = Dataset(
        name="german_credit",
        task="credit risk",
        individuals=1000,
        models=(),
        period="1973-1975",
        licence="CC BY 4.0",
        line="Applications for credit with coded attributes (Statlog German Credit); no outcomes of models",
    )
    return [*outcomes, credit]
