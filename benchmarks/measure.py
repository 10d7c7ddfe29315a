"""What the speed scripts share: a task in a process of its own, its best time and its peak memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Measured:
    """Seconds of each repetition, peak memory of the process in GiB, and what the task returned."""

    seconds: list[float]
    peak: float
    result: Any

    @property
    def best(self) -> float:
        """The best repetition, in seconds."""
        return min(self.seconds)

    @property
    def middle(self) -> float:
        """The median repetition, in seconds."""
        return median(self.seconds)


def in_process(task: str, *arguments: str, repeat: int = 3) -> Measured:
    """Run a task of the calling script in a fresh process, so that its peak memory is its own."""
    script = str(Path(sys.argv[0]).resolve())
    done = subprocess.run(
        [sys.executable, script, "--task", task, str(repeat), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{task} {arguments}: {done.stderr[-2000:]}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def answer(tasks: dict[str, Callable[..., Any]]) -> bool:
    """In the fresh process: run the task that was asked for, print what was measured, and return True."""
    if sys.argv[1:2] != ["--task"]:
        return False
    name, repeat, *arguments = sys.argv[2:]
    seconds, result = [], None
    for _ in range(int(repeat)):
        start = time.perf_counter()
        result = tasks[name](*arguments)
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": seconds, "peak": peak, "result": result}))
    return True


def machine() -> str:
    """Say on what, and under which load, something was measured."""
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, load before the run {load:.1f}, Python {sys.version.split()[0]}"
