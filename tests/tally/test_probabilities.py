"""Probabilities of options: moments by hand, in every engine, added up and saved; CAPA of them in the audit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import TallyError
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally

MODELS = ("m0", "m1", "m2")
OPTIONS = "ABCDE"
GIVEN: dict[str, Any] = {"id": "id", "label": "truth", "probabilities": "{model}:{option}"}


def table(rows: int = 300, seed: int = 5, *, sharp: float = 1.5, missing: float = 0.1) -> pl.DataFrame:
    """Return items of two to five options, on which models are alike; some models give nothing for some items."""
    rng = np.random.default_rng(seed)
    offered = rng.integers(2, 6, rows)
    truth = rng.integers(0, offered)
    hard = rng.normal(size=(rows, 1))
    columns: dict[str, Any] = {"id": range(rows), "truth": [OPTIONS[place] for place in truth]}
    for name in MODELS:
        score = rng.normal(size=(rows, 5)) + hard * np.linspace(-1, 1, 5)
        score[np.arange(rows), truth] += 1.0
        given = np.where(np.arange(5) < offered[:, None], np.exp(sharp * score), np.nan)
        given /= np.nansum(given, axis=1, keepdims=True)
        given[rng.random(rows) < missing] = np.nan
        columns |= {f"{name}:{option}": given[:, place] for place, option in enumerate(OPTIONS)}
    frame = pl.DataFrame({**columns, "weight": rng.integers(1, 9, rows) / 4})
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))


def by_hand(frame: pl.DataFrame, one: str, other: str, *, weighted: bool = False) -> np.ndarray:
    """Return the (n, 6) quantities of a pair: 1, same, both right probabilities, chance, weight."""
    rows = []
    for row in frame.rows(named=True):
        first, second = ({o: row[f"{m}:{o}"] for o in OPTIONS if row[f"{m}:{o}"] is not None} for m in (one, other))
        if first and second and row["truth"] is not None:
            same = sum(first[o] * second[o] for o in first)
            weight = row["weight"] if weighted else 1.0
            rows.append([1, same, first[row["truth"]], second[row["truth"]], 1 / (len(first) - 1), weight])
    return np.array(rows)


def capa(quantities: np.ndarray) -> tuple[float, float, float]:
    """Return CAPA, observed and expected agreement as the paper defines them, with weights."""
    observed, a, b, chance = np.average(quantities[:, 1:5], axis=0, weights=quantities[:, 5])
    expected = a * b + (1 - a) * (1 - b) * chance
    return float((observed - expected) / (1 - expected)), float(observed), float(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_by_hand(weighted: bool) -> None:
    frame = table().with_columns(truth=pl.when(pl.col("id") != 7).then("truth"))
    found = Tally.of(Outcomes(frame, Mapping(**GIVEN, weight="weight" if weighted else None))).probabilities
    assert found is not None
    for i, one in enumerate(MODELS):
        for j, other in enumerate(MODELS):
            q = by_hand(frame, one, other, weighted=weighted)
            wanted = np.zeros((5, 5)) if i == j else q[:, :5].T @ (q[:, :5] * q[:, 5:])
            np.testing.assert_allclose(found.pairs[i, j], wanted, rtol=1e-10)
    answered = frame.filter(pl.all_horizontal(pl.col(f"{name}:A").is_not_null() for name in MODELS))
    pairs = [by_hand(answered, one, other, weighted=weighted) for one, other in (MODELS[:2], MODELS[::2], MODELS[1:])]
    every = np.column_stack(
        [pairs[0][:, 0], sum(pair[:, 1] for pair in pairs), pairs[0][:, 2], pairs[0][:, 3], pairs[1][:, 3:5]]
    )
    np.testing.assert_allclose(found.together, every.T @ (every * pairs[0][:, 5:]), rtol=1e-10)


def test_a_count_column_counts_rows_as_often() -> None:
    frame = table(60).with_columns(times=pl.col("id") % 3)
    counted = Tally.of(Outcomes(frame, Mapping(label="truth", probabilities="{model}:{option}", count="times")))
    repeated = frame.select(pl.exclude("times").repeat_by("times").explode())
    spelt = Tally.of(Outcomes(repeated, Mapping(label="truth", probabilities="{model}:{option}")))
    assert counted.probabilities is not None
    assert spelt.probabilities is not None
    assert counted.probabilities.same(spelt.probabilities)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("more", [{}, {"weight": "weight"}])
def test_every_engine_says_the_same(as_engine: Callable[[pl.DataFrame], Any], more: dict[str, str]) -> None:
    frame, mapping = table(), Mapping(**GIVEN, **more)
    assert Tally.of(Outcomes(as_engine(frame), mapping)) == Tally.of(Outcomes(frame.lazy(), mapping))


def test_halves_add_up_and_a_file_holds_it_all(tmp_path: Path) -> None:
    frame = table()
    whole = Tally.of(Outcomes(frame, Mapping(models=MODELS, **GIVEN)))
    halves = [
        Tally.of(Outcomes(frame[:130], Mapping(models=MODELS, **GIVEN))),
        Tally.of(Outcomes(frame[130:], Mapping(models=MODELS[::-1], **GIVEN))),
    ]
    assert halves[0] + halves[1] == whole
    assert halves[0] != whole
    whole.save(tmp_path / "whole.tally")
    loaded = Tally.load(tmp_path / "whole.tally")
    assert loaded == whole
    assert pc.audit(loaded).record.pairs == pc.audit(whole).record.pairs
    answers = frame.with_columns(**{name: pl.col("truth") for name in MODELS})
    with pytest.raises(TallyError, match="probabilities and the other has none"):
        halves[0] + Tally.of(Outcomes(answers, Mapping(id="id", label="truth", models=MODELS)))


def test_the_audit_gives_capa_of_pairs_and_of_all() -> None:
    frame = table()
    record = pc.audit(frame, **GIVEN).record
    agreements = []
    for pair in record.pairs:
        q = by_hand(frame, *pair.models)
        value, *agreement = capa(q)
        agreements.append(agreement)
        assert pair.capa.value == pytest.approx(value)
        assert pair.capa_method == "probabilities"
        left_out = [capa(np.delete(q, i, axis=0))[0] for i in range(len(q))]
        error = np.sqrt((len(q) - 1) ** 2 / len(q) * np.var(left_out))
        low, high = (np.arctanh(end) for end in (pair.capa.low, pair.capa.high))
        assert (high - low) / 2 / 1.96 * (1 - value**2) == pytest.approx(error, rel=0.03)
    observed, expected = np.mean(agreements, axis=0)
    assert record.collection is not None
    assert record.collection.capa.value == pytest.approx((observed - expected) / (1 - expected))
    assert record.collection.capa_method == "probabilities"


def test_the_interval_of_all_is_that_of_leaving_out_individuals() -> None:
    frame = table(150, missing=0.0)
    record = pc.audit(frame, **GIVEN).record
    pairs = np.array([by_hand(frame, *pair.models) for pair in record.pairs])

    def of_all(kept: np.ndarray) -> float:
        observed, expected = np.mean([capa(pair[kept])[1:] for pair in pairs], axis=0)
        return float((observed - expected) / (1 - expected))

    everyone = np.arange(150)
    error = np.sqrt(149**2 / 150 * np.var([of_all(np.delete(everyone, i)) for i in everyone]))
    assert record.collection is not None
    found = record.collection.capa
    lowest = float(str(found.method).split("from ")[1].split()[0])
    ends = [np.log((end - lowest) / (1 - end)) for end in (found.low, found.high)]
    slope = (1 - lowest) / ((1 - found.value) * (found.value - lowest))
    assert (ends[1] - ends[0]) / 2 / 1.976 / slope == pytest.approx(error, rel=0.05)


def test_table_5_of_the_paper(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("item,truth,one:x,one:y,two:x,two:y\n1,x,.9,.1,.7,.3\n2,y,.8,.2,.6,.4\n")
    record = pc.audit(path, id="item", label="truth", probabilities="{model}:{option}").record
    (pair,) = record.pairs
    assert pair.capa.value == pytest.approx(0.212121, abs=1e-6)
    assert pair.kappa.value == 1.0
    assert (pair.both_judged, pair.both_failed) == (2, 1)
    assert "fewer than 30" in str(pair.capa.reason)
    assert record.collection is not None
    assert record.collection.capa.value == pytest.approx(0.212121, abs=1e-6)


def test_certain_probabilities_are_answers() -> None:
    frame = table(missing=0.0)
    answers = pc.read(frame, **GIVEN).frame.collect().to_polars().select("id", "truth", *MODELS)
    offered = frame.select(offered=pl.sum_horizontal(pl.col(f"m0:{o}").is_not_null() for o in OPTIONS))
    plain = pl.concat([answers, offered], how="horizontal")
    certain = plain.with_columns(
        pl.when(pl.lit(place) < pl.col("offered"))
        .then((pl.col(name) == option).cast(pl.Float64))
        .alias(f"{name}/{option}")
        for name in MODELS
        for place, option in enumerate(OPTIONS)
    ).drop(MODELS)
    soft = pc.audit(certain.drop("offered"), id="id", label="truth", probabilities="{model}/{option}").record
    hard = pc.audit(plain, id="id", label="truth", models=MODELS, options="offered").record
    for one, other in zip(soft.pairs, hard.pairs, strict=True):
        assert one.capa.value == pytest.approx(other.capa.value)
        assert (one.kappa, one.baseline) == (other.kappa, other.baseline)
        assert one.agree_when_both_wrong == other.agree_when_both_wrong
    assert soft.systemic_failure == hard.systemic_failure


def test_weights_as_counts_change_only_the_interval() -> None:
    frame = table()
    scaled = [pc.audit(frame.with_columns(weight=pl.col("weight") * c), **GIVEN, weight="weight") for c in (1, 1e-6)]
    one, other = (audit.record for audit in scaled)
    assert one.collection is not None
    assert other.collection is not None
    for mine, theirs in ((one.pairs[0].capa, other.pairs[0].capa), (one.collection.capa, other.collection.capa)):
        assert mine.value == pytest.approx(theirs.value)
        assert (mine.low, mine.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
    value = capa(by_hand(frame, "m0", "m1", weighted=True))[0]
    assert one.pairs[0].capa.value == pytest.approx(value)


def test_a_model_that_is_always_certain_and_right_is_undefined() -> None:
    frame = table(missing=0.0).with_columns(
        pl.when(pl.col(f"m0:{o}").is_not_null()).then((pl.col("truth") == o).cast(pl.Float64)).alias(f"m0:{o}")
        for o in OPTIONS
    )
    pair = pc.audit(frame, **GIVEN).record.pairs[0]
    assert pair.capa.value is None
    assert "all probability" in str(pair.capa.reason)


def test_pairs_without_common_probabilities_are_undefined() -> None:
    frame = table().with_columns(
        pl.when(pl.col("id") % 2 == place).then(f"m{place}:{o}").alias(f"m{place}:{o}")
        for place in (0, 1)
        for o in OPTIONS
    )
    frame = frame.with_columns(m0=pl.col("truth"), m1=pl.lit("A"))
    record = pc.audit(frame, **GIVEN).record
    assert record.pairs[0].both_judged == 300
    assert record.pairs[0].capa.value is None
    assert "both with probabilities" in str(record.pairs[0].capa.reason)
    assert record.collection is not None
    assert record.collection.capa.value is not None
    assert "answered by all models" in str(record.collection.capa.reason)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    truth = pc.audit(table(60_000, seed=1, missing=0.0), **GIVEN).record
    assert truth.collection is not None
    held = np.zeros(2)
    for seed in range(100):
        found = pc.audit(table(100, seed=100 + seed, missing=0.0), **GIVEN).record
        assert found.collection is not None
        both = ((found.pairs[0].capa, truth.pairs[0].capa), (found.collection.capa, truth.collection.capa))
        held += [float(one.low) <= float(true.value) <= float(one.high) for one, true in both]  # type: ignore[arg-type]
    assert (held >= 88).all(), held
