"""`polyculture compare`: two snapshots in; what changed on the screen, and files as asked."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from polyculture.commands.options import COLUMNS, OTHER, OUTPUT, ColumnOptions, option

_DEFAULTS = ColumnOptions()


def compare(
    *source: Annotated[
        str,
        Parameter(
            help="BEFORE and AFTER: files, globs or folders; or one table that holds all snapshots; or files that "
            "--tally wrote, which add up."
        ),
    ],
    columns: Annotated[ColumnOptions, Parameter(name="*")] = _DEFAULTS,
    match: Annotated[
        tuple[str, ...], option(COLUMNS, "OLD=NEW: a model whose later version has another name. May be repeated.")
    ] = (),
    repeat: Annotated[
        str | None, option(COLUMNS, "The earlier versions asked again: what changes without a new version.")
    ] = None,
    min_cell: Annotated[int, option(OTHER, "Groups of fewer individuals are counted, not measured (30).")] = 30,
    census: Annotated[bool, option(OTHER, "The individuals are all there are: no intervals.")] = False,
    seed: Annotated[int, option(OTHER, "Seed of every random draw (0).")] = 0,
    noun: Annotated[str | None, option(OTHER, "What the individuals are, in the plural: applicants.")] = None,
    json: Annotated[
        str | None, option(OUTPUT, "Write the comparison as JSON; - is standard output.", allow_leading_hyphen=True)
    ] = None,
    html: Annotated[str | None, option(OUTPUT, "Write the report as one HTML file.")] = None,
    tables: Annotated[str | None, option(OUTPUT, "Write every table as CSV into this folder.")] = None,
    tally: Annotated[
        str | None,
        option(OUTPUT, "Keep the counts in this file: compare reads it again, and adds up those of parts."),
    ] = None,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Say what changed between snapshots of the same models on the same individuals, and whom it reached.

    One table: with --snapshot COLUMN it holds two or more snapshots; with --match both versions are columns of it.
    """
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages
    from polyculture.comparison import compare as ask
    from polyculture.errors import UsageError
    from polyculture.mapfile import split_list
    from polyculture.saved import saved_snapshots

    sources = inputs.named(source)
    counts = bool(saved_snapshots(sources))
    if len(sources) > 2 and not counts:
        raise UsageError(
            f"compare takes BEFORE and AFTER, not {len(sources)} sources.",
            hint="Quote a glob ('2020/*.csv'), or put all snapshots into one table and add --snapshot COLUMN.",
        )
    mapping = columns.mapping()
    written = {"--html": html, "--tables": tables, "--tally": tally, "--json": None if json == "-" else json}
    read = [*sources, *([repeat] if repeat is not None else [])]
    outputs.check_apart({option: path for option, path in written.items() if path is not None}, read)
    with stages(quiet=quiet) as progress:
        found = ask(
            sources if counts else sources[0],
            sources[1] if len(sources) == 2 and not counts else None,
            match=[pair for text in match for pair in split_list(text)],
            repeat=repeat,
            min_cell=min_cell,
            census=census,
            seed=seed,
            noun=noun,
            encoding=columns.encoding,
            command=inputs.command_line(),
            progress=progress,
            **mapping,
        )
        if tally is not None:
            found.tally.save(tally)
        if html is not None:
            progress("Drawing the report")
            found.report(html)
        if tables is not None:
            progress("Writing the tables")
            found.tables(tables)
        if json is not None and json != "-":
            found.json(json)
    if json == "-":
        outputs.write_standard_output(found.json())
    elif not quiet:
        from rich.console import Console

        from polyculture.report.compare_terminal import print_comparison

        print_comparison(found.record, Console())
        named = [path for path in (html, json, tables, tally) if path is not None]
        if named:
            outputs.say(f"Written: {', '.join(named)}")
    return 0
