"""Each shift does what its formal statement says, and shifts compose in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from polyculture.lab.loops import shifts
from polyculture.lab.loops.rows import Moment, Rows
from polyculture.lab.loops.shifts import SETTINGS, shifted

Make = Callable[..., Moment]
Draw = Callable[[int], Rows]


def test_sequential_labels_are_those_of_the_classifier_before(draw: Draw, moment: Make) -> None:
    rows = shifts.SequentialLabels().on(draw, moment())(100)
    assert (rows.label == (rows.features[:, 0] < 0)).all()


def test_model_collapse_trains_generators_anew_and_changes_nobody(draw: Draw, moment: Make) -> None:
    collapse = shifts.ModelCollapse()
    assert collapse.retrains
    assert collapse.on(draw, moment()) is draw


def test_synthetic_share_mixes_original_people_into_generators_only(draw: Draw, moment: Make) -> None:
    when = moment(purpose="generator", original=lambda n: Rows(np.full((n, 2), 7.0), *np.ones((2, n), dtype=np.int64)))
    rows = shifts.SyntheticShare(share=0.25).on(draw, when)(4000)
    assert (rows.features[:, 0] == 7.0).mean() == pytest.approx(0.75, abs=0.03)
    assert shifts.SyntheticShare(share=0.25).on(draw, moment()) is draw
    assert (shifts.SyntheticShare(share=1.0).on(draw, when)(50).features != 7.0).all()


def test_data_spill_replaces_a_share(draw: Draw, moment: Make) -> None:
    rows = shifts.DataSpill(share=0.4).on(draw, moment())(4000)
    assert (rows.features[:, 0] == 9.0).mean() == pytest.approx(0.4, abs=0.03)
    assert len(rows) == 4000
    assert 0.3 < (rows.features[:400, 0] == 9.0).mean() < 0.5  # in any order, since reparation takes those drawn first


def test_disparity_amplification_keeps_groups_by_their_errors(draw: Draw, moment: Make) -> None:
    errors = np.array([[0.0, 0.4], [0.2, 0.4]])
    rows = shifts.DisparityAmplification(strength=0.5).on(draw, moment(errors=errors))(20_000)
    stays = np.array([0.7 * 1.0 * 0.9, 0.3 * 0.8 * 0.8])
    assert rows.group.mean() == pytest.approx((stays / stays.sum())[1], abs=0.012)
    unknown = np.array([[0.0, 0.4], [np.nan, 0.4]])  # nobody of the first group was tested in one generation
    rows = shifts.DisparityAmplification(strength=0.5).on(draw, moment(errors=unknown))(20_000)
    stays = np.array([0.7, 0.3 * 0.8 * 0.8])
    assert rows.group.mean() == pytest.approx((stays / stays.sum())[1], abs=0.012)
    everyone = shifts.DisparityAmplification(strength=0.5).on(draw, moment())(20_000)
    assert everyone.group.mean() == pytest.approx(0.3, abs=0.012)


def test_groups_that_are_failed_alike_for_long_still_give_people(draw: Draw, moment: Make) -> None:
    when = moment(errors=np.full((60, 2), 0.5))
    assert len(shifts.DisparityAmplification(strength=1.0).on(draw, when)(100)) == 100
    assert not when.events


def test_selective_labels_see_the_accepted_and_some_others(draw: Draw, moment: Make) -> None:
    def mislabelled(number: int) -> Rows:
        rows = draw(number)
        return rows.labelled(1 - rows.label)

    rows = shifts.SelectiveLabels().on(mislabelled, moment())(300)
    assert (rows.features[:, 0] < 0).all()
    assert (rows.label == 0).all()  # what they turn out to be: the annotator says the opposite of the classifier
    some = shifts.SelectiveLabels(explore=0.5).on(draw, moment())(20_000)
    assert (some.features[:, 0] > 0).mean() == pytest.approx(1 / 3, abs=0.02)


def test_runaway_feedback_looks_where_something_is_found(moment: Make) -> None:
    rng = np.random.default_rng(5)

    def apart(number: int) -> Rows:
        group = (rng.random(number) < 0.5).astype(np.int64)
        return Rows(rng.normal(size=(number, 2)) - 2.0 * group[:, None], np.zeros(number, dtype=np.int64), group)

    before = apart(20_000)
    rate = [(before.features[before.group == g, 0] < 0).mean() for g in (0, 1)]
    rows = shifts.RunawayFeedback(looked=20_000).on(apart, moment())(20_000)
    assert rows.group.mean() == pytest.approx(rate[1] / sum(rate), abs=0.02)
    assert (rows.label == (rows.features[:, 0] > 0)).all()
    more = shifts.RunawayFeedback(looked=20_000, strength=2.0).on(apart, moment())(20_000)
    assert more.group.mean() == pytest.approx(rate[1] ** 2 / (rate[0] ** 2 + rate[1] ** 2), abs=0.02)


def test_a_reacting_population_moves_towards_the_favoured(draw: Draw, moment: Make) -> None:
    when = moment()
    good = when.world.label == 1
    towards = when.world.features[good].mean(axis=0) - when.world.features[~good].mean(axis=0)
    still = Rows(np.zeros((1, 2)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    rows = shifts.ReactingPopulation(strength=0.2).on(lambda _: still, when)(1)
    assert rows.features[0] == pytest.approx(0.2 * 0.5 * towards)
    assert rows.label[0] == 0
    sure = Rows(np.array([[-50.0, 0.0], [50.0, 0.0]]), *np.zeros((2, 2), dtype=np.int64))  # the first is accepted
    moved = shifts.ReactingPopulation(strength=0.2).on(lambda _: sure, when)(2).features - sure.features
    assert moved == pytest.approx(np.array([[0.0, 0.0], 0.2 * towards]))
    assert shifts.ReactingPopulation().on(draw, moment(purpose="generator")) is draw


def test_shifts_compose_in_their_order(draw: Draw, moment: Make) -> None:
    labels, moves = shifts.SequentialLabels(), shifts.ReactingPopulation(strength=3.0)
    before = shifted(draw, (labels, moves), moment())(500)
    after = shifted(draw, (moves, labels), moment())(500)
    assert (before.label == (before.features[:, 0] < 0)).mean() < 0.9
    assert (after.label == (after.features[:, 0] < 0)).all()


def test_hardly_anyone_kept_is_said(draw: Draw, moment: Make) -> None:
    when = moment(previous=type("Never", (), {"decide": staticmethod(lambda f: np.zeros(len(f), dtype=np.int64))})())
    rows = shifts.SelectiveLabels().on(draw, when)(50)
    assert len(rows) == 0
    assert when.events[0].reason == "too few kept"


def test_the_settings_of_the_paper_are_sets_of_shifts() -> None:
    kinds = {name: {type(one).__name__ for one in own} for name, own in SETTINGS.items()}
    assert kinds == {
        "Static": set(),
        "SeqClass": {"SequentialLabels"},
        "SeqGenSeqClass": {"SequentialLabels", "ModelCollapse"},
        "SeqGenNonSeqClass": {"ModelCollapse"},
    }


@pytest.mark.parametrize("kind", get_args(shifts.ShiftKinds))
def test_every_shift_has_a_formal_statement(kind: type[shifts.Shift]) -> None:
    assert "_n" in (kind.__doc__ or "") or "x ->" in (kind.__doc__ or "")
