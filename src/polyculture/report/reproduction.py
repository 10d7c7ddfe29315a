"""A reproduction on the terminal, as one HTML page, and in a notebook: claims, verdicts, profiles side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup

from polyculture.audit.records import Statistic
from polyculture.claims.records import VERDICTS, AuditedSnapshot, ClaimRecord, ReproductionRecord
from polyculture.report import words
from polyculture.report.charts import profile_chart
from polyculture.report.html import environment, template_text
from polyculture.report.improvement import improvement_rows, show_improvements, undoing_chart, years
from polyculture.report.lab_charts import is_cut, ratio_chart
from polyculture.report.sections import MOST_TABLE_ROWS, Figure, figure, kinds_context

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["found_words", "html", "print_reproduction", "published_words", "repr_html", "small_multiples"]

MOST_LISTED = 12
_KINDS = {"share": "percent", "points": "points", "ratio": "ratio", "number": "number"}


class Multiple(NamedTuple):
    """One of the small multiples: a data set and its profile."""

    snapshot: AuditedSnapshot
    figure: Figure | None


def published_words(claim: ClaimRecord) -> str:
    """Return the published number with the decimals that it is printed with; a direction has none."""
    if claim.published is None:
        return ""
    if claim.unit == "count":
        return words.count(int(claim.published))
    if claim.unit in {"ratio", "number"}:
        return f"{claim.published:.{claim.decimals}f}"
    decimals = max(claim.decimals - 2, 0)
    if claim.unit == "points":
        return f"{claim.published * 100:+.{decimals}f} points"
    return f"{claim.published * 100:.{decimals}f} %"


def found_words(claim: ClaimRecord) -> str:
    """Return what was found, without its interval."""
    value = claim.found.value
    if value is None:
        return ""
    return words.count(int(value)) if claim.unit == "count" else words.number(claim.found, _KINDS[claim.unit])


def interval_words(claim: ClaimRecord) -> str:
    """Return the interval of what was found, or an empty string."""
    return "" if claim.unit == "count" else words.interval(claim.found, _KINDS[claim.unit])


def small_multiples(snapshots: Sequence[AuditedSnapshot]) -> list[Multiple]:
    """Return a profile a data set, all on one axis, those of one period and of all models judging everyone."""
    ends = [
        end
        for snapshot in snapshots
        for row in snapshot.profile
        for end in (row.expected, row.observed.high, row.observed.value)
        if end is not None
    ]
    largest = max(ends, default=1.0)
    return [
        Multiple(
            snapshot,
            figure(f"profile-{index}", profile_chart(_most_common(snapshot), snapshot.noun, largest=largest)),
        )
        for index, snapshot in enumerate(snapshots)
        if snapshot.profile
    ]


def _most_common(snapshot: AuditedSnapshot) -> list[Any]:
    """Return the profile of the most common number of judgements."""
    sizes: dict[int, list[Any]] = {}
    for row in snapshot.profile:
        sizes.setdefault(row.judged, []).append(row)
    return max(sizes.values(), key=lambda rows: sum(row.count for row in rows))


def claims_of_ratios(record: ReproductionRecord) -> list[ClaimRecord]:
    """Return the claims of the statement that is looked at most often, where it is one of a ratio; of at least two."""
    found: dict[str, list[ClaimRecord]] = {}
    for claim in record.claims:
        if claim.unit == "ratio" and claim.judged_by == "direction" and claim.found.value is not None:
            found.setdefault(claim.statement, []).append(claim)
    most = max(found.values(), key=len, default=[])
    return most if len(most) > 1 else []


def html(record: ReproductionRecord, *, experiment: str = "") -> str:
    """Return the reproduction as one HTML page that requests nothing from anywhere.

    Parameters
    ----------
    record : ReproductionRecord
        What it shows.
    experiment : str
        Where the page of its experiment lies, from the folder of this one; empty where there is none.
    """
    ratios = claims_of_ratios(record)
    entries = [(one.about, one.found, "systemic" if one.about.startswith("all ") else "learner") for one in ratios]
    changes = improvement_rows(record.improvements)
    page: str = (
        environment()
        .get_template("reproduction.html.jinja")
        .render(
            record=record,
            style=template_text("report.css"),
            script="",
            verdicts=VERDICTS,
            groups=_by_source(record.claims),
            published=published_words,
            found=found_words,
            found_interval=interval_words,
            reason=lambda claim: words.reason_of(claim.found),
            experiment=experiment,
            ratios_claim=ratios[0].statement if ratios else "",
            ratios_figure=figure("ratios", ratio_chart(entries, title="ratio")),
            ratios_cut=is_cut([one.found for one in ratios]),
            multiples=small_multiples(record.snapshots),
            changes=changes,
            changes_figure=figure("improvement", undoing_chart(changes)),
            years=years,
            kinds=None if record.dermatology is None else kinds_context(record.dermatology, "images"),
            noun="images",
            census=False,
            most_rows=MOST_TABLE_ROWS,
        )
    )
    return page


def repr_html(record: ReproductionRecord) -> str:
    """Return the sentence and the counts of verdicts as an HTML table."""
    rows = Markup("").join(
        Markup("<tr><td>{}</td><td>{}</td></tr>").format(verdict, record.verdicts[verdict]) for verdict in VERDICTS
    )
    return str(
        Markup("<div><p><strong>{}</strong></p><table><tbody>{}</tbody></table></div>").format(
            words.shown(record.sentence), rows
        )
    )


def print_reproduction(record: ReproductionRecord, console: Console) -> None:
    """Print a reproduction, the sentence that matters first."""
    from polyculture.report.terminal import Screen

    screen = Screen(console)
    screen.paragraph(record.sentence, style="bold")
    screen.blank()
    table = screen.table("Claims by part of the paper", "part", *VERDICTS)
    for source, claims in _by_source(record.claims).items():
        counts = [sum(claim.verdict == verdict for claim in claims) for verdict in VERDICTS]
        screen.row(table, _part(source), *(str(count or "") for count in counts))
    screen.show(table)
    if record.snapshots:
        _data_sets(record, screen)
    show_improvements(record.improvements, screen)
    _claims_in_words(record, screen)
    for note in record.notes:
        screen.paragraph(f"- {note}")


def _data_sets(record: ReproductionRecord, screen: Any) -> None:
    table = screen.table(
        "Data sets, shares in %", "data set", "year", "examples", "all fail", "expected", "H", "none fails", "expected"
    )
    for one in record.snapshots:
        top, bottom = one.systemic_failure, one.consistent_success
        shares = [_bare(top.observed), words.expected(top.expected), words.number(top.ratio, "ratio")]
        shares += [_bare(bottom.observed), words.expected(bottom.expected)]
        cells = [one.dataset, one.period, words.count(one.individuals), *(cell.removesuffix(" %") for cell in shares)]
        screen.row(table, *cells)
    screen.show(table)


def _claims_in_words(record: ReproductionRecord, screen: Any) -> None:
    """Print the claims that do not agree, one by one, and those not tested by reason."""
    odd = [claim for claim in record.claims if claim.verdict in {"disagrees", "cannot tell"}]
    for claim in odd[:MOST_LISTED]:
        found = found_words(claim) if claim.unit == "count" else words.statistic(claim.found, _KINDS[claim.unit])
        published = published_words(claim)
        told = f"; published {published}" if published else ""
        screen.paragraph(f"{claim.verdict.capitalize()}: {claim.about}: {claim.statement}{told}, found {found}")
    if len(odd) > MOST_LISTED:
        screen.paragraph(f"... and {len(odd) - MOST_LISTED} more, see --out")
    reasons: dict[str, int] = {}
    for claim in record.claims:
        if claim.verdict == "not tested":
            reasons[claim.reason] = reasons.get(claim.reason, 0) + 1
    for reason, count in reasons.items():
        screen.paragraph(f"Not tested: {words.plural(count, 'claim')}: {reason}")
    screen.blank()


def _bare(value: Statistic) -> str:
    return words.number(value)


def _by_source(claims: Sequence[ClaimRecord]) -> dict[str, list[ClaimRecord]]:
    found: dict[str, list[ClaimRecord]] = {}
    for claim in claims:
        found.setdefault(claim.source, []).append(claim)
    return found


def _part(source: str) -> str:
    """Return which part of the paper a source is, without the paper's number.

    >>> _part("2307.05862, model improvement")
    'model improvement'
    """
    return source.partition(", ")[2].partition(" (")[0] or source
