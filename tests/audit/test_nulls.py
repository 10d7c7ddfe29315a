"""Models of chance in the audit: which are asked, in what order, and what their records hold."""

from __future__ import annotations

import numpy as np
import pytest

import polyculture as pc
from polyculture.audit.nulls import chosen
from polyculture.errors import UsageError
from polyculture.stats.nulls.ladder import LADDER
from polyculture.tally import build, large


@pytest.fixture(scope="module")
def failed():
    rng = np.random.default_rng(20261201)
    z = rng.normal(size=(900, 1))
    return rng.random((900, 4)) < 1 / (1 + np.exp(0.8 - np.array([0.7, 1.0, 1.3, 1.6]) * z))


@pytest.fixture(scope="module")
def ladder(failed, audit):
    return audit(failed, groups={"sex": ["f", "m", None] * 300}, null_models=("all",))


def test_independence_stays_first_and_as_it_was(failed, audit, ladder):
    alone = audit(failed).nulls
    assert [null.name for null in alone] == ["independence"]
    first = ladder.nulls[0]
    for field in ("name", "parameters", "residual_df", "systemic_failure", "excess", "p_value", "method"):
        assert getattr(first, field) == getattr(alone[0], field), field
    assert first.homogenization == ladder.systemic_failure.ratio
    assert first.rejected
    assert first.smallest_detectable_excess > 0
    assert first.expected_profile[-1] == pytest.approx(first.systemic_failure)


def test_the_whole_ladder_in_its_order(ladder):
    assert tuple(null.name for null in ladder.nulls) == LADDER
    by_name = {null.name: null for null in ladder.nulls}
    assert sum(null.poorest_not_rejected for null in ladder.nulls) <= 1
    poorest = [null for null in ladder.nulls if null.poorest_not_rejected]
    kept = [null for null in ladder.nulls if null.rejected is False and null.systemic_failure is not None]
    assert poorest[0].parameters == min(null.parameters for null in kept)
    assert by_name["strata"].parameters == 12  # the missing group is a stratum too
    assert by_name["both-margins"].systemic_failure is None
    assert by_name["both-margins"].reason
    for name in ("rasch", "2pl", "factors-1", "classes-2"):
        null = by_name[name]
        assert null.sentence.endswith("does not account for it.")
        assert null.converged
        assert null.excess.value == pytest.approx(ladder.systemic_failure.observed.value - null.systemic_failure)


def test_p_values_do_not_change_with_what_else_is_asked(failed, audit, ladder):
    alone = audit(failed, groups={"sex": ["f", "m", None] * 300}, null_models=("2pl",)).nulls
    assert [null.name for null in alone] == ["independence", "2pl"]
    ours = next(null for null in ladder.nulls if null.name == "2pl")
    assert (alone[1].p_value, alone[1].excess) == (ours.p_value, ours.excess)


def test_names_are_checked_before_anything_is_computed(failed, make_tally):
    tally = make_tally(failed)
    assert chosen((), tally) == ()
    assert "strata" not in chosen(("all",), tally)
    assert chosen(("classes-3", "rasch", "classes-2", "rasch"), tally) == ("rasch", "classes-2", "classes-3")
    with pytest.raises(UsageError, match="no model of chance 'rash'"):
        chosen(("rash",), tally)
    with pytest.raises(UsageError, match="needs groups"):
        chosen(("strata",), tally)


def test_the_api_takes_one_name_or_several(failed):
    import polars as pl

    frame = pl.DataFrame({f"m{j}": failed[:, j].astype(int) for j in range(4)})
    for nulls in ("rasch", ["rasch"], ("independence", "rasch")):
        found = pc.audit(frame, outcomes="failed", nulls=nulls)
        assert [null.name for null in found.record.nulls] == ["independence", "rasch"]
    with pytest.raises(UsageError, match="no model of chance"):
        pc.audit(frame, outcomes="failed", nulls="chance")


def test_the_command_asks_for_them(shell, tmp_path, failed):
    path = tmp_path / "outcomes.csv"
    rows = "\n".join(",".join(str(int(x)) for x in row) for row in failed)
    path.write_text(f"a,b,c,d\n{rows}\n", encoding="utf-8")
    done = shell("audit", path, "--outcomes", "failed", "--nulls", "rasch, 2pl", "--tables", tmp_path / "t")
    assert done.status == 0, done.err
    assert "Rasch" in done.out
    assert "two-parameter (2PL)" in done.out
    assert "poorest model of chance" in " ".join(done.out.split())
    table = (tmp_path / "t" / "nulls.csv").read_text(encoding="utf-8")
    assert [line.split(",")[0] for line in table.splitlines()] == ["name", "independence", "rasch", "2pl"]
    wrong = shell("audit", path, "--outcomes", "failed", "--nulls", "rash")
    assert wrong.status == 2
    assert "rash" in wrong.err


