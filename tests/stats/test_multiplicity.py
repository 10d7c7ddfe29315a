"""Corrections for several looks, against values by hand and against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyculture.stats.multiplicity import benjamini_hochberg, holm, sidak_level

FIFTEEN = [
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.3240,
    0.4262,
    0.5719,
    0.6528,
    0.7590,
    1,
]


def test_the_example_of_benjamini_and_hochberg() -> None:
    """Their 1995 paper, section 4: four rejections at .05, where Bonferroni's family has three."""
    assert (benjamini_hochberg(FIFTEEN) <= 0.05).sum() == 4
    assert (holm(FIFTEEN) <= 0.05).sum() == 3
    assert benjamini_hochberg(FIFTEEN)[3] == pytest.approx(0.0095 * 15 / 4)
    assert holm(FIFTEEN)[2] == pytest.approx(0.0019 * 13)


def test_undefined_tests_stay_undefined_and_do_not_count() -> None:
    for correct in (benjamini_hochberg, holm):
        with_gaps = correct([0.02, None, 0.01, float("nan"), 0.5])
        assert np.isnan(with_gaps[[1, 3]]).all()
        assert with_gaps[[0, 2, 4]].tolist() == correct([0.02, 0.01, 0.5]).tolist()
        assert correct([]).size == 0
        assert np.isnan(correct([None])).all()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.5))
def test_adjusted_values_reject_what_the_procedures_reject(p: list[float], level: float) -> None:
    order, m = np.argsort(p), len(p)
    ranked = np.array(p)[order]
    step_up = np.flatnonzero(ranked * m / np.arange(1, m + 1) <= level)
    rejected = benjamini_hochberg(p) <= level
    assert rejected.sum() == (step_up.max() + 1 if step_up.size else 0)
    step_down = np.flatnonzero(ranked * np.arange(m, 0, -1) > level)
    assert (holm(p) <= level).sum() == (step_down.min() if step_down.size else m)


def test_a_p_value_outside_0_1_is_refused() -> None:
    with pytest.raises(ValueError, match="p-values"):
        benjamini_hochberg([1.2])


def test_sidak_levels_multiply_to_the_joint_level() -> None:
    assert sidak_level(8) ** 8 == pytest.approx(0.95)
    assert sidak_level(1) == pytest.approx(0.95)
    with pytest.raises(ValueError, match="at least 1"):
        sidak_level(0)
