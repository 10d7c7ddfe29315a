"""Backbones that are none are refused with their place and what to do."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import tiny

from polyculture.errors import FileError, PolycultureError, UsageError
from polyculture.lab import pretrained
from polyculture.lab.data import prepare
from polyculture.lab.planfile import plan_from, with_settings

pytest.importorskip("torch", reason="needs the extra [torch]")


def begin(content: dict[str, Any], folder: Path) -> None:
    plan = plan_from(content)
    pretrained.with_backbones(plan, prepare(plan), folder, lambda _: None)


def one(**given: Any) -> dict[str, Any]:
    return {"backbone": [{"name": "b", **given}]}


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (tiny.images(backbone=[]), "adapts a pretrained model, and the plan names none", "[[backbone]]"),
        (tiny.images(learner=[{"estimator": "sklearn.svm.SVC"}]), "No learner adapts the backbone 'vit'", "probe"),
        (tiny.images(**one()), "needs one of model, configuration, module and hub", "model_type"),
        (tiny.images(**one(model="x", module="y:z")), "needs one of model", "FOLDER"),
        (tiny.images(**one(modle="x")), "no key 'modle'", "Did you mean 'mod"),
        (tiny.images(**one(configuration={"model_type": "vti"})), "no model_type 'vti'", "'vit'"),
        (
            tiny.images(**one(configuration={"model_type": "vit", "hiden_size": 8})),
            "a configuration of vit has no key 'hiden_size'",
            "Did you mean 'hidden_size'?",
        ),
        (tiny.images(**one(model="no/such/folder")), "There is no folder 'no/such/folder'", "nothing is fetched"),
        (tiny.images(**one(model="tests")), "There is no model (no config.json) in 'tests'", "transformers saves"),
        (tiny.images(**one(module="torch.nn.Linnear")), "no 'Linnear' in torch.nn", "'Linear'"),
        (tiny.images(**one(module="torch.nn.Linear", parameters={"in": 3})), "cannot be made", "parameters"),
        (tiny.images(**one(module="fractions.Fraction")), "made a Fraction", "torch.nn.Module"),
        (tiny.images(**one(module="torch.nn.Identity")), "array of 4 dimensions", "a row an individual"),
        (tiny.images(**one(configuration=tiny.BERT)), "does not take the inputs pixel_values", "fit together"),
        (tiny.texts(**one(configuration=tiny.VIT)), "of type vit reads no texts", "bert"),
        (tiny.texts(**one(module="torch.nn.Flatten")), "has no method tokenize", "a list of texts"),
        (
            tiny.images(**one(configuration=tiny.VIT, pretrain={"data": tiny.images()["data"]})),
            "Pretraining of backbone 'b' names no label",
            "only texts",
        ),
        (tiny.images(**one(configuration=tiny.VIT, max_length=1)), "max_length = 1", "2 or more"),
        (
            tiny.images(learner=[{"adapt": "probe", "parameters": {"epoch": 3}}]),
            "Learner 'probe' has no setting 'epoch'",
            "Did you mean 'epochs'?",
        ),
        (tiny.images(learner=[{"adapt": "probe", "parameters": {"epochs": 0}}]), "epochs = 0", "1 or more"),
        (tiny.images(learner=[{"adapt": "probe", "parameters": {"epochs": "x"}}]), "Expected `int`", "Mend"),
        (
            tiny.images(learner=[{"adapt": "lora", "parameters": {"learning_rate": -1}}]),
            "learning_rate = -1",
            "above 0",
        ),
        (tiny.images(learner=[{"adapt": "prob"}]), "Invalid enum value 'prob'", "Did you mean 'probe'?"),
        (tiny.images(learner=[{"adapt": "probe", "estimator": "x.Y"}]), "one of estimator, steps and adapt", "probe"),
        (tiny.images(share={"rows": ["fixed"], "backbone": ["own"]}), "names one backbone only", "[[backbone]]"),
        (tiny.images(share={"rows": ["fixed"], "features": ["own"]}), "sees whole texts or images", "Leave it out"),
        (tiny.images(data={**tiny.images()["data"], "image": [1, 8, 9]}), "has 72 pixels", "64 features|columns out"),
        (tiny.images(data={**tiny.images()["data"], "text": "x"}), "names a text and an image", "one of them"),
        (tiny.texts(data={**tiny.texts()["data"], "text": "txt"}), "no column 'txt' of texts", "Did you mean 'text'?"),
        (tiny.texts(data={**tiny.texts()["data"], "text": "strength"}), "holds Boolean values", "texts"),
        (
            tiny.texts(data={**tiny.texts()["data"], "parameters": {"individual": 60}}),
            "has no parameter 'individual'",
            "Did you mean 'individuals'?",
        ),
        (tiny.texts(data={**tiny.texts()["data"], "parameters": {"individuals": 5}}), "holds 5 individuals", "10"),
    ],
)
def test_what_is_no_backbone_is_refused(
    content: dict[str, Any], message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parent.parent.parent)
    with pytest.raises(PolycultureError) as caught:
        begin(content, tmp_path)
    assert message in caught.value.message
    assert any(part in (caught.value.hint or "") for part in hint.split("|"))
    assert not list(tmp_path.rglob("*.safetensors"))


@pytest.mark.parametrize(
    ("library", "extra"), [("torch", "torch"), ("skorch", "torch"), ("transformers", "text"), ("peft", "text")]
)
def test_a_missing_library_names_the_command_that_installs_it(
    library: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == library else there(name))
    with pytest.raises(UsageError, match=f"need {library}") as caught:
        begin(tiny.images(learner=[{"adapt": "lora"}]), tmp_path)
    assert "pip install 'polyculture[lab," in (caught.value.hint or "")
    assert extra in (caught.value.hint or "")


def test_what_cannot_be_drawn_anew_is_no_backbone_from_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stiff_backbone.py").write_text(
        "import torch\n\nclass Stiff(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.scale = torch.nn.Parameter(torch.ones(64))\n\n"
        "    def forward(self, x):\n        return x.flatten(1) * self.scale\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    content = tiny.images(backbone=[{"module": "stiff_backbone.Stiff"}])
    begin(content, tmp_path)
    with pytest.raises(UsageError, match=r"'Stiff' in 'stiff_backbone\.Stiff' cannot be drawn anew"):
        begin({**content, "learner": [{"adapt": "scratch"}]}, tmp_path)


def test_backbones_can_be_set_from_the_shell() -> None:
    content = with_settings(tiny.images(), ["backbone=a/b, c", "backbone.max_length=32"])
    assert content["backbone"] == [{"model": "a/b", "max_length": 32}, {"model": "c", "max_length": 32}]
    assert plan_from(content).backbones[0].shown() == "b"
    given = with_settings(tiny.images(), ['backbone=["a/b", {module = "m.Own"}]'])
    assert given["backbone"] == [{"model": "a/b"}, {"module": "m.Own"}]
    with pytest.raises(UsageError, match="no key of a backbone"):
        with_settings(tiny.images(), ["backbone.pretrain.seed=1"])


@pytest.mark.parametrize(("given", "local"), [({"model": "folder"}, True), ({"hub": "someone/model"}, False)])
def test_only_a_named_hub_is_asked(
    given: dict[str, str], local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    asked: list[tuple[str, dict[str, Any]]] = []

    def from_pretrained(source: str, **options: Any) -> None:
        asked.append((source, options))
        raise OSError("not there\nand more")

    monkeypatch.setattr(transformers.AutoModel, "from_pretrained", from_pretrained)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "config.json").write_text("{}")
    with pytest.raises(FileError, match=r"is no model that transformers can read: not there It needs"):
        begin(tiny.images(**one(**given)), tmp_path)
    (source, options) = asked[0]
    assert source == next(iter(given.values()))
    assert options == {"local_files_only": local, "trust_remote_code": False, "use_safetensors": True}
