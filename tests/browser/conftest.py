"""A real browser, and pages opened in it; each module makes its own ``pages``."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from browse import Open

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="session")
def chromium() -> Generator[Any]:
    """Start Chromium."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any, pages: dict[str, Path]) -> Generator[Open]:
    """Open a page; every request that leaves the file is counted in ``page.left`` and stopped."""
    contexts = []

    def go(name: str, *, width: int = 1280, scheme: str = "light", javascript: bool = True) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=javascript
        )
        contexts.append(context)
        page = context.new_page()
        page.left = []
        address = pages[name].as_uri()

        def watch(route: Any) -> None:
            if route.request.url.split("#")[0] in {address, "data:,"}:
                route.continue_()
            else:
                page.left.append(route.request.url)
                route.abort()

        context.route("**/*", watch)
        page.on("request", lambda request: page.left.append(request.url) if ("http" in request.url[:5]) else None)
        page.goto(address)
        return page

    yield go
    for context in contexts:
        context.close()
