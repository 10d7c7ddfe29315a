"""The HAPI layout, on small trees that the tests write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from polyculture.errors import ColumnError, FileError, PolycultureError, UsageError, ValueInDataError
from polyculture.readers import Table, open_sources

LABELS = [{"example_id": "a", "true_label": "1"}, {"example_id": "b", "true_label": "0"}]


def predictions(*labels: object) -> list[dict[str, object]]:
    return [
        {"example_id": name, "predicted_label": label, "confidence": 0.5 + i / 10}
        for i, (name, label) in enumerate(zip("ab", labels, strict=False))
    ]


def dump(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "sa" / "waimai"
    dump(folder / "labels.json", LABELS)
    dump(folder / "google" / "20-03-05.json", predictions("1", "1"))
    dump(folder / "amazon" / "20-03-08", predictions("0", "0"))
    return folder


def cells(table: Table) -> pl.DataFrame:
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    return frame


@pytest.mark.parametrize("level", [".", "..", "../.."])
def test_long_frame(dataset: Path, level: str) -> None:
    table = open_sources([(dataset / level).resolve()])
    assert cells(table).rows() == [
        ("a", "amazon", "0", "1", 0.5, "2020-03-08", 2020, "sa", "waimai"),
        ("b", "amazon", "0", "0", 0.6, "2020-03-08", 2020, "sa", "waimai"),
        ("a", "google", "1", "1", 0.5, "2020-03-05", 2020, "sa", "waimai"),
        ("b", "google", "1", "0", 0.6, "2020-03-05", 2020, "sa", "waimai"),
    ]
    assert cells(table).columns == [
        "id",
        "model",
        "value",
        "label",
        "confidence",
        "snapshot",
        "year",
        "task",
        "dataset",
    ]
    assert table.mapping == {"long": True, "id": "id", "model": "model", "value": "value", "label": "label"}
    assert table.rows == 4
    assert table.period == "2020-03-05 to 2020-03-08"
    assert table.noun == "texts"
    assert table.note is not None
    assert "amazon, google" in table.note
    assert [(Path(i.name).name, i.rows) for i in table.inputs] == [
        ("labels.json", 2),
        ("20-03-08", 2),
        ("20-03-05.json", 2),
    ]
    assert all(i.sha256 and i.format == "HAPI" for i in table.inputs)


def test_years_are_the_snapshots_where_each_api_has_one_a_year(dataset: Path) -> None:
    dump(dataset / "google" / "21-02-01.json", predictions("1", "0"))
    table = open_sources([dataset])
    assert table.mapping["snapshot"] == "year"
    assert sorted(set(cells(table)["year"])) == [2020, 2021]


def test_dates_are_the_snapshots_where_an_api_has_two_in_a_year(dataset: Path) -> None:
    dump(dataset / "google" / "20-09-01.json", predictions("1", "0"))
    assert open_sources([dataset]).mapping["snapshot"] == "snapshot"


@pytest.mark.parametrize("name", ["labels", "label.json", "label"])
def test_other_names_of_the_labels(dataset: Path, name: str) -> None:
    (dataset / "labels.json").rename(dataset / name)
    assert open_sources([dataset]).rows == 4


def test_numbers_as_ids_and_labels(dataset: Path) -> None:
    dump(dataset / "labels.json", [{"example_id": 1, "true_label": 1}, {"example_id": 2, "true_label": 0}])
    for api in ("google/20-03-05.json", "amazon/20-03-08"):
        dump(dataset / api, [{"example_id": 1, "predicted_label": 0.0, "confidence": 1}])
    schema = cells(open_sources([dataset])).schema
    assert (schema["id"], schema["value"], schema["label"]) == (pl.Int64(), pl.Float64(), pl.Float64())


def test_an_answer_that_is_missing_is_null(dataset: Path) -> None:
    dump(dataset / "google" / "20-03-05.json", predictions(None, None))
    frame = cells(open_sources([dataset]))
    assert frame.filter(pl.col("model") == "google")["value"].to_list() == [None, None]
    assert frame.schema["value"] == pl.String()


def break_and_open(dataset: Path, path: str, content: Any) -> str:
    dump(dataset / path, content)
    with pytest.raises(PolycultureError) as caught:
        open_sources([dataset])
    assert caught.value.hint
    return f"{type(caught.value).__name__}: {caught.value}"


def test_several_data_sets(dataset: Path) -> None:
    dump(dataset.parent / "yelp" / "google" / "20-03-05.json", predictions("1", "1"))
    with pytest.raises(UsageError, match=r"2 data sets: 'waimai', 'yelp'"):
        open_sources([dataset.parent])
    assert open_sources([dataset]).rows == 4


def test_folder_of_one_api(dataset: Path) -> None:
    with pytest.raises(UsageError, match=r"one API.*waimai'"):
        open_sources([dataset / "google"])


def test_no_labels(dataset: Path) -> None:
    (dataset / "labels.json").unlink()
    with pytest.raises(FileError, match="no labels"):
        open_sources([dataset])


def test_unknown_example(dataset: Path) -> None:
    extra = {"example_id": "zz", "predicted_label": "1", "confidence": 1.0}
    message = break_and_open(dataset, "google/20-03-05.json", [*predictions("1"), extra])
    assert message.startswith("ValueInDataError")
    assert "'zz'" in message
    assert "1 examples without a label" in message


def test_example_twice(dataset: Path) -> None:
    message = break_and_open(dataset, "google/20-03-05.json", predictions("1") * 2)
    assert "more than one entry has the example_id 'a'" in message
    dump(dataset / "labels.json", [*LABELS, LABELS[1]])
    with pytest.raises(ValueInDataError, match=r"labels.json'.*'b'"):
        open_sources([dataset])


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "",
        "{}",
        "[]",
        '[{"example_id": "a"}]',
        '[{"example_id": [1], "predicted_label": 1, "confidence": 1}]',
        "[NaN]",
    ],
)
def test_malformed_file(dataset: Path, content: str) -> None:
    message = break_and_open(dataset, "google/20-03-05.json", content)
    assert message.startswith("FileError")
    assert "20-03-05.json" in message
    assert "example_id, predicted_label, confidence" in message


def test_snapshot_twice(dataset: Path) -> None:
    message = break_and_open(dataset, "google/20-03-05", predictions("1", "1"))
    assert "snapshot 2020-03-05 twice" in message


def test_snapshot_that_is_no_date(dataset: Path) -> None:
    assert "no date" in break_and_open(dataset, "google/20-13-45.json", predictions("1", "1"))


def test_types_that_differ(dataset: Path) -> None:
    message = break_and_open(dataset, "google/20-03-05.json", predictions(1, 0))
    assert "predicted_label is text in" in message
    assert "a number in" in message
    dump(dataset / "google" / "20-03-05.json", predictions("1", "0"))
    dump(dataset / "labels.json", [{"example_id": 1, "true_label": "1"}])
    with pytest.raises(ColumnError, match="example_id is a number in"):
        open_sources([dataset])
