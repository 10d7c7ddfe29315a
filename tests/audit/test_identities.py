"""What must hold whatever the data: sums, mirrors, and that order and names change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

EXAMPLES = settings(max_examples=40, deadline=None)


@st.composite
def complete(draw, least=1):
    n, k = draw(st.integers(least, 40)), draw(st.integers(2, 5))
    return draw(hnp.arrays(np.bool_, (n, k)))


@st.composite
def with_holes(draw):
    failed = draw(complete())
    judged = draw(hnp.arrays(np.bool_, failed.shape))
    judged[0] = True  # a model that judged nobody is refused before it gets here
    return failed & judged, judged


def numbers(record, path=""):
    """Return all numbers of a record that are not made by random draws."""
    import msgspec

    found = {}
    if isinstance(record, dict):
        for key, value in record.items():
            if key not in {"spread_p_value", "profile_p_value", "p_value", "p_adjusted", "expected_with_no_difference"}:
                found |= numbers(value, f"{path}.{key}")
    elif isinstance(record, list | tuple):
        for place, value in enumerate(record):
            found |= numbers(value, f"{path}[{place}]")
    elif isinstance(record, msgspec.Struct):
        found |= numbers(msgspec.structs.asdict(record), path)
    elif isinstance(record, int | float):
        found[path] = record
    return found


def same(one, other):
    ours, theirs = numbers(one), numbers(other)
    assert ours.keys() == theirs.keys()
    assert list(ours.values()) == pytest.approx(list(theirs.values()), rel=1e-7, abs=1e-9)


@EXAMPLES
@given(with_holes())
def test_the_profile_sums_to_n(audit, data):
    found = audit(*data, min_judged=1)
    assert sum(row.count for row in found.profile) == found.individuals
    assert found.individuals + sum(found.judged_too_little.values()) == len(data[0])
    for judged in {row.judged for row in found.profile}:
        rows = [row for row in found.profile if row.judged == judged]
        assert [row.failed for row in rows] == list(range(judged + 1))
        assert sum(row.observed.value for row in rows) == pytest.approx(1.0)
        assert sum(row.expected for row in rows) == pytest.approx(1.0)


@EXAMPLES
@given(with_holes())
def test_events_are_the_ends_of_the_profile(audit, data):
    found = audit(*data, min_judged=1)
    n = found.individuals
    ends = {
        "systemic_failure": [row for row in found.profile if row.failed == row.judged],
        "consistent_success": [row for row in found.profile if row.failed == 0],
    }
    for name, rows in ends.items():
        outcome = getattr(found, name)
        assert outcome.count == sum(row.count for row in rows)
        if n:
            sizes = {r.judged: sum(s.count for s in found.profile if s.judged == r.judged) for r in rows}
            expected = sum(sizes[row.judged] * row.expected for row in rows) / n
            assert outcome.expected == pytest.approx(expected)
    both = found.homogeneous_outcomes
    assert both.count == found.systemic_failure.count + found.consistent_success.count


@EXAMPLES
@given(complete())
def test_systemic_failure_is_at_most_the_least_failure_rate(audit, failed):
    found = audit(failed)
    least = min(model.failure_rate.value for model in found.models)
    assert found.systemic_failure.observed.value <= least + 1e-12
    if found.systemic_failure.ceiling is not None:
        assert found.systemic_failure.ratio.value <= found.systemic_failure.ceiling * (1 + 1e-9)
    assert found.systemic_failure.count <= min(pair.both_failed for pair in found.pairs)


@EXAMPLES
@given(with_holes())
def test_successes_mirror_failures(audit, data):
    failed, judged = data
    one, other = audit(failed, judged, min_judged=1), audit(~failed & judged, judged, min_judged=1)
    mirrored = {(row.judged, row.judged - row.failed): row for row in other.profile}
    for row in one.profile:
        mirror = mirrored[row.judged, row.failed]
        assert row.count == mirror.count
        assert row.expected == pytest.approx(mirror.expected)
    for name in ("observed", "difference", "ratio", "log10_ratio", "ceiling_share"):
        ours, theirs = getattr(one.systemic_failure, name).value, getattr(other.consistent_success, name).value
        assert ours == (None if theirs is None else pytest.approx(theirs)), name


@EXAMPLES
@given(with_holes(), st.randoms(use_true_random=False))
def test_order_of_rows_and_models_changes_nothing(audit, data, random):
    failed, judged = data
    groups = [("a", "b", None)[i % 3] for i in range(len(failed))]
    names = [f"m{j}" for j in range(failed.shape[1])]
    rows, columns = list(range(len(failed))), list(range(failed.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    one = audit(failed, judged, groups={"g": groups}, models=names, min_cell=1)
    other = audit(
        failed[rows][:, columns],
        judged[rows][:, columns],
        groups={"g": [groups[i] for i in rows]},
        models=[names[j] for j in columns],
        min_cell=1,
    )
    for name in ("systemic_failure", "consistent_success", "homogeneous_outcomes", "profile", "group_homogenization"):
        same(getattr(one, name), getattr(other, name))
    assert one.headline == other.headline
    same(sorted(one.models, key=lambda m: m.name), sorted(other.models, key=lambda m: m.name))
    assert [(p.share, set(p.failed), set(p.judged)) for p in one.patterns] == [
        (p.share, set(p.failed), set(p.judged)) for p in other.patterns
    ]
    for ours, theirs in zip(one.groups, other.groups, strict=True):
        assert ours.by == theirs.by
        same(ours.systemic_failure, theirs.systemic_failure)
        same(ours.contrast, theirs.contrast)


@EXAMPLES
@given(complete())
def test_names_change_nothing(audit, failed):
    k = failed.shape[1]
    one = audit(failed, models=[f"m{j}" for j in range(k)])
    other = audit(failed, models=[f"<b>{chr(945 + j)}" for j in range(k)])
    same(one, other)
    assert one.profile_p_value == other.profile_p_value


@EXAMPLES
@given(complete(least=2))
def test_one_row_one_group(audit, failed):
    found = audit(failed, groups={"person": [f"p{i:02d}" for i in range(len(failed))]}, min_cell=1)
    homogenization = found.group_homogenization
    if found.systemic_failure.expected == 0:
        assert homogenization.average.value is None
        return
    ratio = found.systemic_failure.ratio.value
    assert homogenization.average.value == pytest.approx(ratio, abs=1e-12)
    assert homogenization.uniform.value == pytest.approx(ratio, abs=1e-12)


@EXAMPLES
@given(complete(), st.integers(2, 5))
def test_counts_are_rows(audit, failed, times):
    one = audit(np.repeat(failed, times, axis=0))
    other = audit(failed, count=[times] * len(failed))
    same(one, other)


@EXAMPLES
@given(complete())
def test_equal_weights_are_no_weights(audit, failed):
    one, other = audit(failed), audit(failed, weight=[2.5] * len(failed))
    same(one.models, other.models)
    same(one.profile, other.profile)
    for name in ("count", "observed", "expected", "difference", "ceiling"):
        same([getattr(one.systemic_failure, name)], [getattr(other.systemic_failure, name)])


def test_groups_add_up(audit):
    rng = np.random.default_rng(0)
    failed = rng.random((900, 3)) < 0.4
    columns = {
        "x": rng.choice(["a", "b"], 900).tolist(),
        "y": rng.choice(["c", "d", "e"], 900).tolist(),
        "z": rng.choice(["f", None], 900).tolist(),
    }
    found = audit(failed, groups=columns)
    by_columns = {}
    for group in found.groups:
        by_columns.setdefault(tuple(group.by), []).append(group)
    assert list(by_columns) == [("x",), ("y",), ("z",), ("x", "y"), ("x", "z"), ("y", "z"), ("x", "y", "z")]
    for groups in by_columns.values():
        assert sum(group.individuals for group in groups) == 900
        if all(group.systemic_failure for group in groups):
            assert sum(group.systemic_failure.count for group in groups) == found.systemic_failure.count
            assert sum(group.models[0].failed for group in groups) == found.models[0].failed
    assert found.group_homogenization.by == ("x", "y", "z")
    assert [h.by for h in found.group_homogenization_by_column] == [("x",), ("y",), ("z",)]


@pytest.mark.parametrize("design", [{}, {"weight": 0.1}, {"cluster": 9}, {"weight": 0.1, "cluster": 9}])
def test_what_is_exactly_nothing_is_said_to_be_nothing(audit, design):
    """Independent failures in alike groups: no figure is a rounding error, and no interval has the width of one."""
    failed = np.array([[i // 9 % 3 == 0, i // 3 % 3 == 0, i % 3 == 0] for i in range(27)] * 8)
    options = {"groups": {"g": (["x"] * 27 + ["y"] * 27) * 4}}
    if "weight" in design:
        options["weight"] = [design["weight"]] * len(failed)
    if "cluster" in design:
        options["cluster"] = np.arange(len(failed)) // design["cluster"]
    record = audit(failed, **options)
    found = numbers(record)
    assert len(found) > 100
    tiny = {place: number for place, number in found.items() if number and abs(number) < 1e-9}
    assert tiny == {}
    assert record.systemic_failure.difference.value == 0.0
