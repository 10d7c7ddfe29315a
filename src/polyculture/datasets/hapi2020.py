"""Failures of commercial services in 2020, as counts of failure patterns (from the HAPI collection)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from polyculture.errors import UsageError, nearest
from polyculture.readers.wording import excerpt

if TYPE_CHECKING:
    from polyculture.readers.table import Table

__all__ = ["FACTS", "Facts", "Patterns", "hapi", "patterns"]

PERIOD = "2020"


@dataclass(frozen=True)
class Facts:
    """What was judged in one data set.

    Parameters
    ----------
    title : str
        What the examples are, as a phrase.
    noun : str
        What one example is called, in the plural.
    question : str
        What the services were asked.
    remark : str
        What a reader must know besides.
    """

    title: str
    noun: str
    question: str
    remark: str = ""


_EMOTION = "which emotion a face shows"
_SENTIMENT = "whether a text is positive or negative"
_SPEECH = "which words were spoken"
_FOREIGN_LANGUAGE = "The texts are in English; Baidu's service is made for Chinese and is near chance here."

FACTS = {
    "AFNET": Facts("Faces from the web (AffectNet)", "face images", _EMOTION),
    "AMNIST": Facts("Spoken digits by 60 speakers (AudioMNIST)", "recordings", _SPEECH),
    "CMD": Facts("Spoken single-word commands (Speech Commands)", "recordings", _SPEECH),
    "DIGIT": Facts("Spoken digits by few speakers (Free Spoken Digit Dataset)", "recordings", _SPEECH),
    "EXPW": Facts("Faces in everyday scenes (ExpW)", "face images", _EMOTION),
    "FER+": Facts("Small grey faces, relabelled by ten people each (FER+)", "face images", _EMOTION),
    "FLUENT": Facts("Spoken requests to a device (Fluent Speech Commands)", "recordings", _SPEECH),
    "IMDB": Facts("Film reviews in English (IMDB)", "reviews", _SENTIMENT, _FOREIGN_LANGUAGE),
    "RAFDB": Facts("Faces from the web (RAF-DB)", "face images", _EMOTION),
    "SHOP": Facts("Reviews of goods bought online, in Chinese (SHOP)", "reviews", _SENTIMENT),
    "WAIMAI": Facts("Reviews of delivered food, in Chinese (WAIMAI)", "reviews", _SENTIMENT),
    "YELP": Facts("Reviews of businesses, in English (YELP)", "reviews", _SENTIMENT, _FOREIGN_LANGUAGE),
}

_SERVICES = {
    "amazon": "Amazon",
    "baidu": "Baidu",
    "facepp": "Face++",
    "google": "Google",
    "ibm": "IBM",
    "microsoft": "Microsoft",
}


@dataclass(frozen=True)
class Patterns:
    """The failure patterns of one data set: ``counts`` maps the services that failed to examples."""

    task: str
    dataset: str
    models: tuple[str, ...]
    counts: dict[frozenset[str], int]

    @property
    def individuals(self) -> int:
        """The number of examples."""
        return sum(self.counts.values())


@cache
def patterns() -> dict[str, Patterns]:
    """Return the failure patterns of all bundled data sets by name, in alphabetical order.

    Examples
    --------
    >>> waimai = patterns()["WAIMAI"]
    >>> waimai.counts[frozenset(waimai.models)], waimai.individuals
    (775, 11987)
    """
    found: dict[str, Patterns] = {}
    with files("polyculture.datasets").joinpath("hapi2020_patterns.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            own = found.setdefault(
                row["dataset"], Patterns(row["task"], row["dataset"], tuple(row["models"].split("|")), {})
            )
            own.counts[frozenset(row["failed"].split("|")) - {""}] = int(row["count"])
    return dict(sorted(found.items()))


def hapi(name: str) -> Table:
    """Return the outcomes of three commercial services on one data set in 2020.

    Parameters
    ----------
    name : str
        AFNET, AMNIST, CMD, DIGIT, EXPW, FER+, FLUENT, IMDB, RAFDB, SHOP, WAIMAI or YELP, in any case.

    Returns
    -------
    Table
        One row for each failure pattern: a 0/1 column for each service (1 = failed) and ``count``, the
        number of examples with that pattern. ``mapping`` says so; ``noun`` says what the examples are.

    Raises
    ------
    UsageError
        There is no such data set.

    Notes
    -----
    Counted from the public predictions behind 2307.05862.

    Examples
    --------
    >>> table = hapi("fer+")
    >>> table.mapping["models"], table.rows, table.noun
    (('facepp', 'google', 'microsoft'), 8, 'face images')
    """
    known = patterns()
    key = name.strip().upper()
    if key not in known:
        raise UsageError(
            f"There is no bundled data set hapi:{excerpt(name, limit=40)[1:-1]}.",
            hint=nearest(key, known) or f"There are: {', '.join(known)}.",
        )
    import narwhals as nw
    import polars as pl

    from polyculture.audit.records import InputFile
    from polyculture.readers.table import Table

    own, facts = known[key], FACTS[key]
    columns: dict[str, list[int]] = {model: [int(model in failed) for failed in own.counts] for model in own.models}
    frame = pl.DataFrame(
        {**columns, "count": list(own.counts.values())}, schema_overrides=dict.fromkeys(columns, pl.Int64)
    )
    return Table(
        frame=nw.from_native(frame.lazy()),
        inputs=(InputFile(name=f"hapi:{key}", format="bundled counts", rows=frame.height),),
        mapping={"outcomes": "failed", "models": own.models, "count": "count"},
        note=_note(own, facts),
        period=PERIOD,
        rows=frame.height,
        noun=facts.noun,
    )


def _note(own: Patterns, facts: Facts) -> str:
    services = [_SERVICES[model] for model in own.models]
    listed = f"{', '.join(services[:-1])} and {services[-1]}"
    note = (
        f"{facts.title}: in {PERIOD} the services of {listed} were asked {facts.question}. An answer that differs from "
        "the data set's label counts as a failure. Counted from the public predictions of the HAPI collection."
    )
    return f"{note} {facts.remark}".strip()
