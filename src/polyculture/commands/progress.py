"""What is being done, on standard error: only on a terminal, and only once it has taken a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["Stages", "stages"]

DELAY = 1.0


class Stages:
    """Shows the latest of the stages that it is called with.

    Parameters
    ----------
    shown : bool
        False swallows them all.
    delay : float
        Seconds before anything is shown.
    """

    def __init__(self, *, shown: bool, delay: float = DELAY) -> None:
        self._shown, self._lock = shown, threading.Lock()
        self._status: Status | None = None
        self._text = "Reading"
        self._timer = threading.Timer(delay, self._start)
        self._timer.daemon = True
        if shown:
            self._timer.start()

    def __call__(self, stage: str) -> None:
        """Say what is being done now."""
        with self._lock:
            self._text = stage
            if self._status is not None:
                self._status.update(f"{stage} ...")

    def _start(self) -> None:
        from rich.console import Console
        from rich.status import Status

        with self._lock:
            if self._shown:
                self._status = Status(f"{self._text} ...", console=Console(stderr=True, markup=False))
                self._status.start()

    def stop(self) -> None:
        """Take the line away; further stages are not shown."""
        self._timer.cancel()
        with self._lock:
            self._shown = False
            if self._status is not None:
                self._status.stop()
                self._status = None


@contextmanager
def stages(*, quiet: bool) -> Iterator[Stages]:
    """Show stages while a block runs, where standard error is a terminal."""
    found = Stages(shown=not quiet and sys.stderr.isatty())
    try:
        yield found
    finally:
        found.stop()
