"""Tallies with too many patterns to keep: what is counted on everyone stays exact, the rest is near and marked."""

from __future__ import annotations

import numpy as np
import pytest


def population(n=6000, k=24, seed=0):
    rng = np.random.default_rng(seed)
    failed = rng.random((n, k)) < 0.25 + 0.65 * (rng.random((n, 1)) < 0.3) * rng.random((n, 1)) ** 0.2
    failed[:40] = True
    failed[40:45] = False
    return failed, {"g": rng.choice(["a", "b", "c"], n).tolist()}


@pytest.fixture
def both(make_tally, audit_of_tally, monkeypatch):
    """Return the function that audits the same outcomes whole and from a sample."""

    def make(failed, judged=None, **options):
        whole = make_tally(failed, judged, **options)
        with monkeypatch.context() as patch:
            patch.setattr("polyculture.tally.build.MANY", 1000)
            patch.setattr("polyculture.tally.large.SAMPLE", 2000)
            sampled = make_tally(failed, judged, **options)
        assert whole.exact
        assert not sampled.exact
        assert sampled.sampled < 3000
        return audit_of_tally(whole), audit_of_tally(sampled)

    return make


def width(statistic):
    return statistic.high - statistic.low


def test_what_is_counted_on_everyone_is_exact(both):
    failed, columns = population()
    whole, sampled = both(failed, groups=columns)
    assert sampled.headline == whole.headline
    assert sampled.models == whole.models
    assert sampled.pairs == whole.pairs
    for one, other in zip(whole.profile, sampled.profile, strict=True):
        assert one.count == other.count
        assert one.observed == other.observed
        assert one.expected == pytest.approx(other.expected, rel=1e-9)
    for name in ("systemic_failure", "consistent_success", "homogeneous_outcomes"):
        one, other = getattr(whole, name), getattr(sampled, name)
        assert one.count == other.count
        assert one.observed == other.observed
        assert one.expected == pytest.approx(other.expected, rel=1e-9)
        assert one.difference.value == pytest.approx(other.difference.value, rel=1e-9)
        assert one.p_value == pytest.approx(other.p_value)
    for one, other in zip(whole.groups, sampled.groups, strict=True):
        assert one.individuals == other.individuals
        assert one.models == other.models
        assert one.systemic_failure.count == other.systemic_failure.count
        assert one.systemic_failure.expected == pytest.approx(other.systemic_failure.expected, rel=1e-9)
        assert one.contrast.difference.value == pytest.approx(other.contrast.difference.value)
        assert one.contrast.p_value == pytest.approx(other.contrast.p_value)
    assert sampled.gaps[0].systemic_failure_difference.value == whole.gaps[0].systemic_failure_difference.value


def test_what_rests_on_the_sample_is_near_and_marked(both):
    failed, columns = population()
    whole, sampled = both(failed, groups=columns)
    for name in ("difference", "ratio", "expected_interval", "log10_ratio"):
        one, other = getattr(whole.systemic_failure, name), getattr(sampled.systemic_failure, name)
        assert other.method.endswith("sampled"), name
        assert width(other) == pytest.approx(width(one), rel=0.35), name
    assert sampled.systemic_failure.label_errors is None
    assert "sample of" in sampled.patterns_note
    assert any("rests on" in note for note in sampled.notes)


def test_likeness_and_panel_of_everyone_are_exact_and_intervals_near(both):
    failed, _ = population()
    whole, sampled = both(failed)
    one, other = whole.collection, sampled.collection
    for name in ("n_eff", "mean_phi", "capa", "fleiss", "discrepancy"):
        assert getattr(other, name).value == pytest.approx(getattr(one, name).value, rel=1e-9), name
        assert width(getattr(other, name)) == pytest.approx(width(getattr(one, name)), rel=0.15), name
    assert other.recourse == one.recourse
    assert "sampled" in other.ambiguity.method
    assert width(other.ambiguity) > 1.4 * width(one.ambiguity)  # of a third of the individuals
    a, b = whole.panel, sampled.panel
    assert (b.majority, b.individuals, b.ties) == (a.majority, a.individuals, a.ties)
    assert b.difference.value == pytest.approx(a.difference.value, rel=1e-9)
    assert width(b.difference) == pytest.approx(width(a.difference), rel=0.15)
    assert [member.accuracy for member in b.members] == [member.accuracy for member in a.members]


def test_events_that_the_sample_missed_are_still_events(both):
    failed, _ = population()
    failed[:45] = np.random.default_rng(1).random((45, 24)) < 0.5
    failed[:, 0] &= ~failed.all(axis=1)
    failed[7] = True
    whole, sampled = both(failed)
    assert whole.systemic_failure.count == sampled.systemic_failure.count == 1
    assert sampled.systemic_failure.observed.value == pytest.approx(1 / 6000)
    assert width(sampled.systemic_failure.difference) == pytest.approx(
        width(whole.systemic_failure.difference), rel=0.3
    )


def test_unequal_judged_sets(both):
    failed, columns = population()
    judged = np.random.default_rng(2).random(failed.shape) < 0.9
    whole, sampled = both(failed & judged, judged, groups=columns)
    assert sampled.models == whole.models
    assert sampled.systemic_failure.count == whole.systemic_failure.count
    assert sampled.systemic_failure.log10_expected == pytest.approx(whole.systemic_failure.log10_expected, abs=0.3)
    assert sum(row.count for row in sampled.profile) == sampled.individuals == whole.individuals


def test_clusters(both):
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(60), 100)
    hard = (rng.random(60) < 0.3)[cluster][:, None]
    failed = rng.random((6000, 24)) < 0.2 + 0.6 * hard
    failed[::150] = True
    whole, sampled = both(failed, cluster=cluster.tolist())
    one, other = whole.models[0].failure_rate, sampled.models[0].failure_rate
    assert one.value == pytest.approx(other.value)
    assert width(other) == pytest.approx(width(one), rel=0.25)
    assert other.method.endswith("sampled")
