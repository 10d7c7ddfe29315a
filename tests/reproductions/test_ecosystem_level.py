"""The analysis of 2307.05862 done again: bundled counts, a HAPI folder, a table of dermatology."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.console import Console

import polyculture as pc
from polyculture.claims import ecosystem_level as paper
from polyculture.errors import ColumnError, FileError, UsageError
from polyculture.report.json import json_schema
from polyculture.report.reproduction import html, print_reproduction, published_words, small_multiples


@pytest.fixture(scope="module")
def found() -> pc.Reproduction:
    return pc.reproduce("ecosystem-level")


def verdicts(record: Any, about: str) -> dict[str, str]:
    return {claim.statement: claim.verdict for claim in record.claims if claim.about == about}


def test_all_data_sets_of_2020_are_audited_as_by_an_audit(found: pc.Reproduction) -> None:
    snapshots = {one.dataset: one for one in found.record.snapshots}
    assert len(snapshots) == 12
    alone = pc.audit("hapi:waimai")
    assert snapshots["WAIMAI"].systemic_failure == alone.systemic_failure
    assert snapshots["WAIMAI"].profile == tuple(alone.profile)
    assert snapshots["WAIMAI"].individuals == 11987


def test_printed_figures_agree_and_every_one_is_a_claim(found: pc.Reproduction) -> None:
    same = [claim for claim in found.claims if claim.judged_by == "same data"]
    profiles = len(paper.PROFILES) * (1 + 2 * 4 + 1)
    potential = sum(3 + (one.failures is not None) for one in paper.POTENTIAL)
    assert len(same) == profiles + potential
    assert {claim.verdict for claim in same} == {"agrees"}


def test_a_wrong_figure_would_disagree(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = dict(paper.PROFILES)
    wrong["WAIMAI"] = paper.Profile(11987, (0.728, 0.140, 0.067, 0.075), (0.6, 0.335, 0.061, 0.004), 18.4, 1)
    monkeypatch.setattr(paper, "PROFILES", wrong)
    record = pc.reproduce().record
    assert record.verdicts["disagrees"] == 1
    assert verdicts(record, "WAIMAI")["share failed by 3 of 3 services"] == "disagrees"
    out = io.StringIO()
    print_reproduction(record, Console(file=out, width=100))
    assert "Disagrees: WAIMAI: share failed by 3 of 3 services; published 7.5 %, found 6.5 %" in out.getvalue()


def test_outcomes_are_polarized_in_every_data_set(found: pc.Reproduction) -> None:
    trend = [claim for claim in found.claims if claim.judged_by == "direction" and "dermatology" not in claim.about]
    assert len(trend) == 24
    for claim in trend:
        assert claim.found.low is not None
        assert (claim.verdict == "agrees") == (claim.found.low > 0)


def test_what_the_data_do_not_hold_is_not_tested_and_says_why(found: pc.Reproduction) -> None:
    silent = [claim for claim in found.claims if claim.verdict == "not tested"]
    improvement = sum(1 + one.by_others for one in paper.IMPROVEMENT)
    assert len(silent) == found.record.verdicts["not tested"] == improvement + 2 * len(paper.DERMATOLOGY) + 2
    assert {claim.reason for claim in silent} == {
        "needs the later snapshots: --data FOLDER",
        "needs a table of predictions: --dermatology FILE",
    }
    assert sum(found.record.verdicts.values()) == len(found.claims)


def hapi_folder(folder: Path) -> Path:
    """Write two data sets, one with two years and one with one."""
    rng = np.random.default_rng(0)
    for task, dataset, years in (("sa", "waimai", (20, 21)), ("scr", "digit", (20,))):
        truth = [str(number) for number in rng.integers(0, 2, 200)]
        for api in ("amazon", "baidu", "google"):
            for year in years:
                place = folder / task / dataset / api
                place.mkdir(parents=True, exist_ok=True)
                rows = [
                    {"example_id": str(i), "predicted_label": label if rng.random() < 0.7 else "x", "confidence": 0.5}
                    for i, label in enumerate(truth)
                ]
                (place / f"{year}-03-05.json").write_text(json.dumps(rows))
        labels = [{"example_id": str(i), "true_label": label} for i, label in enumerate(truth)]
        (folder / task / dataset / "labels.json").write_text(json.dumps(labels))
    return folder


def test_a_hapi_folder_adds_its_years(tmp_path: Path) -> None:
    record = pc.reproduce(data=hapi_folder(tmp_path)).record
    added = [(one.dataset, one.period, one.individuals) for one in record.snapshots[12:]]
    assert sorted(added) == [("digit", "2020", 200), ("waimai", "2020", 200), ("waimai", "2021", 200)]
    by_year = {one.period: one for one in record.snapshots[12:] if one.dataset == "waimai"}
    alone = pc.audit(tmp_path / "sa" / "waimai", snapshot="year=2021")
    assert by_year["2021"].systemic_failure == alone.systemic_failure
    assert [(one.dataset, one.model, one.before) for one in record.improvements] == [
        ("waimai", name, "2020") for name in ("amazon", "baidu", "google")
    ]
    assert sum(one.format == "HAPI" for one in record.inputs) == 11


def test_two_snapshots_in_a_year_are_left_out_and_named(tmp_path: Path) -> None:
    folder = hapi_folder(tmp_path)
    first = folder / "sa" / "waimai" / "amazon" / "20-03-05.json"
    first.with_name("20-09-05.json").write_bytes(first.read_bytes())
    record = pc.reproduce(data=folder).record
    assert [one.dataset for one in record.snapshots[12:]] == ["digit"]
    assert any("sa/waimai was left out: one service has two snapshots in a year" in note for note in record.notes)


def images(path: Path, effect: float, tones: tuple[str, str, str] = ("12", "34", "56")) -> Path:
    rng = np.random.default_rng(4)
    tone = np.repeat(tones, [208, 241, 207])
    label = np.where(rng.random(656) < 0.26, "malignant", "benign")
    hard = rng.random(656) < 0.3
    rates = {
        "model": np.where(hard, 0.45 + effect * (tone == tones[2]), 0.25 - effect * 0.3 * (tone == tones[2])),
        "human": np.where(hard, 0.4, 0.2),
    }
    other = np.where(label == "benign", "malignant", "benign")
    columns = {
        f"{kind}_{j}": np.where(rng.random(656) < rates[kind], other, label)
        for kind, members in (("model", 3), ("human", 2))
        for j in range(members)
    }
    pl.DataFrame({"image": np.arange(656), "label": label, "skin_tone": tone, **columns}).write_csv(path)
    return path


def test_a_table_of_dermatology_is_held_against_the_paper_in_both_readings(tmp_path: Path) -> None:
    record = pc.reproduce(dermatology=images(tmp_path / "ddi.csv", 0.5)).record
    assert record.dermatology is not None
    (model, _) = record.dermatology.kinds
    dark = next(group for group in model.groups if group.by == {"skin_tone": "56"})
    own = [claim for claim in record.claims if claim.about == "dermatology, models, skin tone V-VI"]
    assert [(claim.unit, claim.published) for claim in own] == [("points", 0.082), ("ratio", 1.082)]
    assert own[0].found == dark.homogeneous_outcomes.difference  # type: ignore[union-attr]
    assert own[1].found == dark.homogeneous_outcomes.ratio  # type: ignore[union-attr]
    assert {claim.verdict for claim in own} <= {"agrees", "disagrees", "cannot tell"}
    kinds = next(claim for claim in record.claims if claim.about == "dermatology, models and humans")
    assert kinds.found.value > 0.1  # type: ignore[operator]
    assert kinds.verdict == "agrees"
    humans = next(claim for claim in record.claims if claim.about == "dermatology, humans")
    assert humans.margin == pytest.approx(0.097)
    assert humans.verdict in {"agrees", "cannot tell"}


def test_the_sign_does_not_depend_on_the_order_of_groups_and_kinds(tmp_path: Path) -> None:
    table = images(tmp_path / "ddi.csv", 0.3)
    turned = pl.read_csv(table, schema_overrides={"skin_tone": pl.String}).with_columns(
        pl.col("skin_tone").replace({"12": "V-VI", "56": "I-II", "34": "III-IV"})
    )
    turned.with_columns(
        pl.col("skin_tone").replace({"V-VI": "I & II", "I-II": "V & VI", "III-IV": "III & IV"})
    ).write_csv(tmp_path / "words.csv")
    values = [
        next(
            claim.found.value
            for claim in pc.reproduce(dermatology=path, kinds=kinds).claims
            if "and humans" in claim.about
        )
        for path, kinds in (
            (table, None),
            (tmp_path / "words.csv", {"human": "human_*", "model": "model_*"}),
        )
    ]
    assert values[0] == pytest.approx(values[1])


def test_other_names_come_by_a_mapping_and_what_is_missing_is_named(tmp_path: Path) -> None:
    table = images(tmp_path / "ddi.csv", 0.3, ("light", "middle", "dark"))
    (tmp_path / "map.toml").write_text(
        'id = "image"\nlabel = "label"\nmodels = ["model_*", "human_*"]\nby = ["skin_tone"]\n'
    )
    record = pc.reproduce(dermatology=table, map=tmp_path / "map.toml").record
    own = [claim for claim in record.claims if claim.about.startswith("dermatology")]
    assert {claim.verdict for claim in own} == {"not tested"}
    assert any("no group is called skin tone V-VI" in claim.reason for claim in own)


def test_every_output_holds_the_claims(found: pc.Reproduction, tmp_path: Path) -> None:
    found.write(tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "claims.csv",
        "snapshots.csv",
        "profiles.csv",
        "dictionary.csv",
        "reproduction.json",
        "report.html",
    }
    written = json.loads((tmp_path / "out" / "reproduction.json").read_text())
    jsonschema.validate(written, json_schema("reproduction"))
    with (tmp_path / "out" / "claims.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(written["claims"]) == len(found.claims)
    with (tmp_path / "out" / "dictionary.csv").open(encoding="utf-8", newline="") as file:
        told = {(row["table"], row["column"]): row["unit"] for row in csv.DictReader(file)}
    for name in ("claims", "snapshots", "profiles"):
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            assert all(told[name, column] for column in next(csv.reader(file))), name
    assert found.frame().height == len(found.claims)
    with pytest.raises(UsageError, match="Did you mean 'claims'"):
        found.frame("claim")


def test_the_page_shows_every_profile_on_one_axis(found: pc.Reproduction) -> None:
    page = html(found.record)
    assert page.lstrip().startswith("<!doctype html>")
    assert page.count('role="img"') == 12
    assert "http://" not in page.replace("http://www.w3.org", "")
    drawn = small_multiples(found.record.snapshots)
    assert [one.snapshot.dataset for one in drawn] == [one.dataset for one in found.record.snapshots]
    assert found._repr_html_().count("<tr>") == 4


@pytest.mark.parametrize("width", [50, 80, 120])
def test_the_terminal_counts_verdicts(found: pc.Reproduction, width: int) -> None:
    out = io.StringIO()
    print_reproduction(found.record, Console(file=out, width=width))
    assert "Not tested: 6 claims: needs the later" in out.getvalue()
    assert max(len(line) for line in out.getvalue().splitlines()) <= width


def test_published_numbers_keep_their_decimals(found: pc.Reproduction) -> None:
    shown = {published_words(claim) for claim in found.claims}
    assert {"72.8 %", "18.4", "11,987", "-2.5 points", "+8.2 points", "10 %", ""} <= shown


def test_the_command(shell: Callable[..., Any], tmp_path: Path) -> None:
    done = shell("reproduce", "ecosystem-level", "--out", tmp_path / "r", "--json", tmp_path / "r.json")
    assert done.status == 0
    assert "Claims by part of the paper" in done.out
    assert (tmp_path / "r" / "report.html").exists()
    assert json.loads((tmp_path / "r.json").read_text())["name"] == "ecosystem-level"
    check = shell("check", tmp_path / "r.json", "--at-most", "verdicts.disagrees=0")
    assert check.status == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("ecosystem-levle",), "Did you mean 'ecosystem-level'"),
        (("ecosystem-level", "--data", "none"), "There is no folder 'none'"),
        (("ecosystem-level", "--dermatology", "none.csv"), "There is no file"),
        (("ecosystem-level", "--kinds", "a=b"), "of the table of dermatology"),
        (("ecosystem-level", "--out", "no/such"), "there is no folder"),
    ],
)
def test_a_wrong_call_is_refused(
    shell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = shell("reproduce", *words)
    assert done.status == 2
    assert says in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_another_layout_and_a_table_without_the_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    with pytest.raises(FileError, match="layout"):
        pc.reproduce(data=tmp_path)
    pl.DataFrame({"image": [1], "label": ["a"]}).write_csv(tmp_path / "d.csv")
    with pytest.raises(ColumnError, match="image, label, skin_tone, model_\\* and human_\\*") as raised:
        pc.reproduce(dermatology=tmp_path / "d.csv")
    assert "--map FILE" in raised.value.hint
