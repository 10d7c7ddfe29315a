from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import numpy as np
import pytest

from polyculture.audit.records import AuditRecord, Record
from polyculture.report.html import html


def texts(record: Record, place: str = "") -> Iterator[tuple[str, str]]:
    for name in record.__struct_fields__:
        value = getattr(record, name)
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Record):
                yield from texts(one, f"{place}.{name}")
            elif isinstance(one, str):
                yield f"{place}.{name}", one


@pytest.fixture
def reviews(audit: Callable[..., AuditRecord]) -> Callable[[str], AuditRecord]:
    """Return an audit with the whole ladder, strangers among the models, and a group of that very name."""
    rng = np.random.default_rng(3)
    failed = rng.random((300, 4)) < 0.3
    judged = rng.random((300, 4)) < 0.8
    judged[:, 3] &= ~judged[:, 2]
    groups = {"kind": ["individual", "company"] * 150}

    def make(noun: str) -> AuditRecord:
        return audit(failed, judged, groups=groups, noun=noun, null_models=("all",))

    return make


def test_every_text_calls_individuals_what_they_are(reviews: Callable[[str], AuditRecord]) -> None:
    plain, named = texts(reviews("individuals")), texts(reviews("reviews"))
    assert sum("individual" in text for _, text in plain) > 20
    assert [(place, text) for place, text in named if "ndividual" in text] == []


def test_names_of_groups_stay(reviews: Callable[[str], AuditRecord]) -> None:
    record = reviews("reviews")
    assert [group.by for group in record.groups] == [{"kind": "company"}, {"kind": "individual"}]
    assert record.gaps[0].highest in ({"kind": "company"}, {"kind": "individual"})


def test_the_noun_changes_words_and_no_number(reviews: Callable[[str], AuditRecord]) -> None:
    one, other = reviews("individuals"), reviews("reviews")
    assert one.nulls[1].p_value == other.nulls[1].p_value
    assert msgspec.structs.replace(one.systemic_failure, p_method="") == msgspec.structs.replace(
        other.systemic_failure, p_method=""
    )


def test_the_page_says_it_too(reviews: Callable[[str], AuditRecord]) -> None:
    page = html(reviews("reviews"))
    assert "every review is failed by as many models" in page
    assert "every individual is failed" not in page
