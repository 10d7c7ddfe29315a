"""An audit as users hold it: `Audit`, and its rows as sequences of frozen records that can become frames.

Nothing is computed here; how records become rows stands in `audit.frames`, how they look in `report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from polyculture.errors import UsageError
from polyculture.giving import Kind, Reported, to_frame

if TYPE_CHECKING:
    import narwhals as nw

    from polyculture.audit.frames import Row
    from polyculture.audit.portfolio_choice import PortfolioChoice
    from polyculture.audit.records import (
        AuditRecord,
        CollectionRecord,
        ComponentsRecord,
        GapRecord,
        GroupHomogenization,
        GroupRecord,
        KindsRecord,
        ModelRecord,
        NullRecord,
        Outcome,
        PairRecord,
        PanelRecord,
        Pattern,
        ProfileRow,
        Provenance,
        Record,
    )
    from polyculture.outcomes import Outcomes
    from polyculture.readers import Table
    from polyculture.tally import Tally

__all__ = ["Audit", "Listing", "collecting"]

T = TypeVar("T", bound="Record")


class Listing(Sequence[T], Generic[T]):
    """Records of one kind, in order.

    Parameters
    ----------
    name : str
        The table's name in ``--tables``.
    records : tuple of Record
        What it holds.
    rows : list of dict
        The same as flat rows.
    kind : {"polars", "pandas", "pyarrow"}
        What `frame` returns.
    """

    __slots__ = ("_kind", "_name", "_records", "_rows")

    def __init__(self, name: str, records: tuple[T, ...], rows: list[Row], kind: Kind = "polars") -> None:
        self._name, self._records, self._rows, self._kind = name, records, rows, kind

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listing) and self._records == other._records

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._name}: {len(self):,} rows; .frame() shows them>"

    def _repr_html_(self) -> str:
        html = getattr(self.frame(), "_repr_html_", None)
        return str(html()) if html is not None else f"<pre>{escape(str(self.frame()))}</pre>"

    def frame(self) -> Any:
        """Return the rows as a frame of the kind that the audit was given (Polars where it was none).

        A statistic becomes five columns: ``name``, ``name_low``, ``name_high``, ``name_method`` and
        ``name_reason``.
        """
        return to_frame(self._rows, self._kind)


@contextmanager
def collecting(table: Table | None) -> Iterator[None]:
    """Say what the engine raises on a damaged file in our words; a frame's own errors stay as they are."""
    import polars as pl
    from narwhals.exceptions import NarwhalsError

    from polyculture.readers.errors import translate

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, NarwhalsError, OSError) as error:
        if table is None:
            raise
        damage = pl.exceptions.ComputeError(str(error)) if isinstance(error, NarwhalsError) else error
        raise translate(damage, table.inputs) from error


