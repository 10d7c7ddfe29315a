"""Verdicts: bounds, changes against a stored result, and numbers that are undefined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import FileError, UsageError


def outcomes(both: int, of: int = 200, groups: int = 2) -> pc.Audit:
    """Audit two models that both fail ``both`` of ``of`` individuals, each failing 20 more alone."""
    failing = {"a": [1] * (both + 20) + [0] * (of - both - 20), "b": [1] * both + [0] * (of - both - 20) + [1] * 20}
    table = pl.DataFrame({**failing, "group": [f"g{i % groups}" for i in range(of)]})
    return pc.audit(table, outcomes="failed", by=["group"])


def verdicts(result: Any, *limits: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    return [(line.field, line.verdict) for line in pc.check(result, list(limits), **more).limits]


def test_bounds_hold_at_the_bound_itself() -> None:
    audit = outcomes(50)
    field = "systemic_failure.observed"
    assert audit.systemic_failure.observed.value == 0.25
    limits = [{"field": field, "at_most": bound} for bound in (0.25, 0.2499999)]
    limits += [{"field": field, "at_least": bound} for bound in (0.25, 0.2500001)]
    assert [verdict for _, verdict in verdicts(audit, *limits)] == ["within", "broken", "within", "broken"]


def test_two_bounds_of_one_limit_are_two_lines() -> None:
    found = pc.check(outcomes(50), [{"field": "individuals", "at_least": 100, "at_most": 150}])
    assert [(line.rule, line.verdict) for line in found.limits] == [("at_most", "broken"), ("at_least", "within")]
    assert [line.rule for line in found.broken] == ["at_most"]


def test_each_element_of_a_selector_is_a_line() -> None:
    found = pc.check(outcomes(50), [{"field": "groups[by.group=*].systemic_failure.observed.high", "at_most": 0.5}])
    assert [line.field for line in found.limits] == [
        f"groups[by.group={name}].systemic_failure.observed.high" for name in ("g0", "g1")
    ]
    assert not found.broken
    assert "All 2 numbers checked are within the limits" in repr(found)


@pytest.mark.parametrize(
    ("said", "counts"), [({}, True), ({"undefined": "broken"}, True), ({"undefined": "allow"}, False)]
)
def test_an_undefined_number_counts_as_broken_unless_allowed(said: dict[str, str], counts: bool) -> None:
    audit = outcomes(50, groups=20)  # groups of 10: their figures are withheld
    found = pc.check(audit, [{"field": "groups[*].systemic_failure.observed.high", "at_most": 1, **said}])
    assert {line.verdict for line in found.limits} == {"undefined"}
    assert {line.reason for line in found.limits} == {"too few"}
    assert [line.counts_as_broken for line in found.limits] == [counts] * 20
    assert bool(found.broken) is counts


def test_a_census_has_no_end_of_an_interval_to_be_within() -> None:
    table = pl.DataFrame({"a": [1, 0] * 50, "b": [1, 0] * 50})
    census = pc.audit(table, outcomes="failed", census=True)
    assert verdicts(census, {"field": "systemic_failure.observed.high", "at_most": 1}) == [
        ("systemic_failure.observed.high", "undefined")
    ]


@pytest.mark.parametrize(
    ("rule", "before", "bound", "verdict"),
    [
        ("at_most_increase", 40, 0.05, "within"),  # .25 - .2, though a computer has a little more
        ("at_most_increase", 39, 0.05, "broken"),
        ("at_most_increase", 80, 0.0, "within"),
        ("at_most_decrease", 60, 0.05, "within"),
        ("at_most_decrease", 61, 0.05, "broken"),
        ("at_most_change", 61, 0.05, "broken"),
        ("at_most_change", 39, 0.05, "broken"),
        ("at_most_change", 50, 0.0, "within"),
    ],
)
def test_changes_against_a_stored_audit(rule: str, before: int, bound: float, verdict: str) -> None:
    limit = {"field": "systemic_failure.observed", rule: bound}
    (line,) = pc.check(outcomes(50), [limit], against=outcomes(before)).limits
    assert line.verdict == verdict
    assert line.baseline == before / 200
    assert line.change == pytest.approx((50 - before) / 200)


def test_a_change_within_the_noise_counts_only_where_asked() -> None:
    field = {"field": "systemic_failure.observed", "at_most_increase": 0.01}
    asked = {**field, "unless_intervals_overlap": True}
    assert verdicts(outcomes(50), field, asked, against=outcomes(45)) == [
        ("systemic_failure.observed", "broken"),
        ("systemic_failure.observed", "within"),
    ]
    assert verdicts(outcomes(90), asked, against=outcomes(45)) == [("systemic_failure.observed", "broken")]
    # A plain number has no interval to hold against another one.
    assert verdicts(
        outcomes(90), {"field": "systemic_failure.expected", "at_most_increase": 0, "unless_intervals_overlap": True},
        against=outcomes(45),
    ) == [("systemic_failure.expected", "undefined")]  # fmt: skip


def test_what_only_one_of_the_two_has_is_undefined() -> None:
    limit = {"field": "groups[by.group=*].systemic_failure.observed", "at_most_increase": 1}
    found = pc.check(outcomes(50, groups=3), [limit], against=outcomes(50, groups=2))
    assert [(line.field[:18], line.verdict) for line in found.limits] == [
        ("groups[by.group=g0", "within"),
        ("groups[by.group=g1", "within"),
        ("groups[by.group=g2", "undefined"),
    ]
    gone = pc.check(outcomes(50, groups=2), [limit], against=outcomes(50, groups=3)).limits[2]
    assert (gone.field[:18], gone.verdict, gone.value) == ("groups[by.group=g2", "undefined", None)
    assert gone.baseline is not None
    assert gone.counts_as_broken


def test_a_stored_audit_of_another_question_is_refused() -> None:
    limit = {"field": "individuals", "at_most_change": 1}
    table = pl.DataFrame({"a": ["x", "y"] * 50, "b": ["x", "x"] * 50})
    other = pc.audit(table, failure="decision=x")
    with pytest.raises(UsageError, match="failure_rule 'decision=x'"):
        pc.check(outcomes(50), [limit], against=other)


def test_a_limit_that_names_no_field_says_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "limits.toml"
    path.write_text('[[limit]]\nfield = "individuals"\nat_least = 1\n[[limit]]\nfield = "indviduals"\nat_least = 1\n')
    with pytest.raises(UsageError, match=r"limits.toml, limit 2: There is no field 'indviduals'.*'individuals'"):
        pc.check(outcomes(50), path)


def test_results_come_from_files_records_and_audits(tmp_path: Path) -> None:
    audit = outcomes(50)
    limit = {"field": "individuals", "at_least": 200}
    audit.json(tmp_path / "audit.json")
    found = [
        pc.check(one, limit) for one in (audit, audit.record, tmp_path / "audit.json", str(tmp_path / "audit.json"))
    ]
    assert {one.limits for one in found} == {found[0].limits}
    assert [one.record.sha256 is None for one in found] == [True, True, False, False]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is no JSON"),
        ("{", "is no JSON"),
        ("NaN", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        ("[]", "is JSON without a schema"),
        ("{}", "is JSON without a schema"),
        ('{"schema": {"a": 1}}', "is JSON without a schema"),
        ('{"schema": "polyculture/audit/9"}', "says schema 'polyculture/audit/9'"),
        ('{"schema": "polyculture/audit/1"}', "is damaged"),
    ],
)
def test_a_file_that_is_no_result_is_refused(content: str | bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError) as caught:
        pc.check(path, {"field": "individuals", "at_least": 1})
    assert says in caught.value.message
    assert "audit.json" in caught.value.message


def test_a_number_that_became_text_is_a_damaged_file(tmp_path: Path) -> None:
    content = json.loads(outcomes(50).json())
    content["systemic_failure"]["observed"]["high"] = "0.1"
    (tmp_path / "audit.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"is damaged.*systemic_failure\.observed\.high"):
        pc.check(tmp_path / "audit.json", {"field": "individuals", "at_least": 1})


def test_a_misspelt_file_gets_the_nearest(tmp_path: Path) -> None:
    outcomes(50).json(tmp_path / "audit.json")
    with pytest.raises(FileError, match=r"Did you mean 'audit\.json'"):
        pc.check(tmp_path / "audti.json", {"field": "individuals", "at_least": 1})
    with pytest.raises(FileError, match="is a folder"):
        pc.check(tmp_path, {"field": "individuals", "at_least": 1})
    with pytest.raises(UsageError, match="nothing to put limits on"):
        pc.check(3, {"field": "individuals", "at_least": 1})  # type: ignore[arg-type]


def test_the_frame_has_a_row_a_number() -> None:
    frame = pc.check(outcomes(50), {"field": "models[*].failure_rate", "at_most": 0.36}).frame()
    assert frame.select("field", "verdict", "counts_as_broken").rows() == [
        ("models[name=a].failure_rate", "within", False),
        ("models[name=b].failure_rate", "within", False),
    ]
