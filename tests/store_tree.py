"""The files of a folder by their SHA-256, for tests that compare runs."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path


def tree(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file, but of how long things took and of the lock."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {"timings.csv", ".lock"}
    }
