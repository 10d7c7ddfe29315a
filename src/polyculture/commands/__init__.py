"""The commands of the shell, one module each: arguments in, calls of `polyculture.api` out; no logic."""

from contextvars import ContextVar

ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("ARGUMENTS", default=())
"""The words after ``polyculture`` of the command that is running, for the provenance."""
