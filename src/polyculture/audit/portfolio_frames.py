"""A portfolio as tables: plain rows for CSV files and frames. Numbers are copied, never computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyculture.audit.frames import Row, flatten, statistic_columns

if TYPE_CHECKING:
    from polyculture.audit.portfolio_choice import PortfolioChoice

PORTFOLIO_TABLES = ("portfolio", "portfolio_sets", "portfolio_models", "alternatives", "appeals")


def portfolio_tables(record: PortfolioChoice) -> dict[str, list[Row]]:
    """Return every table of a portfolio as plain rows.

    Parameters
    ----------
    record : PortfolioChoice
        What `portfolio` found.

    Returns
    -------
    dict of str to list of dict
        The tables that hold something: portfolio (the held-out figures), portfolio_sets (the chosen set, today's
        models, and the sets within noise), portfolio_models, alternatives, appeals, notes.
    """
    aside = ("schema", "provenance", "chosen", "today", "headline", "noun")
    sets = [("chosen", record.chosen), ("today", record.today), *(("within noise", one) for one in record.within_noise)]
    found: dict[str, list[Row]] = {
        "portfolio": [flatten(record, leave_out=aside)],
        "portfolio_sets": [
            {
                "role": role,
                **flatten(one, leave_out=("difference",)),
                **({} if one.difference is None else statistic_columns("difference", one.difference)),
            }
            for role, one in sets
        ],
        "portfolio_models": [flatten(one) for one in record.models],
        "alternatives": [flatten(one) for one in record.alternatives],
        "appeals": [flatten(one) for one in record.appeals],
        "notes": [{"note": note} for note in record.notes],
    }
    return {name: rows for name, rows in found.items() if rows}
