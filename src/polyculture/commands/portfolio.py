"""`polyculture portfolio`: which of the models at hand to use together; a summary on the screen, and files as asked."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Group, Parameter

from polyculture.commands.options import OTHER, OUTPUT, ColumnOptions, option
from polyculture.mapfile import split_list

_DEFAULTS = ColumnOptions()
CHOICE = Group("What to choose", sort_key=0)


def portfolio(
    *source: Annotated[str, Parameter(help="Files, globs, folders of the HAPI layout, hapi:NAME, or Tallies.")],
    size: Annotated[int | None, option(CHOICE, "How many models to choose (3, or one fewer than there are).")] = None,
    today: Annotated[
        tuple[str, ...], option(CHOICE, "Models in use, between commas; the choice is compared with them (all).")
    ] = (),
    swap: Annotated[bool, option(CHOICE, "Choose the best swap of one of today's models instead of a set.")] = False,
    add: Annotated[bool, option(CHOICE, "Choose the best model to add to today's instead of a set.")] = False,
    candidates: Annotated[tuple[str, ...], option(CHOICE, "Models that may be chosen, between commas (all).")] = (),
    objective: Annotated[
        Literal["systemic-failure", "majority"],
        option(CHOICE, "Fewest failed by every member, or the most accurate majority (systemic-failure)."),
    ] = "systemic-failure",
    worst_group: Annotated[
        bool, option(CHOICE, "In the group of --by that fares worst, instead of among everyone.")
    ] = False,
    most_mean_failure: Annotated[
        float | None, option(CHOICE, "Highest mean failure rate of the chosen models, such as 0.2.")
    ] = None,
    columns: Annotated[ColumnOptions, Parameter(name="*")] = _DEFAULTS,
    splits: Annotated[int, option(OTHER, "Random halvings for the held-out value (25).")] = 25,
    min_cell: Annotated[int, option(OTHER, "Groups of fewer individuals have no part in the worst group (30).")] = 30,
    census: Annotated[bool, option(OTHER, "The individuals are all there are: no intervals.")] = False,
    seed: Annotated[int, option(OTHER, "Seed of every random draw (0).")] = 0,
    noun: Annotated[str | None, option(OTHER, "What the individuals are, in the plural: applicants.")] = None,
    json: Annotated[
        str | None, option(OUTPUT, "Write the figures as JSON; - is standard output.", allow_leading_hyphen=True)
    ] = None,
    html: Annotated[str | None, option(OUTPUT, "Write the report as one HTML file.")] = None,
    tables: Annotated[str | None, option(OUTPUT, "Write every table as CSV into this folder.")] = None,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Choose among models: the set, the swap or the addition after which the fewest individuals are failed by all."""
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages
    from polyculture.portfolios import portfolio as ask

    sources = inputs.named(source)
    mapping = columns.mapping()
    targets = {"--json": None if json == "-" else json, "--html": html, "--tables": tables}
    outputs.check_apart({name: path for name, path in targets.items() if path is not None}, sources)
    with stages(quiet=quiet) as progress:
        found = ask(
            sources,
            size=size,
            today=tuple(one for text in today for one in split_list(text)),
            candidates=tuple(one for text in candidates for one in split_list(text)),
            swap=swap,
            add=add,
            objective=objective,
            worst_group=worst_group,
            most_mean_failure=most_mean_failure,
            splits=splits,
            min_cell=min_cell,
            seed=seed,
            census=census,
            noun=noun,
            command=inputs.command_line(),
            encoding=columns.encoding,
            progress=progress,
            **mapping,
        )
        if html is not None:
            progress("Drawing the report")
            found.report(html)
        if tables is not None:
            found.tables(tables)
        if json not in {None, "-"}:
            found.json(str(json))
    if json == "-":
        outputs.write_standard_output(found.json())
    elif not quiet:
        from rich.console import Console

        from polyculture.report.portfolio import print_portfolio

        print_portfolio(found.record, Console())
        written = [path for path in (html, json, tables) if path is not None]
        if written:
            outputs.say(f"Written: {', '.join(written)}")
    return 0
