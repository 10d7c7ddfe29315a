"""What a command reads: its sources, and the command itself as the provenance shows it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from polyculture.commands import ARGUMENTS
from polyculture.errors import UsageError

__all__ = ["command_line", "files", "named"]


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


def files(*options: str | Path | None) -> list[str]:
    """Return the files that options name, which no output may overwrite; text such as "human=a,b" names none."""
    return [str(one) for one in options if one is not None and _is_file(one)]


def _is_file(text: str | Path) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # longer than a name may be
        return False


def command_line() -> str:
    """Return the running command as it can be typed again."""
    return shlex.join(["polyculture", *ARGUMENTS.get()])
