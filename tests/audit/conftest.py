"""Audits of small matrices, and of files from the folder with outside data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from make_tally import PROVENANCE, tally_from_matrix
from polyculture.audit import AuditRecord, run

RUN_OPTIONS = ("seed", "min_cell", "census", "correction", "noun", "null_models", "component_table", "kinds")


def audit_tally(tally: Any, **options: Any) -> AuditRecord:
    """Return the audit of a Tally."""
    return run(tally, provenance=PROVENANCE, **options)


def audit_matrix(failed: Any, judged: Any = None, **options: Any) -> AuditRecord:
    """Return the audit of an (N, k) failure matrix; options of ``run`` and of ``tally_from_matrix``."""
    ours = {name: options.pop(name) for name in RUN_OPTIONS if name in options}
    return audit_tally(tally_from_matrix(failed, judged, **options), **ours)


@pytest.fixture(scope="session")
def audit() -> Callable[..., AuditRecord]:
    """Return the function that audits a failure matrix."""
    return audit_matrix


@pytest.fixture(scope="session")
def audit_of_tally() -> Callable[..., AuditRecord]:
    """Return the function that audits a Tally."""
    return audit_tally


@pytest.fixture(scope="session")
def make_tally() -> Callable[..., Any]:
    """Return the function that makes a Tally of a failure matrix."""
    return tally_from_matrix


@pytest.fixture(scope="session")
def statistics() -> Callable[[Any], Iterator[tuple[str, Any]]]:
    """Return the function that finds every Statistic of a record, with its path."""
    return find_statistics


def find_statistics(record: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (path, Statistic) for every Statistic anywhere in a record."""
    from polyculture.audit import Statistic

    if isinstance(record, Statistic):
        yield path, record
    elif isinstance(record, tuple | list):
        for place, part in enumerate(record):
            yield from find_statistics(part, f"{path}[{place}]")
    elif hasattr(record, "__struct_fields__"):
        for name in record.__struct_fields__:
            yield from find_statistics(getattr(record, name), f"{path}.{name}")
