"""Texts of statistics in the words of the data: what is called an individual below is a review, or an applicant, here.

``stats`` knows no data, so its methods and reasons speak of individuals; the records of an audit do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from polyculture.audit.components_records import ComponentsRecord, WhatIfRecord
from polyculture.audit.kinds_records import KindsRecord
from polyculture.audit.records import GapRecord, Record
from polyculture.audit.words import in_words_of

if TYPE_CHECKING:
    from polyculture.audit.records import AuditRecord

R = TypeVar("R", bound=Record)

_TEXTS = ("method", "reason", "sentence", "note")
# The headline and the notes have their noun; pairs get theirs where they are made, since there may be very many.
# Made with the noun, or of names only; a group, a kind or a component may be called "individual", as may those in gaps.
_NAMED = frozenset({(KindsRecord, "sentence"), (ComponentsRecord, "sentence"), (WhatIfRecord, "sentence")})
_DONE = frozenset({"headline", "notes", "noun", "provenance", "pairs", "patterns"})


def with_noun(audit: AuditRecord) -> AuditRecord:
    """Return an audit whose methods, reasons and sentences call individuals what they are.

    Parameters
    ----------
    audit : AuditRecord
        With its noun.

    Returns
    -------
    AuditRecord
        The same where the noun is "individuals".
    """
    if audit.noun == "individuals":
        return audit
    changes = {
        field.name: changed
        for field in msgspec.structs.fields(audit)
        if field.name not in _DONE
        and (changed := _told(field.name, value := getattr(audit, field.name), audit.noun)) is not value
    }
    return msgspec.structs.replace(audit, **changes)


def told(record: R, noun: str) -> R:
    """Return a record whose methods, reasons and sentences call individuals what they are."""
    if noun == "individuals":
        return record
    changes = {}
    for field in record.__struct_fields__:
        value = getattr(record, field)
        if (record.__class__, field) in _NAMED or (isinstance(record, GapRecord) and not isinstance(value, str)):
            continue
        changed = _told(field, value, noun)
        if changed is not value:
            changes[field] = changed
    return msgspec.structs.replace(record, **changes) if changes else record


def _told(name: str, value: Any, noun: str) -> Any:
    """Return a value of a record with the noun, the very same one where nothing changes."""
    if isinstance(value, str):
        return in_words_of(value, noun) if name.endswith(_TEXTS) else value
    if isinstance(value, tuple):
        changed = tuple(_told(name, one, noun) for one in value)
        return value if all(one is other for one, other in zip(changed, value, strict=True)) else changed
    return told(value, noun) if isinstance(value, Record) else value
