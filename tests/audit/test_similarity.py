"""Likeness of models in an audit: records follow from the Tally, whatever the layout, and say why where undefined."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from msgspec import UNSET

from polyculture.audit.similarity import FEWEST_JOINT, ROUGH
from polyculture.audit.tree import near_duplicates, tree_of
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally


def failures(n=500, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < np.linspace(0.1, 0.3, k) + 0.4 * (rng.random((n, 1)) < 0.3)


def labelled(seed=0, n=400, options=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(options, size=n)
    answers = np.where(rng.random((n, 3)) < 0.6, truth[:, None], rng.integers(options, size=(n, 3)))
    return pl.DataFrame({"truth": truth, "a": answers[:, 0], "b": answers[:, 1], "c": answers[:, 2]})


def test_pairs_and_collection_stand_in_the_record(audit):
    failed = failures()
    found = audit(failed, models=list("abcd"))
    pair = found.pairs[0]
    assert pair.models == ("a", "b")
    assert pair.phi.value == pytest.approx(np.corrcoef(failed.T)[0, 1])
    assert pair.capa_method == "exact match of failure flags"
    assert pair.agree_when_both_wrong.reason == "needs the answers, not only who was failed"
    together = found.collection
    f, t = failed.mean(axis=0), failed.sum(axis=1)
    assert together.n_eff.value == pytest.approx(4 * (f * (1 - f)).sum() / t.var())
    assert together.sentence.startswith("4 models count as about ")
    assert together.baseline_model == "a"
    assert [row.count for row in together.recourse] == [int((t == x).sum()) for x in (4, 3, 2, 1, 0)]
    assert sum(row.observed.value for row in together.recourse) == pytest.approx(1)


def test_no_interval_without_reason_and_none_of_width_zero(audit, statistics):
    judged = np.random.default_rng(1).random((300, 5)) < 0.8
    failed = np.column_stack([failures(300), np.zeros(300, dtype=bool)])
    found = audit(failed, judged)
    for path, one in (*statistics(found.pairs), *statistics(found.collection), *statistics(found.panel)):
        if one.value is None or one.low is None:
            assert one.reason is not UNSET, path
        else:
            assert one.low < one.high, path
            assert one.low <= one.value <= one.high, path


def test_few_joint_failures_are_marked(audit):
    failed = np.zeros((200, 2), dtype=bool)
    failed[:20, 0] = failed[17:40, 1] = True
    pair = audit(failed).pairs[0]
    assert pair.both_failed < FEWEST_JOINT
    assert pair.kappa.reason == ROUGH
    assert pair.kappa.low is not None


def test_a_census_has_no_intervals(audit, statistics):
    found = audit(failures(), census=True)
    for path, one in (*statistics(found.pairs), *statistics(found.collection), *statistics(found.panel)):
        assert one.low is None, path


def test_answers_reach_the_pairs(audit_of_tally):
    frame = labelled()
    pair = audit_of_tally(Tally.of(Outcomes(frame, Mapping(label="truth")))).pairs[0]
    wrong = [frame[name].to_numpy() != frame["truth"].to_numpy() for name in "ab"]
    same = wrong[0] & (frame["a"].to_numpy() == frame["b"].to_numpy())
    assert pair.agree_when_both_wrong.value == pytest.approx(same.sum() / (wrong[0] & wrong[1]).sum())
    assert pair.baseline == pytest.approx(1 / 3)
    assert pair.capa_method == "answers, 4 options, the different labels and answers"


@pytest.mark.parametrize("by", [(), ("g",)])
def test_two_options_need_no_table_of_answers_and_groups_change_nothing(audit_of_tally, by):
    frame = labelled(options=2).with_columns(g=pl.Series(["x", "y"] * 200))
    mapping = Mapping(label="truth", models=("a", "b", "c"), by=by)
    found = audit_of_tally(Tally.of(Outcomes(frame, mapping)))
    for pair in found.pairs:
        assert pair.capa.value == pytest.approx(pair.kappa.value)
        assert pair.capa_method == "answers, two options"
    assert found.collection.capa_method == "answers, two options"


@pytest.mark.parametrize("by", [(), ("g",)])
def test_with_two_options_no_answer_is_no_same_answer(audit_of_tally, by):
    frame = pl.DataFrame(
        {
            "truth": [0, 1] * 100,
            "a": [None, 0, 0, 1] * 50,
            "b": [None, 0, 0, 0] * 50,
            "g": ["x", "y"] * 100,
        }
    )
    mapping = Mapping(label="truth", models=("a", "b"), no_answer_values=("null",), by=by)
    pair = audit_of_tally(Tally.of(Outcomes(frame, mapping))).pairs[0]
    assert pair.both_failed == 100
    # 50 without any answer, 50 with the same wrong one, 50 both right, 50 apart.
    assert pair.agree_when_either_wrong.value == pytest.approx(50 / 150)


def test_a_saved_tally_says_the_same(audit_of_tally, tmp_path):
    tally = Tally.of(Outcomes(labelled(), Mapping(label="truth")))
    tally.save(tmp_path / "t")
    assert audit_of_tally(Tally.load(tmp_path / "t")).pairs == audit_of_tally(tally).pairs


def test_sampled_patterns_keep_exact_pairs(audit_of_tally, monkeypatch):
    rng = np.random.default_rng(2)
    failed = rng.random((3000, 22)) < 0.1 + 0.5 * (rng.random((3000, 1)) < 0.3)
    frame = pl.DataFrame(failed.astype(np.int8), schema=[f"m{j}" for j in range(22)])
    whole = audit_of_tally(Tally.of(Outcomes(frame, Mapping(outcomes="failed"))))
    monkeypatch.setattr("polyculture.tally.build.MANY", 100)
    monkeypatch.setattr("polyculture.tally.large.SAMPLE", 1500)
    tally = Tally.of(Outcomes(frame, Mapping(outcomes="failed")))
    assert not tally.exact
    found = audit_of_tally(tally)
    assert found.pairs == whole.pairs
    assert found.collection.n_eff.value == pytest.approx(whole.collection.n_eff.value)
    width = [np.log(r.collection.n_eff.high / r.collection.n_eff.low) for r in (found, whole)]
    assert width[0] == pytest.approx(width[1], rel=0.15)


def test_one_model_has_no_collection(audit):
    found = audit(failures(k=1))
    assert (found.collection, found.panel, found.pairs) == (None, None, ())


def test_the_tree_puts_alike_models_together_whatever_their_order(audit):
    rng = np.random.default_rng(4)
    one, two = failures(k=1, seed=5), failures(k=1, seed=6)
    noise = rng.random((500, 6)) < 0.05
    failed = np.hstack([one, two, one, two, one, two]) ^ noise
    names = ["a1", "b1", "a2", "b2", "a3", "b3"]
    found = audit(failed, models=names).collection
    assert {name[0] for name in found.order[:3]} != {"a", "b"}
    assert len(found.merges) == 5
    assert max(found.merges, key=lambda merge: merge.height) == found.merges[-1]
    turned = audit(failed[:, ::-1], models=names[::-1]).collection
    assert (turned.order, turned.merges) == (found.order, found.merges)


def test_the_tree_of_known_distances():
    kappa = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, np.nan], [0.1, np.nan, 1.0]])
    order, merges = tree_of(["x", "y", "z"], kappa)
    first, second = merges
    assert {order[first.left], order[first.right]} == {"x", "y"}
    assert first.height == pytest.approx(0.1)
    assert second.height == pytest.approx((0.9 + 1.0) / 2)


def test_copies_are_flagged_and_few_joint_failures_are_not(audit):
    failed = failures()
    copied = np.column_stack([failed, failed[:, 0]])
    found = audit(copied, models=list("abcdx")).collection.near_duplicates
    assert [pair.models for pair in found] == [("a", "x")]
    assert found[0].why == "kappa of 0.9 or more"
    assert near_duplicates(["a", "b"], np.ones((2, 2)), np.full((2, 2), FEWEST_JOINT - 1)) == ()
