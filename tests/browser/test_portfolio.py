"""The page of a portfolio, and of an audit with all that it can be asked: accessible, silent, and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from browse import Open, unfold, violations

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


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
    everything: dict[str, Any] = {
        "slices": "all",
        "portfolio": 2,
        "kinds": {"far": ["*0", "*1"], "near": ["*2", "*3", "*4"]},
        **options,
    }
    return {
        "portfolio": pc.portfolio(table, size=2, worst_group=True, **options).report(folder / "portfolio.html"),
        "slices": pc.audit(table, slices=["town"], label="label", models="a model*").report(folder / "slices.html"),
        "everything": pc.audit(table, **everything).report(folder / "everything.html"),
    }


@pytest.mark.parametrize("name", ["portfolio", "slices", "everything"])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_are_accessible_silent_and_fit(opened: Open, name: str, width: int, scheme: str) -> None:
    page = opened(name, width=width, scheme=scheme)
    unfold(page)
    assert page.left == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    assert page.locator("figure svg[role=img]").count() >= 2
