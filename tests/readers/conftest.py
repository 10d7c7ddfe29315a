"""What the tests of all text formats ask of a file that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from polyculture.errors import PolycultureError
from polyculture.readers import open_sources


@pytest.fixture
def refused() -> Callable[[Path, type[PolycultureError], Sequence[str]], None]:
    """Check that a file is refused with its name, some words, and what to do."""

    def check(path: Path, kind: type[PolycultureError], words: Sequence[str]) -> None:
        with pytest.raises(kind) as caught:
            open_sources([path])
        message = str(caught.value)
        for word in (str(path), *words):
            assert word in message
        assert caught.value.hint

    return check
