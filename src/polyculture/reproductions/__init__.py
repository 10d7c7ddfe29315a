"""Published analyses done again: what a paper reports beside what we find, claim by claim.

What papers report stands in ``claims``; here audits are made and held against it.
"""

from polyculture.reproductions.registry import NAMES, reproduce
from polyculture.reproductions.result import Reproduction

__all__ = ["NAMES", "Reproduction", "reproduce"]
