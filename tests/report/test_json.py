from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import msgspec
import pytest
import sample_records as samples

from polyculture.audit.records import AuditRecord, Record, Statistic
from polyculture.errors import FileError
from polyculture.lab.plan import Part
from polyculture.report.json import SCHEMA_NAMES, from_json, json_schema, to_json

# The names that design.md promises to outside programs, written out by hand.
PROMISED = {
    "": {"schema", "provenance", "individuals", "seed", "models", "profile", "systemic_failure", "consistent_success"}
    | {"homogeneous_outcomes", "groups", "group_homogenization", "pairs", "nulls"},
    "models": {"name", "judged", "failed", "no_answer", "failure_rate"},
    "profile": {"judged", "failed", "count", "observed", "expected"},
    "systemic_failure": {"observed", "expected", "ratio", "difference", "ceiling", "log10_ratio", "log10_expected"},
    "groups": {"by", "individuals", "systemic_failure", "models"},
    "group_homogenization": {"by", "average", "uniform", "worst", "spread"},
    "pairs": {"models", "both_failed"},
    "nulls": {"name", "parameters", "residual_df", "systemic_failure", "excess", "p_value"},
}


@pytest.mark.parametrize("name", samples.ALL)
def test_json_follows_its_schema_and_comes_back(name: str) -> None:
    record = samples.ALL[name]()
    data = to_json(record)
    jsonschema.Draft202012Validator(json_schema()).validate(json.loads(data))
    assert from_json(data) == record
    assert data == to_json(record)
    assert b"NaN" not in data
    assert b"Infinity" not in data
    assert data.startswith(b'{\n  "schema": "polyculture/audit/1"')


def test_the_schema_is_a_schema_with_its_name() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "polyculture/audit/1"
    assert schema["$schema"].endswith("2020-12/schema")
    assert all("title" in definition for definition in schema["$defs"].values())


def test_the_schema_refuses_what_is_no_audit() -> None:
    data: dict[str, Any] = json.loads(to_json(samples.waimai()))
    validator = jsonschema.Draft202012Validator(json_schema())
    for key in ("provenance", "models", "systemic_failure"):
        assert not validator.is_valid({name: value for name, value in data.items() if name != key})
    assert not validator.is_valid({**data, "schema": "polyculture/audit/2"})
    assert not validator.is_valid({**data, "individuals": "many"})


def test_promised_names_are_there() -> None:
    data = json.loads(to_json(samples.with_groups()))
    for place, names in PROMISED.items():
        found = data if place == "" else data[place]
        found = found[0] if isinstance(found, list) else found
        assert names <= found.keys(), place
    assert set(data["systemic_failure"]) == set(data["consistent_success"]) == set(data["homogeneous_outcomes"])
    assert {"inputs", "rows_read", "rows_used", "left_out", "failure_rule", "version", "command", "seed", "period"} <= (
        data["provenance"].keys()
    )
    assert "sha256" in data["provenance"]["inputs"][0]
    assert data["models"][0]["failure_rate"].keys() == {"value", "low", "high", "method"}


def test_an_undefined_statistic_is_null_with_its_reason() -> None:
    data = json.loads(to_json(samples.one_model()))
    assert data["systemic_failure"]["ratio"] == {
        "value": None,
        "low": None,
        "high": None,
        "reason": "one model: there is nothing to homogenize",
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_refused_with_their_place(value: float) -> None:
    record = msgspec.structs.replace(samples.waimai(), profile_p_value=value)
    with pytest.raises(ValueError, match=r"audit\.profile_p_value"):
        to_json(record)


def test_an_infinite_end_is_an_open_end() -> None:
    outcome = msgspec.structs.replace(
        samples.waimai().systemic_failure, ratio=Statistic(value=2.0, low=1.0, high=float("inf"))
    )
    data = json.loads(to_json(msgspec.structs.replace(samples.waimai(), systemic_failure=outcome)))
    assert data["systemic_failure"]["ratio"]["high"] is None


def test_bytes_in_a_file_name_that_are_no_text_become_an_escape() -> None:
    record = samples.waimai(provenance=samples.provenance(command="polyculture audit \udcff.csv"))
    assert json.loads(to_json(record))["provenance"]["command"] == "polyculture audit \\udcff.csv"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"schema": "polyculture/audit/1"}', b"\xff\xfe"])
def test_what_is_no_audit_is_refused(data: bytes) -> None:
    with pytest.raises(FileError, match=r"no audit\.json.*--json"):
        from_json(data)


def test_another_schema_is_refused() -> None:
    data = to_json(samples.waimai()).replace(b"polyculture/audit/1", b"polyculture/audit/9")
    with pytest.raises(FileError, match="polyculture/audit/9"):
        from_json(data)


def below(kind: type) -> Iterator[type]:
    """Return all classes that are derived of one."""
    for one in kind.__subclasses__():
        yield one
        yield from below(one)


def test_every_record_is_described_in_the_schema() -> None:
    described = {name for result in SCHEMA_NAMES for name in json_schema(result)["$defs"]}
    assert isinstance(samples.waimai(), AuditRecord)
    plans = {one.__name__ for one in below(Part)}  # structs, but no records
    others = {"AgreementRecord"}  # ratings without gold labels have no audit; `panel` writes them by themselves
    assert {cls.__name__ for cls in below(Record)} - others == described - plans
