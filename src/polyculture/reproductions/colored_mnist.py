"""ColoredMNIST (2403.07857): the paper's settings on digits in red and green, with reparation of either kind.

Ablations vary what it was run with once: how much is synthetic, how groups and labels are balanced, the budget.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.reproductions.image_claims import directions, figures
from polyculture.reproductions.image_loops import ImageLoop, Path, run_images
from polyculture.reproductions.image_plans import DIGITS, NETWORKS, Extent

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.experiments import Scale

__all__ = ["COLORED_MNIST", "SMALL_IMAGES", "colored", "reproduce"]

SMALL_IMAGES: dict[str, Any] = {"side": 14, "channels": 2}
EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(10, 3, {"individuals": 9000, **SMALL_IMAGES}, more={"test_share": 2 / 9}),
    "laptop": Extent(15, 3, {"individuals": 12000, **SMALL_IMAGES}, NETWORKS, {"test_share": 1 / 4}),
    "paper": Extent(40, 25, {"side": 28, "channels": 3}, DIGITS, {"test_share": 1 / 7}),
}
_NOTES = (
    "Colours are given after labels were turned round, so that they go with the noisy class. A perfect classifier has "
    "a demographic parity difference of about .40, since 69 % of green and 29 % of red test images are of class 1.",
    "The paper's test set is that of MNIST, coloured once; here test images are drawn once from all images.",
    "The paper's shares of generated people are of 100 samples each, with a standard error of .05; ours of as many as "
    "the plan says. How many seeds its means are over is not known (5 to 25): 5 are taken where their spread is known.",
    "How the paper labels the generated people whose shares it gives is not known: ours are labelled as those that "
    "classifiers are trained on.",
)


def colored(loader: str, data: Path, seed: int) -> dict[str, Any]:
    """Return what digits in red and green add to a plan, by the name of their loader."""
    return {
        "data": {
            "source": f"polyculture.datasets.images:{loader}",
            "groups": ["colour"],
            "parameters": {"path": "" if data is None else str(data), "seed": seed},
        },
        "label": "class",
        "favourable": "1",
    }


def claims(loop: Loop, about: str) -> list[ClaimRecord]:
    """Return the paper's directions, and its figures beside ours."""
    return [
        *directions(loop, about, (paper.SECOND_CLASS, "1")),
        *figures(loop, about, "1", "colour = red"),
    ]


COLORED_MNIST = ImageLoop("colored-mnist", partial(colored, "colored_mnist"), EXTENTS, claims, _NOTES)
reproduce = partial(run_images, COLORED_MNIST)
