"""What the stores of all experiments have in common: a manifest, files named by their SHA-256, one run at a time.

Every file is renamed into place whole, and carries the beginning of its sum in its name: a run that was killed is
taken up where it stopped, and ends with the same bytes as one that was not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from shutil import rmtree
from typing import Any, Protocol, TypeVar

import msgspec

from polyculture._version import __version__
from polyculture.errors import FileError, OutputError, UsageError, first_few
from polyculture.files import atomic_write, output_error

__all__ = [
    "LIBRARIES",
    "Held",
    "begin",
    "differing",
    "foreign",
    "incomplete",
    "locked",
    "note",
    "read_manifest",
    "summed",
    "summed_files",
    "sweep",
    "versions",
]

LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib", "polars", "narwhals")


class Held(Protocol):
    """What every manifest says: schema, plan, the data by SHA-256, and the versions used."""

    @property
    def schema(self) -> str: ...  # noqa: D102
    @property
    def plan(self) -> Any: ...  # noqa: D102
    @property
    def data(self) -> dict[str, str]: ...  # noqa: D102
    @property
    def versions(self) -> dict[str, str]: ...  # noqa: D102


M = TypeVar("M", bound=Held)


def versions(libraries: tuple[str, ...] = LIBRARIES) -> dict[str, str]:
    """Return the versions of what results are computed with: polyculture, Python and those libraries that are there."""
    found = {"polyculture": __version__, "python": python_version()}
    for library in libraries:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def begin(path: Path, manifest: M, first: Callable[[], Mapping[str, bytes]]) -> bool:
    """Make the folder of a store, or find the same one there.

    Parameters
    ----------
    path : Path
        The folder.
    manifest : Held
        What it is to hold.
    first : callable
        Gives the files that stand in it from the beginning, by name.

    Returns
    -------
    bool
        Whether the store was there already.

    Raises
    ------
    UsageError
        If the store there is of another plan, other data or other versions of libraries.
    FileError
        If its manifest is damaged.
    OutputError
        If it cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise output_error(path, error) from error
    sweep(path)
    if (path / "manifest.json").exists():
        _check_same(read_manifest(path, type(manifest), manifest.schema), manifest, path)
        for name, content in first().items():
            _check_first(path / name, content)
        return True
    files = first()
    if others := sorted(place.name for place in path.iterdir() if place.name not in files):
        # Also what a run wrote: without its manifest nobody knows of which plan that is.
        raise OutputError(
            f"{str(path)!r} holds other files and no manifest.json of a store: {first_few(others)}.",
            hint="Choose another folder for --out.",
        )
    for name, content in files.items():
        atomic_write(path / name, content)
    encoded = msgspec.json.encode(manifest, order="deterministic")
    atomic_write(path / "manifest.json", msgspec.json.format(encoded, indent=2) + b"\n")
    return False


def read_manifest(path: Path, kind: type[M], schema: str) -> M:
    """Read the manifest of a store.

    Raises
    ------
    FileError
        If there is none, it is damaged, or of another schema.
    """
    try:
        content = (path / "manifest.json").read_bytes()
    except OSError as error:
        raise FileError(
            f"There is no store in {str(path)!r}: {(error.strerror or str(error)).lower()}.",
            hint="Name the folder that a run wrote.",
        ) from None
    try:
        manifest = msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UsageError) as error:
        said = str(error).replace("Object missing required field", "there is no").replace("`", "'").rstrip(".")
        raise FileError(
            f"{str(path / 'manifest.json')!r} is damaged: {said}.", hint="Run the plan again into another folder."
        ) from None
    if manifest.schema != schema:
        raise FileError(
            f"The store {str(path)!r} is of schema {manifest.schema!r}, not {schema!r}.",
            hint="Run the plan again with this version.",
        )
    return manifest


def summed(stem: str, content: bytes, kind: str = "parquet") -> str:
    """Return the name of a file that carries its sum.

    >>> summed("trials-000001", b"")
    'trials-000001-e3b0c44298fc1c14.parquet'
    """
    return f"{stem}-{sha256(content).hexdigest()[:16]}.{kind}"


