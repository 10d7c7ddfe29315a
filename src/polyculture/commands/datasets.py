"""`polyculture datasets`: what comes with the package."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from polyculture.commands.options import OTHER


def datasets(
    *, json: Annotated[bool, Parameter(group=OTHER, help="Print JSON.", negative="", show_default=False)] = False
) -> int:
    """List the outcomes that come with polyculture."""
    from polyculture.commands.outputs import say, write_standard_output
    from polyculture.datasets import listing

    found = listing()
    if json:
        import msgspec

        write_standard_output(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
        return 0
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("individuals", justify="right", no_wrap=True)
    table.add_column("models")
    table.add_column("what")
    for entry in found:
        table.add_row(entry.name, f"{entry.individuals:,}", ", ".join(entry.models) or "-", entry.line)
    Console(markup=False, highlight=False).print(table)
    say("polyculture audit hapi:NAME audits one of them; pc.datasets.german_credit() is a table to train on.")
    return 0
