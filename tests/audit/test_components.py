"""Components in an audit: what is shared is found, families are what they are by themselves, and reasons are given."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import UNSET
from scipy.special import ndtri

from polyculture.audit.component_pairs import ONE_MODEL
from polyculture.audit.component_table import ComponentTable
from polyculture.errors import InputError

VENDOR = np.repeat(np.arange(6), 3)


def ecosystem(seed=0, n=3000, shared=0.3, vendor=VENDOR):
    """Failures of models that share a factor with their vendor's other models."""
    rng = np.random.default_rng(seed)
    k = len(vendor)
    noise = rng.normal(size=(n, 1)) * 0.5 + rng.normal(size=(n, 6))[:, vendor] * np.sqrt(shared)
    noise += rng.normal(size=(n, k)) * np.sqrt(0.75 - shared)
    return noise < ndtri(rng.uniform(0.15, 0.4, k))


def names(k=18):
    return [f"m{j}" for j in range(k)]


def rows(**columns):
    """A table of components, a column a keyword."""
    k = len(next(iter(columns.values())))
    return {f"m{j}": {name: values[j] for name, values in columns.items()} for j in range(k)}


def vendors(vendor=VENDOR):
    return [f"v{code}" for code in vendor]


@pytest.fixture
def components(make_tally, audit_of_tally):
    def ask(failed, table, judged=None, *, options=None, **more):
        tally = make_tally(failed, judged, models=names(failed.shape[1]), **(options or {}))
        return audit_of_tally(tally, component_table=ComponentTable("the table", table), **more).components

    return ask


def test_what_models_share_is_found_and_what_they_do_not_is_not(components):
    rng = np.random.default_rng(1)
    cut = [f"c{code}" for code in rng.integers(5, size=18)]
    size = rng.uniform(1, 100, 18).tolist()
    found = components(ecosystem(), rows(vendor=vendors(), cut=cut, size=size))
    vendor, other, number = found.components
    assert (vendor.kind, other.kind, number.kind) == ("category", "category", "number")
    assert (vendor.models, vendor.levels, vendor.pairs_within, vendor.pairs_between) == (18, 6, 18, 135)
    assert vendor.within.value > vendor.between.value + 0.1
    assert vendor.difference.value == pytest.approx(vendor.within.value - vendor.between.value)
    assert vendor.difference.low > 0
    assert vendor.p_adjusted <= 0.01
    assert min(other.p_adjusted, number.p_adjusted) > 0.05
    assert number.within.reason.startswith("a number is close or far")
    terms = {term.name: term for term in found.regression.terms}
    assert (terms["vendor"].p_adjusted, terms["vendor"].coefficient.low > 0.05) == (pytest.approx(0.003), True)
    assert terms["vendor"].sandwich.reason.startswith("too narrow below 100 models")
    assert terms["vendor"].sandwich.value == terms["vendor"].coefficient.value
    assert found.sentence.startswith("Pairs of models that share vendor (kappa +0.")
    assert found.sentence.endswith("Not found to go with it: cut and size.")
    shares = {share.name: share.share for share in found.shares.shares}
    assert shares["vendor"].low > 0
    assert shares["size"].reason == "a number has no state of sharing nothing; it is held constant"
    assert shares["vendor"].value + shares["cut"].value + found.shares.rest.value == pytest.approx(1)
    assert found.shares.excess.value == pytest.approx((vendor.within.value * 18 + vendor.between.value * 135) / 153)


