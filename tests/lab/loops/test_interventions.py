"""What is done about the drift: who is selected, weighed and dropped, and how training changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from polyculture.lab.loops import interventions as done
from polyculture.lab.loops.actors import fit_classifier
from polyculture.lab.loops.interventions import select
from polyculture.lab.loops.measures import decisions
from polyculture.lab.loops.rows import Moment, Rows
from polyculture.lab.loops.world import World
from polyculture.lab.plan import Step

Make = Callable[..., Moment]
Draw = Callable[[int], Rows]
LEARNER = (Step(estimator="sklearn.linear_model.LogisticRegression"),)


def test_reparation_comes_near_the_ideal_where_nothing_does_not(draw: Draw, moment: Make, world: World) -> None:
    plain = select(draw, (), 400, 0, moment())
    rows = select(draw, (done.Star(budget=1.0),), 400, 0, moment())
    assert plain.accounting is None
    strata = np.bincount(world.stratum(rows.rows.label, rows.rows.group), minlength=4)
    assert strata.tolist() == [100, 100, 100, 100]
    assert rows.accounting is not None
    assert rows.accounting.shortfall == 0


def test_reparation_is_of_the_models_it_names(draw: Draw, moment: Make) -> None:
    star = done.Star(of=("generator",))
    assert select(draw, (star,), 50, 0, moment()).accounting is None
    assert select(draw, (star,), 50, 0, moment(purpose="generator")).accounting is not None


def test_reparation_of_batches_has_a_quota_in_each(draw: Draw, moment: Make, world: World) -> None:
    found = select(draw, (done.Star(budget=2.0),), 96, 32, moment())
    assert found.accounting is not None
    assert found.accounting.quota.tolist() == [24] * 4
    for start in (0, 32, 64):
        batch = found.rows[slice(start, start + 32)]
        assert np.bincount(world.stratum(batch.label, batch.group), minlength=4).tolist() == [8] * 4


def test_reparation_may_have_batches_of_its_own(draw: Draw, moment: Make) -> None:
    for batch in (0, 48):
        found = select(draw, (done.Star(budget=2.0, batch=11),), 99, batch, moment())
        assert found.accounting is not None
        assert found.accounting.quota.tolist() == [18] * 4  # 2 of 11 in each of nine batches; 24 of 99 at once
        assert found.rows.batch is not None
        assert np.bincount(found.rows.batch).tolist() == [11] * 9


def test_what_is_selected_can_be_weighed(draw: Draw, moment: Make) -> None:
    both = (done.Star(), done.Reweighting())
    assert select(draw, both, 200, 0, moment()).rows.weight is not None
    assert select(draw, both, 200, 0, moment(purpose="generator")).rows.weight is None


def test_balance_of_classes_and_of_groups(draw: Draw, moment: Make) -> None:
    def skewed(number: int) -> Rows:
        rows = draw(4 * number)
        return rows[np.flatnonzero((rows.label == 0) | (np.arange(len(rows)) % 4 == 0))[:number]]

    classes = select(skewed, (done.ClassBalance(budget=3.0),), 200, 0, moment()).rows
    assert classes.label.mean() == 0.5
    groups = select(draw, (done.GroupBalance(budget=1.0),), 200, 0, moment()).rows
    assert groups.group.mean() == 0.5


def test_weights_make_class_and_group_independent(draw: Draw, moment: Make) -> None:
    def skewed(number: int) -> Rows:
        rows = draw(number)
        return rows.labelled(np.where(rows.group == 1, rows.label, 1))

    rows = select(skewed, (done.Reweighting(),), 3000, 0, moment()).rows
    assert rows.weight is not None
    share = np.zeros((2, 2))
    np.add.at(share, (rows.label, rows.group), rows.weight)
    share /= share.sum()
    there = share > 0
    expected = np.outer(share.sum(axis=1), share.sum(axis=0))
    # The stratum (0, group 0) is empty and cannot be made up; of class 1 the groups have their own shares.
    assert not there[0, 0]
    assert rows.weight[(rows.label == 1) & (rows.group == 1)] == pytest.approx(
        (rows.label == 1).sum() * (rows.group == 1).sum() / 3000 / ((rows.label == 1) & (rows.group == 1)).sum()
    )
    full = select(draw, (done.Reweighting(),), 3000, 0, moment()).rows
    share = np.zeros((2, 2))
    assert full.weight is not None
    np.add.at(share, (full.label, full.group), full.weight / full.weight.sum())
    assert share == pytest.approx(np.outer(share.sum(axis=1), share.sum(axis=0)), abs=1e-12)
    assert expected.shape == share.shape


def test_fresh_data_are_real_people_with_their_own_labels(draw: Draw, moment: Make) -> None:
    seven = lambda n: Rows(np.full((n, 2), 7.0), np.ones(n, dtype=np.int64), np.ones(n, dtype=np.int64))  # noqa: E731
    rows = select(draw, (done.FreshData(share=0.2),), 3000, 0, moment(original=seven)).rows
    assert (rows.features[:, 0] == 7.0).mean() == pytest.approx(0.2, abs=0.03)


def test_what_looks_synthetic_is_dropped(draw: Draw, moment: Make) -> None:
    def odd(number: int) -> Rows:
        rows = draw(number)
        features = rows.features.copy()
        features[: number // 5] += 30.0
        return Rows(features, rows.label, rows.group)

    rows = select(odd, (done.DropDetected(share=0.25),), 400, 0, moment()).rows
    assert len(rows) == 400
    assert (rows.features[:, 0] > 15).sum() == 0


def test_a_constraint_narrows_the_gap_that_it_is_about(world: World) -> None:
    pytest.importorskip("fairlearn", reason="the lab needs the extra [lab]")
    rng = np.random.default_rng(8)
    group = rng.integers(0, 2, 1500)
    features = np.column_stack([rng.normal(size=1500) + 1.5 * group, rng.normal(size=1500)])
    rows = Rows(features, (features[:, 0] + 0.3 * rng.normal(size=1500) > 0.7).astype(np.int64), group)
    gaps = []
    for learn in (None, done.Constrained(constraint="demographic parity").learn(world)):
        predicted = fit_classifier(LEARNER, rows, 2, 0, [], learn).decide(features)
        gaps.append(decisions(predicted, rows.label, group, 1, 2)["demographic_parity_difference"])
    assert gaps[1] < gaps[0] / 2
    one = Rows(features, rows.label, np.zeros(1500, dtype=np.int64))
    learn = done.Constrained().learn(world)
    assert fit_classifier(LEARNER, one, 2, 0, [], learn).decide(features).mean() > 0.1


def test_training_on_batches_sees_every_row_as_often_as_asked() -> None:
    from polyculture.lab.loops.actors import learn_batches

    class Counts:
        def __init__(self) -> None:
            self.seen: list[int] = []

        def partial_fit(self, features: np.ndarray, label: np.ndarray, classes: np.ndarray) -> None:
            assert len(features) == len(label)
            self.seen.append(len(label))
            assert classes.tolist() == [0, 1, 2]

    rows = Rows(np.zeros((10, 1)), np.zeros(10, dtype=np.int64), np.zeros(10, dtype=np.int64))
    estimator = Counts()
    assert learn_batches(4, 2, 3)(estimator, rows, 0) is estimator
    assert estimator.seen == [4, 4, 2, 4, 4, 2]
