"""AuditRecord to the bytes of audit.json and back, and the JSON Schema of both.

Field names live in ``audit.records``; nothing here renames or adds one.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import msgspec

from polyculture.audit.records import SCHEMA, AuditRecord, Record
from polyculture.errors import FileError
from polyculture.report.words import shown

__all__ = ["SCHEMA_NAMES", "from_json", "json_schema", "record_json", "to_json"]

# Name for `polyculture schema` -> module, record, title.
_RESULTS = {
    "audit": ("polyculture.audit.records", "AuditRecord", "An audit of several models on the same individuals"),
    "compare": (
        "polyculture.audit.change_records",
        "CompareRecord",
        "Snapshots of the same models compared",
    ),
    "reproduction": ("polyculture.claims.records", "ReproductionRecord", "A published analysis done again"),
    "lab-sharing": ("polyculture.lab.records", "SharingRecord", "A component-sharing experiment"),
    "lab-loop": ("polyculture.lab.loops.records", "LoopRecord", "A feedback-loop experiment"),
    "portfolio": ("polyculture.audit.portfolio_records", "PortfolioRecord", "A choice among models"),
    "check": ("polyculture.gate.records", "CheckRecord", "A result held against limits"),
}
SCHEMA_NAMES = tuple(_RESULTS)


def to_json(record: AuditRecord) -> bytes:
    """Return a record as audit.json: UTF-8, two spaces of indent, a newline at the end.

    The same record always gives the same bytes. The open end of a one-sided interval of a ratio, where
    it is infinite, is written as null.

    Parameters
    ----------
    record : AuditRecord
        What an audit returned.

    Returns
    -------
    bytes
        JSON that `json_schema` describes; NaN and infinity never appear.

    Raises
    ------
    ValueError
        A number of the record is NaN, or infinite where no interval ends; the message names the field.
    """
    return record_json(record, "audit")


def record_json(record: Record, name: str = "record") -> bytes:
    """Return any record as JSON, written like audit.json; ``name`` is how a message names it."""
    plain = _checked(msgspec.to_builtins(record, str_keys=True), name)
    return msgspec.json.format(msgspec.json.encode(plain), indent=2) + b"\n"


def _checked(value: Any, place: str) -> Any:
    """Return plain data without infinities and text that UTF-8 cannot hold; refuse NaN."""
    if isinstance(value, dict):
        return {
            _encodable(str(key)): None
            if key in {"low", "high"} and isinstance(item, float) and math.isinf(item)
            else _checked(item, f"{place}.{key}")
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_checked(item, f"{place}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place} is {value}; a record holds a finite number or None with a reason")
    return _encodable(value) if isinstance(value, str) else value


def _encodable(text: str) -> str:
    """Return text that UTF-8 can hold: a file name may carry bytes that are no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return shown(text)
    return text


def from_json(data: bytes | str) -> AuditRecord:
    """Return the record that audit.json holds.

    Parameters
    ----------
    data : bytes or str
        The content of the file.

    Raises
    ------
    FileError
        The data is no JSON, lacks a field, or is of another schema; the message names the place.
    """
    try:
        record = msgspec.json.decode(data, type=AuditRecord)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FileError(
            f"This is no audit.json: {error}.", hint=f"Give a file that --json wrote (schema {SCHEMA})."
        ) from error
    if record.schema != SCHEMA:
        raise FileError(
            f"The file says schema {record.schema!r}; this version reads {SCHEMA!r}.",
            hint="Make it again with this version of polyculture.",
        )
    return record


def json_schema(name: str = "audit") -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a result, with a title for every record.

    Parameters
    ----------
    name : str
        One of `SCHEMA_NAMES`.
    """
    module, kind, title = _RESULTS[name]
    record = getattr(import_module(module), kind)
    identifier = next(field.default for field in msgspec.structs.fields(record) if field.name == "schema")
    schema = msgspec.json.schema(record)
    definitions: dict[str, Any] = schema.pop("$defs", {})
    definitions[kind]["properties"]["schema"]["const"] = identifier
    for definition in definitions.values():
        # The first paragraph of the docstring is the title's longer form; line breaks are of the source only.
        if "description" in definition:
            definition["description"] = " ".join(definition["description"].replace("``", "").split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": identifier,
        "title": f"{title}, as polyculture writes it",
        **schema,
        "$defs": definitions,
    }
