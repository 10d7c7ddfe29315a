"""The bundled data sets: published figures follow from them, and they agree with what they were counted from."""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyculture import datasets
from polyculture.errors import UsageError
from polyculture.readers import open_sources

NAMES = ["AFNET", "AMNIST", "CMD", "DIGIT", "EXPW", "FER+", "FLUENT", "IMDB", "RAFDB", "SHOP", "WAIMAI", "YELP"]

# cases/expected.md, "Commercial APIs, 2020": n, observed and baseline shares of t = 0..3, their ratio at t = 3.
EXPECTED = {
    "WAIMAI": (11987, [0.728, 0.140, 0.067, 0.065], [0.600, 0.335, 0.061, 0.004], 18.4),
    "FER+": (6358, [0.468, 0.308, 0.155, 0.069], [0.377, 0.440, 0.164, 0.019], 3.63),
    "DIGIT": (2000, [0.288, 0.442, 0.127, 0.143], [0.186, 0.533, 0.250, 0.031], 4.67),
    "YELP": (20000, [0.489, 0.386, 0.101, 0.024], [0.427, 0.488, 0.082, 0.003], 8.69),
    "IMDB": (25000, [0.424, 0.377, 0.146, 0.053], [0.353, 0.480, 0.154, 0.014], 3.88),
}
SYSTEMIC = {"WAIMAI": 775, "FER+": 438, "DIGIT": 287, "YELP": 474, "IMDB": 1331}
# The same, for one model: failures, and the share of them with 0, 1, 2 other models failing.
OTHERS = {
    ("WAIMAI", "amazon"): (2114, [0.341, 0.293, 0.367]),
    ("FER+", "microsoft"): (1183, [0.246, 0.384, 0.370]),
    ("DIGIT", "ibm"): (507, [0.039, 0.394, 0.566]),
    ("YELP", "amazon"): (None, [0.136, 0.683, 0.181]),
}


def arrays(name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], tuple[str, ...]]:
    table = datasets.hapi(name)
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    models = table.mapping["models"]
    assert isinstance(models, tuple)
    return frame.select(models).to_numpy(), frame["count"].to_numpy(), models


@pytest.mark.parametrize("name", EXPECTED)
def test_published_profile(name: str) -> None:
    n, observed, baseline, ratio = EXPECTED[name]
    failed, count, _ = arrays(name)
    assert count.sum() == n
    profile = np.bincount(failed.sum(axis=1), weights=count, minlength=4) / n
    # Three decimals are given; a half may have been rounded either way.
    assert profile == pytest.approx(observed, abs=0.000501)
    assert count[failed.all(axis=1)].sum() == SYSTEMIC[name]
    rates = count @ failed / n
    law = np.zeros(4)
    for outcome in itertools.product([0, 1], repeat=3):
        law[sum(outcome)] += np.prod(np.where(outcome, rates, 1 - rates))
    assert law == pytest.approx(baseline, abs=0.000501)
    assert profile[3] / law[3] == pytest.approx(ratio, rel=0.003)


@pytest.mark.parametrize(("name", "model"), OTHERS)
def test_published_failures_of_the_other_models(name: str, model: str) -> None:
    failures, shares = OTHERS[name, model]
    failed, count, models = arrays(name)
    mine = failed[:, models.index(model)] == 1
    others = np.bincount(failed[mine].sum(axis=1) - 1, weights=count[mine], minlength=3)
    assert others / others.sum() == pytest.approx(shares, abs=0.0006)
    if failures is not None:
        assert others.sum() == failures


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set(name: str) -> None:
    table = datasets.hapi(name.lower())
    failed, count, models = arrays(name)
    assert failed.shape == (8, 3)
    assert len({tuple(row) for row in failed}) == 8
    assert set(np.unique(failed)) == {0, 1}
    assert (count > 0).all()
    assert table.mapping == {"outcomes": "failed", "models": models, "count": "count"}
    assert table.period == "2020"
    assert table.noun in ("reviews", "face images", "recordings")
    assert table.note is not None
    assert table.inputs[0].name == f"hapi:{name}"
    assert table.frame.collect_schema().names() == [*models, "count"]


