from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyculture.errors import OutputError
from polyculture.files import atomic_write, text_and_file


def test_a_new_file_is_whole_and_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    old = os.umask(0o022)
    try:
        atomic_write(path, b"content")
    finally:
        os.umask(old)
    assert path.read_bytes() == b"content"
    assert path.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_an_old_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


@pytest.mark.parametrize("when", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_behind_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str, error: BaseException
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr(os if when == "fsync" else Path, when, fail)
    if isinstance(error, OSError):
        with pytest.raises(OutputError, match=r"out\.json.*no space left.*Free some space"):
            atomic_write(path, b"new")
    else:
        with pytest.raises(KeyboardInterrupt):
            atomic_write(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_a_full_disk_is_told() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    with pytest.raises(OutputError, match=r"/dev/full.*no space left.*Free some space"):
        atomic_write("/dev/full", b"x" * 100_000)


def test_a_device_is_written_and_not_replaced() -> None:
    atomic_write("/dev/null", b"x")
    assert not Path("/dev/null").is_file()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"no folder .*nowhere'.*Make it first"):
        atomic_write(tmp_path / "nowhere" / "out.json", b"")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a folder"):
        atomic_write(tmp_path, b"")


def test_a_too_long_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"shorter name|too long"):
        atomic_write(tmp_path / ("x" * 300), b"")


@pytest.fixture
def as_nobody() -> Iterator[None]:
    """Act as a user who may not write everywhere, which root may."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    # Not below tmp_path, whose parents only their owner may enter.
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    folder.rmdir()


def test_a_folder_without_permission_is_told(closed_folder: Path, as_nobody: None) -> None:
    with pytest.raises(OutputError, match="may not write"):
        atomic_write(closed_folder / "out", b"")


def test_text_is_returned_and_written_where_a_path_is_given(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    assert text_and_file("é".encode(), path) == "é"
    assert path.read_bytes() == "é".encode()
    assert text_and_file(b"x", None) == "x"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]
