"""Model-level gaps against the fairlearn library, and the gap in systemic failure beside them."""

from __future__ import annotations

import fairlearn.metrics as fairlearn
import numpy as np
import pytest

MEASURES = {
    "demographic_parity_difference": fairlearn.demographic_parity_difference,
    "demographic_parity_ratio": fairlearn.demographic_parity_ratio,
    "equalized_odds_difference": fairlearn.equalized_odds_difference,
    "equalized_odds_ratio": fairlearn.equalized_odds_ratio,
}


def decisions(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    label = (rng.random(n) < 0.3 + 0.2 * (group == "b")).astype(int)
    lean = 0.15 * (group == "c")
    chance = np.where(label == 1, 0.75, 0.2)[:, None] + lean[:, None] * np.array([1.0, -1.0, 0.2])
    return group, label, (rng.random((n, 3)) < chance).astype(int), rng.integers(1, 6, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_as_fairlearn_has_them(audit, weighted):
    group, label, predicted, weight = decisions()
    options = {"weight": weight.tolist()} if weighted else {}
    found = audit(predicted != label[:, None], labels=label.tolist(), groups={"g": group.tolist()}, **options).gaps[0]
    sample = {"sample_weight": weight} if weighted else {}
    for j, model in enumerate(found.models):
        for name, measure in MEASURES.items():
            theirs = measure(label, predicted[:, j], sensitive_features=group, **sample)
            assert getattr(model, name).value == pytest.approx(theirs), (model.name, name)
        frame = fairlearn.MetricFrame(
            metrics=lambda y, p, sample_weight=None: np.average(y != p, weights=sample_weight),
            y_true=label,
            y_pred=predicted[:, j],
            sensitive_features=group,
            sample_params=sample,
        )
        assert model.failure_rate_difference.value == pytest.approx(frame.difference())
        assert model.failure_rate_ratio.value == pytest.approx(frame.ratio())
        assert model.failure_rate_difference.low <= frame.difference() <= model.failure_rate_difference.high
    assert found.selection.startswith("predicted")


def test_selection_rates_leave_no_answers_out(audit_of_tally):
    import polars as pl

    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.tally import Tally

    answers = ["yes"] * 30 + ["no"] * 20 + [None] * 10
    frame = pl.DataFrame(
        {
            "a": answers * 2,
            "b": ["yes"] * 60 + ["no"] * 60,
            "truth": (["yes"] * 30 + ["no"] * 30) * 2,
            "g": ["x"] * 60 + ["y"] * 60,
        }
    )
    mapping = Mapping(models=("a", "b"), label="truth", no_answer_values=("null",), by=("g",), positive="yes")
    found = audit_of_tally(Tally.of(Outcomes(frame, mapping))).gaps[0].models
    # No answer is no selection and no rejection: 30 of 50 in both groups, though no answers are failures.
    assert found[0].demographic_parity_difference.value == 0.0
    assert found[0].demographic_parity_ratio.value == 1.0
    assert found[0].failure_rate_difference.value == 0.0
    assert found[1].demographic_parity_difference.value == 1.0
    assert found[1].demographic_parity_ratio.value == 0.0


def test_who_was_selected_is_known_where_failure_is_a_decision(audit_of_tally):
    import polars as pl

    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.tally import Tally

    rng = np.random.default_rng(5)
    said = np.where(rng.random((300, 2)) < 0.4, "reject", "advance").astype(object)
    said[:30, 0] = "error"
    group = rng.choice(["x", "y", "z"], 300)
    frame = pl.DataFrame({"a": said[:, 0].tolist(), "b": said[:, 1].tolist(), "g": group.tolist()})
    for weighted in (False, True):
        options = {"weight": "w"} if weighted else {}
        table = frame.with_columns(w=pl.lit(1.0)) if weighted else frame
        mapping = Mapping(
            models=("a", "b"), failure="decision=reject", no_answer_values=("error",), by=("g",), **options
        )
        gap = audit_of_tally(Tally.of(Outcomes(table, mapping))).gaps[0]
        for j, model in enumerate(gap.models):
            rates = [
                (said[(group == name) & (said[:, j] != "error"), j] == "advance").mean() for name in ("x", "y", "z")
            ]
            assert model.demographic_parity_difference.value == pytest.approx(max(rates) - min(rates))
            assert model.demographic_parity_ratio.value == pytest.approx(min(rates) / max(rates))
            assert model.demographic_parity_difference.low is not None
            assert "two values" in model.equalized_odds_difference.reason
        assert gap.selection == "not decided 'reject'"


def test_with_two_groups_the_gap_is_their_contrast(audit):
    rng = np.random.default_rng(6)
    group = rng.choice(["a", "b"], 500)
    failed = rng.random((500, 3)) < (0.5 + 0.2 * (group == "b"))[:, None]
    for options in ({}, {"cluster": [i // 5 for i in range(500)]}, {"weight": rng.integers(1, 4, 500).tolist()}):
        found = audit(failed, groups={"g": group.tolist()}, **options)
        gap = found.gaps[0]
        contrast = next(g.contrast for g in found.groups if g.by == gap.highest)
        inverse = next(g.contrast for g in found.groups if g.by == gap.lowest)
        for ours, theirs in (
            (gap.systemic_failure_difference, contrast.difference),
            (gap.systemic_failure_ratio, inverse.ratio),
        ):
            assert (ours.value, ours.low, ours.high) == pytest.approx((theirs.value, theirs.low, theirs.high))
        assert gap.p_value == pytest.approx(contrast.p_value)
    # The models' gaps are differences of two groups as well.
    from polyculture.stats.intervals import newcombe_difference

    model = audit(failed, groups={"g": group.tolist()}).gaps[0].models[0]
    (x1, n1), (x2, n2) = sorted(
        ((float(failed[group == name, 0].sum()), float((group == name).sum())) for name in ("a", "b")),
        key=lambda pair: -pair[0] / pair[1],
    )
    wanted = newcombe_difference(x1, n1, x2, n2)
    assert (model.failure_rate_difference.low, model.failure_rate_difference.high) == pytest.approx(wanted[:2])


def test_two_groups_alike_have_a_gap_of_nothing(audit):
    failed = np.array([[1, 1], [1, 0], [0, 0], [0, 1]] * 20, dtype=bool)
    gap = audit(failed, groups={"g": ["a"] * 40 + ["b"] * 40}).gaps[0]
    assert gap.systemic_failure_difference.value == 0.0
    assert gap.systemic_failure_difference.low < 0 < gap.systemic_failure_difference.high
    assert gap.highest != gap.lowest
    never = audit(np.zeros((80, 2), bool), groups={"g": ["a"] * 40 + ["b"] * 40}).gaps[0]
    assert never.systemic_failure_ratio.value is None
    assert "0 in every group" in never.systemic_failure_ratio.reason


def test_undefined_without_labels(audit):
    group, label, predicted, _ = decisions()
    model = audit(predicted != label[:, None], groups={"g": group.tolist()}).gaps[0].models[0]
    assert model.failure_rate_difference.value > 0
    assert model.demographic_parity_difference.value is None
    assert "labels" in model.equalized_odds_ratio.reason


def test_undefined_where_a_group_has_no_positives(audit):
    label = np.array([1, 0] * 50 + [0] * 100)
    group = ["a"] * 100 + ["b"] * 100
    rng = np.random.default_rng(1)
    model = audit(rng.random((200, 2)) < 0.4, labels=label.tolist(), groups={"g": group}).gaps[0].models[0]
    assert model.equalized_odds_difference.value is None
    assert "true positive rate in g = b" in model.equalized_odds_difference.reason
    assert model.demographic_parity_difference.value is not None


def test_only_known_groups_of_some_size_count(audit):
    group, label, predicted, _ = decisions()
    failed = predicted != label[:, None]
    failed[:10] = True
    group = group.astype(object)
    group[:5], group[5:10] = "tiny", None
    with_them = audit(failed, groups={"g": group.tolist()}).gaps[0]
    without = audit(failed[10:], groups={"g": group[10:].tolist()}).gaps[0]
    assert with_them.groups == without.groups == 3
    assert with_them.models == without.models


def test_the_gap_that_shuffled_labels_show(audit):
    rng = np.random.default_rng(2)
    failed = rng.random((500, 2)) < 0.4
    groups = rng.choice(list("abcdefghij"), 500).tolist()
    gap = audit(failed, groups={"g": groups}, min_cell=1).gaps[0]
    drawn = []
    every = failed.all(axis=1)
    labels = np.array(groups)
    for _ in range(1500):
        shuffled = rng.permutation(every)
        shares = [shuffled[labels == name].mean() for name in set(groups)]
        drawn.append(max(shares) - min(shares))
    assert gap.expected_with_no_difference == pytest.approx(np.mean(drawn), abs=0.006)
    observed = gap.systemic_failure_difference.value
    assert gap.p_value == pytest.approx(np.mean(np.array(drawn) >= observed - 1e-12), abs=0.06)


def test_shuffling_is_refused_where_individuals_come_in_clusters(audit):
    rng = np.random.default_rng(3)
    failed = rng.random((400, 2)) < 0.4
    groups = [("a", "b", "c")[i % 3] for i in range(400)]
    gap = audit(failed, groups={"g": groups}, cluster=[i // 8 for i in range(400)]).gaps[0]
    assert gap.expected_with_no_difference is None
    assert gap.p_value is None
    assert gap.systemic_failure_difference.low is not None


def test_the_interval_of_a_gap_covers_it():
    """Joint limits hold the true gap of several groups in at least 95 of 100 samples."""
    from polyculture.audit.gap_rates import Rates
    from polyculture.audit.gaps import differences, ratios
    from polyculture.audit.proportion import Design, design_limits
    from polyculture.stats.multiplicity import sidak_level

    rng = np.random.default_rng(4)
    truth, size = np.array([0.1, 0.12, 0.2, 0.2]), np.array([100, 200, 150, 80])
    held = {"difference": 0, "ratio": 0}
    for _ in range(300):
        limits = []
        for n, p in zip(size, truth, strict=True):
            design = Design(rng.binomial(n, p, 1) / n, np.array([float(n)]))
            limits.append(design_limits(design, np.array([n]), level=sidak_level(4)))
        low, high = (np.stack(end) for end in zip(*limits, strict=True))
        rates = Rates((low + high) / 2, size[:, None], low, high)
        difference = differences(rates, list("abcd"), "failure")[0]
        ratio = ratios(rates, list("abcd"), "failure")[0]
        held["difference"] += difference.low <= 0.1 <= difference.high
        held["ratio"] += ratio.low <= 0.5 <= ratio.high
    assert held["difference"] >= 285
    assert held["ratio"] >= 285
