"""Outcomes: tables of what models decided, and what their columns mean."""

from polyculture.outcomes.mapping import Mapping
from polyculture.outcomes.outcomes import Outcomes

__all__ = ["Mapping", "Outcomes"]
