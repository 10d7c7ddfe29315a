"""How fast networks of a loop are trained: an epoch against a bare loop of PyTorch, and two processes against one.

    python benchmarks/speed_loops.py [--batches 20]

Sizes are those of the paper: images of 3 x 28 x 28 in batches of 256, its autoencoder and its classifier, one thread.
An epoch of ours is all that a loop does: seeds, checks, rows to tensors, skorch. The bare loop takes the same batches
of the same module with the same loss and optimizer. Both are timed in seconds of the processor, which other work on the
machine changes least.
"""

from __future__ import annotations

import sys
import time
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


def alone(kind: str, batches: int) -> float:
    """Return the seconds by the clock of one epoch."""
    start = time.perf_counter()
    ours(kind, batches)
    return time.perf_counter() - start


def both(kind: str, batches: int) -> float:
    """Return the seconds in which two processes each train one epoch; they have started before."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(ours, [kind] * 2, [1] * 2))  # imports
        start = time.perf_counter()
        list(pool.map(ours, [kind] * 2, [batches] * 2))
        return time.perf_counter() - start


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
    one = median(alone("autoencoder", batches) for _ in range(3))
    two = median(both("autoencoder", batches) for _ in range(3))
    print(f"\nTwo processes of one thread do {2 * one / two:.2f} times as much as one (wanted: {SCALING:g}).")


if __name__ == "__main__":
    main()
