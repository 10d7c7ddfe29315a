"""What the outputs say of components: their chart, the words about unknown values, and rows for the terminal.

Reads an AuditRecord and computes nothing; HTML stands in the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from polyculture.audit.records import AuditRecord, ComponentRecord, ComponentsRecord
from polyculture.report import words
from polyculture.report.charts import Chart, minus
from polyculture.report.plots import interval_rows
from polyculture.report.vega import NUMBER_LABEL

if TYPE_CHECKING:
    from polyculture.report.terminal import Screen

__all__ = ["components_chart", "context", "print_components"]

MOST_NAMED = 5
MOST_ROWS = 12


def context(record: AuditRecord) -> dict[str, Any]:
    """Return what the section "components" needs beside the record."""
    found = record.components
    if found is None:
        return {"component_words": (), "component_categories": (), "component_numbers": ()}
    return {
        "component_words": (*_source(found), *remarks(found)),
        "component_categories": tuple(one for one in found.components if one.kind == "category"),
        "component_numbers": tuple(one for one in found.components if one.kind != "category"),
        "component_variation": variation(found),
        "component_names": named,
    }


def components_chart(components: Sequence[ComponentRecord]) -> Chart | None:
    """Return mean likeness of pairs that share each component beside that of pairs that do not; None without any.

    Numbers and dates have no such pairs and are left to the table.
    """
    drawn = [one for one in components if one.within.value is not None and one.between.value is not None]
    if not drawn:
        return None
    rows = []
    for order, one in enumerate(drawn):
        within, between = words.number(one.within, "number"), words.number(one.between, "number")
        told = f"others {between}"
        rows.append(
            {
                "order": order,
                "label": words.shown(one.name),
                "value": one.within.value,
                "low": one.within.low,
                "high": one.within.high,
                "expected": one.between.value,
                "text": minus(within),
                "interval": minus(told),
                "both": minus(f"{within}, {told}"),
                "component": one.name,
            }
        )
    title = "mean kappa of pairs of models"
    return Chart(
        interval_rows(rows, "wide", title=title, label=NUMBER_LABEL),
        interval_rows(rows, "compact", title=title, label=NUMBER_LABEL),
        rows,
    )


def named(models: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return some names as a list, the first of many.

    >>> named(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = [words.shown(model) for model in models]
    if len(shown) <= most:
        return words.listed(shown)
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def remarks(found: ComponentsRecord) -> Iterable[str]:
    """Yield what a reader must know beside the numbers: models without a row, unknown values, near-duplicates."""
    if found.without_row:
        yield f"The table holds no row of {named(found.without_row)}: what they are made of counts as not known."
    unknown = [
        f"{words.shown(one.name)} of {words.plural(len(one.unknown), 'model')}"
        for one in found.components
        if len(one.unknown) > len(found.without_row)
    ]
    if unknown:
        yield (
            f"Not known: {words.listed(unknown)}. What is not known is shared with nobody, and its pairs take no part."
        )
    if found.near_duplicates_left_out:
        told = [
            f"{words.shown(one.name)} {words.ratio(one.without_near_duplicates)}"
            for one in found.components
            if one.without_near_duplicates is not None
        ]
        if told:
            yield (
                f"Without {named(found.near_duplicates_left_out)}, which may be the same as other models here, the "
                f"difference (of numbers and dates the correlation) is: {words.listed(told)}."
            )
    yield from found.notes


def _source(found: ComponentsRecord) -> Iterable[str]:
    if found.sha256 is not None:
        yield f"What the models are made of stands in {words.shown(found.source)} (SHA-256 {found.sha256[:12]}...)."


def variation(found: ComponentsRecord) -> str:
    """Return in a sentence how much of the variation of likeness goes with accuracies and components."""
    fitted = found.regression
    if fitted.reason:
        return f"There is no regression of all together: {fitted.reason}."
    text = f"{words.count(fitted.pairs)} pairs of {words.plural(fitted.models, 'model')}."
    if fitted.accuracies_share is not None:
        text += f" Of the variation of likeness {words.percent(fitted.accuracies_share)} goes with the two accuracies"
        if fitted.components_share is not None:
            text += f"; of what they leave, {words.percent(max(fitted.components_share, 0.0))} goes with the components"
        text += "."
    if fitted.left_out:
        text += f" Left out, as a value of theirs is not known: {named(fitted.left_out)}."
    return text


def print_components(record: AuditRecord, screen: Screen) -> None:
    """Print the sentence, the components beside each other, and what one model of each family would do."""
    found = record.components
    if found is None:
        return
    screen.paragraph(found.sentence)
    screen.blank()
    columns = ["component", "models", "same", "different", "difference", "p corr."]
    table = screen.table("Mean kappa of pairs of models, by what they share", *columns)
    for one in found.components[:MOST_ROWS]:
        corrected = words.p_value(one.p_adjusted)
        if one.kind == "category":
            numbers = [words.number(value, "number") for value in (one.within, one.between)]
            difference = words.statistic(one.difference, "number", with_interval=not screen.narrow)
            cells = [*numbers, difference.partition(":")[0]]
        else:
            told = words.statistic(one.correlation, "number", with_interval=not screen.narrow).partition(":")[0]
            cells = ["", "correlation", told]
        screen.row(table, one.name, words.count(one.models), *cells, corrected)
    if len(found.components) > MOST_ROWS:
        screen.row(table, f"... and {len(found.components) - MOST_ROWS} more, see --tables")
    screen.show(table)
    for drawn in found.what_if:
        if drawn.systemic_failure.value is not None:
            screen.paragraph(drawn.sentence)
    for text in remarks(found):
        screen.paragraph(text)
    screen.blank()
