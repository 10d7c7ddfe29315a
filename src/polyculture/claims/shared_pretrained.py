"""What "Picking on the Same Person" (2211.13972) reports of tasks that adapt one pretrained model.

Facts only: directions. The paper has two tasks on images and four on texts; what its figures show is known here as an
order of the ways to adapt.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ALIKE", "LARGEST_FACTOR", "ORDER", "SHARING", "SHARING_SOURCE", "SOURCES", "Order"]

SOURCES = {
    "shared-vision": "2211.13972, sharing a pretrained vision model",
    "shared-text": "2211.13972, sharing a pretrained language model",
}
SHARING_SOURCE = "2211.13972, component-sharing hypothesis"
SHARING = "H is larger where decision-makers share a pretrained model"


class Order(NamedTuple):
    """H of one way to adapt is reported to be larger than H of another."""

    larger: str
    smaller: str


ORDER = {
    "shared-vision": (Order("scratch", "probe"), Order("probe", "finetune"), Order("scratch", "finetune")),
    "shared-text": (Order("probe", "finetune"), Order("probe", "bitfit")),
}
ALIKE = {"shared-vision": (), "shared-text": (Order("bitfit", "finetune"),)}
"""About the same H is reported of these."""

LARGEST_FACTOR = 0.2
"""What "about the same" leaves room for, as a part of H: our reading."""
