"""Census data: files in the layout of the PUMS, folktables (made here), and a small run with race groups."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.claims import outcome_homogenization as paper
from polyculture.errors import ColumnError, FileError, UsageError, ValueInDataError
from polyculture.reproductions.census import FEATURES, people

pytest.importorskip("sklearn", reason="experiments need the extra [lab]")
FAST = ("learner=sklearn.naive_bayes.GaussianNB", "blocks=[3, 6]", "model_seeds=2", "partition_seeds=3")


def pums(individuals: int = 600) -> pl.DataFrame:
    """Return made persons in the layout of the PUMS files, a few of their columns."""
    rng = np.random.default_rng(2)
    table: dict[str, Any] = {name: rng.integers(1, 4, individuals) for name in FEATURES}
    table |= {"SEX": rng.integers(1, 3, individuals), "RAC1P": rng.choice([1, 2, 9], individuals)}
    table["AGEP"] = rng.integers(0, 90, individuals)
    table["ESR"] = [
        None if age < 16 else int(code)
        for age, code in zip(table["AGEP"], rng.choice([1, 6], individuals), strict=True)
    ]
    table["POVPIP"] = [None if value > 480 else int(value) for value in rng.integers(0, 502, individuals)]
    table["HINS2"] = rng.integers(1, 3, individuals)
    table["SPORDER"] = np.ones(individuals, dtype=int)
    table["SERIALNO"] = [f"2018GQ{index:07d}" for index in range(individuals)]
    return pl.DataFrame(table)


def test_census_files_of_states_become_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "2018" / "1-Year"
    folder.mkdir(parents=True)
    table = pums()
    table[:300].write_csv(folder / "psam_p01.csv")
    table[300:].write_csv(folder / "psam_p02.csv")
    found = people(tmp_path)
    assert found.height == 600
    assert found["employed"].to_list() == (table["ESR"].fill_null(0) == 1).cast(int).to_list()
    assert found["poor"].null_count() == table["POVPIP"].null_count()
    assert found["insured"].to_list() == (table["HINS2"] == 1).cast(int).to_list()
    assert set(found.columns) == {*FEATURES, "SEX", "RAC1P", "employed", "poor", "insured"}
    assert people(folder / "psam_p01.csv").height == 300


def test_census_data_run_with_race_groups(tmp_path: Path) -> None:
    pums().write_csv(tmp_path / "psam_p01.csv")
    found = pc.reproduce("acs", data=tmp_path, individuals=500, set=FAST)
    record = found.record
    assert found.experiment is not None
    experiment = found.experiment.record
    assert (experiment.individuals, experiment.groups) == (500, ("RAC1P",))
    assert experiment.decision_makers == ("employment", "income-poverty ratio", "health insurance")
    statements = [claim.statement for claim in record.claims]
    assert any(statement.startswith(paper.BEYOND_GROUPS) for statement in statements)
    effect = experiment.effects[0]
    assert effect.beyond_groups is not None
    assert effect.group_log_ratio is not None
    by_hand = effect.log_ratio.value - effect.group_log_ratio.value  # type: ignore[operator]
    assert effect.beyond_groups.value == pytest.approx(by_hand)
    assert "500 of 600 persons" in record.notes[0]


def test_the_zip_files_of_the_census_bureau_are_read_as_they_are(tmp_path: Path) -> None:
    table = pums()
    with ZipFile(tmp_path / "csv_pal.zip", "w") as archive:
        archive.writestr("psam_p01.csv", table.write_csv())
        archive.writestr("ACS2018_PUMS_README.pdf", "no table")
    table.write_csv(tmp_path / "table.csv")
    assert people(tmp_path).equals(people(tmp_path / "table.csv"))
    (tmp_path / "csv_pal.zip").write_bytes((tmp_path / "csv_pal.zip").read_bytes()[:200])
    with pytest.raises(FileError, match=r"csv_pal\.zip.*cannot be read"):
        people(tmp_path)


@pytest.fixture
def folktables(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Put a made package in the place of folktables, with two states; return what it is asked, and what it does."""
    state: dict[str, Any] = {"asked": [], "fails": False}

    class Source:
        def __init__(self, **words: Any) -> None:
            state["words"] = words

        def get_data(self, *, states: list[str], download: bool) -> Any:
            assert download
            print("Downloading data ...")  # noqa: T201 (as folktables does)
            state["asked"] += states
            if state["fails"]:
                raise FileNotFoundError(2, "No such file", "data/2018/1-Year/psam_p02.csv")
            table = pums()
            return (table[:300] if states == ["AL"] else table[300:]).to_pandas()

    module, inner = ModuleType("folktables"), ModuleType("folktables.load_acs")
    module.ACSDataSource = Source  # type: ignore[attr-defined]
    inner.state_list = ["AL", "AK"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "folktables", module)
    monkeypatch.setitem(sys.modules, "folktables.load_acs", inner)
    return state


def test_census_data_through_folktables(
    tmp_path: Path, folktables: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    pums().write_csv(tmp_path / "psam_p01.csv")
    assert people("folktables").equals(people(tmp_path))
    assert folktables["words"] == {"survey_year": "2018", "horizon": "1-Year", "survey": "person"}
    assert folktables["asked"] == ["AL", "AK"]
    assert capsys.readouterr().out == ""
    folktables["fails"] = True
    with pytest.raises(FileError, match="could not fetch the census file of AL"):
        people("folktables")


def test_census_data_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"--data FOLDER .* --data folktables"):
        pc.reproduce("acs")
    monkeypatch.setitem(sys.modules, "folktables", None)
    with pytest.raises(UsageError, match="pip install folktables"):
        pc.reproduce("acs", data="folktables")
    with pytest.raises(FileError, match="no person files"):
        pc.reproduce("acs", data=tmp_path)
    with pytest.raises(FileError, match="no file or folder"):
        pc.reproduce("acs", data=tmp_path / "none")


def test_census_files_that_do_not_serve_are_named(tmp_path: Path) -> None:
    path = tmp_path / "psam_p01.csv"
    pums().drop("RELP").write_csv(path)
    with pytest.raises(ColumnError, match="RELP"):
        pc.reproduce("acs", data=tmp_path)
    pums().with_columns(AGEP=pl.lit("thirty")).write_csv(path)
    with pytest.raises(ValueInDataError, match=r"column 'AGEP' holds 'thirty', no number"):
        people(tmp_path)
    pums()[:0].write_csv(path)
    with pytest.raises(FileError, match="holds no person"):
        people(tmp_path)
    pums().write_csv(path)
    pums()[:5].write_csv(tmp_path / "psam_pusa.csv")
    with pytest.raises(ValueInDataError, match=r"twice, .*'2018GQ0000000'"):
        people(tmp_path)
    with pytest.raises(UsageError, match="too few"):
        pc.reproduce("acs", data=tmp_path, individuals=5)
