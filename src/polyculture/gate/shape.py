"""Which fields a result may have, by its schema: what a null could have held, so that misspelt names are found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import msgspec

from polyculture.audit.statistic import Record

__all__ = ["SCHEMAS", "Shape", "record_of", "shape_of"]

# Results that limits can be put on, and the record that each is written from.
SCHEMAS: dict[str, tuple[str, str]] = {
    "polyculture/audit/1": ("polyculture.audit.records", "AuditRecord"),
    "polyculture/compare/1": ("polyculture.audit.change_records", "CompareRecord"),
    "polyculture/portfolio/1": ("polyculture.audit.portfolio_records", "PortfolioRecord"),
    "polyculture/reproduction/1": ("polyculture.claims.records", "ReproductionRecord"),
}


@dataclass(frozen=True)
class Shape:
    """A part of a JSON Schema; ``node`` is None where nothing is known."""

    node: dict[str, Any] | None
    definitions: dict[str, Any]

    def names(self) -> list[str]:
        """Return the names of the fields of an object, or an empty list where they are free or not known."""
        return list((self.node or {}).get("properties", {}))

    def field(self, name: str) -> Shape:
        """Return what may stand in a field."""
        return self._inner((self.node or {}).get("properties", {}).get(name))

    def element(self) -> Shape:
        """Return what may stand in a list."""
        found = (self.node or {}).get("items")
        return self._inner(found if isinstance(found, dict) else None)

    def _inner(self, node: dict[str, Any] | None) -> Shape:
        while node is not None and ("$ref" in node or "anyOf" in node):
            if "$ref" in node:
                node = self.definitions[node["$ref"].rpartition("/")[2]]
            else:
                kinds = [one for one in node["anyOf"] if one.get("type") != "null"]
                node = kinds[0] if len(kinds) == 1 else None
        return Shape(node, self.definitions)


def record_of(schema: str) -> type[Record]:
    """Return the record that a result of a schema is written from."""
    module, name = SCHEMAS[schema]
    record: type[Record] = getattr(import_module(module), name)
    return record


@cache
def shape_of(schema: str) -> Shape:
    """Return what a result of a schema may hold."""
    found = msgspec.json.schema(record_of(schema))
    return Shape(None, found.get("$defs", {}))._inner({"$ref": found["$ref"]})