def summed_files(path: Path, pattern: re.Pattern[str], *, lost: str) -> Iterator[tuple[re.Match[str], Path]]:
    """Yield the files of a store whose name fits, in order, each checked against the sum in its name.

    Parameters
    ----------
    path : Path
        The folder.
    pattern : re.Pattern
        Of the names; its last group is the sum.
    lost : str
        What is run anew when a file is deleted, for the message.

    Raises
    ------
    FileError
        If one is damaged.
    """
    for place in sorted(path.iterdir()):
        name = pattern.fullmatch(place.name)
        if name is None:
            continue
        if sha256(place.read_bytes()).hexdigest()[:16] != name[name.re.groups]:
            raise FileError(
                f"{str(place)!r} is damaged: its content is not what its name says.",
                hint=f"Delete it and run the same command again: {lost} then run anew.",
            )
        yield name, place


def foreign(place: Path) -> FileError:
    """Return the error of a file that is of no part of the plan, or of a part that is there already."""
    return FileError(
        f"{str(place)!r} does not belong to this plan, or is there twice.", hint="Delete it, and run again."
    )


def incomplete(path: Path, lacking: str) -> FileError:
    """Return the error of a store that lacks something, said in words."""
    return FileError(
        f"The store {str(path)!r} lacks {lacking}.", hint="Run the same command again: it goes on where it stopped."
    )


def note(timings: Path, columns: Sequence[str], row: Sequence[object]) -> None:
    """Add a row on how long something took to a file beside the store, whose bytes depend on the machine.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    try:
        with timings.open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(f"{','.join(columns)}\n")
            file.write(f"{','.join(map(str, row))}\n")
    except OSError as error:
        raise output_error(timings, error) from error


def _check_first(path: Path, wanted: bytes) -> None:
    """Refuse a file of individuals that is not that of the data; write it where it is gone."""
    if not path.exists():
        atomic_write(path, wanted)
    elif path.read_bytes() != wanted:
        raise FileError(
            f"{str(path)!r} is damaged: it does not hold who is in the data.",
            hint="Delete it and run the same command again: it is then written anew.",
        )


def differing(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """Return the names whose value is not the same in both.

    >>> differing({"numpy": "2.1", "scipy": "1.15"}, {"numpy": "2.2", "scipy": "1.15"})
    ['numpy']
    """
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def _check_same(there: Held, wanted: Held, path: Path) -> None:
    """Refuse to add to a store that was begun otherwise."""
    for field in msgspec.structs.fields(type(wanted.plan)):
        if getattr(there.plan, field.name) != getattr(wanted.plan, field.name):
            raise UsageError(
                f"The store in {str(path)!r} is of another plan: {field.encode_name} is not what it was.",
                hint="Choose another folder for --out, or go back to the plan of this one.",
            )
    for what, old_names, new_names in (
        ("data", there.data, wanted.data),
        ("libraries", there.versions, wanted.versions),
    ):
        if changed := differing(old_names, new_names):
            raise UsageError(
                f"The store in {str(path)!r} was begun with other {what}: {', '.join(changed)}.",
                hint="Results of both cannot stand side by side; choose another folder for --out.",
            )


def sweep(folder: Path) -> None:
    """Remove what a run that was killed while it wrote left in a folder under temporary names.

    Raises
    ------
    OutputError
        If it cannot be removed.
    """
    for left in folder.glob(".polyculture-*.tmp"):
        try:
            rmtree(left) if left.is_dir() else left.unlink()
        except OSError as error:
            raise output_error(left, error) from error


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Keep a second run out of a folder while a block runs; a run that was killed leaves nothing locked.

    What such a run left there half written is removed.

    Parameters
    ----------
    folder : Path
        The folder of the results.
    wait : bool
        Whether another run is waited for, instead of being refused.

    Raises
    ------
    OutputError
        If another run writes there, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = (folder / ".lock").open("w")
    except OSError as error:
        raise output_error(folder, error) from error
    with handle:
        try:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such lock on this system: two runs into one folder write the same bytes
            pass
        except OSError:
            raise OutputError(
                f"Another run writes into {str(folder)!r}.", hint="Wait for it, or choose another folder for --out."
            ) from None
        for place in (folder, folder / "backbones", folder / "tables"):
            sweep(place)
        yield
