"""Values that outside code and papers give (cases/expected.md of the project's shared folder)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from polyculture import datasets
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally

FIRST = [[int(c) for c in row] for row in ["111", "110", "100", "000", "001", "010", "000", "111"]]
FIRST_GROUPS = list("AAAABBBC")
PREDICTIONS = np.array([[int(c) for c in row] for row in ["01100", "11101", "00110", "00000"]])
SECOND = np.array([[1], [1], [0], [1]]) != PREDICTIONS

APIS = {
    "waimai": (11987, [0.728, 0.140, 0.067, 0.065], [0.600, 0.335, 0.061, 0.004], 18.4),
    "fer+": (6358, [0.468, 0.308, 0.155, 0.069], [0.377, 0.440, 0.164, 0.019], 3.63),
    "digit": (2000, [0.288, 0.442, 0.127, 0.143], [0.186, 0.533, 0.250, 0.031], 4.67),
    "yelp": (20000, [0.489, 0.386, 0.101, 0.024], [0.427, 0.488, 0.082, 0.003], 8.69),
    "imdb": (25000, [0.424, 0.377, 0.146, 0.053], [0.353, 0.480, 0.154, 0.014], 3.88),
}


def plain(record):
    return [s.value for s in (record.average, record.uniform, record.worst, record.spread)]


def test_first_homogenization_one_row_one_group(audit):
    found = audit(FIRST, groups={"person": [str(i) for i in range(8)]}, min_cell=1)
    assert found.systemic_failure.expected == pytest.approx(0.09375)
    assert plain(found.group_homogenization) == pytest.approx([2.666667, 2.666667, 10.666667, 0.214286], abs=1e-6)
    assert found.systemic_failure.ratio.value == pytest.approx(2.666667, abs=1e-6)


def test_first_homogenization_by_group(audit):
    found = audit(FIRST, groups={"group": FIRST_GROUPS}, min_cell=1).group_homogenization
    assert plain(found) == pytest.approx([0.811594, 3.888889, 10.666667, 0.305013], abs=1e-6)
    assert found.worst_group == {"group": "C"}
    assert found.groups == 3
    assert not found.reliable


def test_second_homogenization(audit):
    found = audit(SECOND, groups={"pair": list("aabb")}, min_cell=1)
    assert [m.failure_rate.value for m in found.models] == [0.5, 0.25, 0.5, 1.0, 0.5]
    assert found.systemic_failure.observed.value == 0.25
    assert found.systemic_failure.expected == pytest.approx(0.03125)
    assert [row.expected for row in found.profile] == pytest.approx([0, 0.09375, 0.3125, 0.375, 0.1875, 0.03125])
    assert plain(found.group_homogenization) == pytest.approx([2, 2, 4, 0.0078125])
    single = audit(SECOND, groups={"person": list("wxyz")}, min_cell=1)
    assert plain(single.group_homogenization) == pytest.approx([8, 8, 32, 0.25])
    assert single.systemic_failure.ratio.value == pytest.approx(8)


@pytest.mark.parametrize("name", APIS)
def test_commercial_services_of_2020(audit_of_tally, name):
    table = datasets.hapi(name)
    found = audit_of_tally(Tally.of(Outcomes(table.frame, Mapping(**table.mapping))))
    n, observed, expected, ratio = APIS[name]
    assert found.individuals == n
    assert [round(row.observed.value, 3) for row in found.profile] == observed
    assert [round(row.expected, 3) for row in found.profile] == expected
    assert found.systemic_failure.ratio.value == pytest.approx(ratio, rel=0.003)
    assert found.systemic_failure.observed.value == found.profile[-1].observed.value
    assert found.systemic_failure.expected == pytest.approx(found.profile[-1].expected)
    assert found.consistent_success.observed.value == found.profile[0].observed.value
    assert found.systemic_failure.p_value < 1e-6
    assert found.profile_p_value <= 0.001


def test_waimai_in_a_sentence(audit_of_tally):
    table = datasets.hapi("waimai")
    found = audit_of_tally(Tally.of(Outcomes(table.frame, Mapping(**table.mapping))), noun="reviews")
    assert found.headline == (
        "775 of 11,987 reviews (6.5 %, 95 % interval 6.0 to 6.9 %) were failed by all 3 models; "
        "0.35 % would be expected if they failed independently."
    )


def test_digit_by_speaker(audit_of_tally, data_file):
    rows = pl.read_parquet(data_file("hapi2020/DIGIT.parquet"))
    models = ("google", "microsoft", "ibm", "github_deepspeech")
    frame = rows.select(
        *(pl.col(f"correct_{m}").alias(m) for m in models),
        speaker=pl.col("example_id").str.split("_").list.get(2),
    )
    found = audit_of_tally(Tally.of(Outcomes(frame, Mapping(models=models, outcomes="correct", by=("speaker",)))))
    shares = {g.by["speaker"]: g.systemic_failure.observed.value for g in found.groups}
    assert shares.pop("nicolas") == pytest.approx(0.336)
    assert sorted(round(s, 3) for s in shares.values()) == [0.032, 0.052, 0.060]
    nicolas = next(g for g in found.groups if g.by["speaker"] == "nicolas")
    assert nicolas.contrast.difference.low > 0.2
    assert nicolas.contrast.p_adjusted < 1e-6
    gap = found.gaps[0]
    assert gap.highest == {"speaker": "nicolas"}
    assert gap.systemic_failure_difference.value == pytest.approx(0.336 - 0.032)
    assert gap.expected_with_no_difference < 0.05 < gap.systemic_failure_difference.low


def hatecheck(path, **mapping):
    tools = ("alt_profanity_check", "better_profanity", "hatesonar", "glin_profanity")
    rows = pl.read_csv(path)
    frame = rows.with_columns(*(pl.col(f"pred_{tool}").alias(tool) for tool in tools))
    options = {"models": tools, "label": "hateful", "by": ("target_ident",), **mapping}
    return frame, options


def test_hatecheck(audit_of_tally, data_file):
    frame, options = hatecheck(data_file("hatecheck_tools.csv"))
    found = audit_of_tally(Tally.of(Outcomes(frame, Mapping(**options))), noun="cases")
    rates = sorted(m.failure_rate.value for m in found.models)
    assert [round(r, 3) for r in rates] == [0.564, 0.589, 0.647, 0.673]
    assert round(found.systemic_failure.observed.value, 3) == 0.356
    assert round(found.systemic_failure.expected, 3) == 0.145
    assert round(found.consistent_success.observed.value, 3) == 0.170
    assert round(found.consistent_success.expected, 3) == 0.021
    missing = next(g for g in found.groups if g.by["target_ident"] is None)
    assert (missing.status, missing.individuals, missing.contrast) == ("unknown", 292, None)
    assert found.group_homogenization.left_out == {"group not known": 292}


def test_hatecheck_by_target(audit_of_tally, data_file):
    frame, options = hatecheck(data_file("hatecheck_tools.csv"), cluster="template")
    hateful = frame.filter(pl.col("hateful") == 1)
    found = audit_of_tally(Tally.of(Outcomes(hateful, Mapping(**options))))
    shares = {g.by["target_ident"]: g.systemic_failure for g in found.groups}
    expected = {
        "trans people": 0.703,
        "Muslims": 0.660,
        "disabled people": 0.641,
        "immigrants": 0.566,
        "black people": 0.504,
        "women": 0.225,
        "gay people": 0.027,
    }
    assert {name: round(shares[name].observed.value, 3) for name in expected} == expected
    trans = shares["trans people"].observed
    assert "Korn-Graubard" in trans.method
    assert trans.low < 0.703 < trans.high
