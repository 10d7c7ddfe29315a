"""How fast networks of a loop are trained: an epoch against a bare loop of PyTorch, and two processes against one.

    python benchmarks/speed_loops.py [--batches 20]

Sizes are those of the paper: images of 3 x 28 x 28 in batches of 256, its autoencoder and its classifier, one thread.
An epoch of ours is all that a loop does: seeds, checks, rows to tensors, skorch. The bare loop takes the same batches
of the same module with the same loss and optimizer. Both are timed in seconds of the processor, which other work on the
machine changes least. How much two processes do is timed by the clock, of ours and of the bare loop in turns: what two
cores share, as caches do, slows both.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import median

import numpy as np
import torch
from torch import nn

from measure import machine
from polyculture.lab.loops.modules import VariationalLoss
from polyculture.lab.loops.torch_actors import CNN, VAE

BATCH, IMAGE, REPEATS = 256, (3, 28, 28), 3
LIMIT, SCALING = 1.1, 1.8


def rows(batches: int) -> tuple[np.ndarray, np.ndarray]:
    """Return so many batches of images as rows, and two classes."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (batches * BATCH, int(np.prod(IMAGE)))).astype(np.float32) / 255.0
    return pixels, rng.integers(0, 2, len(pixels))


def ours(kind: str, batches: int) -> float:
    """Return the seconds of one epoch as a loop trains it."""
    features, label = rows(batches)
    actor = (VAE if kind == "autoencoder" else CNN)(epochs=1, image=list(IMAGE))
    start = time.process_time()
    actor.fit(features) if kind == "autoencoder" else actor.fit(features, label)
    return time.process_time() - start


def bare(kind: str, batches: int) -> float:
    """Return the seconds of one epoch of a plain loop over the same batches."""
    features, label = rows(batches)
    actor = (VAE if kind == "autoencoder" else CNN)(epochs=1, image=list(IMAGE))
    actor.shape_, actor.classes_ = IMAGE, np.arange(2 if kind == "classifier" else 0)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    module = actor._module()
    module.train()
    x, y = torch.from_numpy(features).reshape(-1, *IMAGE), torch.from_numpy(label)
    start = time.process_time()
    if kind == "autoencoder":
        optimizer: torch.optim.Optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        loss = VariationalLoss("bernoulli", 1.0)
    else:
        optimizer, criterion = torch.optim.SGD(module.parameters(), lr=0.1), nn.CrossEntropyLoss()
    for part in torch.randperm(len(x)).split(BATCH):
        optimizer.zero_grad()
        if kind == "autoencoder":
            lost = loss(module(features=x[part]), x[part])
        else:
            lost = criterion(module(features=x[part]), y[part])
        lost.backward()
        optimizer.step()
    return time.process_time() - start


def scaling(pool: ProcessPoolExecutor, epoch: Callable[[str, int], float], batches: int) -> float:
    """Return how many times as much two processes do as one of them; they have started before."""
    seconds = []
    for processes in (1, 2):
        start = time.perf_counter()
        list(pool.map(epoch, ["autoencoder"] * processes, [batches] * processes))
        seconds.append(time.perf_counter() - start)
    return 2 * seconds[0] / seconds[1]


def main() -> None:
    """Measure and print both tables."""
    batches = int(sys.argv[sys.argv.index("--batches") + 1]) if "--batches" in sys.argv else 20
    print(machine())
    print(f"| one epoch of {batches} batches | ours | bare PyTorch | ratio | limit |")
    print("| --- | --- | --- | --- | --- |")
    for kind in ("autoencoder", "classifier"):
        ours(kind, 1), bare(kind, 1)
        # In turns, so that what else runs on the machine slows both alike.
        pairs = [(ours(kind, batches), bare(kind, batches)) for _ in range(REPEATS)]
        ratio = median(one / other for one, other in pairs)
        seconds = [median(side) for side in zip(*pairs, strict=True)]
        print(f"| {kind} | {seconds[0]:.2f} s | {seconds[1]:.2f} s | {ratio:.2f} | {LIMIT:g} |", flush=True)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        scaling(pool, ours, 1), scaling(pool, bare, 1)  # imports
        pairs = [(scaling(pool, ours, batches), scaling(pool, bare, batches)) for _ in range(2 * REPEATS)]
    mine, plain = (median(side) for side in zip(*pairs, strict=True))
    print(
        f"\nTwo processes of one thread do {mine:.2f} times as much as one (wanted: {SCALING:g}); "
        f"two bare loops {plain:.2f} times."
    )


if __name__ == "__main__":
    main()
