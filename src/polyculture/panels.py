"""`panel`: how many independent votes several models, or judges, are worth.

With gold labels the answer comes from the same tables as an audit; without, agreement is all there is to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack

from polyculture.api import MappingOptions, Progress, Source, read, saved_tallies, tally
from polyculture.asked import check_noun
from polyculture.errors import UsageError
from polyculture.giving import Written
from polyculture.outcomes import Outcomes
from polyculture.results import collecting

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.records import AgreementRecord, PanelRecord
    from polyculture.readers import Table
    from polyculture.tally import Tally

__all__ = ["Panel", "panel"]

_GOLD = ("label", "outcomes", "failure", "failed_when")


@dataclass(frozen=True, repr=False)
class Panel(Written):
    """What a panel is worth. ``record`` holds the figures: a PanelRecord, or an AgreementRecord without labels.

    ``noun`` is what is judged, in the plural.
    """

    _named = "panel"

    record: PanelRecord | AgreementRecord
    noun: str = "individuals"

    def __repr__(self) -> str:
        return self.record.sentence

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return self.record.sentence


def panel(
    source: Outcomes | Tally | Source | Sequence[Source] | Table | IntoFrame,
    /,
    *,
    level: Literal["nominal", "ordinal", "interval"] = "nominal",
    census: bool = False,
    noun: str | None = None,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Panel:
    """Ask what several models, or judges, are worth as a panel that decides by majority.

    Parameters
    ----------
    source : Outcomes, Tally, path, list of paths, "hapi:NAME", or a frame
        As in `audit`. Where nothing says what is right (no label, outcomes or failure rule), the models'
        columns are ratings without gold labels.
    level : {"nominal", "ordinal", "interval"}
        What a difference between two such ratings is: any, of ranks, or of sizes.
    census : bool
        The individuals are all there are: no intervals.
    noun : str, optional
        What is judged, in the plural ("reviews"), for the sentences.
    map, encoding, progress, **mapping
        As in `audit`.

    Returns
    -------
    Panel
        ``print`` answers "how many independent votes are these?" in one sentence.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, the call is wrong, or there are fewer than 3 models with known failures.

    Examples
    --------
    >>> import polars as pl
    >>> judges = pl.DataFrame({"a": [1, 2, 2, 1], "b": [1, 2, 1, 1], "c": [1, 2, 2, None]})
    >>> panel(judges).record.alpha.value.__round__(3)
    0.667
    """
    from polyculture.tally import Tally

    check_noun(noun)
    if level not in {"nominal", "ordinal", "interval"}:
        raise UsageError(f"level={level!r} is not known.", hint="Choose nominal, ordinal or interval.")
    if isinstance(source, Outcomes | Tally):
        known: Any = source
    else:
        known = _opened(source, map=map, encoding=encoding, progress=progress, **mapping)
    if isinstance(known, Outcomes) and known.rule.kind == "rated":
        from polyculture.audit.agreement import agreement

        if progress is not None:
            progress("Counting ratings")
        with collecting(getattr(known, "table", None)):
            return Panel(agreement(known, level, noun=noun or "items", census=census), noun or "items")
    if level != "nominal":
        raise UsageError(
            f"level={level!r} is about ratings, and here it is known what is right (failure rule: {_rule(known)}).",
            hint="Drop the level, or what says which answers are right.",
        )
    called = noun or str(getattr(known, "noun", "individuals"))
    counted = known if isinstance(known, Tally) else tally(known, progress=progress)
    return Panel(_with_gold(counted, census=census, noun=called), called)


def _opened(source: Any, *, encoding: str | None, progress: Progress | None, **mapping: Any) -> Any:
    """Return the source as Outcomes (ratings where nothing says what is right), or as a saved Tally."""
    from polyculture.mapfile import read_map

    if saved_tallies(source):
        return tally(source, encoding=encoding, **mapping)
    file = mapping.pop("map", None)
    given = {**(read_map(file) if file is not None else {}), **mapping}
    if not any(given.get(name) for name in _GOLD):
        try:  # a fixed layout may say what is right by itself
            return read(source, encoding=encoding, progress=progress, **given)
        except UsageError:
            given["outcomes"] = "rated"
    return read(source, encoding=encoding, progress=progress, **given)


def _rule(known: Outcomes | Tally) -> str:
    return str(known.rule) if isinstance(known, Outcomes) else known.failure_rule


def _with_gold(counted: Tally, *, census: bool, noun: str) -> PanelRecord:
    from polyculture.audit.nouns import told
    from polyculture.audit.panel import FEWEST, MOST
    from polyculture.audit.panel import panel as ask
    from polyculture.audit.settings import Settings
    from polyculture.audit.similarity import similarity
    from polyculture.audit.view import View

    found = ask(similarity(View(counted)), Settings(census=census, noun=noun))
    if found is None:
        raise UsageError(
            f"A panel has {FEWEST} to {MOST} members that judged anybody; these are {len(counted.models)}.",
            hint="Choose the members with --models.",
        )
    return told(found, noun)
