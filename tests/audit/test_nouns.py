from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.audit.records import AuditRecord, Record
from polyculture.cli import main
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


def test_a_panel_calls_individuals_what_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pl.DataFrame({"a": [0, 0, 0, 0], "b": [0, 0, 0, 0], "Cy": [None, None, None, 1]})
    plain, named = (pc.panel(table, outcomes="failed", noun=noun) for noun in (None, "reviews"))
    assert any("individual" in text for _, text in texts(plain.record))
    assert [text for _, text in texts(named.record) if "ndividual" in text] == []
    assert named.noun == "reviews"
    table.write_csv(tmp_path / "t.csv")
    assert main(["panel", str(tmp_path / "t.csv"), "--outcomes", "failed", "--noun", "reviews"]) == 0
    printed = capsys.readouterr().out
    assert "reviews" in printed
    assert "ndividual" not in printed


def test_a_panel_of_a_source_with_a_noun_of_its_own_and_of_judges() -> None:
    assert pc.panel("hapi:waimai").noun == "reviews"
    judges = pl.DataFrame({"a": [1, 2, 2, 1], "b": [1, 2, 1, 1], "c": [1, 2, 2, None]})
    assert "on 4 items that two" in pc.panel(judges).sentence
    assert "on 4 essays that two" in pc.panel(judges, noun="essays").sentence


def test_suspect_keys_too() -> None:
    # Nobody is judged by two models, so shares of the headline are undefined, with a reason.
    table = pl.DataFrame({"id": [1, 2], "key": ["x", "y"], "a": ["x", None], "b": [None, "x"]})
    found = pc.audit(table, id="id", label="key", suspect_keys=True, noun="questions").record.suspect_keys
    assert found is not None
    reasons = [text for place, text in texts(found) if place.endswith("reason") or "nobody" in text or "judged" in text]
    assert reasons
    assert [text for _, text in texts(found) if "ndividual" in text] == []


def test_kinds_and_components_that_are_called_individual_stay() -> None:
    table = pl.DataFrame({f"m{j}": [(i >> j) % 2 for i in range(64)] for j in range(4)})
    record = pc.audit(
        table.with_columns(m3=pl.Series([None, *table["m3"][1:]])),
        outcomes="failed",
        noun="reviews",
        kinds={"individual": ["m0", "m1", "m2"], "company": ["m3"]},
        components={f"m{j}": {"individual": "xxyy"[j]} for j in range(4)},
    ).record
    assert record.kinds is not None
    assert "all 3 of kind 'individual' fail" in record.kinds.sentence.lower()
    assert [note for note in record.kinds.notes if "reviews all of them fail" in note]
    assert "Not every review was judged by every kind; who was judged is not random." in record.kinds.notes
    assert record.components is not None
    assert "values of individual, drawn at random" in record.components.what_if[0].sentence
    assert "of reviews would be" in record.components.what_if[0].sentence
