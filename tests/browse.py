"""What tests in a real browser share beside the fixtures of `tests/browser/conftest.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Open = Callable[..., Any]


def violations(page: Any) -> list[str]:
    """Return what axe-core finds, as rule and element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def unfold(page: Any) -> None:
    """Open all that is folded, so that it is looked at too."""
    page.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
