"""A panel: majority against independent members, each member left out, and judges without gold labels."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.cli import main
from polyculture.errors import ColumnError, UsageError


def failures(n=400, k=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, k)) < np.linspace(0.1, 0.4, k) + 0.4 * (rng.random((n, 1)) < 0.3)


def table(failed):
    return pl.DataFrame(np.asarray(failed).astype(int), schema=[f"m{j}" for j in range(np.shape(failed)[1])])


def reached(rates):
    """Return the chance of a right majority of independent members, and of a tie, by all patterns."""
    right = tie = 0.0
    for pattern in product([0, 1], repeat=len(rates)):
        chance = float(np.prod([f if x else 1 - f for x, f in zip(pattern, rates, strict=True)]))
        right += chance * (1.0 if 2 * sum(pattern) < len(rates) else 0.5 if 2 * sum(pattern) == len(rates) else 0)
        tie += chance * (2 * sum(pattern) == len(rates))
    return right, tie


@pytest.mark.parametrize("k", [4, 5])
def test_majority_and_independence_by_all_patterns(k):
    failed = failures(k=k)
    found = pc.panel(table(failed), outcomes="failed").record
    t = failed.sum(axis=1)
    won = (2 * t < k) + 0.5 * (2 * t == k)
    right, tie = reached(failed.mean(axis=0))
    assert found.majority.value == pytest.approx(won.mean())
    assert found.ties == pytest.approx((2 * t == k).mean())
    assert (found.independent, found.ties_independent) == pytest.approx((right, tie))
    assert found.difference.value == pytest.approx(won.mean() - right)
    assert found.best == "m0"


def test_the_majority_without_each_member_is_counted_anew():
    rng = np.random.default_rng(4)
    failed, judged = failures(n=300, k=4), rng.random((300, 4)) < 0.5
    judged[0] = [True, False, False, False]  # whom only the first judged, nobody judges without it
    values = np.where(judged, failed.astype(float), np.nan)
    frame = pl.DataFrame(values, schema=[f"m{j}" for j in range(4)]).fill_nan(None)
    found = pc.panel(frame, outcomes="failed").record
    for member in range(4):
        o, f = np.delete(judged, member, axis=1), np.delete(failed & judged, member, axis=1)
        m, t = o.sum(axis=1), f.sum(axis=1)
        won = (2 * t < m) + 0.5 * (2 * t == m)
        assert found.members[member].majority_without == pytest.approx(won[m > 0].mean())


def test_unequal_sets_are_held_against_their_own_members():
    rng = np.random.default_rng(1)
    failed, judged = failures(k=4), rng.random((400, 4)) < 0.7
    values = np.where(judged, failed.astype(float), np.nan)
    frame = pl.DataFrame(values, schema=[f"m{j}" for j in range(4)]).fill_nan(None)
    found = pc.panel(frame, outcomes="failed").record
    rates = (failed & judged).sum(axis=0) / judged.sum(axis=0)
    asked = judged[judged.any(axis=1)]
    assert found.independent == pytest.approx(np.mean([reached(rates[row])[0] for row in asked]))


def test_leaving_a_member_out_is_the_panel_of_the_others():
    failed = failures()
    whole = pc.panel(table(failed), outcomes="failed").record
    for place, member in enumerate(whole.members):
        names = [f"m{j}" for j in range(5) if j != place]
        rest = pc.panel(table(failed), outcomes="failed", models=names).record
        assert member.n_eff_without == pytest.approx(rest.n_eff.value)
        assert member.majority_without == pytest.approx(rest.majority.value)


def test_the_interval_of_the_difference_is_that_of_leaving_one_out():
    failed = failures(n=150, k=4)
    found = pc.panel(table(failed), outcomes="failed").record.difference
    left = []
    for i in range(150):
        rest = np.delete(failed, i, axis=0)
        t = rest.sum(axis=1)
        left.append(((2 * t < 4) + 0.5 * (2 * t == 4)).mean() - reached(rest.mean(axis=0))[0])
    error = np.sqrt(149 / 150 * np.square(np.array(left) - np.mean(left)).sum())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.02)


def test_independent_members_reach_what_independence_says():
    rng = np.random.default_rng(3)
    found = pc.panel(table(rng.random((20_000, 7)) < 0.3), outcomes="failed").record
    assert found.difference.low < 0 < found.difference.high
    assert found.n_eff.low < 7 < found.n_eff.high


def test_the_answer_is_one_sentence():
    found = pc.panel(table(np.repeat(failures(k=1), 9, axis=1)), outcomes="failed")
    assert found.sentence == repr(found)
    assert found.sentence.startswith("These 9 votes are worth about 1.0 independent ones")


def test_an_audit_holds_the_panel_and_a_tally_gives_it():
    audit = pc.audit(table(failures()), outcomes="failed")
    assert audit.panel == pc.panel(table(failures()), outcomes="failed").record == pc.panel(audit.tally).record


def test_two_members_are_no_panel():
    with pytest.raises(UsageError, match="3 to 200 members"):
        pc.panel(table(failures(k=2)), outcomes="failed")


def test_without_gold_labels_there_is_alpha(tmp_path, capsys):
    frame = pl.DataFrame({"item": list("abcd"), "x": [1, 2, 2, 1], "y": [1, 2, 1, 1], "z": [1, 2, 2, None]})
    found = pc.panel(frame, id="item", level="ordinal")
    assert (found.record.items, found.record.rated_twice, found.record.values) == (4, 4, ("1", "2"))
    long = frame.unpivot(index="item", variable_name="judge", value_name="rating")
    again = pc.panel(long, id="item", long=True, model="judge", value="rating", level="ordinal", outcomes="rated")
    assert again.record.alpha == found.record.alpha
    frame.write_csv(tmp_path / "judges.csv")
    out = tmp_path / "panel.json"
    assert main(["panel", str(tmp_path / "judges.csv"), "--id", "item", "--level", "ordinal", "--json", str(out)]) == 0
    assert json.loads(out.read_text())["alpha"]["value"] == found.record.alpha.value
    assert "Krippendorff's alpha of these 3 judges" in " ".join(capsys.readouterr().out.split())


def test_counted_items_and_values_that_are_no_rating():
    frame = pl.DataFrame({"x": ["a", "b", "skip"], "y": ["a", "a", "b"], "z": ["a", "b", "b"], "n": [3, 2, 1]})
    options = {"models": ["x", "y", "z"], "no_answer_values": ["skip"]}
    counted = pc.panel(frame, count="n", **options).record
    repeated = pc.panel(frame.select(pl.all().repeat_by("n").explode()), **options).record
    assert counted.alpha.value == pytest.approx(repeated.alpha.value)
    assert counted.values == ("a", "b")
    assert counted.items == 6


def test_text_cannot_be_ranked():
    with pytest.raises(ColumnError, match="must be numbers"):
        pc.panel(pl.DataFrame({"x": ["a", "b"], "y": ["a", "a"], "z": ["b", "b"]}), level="ordinal")


def test_ratings_are_no_failures():
    with pytest.raises(UsageError, match="no failures"):
        pc.audit(pl.DataFrame({"x": [1, 2], "y": [2, 2]}), outcomes="rated")


def test_the_shell_prints_the_answer(capsys):
    assert main(["panel", "hapi:waimai"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("These 3 votes are worth about 1.5 independent ones (1.5 to 1.6). Most members do not fail")
    assert "Ties count as half" in text
