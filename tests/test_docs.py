"""The examples of the README and of docs/ run, in order, page by page, and print what the page says.

A ```console block holds commands after ``$`` and their output; a ```python block holds a doctest (``>>>``) or
plain code; a block after ``<!-- file: NAME -->`` is written to that file. A block after ``<!-- data: NAME -->`` needs
that file of the outside data ($POLYCULTURE_DATA) and is left out without it. ``...`` stands for any text.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import polyculture as pc

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?(?:<!-- data: (?P<data>\S+) -->\n)?"
    r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
DATA = Path(os.environ.get("POLYCULTURE_DATA", ROOT.parent / "shared" / "data")).resolve()
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_WIDTH = "88"


def blocks(page: Path) -> Iterator[re.Match[str]]:
    yield from _BLOCK.finditer(page.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Split a console block into commands (with their continued lines) and what they print."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\\n")) + 1
        yield "".join(lines[:end]).replace("\\\n", " "), "".join(lines[end:])


def same(expected: str, got: str) -> bool:
    def plain(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    return doctest.OutputChecker().check_output(plain(expected) + "\n", plain(got) + "\n", _FLAGS)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_examples_print_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", _WIDTH)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("POLYCULTURE_DATA", str(DATA))
    names: dict[str, object] = {"__name__": "example"}
    absent = [block["data"] for block in blocks(page) if block["data"] and not (DATA / block["data"]).exists()]
    for block in blocks(page):
        text, kind = block["text"], block["kind"]
        if block["data"] in absent:
            continue
        line = page.read_text(encoding="utf-8")[: block.start()].count("\n") + 1
        if block["file"]:
            (tmp_path / block["file"]).write_text(text, encoding="utf-8")
        elif kind == "console":
            for command, expected in commands(text):
                done = subprocess.run(
                    ["bash", "-c", command],
                    capture_output=True,
                    text=True,
                    check=False,
                    env={**os.environ, "NO_COLOR": "1"},
                )
                got = done.stdout + done.stderr
                assert same(expected, got), (
                    f"{page.name}, line {line}: {command}\nprinted\n{got}\nthe page says\n{expected}"
                )
        elif kind == "python" and ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, names, f"{page.name}, line {line}", str(page), line)
            failures: list[str] = []
            doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=failures.append, clear_globs=False)
            assert not failures, "".join(failures)
            names = test.globs
        elif kind == "python":
            exec(compile(text, f"{page.name}, line {line}", "exec"), names)  # noqa: S102 (our own pages)
    if absent:
        pytest.skip(f"all but the examples on {absent[0]}, which is not in {DATA}: set POLYCULTURE_DATA")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_the_reference_names_every_option() -> None:
    from dataclasses import fields

    from polyculture.commands.options import ColumnOptions

    text = (ROOT / "docs" / "reference-cli.md").read_text(encoding="utf-8")
    words = [field.name for field in fields(ColumnOptions)]
    words += [
        "min_cell",
        "census",
        "slices",
        "slices_by",
        "components",
        "correction",
        "seed",
        "noun",
        "json",
        "html",
        "tables",
        "failed_by_all",
        "dry_run",
        "quiet",
        "match",
        "repeat",
    ]
    for word in words:
        assert f"`--{word.replace('_', '-')}" in text, word


def test_the_reference_names_every_field_of_the_json() -> None:
    from polyculture.report.json import SCHEMA_NAMES, json_schema

    text = (ROOT / "docs" / "reference-json.md").read_text(encoding="utf-8")
    for result in SCHEMA_NAMES:
        for name, definition in json_schema(result)["$defs"].items():
            for field in definition["properties"]:
                assert f"`{field}`" in text, f"{name}.{field}"


def test_the_version_is_the_same_everywhere() -> None:
    assert f"version: {pc.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {pc.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
