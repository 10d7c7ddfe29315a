"""Suspect keys: planted wrong labels are found, honest ones are not, and the file is whole or as it was."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.cli import main
from polyculture.errors import UsageError
from polyculture.stats.multiplicity import benjamini_hochberg
from polyculture.stats.similarity.shared import adjusted_by_count, shared_answer_p

OPTIONS = 5


def answers(n=600, k=8, wrong_keys=12, seed=0):
    """Return models that are right on 75 to 90 % of items, with the label of some items moved to another option."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(OPTIONS, size=n)
    right = rng.random((n, k)) < np.linspace(0.75, 0.9, k)
    given = np.where(right, truth[:, None], (truth[:, None] + rng.integers(1, OPTIONS, size=(n, k))) % OPTIONS)
    label = truth.copy()
    label[:wrong_keys] = (truth[:wrong_keys] + 1) % OPTIONS
    frame = {f"m{j}": [f"option {x}" for x in given[:, j]] for j in range(k)}
    return pl.DataFrame({"item": [f"item {i}" for i in range(n)], "key": [f"option {x}" for x in label], **frame})


def test_planted_wrong_labels_are_found_and_few_others():
    found = pc.audit(answers(), id="item", label="key", suspect_keys=True).record.suspect_keys
    planted = {f"item {i}" for i in range(12)}
    flagged = {item.id for item in found.items}
    assert len(planted & flagged) >= 11
    assert len(flagged - planted) <= 1
    first = found.items[0]
    assert first.same >= found.items[-1].same
    assert first.answer != first.label
    assert first.p_adjusted <= found.level


def test_systemic_failure_with_and_without():
    frame = answers()
    found = pc.audit(frame, id="item", label="key", suspect_keys=True).record.suspect_keys
    rest = frame.filter(~pl.col("item").is_in([item.id for item in found.items]))
    again = pc.audit(rest, id="item", label="key")
    assert found.failed_by_all_without == again.systemic_failure.count
    assert found.systemic_failure_without.value == pytest.approx(again.systemic_failure.observed.value)
    assert found.systemic_failure.value == pytest.approx(
        pc.audit(frame, id="item", label="key").systemic_failure.observed.value
    )


def test_the_number_tested_is_that_over_which_is_corrected():
    """All items, also those judged by too few models for the headline."""
    lone = pl.col("item").is_in(["item 20", "item 21"])
    frame = answers().with_columns(
        **{f"m{j}": pl.when(lone).then(None).otherwise(pl.col(f"m{j}")) for j in range(1, 8)}
    )
    record = pc.audit(frame, id="item", label="key", suspect_keys=True, no_answer="missing").record
    assert record.suspect_keys.tested == 600
    assert record.individuals == 598


def test_honest_labels_are_seldom_flagged():
    looked = [pc.audit(answers(wrong_keys=0, seed=s), id="item", label="key", suspect_keys=True) for s in range(20)]
    assert sum(audit.record.suspect_keys.count > 0 for audit in looked) <= 2


@pytest.mark.parametrize("engine", ["long", "duckdb"])
def test_every_layout_finds_the_same(engine):
    frame = answers()
    whole = pc.audit(frame, id="item", label="key", suspect_keys=True).record.suspect_keys
    options = {"id": "item", "label": "key", "suspect_keys": True}
    if engine == "long":
        frame = frame.unpivot(index=["item", "key"], variable_name="model", value_name="answer")
        options |= {"long": True, "model": "model", "value": "answer"}
    else:
        duckdb = pytest.importorskip("duckdb")
        frame = duckdb.connect().from_arrow(frame.to_arrow())
        options |= {"models": "m*"}
    assert pc.audit(frame, **options).record.suspect_keys == whole


def test_no_answer_shares_nothing_and_is_judged_as_the_mapping_says():
    frame = answers(wrong_keys=0).with_columns(m0=pl.lit("error"), m1=pl.lit("error"))
    options = {"id": "item", "label": "key", "no_answer_values": ["error"], "suspect_keys": True}
    for policy in ("failed", "missing"):
        found = pc.audit(frame, no_answer=policy, **options).record.suspect_keys
        assert all(item.answer != "error" for item in found.items)


def test_the_file_is_written_whole_and_the_screen_tells(tmp_path, capsys):
    source, target = tmp_path / "answers.csv", tmp_path / "keys.csv"
    answers().write_csv(source)
    command = ["audit", str(source), "--id", "item", "--label", "key", "--suspect-keys", str(target)]
    page = tmp_path / "report.html"
    assert main([*command, "--html", str(page)]) == 0
    listed = pl.read_csv(target)
    assert listed.columns == ["id", "label", "answer", "judged", "same", "expected", "p_value", "p_adjusted"]
    assert len(listed) >= 11
    assert "models share one answer that is not the label" in " ".join(capsys.readouterr().out.split())
    assert 'id="suspect-keys"' in page.read_text()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_none_found_still_has_columns(tmp_path):
    audit = pc.audit(answers(n=40, k=3, wrong_keys=0), id="item", label="key", suspect_keys=True)
    assert audit.record.suspect_keys.count == 0
    audit.list_suspect_keys(tmp_path / "keys.csv")
    assert pl.read_csv(tmp_path / "keys.csv").columns[0] == "id"


def test_calls_that_cannot_be_answered_say_what_to_do(tmp_path):
    flags = pl.DataFrame({"item": [1, 2], "a": [0, 1], "b": [1, 1]})
    with pytest.raises(UsageError, match="need the models' answers"):
        pc.audit(flags, id="item", outcomes="failed", suspect_keys=True)
    with pytest.raises(UsageError, match="names each item"):
        pc.audit(answers().drop("item"), label="key", suspect_keys=True)
    with pytest.raises(UsageError, match="holds no rows"):
        pc.audit(pc.audit(answers(), id="item", label="key").tally, suspect_keys=True)
    with pytest.raises(UsageError, match="did not look"):
        pc.audit(answers(), id="item", label="key").list_suspect_keys(tmp_path / "keys.csv")


def test_correction_by_count_is_that_over_all_items():
    p = np.array([1.0, 1.0, 0.2, 0.01, 0.0001])
    items = np.array([50, 30, 10, 4, 1])
    single = benjamini_hochberg(np.repeat(p, items))
    found = adjusted_by_count(p, items)
    for number in range(5):
        assert found[number] == pytest.approx(single[items[:number].sum()])


def test_the_bound_holds_where_wrong_answers_are_not_equally_popular():
    rng = np.random.default_rng(5)
    rates, popular = np.array([0.1, 0.2, 0.2, 0.3, 0.4]), np.array([0.5, 0.3, 0.2])
    p = shared_answer_p(rates, float((popular**2).sum()))
    draws = 200_000
    wrong = rng.random((draws, 5)) < rates
    which = rng.choice(3, size=(draws, 5), p=popular)
    most = np.max([(wrong & (which == x)).sum(axis=1) for x in range(3)], axis=0)
    for number in range(2, 6):
        assert (most >= number).mean() <= p[number] * 1.02
