"""How often intervals of differences of differences between kinds hold the truth, and tests reject without one.

``python benchmarks/coverage_kinds.py [REPLICATES]`` prints a table; individuals, models and humans share the difficulty
of an image, so that the errors of both kinds are correlated. Without the covariance of the kinds the intervals are
too wide; the last column shows by how much.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from polyculture.stats._rows import make_rows
from polyculture.stats.paired import Slot, joint

MODELS, HUMANS = np.arange(3), np.arange(3, 5)


@dataclass(frozen=True)
class World:
    """Shares of hard images in two groups, and failure rates of both kinds on easy and hard images."""

    name: str
    sizes: tuple[int, int]
    hard: tuple[float, float]
    models: tuple[tuple[float, float], tuple[float, float]]  # for each group (easy, hard)
    humans: tuple[tuple[float, float], tuple[float, float]]

    def excess(self, group: int, kind: str) -> float:
        """Return the true excess of systemic failure of one kind in one group."""
        easy, hard = getattr(self, kind)[group]
        k, h = {"models": 3, "humans": 2}[kind], self.hard[group]
        return (1 - h) * easy**k + h * hard**k - ((1 - h) * easy + h * hard) ** k

    @property
    def truth(self) -> float:
        """The true difference of differences."""
        models, humans = ([self.excess(group, kind) for group in (0, 1)] for kind in ("models", "humans"))
        return models[0] - models[1] - (humans[0] - humans[1])

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return failures (N, 5) and groups (N,)."""
        parts = []
        for group, size in enumerate(self.sizes):
            hard = rng.random(size) < self.hard[group]
            rates = [np.where(hard, kind[group][1], kind[group][0]) for kind in (self.models, self.humans)]
            parts.append(rng.random((size, 5)) < np.column_stack([rates[0]] * 3 + [rates[1]] * 2))
        return np.concatenate(parts), np.repeat([0, 1], self.sizes)


SAME = ((0.1, 0.6), (0.1, 0.6))
PLAIN = ((0.25, 0.25), (0.25, 0.25))
WORLDS = (
    World("no effect, shared difficulty", (208, 207), (0.3, 0.3), SAME, SAME),
    World("no effect, independent", (208, 207), (0.3, 0.3), PLAIN, PLAIN),
    World("same effect on both kinds", (208, 207), (0.2, 0.5), SAME, SAME),
    World("effect on models only", (208, 207), (0.3, 0.3), ((0.1, 0.9), (0.25, 0.25)), SAME),
    World("rare failures", (208, 207), (0.1, 0.1), ((0.02, 0.4), (0.02, 0.4)), ((0.02, 0.3), (0.02, 0.3))),
    World("many images, shared difficulty", (2000, 2000), (0.3, 0.3), SAME, SAME),
    World("uneven groups", (60, 600), (0.3, 0.3), ((0.1, 0.8), (0.1, 0.8)), SAME),
)


def study(world: World, replicates: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return coverage, share of tests that reject at 5 %, and the width without the covariance over that with it."""
    held = rejected = 0
    widths = np.zeros(2)
    for _ in range(replicates):
        failed, group = world.draw(rng)
        rows = make_rows(np.ones_like(failed), failed, np.ones(len(failed)))
        slots = [Slot(np.flatnonzero(group == g), kind, 2) for g in (0, 1) for kind in (MODELS, HUMANS)]
        found = joint(rows, slots, "all_fail")
        compared = found.difference_of_differences((0, 1), (2, 3))
        interval, p = compared.excess_difference, compared.p_value
        if interval.low is None or interval.high is None or p is None:
            continue
        held += interval.low <= world.truth <= interval.high
        rejected += p < 0.05
        apart = replace(found, excess=np.diag(np.diag(found.excess)))
        other = apart.difference_of_differences((0, 1), (2, 3)).excess_difference
        if other.low is not None and other.high is not None:
            widths += interval.high - interval.low, other.high - other.low
    return held / replicates, rejected / replicates, float(widths[1] / widths[0])


def main() -> None:
    """Print the table."""
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rng = np.random.default_rng(0)
    print(f"{'world':34}{'truth':>8}{'covered':>9}{'rejected':>10}{'width without / with covariance':>34}")
    for world in WORLDS:
        covered, rejected, wider = study(world, replicates, rng)
        print(f"{world.name:34}{world.truth:8.4f}{covered:9.3f}{rejected:10.3f}{wider:34.2f}")


if __name__ == "__main__":
    main()
