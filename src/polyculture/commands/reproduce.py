"""`polyculture reproduce`: a published analysis by name; claims and verdicts on the screen, and files as asked."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from polyculture.commands.options import OTHER, OUTPUT, option


def reproduce(
    name: Annotated[str, Parameter(help="Which analysis: ecosystem-level (2307.05862).")],
    /,
    *,
    data: Annotated[
        str | None, Parameter(help="Folder of the HAPI layout: later years are audited too.", show_default=False)
    ] = None,
    dermatology: Annotated[
        str | None,
        Parameter(help="Table of predictions of models and human experts, a row an image.", show_default=False),
    ] = None,
    map: Annotated[  # noqa: A002 (the word of the shell)
        str | None,
        Parameter(
            help="TOML file: what its columns mean (default: image, label, skin_tone, model_*, human_*).",
            show_default=False,
        ),
    ] = None,
    kinds: Annotated[
        str | None, Parameter(help="Its kinds, as in audit (default: model=model_*,human=human_*).", show_default=False)
    ] = None,
    out: Annotated[
        str | None, option(OUTPUT, "Write reproduction.json, report.html and CSV tables into this folder.")
    ] = None,
    json: Annotated[
        str | None,
        option(OUTPUT, "Write the claims and audits as JSON; - is standard output.", allow_leading_hyphen=True),
    ] = None,
    seed: Annotated[int, option(OTHER, "Seed of every random draw (0).")] = 0,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Do a published analysis again, and hold what the paper reports against what is found."""
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages
    from polyculture.reproductions import reproduce as do

    targets = {"--out": out, "--json": None if json == "-" else json}
    sources = inputs.files(dermatology, map, kinds)
    outputs.check_apart({option: path for option, path in targets.items() if path is not None}, sources)
    with stages(quiet=quiet) as progress:
        found = do(
            name,
            data=data,
            dermatology=dermatology,
            map=map,
            kinds=kinds,
            seed=seed,
            command=inputs.command_line(),
            progress=progress,
        )
        if out is not None:
            progress("Writing the report")
            found.write(out)
        if json is not None and json != "-":
            found.json(json)
    if json == "-":
        outputs.write_standard_output(found.json())
    elif not quiet:
        from rich.console import Console

        from polyculture.report.reproduction import print_reproduction

        print_reproduction(found.record, Console())
        written = [path for path in (out, json) if path is not None]
        if written:
            outputs.say(f"Written: {', '.join(written)}")
    return 0
