"""Write what the examples of the README and of docs/ print now into the pages: `make docs`. Read the diff after it.

A part left out (``...``) stays left out: each part that is shown is found again by its first line.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import subprocess
import sys
import tempfile
from difflib import get_close_matches
from pathlib import Path

from test_docs import _BLOCK, _WIDTH, DATA, PAGES, commands


def shown_again(expected: str, got: str) -> str:
    """Return the new output with the same parts left out as in the old one."""
    lines = [line.rstrip() for line in got.strip("\n").splitlines()]
    old = expected.rstrip("\n").splitlines()
    if "..." not in old:
        return "".join(f"{line}\n" for line in lines)
    result: list[str] = []
    start = 0
    for part in "\n".join(old).split("\n...\n"):
        wanted = part.removesuffix("\n...").splitlines()
        found = get_close_matches(wanted[0], lines[start:], n=1, cutoff=0.5)
        if not found:
            raise SystemExit(f"no line like {wanted[0]!r} in\n{got}")
        start += lines[start:].index(found[0])
        result += ["...", *lines[start : start + len(wanted)]]
        start += len(wanted)
    ends = ["..."] if old[-1] == "..." else []
    return "".join(f"{line}\n" for line in [*result[1:], *ends])


def run_console(text: str) -> str:
    """Run the commands of a console block and return the block with what they print."""
    parts = []
    for command, expected in commands(text):
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        parts.append((expected, shown_again(expected, done.stdout + done.stderr)))
    for expected, new in parts:
        if expected:
            text = text.replace(expected, new, 1)
    return text


def run_doctest(text: str, names: dict[str, object]) -> str:
    """Run the examples of a doctest block and return the block with what they print."""
    for example in doctest.DocTestParser().get_examples(text):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(example.source, "docs", "single"), names)  # noqa: S102 (our own pages)
        if example.want:
            text = text.replace(example.want, said.getvalue(), 1)
    return text


def refresh(page: Path) -> str:
    """Run one page in a new folder and return it with new output."""
    names: dict[str, object] = {"__name__": "example"}
    text = page.read_text(encoding="utf-8")
    result, end = "", 0
    for block in _BLOCK.finditer(text):
        body, kind = block["text"], block["kind"]
        if block["data"] and not (DATA / block["data"]).exists():
            continue
        if block["file"]:
            Path(block["file"]).write_text(body, encoding="utf-8")
        elif kind == "console":
            body = run_console(body)
        elif kind == "python" and ">>>" in body:
            body = run_doctest(body, names)
        elif kind == "python":
            exec(compile(body, page.name, "exec"), names)  # noqa: S102 (our own pages)
        result += text[end : block.start("text")] + body
        end = block.end("text")
    return result + text[end:]


def main() -> None:
    """Refresh all pages."""
    os.environ |= {"COLUMNS": _WIDTH, "NO_COLOR": "1", "POLYCULTURE_DATA": str(DATA)}
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = refresh(page)
        page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
