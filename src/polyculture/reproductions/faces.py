"""The loops on faces (2403.07857): CelebA, attractive or not by sex, and FairFace, 28 strata of race and age."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from polyculture.claims import feedback_loops as paper
from polyculture.errors import UsageError
from polyculture.reproductions.image_claims import directions
from polyculture.reproductions.image_loops import ImageLoop, Path, run_images
from polyculture.reproductions.image_plans import FACES, NETWORKS, Extent

if TYPE_CHECKING:
    from polyculture.claims.records import ClaimRecord
    from polyculture.loops import Loop
    from polyculture.reproductions.experiments import Scale

__all__ = ["CELEBA", "FAIRFACE", "celeba", "fairface"]

EXTENTS: dict[Scale, Extent] = {
    "quick": Extent(8, 3, {"individuals": 9000, "side": 32}, more={"test_share": 2 / 9}),
    "laptop": Extent(8, 3, {"individuals": 8000, "side": 32}, NETWORKS, {"test_share": 1 / 4}),
    "paper": Extent(8, 5, {"side": 64}, FACES, {"test_share": 1 / 5}),
}
_FIGURES = "The authors' figures of this data set are not known to us: only the paper's directions are tested."


def _faces(own: dict[str, Any], data: Path, seed: int) -> dict[str, Any]:
    """Return what faces add to a plan: their loader, groups, label and favourable class, and where they are."""
    if data is None:
        raise UsageError("The images of faces are not bundled.", hint="Name the folder that holds them: --data FOLDER")
    parameters = {"path": str(data), "seed": seed}
    return {**own, "data": {**own["data"], "parameters": parameters}}


def _claims(loop: Loop, about: str) -> list[ClaimRecord]:
    """Return the paper's directions; which class grows is not known to us, so that the larger one is taken."""
    record = loop.record
    larger = max(record.classes, key=lambda name: sum(one.original for one in record.strata if one.target == name))
    return directions(loop, about, (paper.DRIFT, larger))


CELEBA = ImageLoop(
    "celeba",
    partial(
        _faces,
        {
            "data": {"source": "polyculture.datasets.images:celeba", "groups": ["male"]},
            "label": "attractive",
            "favourable": "1",
        },
    ),
    EXTENTS,
    _claims,
    (_FIGURES,),
)
FAIRFACE = ImageLoop(
    "fairface",
    partial(
        _faces,
        {
            "data": {"source": "polyculture.datasets.images:fairface", "groups": ["race"]},
            "label": "age",
            "favourable": "20-39",
        },
    ),
    EXTENTS,
    _claims,
    (
        "Strata are four ages by seven races. Which four ages the paper has, and which of the two its classifiers "
        "tell, is not known to us: here they tell the age, and 20 to 39 counts as the favourable class in rates. With "
        '--set label=race --set favourable=Black --set data.groups=["age"] they tell the race.',
        _FIGURES,
    ),
)
celeba = partial(run_images, CELEBA)
fairface = partial(run_images, FAIRFACE)