def test_means_of_pairs_are_those_of_the_audit(make_tally, audit_of_tally):
    table = ComponentTable("the table", rows(vendor=vendors()))
    found = audit_of_tally(make_tally(ecosystem(), models=names()), component_table=table)
    code = {f"m{j}": VENDOR[j] for j in range(18)}
    same = [pair.kappa.value for pair in found.pairs if code[pair.models[0]] == code[pair.models[1]]]
    apart = [pair.kappa.value for pair in found.pairs if code[pair.models[0]] != code[pair.models[1]]]
    vendor = found.components.components[0]
    assert vendor.within.value == pytest.approx(np.mean(same))
    assert vendor.between.value == pytest.approx(np.mean(apart))


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_family_is_what_an_audit_of_its_models_alone_says(components, make_tally, audit_of_tally, missing):
    failed = ecosystem(2)
    judged = np.random.default_rng(0).random(failed.shape) >= missing
    cluster = (np.arange(len(failed)) % 50).tolist()
    found = components(failed & judged, rows(vendor=vendors()), judged, options={"cluster": cluster})
    family = found.families[1]
    own = [j for j in range(18) if VENDOR[j] == 1]
    assert family.models == tuple(f"m{j}" for j in own)
    alone = audit_of_tally(make_tally((failed & judged)[:, own], judged[:, own], cluster=cluster))
    ours, theirs = family.systemic_failure, alone.systemic_failure
    assert (ours.count, ours.individuals) == (theirs.count, theirs.individuals)
    for name in ("observed", "difference", "ratio", "log10_ratio"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert ours.expected == pytest.approx(theirs.expected)
    assert family.kappa == pytest.approx(np.mean([pair.kappa.value for pair in alone.pairs]))


def test_one_of_each_vendor_is_failed_less_than_as_many_of_all(components):
    found = components(ecosystem(3, shared=0.5), rows(vendor=vendors())).what_if[0]
    assert found.families == 6
    assert found.systemic_failure.value < found.from_all.value
    assert found.difference.low > 0
    assert found.expected < found.systemic_failure.value
    assert "6 values of vendor" in found.sentence
    assert "within noise" not in found.sentence


def test_the_order_of_models_changes_no_estimate(components):
    failed = ecosystem(4)
    order = np.random.default_rng(5).permutation(18)
    found = components(failed, rows(vendor=vendors()))
    table = rows(vendor=[vendors()[j] for j in order])
    turned = components(failed[:, order], table)
    for one, other in zip(found.components, turned.components, strict=True):
        assert one.difference.value == pytest.approx(other.difference.value)
        assert one.difference.low == pytest.approx(other.difference.low)
    one, other = (each.regression.terms[0].coefficient for each in (found, turned))
    assert (one.value, one.low) == pytest.approx((other.value, other.low))


def test_the_seed_decides_and_a_further_component_changes_no_other(components):
    failed = ecosystem(5, shared=0.02)
    cut = [f"c{j % 4}" for j in range(18)]
    one = components(failed, rows(vendor=vendors()))
    assert one == components(failed, rows(vendor=vendors()))
    both = components(failed, rows(vendor=vendors(), cut=cut))
    assert both.components[0].p_value == one.components[0].p_value
    other = components(failed, rows(vendor=vendors()), seed=1)
    assert other.components[0].p_value != one.components[0].p_value


def test_unknown_values_are_shared_with_nobody_and_named(components):
    vendor = [*vendors()[:14], None, "unknown", "", float("nan")]
    table = rows(vendor=vendor)
    del table["m0"]
    found = components(ecosystem(), table)
    one = found.components[0]
    assert one.unknown == ("m0", "m14", "m15", "m16", "m17")
    assert found.without_row == ("m0",)
    assert (one.models, one.pairs_within + one.pairs_between) == (13, 13 * 12 // 2)
    assert one.pairs_within == 1 + 3 * 3 + 1
    assert found.regression.left_out == one.unknown
    assert found.what_if[0].left_out == one.unknown
    assert all("m0" not in family.models for family in found.families)


def test_conditions_that_do_not_hold_are_reasons(components):
    few = components(ecosystem()[:, :5], rows(vendor=["a", "a", "b", "b", "c"]))
    assert (
        few.components[0].difference.reason
        == "only 5 models have a known value and a defined kappa; at least 6 are needed"
    )
    assert few.regression.reason == "only 5 models have a known value and a defined kappa; 10 are needed"
    assert few.shares.shares[0].share.reason == few.regression.reason
    assert few.sentence.startswith("What goes with the likeness of these models could not be tested: only 5 models")
    found = components(
        ecosystem(),
        rows(
            own=names(),
            all=["x"] * 18,
            two=["a", "b"] * 9,
            one_pair=["p", "p", *names()[2:]],
            rare=["r", "r", "s", "s", *[None] * 14],
            half=[*vendors()[:8], *[None] * 10],
        ),
    )
    reasons = {one.name: one.difference.reason for one in found.components}
    assert reasons["own"] == "no two models share it"
    assert reasons["all"] == "all models share it"
    assert reasons["one_pair"] == ONE_MODEL
    terms = {term.name: term.coefficient.reason for term in found.regression.terms}
    assert terms["own"] == terms["all"] == "all pairs share it, or none does"
    assert terms["rare"] == "only 4 models have a known value and a defined kappa; 10 are needed"
    assert terms["half"] == "only 8 models have a known value and a defined kappa; 10 are needed"
    assert found.regression.models == 18
    shares = {share.name: share.share.reason for share in found.shares.shares}
    assert shares["two"] == "only 2 levels; a share needs 5. It is held constant"
    what_if = {one.component: one.systemic_failure.reason for one in found.what_if}
    assert what_if["own"] == "no family has two models"
    assert what_if["all"] == "there is one family only"
    sparse = rows(vendor=vendors(), partly=[*vendors()[:10], *[None] * 14][:18])
    assert components(ecosystem(), sparse).regression.models == 10
    wide = ecosystem(vendor=np.repeat(np.arange(6), 4))
    sparse = rows(vendor=vendors(np.repeat(np.arange(6), 4)), partly=[*vendors()[:10], *[None] * 14])
    fewer = components(wide, sparse).regression
    assert (fewer.models, fewer.terms[1].coefficient.reason) == (24, "known of only 10 of 24 models, fewer than half")


def test_components_that_cannot_be_told_apart_are_one_term(components):
    base = [f"b{code}" for code in VENDOR]
    found = components(ecosystem(), rows(vendor=vendors(), base=base))
    (term,) = found.regression.terms
    assert (term.name, term.components) == ("vendor + base", ("vendor", "base"))
    (share,) = found.shares.shares
    assert share.components == ("vendor", "base")
    alone = components(ecosystem(), rows(vendor=vendors()))
    assert term.coefficient.value == pytest.approx(alone.regression.terms[0].coefficient.value)
    assert len(found.components) == 2


def test_a_component_that_the_others_tell_together_is_not_separable(components):
    first = np.arange(18) % 2
    second = np.arange(18) // 2 % 2
    both = [f"{a}{b}" for a, b in zip(first, second, strict=True)]
    table = rows(first=[f"a{v}" for v in first], second=[f"b{v}" for v in second], both=both)
    table = {
        model: {**row, "either": f"{(int(row['both'][0]) + int(row['both'][1])) % 2}x"} for model, row in table.items()
    }
    found = components(ecosystem(), table)
    reasons = [term.coefficient.reason for term in found.regression.terms]
    assert all(
        reason.startswith("not separable from the other components") for reason in reasons if reason is not UNSET
    )
    assert any(reason is not UNSET for reason in reasons)


def test_near_duplicates_are_left_out_beside(components):
    failed = ecosystem()
    failed[:, 1] = failed[:, 0]
    found = components(failed, rows(vendor=vendors()))
    assert found.near_duplicates_left_out == ("m1",)
    vendor = found.components[0]
    assert vendor.without_near_duplicates < vendor.difference.value
    kept = [j for j in range(18) if j != 1]
    table = {f"m{place}": {"vendor": vendors()[j]} for place, j in enumerate(kept)}
    assert vendor.without_near_duplicates == pytest.approx(
        components(failed[:, kept], table).components[0].difference.value
    )


def test_a_census_keeps_what_is_over_models(components, statistics):
    found = components(ecosystem(), rows(vendor=vendors()), census=True)
    assert found.components[0].difference.low is not None
    for _, one in (*statistics(found.families), *statistics(found.what_if)):
        assert one.low is None


def test_a_model_that_never_fails_takes_no_part_in_pairs(components):
    failed = ecosystem()
    failed[:, 4] = False
    found = components(failed, rows(vendor=vendors()))
    assert found.components[0].pairs_within + found.components[0].pairs_between == 17 * 16 // 2
    assert found.regression.left_out == ("m4",)
    assert len([family for family in found.families if "m4" in family.models]) == 1


def test_no_number_is_without_reason_and_no_interval_without_width(components, statistics):
    table = rows(vendor=vendors(), cut=["a", "b", "c"] * 6, date=[f"2024-{j % 9 + 1:02}" for j in range(18)])
    for path, one in statistics(components(ecosystem(), table)):
        if one.value is None or one.low is None:
            assert one.reason is not UNSET, path
        else:
            assert one.low < one.high, path


def test_a_sample_of_patterns_says_so(components, monkeypatch):
    monkeypatch.setattr("polyculture.tally.build.MANY", 100)
    monkeypatch.setattr("polyculture.tally.large.SAMPLE", 1500)
    failed = np.hstack([ecosystem(), ecosystem(7)[:, :4]])
    found = components(failed, rows(vendor=[*vendors(), "v6", "v6", "v7", "v7"]))
    assert any("sample of 1,500 individuals" in note for note in found.notes)
    assert found.families[0].systemic_failure.individuals == 1500
    assert found.what_if[0].systemic_failure.method.endswith("sampled")


def test_models_of_no_audit_are_refused_with_the_nearest(components):
    table = rows(vendor=vendors())
    wrong = {"m03": table.pop("m3"), **table}
    with pytest.raises(InputError, match=r"'m03', which is none of those audited. Did you mean 'm3'\?"):
        components(ecosystem(), wrong)
