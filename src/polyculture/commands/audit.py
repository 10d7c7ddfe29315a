"""`polyculture audit`: outcomes in; a summary on the screen, and files as asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from polyculture.commands.options import COLUMNS, OTHER, OUTPUT, ColumnOptions, option
from polyculture.mapfile import split_list

if TYPE_CHECKING:
    from polyculture.commands.progress import Stages
    from polyculture.outcomes import Outcomes
    from polyculture.tally import Tally

_DEFAULTS = ColumnOptions()


def audit(
    *source: Annotated[
        str, Parameter(help="Files, globs, folders of the HAPI layout, hapi:NAME, or files that `tally` wrote.")
    ],
    columns: Annotated[ColumnOptions, Parameter(name="*")] = _DEFAULTS,
    min_cell: Annotated[int, option(OTHER, "Groups of fewer individuals are counted, not measured (30).")] = 30,
    census: Annotated[bool, option(OTHER, "The individuals are all there are: no intervals.")] = False,
    correction: Annotated[
        Literal["bh", "holm"], option(OTHER, "Correction of p-values over groups: Benjamini-Hochberg (bh) or Holm.")
    ] = "bh",
    seed: Annotated[int, option(OTHER, "Seed of every random draw (0).")] = 0,
    nulls: Annotated[
        str,
        option(OTHER, "Models of chance beside independence: all, or names such as rasch,2pl,factors-1,classes-2."),
    ] = "",
    slices: Annotated[
        str, option(OTHER, "Columns to search for slices that fail together more than others, between commas; or all.")
    ] = "",
    slices_by: Annotated[
        Literal["excess", "systemic-failure"],
        option(OTHER, "What slices are found by: failures in excess of the slice's own rates, or failures by all."),
    ] = "excess",
    components: Annotated[
        str | None,
        option(OTHER, 'Table of what the models are made of: CSV (model,vendor,...) or TOML ([models."name"]).'),
    ] = None,
    kinds: Annotated[
        str | None,
        option(COLUMNS, "Kinds of decision-makers to compare: 'human=expert_*,model=api_*', or a TOML file."),
    ] = None,
    portfolio: Annotated[
        int | None,
        option(OTHER, "Choose so many of the models: those that together fail the fewest (`portfolio` asks more)."),
    ] = None,
    noun: Annotated[str | None, option(OTHER, "What the individuals are, in the plural: applicants.")] = None,
    json: Annotated[
        str | None, option(OUTPUT, "Write the audit as JSON; - is standard output.", allow_leading_hyphen=True)
    ] = None,
    html: Annotated[str | None, option(OUTPUT, "Write the report as one HTML file.")] = None,
    tables: Annotated[str | None, option(OUTPUT, "Write every table as CSV into this folder.")] = None,
    failed_by_all: Annotated[
        str | None,
        option(OUTPUT, "List whom all models failed, with label and every answer (.csv, .jsonl or .parquet)."),
    ] = None,
    suspect_keys: Annotated[
        str | None,
        option(OUTPUT, "List items whose label several models contradict with one answer (.csv, .jsonl or .parquet)."),
    ] = None,
    dry_run: Annotated[bool, option(OTHER, "Say how the data were understood, and compute nothing.")] = False,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Audit the outcomes of several models on the same individuals."""
    from polyculture import api
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages

    targets = outputs.Targets(
        json=json, html=html, tables=tables, failed_by_all=failed_by_all, suspect_keys=suspect_keys
    )
    sources = inputs.named(source)
    mapping = columns.mapping()
    targets.check([*sources, *inputs.files(components, columns.map, kinds)])
    if html is not None and not dry_run:
        from polyculture.report.vega import warm_up

        warm_up()  # starts while the files are read
    with stages(quiet=quiet) as progress:
        if dry_run:
            understood = api.understand(_opened(sources, columns.encoding, progress, mapping))
            progress.stop()
            outputs.say("\n".join(understood.lines()))
            return 0
        result = api.audit(
            sources,
            min_cell=min_cell,
            seed=seed,
            census=census,
            suspect_keys=suspect_keys is not None,
            correction=correction,
            noun=noun,
            slices=split_list(slices),
            slices_by=slices_by,
            components=components,
            nulls=[name.strip() for name in nulls.split(",") if name.strip()],
            kinds=kinds,
            portfolio=portfolio,
            command=inputs.command_line(),
            encoding=columns.encoding,
            progress=progress,
            **mapping,
        )
        targets.write(result, progress)
    if not quiet and json != "-":
        targets.summarize(result)
    return 0


def _opened(sources: list[str], encoding: str | None, progress: Stages, mapping: dict[str, Any]) -> Outcomes | Tally:
    """Open outcomes, or the Tallies that were saved of them."""
    from polyculture import api
    from polyculture.saved import saved_tallies

    if saved_tallies(sources):
        return api.tally(sources, encoding=encoding, progress=progress, **mapping)
    return api.read(sources, encoding=encoding, progress=progress, **mapping)
