"""`polyculture panel`: how many independent votes several models, or judges, are worth."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from polyculture.commands.options import OTHER, OUTPUT, ColumnOptions, option

_DEFAULTS = ColumnOptions()


def panel(
    *source: Annotated[str, Parameter(help="Files, globs, folders of the HAPI layout, hapi:NAME, or Tallies.")],
    columns: Annotated[ColumnOptions, Parameter(name="*")] = _DEFAULTS,
    level: Annotated[
        Literal["nominal", "ordinal", "interval"],
        option(OTHER, "Without gold labels: what a difference of two ratings is: any, of ranks, of sizes (nominal)."),
    ] = "nominal",
    census: Annotated[bool, option(OTHER, "The individuals are all there are: no intervals.")] = False,
    noun: Annotated[str | None, option(OTHER, "What is judged, in the plural: reviews.")] = None,
    json: Annotated[
        str | None, option(OUTPUT, "Write the figures as JSON; - is standard output.", allow_leading_hyphen=True)
    ] = None,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Say how many independent votes several models, or judges, are worth."""
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages
    from polyculture.panels import panel as ask

    sources = inputs.named(source)
    mapping = columns.mapping()
    if json not in {None, "-"}:
        outputs.check_apart({"--json": str(json)}, [*sources, *inputs.files(columns.map)])
    with stages(quiet=quiet) as progress:
        found = ask(
            sources, level=level, census=census, noun=noun, encoding=columns.encoding, progress=progress, **mapping
        )
    if json == "-":
        outputs.write_standard_output(found.json())
    elif json is not None:
        found.json(json)
    if not quiet and json != "-":
        from rich.console import Console

        from polyculture.report.panel import print_panel

        print_panel(found.record, Console(), found.noun)
    return 0
