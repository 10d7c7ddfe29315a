"""AuditRecord to one self-contained HTML file, and to the compact view of a notebook.

Templates hold the words and the structure, ``sections`` what each part shows, ``charts`` the pictures.
No file is written here; nothing is fetched. The page is complete without JavaScript: one small script, allowed
by its hash, puts a search field above long tables.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.audit.portfolio_records import PortfolioRecord
from polyculture.audit.records import AuditRecord
from polyculture.report import portfolio, sections, words
from polyculture.report.markup import FILTERS, Footnotes

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "html", "portfolio_html", "portfolio_repr_html", "repr_html", "template_text"]

MOST_UNSEARCHED = 25  # rows of families without a search field above them
_TEMPLATES = Path(__file__).parent / "templates"


def html(record: AuditRecord) -> str:
    """Return the report as one HTML page that requests nothing from anywhere.

    Parameters
    ----------
    record : AuditRecord
        What an audit returned.

    Returns
    -------
    str
        HTML with inline styles and SVG charts; all text from data is escaped.
    """
    context = sections.context(record)
    if record.portfolio is not None:
        context["choice"] = portfolio.choice_context(record.portfolio)
    searched = context["pair_tables"] is not None and bool(context["pair_tables"].every)
    searched = searched or (record.components is not None and len(record.components.families) > MOST_UNSEARCHED)
    script = template_text("filter.js") if searched else ""
    page: str = (
        environment()
        .get_template("report.html.jinja")
        .render(
            record=record,
            style=template_text("report.css"),
            script=script,
            script_hash=_hash(script),
            most_unsearched=MOST_UNSEARCHED,
            **context,
        )
    )
    return page


def repr_html(record: AuditRecord) -> str:
    """Return a compact view for notebooks: the headline, the three outcomes and the models.

    Parameters
    ----------
    record : AuditRecord
        What an audit returned.

    Returns
    -------
    str
        An HTML fragment whose style touches nothing outside of it.
    """
    view: str = (
        environment()
        .get_template("notebook.html.jinja")
        .render(record=record, style=template_text("notebook.css"), outcomes=sections.outcomes(record))
    )
    return view


def portfolio_html(record: PortfolioRecord) -> str:
    """Return the report of a choice among models as one HTML page that requests nothing from anywhere.

    Parameters
    ----------
    record : PortfolioRecord
        What `portfolio` found.
    """
    page: str = (
        environment()
        .get_template("portfolio.html.jinja")
        .render(record=record, style=template_text("report.css"), **portfolio.context(record))
    )
    return page


def portfolio_repr_html(record: PortfolioRecord) -> str:
    """Return a compact view of a choice among models for notebooks: an HTML fragment with a style of its own."""
    view: str = (
        environment()
        .get_template("portfolio-notebook.html.jinja")
        .render(record=record, style=template_text("notebook.css"), **portfolio.context(record))
    )
    return view


def _hash(script: str) -> str:
    """Return the hash by which the page's policy allows this script and no other."""
    return b64encode(sha256(script.encode()).digest()).decode()


def template_text(name: str) -> str:
    """Return a file of the templates as it is."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Return the environment of all templates: escaping, strict, with the filters of ``markup``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(FILTERS)
    found.globals.update(footnotes=Footnotes, words=words)
    return found
