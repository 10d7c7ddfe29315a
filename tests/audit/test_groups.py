"""Groups, intersections, contrasts with everyone else, and the notes that go with them."""

from __future__ import annotations

import numpy as np
import pytest

from polyculture.stats.contrasts import two_sample_p
from polyculture.stats.multiplicity import benjamini_hochberg, holm


def population(n=1200, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.choice(["old", "young", "child"], n, p=[0.5, 0.4, 0.1])
    hard = rng.random((n, 1)) < 0.2 + 0.3 * (age == "old")[:, None]
    failed = rng.random((n, 3)) < 0.2 + 0.5 * hard
    return failed, {"sex": sex.tolist(), "age": age.tolist()}


def find(record, **by):
    return next(group for group in record.groups if group.by == by)


def test_each_group_is_held_against_its_own_rates(audit):
    failed, columns = population()
    found = audit(failed, groups=columns)
    for name in ("old", "young", "child"):
        ours = failed[np.array(columns["age"]) == name]
        group = find(found, age=name)
        alone = audit(ours)
        assert group.individuals == len(ours)
        for outcome in ("systemic_failure", "consistent_success", "homogeneous_outcomes"):
            inside, outside = getattr(group, outcome), getattr(alone, outcome)
            assert inside.expected == pytest.approx(outside.expected)
            assert inside.observed == outside.observed
            assert inside.difference.low == pytest.approx(outside.difference.low)
        assert [m.failed for m in group.models] == [m.failed for m in alone.models]
        assert [m.failure_rate for m in group.models] == [m.failure_rate for m in alone.models]
        assert [row.count for row in group.profile] == [row.count for row in alone.profile]


def test_a_group_against_everyone_else(audit):
    failed, columns = population()
    found = audit(failed, groups=columns)
    old = np.array(columns["age"]) == "old"
    contrast = find(found, age="old").contrast
    every = failed.all(axis=1)
    inside, outside = every[old].mean(), every[~old].mean()
    assert contrast.difference.value == pytest.approx(inside - outside)
    assert contrast.ratio.value == pytest.approx(inside / outside)
    expected = [failed[part].mean(axis=0).prod() for part in (old, ~old)]
    assert contrast.excess_difference.value == pytest.approx((inside - expected[0]) - (outside - expected[1]))
    assert contrast.homogenization_ratio.value == pytest.approx((inside / expected[0]) / (outside / expected[1]))
    p, _ = two_sample_p(int(every[old].sum()), int(old.sum()), int(every[~old].sum()), int((~old).sum()))
    assert contrast.p_value == pytest.approx(p)
    for figure in (contrast.difference, contrast.ratio, contrast.excess_difference, contrast.homogenization_ratio):
        assert figure.low < figure.value < figure.high


def test_everyone_else_are_those_whose_group_is_known(audit):
    failed, columns = population()
    age = [None if i % 7 == 0 else value for i, value in enumerate(columns["age"])]
    found = audit(failed, groups={"age": age})
    known = np.array([value is not None for value in age])
    old = np.array([value == "old" for value in age])
    every = failed.all(axis=1)
    contrast = find(found, age="old").contrast
    assert contrast.difference.value == pytest.approx(every[old].mean() - every[known & ~old].mean())
    unknown = find(found, age=None)
    assert unknown.status == "unknown"
    assert unknown.contrast is None
    assert unknown.systemic_failure.observed.value == pytest.approx(every[~known].mean())
    assert any("part of no comparison" in note for note in found.notes)


def test_few_whose_group_is_unknown_are_too_few_as_anybody(audit):
    failed, _ = population(n=200)
    found = audit(failed, groups={"g": ["a"] * 90 + ["b"] * 90 + ["declined"] * 20})
    declined = find(found, g="declined")
    assert (declined.status, declined.individuals, declined.systemic_failure) == ("too few", 20, None)
    assert find(found, g="a").contrast.difference.value == pytest.approx(
        failed.all(axis=1)[:90].mean() - failed.all(axis=1)[90:180].mean()
    )


@pytest.mark.parametrize("value", ["unknown", "Declined", "MISSING", "n/a", "Prefer not to say", None])
def test_values_that_mean_not_known(audit, value):
    failed, _ = population(n=200)
    found = audit(failed, groups={"g": ["a"] * 80 + ["b"] * 80 + [value] * 40})
    assert [group.status for group in found.groups] == ["reported", "reported", "unknown"]
    assert found.group_homogenization.groups == 2
    assert found.gaps[0].groups == 2


@pytest.mark.parametrize(("correction", "adjust"), [("bh", benjamini_hochberg), ("holm", holm)])
def test_tests_are_corrected_over_all_contrasts(audit, correction, adjust):
    failed, columns = population()
    found = audit(failed, groups=columns, correction=correction)
    contrasts = [(group, group.contrast) for group in found.groups if group.contrast is not None]
    # Women against men and men against women are one test.
    once = [c for g, c in contrasts if g.by != {"sex": "m"}]
    assert len(once) == len(contrasts) - 1
    assert [c.p_adjusted for c in once] == pytest.approx(list(adjust([c.p_value for c in once])))
    women, men = find(found, sex="f").contrast, find(found, sex="m").contrast
    assert women.p_adjusted == men.p_adjusted
    assert women.difference.value == pytest.approx(-men.difference.value)


def test_groups_of_few_have_their_figures_withheld(audit):
    failed, _ = population(n=200)
    found = audit(failed, groups={"g": ["a"] * 171 + ["b"] * 29})
    few = find(found, g="b")
    assert (few.status, few.individuals) == ("too few", 29)
    assert (few.systemic_failure, few.consistent_success, few.contrast) == (None, None, None)
    assert (few.profile, few.models) == ((), ())
    assert find(found, g="a").status == "reported"
    # Those few are still everyone else of the others.
    assert find(found, g="a").contrast.difference.value is not None
    assert any("fewer than 30" in note for note in found.notes)
    assert find(audit(failed, groups={"g": ["a"] * 171 + ["b"] * 29}, min_cell=29), g="b").status == "reported"


def test_excess_and_h_that_point_in_different_directions_are_flagged(audit):
    # Group a: low rates, H large, excess small. Group b: high rates, H small, excess large.
    a = np.array([[1, 1]] * 5 + [[1, 0]] * 5 + [[0, 1]] * 5 + [[0, 0]] * 185, dtype=bool)
    b = np.array([[1, 1]] * 80 + [[1, 0]] * 30 + [[0, 1]] * 30 + [[0, 0]] * 60, dtype=bool)
    found = audit(np.vstack([a, b]), groups={"g": ["a"] * 200 + ["b"] * 200})
    contrast = find(found, g="b").contrast
    assert contrast.excess_difference.value > 0
    assert contrast.homogenization_ratio.value < 1
    assert contrast.signs_disagree
    assert any("neither may be read alone" in note for note in found.notes)


def test_signs_of_noise_are_not_flagged(audit):
    # Excess and H point in different directions, but neither contrast is told from none.
    rng = np.random.default_rng(9)
    flagged = quiet = 0
    for _ in range(40):
        failed = rng.random((120, 2)) < rng.uniform(0.2, 0.6, 120)[:, None]
        contrast = audit(failed, groups={"g": ["a", "b"] * 60}).groups[0].contrast
        excess, ratio = contrast.excess_difference, contrast.homogenization_ratio
        if excess.value * np.log(ratio.value) < 0:
            clear = excess.low > 0 or excess.high < 0 or ratio.low > 1 or ratio.high < 1
            flagged += contrast.signs_disagree
            quiet += not clear
            assert contrast.signs_disagree == clear
    assert quiet > flagged


def test_withheld_groups_have_no_part_in_group_homogenization(audit):
    failed, _ = population(n=300)
    groups = ["a"] * 150 + ["b"] * 121 + ["c"] * 29
    found = audit(failed, groups={"g": groups}).group_homogenization
    without = audit(failed[:271], groups={"g": groups[:271]}).group_homogenization
    assert found.left_out == {"in groups of fewer than 30": 29}
    assert (found.groups, found.individuals) == (2, 271)
    assert found.uniform == without.uniform
    assert found.worst_group == without.worst_group
    every = audit(failed, groups={"g": groups}, min_cell=1).group_homogenization
    assert (every.groups, every.left_out) == (3, {})


def test_group_homogenization_is_over_the_individuals_of_the_headline(audit):
    failed, _ = population(n=300)
    judged = np.ones_like(failed)
    judged[:40, 1:] = False
    groups = ["a", "b"] * 150
    found = audit(failed & judged, judged, groups={"g": groups})
    kept = audit(failed[40:], groups={"g": groups[40:]})
    homogenization = found.group_homogenization
    assert homogenization.average == kept.group_homogenization.average
    assert homogenization.individuals + sum(homogenization.left_out.values()) == 300
    assert homogenization.left_out == {"judged by fewer than 2 models": 40}
    assert found.notes[0] == (
        "40 of 300 individuals were judged by fewer than 2 models and are not counted in the headline."
    )
    assert not any("fewer than 2 models" in note for note in kept.notes)


def test_clusters_widen_intervals_and_few_clusters_have_none(audit):
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), 25)
    hard = (rng.random(40) < 0.3)[cluster][:, None]
    failed = rng.random((1000, 3)) < 0.1 + 0.7 * hard
    plain, clustered = audit(failed), audit(failed, cluster=cluster.tolist())
    for one, other in (
        (plain.systemic_failure.observed, clustered.systemic_failure.observed),
        (plain.models[0].failure_rate, clustered.models[0].failure_rate),
        (plain.profile[0].observed, clustered.profile[0].observed),
    ):
        assert one.value == pytest.approx(other.value)
        assert other.high - other.low > 1.5 * (one.high - one.low)
        assert "40 clusters" in other.method
    # The share of all models failing is one number in two tables.
    top, systemic = clustered.profile[-1].observed, clustered.systemic_failure.observed
    assert (top.low, top.high) == pytest.approx((systemic.low, systemic.high))
    assert clustered.profile_p_value is None
    assert "over 40 clusters" in clustered.headline
    few = audit(failed, cluster=(cluster // 8).tolist())
    assert few.systemic_failure.observed.low is None
    assert "5 clusters" in few.systemic_failure.observed.reason
    assert few.models[0].failure_rate.low is None
    assert "no interval" in few.headline
    assert any("5 clusters only" in note for note in few.notes)


def test_weights(audit):
    rng = np.random.default_rng(2)
    failed = rng.random((500, 3)) < 0.4
    weight = rng.integers(1, 9, 500)
    groups = rng.choice(["a", "b"], 500)
    found = audit(failed, weight=weight.tolist(), groups={"g": groups.tolist()})
    share = weight / weight.sum()
    assert found.individuals == 500
    assert found.systemic_failure.count == failed.all(axis=1).sum()
    assert found.systemic_failure.observed.value == pytest.approx(share @ failed.all(axis=1))
    assert found.models[1].failure_rate.value == pytest.approx(share @ failed[:, 1])
    assert found.models[1].failed == failed[:, 1].sum()
    rates = share @ failed
    assert found.systemic_failure.expected == pytest.approx(rates.prod())
    assert found.profile[1].observed.value == pytest.approx(share @ (failed.sum(axis=1) == 1))
    ours = groups == "a"
    own = weight[ours] / weight[ours].sum()
    assert find(found, g="a").models[0].failure_rate.value == pytest.approx(own @ failed[ours, 0])
    plain = audit(failed)
    wider = found.models[0].failure_rate
    assert wider.high - wider.low > plain.models[0].failure_rate.high - plain.models[0].failure_rate.low
    assert "by weight" in found.headline
    # As wide as the variance of the weighted rate says: that of a ratio, over individuals.
    from polyculture.stats.intervals import jeffreys

    variance = (share**2 * (failed[:, 0] - rates[0]) ** 2).sum()
    size = rates[0] * (1 - rates[0]) / variance
    interval = jeffreys(float(rates[0] * size), float(size))
    assert (wider.low, wider.high) == pytest.approx((interval.low, interval.high))
