"""Components through the shell and through Python: the same figures, and one message for what is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import FileError, InputError

PARTS = [("a", "x"), ("b", "x"), ("c", "x"), ("d", "y"), ("e", "y"), ("f", "y"), ("g", "z")]


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    shared = rng.random((500, 3)) < 0.3
    failed = np.where(rng.random((500, 7)) < 0.6, shared[:, [0, 0, 0, 1, 1, 1, 2]], rng.random((500, 7)) < 0.3)
    path = tmp_path / "outcomes.csv"
    pl.DataFrame(failed.astype(int), schema=[name for name, _ in PARTS]).write_csv(path)
    return path


def write_parts(folder: Path, parts: list[tuple[str, str]] = PARTS) -> Path:
    path = folder / "parts.csv"
    path.write_text("model,vendor\n" + "".join(f"{name},{vendor}\n" for name, vendor in parts))
    return path


def test_the_shell_and_python_say_the_same(tmp_path: Path, outcomes: Path, shell: Callable[..., object]) -> None:
    parts = write_parts(tmp_path)
    written = [tmp_path / name for name in ("a.json", "a.html", "tables")]
    done = shell(
        *("audit", outcomes, "--outcomes", "failed", "--components", parts),
        *("--json", written[0], "--html", written[1], "--tables", written[2]),
    )
    assert done.status == 0, done.err
    assert "Mean kappa of pairs of models, by what they share" in done.out
    found = json.loads(written[0].read_text())["components"]
    assert found["source"] == str(parts)
    assert len(found["sha256"]) == 64
    (vendor,) = found["components"]
    assert vendor["within"]["value"] > vendor["between"]["value"] + 0.2
    assert [family["level"] for family in found["families"]] == ["x", "y"]
    assert found["notes"] == ["Values of vendor with one model, which are no families: 1 of 3."]
    assert 'id="components"' in written[1].read_text()
    with (written[2] / "component_families.csv").open(newline="") as file:
        assert [row["models"] for row in csv.DictReader(file)] == ["a | b | c", "d | e | f"]
    mapping = {name: {"vendor": vendor} for name, vendor in PARTS}
    frame = pl.DataFrame(PARTS, schema=["model", "vendor"], orient="row")
    for table in (mapping, frame, frame.to_pandas(), parts):
        audit = pc.audit(outcomes, outcomes="failed", components=table)
        assert audit.components is not None
        assert audit.components.components[0].within.value == vendor["within"]["value"]
        assert audit.components.components[0].p_value == vendor["p_value"]
    assert audit.frame("component_families").height == 2
    assert pc.audit(outcomes, outcomes="failed").components is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, ("There is no file", "Name a CSV or TOML")),
        ("name,vendor\na,x\n", ("first column must be 'model'", "Write a header")),
        ("model,vendor\na,x\nh,y\n", ("the model 'h'", "none of those audited", "drop it from the table")),
        ("model,vendor\na,x\na,y\n", ("line 3", "stands there twice")),
    ],
)
def test_a_wrong_table_is_refused(
    content: str | None, says: tuple[str, ...], tmp_path: Path, outcomes: Path, shell: Callable[..., object]
) -> None:
    parts = tmp_path / "parts.csv"
    if content is not None:
        parts.write_text(content)
    target = tmp_path / "a.json"
    done = shell("audit", outcomes, "--outcomes", "failed", "--components", parts, "--json", target)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("polyculture: error: ")
    assert "Traceback" not in done.err
    for words in says:
        assert words in done.err
    assert not target.exists()


def test_the_table_is_not_written_over(tmp_path: Path, outcomes: Path, shell: Callable[..., object]) -> None:
    parts = write_parts(tmp_path)
    done = shell("audit", outcomes, "--outcomes", "failed", "--components", parts, "--tables", parts)
    assert done.status == 2
    done = shell("audit", outcomes, "--outcomes", "failed", "--components", parts, "--json", parts)
    assert done.status == 2
    assert "would overwrite" in done.err
    assert parts.read_text().startswith("model,vendor")


def test_errors_in_python_are_ours(outcomes: Path) -> None:
    with pytest.raises(InputError, match=r"'A', which is none of those audited"):
        pc.audit(outcomes, outcomes="failed", components={"A": {"vendor": "x"}})
    with pytest.raises(FileError, match="There is no file"):
        pc.audit(outcomes, outcomes="failed", components="nowhere.csv")


def test_the_models_of_zeroeval_share_families(data_file: Callable[[str], Path]) -> None:
    """The figures that docs/components.md gives; sharing a family goes with likeness, near-duplicates are named."""
    path = data_file("llm/gsm8k_zeroeval_correct.csv")
    names = pl.read_csv(path, n_rows=1).columns[1:]
    claude = {name: {"maker": "Anthropic" if name.startswith("claude") else name} for name in names}
    audit = pc.audit(path, outcomes="correct", id="id", components=claude)
    assert audit.components is not None
    (family,) = audit.components.families
    assert (len(family.models), family.systemic_failure.count) == (6, 24)
    assert audit.components.components[0].pairs_within == 15
    assert audit.collection is not None
    assert len(audit.collection.near_duplicates) == 4
    assert audit.components.near_duplicates_left_out == (
        "claude-3-5-sonnet-20241022",
        "gpt-4o-2024-08-06",
        "Meta-Llama-3.1-405B-Instruct@hyperbolic",
    )
