"""`polyculture tally`: outcomes in, the small tables that an audit needs out."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from polyculture.commands.options import OTHER, OUTPUT, ColumnOptions, option

_DEFAULTS = ColumnOptions()


def tally(
    *source: Annotated[str, Parameter(help="Files, globs, folders of the HAPI layout, hapi:NAME, or Tallies to add.")],
    output: Annotated[str, option(OUTPUT, "Where to write the Tally.", alias="-o")],
    columns: Annotated[ColumnOptions, Parameter(name="*")] = _DEFAULTS,
    quiet: Annotated[bool, option(OTHER, "Print nothing but errors.")] = False,
) -> int:
    """Count outcomes once and save the small tables that an audit needs.

    Tallies of parts add up: polyculture audit north.tally south.tally
    """
    from polyculture import api
    from polyculture.commands import inputs, outputs
    from polyculture.commands.progress import stages

    sources = inputs.named(source)
    mapping = columns.mapping()
    outputs.check_apart({"--output": output}, [*sources, *inputs.files(columns.map)])
    with stages(quiet=quiet) as progress:
        counted = api.tally(sources, encoding=columns.encoding, progress=progress, **mapping)
        counted.save(output)
    if not quiet:
        outputs.say(f"{counted!r} written to {output}")
    return 0
