"""The Tally: small tables made in one pass, from which everything else follows."""

from polyculture.tally.tally import Tally

__all__ = ["Tally"]
