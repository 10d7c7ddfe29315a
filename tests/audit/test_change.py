"""What a comparison says: blind gains, churn, outside values, and identities between its parts."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import polars as pl
import pytest

from polyculture.audit.change_records import ChangeRecord, Undoing
from polyculture.audit.compare import Step, change
from polyculture.audit.settings import Settings
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally.changes import Changes

K = 5
NAMES = tuple(f"m{j}" for j in range(K))
MAPPING = Mapping(id="id", outcomes="failed", models=NAMES)


def frame(failed: np.ndarray, **more: Any) -> pl.DataFrame:
    columns = {name: failed[:, j].astype(np.int8) for j, name in enumerate(NAMES[: failed.shape[1]])}
    return pl.DataFrame({"id": np.arange(len(failed)), **columns, **more})


def changed(before: pl.DataFrame, after: pl.DataFrame, mapping: Mapping = MAPPING, **settings: Any) -> ChangeRecord:
    later = dataclasses.replace(mapping, by=(), weight=None, cluster=None)
    counted = Changes.of(Outcomes(before, mapping), Outcomes(after, later))
    return change(Step("then", "now", counted), Settings(**settings))


def answers(rng: np.random.Generator, n: int, gain: float = 0.0, hardness: np.ndarray | None = None) -> np.ndarray:
    hard = rng.normal(0, 1.5, n) if hardness is None else hardness
    return rng.random((n, K)) < 1 / (1 + np.exp(-(hard[:, None] + np.linspace(-1.5, -0.5, K) - gain)))


def inside(one: Undoing, baseline: str) -> bool:
    difference = getattr(one, f"difference_{baseline}")
    return bool((difference.low or 0) <= 0 <= (difference.high or 0))


def test_a_blind_uniform_gain_gives_the_uniform_share() -> None:
    rng = np.random.default_rng(1)
    before = answers(rng, 20_000)
    after = before & (rng.random(before.shape) > 0.3)
    found = changed(frame(before), frame(after))
    assert inside(found.undoing[0], "uniform")
    assert found.undoing[0].verdict == "more than adjusted"
    firsts = [model.undoing[0] for model in found.models]
    for one in firsts:
        assert one.regressed == 0
        assert one.share.value == pytest.approx(one.uniform, abs=0.02)
    # Five intervals of 95 % each: one may miss by chance.
    assert sum(inside(one, "uniform") for one in firsts) >= 4
    assert sum((one.trend.low or 0) < 1 < (one.trend.high or 0) for one in firsts) >= 4


def test_churn_alone_gives_the_adjusted_share_and_looks_like_avoidance_to_the_uniform_baseline() -> None:
    rng = np.random.default_rng(2)
    hardness = rng.normal(0, 1.5, 20_000)
    found = changed(frame(answers(rng, 20_000, hardness=hardness)), frame(answers(rng, 20_000, hardness=hardness)))
    pooled = found.undoing[0]
    assert inside(pooled, "adjusted")
    assert (pooled.difference_uniform.high or 0) < -0.02
    assert pooled.verdict == "fewer than uniform"
    for model in found.models:
        one = model.undoing[0]
        assert one.share.value == pytest.approx(one.adjusted.value, abs=0.025)
        assert one.trend.value == pytest.approx(one.trend_adjusted, rel=0.1)
        assert model.error.p_value is not None


def test_avoiding_systemic_failures_is_fewer_than_blind() -> None:
    rng = np.random.default_rng(3)
    before = answers(rng, 8_000)
    hard = before.all(axis=1)
    after = before & (rng.random(before.shape) > np.where(hard[:, None], 0.02, 0.4))
    found = changed(frame(before), frame(after)).undoing[0]
    assert found.verdict == "fewer than blind"
    assert "fewer than either blind baseline" in found.sentence
    assert "ignore" not in found.sentence


@pytest.mark.parametrize("models", [2, 3, 4])
def test_with_few_models_a_verdict_against_difficulty_is_withheld(models: int) -> None:
    """Two kinds of individuals and churn: with 2 models the data cannot show them, and the baseline is far off."""
    rng = np.random.default_rng(5)
    hard = rng.choice([-1.5, 3.75], 3_000, p=[0.8, 0.2]) + rng.normal(0.0, 0.45, 3_000)
    rate = 1 / (1 + np.exp(-(hard[:, None] + np.linspace(-1.2, -0.4, models))))
    mapping = Mapping(id="id", outcomes="failed", models=NAMES[:models])
    before, after = (rng.random(rate.shape) < rate for _ in range(2))
    churn = changed(frame(before), frame(after), mapping).undoing[0]
    if models == 2:
        assert (churn.difference_adjusted.high or 0) < 0, "the interval leaves out the truth: nothing but churn is here"
        assert "these data cannot tell, since that baseline is rough with 2 models" in churn.sentence
    assert churn.verdict != "fewer than blind"
    avoiding = before & (rng.random(before.shape) > np.where(before.all(axis=1)[:, None], 0.0, 0.6))
    found = changed(frame(before), frame(avoiding), mapping).undoing[0]
    assert (found.difference_adjusted.high or 0) < 0
    assert found.verdict == ("cannot tell" if models == 2 else "fewer than blind")
    assert ("either blind baseline" in found.sentence) == (models > 2)


@pytest.mark.parametrize("models", [3, 4, 5])
def test_with_three_or_four_models_more_than_difficulty_is_withheld(models: int) -> None:
    rng = np.random.default_rng(1)
    before = answers(rng, 20_000)[:, :models]
    after = before & (rng.random(before.shape) > 0.3)
    mapping = Mapping(id="id", outcomes="failed", models=NAMES[:models])
    found = changed(frame(before), frame(after), mapping).undoing[0]
    assert (found.difference_adjusted.low or 0) > 0
    assert found.verdict == ("more than adjusted" if models == 5 else "cannot tell")


def by_hand(before: np.ndarray, after: np.ndarray, model: int, others: int, read: np.ndarray) -> tuple[int, ...]:
    c = np.delete(read, model, axis=1).sum(axis=1) == others
    old, new = before[:, model], after[:, model]
    return tuple(int((c & part).sum()) for part in (old, old & ~new, ~old, ~old & new))


@pytest.mark.parametrize("reading", ["before", "after"])
def test_rows_by_others_are_counts_by_hand(reading: str) -> None:
    rng = np.random.default_rng(4)
    hardness = rng.normal(0, 1.5, 500)
    before, after = answers(rng, 500, hardness=hardness), answers(rng, 500, 0.3, hardness)
    found = changed(frame(before), frame(after))
    read = before if reading == "before" else after
    pooled = np.zeros((K, 4), dtype=int)
    for j, model in enumerate(found.models):
        rows = [row for row in model.by_others if row.reading == reading]
        assert [row.others for row in rows] == list(range(K))
        for row in rows:
            counts = (row.potential, row.improved, row.at_risk, row.regressed)
            assert counts == by_hand(before, after, j, row.others, read)
            assert row.net == row.improved - row.regressed
            pooled[row.others] += counts
        assert sum(row.potential for row in rows) == model.failed_before
        assert sum(row.share.value or 0 for row in rows) == pytest.approx(1)
    everyone = [row for row in found.by_others if row.reading == reading]
    assert [(r.potential, r.improved, r.at_risk, r.regressed) for r in everyone] == [tuple(row) for row in pooled]
    undoing = next(one for one in found.undoing if one.reading == reading)
    assert undoing.improved_systemic == pooled[-1, 1]
    assert undoing.net == pooled[:, 1].sum() - pooled[:, 3].sum()


def test_systemic_failure_flow_and_models_agree() -> None:
    rng = np.random.default_rng(5)
    hardness = rng.normal(0, 1.5, 2_000)
    before, after = answers(rng, 2_000, hardness=hardness), answers(rng, 2_000, 0.5, hardness)
    found = changed(frame(before), frame(after))
    systemic = found.systemic_failure
    old, new = before.all(axis=1), after.all(axis=1)
    assert (systemic.kept, systemic.undone, systemic.new) == ((old & new).sum(), (old & ~new).sum(), (~old & new).sum())
    assert systemic.expected_before == pytest.approx(before.mean(axis=0).prod())
    assert sum(row.count for row in found.flow) == 2_000
    assert sum(row.share for row in found.flow) == pytest.approx(1)
    assert sum(row.count for row in found.flow if row.before == K) == systemic.count_before
    moved = after.mean() - before.mean()
    assert found.mean_error.difference.value == pytest.approx(moved)
    assert np.mean([model.error.difference.value for model in found.models]) == pytest.approx(moved)


def test_swapping_swaps_improvements_and_regressions() -> None:
    rng = np.random.default_rng(6)
    tables = [frame(answers(rng, 400)) for _ in range(2)]
    forward, back = changed(tables[0], tables[1]), changed(tables[1], tables[0])
    for one, other in zip(forward.models, back.models, strict=True):
        assert (one.improved, one.regressed) == (other.regressed, other.improved)
        assert one.error.difference.value == pytest.approx(-(other.error.difference.value or 0))
        assert one.error.difference.low == pytest.approx(-(other.error.difference.high or 0))
        assert one.error.p_value == other.error.p_value


def test_weights_of_one_are_no_weights_and_clusters_of_one_nearly_none() -> None:
    rng = np.random.default_rng(7)
    before, after = answers(rng, 600), answers(rng, 600, 0.5)
    table = frame(before, w=np.full(600, 2.0), own=np.arange(600))
    plain = changed(table, frame(after))
    weighted = changed(table, frame(after), dataclasses.replace(MAPPING, weight="w"))
    clustered = changed(table, frame(after), dataclasses.replace(MAPPING, cluster="own"))
    for one in (weighted, clustered):
        for a, b in ((plain.systemic_failure.rate, one.systemic_failure.rate), (plain.mean_error, one.mean_error)):
            assert b.difference.value == pytest.approx(a.difference.value)
            assert b.difference.low == pytest.approx(a.difference.low, abs=0.002)
            assert b.difference.high == pytest.approx(a.difference.high, abs=0.002)
        for mine, theirs in zip(plain.undoing, one.undoing, strict=True):
            assert theirs.share.value == pytest.approx(mine.share.value)
            assert theirs.share.high == pytest.approx(mine.share.high, abs=0.01)


def test_clusters_of_alike_individuals_widen_intervals() -> None:
    rng = np.random.default_rng(8)
    before, after = np.repeat(answers(rng, 100), 6, axis=0), np.repeat(answers(rng, 100, 0.3), 6, axis=0)
    table = frame(before, site=np.repeat(np.arange(100), 6))
    plain = changed(table, frame(after))
    wide = changed(table, frame(after), dataclasses.replace(MAPPING, cluster="site"))

    def width(found: ChangeRecord) -> float:
        return (found.mean_error.difference.high or 0) - (found.mean_error.difference.low or 0)

    assert width(wide) > 2 * width(plain)
    few = changed(frame(before, site=np.arange(600) % 4), frame(after), dataclasses.replace(MAPPING, cluster="site"))
    assert few.mean_error.difference.low is None
    assert "4 clusters" in str(few.mean_error.difference.reason)


def test_a_census_has_no_intervals_and_no_tests() -> None:
    rng = np.random.default_rng(9)
    found = changed(frame(answers(rng, 300)), frame(answers(rng, 300, 0.4)), census=True)
    rates = [found.systemic_failure.rate, found.mean_error, *(model.error for model in found.models)]
    assert all(rate.difference.low is None and rate.p_value is None for rate in rates)
    assert all(one.share.low is None and one.p_value is None for one in found.undoing)
    assert found.undoing[0].verdict != "undefined"


def test_individuals_judged_otherwise_are_counted_and_models_compared_where_they_judged_twice() -> None:
    before = pl.DataFrame({"id": [1, 2, 3], "m0": [1, None, 0], "m1": [1, 1, 1], "m2": [1, 1, None]})
    after = pl.DataFrame({"id": [1, 2, 3], "m0": [1, 1, 0], "m1": [0, 1, None], "m2": [1, 0, 1]})
    found = changed(before, after, dataclasses.replace(MAPPING, models=("m0", "m1", "m2")))
    assert found.judged_otherwise == 2
    assert [model.judged for model in found.models] == [2, 2, 2]
    assert (found.individuals, found.judged_too_little) == (2, {1: 1})
    assert found.systemic_failure.expected_before is None
    assert "not the same models" in found.systemic_failure.expected_reason
    assert any("judged by other models" in note for note in found.notes)


def test_one_model_has_an_error_and_no_others() -> None:
    rng = np.random.default_rng(10)
    mapping = dataclasses.replace(MAPPING, models=("m0",))
    found = changed(frame(answers(rng, 200)), frame(answers(rng, 200, 0.4)), mapping)
    assert found.models[0].error.difference.value is not None
    assert found.undoing == ()
    assert found.by_others == ()


def test_a_perfect_version_leaves_nothing_to_compare_with() -> None:
    rng = np.random.default_rng(11)
    before = answers(rng, 300)
    after = before.copy()
    after[:, 0] = False
    model = changed(frame(before), frame(after)).models[0]
    assert model.failed_after == 0
    assert model.undoing[0].trend.value is None
    assert model.undoing[1].share.value is not None


def test_groups_hold_their_own_changes_and_small_ones_are_withheld() -> None:
    rng = np.random.default_rng(12)
    before, after = answers(rng, 400), answers(rng, 400, 0.3)
    sex = np.where(np.arange(400) < 390, np.where(np.arange(400) % 2, "f", "m"), "x")
    found = changed(frame(before, sex=sex), frame(after), dataclasses.replace(MAPPING, by=("sex",)))
    groups = {group.by["sex"]: group for group in found.groups}
    assert groups["x"].status == "too few"
    assert groups["x"].systemic_failure is None
    own = sex == "f"
    assert groups["f"].systemic_failure is not None
    assert groups["f"].systemic_failure.count_before == before[own].all(axis=1).sum()


def test_the_potential_of_waimai_in_2020_is_the_published_one() -> None:
    """expected.md: WAIMAI Amazon, 2,114 failures, shared with 0, 1, 2 others: .341 .293 .367."""
    import polyculture as pc

    opened = pc.read("hapi:waimai")
    models = opened.models
    table = opened.frame.collect().to_native().with_columns(**{f"{name}-later": pl.lit(0) for name in models})
    base = dataclasses.replace(opened.mapping, models=models)
    before = Outcomes(table, base)
    after = dataclasses.replace(
        before, mapping=dataclasses.replace(base, models=tuple(f"{name}-later" for name in models))
    )
    found = change(Step("2020", "later", Changes.of(before, after)), Settings())
    amazon = next(model for model in found.models if "amazon" in model.name)
    assert amazon.failed_before == 2114
    potential = [row.potential / 2114 for row in amazon.by_others if row.reading == "before"]
    assert [round(share, 3) for share in potential] == [0.341, 0.293, 0.367]
    assert found.systemic_failure.undone == 775


def test_a_repeat_stands_beside_the_new_version() -> None:
    rng = np.random.default_rng(13)
    hardness = rng.normal(0, 1.5, 3_000)
    tables = [frame(answers(rng, 3_000, gain, hardness)) for gain in (0.0, 0.0, 0.4)]
    counted = [Changes.of(Outcomes(tables[0], MAPPING), Outcomes(later, MAPPING)) for later in tables[1:]]
    found = change(Step("then", "now", counted[1], repeat=counted[0]), Settings())
    alone = change(Step("then", "again", counted[0]), Settings())
    for model, repeated in zip(found.models, alone.models, strict=True):
        assert model.churned == repeated.changed
        assert model.undoing[0].churn == repeated.undoing[0].share


def test_the_same_seed_gives_the_same_record() -> None:
    rng = np.random.default_rng(14)
    tables = [frame(answers(rng, 300)) for _ in range(2)]
    assert changed(*tables, seed=3) == changed(*tables, seed=3)
    assert changed(*tables, seed=3).undoing[0].adjusted != changed(*tables, seed=4).undoing[0].adjusted
