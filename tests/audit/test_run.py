"""One audit as a whole: the same seed the same bytes, and answers that do not touch each other."""

from __future__ import annotations

import msgspec
import numpy as np

from make_tally import PROVENANCE
from polyculture.audit import frames, tables


def population(n=900, k=4, seed=0):
    rng = np.random.default_rng(seed)
    failed = rng.random((n, k)) < 0.2 + 0.4 * (rng.random((n, 1)) < 0.3)
    return failed, {"x": rng.choice(["a", "b"], n).tolist(), "y": rng.choice(["c", "d", "e"], n).tolist()}


def test_the_same_seed_gives_the_same_bytes(audit):
    failed, columns = population()
    one, again = (msgspec.json.encode(audit(failed, groups=columns, seed=7)) for _ in range(2))
    assert one == again
    other = audit(failed, groups=columns, seed=8)
    assert other.seed == 8
    assert (
        other.group_homogenization.spread_p_value != audit(failed, groups=columns).group_homogenization.spread_p_value
    )


def test_a_further_group_column_changes_no_other_number(audit):
    failed, columns = population()
    one, both = audit(failed, groups={"x": columns["x"]}), audit(failed, groups=columns)
    for name in one.__struct_fields__:
        if name not in {"groups", "group_homogenization", "group_homogenization_by_column", "gaps", "notes"}:
            assert getattr(one, name) == getattr(both, name), name
    assert one.gaps[0] == both.gaps[0]
    assert one.group_homogenization == both.group_homogenization_by_column[0]
    for group in one.groups:
        twin = next(g for g in both.groups if g.by == group.by)
        assert group.systemic_failure == twin.systemic_failure
        assert group.homogeneous_outcomes == twin.homogeneous_outcomes
        assert group.contrast.difference == twin.contrast.difference


def test_independence_is_the_first_null(audit):
    failed, _ = population()
    found = audit(failed)
    null = found.nulls[0]
    assert (null.name, null.parameters, null.residual_df) == ("independence", 4, 2**4 - 1 - 4)
    assert null.systemic_failure == found.systemic_failure.expected
    assert null.excess == found.systemic_failure.difference
    assert null.p_value == found.systemic_failure.p_value


def test_residual_degrees_of_freedom_need_one_table_of_patterns(audit):
    failed, _ = population()
    judged = np.ones_like(failed)
    judged[:50, 0] = False
    for found, why in (
        (audit(failed & judged, judged), "not every model judged"),
        (audit(np.random.default_rng(0).random((400, 21)) < 0.3), "more than 20 models"),
    ):
        assert found.nulls[0].residual_df is None
        assert why in found.nulls[0].residual_df_reason
    assert audit(failed).nulls[0].residual_df_reason == ""


def test_the_rule_in_words_and_label_errors_only_where_there_may_be_labels(make_tally):
    import msgspec.structs

    from polyculture.audit import run

    failed, groups = population()
    tally = make_tally(failed, groups={"x": groups["x"]})
    for rule, words, labels in (
        ("decision=reject", "the model decided 'reject'", False),
        ("score<0.5", "the model's score is below 0.5", False),
        ("misclassified", "the model's answer differs from the label", True),
        ("failed", "the outcome column is 1", True),
        ("failed when status=no", "", True),
    ):
        provenance = msgspec.structs.replace(PROVENANCE, failure_rule=rule)
        found = run(tally, provenance=provenance, noun="applicants")
        assert found.noun == "applicants"
        assert found.provenance.failure_rule_in_words == words
        for outcome in (found.systemic_failure, found.groups[0].systemic_failure):
            assert (outcome.label_errors is not None) == labels


def test_independence_is_seldom_rejected_where_it_holds(audit):
    rng = np.random.default_rng(11)
    p_values = [audit(rng.random((200, 3)) < 0.4).systemic_failure.p_value for _ in range(120)]
    assert sum(p < 0.05 for p in p_values) <= 13


def test_pairs_count_joint_judgements_and_failures(audit):
    rng = np.random.default_rng(1)
    judged = rng.random((400, 4)) < 0.8
    failed = (rng.random((400, 4)) < 0.5) & judged
    found = audit(failed, judged, models=list("abcd"))
    assert [pair.models for pair in found.pairs][:2] == [("a", "b"), ("a", "c")]
    for pair in found.pairs:
        one, other = ("abcd".index(name) for name in pair.models)
        assert pair.both_judged == (judged[:, one] & judged[:, other]).sum()
        assert pair.both_failed == (failed[:, one] & failed[:, other]).sum()