@dataclass(frozen=True, repr=False)
class Audit(Reported):
    """What an audit found: frozen records, and ways to show and write them.

    Attributes have the names of the fields of audit.json. `record` is everything as one frozen record,
    `tally` the tables it was made of.
    """

    _named = "audit"
    _called = "audit"
    _main = "outcomes"

    record: AuditRecord
    tally: Tally
    _outcomes: Outcomes | None = None
    _kind: Kind = "polars"

    def __repr__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        from polyculture.report.html import repr_html

        return repr_html(self.record)

    @property
    def headline(self) -> str:
        """The first sentence of the report."""
        return self.record.headline

    @property
    def provenance(self) -> Provenance:
        """Where the numbers come from and how the data were understood."""
        return self.record.provenance

    @property
    def systemic_failure(self) -> Outcome:
        """All models fail the individual; `ratio` is the individual homogenization H."""
        return self.record.systemic_failure

    @property
    def consistent_success(self) -> Outcome:
        """No model fails the individual."""
        return self.record.consistent_success

    @property
    def homogeneous_outcomes(self) -> Outcome:
        """All models fail the individual, or none does."""
        return self.record.homogeneous_outcomes

    @property
    def group_homogenization(self) -> GroupHomogenization | None:
        """Group homogenization over all group columns crossed; None without groups."""
        return self.record.group_homogenization

    @cached_property
    def outcomes(self) -> Listing[Outcome]:
        """Systemic failure, consistent success and homogeneous outcomes, one row each."""
        record = self.record
        return self._listing(
            "outcomes", (record.systemic_failure, record.consistent_success, record.homogeneous_outcomes)
        )

    @cached_property
    def models(self) -> Listing[ModelRecord]:
        """Failure and no-answer rate of each model."""
        return self._listing("models", self.record.models)

    @cached_property
    def profile(self) -> Listing[ProfileRow]:
        """How many individuals are failed by 0, 1, ... k models, observed and under independence."""
        return self._listing("profile", self.record.profile)

    @cached_property
    def patterns(self) -> Listing[Pattern]:
        """Which models fail together, the most frequent patterns first."""
        return self._listing("patterns", self.record.patterns)

    @cached_property
    def groups(self) -> Listing[GroupRecord]:
        """Groups and their intersections, each against its own failure rates."""
        return self._listing("groups", self.record.groups)

    @cached_property
    def gaps(self) -> Listing[GapRecord]:
        """Gaps between the groups of each column, of every model and of systemic failure."""
        return self._listing("gaps", self.record.gaps)

    @cached_property
    def pairs(self) -> Listing[PairRecord]:
        """Pairs of models on the individuals whom both judged."""
        return self._listing("pairs", self.record.pairs)

    @property
    def collection(self) -> CollectionRecord | None:
        """How alike the models are, all together: effective number, mean phi, Fleiss' kappa, CAPA."""
        return self.record.collection

    @property
    def panel(self) -> PanelRecord | None:
        """The models as a panel that decides by majority; None with fewer than 3 of them."""
        return self.record.panel

    @property
    def components(self) -> ComponentsRecord | None:
        """What goes with the likeness of models; None without a table of components."""
        return self.record.components

    @property
    def kinds(self) -> KindsRecord | None:
        """Kinds of decision-makers side by side; None where none were named."""
        return self.record.kinds

    @property
    def portfolio(self) -> PortfolioChoice | None:
        """The models that together fail the fewest; None where no number of them was asked for."""
        return self.record.portfolio

    @cached_property
    def nulls(self) -> Listing[NullRecord]:
        """What each null model expects, and what is left over it."""
        return self._listing("nulls", self.record.nulls)

    @cached_property
    def _rows(self) -> dict[str, list[Row]]:
        from polyculture.audit.frames import tables

        return tables(self.record)

    def _listing(self, name: str, records: tuple[T, ...]) -> Listing[T]:
        return Listing(name, records, self._rows.get(name, []), self._kind)

    def individuals(self) -> Any:
        """Return the individuals whom every model that judged them failed, with label and every answer.

        This is a second pass over the rows, made when called.

        Returns
        -------
        DataFrame
            One row an individual; of the kind that the audit was given (Polars where it was none).

        Raises
        ------
        UsageError
            If the audit was made of a Tally, which holds no rows.
        """
        with collecting(getattr(self._outcomes, "table", None)):
            return self.failed_by_all().collect(backend=self._kind).to_native()

    def failed_by_all(self) -> nw.LazyFrame[Any]:
        """Return the same individuals as `individuals`, as a lazy Narwhals frame where the rows are held."""
        from polyculture.audit.individuals import failed_by_all

        if self._outcomes is None:
            raise UsageError("A Tally holds no rows, so it cannot list individuals.", hint="Audit the outcomes.")
        return failed_by_all(self._outcomes, min_judged=self.record.provenance.min_judged)

    def list_failed_by_all(self, path: str | PathLike[str]) -> Path:
        """Write the individuals whom all models failed as CSV, JSON Lines or Parquet (by the name's end).

        Raises
        ------
        OutputError, UsageError
            If the file cannot be written, or the audit was made of a Tally.
        """
        from polyculture.listing import write_listing

        with collecting(getattr(self._outcomes, "table", None)):
            write_listing(self.failed_by_all(), path)
        return Path(path)

    def list_suspect_keys(self, path: str | PathLike[str]) -> Path:
        """Write the items on which models share one answer that is not the label, as `list_failed_by_all` does.

        Raises
        ------
        OutputError, UsageError
            If the file cannot be written, or the audit was made without ``suspect_keys=True``.
        """
        import narwhals as nw

        from polyculture.audit.frames import suspect_key_frame
        from polyculture.listing import write_listing

        found = self.record.suspect_keys
        if found is None:
            raise UsageError("This audit did not look for suspect keys.", hint="Audit with suspect_keys=True.")
        write_listing(nw.from_native(suspect_key_frame(found).lazy()), path)
        return Path(path)

    def _page(self) -> str:
        from polyculture.report.html import html

        return html(self.record)

    def _write_tables(self, directory: str | PathLike[str]) -> None:
        from polyculture.report.tables import write_tables

        write_tables(self.record, directory)
