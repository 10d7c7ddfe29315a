"""Probabilities of options from the shell, TOML, other frames and very large tables to the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.cli import main
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally, build, large

PATTERN = "{model}:{option}"


def table(models: int = 3, rows: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, rows)
    columns: dict[str, Any] = {"item": range(rows), "truth": ["ABC"[place] for place in truth]}
    hard = rng.normal(size=(rows, 3))
    for model in range(models):
        score = hard + rng.normal(size=(rows, 3))
        score[np.arange(rows), truth] += 1
        given = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
        columns |= {f"m{model}:{option}": given[:, place] for place, option in enumerate("ABC")}
    return pl.DataFrame(columns)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    table().write_csv(tmp_path / "items.csv")
    return tmp_path / "items.csv"


def test_the_shell_and_toml_say_the_same(source: Path, tmp_path: Path) -> None:
    (tmp_path / "map.toml").write_text(f'id = "item"\nlabel = "truth"\nprobabilities = "{PATTERN}"\n')
    ways = (["--id", "item", "--label", "truth", "--probabilities", PATTERN], ["--map", str(tmp_path / "map.toml")])
    found = []
    for way in ways:
        outputs = [
            "--json",
            str(tmp_path / "a.json"),
            "--html",
            str(tmp_path / "a.html"),
            "--tables",
            str(tmp_path / "t"),
        ]
        assert main(["audit", str(source), *way, *outputs, "--quiet"]) == 0
        found.append(json.loads((tmp_path / "a.json").read_text()))
    assert found[0]["pairs"] == found[1]["pairs"]
    assert found[0]["collection"]["capa_method"] == "probabilities"
    wanted = pc.audit(table(), id="item", label="truth", probabilities=PATTERN).record.pairs[0].capa
    assert found[0]["pairs"][0]["capa"]["value"] == pytest.approx(wanted.value)
    assert "here of probabilities" in (tmp_path / "a.html").read_text()
    assert ",probabilities" in (tmp_path / "t" / "pairs.csv").read_text()


def test_wrong_probabilities_end_with_status_2(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["audit", str(source), "--id", "item", "--label", "truth", "--probabilities"]
    assert main([*call, "{model}"]) == 2
    assert "once each" in capsys.readouterr().err
    table().with_columns(pl.col("m1:B") * 2).write_csv(source)
    assert main([*call, PATTERN]) == 2
    error = capsys.readouterr().err
    assert "items.csv" in error
    assert "Traceback" not in error


def test_other_frames_and_questions_take_the_answers() -> None:
    frame = table()
    given: dict[str, Any] = {"id": "item", "label": "truth", "probabilities": PATTERN}
    wanted = pc.audit(frame, **given)
    assert pc.audit(frame.to_pandas(), **given).record.pairs == wanted.record.pairs
    listed = pc.read(frame, **given).individuals_failed_by_all().collect().to_polars()
    assert listed.columns == ["item", "truth", "m0", "m1", "m2"]
    assert len(listed) == wanted.record.systemic_failure.count
    assert pc.panel(frame, **given).record.individuals == 120
    assert pc.audit(frame, **given, suspect_keys=True).record.suspect_keys is not None


def test_probabilities_of_very_many_individuals_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = Outcomes(table(22), Mapping(id="item", label="truth", probabilities=PATTERN))
    whole = pc.audit(Tally.of(outcomes)).record
    monkeypatch.setattr(build, "MANY", 50)
    monkeypatch.setattr(large, "SAMPLE", 40)
    sampled = Tally.of(outcomes)
    assert not sampled.exact
    found = pc.audit(sampled).record
    assert [pair.capa for pair in found.pairs] == [pair.capa for pair in whole.pairs]
    assert found.collection is not None
    assert whole.collection is not None
    assert found.collection.capa == whole.collection.capa
