"""What the results of both experiments of `pc.lab` have in common, and the way to one: run, measure, write.

A result is a frozen record and the store that it was measured from; its tables and page stand with it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeVar
from weakref import finalize

from polyculture.giving import Reported
from polyculture.lab.folder import locked

__all__ = ["AnyPath", "Experiment", "carried_out"]

AnyPath = str | PathLike[str]


class Experiment(Reported):
    """What an experiment found. ``record`` holds the figures, ``store`` what they were measured from."""

    store: Any

    def __repr__(self) -> str:
        return self.headline

    @property
    def headline(self) -> str:
        """The first sentence of the report."""
        return str(self.record.headline)

    def write(self, directory: AnyPath) -> Path:
        """Write sharing.json or loop.json, report.html and the folder ``tables``, and return the folder.

        Raises
        ------
        OutputError
            If a file cannot be written.
        """
        target = Path(directory)
        self.json(target / f"{self._named}.json")
        self.report(target / "report.html")
        self.tables(target / "tables")
        return target


S = TypeVar("S")
E = TypeVar("E", bound=Experiment)


def carried_out(
    run: Callable[[Path], S],
    measure: Callable[[S], E],
    out: AnyPath | None,
    progress: Callable[[str], None] | None,
) -> E:
    """Run an experiment, measure what it left, and write the results.

    Parameters
    ----------
    run : callable
        Fills the store in a folder, and returns it.
    measure : callable
        The result of a store.
    out : path or None
        Folder of the results; None for a temporary one, which lives as long as the store.
    progress : callable or None
        Called with what is being done, in words.
    """
    tell = progress or (lambda _: None)
    with ExitStack() as ending:
        target = Path(mkdtemp(prefix="polyculture-") if out is None else out)
        if out is None:
            ending.callback(rmtree, target, ignore_errors=True)
        store = run(target)
        tell("Measuring")
        found = measure(store)
        if out is None:
            finalize(store, ending.pop_all().close)
        else:
            tell("Writing the report")
            with locked(target, wait=True):  # another run of the same plan may be at it: it writes the same
                found.write(target)
    return found
