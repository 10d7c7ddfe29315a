"""A choice among models: brute force, the price of choosing, worst groups, unequal sets, clusters, appeals."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

from make_tally import tally_from_matrix
from polyculture.audit import Provenance
from polyculture.audit.portfolio import portfolio
from polyculture.errors import UsageError

PROVENANCE = Provenance(
    inputs=(),
    rows_read=0,
    rows_used=0,
    left_out={},
    failure_rule="failed",
    no_answer="failed",
    min_judged=2,
    min_cell=30,
    version="0",
    command="test",
    seed=0,
)


def ask(failed, judged=None, *, rule="failed", tally=None, **options):
    ours = {
        name: options.pop(name)
        for name in ("groups", "cluster", "weight", "labels", "min_judged", "with_labels")
        if name in options
    }
    counted = tally if tally is not None else tally_from_matrix(failed, judged, **ours)
    return portfolio(counted, rule=rule, **options)


def failures(n=400, k=6, seed=0, hard=0.25):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < np.where(rng.random((n, 1)) < hard, np.linspace(0.4, 0.9, k), np.linspace(0.3, 0.1, k))


def names(places):
    return tuple(f"m{one}" for one in sorted(places))


def best_by_hand(value, k, size, allowed=None):
    sets = [chosen for chosen in combinations(range(k), size) if allowed is None or allowed(chosen)]
    return min(sets, key=lambda chosen: (value(chosen), chosen))


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_set_is_the_best_of_all(size):
    failed = failures()
    found = ask(failed, size=size)
    best = best_by_hand(lambda chosen: failed[:, chosen].all(axis=1).mean(), 6, size)
    assert found.chosen.models == names(best)
    assert found.chosen.value.value == pytest.approx(failed[:, best].all(axis=1).mean())
    assert found.exact
    assert found.random.value == pytest.approx(
        np.mean([failed[:, chosen].all(axis=1).mean() for chosen in combinations(range(6), size)])
    )
    assert found.today.value.value == pytest.approx(failed.all(axis=1).mean())
    assert found.chosen.mean_failure.value == pytest.approx(failed[:, best].mean())


def test_the_majority_is_the_most_accurate_one():
    failed = failures(seed=3)

    def wrong(chosen):
        t = failed[:, chosen].sum(axis=1)
        return ((2 * t > len(chosen)) + 0.5 * (2 * t == len(chosen))).mean()

    for size in (2, 3):
        found = ask(failed, size=size, objective="majority")
        best = best_by_hand(wrong, 6, size)
        assert found.chosen.models == names(best)
        assert found.chosen.value.value == pytest.approx(1 - wrong(best))
        assert found.chosen.value.value == pytest.approx(found.chosen.majority.value)
        assert found.difference_from_random.value == pytest.approx(found.held_out.value - found.random.value)


def test_a_bound_on_mean_failure_is_kept():
    failed = failures()
    rates = failed.mean(axis=0)
    most = float(np.sort(rates)[:2].mean()) + 0.01
    found = ask(failed, size=2, most_mean_failure=most)
    best = best_by_hand(
        lambda chosen: failed[:, chosen].all(axis=1).mean(), 6, 2, lambda chosen: rates[list(chosen)].mean() <= most
    )
    assert found.chosen.models == names(best)
    assert found.chosen.mean_failure.value <= most
    free = ask(failed, size=2)
    assert free.chosen.value.value < found.chosen.value.value, "the bound must cost something here"
    with pytest.raises(UsageError, match=rf"least that one has is {np.sort(rates)[:2].mean():.4g}"):
        ask(failed, size=2, most_mean_failure=0.05)


def test_the_worst_group_decides():
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 600, p=[0.8, 0.2])
    rates = np.where((group == "a")[:, None], [0.1, 0.1, 0.3, 0.3], [0.9, 0.9, 0.4, 0.4])
    failed = rng.random((600, 4)) < rates
    everyone = ask(failed, size=2, groups={"g": group})
    found = ask(failed, size=2, groups={"g": group}, worst_group=True)

    def worst(chosen):
        gone = failed[:, chosen].all(axis=1)
        return max(gone[group == one].mean() for one in ("a", "b"))

    best = best_by_hand(worst, 4, 2)
    assert found.chosen.models == names(best) != everyone.chosen.models
    assert found.chosen.value.value == pytest.approx(worst(best))
    assert found.chosen.worst_group["g"] in {"a", "b"}
    assert found.groups == 2
    assert found.chosen.value.low < found.chosen.value.value < found.chosen.value.high
    assert "simultaneous" in found.held_out.method


@pytest.mark.parametrize("choice", ["swap", "add"])
def test_the_best_swap_and_the_best_addition(choice):
    failed = failures(k=5, seed=2)
    found = ask(failed, today=("m3", "m4"), **{choice: True})
    sets = (
        [(3, x) for x in (0, 1, 2)] + [(x, 4) for x in (0, 1, 2)] if choice == "swap" else [(3, 4, x) for x in range(3)]
    )
    values = {tuple(sorted(one)): failed[:, one].all(axis=1).mean() for one in sets}
    best = min(values, key=lambda one: (values[one], one))
    assert found.chosen.models == names(best)
    assert found.random.value == pytest.approx(np.mean(list(values.values())))
    assert found.choice == ("swap" if choice == "swap" else "addition")
    assert found.chosen.added == names(set(best) - {3, 4})
    assert found.chosen.removed == names({3, 4} - set(best))
    assert found.sets == len(sets)


def test_unequal_judged_sets_are_measured_on_those_whom_members_judged():
    rng = np.random.default_rng(7)
    failed = failures(k=5, seed=7)
    judged = rng.random(failed.shape) < 0.7
    found = ask(failed & judged, judged, size=3)

    def value(chosen):
        n = judged[:, chosen].sum(axis=1)
        gone = (failed & judged)[:, chosen].sum(axis=1) == n
        return gone[n >= 2].mean()

    best = best_by_hand(value, 5, 3)
    assert found.chosen.models == names(best)
    assert found.chosen.value.value == pytest.approx(value(best))
    assert any("different individuals" in note for note in found.notes)


def test_a_chosen_set_is_worse_held_out_than_where_it_was_chosen():
    """Best 3 of 15 exchangeable models at n = 300: .015 in sample; held out as any three, .04."""
    truth = 0.2 * (0.9 * 0.2) ** 1 + 0.8 * 0.17**3  # P(hard) * .18 + P(easy) * .17^3
    inside, outside, covered = [], [], 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        hard = rng.random((300, 1)) < 0.2
        found = ask(rng.random((300, 15)) < np.where(hard, 0.18 ** (1 / 3), 0.17), size=3, seed=seed, splits=5)
        inside.append(found.chosen.value.value)
        outside.append(found.held_out.value)
        covered += found.held_out.low <= truth <= found.held_out.high
    assert np.mean(inside) == pytest.approx(0.015, abs=0.004)
    assert np.mean(outside) == pytest.approx(truth, abs=3 * np.std(outside) / np.sqrt(20))
    assert np.std(outside) < 0.015
    assert covered >= 18
    assert found.within_noise_count > 300, "exchangeable sets cannot be told apart"


def test_a_set_that_is_better_is_told_from_the_others():
    rng = np.random.default_rng(0)
    failed = rng.random((4000, 4)) < [0.05, 0.06, 0.5, 0.5]
    found = ask(failed, size=2)
    assert found.chosen.models == ("m0", "m1")
    assert found.within_noise_count == 0
    assert found.sets_compared == 5
    assert found.difference_from_random.high < 0
    assert [model.share_of_halves for model in found.models] == [1.0, 1.0, 0.0, 0.0]


def test_no_failure_held_out_is_an_upper_limit():
    failed = np.zeros((200, 3), dtype=bool)
    failed[:20, 2] = True
    found = ask(failed, size=2)
    assert found.held_out.value == 0.0
    assert found.held_out.low == 0.0
    assert 0 < found.held_out.high < 0.03
    assert "at most" in found.headline
    assert "0 %" not in found.headline.replace("at most", "").split("against")[0]


def test_clusters_stay_in_one_half_and_widen_the_interval():
    rng = np.random.default_rng(3)
    templates = np.repeat(np.arange(40), 10)
    failed = np.repeat(rng.random((40, 4)) < 0.4, 10, axis=0)
    loose, tied = ask(failed, size=2), ask(failed, size=2, cluster=templates)
    assert tied.chosen.models == loose.chosen.models
    assert tied.held_out.high - tied.held_out.low > 2 * (loose.held_out.high - loose.held_out.low)
    assert "40 clusters" in tied.held_out.method
    few = ask(failed[:80], size=2, cluster=templates[:80])
    assert few.held_out.low is None
    assert "clusters" in few.held_out.reason


def test_weights_count():
    failed = failures(n=300, k=4, seed=9)
    weight = np.where(np.arange(300) < 60, 5.0, 1.0)
    found = ask(failed, size=2, weight=weight)
    best = best_by_hand(lambda chosen: np.average(failed[:, chosen].all(axis=1), weights=weight), 4, 2)
    assert found.chosen.models == names(best)
    assert found.chosen.value.value == pytest.approx(np.average(failed[:, best].all(axis=1), weights=weight))


def test_a_census_has_no_intervals():
    found = ask(failures(), size=2, census=True)
    assert found.held_out.value is not None
    assert found.held_out.low is None
    assert found.difference_from_today.reason.startswith("census")
    assert found.within_noise == ()


def test_the_same_seed_gives_the_same_record():
    assert ask(failures(), size=2, seed=4) == ask(failures(), size=2, seed=4)
    assert ask(failures(), size=2, seed=4).held_out != ask(failures(), size=2, seed=5).held_out


def test_beyond_all_sets_an_integer_program_decides(monkeypatch):
    failed = failures(k=6)
    want = ask(failed, size=3)
    search = import_module("polyculture.audit.portfolio_search")
    monkeypatch.setattr(search, "MOST_SETS", 5)
    found = ask(failed, size=3)
    assert found.method.startswith("integer programming")
    assert found.exact
    assert found.chosen == want.chosen
    assert "one swap away" in found.within_noise_note
    monkeypatch.setattr(search, "MOST_ENTRIES", {"systemic-failure": 0, "majority": 0})
    greedy = ask(failed, size=3)
    assert not greedy.exact
    assert greedy.bound <= want.chosen.value.value <= greedy.chosen.value.value
    rest = ask(failed, size=3, objective="majority")
    assert rest.bound is None
    assert "majority" in rest.bound_reason


def test_random_assignment_draws_anew_for_every_decision():
    failed = failures(k=4)
    found = {one.name: one for one in ask(failed, size=2).alternatives}
    share = failed.mean(axis=1)
    assert found["random assignment"].value.value == pytest.approx((share**2).mean())
    assert found["today's models"].value.value == pytest.approx(failed.all(axis=1).mean())


def test_an_appeal_shows_the_false_positives_it_adds():
    rng = np.random.default_rng(1)
    labels = rng.random(500) < 0.5
    failed = rng.random((500, 3)) < [0.3, 0.2, 0.25]
    found = ask(failed, rule="misclassified", labels=labels.astype(int), with_labels=True, size=2)
    one = next(row for row in found.appeals if row.first == "m0")
    second = int(one.second[1])
    wanted = labels.astype(bool)
    both = (failed[wanted, 0][:, None] & failed[wanted][:, [1, 2]]).mean(axis=0)
    assert second == 1 + int(np.argmin(both))
    assert one.failure.value == pytest.approx(failed[wanted, 0].mean())
    assert one.after_appeal_in_sample.value == pytest.approx(both.min())
    assert one.false_positives.value == pytest.approx(failed[~wanted, 0].mean())
    # whichever second model a half took, it lets through those whom the first rightly rejected
    added = [(~failed[~wanted, 0] & failed[~wanted, other]).mean() for other in (1, 2)]
    assert min(added) - 0.02 <= one.added_false_positives.value <= max(added) + 0.02
    assert one.individuals == wanted.sum()


def test_without_labels_false_positives_are_undefined():
    found = ask(failures(k=3), size=2)
    assert found.appeals[0].added_false_positives.value is None
    assert "no label of two values" in found.appeals[0].added_false_positives.reason


def test_halves_on_which_no_set_meets_the_bound_are_counted():
    failed = failures()
    least = float(np.sort(failed.mean(axis=0))[:2].mean())
    found = ask(failed, size=2, most_mean_failure=least + 1e-9)
    assert 0 < found.halves_without_a_set < found.halves
    assert found.least_mean_failure == pytest.approx(least)
    assert any("no set met the bound" in note for note in found.notes)


def test_a_sample_of_patterns_is_used_and_said(monkeypatch):
    failed = failures(n=6000, k=24)
    whole = tally_from_matrix(failed)
    with monkeypatch.context() as patch:
        patch.setattr("polyculture.tally.build.MANY", 1000)
        patch.setattr("polyculture.tally.large.SAMPLE", 2000)
        sampled = tally_from_matrix(failed)
    assert not sampled.exact
    one, other = ask(None, tally=whole, size=2, splits=2), ask(None, tally=sampled, size=2, splits=2)
    assert other.individuals < 3000 < one.individuals
    assert other.held_out.method.endswith("sampled")
    assert any("rests on a sample" in note for note in other.notes)
    assert other.held_out.value == pytest.approx(one.held_out.value, abs=0.02)


@pytest.mark.parametrize("sets", [20_000, 2], ids=["every set", "searched"])
def test_a_set_is_not_chosen_for_the_few_whom_it_judged(monkeypatch, sets):
    monkeypatch.setattr(import_module("polyculture.audit.portfolio_search"), "MOST_SETS", sets)
    failed, judged = failures(n=200, k=4), np.ones((200, 4), dtype=bool)
    judged[1:, 3] = False
    failed[0] = False
    found = ask(failed & judged, judged, size=2)
    assert "m3" not in found.chosen.models
    assert found.held_out_mean_failure is not None
    with pytest.raises(UsageError, match="judged the same individuals in numbers"):
        ask(failed & judged, judged, size=2, candidates=("m2", "m3"))


def test_a_group_that_is_wholly_in_one_half_counts_on_the_other():
    group = np.repeat(["a", "b", "c"], [300, 60, 40])
    cluster = np.concatenate([np.arange(300) % 30, np.full(60, 30), np.full(40, 31)])
    found = ask(failures(k=4), size=2, groups={"g": group}, cluster=cluster, worst_group=True)
    assert 0 <= found.held_out.value <= 1
    assert any(model.share_of_halves < 1 for model in found.models)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"size": 9}, "Choose 1 to 4 of them"),
        ({"size": 0}, "Choose 1 to 4 of them"),
        ({"size": 2, "today": ("m9",)}, "no model 'm9'"),
        ({"size": 2, "candidates": ("m00", "m1")}, "Did you mean 'm0'"),
        ({"swap": True}, "No model is left to swap in"),
        ({"add": True}, "No model is left to add"),
        ({"swap": True, "add": True, "today": ("m0",)}, "exclude each other"),
        ({"swap": True, "today": ("m0",), "size": 2}, "Drop --size"),
        ({"worst_group": True}, "--by"),
        ({"objective": "majorty"}, "Did you mean 'majority'"),
        ({"most_mean_failure": 20.0}, "as 0.2"),
        ({"today": ("m0", "m0")}, "twice"),
        ({"candidates": ("m0",)}, "at least 2 models"),
    ],
)
def test_wrong_questions_say_what_to_do(options, says):
    with pytest.raises(UsageError) as caught:
        ask(failures(n=60, k=4), **options)
    assert says in str(caught.value)
