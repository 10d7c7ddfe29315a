"""The Tally: small tables made in one pass, from which everything else follows."""

from polyculture.tally.snapshot_tally import SnapshotTally
from polyculture.tally.tally import Tally

__all__ = ["SnapshotTally", "Tally"]
