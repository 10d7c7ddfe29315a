"""The ladder: what is tested and how, what fits by construction, intervals, held-out likelihood, census, samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polyculture.stats.homogeneity import estimate
from polyculture.stats.moments import moments
from polyculture.stats.nulls._draws import draw_excess
from polyculture.stats.nulls.ladder import LADDER, Question, climb, is_null, latent_null, poorest_not_rejected
from polyculture.stats.nulls.measured import smallest_detectable, two_sided_mid_p
from polyculture.stats.nulls.protocol import table_of

LATENT = [name for name in LADDER if name not in ("independence", "permutation", "strata", "both-margins")]


def generator(name):
    return np.random.default_rng([7, *name.encode()])


def question(moments, **more):
    return Question(moments=moments, n=float(moments.n), rng=generator, draws=99, **more)


def ask(name, *args, **more):
    return climb([name], question(*args, **more))[0]


def test_every_rung_answers_and_the_truth_is_the_poorest_kept(two_parameter, as_moments):
    moments = as_moments(two_parameter(6000, 5, 5))
    found = {one.name: one for one in climb([n for n in LADDER if n != "strata"], question(moments))}
    assert found["permutation"].rejected
    assert found["equicorrelated"].rejected
    assert found["rasch"].rejected
    assert found["2pl"].rejected is False
    assert poorest_not_rejected(found.values()) == "2pl"
    for name in LATENT:
        one = found[name]
        assert one.excess.value == pytest.approx(moments.observed - one.expected)
        assert one.homogenization.value == pytest.approx(moments.observed / one.expected)
        assert one.excess.low < one.excess.value < one.excess.high
        assert len(one.profile) == 6
        assert sum(one.profile) == pytest.approx(1.0)
        assert one.log_likelihood > found["independence"].log_likelihood
        assert one.held_out > found["independence"].held_out
        assert one.residual_df == 2**5 - 1 - one.parameters
        assert 0 < one.smallest_detectable < 0.02
    assert found["2pl"].parameters == 10
    assert found["classes-3"].parameters == 17
    assert found["factors-2"].parameters == 14
    # A richer null that holds the truth gains nothing on individuals it was not fitted to.
    assert found["2pl"].held_out > found["rasch"].held_out


def test_both_margins_say_why_systemic_failure_is_undefined(two_parameter, as_moments):
    one = ask("both-margins", as_moments(two_parameter(800, 4, 1)))
    assert one.expected is None
    assert one.excess.value is None
    assert "fixed with both margins" in one.reason
    assert one.p_value is not None


def test_three_models_are_fitted_by_construction_by_two_classes(two_parameter, as_moments):
    moments = as_moments(two_parameter(2000, 3, 2))
    found = {one.name: one for one in climb(["2pl", "classes-2", "classes-3"], question(moments))}
    assert found["2pl"].residual_df == 1
    assert not found["2pl"].by_construction
    for name in ("classes-2", "classes-3"):
        one = found[name]
        assert one.by_construction
        assert one.residual_df == 0
        assert one.excess.value == 0.0
        assert one.excess.low is None
        assert one.p_value is None
        assert "by construction" in one.method
    assert poorest_not_rejected([replace(one, p_value=0.5) for one in found.values()]) == "2pl"


def test_a_law_too_narrow_for_its_parameters_is_not_said_to_fit_by_construction():
    """Three models of which the pairs fail apart, and all three together too often: no normal factors make that."""
    moments = as_moments_of(np.array([260, 180, 180, 20, 180, 20, 20, 140]))
    one = climb(["factors-2"], question(moments))[0]
    assert one.residual_df == 0
    assert abs(one.excess.value) > 1e-3
    assert not one.by_construction
    assert one.p_value is None
    assert one.excess.low is None
    assert "too narrow to fit them all" in one.method


def as_moments_of(count):
    failed = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool)
    return moments(np.ones_like(failed), failed, count)


@pytest.mark.parametrize("name", ["equicorrelated", "rasch", "2pl", "classes-2"])
def test_influence_gives_the_spread_of_what_is_expected(name, two_parameter, as_moments, as_table):
    """The delta variance of log E against fits to independent data sets, also where the null is wrong."""
    logs, deltas = [], []
    for seed in range(120):
        table = as_table(two_parameter(600, 4, 1000 + seed))
        fit = latent_null(name).fit(table, generator(name))
        logs.append(np.log(fit.expected(table.sets)))
        deltas.append(np.sqrt((table.count * fit.influence(table) ** 2).sum()) / table.n)
    assert np.median(deltas) == pytest.approx(np.std(logs), rel=0.2)


def test_one_step_draws_agree_with_refitted_ones(two_parameter, as_table):
    """Beyond 20,000 individuals and 14 models the refit is linear: on a table where both can be had, they agree."""
    from polyculture.stats.nulls import _draws

    table = as_table(two_parameter(3000, 5, 4))
    fit = latent_null("2pl").fit(table, generator("2pl"))
    refitted = draw_excess(fit, table, table.n, 400, generator("a"))
    linear = _draws._one_step(fit, table, table.n, 4000, generator("b"))
    assert linear.excess.std() == pytest.approx(refitted.excess.std(), rel=0.12)
    error = refitted.excess.std() / np.sqrt(400)
    assert linear.excess.mean() == pytest.approx(refitted.excess.mean(), abs=5 * error)
    assert "one step" in linear.method
    individuals = _draws._by_individuals(fit, table.sets, 150, generator("c"))
    assert individuals.excess.std() == pytest.approx(refitted.excess.std(), rel=0.25)


def test_a_sample_widens_what_rests_on_it(two_parameter, as_moments):
    moments = as_moments(two_parameter(4000, 4, 6))
    whole = ask("2pl", moments)
    rows = moments.rows
    large = replace(rows, count=rows.count * 25, weight=rows.weight * 25, weight_squared=rows.weight_squared * 25)
    sampled = climb(
        ["2pl"],
        Question(
            replace(moments, rows=large, n=100_000, n_effective=100_000.0), 1e5, generator, sampled=4000.0, draws=99
        ),
    )[0]
    assert sampled.excess.value == pytest.approx(whole.excess.value, abs=1e-6)
    assert "one step" in sampled.method
    # The expectation is known no better than from the 4,000, so the test is not 5 times as sharp.
    assert sampled.smallest_detectable > whole.smallest_detectable * 0.6


def test_a_census_has_excess_and_neither_interval_nor_test(two_parameter, as_moments):
    for name in ("permutation", "rasch", "both-margins"):
        one = ask(name, as_moments(two_parameter(500, 4, 1)), census=True)
        assert one.p_value is None
        assert one.excess.low is None
        assert "census" in one.method


def test_clusters_are_tested_by_their_interval(two_parameter, as_moments, rng):
    failed = np.repeat(two_parameter(150, 4, 9), 4, axis=0)
    clustered = as_moments(failed, cluster=np.repeat(np.arange(150), 4))
    alone = as_moments(failed)
    ours, naive = ask("rasch", clustered), ask("rasch", alone)
    assert ours.excess.value == pytest.approx(naive.excess.value, abs=1e-6)
    assert ours.excess.high - ours.excess.low > 1.6 * (naive.excess.high - naive.excess.low)
    assert ours.method == "from the interval of the excess"
    assert ask("permutation", clustered).reason != ""
    assert ask("both-margins", clustered).p_value is None


def test_unequal_sets_are_drawn_with_their_sets(two_parameter, as_moments, rng):
    failed = two_parameter(3000, 4, 13)
    moments = as_moments(failed, rng.random(failed.shape) < 0.75)
    one = ask("2pl", moments)
    assert one.p_value > 0.02
    assert one.residual_df is None
    assert "counts of patterns" in one.method


def test_strata_that_hold_the_truth_are_kept_and_independence_is_not(rng, as_moments):
    stratum = rng.integers(0, 2, 3000)
    failed = rng.random((3000, 3)) < np.where(stratum[:, None] == 1, 0.6, 0.15)
    from polyculture.stats.moments import moments

    apart = moments(np.ones_like(failed), failed, np.ones(3000))
    pooled = as_moments(failed)
    one = ask("strata", pooled, strata=apart, stratum=stratum)
    assert ask("permutation", pooled).rejected
    assert one.rejected is False
    assert one.parameters == 6
    assert one.residual_df == 2 * 7 - 6
    assert one.held_out > ask("independence", pooled).held_out
    assert ask("strata", pooled).reason == "no groups were named"


def test_held_out_likelihood_prefers_the_truth_to_its_overfit(rng, as_moments):
    failed = rng.random((400, 5)) < 0.4
    moments = as_moments(failed)
    plain, rich = ask("independence", moments), ask("classes-3", moments)
    assert rich.log_likelihood > plain.log_likelihood
    assert rich.held_out < plain.held_out


def test_the_same_generator_gives_the_same_answer(two_parameter, as_moments):
    moments = as_moments(two_parameter(700, 4, 21))
    names = ("2pl", "classes-2", "both-margins")
    assert climb(names, question(moments)) == climb(names, question(moments))


def test_table_of_clusters_adds_patterns_up(two_parameter, as_moments):
    failed = two_parameter(300, 3, 2)
    clustered = as_moments(failed, cluster=np.arange(300) // 3)
    table, index = table_of(clustered.rows)
    assert len(table.count) <= 8
    assert table.n == 300
    np.testing.assert_array_equal(table.failed[index], clustered.rows.failed)


def test_names():
    assert all(is_null(name) for name in LADDER)
    assert not any(is_null(name) for name in ("", "all", "classes-1", "factors-4", "classes-x", "rasch-2", "classes"))
    with pytest.raises(ValueError, match="no null"):
        latent_null("permutation")


def test_p_values_and_the_smallest_excess():
    assert two_sided_mid_p(100.0, np.arange(199.0) / 10) == pytest.approx(0.005)
    assert two_sided_mid_p(0.0, np.zeros(199)) == 1.0
    assert smallest_detectable(0.01, 1000) == pytest.approx(0.028, abs=1e-4)
    # Where nothing is expected one event rejects; 1.61 expected events show one in 80 %.
    assert smallest_detectable(0.0, 1000) == pytest.approx(0.0016094, rel=1e-3)


def test_independence_is_as_before(two_parameter, as_moments):
    moments = as_moments(two_parameter(900, 4, 3))
    one = ask("permutation", moments)
    assert one.excess == estimate(moments, count_label_errors=False).difference
