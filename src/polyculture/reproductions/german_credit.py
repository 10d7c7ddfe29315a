"""German Credit, as in 2211.13972: a good loan, and a large amount, told from the same training rows or from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from polyculture.claims import outcome_homogenization as paper
from polyculture.reproductions.experiments import AnyPath, Scale, Size, experiment, sized
from polyculture.reproductions.result import Reproduction

__all__ = ["NAME", "plan", "reproduce"]

NAME = "german-credit"
_SIZES: dict[Scale, Size] = {
    "quick": Size((2, 5, 10, 20), 3, 8),
    "laptop": Size(paper.SIZES[NAME], 5, 10),
    "paper": Size(paper.SIZES[NAME], *paper.TRIALS[NAME]),
}
_NOTES = (
    "The paper does not say here how the codes of German Credit became numbers: a column a code is the default, since "
    "most codes have no order; codes=ordinal gives the other reading.",
    "Test individuals are drawn anew for each trial, which is how we read the paper; split=fixed draws them once.",
)


def plan(
    scale: str = "quick",
    *,
    codes: Literal["one-hot", "ordinal"] = "one-hot",
    split: Literal["trial", "partition", "fixed"] = "trial",
    seed: int = 0,
) -> dict[str, Any]:
    """Return the plan of the experiment at a scale."""
    size = sized(scale, _SIZES)
    return {
        "name": NAME,
        "blocks": size.blocks,
        "model_seeds": size.model_seeds,
        "partition_seeds": size.partition_seeds,
        "split": split,
        "seed": seed,
        "data": {"source": "german_credit", "codes": codes},
        "task": [
            {"name": "good loan", "label": "credit = 1"},
            {"name": "large amount", "label": "credit_amount > 2000", "leave_out": ["credit"]},
        ],
        "learner": [{"estimator": path} for path in paper.LEARNERS],
    }


def reproduce(
    *,
    scale: str = "quick",
    codes: Literal["one-hot", "ordinal"] = "one-hot",
    split: Literal["trial", "partition", "fixed"] = "trial",
    set: Iterable[str] = (),  # noqa: A002 (the word of the shell)
    out: AnyPath | None = None,
    jobs: int = 1,
    backend: str = "loky",
    seed: int = 0,
    command: str = "polyculture.reproduce('german-credit')",
    progress: Callable[[str], None] | None = None,
) -> Reproduction:
    """Run the German Credit experiment and hold the paper against it.

    Parameters
    ----------
    scale : {"quick", "laptop", "paper"}
        Some sizes and few seeds; all sizes; all sizes with 25 x 25 seeds.
    codes : {"one-hot", "ordinal"}
        How text columns become numbers.
    split : {"trial", "partition", "fixed"}
        When test individuals are drawn.
    set, out, jobs, backend, seed, command, progress
        As in `polyculture.lab.sharing` and `polyculture.reproduce`.
    """
    return experiment(
        NAME,
        plan(scale, codes=codes, split=split, seed=seed),
        reading=f"codes {codes}, split {split}, scale {scale}",
        notes=_NOTES,
        out=out,
        settings=set,
        jobs=jobs,
        backend=backend,
        command=command,
        progress=progress,
    )
