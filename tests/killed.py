"""A run of `polyculture lab` that is killed at any moment, again and again, against one that was not."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from make_people import people
from store_tree import tree

# Kills itself with SIGKILL while the bytes of the n-th file lie under their temporary name.
MID_WRITE = """
import os, signal, sys
real, left = os.fsync, int(sys.argv.pop(1))
def fsync(handle):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    real(handle)
os.fsync = fsync
from polyculture.cli import main
sys.exit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Killed:
    """A command that is killed; its store ends with so many files of a kind.

    Attributes
    ----------
    of : str
        "sharing" or "loop".
    plan : str
        Its TOML, over people.csv.
    files : str
        Pattern of the files that it writes one after the other.
    many : int
        How many of them there are at the end.
    wait : float
        Seconds after the first new file, at most, in which it is killed.
    """

    of: str
    plan: str
    files: str
    many: int
    wait: float

    @property
    def words(self) -> list[str]:
        return ["lab", self.of, "plan.toml", "--out", "out", "--quiet"]

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "polyculture.cli", *self.words]

    def begin(self, folder: Path) -> Path:
        folder.mkdir()
        people().write_csv(folder / "people.csv")
        (folder / "plan.toml").write_text(self.plan)
        return folder

    def written(self, folder: Path) -> int:
        store = folder / "out" / "store"
        return len(list(store.glob(self.files))) if store.exists() else 0

    def at_random(self, folder: Path, draw: random.Random) -> bool:
        """Start the run, kill it some time after it began to write; False if it was done before."""
        before = self.written(folder)
        process = subprocess.Popen(self.command, cwd=folder)
        while process.poll() is None and self.written(folder) <= before:
            time.sleep(0.002)
        time.sleep(draw.random() * self.wait)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    def mid_write(self, folder: Path, draw: random.Random) -> bool:
        """Let the run kill itself while it writes a file; False if it was done before."""
        command = [sys.executable, "-c", MID_WRITE, str(draw.randint(1, 6)), *self.words]
        done = subprocess.run(command, cwd=folder, check=False).returncode == -signal.SIGKILL
        if done:
            assert list((folder / "out" / "store").glob(".polyculture-*.tmp")) or self.written(folder) == self.many
        return done

    def at_the_end(self, folder: Path, after: int) -> None:
        """Let a run whose store is whole kill itself at the n-th file of its results; what it began lies there."""
        command = [sys.executable, "-c", MID_WRITE, str(after), *self.words]
        assert subprocess.run(command, cwd=folder, check=False).returncode == -signal.SIGKILL
        assert list((folder / "out").glob(".polyculture-*.tmp"))

    def again_and_again(self, tmp_path: Path, times: int) -> Path:
        """Kill the run so many times, hold it to the bytes of one that was not, and return the folder of that."""
        whole = self.begin(tmp_path / "whole")
        subprocess.run(self.command, cwd=whole, check=True)
        broken = self.begin(tmp_path / "broken")
        draw, killed = random.Random(times), 0
        while killed < times:
            done = (self.mid_write if killed % 2 else self.at_random)(broken, draw)
            killed += done
            if not done:
                assert tree(broken / "out") == tree(whole / "out")
                for path in (broken / "out" / "store").iterdir():
                    path.unlink()
        subprocess.run(self.command, cwd=broken, check=True)
        for after in (1, 3):  # sharing.json or loop.json, and a table
            self.at_the_end(broken, after)
        subprocess.run(self.command, cwd=broken, check=True)
        assert tree(broken / "out") == tree(whole / "out")
        assert self.written(whole) == self.many
        return whole / "out" / "store"
