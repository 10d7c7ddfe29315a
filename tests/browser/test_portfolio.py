"""The page of a portfolio, and of an audit with slices, in a real browser: accessible, silent, and on a phone."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    label, town = rng.choice(["no", "yes"], 1500), rng.choice(["x", "y", "z"], 1500)
    hard = (town == "y") & (rng.random(1500) < 0.4)
    said = {
        f"a model with a rather long name, number {j}": np.where(
            (rng.random(1500) < 0.2 + 0.05 * j) | hard, np.where(label == "no", "yes", "no"), label
        )
        for j in range(5)
    }
    table = pl.DataFrame({"label": label, "town": town, **said})
    options: dict[str, Any] = {"label": "label", "models": "a model*", "by": ["town"]}
    folder = tmp_path_factory.mktemp("reports")
    return {
        "portfolio": pc.portfolio(table, size=2, worst_group=True, **options).report(folder / "portfolio.html"),
        "slices": pc.audit(table, slices=["town"], label="label", models="a model*").report(folder / "slices.html"),
    }


@pytest.fixture(scope="module")
def chromium() -> Generator[Any]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.mark.parametrize("name", ["portfolio", "slices"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_are_accessible_silent_and_fit(
    chromium: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    left: list[str] = []
    page.on("request", lambda request: left.append(request.url) if request.url.startswith("http") else None)
    page.goto(pages[name].as_uri())
    assert left == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.locator("figure svg[role=img]").count() >= 2
    context.close()
