"""Fits of latent nulls: gradients, an outside program's estimates, what is saturated, and who judged."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from polyculture.stats.nulls import _search
from polyculture.stats.nulls._draws import every_pattern
from polyculture.stats.nulls._families import ClassFamily, FactorFamily, Family
from polyculture.stats.nulls._mixture import expected_all_fail, log_probability
from polyculture.stats.nulls.equicorrelated import Equicorrelated
from polyculture.stats.nulls.ladder import latent_null
from polyculture.stats.nulls.latent_classes import LatentClasses
from polyculture.stats.nulls.probit_factors import ProbitFactors
from polyculture.stats.nulls.protocol import Table
from polyculture.stats.nulls.rasch import Rasch, by_number_failed
from polyculture.stats.nulls.two_parameter import TwoParameter

ORACLE = json.loads((Path(__file__).parents[2] / "cases" / "girth_oracle.json").read_text(encoding="utf-8"))
PY_IRT = json.loads((Path(__file__).parents[2] / "cases" / "py_irt_oracle.json").read_text(encoding="utf-8"))
RATES = np.array([0.2, 0.5, 0.35, 0.6])
FAMILIES = [
    FactorFamily(RATES, "probit", common=True),
    FactorFamily(RATES, "logit", common=True),
    FactorFamily(RATES, "logit"),
    FactorFamily(RATES, "probit"),
    FactorFamily(RATES, "probit", factors=2),
    FactorFamily(RATES, "probit", factors=3),
    ClassFamily(RATES, 2),
    ClassFamily(RATES, 3),
]
NAMES = ("equicorrelated", "rasch", "2pl", "factors-1", "factors-2", "classes-2", "classes-3")


@pytest.fixture(scope="module")
def oracle_table():
    k = ORACLE["models"]
    failed = ((np.array(ORACLE["pattern"])[:, None] >> np.arange(k)) & 1).astype(float)
    return Table(np.ones_like(failed, dtype=bool), failed, np.array(ORACLE["count"], dtype=float))


def random_table(rng, *, complete):
    failed = rng.random((40, 4)) < 0.4
    judged = np.ones_like(failed) if complete else rng.random((40, 4)) < 0.7
    return Table(judged, (failed & judged).astype(float), rng.integers(1, 9, 40).astype(float))


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("family", FAMILIES, ids=range(len(FAMILIES)))
def test_gradient_is_that_of_the_likelihood_and_scores_add_up_to_it(family: Family, complete, rng):
    table = random_table(rng, complete=complete)
    theta = rng.normal(size=family.size) * 0.7
    value, gradient = family.gradient(theta, table)
    step = 1e-5
    numeric = [
        (family.gradient(theta + step * e, table)[0] - family.gradient(theta - step * e, table)[0]) / (2 * step)
        for e in np.eye(family.size)
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(table.count @ family.scores(theta, table), gradient, rtol=1e-9, atol=1e-9)
    assert np.isfinite(value)


@pytest.mark.parametrize("family", FAMILIES, ids=range(len(FAMILIES)))
def test_probabilities_of_all_patterns_add_up_to_one(family: Family, rng):
    theta = rng.normal(size=family.size)
    one = Table(np.ones((1, 4), dtype=bool), np.zeros((1, 4)), np.ones(1))
    patterns = every_pattern(one.sets)
    assert np.exp(log_probability(family.points(theta), patterns)).sum() == pytest.approx(1.0, abs=1e-12)


def test_rasch_agrees_with_girth(oracle_table, rng):
    fit = Rasch().fit(oracle_table, rng)
    theirs = ORACLE["rasch"]
    slope = theirs["discrimination"]
    # Both stop short of the maximum; a standard error is .04.
    np.testing.assert_allclose(fit.theta[:-1], -slope * np.array(theirs["difficulty"]), atol=0.002)
    assert fit.theta[-1] == pytest.approx(slope, abs=0.002)
    given = np.append(-slope * np.array(theirs["difficulty"]), slope)
    assert fit.log_likelihood >= fit.family.gradient(given, oracle_table)[0]


def test_two_parameter_agrees_with_girth(oracle_table, rng):
    fit = TwoParameter().fit(oracle_table, rng)
    slopes, difficulty = (np.array(ORACLE["2pl"][name]) for name in ("discrimination", "difficulty"))
    np.testing.assert_allclose(fit.theta[6:], slopes, atol=0.004)
    np.testing.assert_allclose(fit.theta[:6], -slopes * difficulty, atol=0.004)
    given = np.concatenate([-slopes * difficulty, slopes])
    assert fit.log_likelihood >= fit.family.gradient(given, oracle_table)[0]


@pytest.mark.parametrize(("name", "null"), [("rasch", Rasch()), ("2pl", TwoParameter())])
def test_difficulties_lie_as_those_of_py_irt(name, null, oracle_table, rng):
    """A program of another method (variational, with priors): like order and like distances, not like digits."""
    theta = null.fit(oracle_table, rng).theta
    slopes = theta[6:] if name == "2pl" else theta[-1]
    difficulty, theirs = -theta[:6] / slopes, np.array(PY_IRT[name]["difficulty"])
    assert (PY_IRT["seed"], PY_IRT["models"]) == (ORACLE["seed"], ORACLE["models"])
    assert np.corrcoef(difficulty, theirs)[0, 1] > 0.95
    assert (np.argsort(difficulty)[:3] == np.argsort(theirs)[:3]).all()


def test_rasch_rests_on_the_numbers_failed_only(oracle_table, rng):
    collapsed = by_number_failed(oracle_table)
    assert len(collapsed.count) == ORACLE["models"] + 1
    family = FactorFamily(oracle_table.rates, "logit", common=True)
    theta = rng.normal(size=family.size)
    whole, part = family.gradient(theta, oracle_table), family.gradient(theta, collapsed)
    assert whole[0] == pytest.approx(part[0], rel=1e-12)
    np.testing.assert_allclose(whole[1], part[1], rtol=1e-9, atol=1e-8)


def test_equicorrelated_keeps_the_models_own_rates(oracle_table, rng):
    fit = Equicorrelated().fit(oracle_table, rng)
    slope = fit.theta[-1]
    np.testing.assert_allclose(ndtr(fit.theta[:-1] / np.sqrt(1 + slope**2)), oracle_table.rates, atol=0.004)


@pytest.mark.parametrize("name", NAMES)
def test_expected_systemic_failure_of_true_parameters(name, rng):
    """At many individuals each null finds the law that it was given."""
    truth = latent_null(name)
    family = {
        "equicorrelated": FAMILIES[0],
        "rasch": FAMILIES[1],
        "2pl": FAMILIES[2],
        "factors-1": FAMILIES[3],
        "factors-2": FAMILIES[4],
        "classes-2": FAMILIES[6],
        "classes-3": FAMILIES[7],
    }[name]
    one = Table(np.ones((1, 4), dtype=bool), np.zeros((1, 4)), np.ones(1))
    patterns = every_pattern(one.sets)
    theta = family.start(Table(patterns.judged, patterns.failed, np.ones(16)), rng, 0)
    chances = np.exp(log_probability(family.points(theta), patterns))
    table = Table(patterns.judged, patterns.failed, 1e6 * chances)
    fit = truth.fit(table, rng)
    assert fit.reason == ""
    assert fit.expected(table.sets) == pytest.approx(chances[-1], rel=2e-3)
    np.testing.assert_allclose(fit.profile(table.sets).sum(), 1.0, rtol=1e-9)


def test_probit_points_integrate_a_closed_form():
    """P(all of two fail) of equicorrelated probit at rates 1/2 is 1/4 + asin(rho) / (2 pi)."""
    family = FactorFamily(np.array([0.5, 0.5]), "probit", common=True)
    slope = 1.3
    found = expected_all_fail(family.points(np.array([0.0, 0.0, slope])), np.ones((1, 2), dtype=bool))[0]
    rho = slope**2 / (1 + slope**2)
    assert found == pytest.approx(0.25 + np.arcsin(rho) / (2 * np.pi), abs=1e-10)


def test_two_classes_fit_three_models_exactly(rng):
    failed = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    classes = np.array([[0.1, 0.2, 0.15], [0.7, 0.8, 0.6]])
    chances = sum(
        share * np.prod(np.where(failed, rates, 1 - rates), axis=1)
        for share, rates in zip([0.6, 0.4], classes, strict=True)
    )
    table = Table(np.ones_like(failed, dtype=bool), failed, 5000 * chances)
    fit = LatentClasses(2).fit(table, rng)
    np.testing.assert_allclose(np.exp(fit.log_probability(table)), chances, rtol=1e-3)
    assert fit.parameters == 7


def test_models_that_never_or_always_fail_need_no_fit(two_parameter, as_table, rng):
    failed = two_parameter(400, 4, 3)
    failed[:, 1], failed[:, 3] = False, True
    for name in NAMES:
        null = latent_null(name)
        table = as_table(failed)
        fit = null.fit(table, rng)
        assert fit.reason == ""
        assert fit.expected(table.sets) < 1e-15
        rest = null.fit(as_table(failed[:, [0, 2]]), rng)
        assert fit.log_likelihood == pytest.approx(rest.log_likelihood, abs=0.01)
        without = as_table(failed[:, [0, 2, 3]])
        assert null.fit(without, rng).expected(without.sets) == pytest.approx(
            rest.expected(as_table(failed[:, [0, 2]]).sets), rel=0.02
        )


def test_sets_of_models_enter_with_their_own_likelihood(two_parameter, as_table, rng):
    failed = two_parameter(6000, 5, 11)
    judged = rng.random(failed.shape) < 0.7
    whole, part = as_table(failed), as_table(failed, judged)
    for name in ("rasch", "2pl", "classes-2"):
        null = latent_null(name)
        full, own = null.fit(whole, rng), null.fit(part, rng)
        everyone = whole.sets
        # The same individuals with 30 % of the judgements gone at random: the same law, with a wider error.
        assert own.expected(everyone) == pytest.approx(full.expected(everyone), rel=0.15)
        assert own.expected(part.sets) > own.expected(everyone) + 0.02


def test_factors_need_a_sensible_number():
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="1 to 3 factors"):
            ProbitFactors(wrong)
    with pytest.raises(ValueError, match="at least 2 classes"):
        LatentClasses(1)


def test_many_models_at_once(rng):
    """With 60 models a rule of 101 points still gives each model its rate."""
    k = 60
    rates = rng.uniform(0.2, 0.6, k)
    z = rng.normal(size=(1500, 1))
    failed = rng.random((1500, k)) < ndtr((ndtri(rates) * np.sqrt(2)) + z)
    table = Table(np.ones_like(failed), failed.astype(float), np.ones(1500))
    fit = Rasch().fit(table, rng)
    assert fit.reason == ""
    means = np.exp(fit.family.points(fit.theta).log_weight) @ fit.family.points(fit.theta).rates
    np.testing.assert_allclose(means, table.rates, atol=0.01)


@pytest.mark.parametrize("name", ["equicorrelated", "2pl", "rasch", "factors-2", "classes-2"])
def test_where_rows_are_many_part_of_them_gives_the_curvature_and_the_maximum_is_the_same(
    name, two_parameter, as_table, monkeypatch
):
    table = as_table(two_parameter(3000, 10, 3))
    null = latent_null(name)
    plain = null.fit(table, np.random.default_rng(1))
    monkeypatch.setattr(_search, "_LARGE", 1)
    monkeypatch.setattr(_search, "_ROWS_OF_STARTS", 150)
    monkeypatch.setattr(_search, "_ROWS_OF_CURVATURE", 250)
    taken = []
    part = _search._part
    monkeypatch.setattr(_search, "_part", lambda *given: taken.append(part(*given)) or taken[-1])
    large = null.fit(table, np.random.default_rng(1))
    assert any(len(one.count) < 400 for one in taken)
    assert not plain.reason
    assert not large.reason
    assert large.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-3)
    assert large.expected(table.sets) == pytest.approx(plain.expected(table.sets), rel=1e-3)


def test_a_part_of_a_table_is_drawn_by_how_many_individuals_rows_hold(monkeypatch):
    rng = np.random.default_rng(2)
    failed = rng.random((3000, 4)) < 0.5
    count = np.where(failed[:, 0], 9.0, 1.0)
    table = Table(np.ones_like(failed), failed.astype(float), count)
    family = FactorFamily(table.rates, "probit", common=True)
    assert _search._part(family, table, 300, rng) is table
    monkeypatch.setattr(_search, "_LARGE", 1)
    part = _search._part(family, table, 300, rng)
    assert part.n == len(part.count) == 300
    assert part.rates == pytest.approx(table.rates, abs=0.09)


def test_where_rows_are_many_curvature_is_never_taken_of_all_and_few_slopes_are(two_parameter, as_table, monkeypatch):
    """A null that is not true: squared scores are not its curvature, and scoring alone closes in slowly."""
    table = as_table(two_parameter(3000, 10, 3))
    family = FactorFamily(table.rates, "probit", common=True)
    monkeypatch.setattr(_search, "_LARGE", 1)
    monkeypatch.setattr(_search, "_ROWS_OF_STARTS", 150)
    monkeypatch.setattr(_search, "_ROWS_OF_CURVATURE", 250)
    of_all, curvatures = [], []
    gradient, information = FactorFamily.gradient, _search.information

    def counted(self, theta, given):
        of_all.append(given is table)
        return gradient(self, theta, given)

    def noted(family, theta, given):
        curvatures.append(len(given.count))
        return information(family, theta, given)

    monkeypatch.setattr(FactorFamily, "gradient", counted)
    monkeypatch.setattr(_search, "information", noted)
    found = _search.maximise(family, table, np.random.default_rng(1))
    assert not found.reason
    assert max(curvatures) == 250
    assert sum(of_all) < 40  # 17; scoring alone takes 108


def test_whitened_search_ends_at_the_maximum(two_parameter, as_table):
    table = as_table(two_parameter(3000, 10, 3))
    family = FactorFamily(table.rates, "probit", common=True)
    rng = np.random.default_rng(0)
    informing = table.take(np.sort(rng.choice(len(table.count), 250, False, table.count / table.n)), np.ones(250))
    start = _search.ascend(family, table, family.start(table, rng, 0), 3, patterns=informing).theta
    end = _search._whitened(family, table, start, informing)
    best = Equicorrelated().fit(table, rng).log_likelihood
    assert family.gradient(start, table)[0] < best - 1.0
    assert family.gradient(end, table)[0] == pytest.approx(best, abs=1e-3)