def test_patterns_stand_beside_what_independence_expects(audit):
    rng = np.random.default_rng(2)
    judged = rng.random((500, 3)) < 0.8
    failed = (rng.random((500, 3)) < 0.5) & judged
    found = audit(failed, judged, models=list("abc"), min_judged=1)
    kept = judged.any(axis=1)
    failed, judged = failed[kept], judged[kept]
    rates = failed.sum(axis=0) / judged.sum(axis=0)
    assert sum(pattern.count for pattern in found.patterns) == len(failed)
    assert (
        sum(pattern.share for pattern in found.patterns) == 1.0 or abs(sum(p.share for p in found.patterns) - 1) < 1e-12
    )
    assert [p.count for p in found.patterns] == sorted((p.count for p in found.patterns), reverse=True)
    for pattern in found.patterns:
        asked = np.array([name in pattern.judged for name in "abc"])
        fails = np.array([name in pattern.failed for name in "abc"])
        alike = (judged == asked).all(axis=1)
        assert pattern.count == (alike & (failed == fails).all(axis=1)).sum()
        chance = np.where(fails, rates, 1 - rates)[asked].prod()
        assert abs(pattern.expected - alike.mean() * chance) < 1e-12
    assert found.patterns_note == ""


def test_only_the_most_frequent_patterns_are_listed(audit):
    rng = np.random.default_rng(3)
    found = audit(rng.random((2000, 8)) < 0.5)
    assert len(found.patterns) == 32
    assert "32 most frequent of" in found.patterns_note


def test_tables_and_frames_hold_the_numbers_of_the_record(audit):
    failed, columns = population()
    found = audit(failed, groups=columns, models=list("mnop"))
    rows = tables(found)
    assert [row["name"] for row in rows["models"]] == list("mnop")
    first = rows["models"][0]
    rate = found.models[0].failure_rate
    assert (first["failure_rate"], first["failure_rate_low"], first["failure_rate_high"]) == (
        rate.value,
        rate.low,
        rate.high,
    )
    assert first["failure_rate_method"] == rate.method
    assert first["failure_rate_reason"] is None
    group = rows["groups"][0]
    assert (group["by_x"], group["by_y"]) == ("a", None)
    assert group["systemic_failure_observed"] == found.groups[0].systemic_failure.observed.value
    assert group["contrast_difference_low"] == found.groups[0].contrast.difference.low
    assert [row["outcome"] for row in rows["outcomes"]] == [
        "systemic failure",
        "consistent success",
        "homogeneous outcomes",
    ]
    for name, frame in frames(found).items():
        assert frame.height == len(rows[name])
        assert frame.columns == list(rows[name][0])
    assert all(list(row) == list(rows["groups"][0]) for row in rows["groups"])


def test_a_withheld_group_has_empty_columns(audit):
    failed, _ = population()
    found = audit(failed, groups={"g": ["a"] * 890 + ["b"] * 10})
    withheld = next(row for row in tables(found)["groups"] if row["by_g"] == "b")
    assert withheld["status"] == "too few"
    assert withheld["systemic_failure_observed"] is None
    assert "systemic_failure" not in withheld


def test_the_table_of_groups_has_headline_figures_and_no_table_has_empty_ones(audit):
    failed, columns = population()
    found = tables(audit(failed, groups=columns))
    names = list(found["groups"][0])
    assert {"systemic_failure_observed_low", "homogeneous_outcomes_ratio", "contrast_p_adjusted"} <= set(names)
    assert not [name for name in names if name.endswith(("_method", "_reason")) or name in {"models", "profile"}]
    assert not [name for name in names if "log10" in name or "ceiling" in name]
    assert len(names) < 60
    # The rest is there, a row a group and outcome.
    outcomes = found["group_outcomes"]
    assert len(outcomes) == 3 * len(found["groups"])
    assert outcomes[0]["outcome"] == "systemic failure"
    assert outcomes[0]["observed"] == found["groups"][0]["systemic_failure_observed"]
    assert {"log10_ratio", "ceiling", "observed_method", "ratio_reason"} <= outcomes[0].keys()
    assert found["group_contrasts"][0]["difference_method"]
    assert "models" not in found["gaps"][0]
