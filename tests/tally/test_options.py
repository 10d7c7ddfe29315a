"""How many answers each item offers: counted by hand, on every engine and layout, added up and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import ColumnError, TallyError, UsageError, ValueInDataError
from polyculture.outcomes import Mapping, Outcomes
from polyculture.tally import Tally

MODELS = ("p0", "p1", "p2")
GIVEN: dict[str, Any] = {"id": "id", "label": "truth", "no_answer_values": ("error",), "options": "offered"}
WIDE = Mapping(models=MODELS, **GIVEN)


def table(rows: int = 400, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    offered = rng.integers(2, 6, rows)
    truth = rng.integers(0, offered)
    said = {}
    for name in MODELS:
        answer = np.where(rng.random(rows) < 0.5, truth, rng.integers(0, offered)).astype(str).astype(object)
        answer[rng.random(rows) < 0.1] = "error"
        answer[rng.random(rows) < 0.1] = None
        said[name] = answer.tolist()
    columns = {"id": range(rows), "truth": truth.astype(str).tolist(), **said, "offered": offered}
    return pl.DataFrame({**columns, "weight": rng.integers(1, 9, rows) / 4})


def by_hand(frame: pl.DataFrame, one: str, other: str, *, weighted: bool = False) -> tuple[float, float]:
    """Return the mean of 1 / (options - 1) over whom both answered, and over those on whom both are wrong."""
    sums = np.zeros(4)
    for row in frame.rows(named=True):
        if row[one] in {None, "error"} or row[other] in {None, "error"}:
            continue
        weight = row["weight"] if weighted else 1.0
        both_wrong = row[one] != row["truth"] and row[other] != row["truth"]
        sums += np.array([1 / (row["offered"] - 1), 1, both_wrong / (row["offered"] - 1), both_wrong]) * weight
    return sums[0] / sums[1], sums[2] / sums[3]


@pytest.mark.parametrize("weighted", [False, True])
def test_chances_are_those_by_hand(weighted: bool) -> None:
    frame = table()
    mapping = Mapping(models=MODELS, weight="weight" if weighted else None, **GIVEN)
    found = Tally.of(Outcomes(frame, mapping)).answers
    assert found is not None
    assert found.options is None
    answered, wrong = found.chance_of_pairs()
    for i, one in enumerate(MODELS):
        for j, other in enumerate(MODELS):
            assert (answered[i, j], wrong[i, j]) == pytest.approx(by_hand(frame, one, other, weighted=weighted))
    assert 1 / 4 < found.chance < 1


def test_a_long_table_says_the_same() -> None:
    frame = table()
    long = frame.unpivot(list(MODELS), index=["id", "truth", "offered"], variable_name="model", value_name="value")
    mapping = Mapping(long=True, model="model", value="value", **GIVEN)
    found, wide = Tally.of(Outcomes(long, mapping)).answers, Tally.of(Outcomes(frame, WIDE)).answers
    assert found is not None
    assert wide is not None
    assert found.same(wide)


def test_duckdb_says_the_same() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    assert Tally.of(Outcomes(connection.from_arrow(table().to_arrow()), WIDE)) == Tally.of(Outcomes(table(), WIDE))


def test_halves_add_up_and_a_file_holds_it_all(tmp_path: Path) -> None:
    frame = table()
    whole = Tally.of(Outcomes(frame, WIDE))
    halves = [
        Tally.of(Outcomes(frame[:150], WIDE)),
        Tally.of(Outcomes(frame[150:], Mapping(models=MODELS[::-1], **GIVEN))),
    ]
    assert halves[0] + halves[1] == whole
    whole.save(tmp_path / "whole.tally")
    assert Tally.load(tmp_path / "whole.tally") == whole
    other = Tally.of(Outcomes(frame[150:], Mapping(models=MODELS, **{**GIVEN, "options": 9})))
    with pytest.raises(TallyError, match="different numbers of options"):
        halves[0] + other


def test_the_audit_takes_capa_and_baseline_from_each_item() -> None:
    frame = table()
    pair = pc.audit(frame, **{**GIVEN, "models": MODELS, "no_answer": "missing"}).record.pairs[0]
    answered, wrong = by_hand(frame, "p0", "p1")
    assert pair.baseline == pytest.approx(wrong)
    assert pair.capa_method == "answers, the options of each item (offered)"
    both = frame.filter(pl.all_horizontal(pl.col("p0", "p1").is_not_null() & (pl.col("p0", "p1") != "error")))
    right = [(both[name] == both["truth"]).mean() for name in ("p0", "p1")]
    expected = right[0] * right[1] + (1 - right[0]) * (1 - right[1]) * answered
    observed = (both["p0"] == both["p1"]).mean()
    assert pair.capa.value == pytest.approx((observed - expected) / (1 - expected))


def test_one_number_for_all_may_be_more_than_were_ever_given() -> None:
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({name: rng.choice(["a", "b"], 200).tolist() for name in ("truth", "one", "two")})
    two, four = (pc.audit(frame, label="truth", options=options).record.pairs[0] for options in (None, "4"))
    assert (two.baseline, four.baseline) == (1.0, pytest.approx(1 / 3))
    assert two.capa.value == two.kappa.value
    # Two wrong answers are the same here although four could be given: more alike than chance has it.
    assert (four.capa.value or 0) > (four.kappa.value or 0)
    assert four.agree_when_both_wrong.value == 1.0


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        (1, UsageError, "options=1 is too small"),
        (True, UsageError, "options=True is not a text"),
        ("offer", ColumnError, "no column 'offer'.*for options"),
        ("p0", ColumnError, "options column 'p0' holds text"),
        ("weight", ValueInDataError, "below 2 or not whole"),
        (3, ValueInDataError, "5 different labels and answers.*more than the 3 options"),
    ],
)
def test_wrong_options_are_refused(options: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        Tally.of(Outcomes(table(), Mapping(models=MODELS, **{**GIVEN, "options": options})))
    assert caught.value.hint  # type: ignore[attr-defined]


def test_options_without_answers_are_refused() -> None:
    with pytest.raises(UsageError, match="compared with a label"):
        Mapping(outcomes="failed", options=4)
