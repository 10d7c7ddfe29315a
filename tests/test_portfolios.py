"""The choice among models as users ask for it: Python, the shell, files, bad input, the HTML page."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from jsonschema import Draft202012Validator
from msgspec.structs import replace

import polyculture as pc
from polyculture.errors import UsageError
from polyculture.report.html import portfolio_html
from polyculture.report.json import json_schema
from polyculture.report.portfolio import search_words


def table(n=300, k=4, seed=0):
    rng = np.random.default_rng(seed)
    failed = rng.random((n, k)) < 0.2 + 0.4 * (rng.random((n, 1)) < 0.3)
    return pl.DataFrame(failed.astype(int), schema=[f"m{j}" for j in range(k)]).with_columns(
        sex=pl.Series(rng.choice(["f", "m"], n)), day=pl.lit("2020"), id=pl.int_range(n)
    )


MAPPING = {"outcomes": "failed", "models": "m*"}


@pytest.fixture(scope="module")
def found():
    return pc.portfolio(table(), size=2, **MAPPING)


def test_every_kind_of_source_says_the_same(found, tmp_path):
    table().write_parquet(tmp_path / "a.parquet")
    counted = pc.Tally.of(pc.read(table(), **MAPPING))
    counted.save(tmp_path / "a.tally")
    frames = (table().lazy(), pd.DataFrame(table().to_dict(as_series=False)), tmp_path / "a.parquet")
    sources = [*((one, MAPPING) for one in frames), (counted, {}), (tmp_path / "a.tally", {})]
    for source, mapping in sources:
        other = pc.portfolio(source, size=2, **mapping)
        assert other.record.chosen == found.record.chosen
        assert other.record.held_out == found.record.held_out
        assert repr(other) == found.headline


def test_an_audit_says_what_would_help(found, tmp_path, shell):
    audited = pc.audit(table(), portfolio=2, **MAPPING)
    same = {name: getattr(found.record, name) for name in audited.portfolio.__struct_fields__}
    assert {name: getattr(audited.portfolio, name) for name in same} == same
    assert pc.audit(table(), **MAPPING).portfolio is None
    assert audited.frame("portfolio_sets")["role"].to_list()[:2] == ["chosen", "today"]
    table().write_csv(tmp_path / "a.csv")
    wanted = ["--json", str(tmp_path / "a.json"), "--html", str(tmp_path / "a.html"), "--tables", str(tmp_path / "t")]
    options = ("--outcomes", "failed", "--models", "m*", "--portfolio")
    done = shell("audit", tmp_path / "a.csv", *options, "2", *wanted)
    assert done.status == 0
    assert " ".join(done.out.split()).count(found.headline) == 1
    said = json.loads((tmp_path / "a.json").read_text())
    Draft202012Validator(json_schema("audit")).validate(said)
    assert said["portfolio"]["held_out"]["value"] == found.record.held_out.value
    assert "provenance" not in said["portfolio"]
    page = (tmp_path / "a.html").read_text()
    part = page[page.index('<section id="portfolio"') : page.index('<section id="notes"')]
    assert '<a href="#portfolio">What would help</a>' in page
    titles = re.findall("<h3>(.*)</h3>", part)
    assert {"Sets that cannot be told from it", "How often each model is taken"} <= set(titles)
    assert part.count("<svg") == 2
    with (tmp_path / "t" / "alternatives.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(found.record.alternatives)
    with (tmp_path / "t" / "dictionary.csv").open() as file:
        assert {row["table"] for row in csv.DictReader(file)} >= {"portfolio", "portfolio_models", "appeals"}


def test_labels_are_counted_for_appeals_of_an_audit():
    told = table().with_columns(label=pl.col("m0"), m0=pl.col("m1"), m1=pl.col("m3"))
    options = {"label": "label", "models": ["m0", "m1", "m2"], "positive": "1"}
    alone = pc.portfolio(told, size=2, **options).record
    assert pc.audit(told, portfolio=2, **options).portfolio.appeals == alone.appeals
    assert alone.appeals[0].added_false_positives.value is not None


def test_an_audit_refuses_more_models_than_there_are(tmp_path, shell):
    table().write_csv(tmp_path / "a.csv")
    done = shell("audit", tmp_path / "a.csv", "--outcomes", "failed", "--models", "m*", "--portfolio", "9")
    assert (done.status, done.out) == (2, "")
    assert "A set of 9 cannot be chosen from 4 models." in done.err
    assert "Choose 1 to 4 of them." in done.err


@pytest.mark.parametrize("size", [True, 2.5, "2"])
def test_a_number_of_models_is_a_whole_number(size):
    with pytest.raises(UsageError, match=r"is no number of models\. Give a whole number, 1 to 4"):
        pc.audit(table(), portfolio=size, **MAPPING)
    with pytest.raises(UsageError, match="is no number of models"):
        pc.portfolio(table(), size=size, **MAPPING)


def test_one_snapshot_and_groups(found):
    twice = pl.concat([table(), table(seed=1).with_columns(day=pl.lit("2021"))])
    other = pc.portfolio(twice, size=2, snapshot="day=2020", by=["sex"], **MAPPING)
    assert other.record.chosen == found.record.chosen


def test_json_holds_to_its_schema_and_names(found):
    said = json.loads(found.json())
    Draft202012Validator(json_schema("portfolio")).validate(said)
    assert said["schema"] == "polyculture/portfolio/1"
    assert said["chosen"]["models"] == list(found.models)
    assert said["held_out"]["value"] == found.record.held_out.value


def test_frames_are_of_the_kind_that_was_given(found):
    assert found.frame()["role"].to_list()[:2] == ["chosen", "today"]
    assert isinstance(pc.portfolio(table().to_pandas(), size=2, **MAPPING).frame("alternatives"), pd.DataFrame)
    with pytest.raises(UsageError, match="Did you mean 'appeals'"):
        found.frame("apeals")


def test_tables_with_a_dictionary_of_every_column(found, tmp_path):
    folder = found.tables(tmp_path / "t")
    told = {}
    for row in csv.DictReader((folder / "dictionary.csv").read_text(encoding="utf-8").splitlines()):
        told[row["table"], row["column"]] = row
    assert {"portfolio", "portfolio_sets", "alternatives", "appeals"} <= {path.stem for path in folder.glob("*.csv")}
    for path in folder.glob("*.csv"):
        for column in next(csv.reader(path.read_text(encoding="utf-8").splitlines())):
            assert told[path.stem, column]["unit"], (path.stem, column)


def test_the_page_holds_what_was_found(found, tmp_path):
    page = found.report(tmp_path / "p.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert "http://" not in page.replace("http://www.w3.org", "")
    for text in ("Sets that cannot be told from it", "random assignment", "Appeal to a second model"):
        assert text in page
    assert page.count("<svg ") == 2
    assert found.models[0] in found._repr_html_()
    assert "<table" in found._repr_html_()


def test_names_from_data_are_escaped():
    names = {f"m{j}": f"<b>m{j}</b>" for j in range(4)}
    found = pc.portfolio(table().rename(names), size=2, outcomes="failed", models="<b>*")
    for page in (portfolio_html(found.record), found._repr_html_()):
        assert "<b>m" not in page
        assert "&lt;b&gt;m" in page


def test_the_shell_prints_writes_and_refuses(shell, tmp_path):
    done = shell(
        "portfolio", "hapi:waimai", "--size", "2", "--html", tmp_path / "a.html", "--json", tmp_path / "a.json"
    )
    assert done.status == 0
    assert done.out.startswith("Of all sets of 2 from 3 models, amazon and baidu leave the fewest reviews failed by")
    assert "Written: " in done.out
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["noun"] == "reviews"
    alone = shell("portfolio", "hapi:waimai", "--today", "baidu,google", "--swap", "--json", "-")
    assert json.loads(alone.out)["choice"] == "swap"
    assert shell("portfolio", "hapi:waimai", "--quiet").out == ""
    assert "polyculture/portfolio/1" in shell("schema", "portfolio").out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--size", "7"], "Choose 1 to 3 of them"),
        (["--today", "baiduu"], "Did you mean 'baidu'"),
        (["--candidates", "amazn,baidu"], "Did you mean 'amazon'"),
        (["--size", "2", "--most-mean-failure", "0.01"], "the least that one has is 0.1434"),
        (["--worst-group"], "--by"),
        (["--swap"], "Name the models that are in use"),
        (["--size", "2", "--html", "/nowhere/a.html"], "no folder"),
        (["--splits", "0"], "splits=0 is too small"),
    ],
)
def test_wrong_input_ends_with_status_2(shell, words, says):
    done = shell("portfolio", "hapi:waimai", *words)
    assert done.status == 2
    assert says in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("width", [40, 80, 140])
def test_every_width_of_terminal(found, width):
    import io

    from rich.console import Console

    from polyculture.report.portfolio import print_portfolio

    said = io.StringIO()
    print_portfolio(found.record, Console(file=said, width=width))
    text = said.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert "random assignment" in text
    assert "in sample" not in text


def test_one_text_is_no_list_of_models():
    with pytest.raises(UsageError, match=r"Give a list: \['m0'\]"):
        pc.portfolio(table(), today="m0", **MAPPING)


def test_groups_too_small_for_a_worst_one():
    with pytest.raises(UsageError, match="two known groups"):
        pc.portfolio(table(n=60), size=2, by=["id"], worst_group=True, **MAPPING)


def test_decisions_with_labels_show_false_positives():
    rng = np.random.default_rng(0)
    label = rng.choice(["repay", "default"], 400)
    said = {
        f"m{j}": np.where(rng.random(400) < 0.25, np.where(label == "repay", "default", "repay"), label)
        for j in range(3)
    }
    found = pc.portfolio(pl.DataFrame({"label": label, **said}), label="label", failure="decision=default", size=2)
    row = found.record.appeals[0]
    first, second = said[row.first], said[row.second]
    risky = label == "default"
    assert row.failure.value == pytest.approx((first == "default").mean())
    assert row.false_positives.value == pytest.approx((first != "default")[risky].mean())
    # Each half has a second model of its own, so that the held-out value lies between those of the two others.
    others = [said[name] for name in said if name != row.first]
    let = [((first == "default") & (other != "default"))[risky].mean() for other in others]
    assert min(let) - 1e-9 <= row.added_false_positives.value <= max(let) + 1e-9
    assert row.after_appeal_in_sample.value == pytest.approx(((first == "default") & (second == "default")).mean())


def test_a_bound_of_nothing_is_said_to_say_nothing(found):
    searched = replace(found.record, exact=False, bound=0.0, method="greedy", sets=10)
    assert "the bound on what the best could be says nothing here (0 %)" in search_words(searched)
    assert "no set of 2 has less than 3.1 %" in search_words(replace(searched, bound=0.031))
