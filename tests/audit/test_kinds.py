"""Kinds of decision-makers in an audit: dermatology as simulated, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.records import KindsRecord
from polyculture.errors import FileError, TallyError, UsageError

KINDS = {"model": ["model_*"], "human": ["expert_1", "expert_2"]}


def images(seed: int, effect: float) -> pl.DataFrame:
    """656 images of three skin tones, 3 models and 2 experts; the models share failures on V-VI by ``effect``."""
    rng = np.random.default_rng(seed)
    tone = np.repeat(["I-II", "III-IV", "V-VI"], [208, 241, 207])
    hard = rng.random(656) < 0.3
    dark = tone == "V-VI"
    models = np.where(hard, 0.45 + effect * dark, 0.25 - effect * dark * 0.3)
    humans = np.where(hard, 0.5, 0.15)
    answers = {f"model_{j}": (rng.random(656) < models).astype(int) for j in (1, 2, 3)}
    answers |= {f"expert_{j}": (rng.random(656) < humans).astype(int) for j in (1, 2)}
    return pl.DataFrame({"image": np.arange(656), "tone": tone, **answers})


def found(frame: pl.DataFrame, **more: Any) -> KindsRecord:
    options = {"outcomes": "failed", "id": "image", "by": ["tone"], "kinds": KINDS, "noun": "images"} | more
    kinds = pc.audit(frame, **options).kinds
    assert kinds is not None
    return kinds


def difference(record: KindsRecord, first: str, second: str, outcome: str = "systemic failure") -> Any:
    (one,) = [
        one
        for one in record.differences
        if one.outcome == outcome and [by["tone"] for by in one.groups] == [first, second]
    ]
    return one


def test_a_skin_tone_effect_on_models_alone_is_found_where_it_is() -> None:
    record = found(images(1, 0.45))
    for outcome in ("systemic failure", "homogeneous outcomes"):
        for tone in ("I-II", "III-IV"):
            one = difference(record, tone, "V-VI", outcome)
            assert one.kinds == ("model", "human")
            assert one.excess_difference.high < 0
            assert one.p_adjusted < 0.01
        assert difference(record, "I-II", "III-IV", outcome).p_adjusted > 0.05


def test_no_effect_is_found_where_there_is_none() -> None:
    seen = [difference(found(images(seed, 0.0)), "I-II", "V-VI").p_value < 0.05 for seed in range(20)]
    assert sum(seen) <= 4  # at 5 % more than four of twenty come in .3 % of runs


def test_each_kind_is_what_an_audit_of_its_models_says() -> None:
    frame = images(2, 0.3)
    record = found(frame)
    for kind in record.kinds:
        alone = pc.audit(frame, outcomes="failed", id="image", by=["tone"], models=list(kind.models)).record
        assert kind.systemic_failure == alone.systemic_failure
        assert kind.homogeneous_outcomes == alone.homogeneous_outcomes
        assert kind.profile == alone.profile
        assert kind.groups == alone.groups
        assert kind.group_homogenization == alone.group_homogenization
        assert kind.gaps == alone.gaps
    assert [kind.models for kind in record.kinds] == [("model_1", "model_2", "model_3"), ("expert_1", "expert_2")]


def test_differences_add_up_from_what_is_shown() -> None:
    record = found(images(3, 0.3))
    excess = {
        (kind.name, group.by["tone"]): group.systemic_failure.difference.value
        for kind in record.kinds
        for group in kind.groups
        if group.systemic_failure is not None
    }
    one = difference(record, "I-II", "V-VI")
    by_hand = excess["model", "I-II"] - excess["model", "V-VI"] - (excess["human", "I-II"] - excess["human", "V-VI"])  # type: ignore[operator]
    assert one.excess_difference.value == pytest.approx(by_hand)
    for within in record.group_differences:
        if within.outcome == "systemic failure":
            first, second = (excess[within.kind, by["tone"]] for by in within.groups)
            assert within.excess_difference.value == pytest.approx(first - second)  # type: ignore[operator]
    for contrast in record.contrasts:
        if contrast.outcome == "systemic failure" and contrast.by:
            first, second = (excess[kind, contrast.by["tone"]] for kind in contrast.kinds)
            assert contrast.excess_difference.value == pytest.approx(first - second)  # type: ignore[operator]


def test_kinds_of_different_size_come_with_a_warning_and_models_of_none_are_named() -> None:
    record = found(images(4, 0.0), kinds={"a": ["model_1", "model_2"], "b": ["expert_*"]})
    assert record.models_of_no_kind == ("model_3",)
    assert any("'model_3'" in note for note in record.notes)
    assert not any("different size" in note for note in record.notes)
    assert any("different size" in note for note in found(images(4, 0.0)).notes)


def test_a_kind_of_one_has_a_rate_and_nothing_to_homogenize() -> None:
    record = found(images(4, 0.0), kinds={"a": ["model_*"], "b": ["expert_1"]})
    assert record.kinds[1].systemic_failure.ratio.value is None
    assert all(one.excess_difference.value is None and one.excess_difference.reason for one in record.differences)
    assert any("one member" in note for note in record.notes)


def test_groups_below_the_smallest_cell_are_not_compared() -> None:
    record = found(images(5, 0.0), min_cell=210)
    assert {by["tone"] for one in record.differences for by in one.groups} == set()
    assert {group.status for kind in record.kinds for group in kind.groups} == {"too few", "reported"}


def test_individuals_that_a_kind_did_not_judge_are_not_its_own() -> None:
    frame = images(6, 0.2).with_columns(
        pl.when(pl.col("image") % 3 > 0).then(pl.col("expert_1")).alias("expert_1"),
        pl.when(pl.col("image") % 3 > 0).then(pl.col("expert_2")).alias("expert_2"),
    )
    record = found(frame, no_answer="missing", no_answer_values=["null"])
    assert [kind.individuals for kind in record.kinds] == [656, 437]
    assert any("Not every image" in note for note in record.notes)
    assert difference(record, "I-II", "V-VI").excess_difference.low is not None


def test_a_census_has_differences_without_intervals() -> None:
    record = found(images(7, 0.3), census=True)
    one = difference(record, "I-II", "V-VI")
    assert one.excess_difference.value is not None
    assert one.excess_difference.low is None
    assert one.p_value is None
    assert one.p_adjusted is None


def test_without_groups_only_kinds_are_compared() -> None:
    record = found(images(8, 0.0), by=[])
    assert record.differences == ()
    assert [(one.outcome, one.by) for one in record.contrasts] == [
        ("systemic failure", {}),
        ("homogeneous outcomes", {}),
    ]


def test_kinds_come_as_text_dictionary_or_file_and_from_a_tally(tmp_path: Path) -> None:
    frame = images(9, 0.0)
    path = tmp_path / "kinds.toml"
    path.write_text('[kinds]\nmodel = "model_*"\nhuman = ["expert_1", "expert_2"]\n')
    given = [KINDS, "model=model_*,human=expert_1,expert_2", path, str(path)]
    records = [found(frame, kinds=one) for one in given]
    assert all(one == records[0] for one in records)
    counted = pc.Tally.of(pc.read(frame, outcomes="failed", id="image", by=["tone"]))
    assert pc.audit(counted, kinds=KINDS, noun="images").kinds == records[0]


@pytest.mark.parametrize(
    ("kinds", "says"),
    [
        ({"a": ["model_1"]}, "nothing to hold it against"),
        ({}, "nothing to hold it against"),
        ({"a": ["model_1"], "b": []}, "'b' has no models"),
        ({"a": ["model_*"], "b": ["model_1"]}, "'model_1' is of two kinds, 'a' and 'b'"),
        ({"a": ["modl_1"], "b": ["expert_1"]}, "Did you mean 'model_1'"),
        ({"a": ["x*"], "b": ["expert_1"]}, "The models are: 'model_1'"),
        ("model_1,b=expert_1", "'model_1' is of no kind"),
        ("a=model_1,a=model_2", "'a' stands there twice"),
        ("=model_1,b=model_2", "has no name"),
    ],
)
def test_wrong_kinds_are_refused(kinds: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        found(images(1, 0.0), kinds=kinds)
    assert says in str(caught.value)
    assert caught.value.hint


def test_a_file_of_kinds_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"There is no file 'none\.toml'.*--kinds"):
        found(images(1, 0.0), kinds="none.toml")
    (tmp_path / "kinds.toml").write_text("model = 3\nhuman = ['a']\n")
    with pytest.raises(UsageError, match="kind 'model' is 3"):
        found(images(1, 0.0), kinds=tmp_path / "kinds.toml")


def test_a_sample_of_patterns_has_no_kinds_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    frame = pl.DataFrame((rng.random((3000, 22)) < 0.3).astype(np.int8), schema=[f"m{j}" for j in range(22)])
    monkeypatch.setattr("polyculture.tally.build.MANY", 100)
    monkeypatch.setattr("polyculture.tally.large.SAMPLE", 1500)
    counted = pc.Tally.of(pc.read(frame, outcomes="failed"))
    assert not counted.exact
    record = pc.audit(counted, kinds={"a": ["m1*"], "b": ["m2*"]}).kinds
    assert record is not None
    assert record.kinds == ()
    assert "sample" in record.reason
    with pytest.raises(TallyError, match="sample"):
        counted.of_models(["m1"])


def test_as_many_individuals_of_each_kind_need_not_be_the_same_ones() -> None:
    none = [None] * 50
    frame = pl.DataFrame(
        {"a1": [0, 1] * 25 + none, "a2": [1, 1] * 25 + none, "b1": none + [1, 0] * 25, "b2": none + [1, 1] * 25},
        strict=False,
    )
    found = pc.audit(frame, outcomes="failed", kinds={"a": "a*", "b": "b*"}).record.kinds
    assert found is not None
    assert [kind.individuals for kind in found.kinds] == [50, 50]
    assert "Not every individual was judged by every kind; who was judged is not random." in found.notes
    assert "both of kind 'a' fail 50.0 %" in found.sentence.lower()


def test_a_kind_of_which_not_all_judged_everyone_is_not_said_to_fail_them_all() -> None:
    frame = pl.DataFrame({"a1": [0, 1] * 25, "a2": [1, 1] * 25, "a3": [None, 1] * 25, "b1": [1] * 50, "b2": [1] * 50})
    found = pc.audit(frame, outcomes="failed", kinds={"a": "a*", "b": "b*"}).record.kinds
    assert found is not None
    assert found.sentence.startswith("All of kind 'a' that judged them fail 50.0 %")
    assert "both of kind 'b' fail 100 %" in found.sentence


def test_what_too_few_individuals_leave_out_is_said() -> None:
    record = found(images(1, 0.3), min_cell=1000)
    assert record.contrasts == ()
    assert "Not compared: kinds 'model' and 'human' judged fewer than 1,000 images" in " ".join(record.notes)
    record = found(images(1, 0.3), min_cell=208)
    assert {by["tone"] for one in record.differences for by in one.groups} == {"I-II", "III-IV"}
    assert "Groups of 'tone' with fewer than 208 images (--min-cell) are not compared: 'V-VI'." in record.notes
    assert not any("--min-cell" in note for note in found(images(1, 0.3)).notes)
