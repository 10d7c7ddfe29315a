"""`portfolio`: which of the models at hand, together, fail the fewest individuals by all, with held-out figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Literal, Unpack

from polyculture.api import MappingOptions, Progress, Source, counted_with_provenance
from polyculture.errors import UsageError
from polyculture.giving import Kind, Reported

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from polyculture.audit.frames import Row
    from polyculture.audit.portfolio_records import PortfolioRecord
    from polyculture.outcomes import Outcomes
    from polyculture.readers import Table
    from polyculture.tally import Tally

__all__ = ["Portfolio", "portfolio"]


@dataclass(frozen=True, repr=False)
class Portfolio(Reported):
    """A choice among models. ``record`` holds the figures, with the names of the fields of portfolio.json.

    `frame` gives "portfolio_sets" (the chosen set, today's, those within noise), "portfolio_models", "alternatives",
    "appeals" or "portfolio" (the held-out figures).
    """

    _named = "portfolio"
    _called = "portfolio"
    _main = "portfolio_sets"

    record: PortfolioRecord
    _kind: Kind = "polars"

    def __repr__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        from polyculture.report.html import portfolio_repr_html

        return portfolio_repr_html(self.record)

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return self.record.headline

    @property
    def models(self) -> tuple[str, ...]:
        """The chosen models."""
        return self.record.chosen.models

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.audit.portfolio_frames import portfolio_tables

        return portfolio_tables(self.record)

    def _page(self) -> str:
        from polyculture.report.html import portfolio_html

        return portfolio_html(self.record)

    def _write_tables(self, directory: str | PathLike[str]) -> None:
        from polyculture.report.tables import write_tables

        write_tables(self.record, directory)


def portfolio(
    source: Outcomes | Tally | Source | Sequence[Source] | Table | IntoFrame,
    /,
    *,
    size: int | None = None,
    today: Sequence[str] | str = (),
    candidates: Sequence[str] | str = (),
    swap: bool = False,
    add: bool = False,
    objective: Literal["systemic-failure", "majority"] = "systemic-failure",
    worst_group: bool = False,
    most_mean_failure: float | None = None,
    splits: int = 25,
    min_cell: int = 30,
    seed: int = 0,
    census: bool = False,
    noun: str | None = None,
    map: Source | None = None,  # noqa: A002 (the word of the shell)
    encoding: str | None = None,
    command: str = "polyculture.portfolio(...)",
    progress: Progress | None = None,
    **mapping: Unpack[MappingOptions],
) -> Portfolio:
    """Choose among models: the set, the swap or the addition after which the fewest individuals are failed by all.

    Parameters
    ----------
    source : Outcomes, Tally, path, list of paths, "hapi:NAME", or a frame
        As in `audit`.
    size : int, optional
        How many models to choose; 3, or one fewer than there are, where nothing is said.
    today : sequence of str
        Models that are in use; all by default. What is chosen is compared with them.
    candidates : sequence of str
        Models that may be chosen; all by default.
    swap, add : bool
        Choose the best swap of one of today's models for another candidate, or the best one to add, instead of a set.
    objective : {"systemic-failure", "majority"}
        Make systemic failure least, or the majority of the set most accurate.
    worst_group : bool
        In the group of ``by`` that fares worst, instead of among everyone.
    most_mean_failure : float, optional
        Highest mean failure rate of the chosen models.
    splits : int
        Random halvings for the held-out value (fewer where a search takes long).
    min_cell : int
        Groups of fewer individuals have no part in the worst group.
    seed : int
        Seed of the halvings.
    census : bool
        The individuals are all there are: no intervals.
    noun : str, optional
        What the individuals are, in the plural.
    map, encoding, command, progress, **mapping
        As in `audit`.

    Returns
    -------
    Portfolio
        ``print`` gives the answer in one sentence.

    Raises
    ------
    InputError, UsageError
        If the data cannot be read, the call is wrong, or no set meets the bound.

    Notes
    -----
    Each set is measured on the individuals whom enough of its members judged (``min_judged``, or all of a smaller
    set). The held-out value is of sets chosen on random halves and measured on the other half, so that what the
    search gained by chance is not counted.

    Examples
    --------
    >>> found = portfolio("hapi:waimai", size=2)
    >>> found.models
    ('amazon', 'baidu')
    """
    for name, value, least in (("min_cell", min_cell, 1), ("seed", seed, 0), ("splits", splits, 1)):
        if value < least:
            raise UsageError(f"{name}={value} is too small.", hint=f"Give {least} or more.")
    counted, provenance, kind, known_noun = counted_with_provenance(
        source,
        min_cell=min_cell,
        seed=seed,
        census=census,
        command=command,
        map=map,
        encoding=encoding,
        progress=progress,
        with_labels=True,
        **mapping,
    )
    if progress is not None:
        progress("Choosing models")
    import msgspec

    from polyculture.audit.portfolio import portfolio as ask
    from polyculture.audit.portfolio_records import PortfolioRecord

    found = ask(
        counted,
        rule=provenance.failure_rule,
        size=size,
        today=_names(today),
        candidates=_names(candidates),
        swap=swap,
        add=add,
        objective=objective,
        worst_group=worst_group,
        most_mean_failure=most_mean_failure,
        splits=splits,
        seed=seed,
        min_cell=min_cell,
        census=census,
        noun=noun or known_noun,
    )
    return Portfolio(PortfolioRecord(provenance=provenance, **msgspec.structs.asdict(found)), kind)


def _names(names: Sequence[str] | str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise UsageError(f"{names!r} is one text, not a list of models.", hint=f"Give a list: [{names!r}].")
    return tuple(names)
