"""ColoredSVHN (2403.07857): house numbers in red and green, class 1 are the digits 0 to 4."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from polyculture.claims import feedback_loops as paper
from polyculture.reproductions.colored_mnist import colored
from polyculture.reproductions.image_claims import directions
from polyculture.reproductions.image_loops import ImageLoop, run_images
from polyculture.reproductions.image_plans import DIGITS, NETWORKS, Extent

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.experiments import Scale

__all__ = ["COLORED_SVHN", "reproduce"]

EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(10, 3, {"individuals": 9000, "side": 16, "channels": 2}, more={"test_share": 2 / 9}),
    "laptop": Extent(15, 3, {"individuals": 8000, "side": 16, "channels": 2}, NETWORKS, {"test_share": 1 / 4}),
    "paper": Extent(40, 25, {"side": 32, "channels": 3}, DIGITS, {"test_share": 1 / 4}),
}
_NOTES = (
    "Images become grey before they are coloured: how the paper colours photographs is not known to us.",
    "The authors' figures of this data set are not known to us: only the paper's directions are tested.",
)


def _claims(loop: Loop, about: str) -> list[ClaimRecord]:
    return directions(loop, about, (paper.SECOND_CLASS, "1"))


COLORED_SVHN = ImageLoop("colored-svhn", partial(colored, "colored_svhn"), EXTENTS, _claims, _NOTES)
reproduce = partial(run_images, COLORED_SVHN)
