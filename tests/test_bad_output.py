"""Outputs that cannot be written, and runs that are broken off: said in words, and nothing is left half-written."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

LABEL = ("--label", "true", "--models", "one,two")

UNWRITABLE = {
    "no such folder": ("{folder}/nowhere/a.html", "no folder"),
    "a folder": ("{folder}", "is a folder"),
    "below a file": ("{folder}/outcomes.csv/a.html", "no folder"),
    "a place where nothing can be made": ("/proc/a.html", "cannot write"),
    "the source itself": ("{folder}/outcomes.csv", "a source"),
    "nothing": ("", "needs a name"),
}


@pytest.mark.parametrize(("path", "says"), UNWRITABLE.values(), ids=UNWRITABLE.keys())
@pytest.mark.parametrize("option", ["--html", "--json"])
def test_an_unwritable_output_is_refused_before_reading(
    option: str, path: str, says: str, tmp_path: Path, shell: Callable[..., object]
) -> None:
    source = tmp_path / "outcomes.csv"
    source.write_text("not,even\nread\n")
    done = shell("audit", source, *LABEL, option, path.format(folder=tmp_path))
    assert done.status == 2
    assert option in done.err
    assert says in done.err
    assert source.read_text() == "not,even\nread\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["outcomes.csv"]


def test_two_outputs_to_one_file_are_refused(tmp_path: Path, shell: Callable[..., object]) -> None:
    done = shell("audit", "hapi:waimai", "--html", tmp_path / "a", "--json", tmp_path / "a")
    assert done.status == 2
    assert "the file of --json" in done.err


def run(words: list[str], *, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a process, with a largest size of files where one is given."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "polyculture.cli", *words],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=restrict,
    )


@pytest.mark.parametrize("option", ["--html", "--json"])
def test_a_full_disk_is_said_and_leaves_nothing(option: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the same call of the system fails halfway."""
    old = tmp_path / "report"
    old.write_text("the old one")
    done = run(["audit", "hapi:waimai", option, str(old)], limit=2000)
    assert done.returncode == 2
    assert "Cannot write" in done.stderr
    assert str(old) in done.stderr
    assert "Traceback" not in done.stderr
    assert old.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report"]


def test_a_full_device_is_said() -> None:
    done = run(["audit", "hapi:waimai", "--json", "/dev/full"])
    assert done.returncode == 2
    assert "no space left on device" in done.stderr
    assert Path("/dev/full").is_char_device()


def test_full_standard_output_is_said() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "polyculture.cli", "datasets"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("polyculture: error: No space is left")
    assert "Traceback" not in done.stderr


INTERRUPT_ITSELF = """
import os, signal, sys, time
from polyculture.report import html
def draw(record):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(30)
html.html = draw
from polyculture.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupt_leaves_the_old_file(tmp_path: Path) -> None:
    old = tmp_path / "a.html"
    old.write_text("the old one")
    words = ["audit", "hapi:waimai", "--html", str(old), "--json", str(tmp_path / "a.json")]
    done = subprocess.run([sys.executable, "-c", INTERRUPT_ITSELF, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "polyculture: interrupted; no file was changed.\n"
    assert old.read_text() == "the old one"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.full
def test_an_interrupt_while_polars_counts(tmp_path: Path) -> None:
    """Ctrl-C at any moment of a long run: in the middle of the check of a CSV file, or of the pass."""
    path = tmp_path / "long.csv"
    pl.DataFrame({f"m{j}": [(i * (j + 1)) % 3 == 0 for i in range(3_000_000)] for j in range(3)}).cast(
        pl.Int8
    ).write_csv(path)
    command = [
        sys.executable,
        "-m",
        "polyculture.cli",
        "audit",
        str(path),
        "--outcomes",
        "failed",
        "--html",
        str(tmp_path / "a.html"),
    ]
    for wait in (0.5, 0.8, 1.2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (0, 130)
        assert "Traceback" not in err
        assert {entry.name for entry in tmp_path.iterdir()} <= {"long.csv", "a.html"}
    assert process.returncode == 130 or (tmp_path / "a.html").exists()


def test_a_closed_pipe_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    words = ["audit", "hapi:waimai", "--json", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "polyculture.cli", *words], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")
