"""What a command reads: its sources, and the command itself as the provenance shows it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from polyculture.commands import ARGUMENTS
from polyculture.errors import UsageError

__all__ = ["command_line", "named"]


def named(sources: Sequence[str]) -> list[str]:
    """Return the sources, of which there must be one.

    Raises
    ------
    UsageError
        If there is none.
    """
    if not sources:
        raise UsageError("There is no source to read.", hint="Name files, a folder, or bundled outcomes (hapi:waimai).")
    return list(sources)


def command_line() -> str:
    """Return the running command as it can be typed again."""
    return shlex.join(["polyculture", *ARGUMENTS.get()])
