"""A choice among models by itself, as written to portfolio.json; in an audit it stands without its provenance."""

from __future__ import annotations

from polyculture.audit.portfolio_choice import PortfolioChoice
from polyculture.audit.records import Provenance

PORTFOLIO_SCHEMA = "polyculture/portfolio/1"


class PortfolioRecord(PortfolioChoice, frozen=True, kw_only=True):
    """A choice among models and where its outcomes come from, as written to portfolio.json."""

    schema: str = PORTFOLIO_SCHEMA
    provenance: Provenance