def test_nouns() -> None:
    nouns = Counter(datasets.hapi(name).noun for name in NAMES)
    assert nouns == {"reviews": 4, "face images": 4, "recordings": 4}
    assert {name for name in NAMES if datasets.hapi(name).noun == "reviews"} == {"WAIMAI", "YELP", "IMDB", "SHOP"}


def test_counts_are_those_of_the_case_file() -> None:
    stream = files("polyculture.datasets").joinpath("hapi2020_patterns.csv").read_text(encoding="utf-8").splitlines()
    for row in csv.DictReader(stream):
        failed, count, models = arrays(row["dataset"])
        pattern = [int(model in row["failed"].split("|")) for model in models]
        assert list(models) == row["models"].split("|")
        assert count[(failed == pattern).all(axis=1)].tolist() == [int(row["count"])]


def test_unknown_name() -> None:
    with pytest.raises(UsageError, match="Did you mean 'WAIMAI'"):
        datasets.hapi("waimia")
    with pytest.raises(UsageError, match="There are: AFNET"):
        datasets.hapi("")


def test_listing() -> None:
    entries = datasets.listing()
    assert [entry.name for entry in entries] == [*(f"hapi:{name}" for name in NAMES), "german_credit"]
    waimai = next(entry for entry in entries if entry.name == "hapi:WAIMAI")
    assert (waimai.individuals, waimai.models, waimai.task) == (11987, ("amazon", "baidu", "google"), "sentiment")
    assert all(entry.line and entry.licence and entry.period for entry in entries)


def test_german_credit() -> None:
    frame = datasets.german_credit()
    assert frame.columns == list(datasets.GERMAN_CREDIT_COLUMNS)
    assert frame["credit"].value_counts().sort("credit").rows() == [(1, 700), (2, 300)]
    assert (frame["age"].min(), frame["age"].max()) == (19, 75)
    assert frame["personal_status"].dtype == pl.String
    assert frame.null_count().sum_horizontal().item() == 0
    # The facts that identify the data in its documentation.
    assert (frame["credit_amount"].min(), frame["credit_amount"].max()) == (250, 18424)


def test_sources_name_every_file() -> None:
    folder = files("polyculture.datasets")
    text = folder.joinpath("SOURCES.md").read_text(encoding="utf-8")
    shipped = [item.name for item in folder.iterdir() if item.name.endswith((".csv", ".gz", ".parquet"))]
    assert sorted(shipped) == ["german_credit.csv.gz", "hapi2020_patterns.csv"]
    assert all(name in text for name in shipped)


COUNTED_FROM = {
    "AMNIST": "AUDIOMNIST",
    "DIGIT": "DIGIT",
    "FER+": "FERPLUS",
    "IMDB": "IMDB",
    "WAIMAI": "WAIMAI",
    "YELP": "YELP",
}


@pytest.mark.parametrize("name", COUNTED_FROM)
def test_counts_agree_with_the_predictions(name: str, data_file: Callable[[str], Path]) -> None:
    table = open_sources([data_file(f"hapi2020/{COUNTED_FROM[name]}.parquet")])
    frame = table.frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    failed, count, models = arrays(name)
    wrong = frame.select((pl.col(f"pred_{model}") != pl.col("true")).cast(pl.Int64) for model in models)
    counts = Counter(wrong.iter_rows())
    assert counts == {tuple(row): n for row, n in zip(failed.tolist(), count.tolist(), strict=True)}
    said = frame.select((1 - pl.col(f"correct_{model}")).alias(model) for model in models)
    assert Counter(said.iter_rows()) == counts
    assert table.rows == sum(counts.values())


def test_german_credit_is_the_file_of_the_source(data_file: Callable[[str], Path]) -> None:
    frame = open_sources([data_file("german_credit.csv.gz")]).frame.collect().to_native()
    assert isinstance(frame, pl.DataFrame)
    assert frame.equals(datasets.german_credit())


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("hatecheck_tools.csv", 3728, 11),
        ("llm/gsm8k_zeroeval_correct.csv", 1319, 44),
        ("rated_texts.parquet", 23703, 4),
    ],
)
def test_other_files_of_the_folder_are_read(
    name: str, rows: int, columns: int, data_file: Callable[[str], Path]
) -> None:
    table = open_sources([data_file(name)])
    assert table.frame.collect().shape == (rows, columns)
    assert table.rows == rows