def test_hard_cases_have_an_answer(audit):
    rng = np.random.default_rng(3)
    perfect = rng.random((200, 3)) < 0.4
    perfect[:, 0] = False
    found = audit(perfect, null_models=("all",))
    for null in found.nulls:
        assert null.systemic_failure in (None, 0.0) or null.systemic_failure < 1e-12
    assert not any(null.rejected for null in found.nulls if null.name != "both-margins")
    one = audit(rng.random((50, 1)) < 0.4, null_models=("all",))
    assert one.nulls == ()
    two = audit(rng.random((300, 2)) < 0.4, null_models=("all",))
    by_name = {null.name: null for null in two.nulls}
    # These two fail together less than by chance, which one difficulty for both cannot fit, and classes can.
    assert by_name["classes-2"].fits_by_construction
    assert by_name["rasch"].residual_df == 0
    assert "too narrow to fit them all" in by_name["rasch"].method
    assert by_name["both-margins"].p_value is None
    everyone = audit(rng.random((300, 3)) < 0.4, census=True, null_models=("all",))
    assert all(null.p_value is None for null in everyone.nulls)


def test_weights_and_clusters(audit, failed):
    weighted = audit(failed, weight=np.linspace(0.5, 1.5, 900), null_models=("all",))
    clustered = audit(failed, cluster=np.arange(900) // 5, null_models=("all",))
    for record in (weighted, clustered):
        by_name = {null.name: null for null in record.nulls}
        assert by_name["rasch"].method == "from the interval of the excess"
        assert by_name["permutation"].reason
        assert by_name["2pl"].excess.low < by_name["2pl"].excess.high
    plain = {null.name: null for null in audit(failed, null_models=("rasch",)).nulls}
    assert by_name["rasch"].systemic_failure == pytest.approx(plain["rasch"].systemic_failure, rel=1e-3)


def test_a_sample_of_patterns_and_exact_margins(monkeypatch, audit_of_tally, make_tally):
    """With patterns of a part, Rasch and strata rest on everyone, and the others say that they do not."""
    rng = np.random.default_rng(12)
    z = rng.normal(size=(6000, 1))
    matrix = rng.random((6000, 22)) < 1 / (1 + np.exp(-1.5 - 1.5 * z))
    groups = {"sex": ["f", "m"] * 3000}
    names = ("permutation", "strata", "rasch", "2pl", "both-margins")
    exact = audit_of_tally(make_tally(matrix, groups=groups), null_models=names)
    monkeypatch.setattr(build, "MANY", 100)
    monkeypatch.setattr(large, "SAMPLE", 1500)
    tally = make_tally(matrix, groups=groups)
    assert not tally.exact
    ours = {null.name: null for null in audit_of_tally(tally, null_models=names).nulls}
    for null in exact.nulls:
        found = ours[null.name]
        if null.name in ("independence", "permutation", "rasch"):
            assert found.systemic_failure == pytest.approx(null.systemic_failure, rel=1e-4), null.name
        elif null.systemic_failure is not None:
            assert found.systemic_failure == pytest.approx(null.systemic_failure, rel=0.15), null.name
    assert ours["strata"].systemic_failure == pytest.approx(
        next(null for null in exact.nulls if null.name == "strata").systemic_failure, rel=0.01
    )
    assert "sample" in ours["2pl"].excess.method
    wide, narrow = ours["2pl"].excess, next(null for null in exact.nulls if null.name == "2pl").excess
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)


def test_missing_degrees_of_freedom_have_a_reason(failed, audit, ladder):
    judged = np.ones_like(failed)
    judged[:50, 0] = False
    for null in audit(failed & judged, judged, null_models=("rasch",)).nulls:
        assert null.residual_df is None
        assert "not every model judged" in null.residual_df_reason
    for null in ladder.nulls:
        assert (null.residual_df is None) == bool(null.residual_df_reason), null.name
    assert "margins" in ladder.nulls[-1].residual_df_reason
