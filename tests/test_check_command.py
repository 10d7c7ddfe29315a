"""`polyculture check` in the shell: exit status, files, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import polyculture as pc

Shell = Callable[..., Any]
HIGH = "systemic_failure.observed.high"


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pc.audit("hapi:waimai").json(tmp_path / "audit.json")
    return Path("audit.json")


def test_the_exit_status_is_the_verdict(shell: Shell, audit: Path) -> None:
    assert shell("check", audit, "--at-most", f"{HIGH}=0.08").status == 0
    assert shell("check", audit, "--at-most", f"{HIGH}=0.05").status == 1
    assert shell("check", audit, "--at-most", "group_homogenization.worst=9").status == 1  # undefined
    assert shell("check", audit, "--at-most", "systemic_falure=9").status == 2


def test_every_output_at_once(shell: Shell, audit: Path) -> None:
    Path("limits.toml").write_text(f'[[limit]]\nfield = "{HIGH}"\nat_most = 0.05\nbecause = "one in 20"\n')
    done = shell(
        "check", audit, "--limits", "limits.toml", "--at-least", "individuals=1", "--github", "--quiet",
        "--json", "check.json", "--junit", "check.xml", "--markdown", "check.md",
    )  # fmt: skip
    assert done.status == 1
    assert done.err == ""
    assert re.fullmatch(r"::error file=limits.toml,title=broken%3A \S+,line=1::.* one in 20\n", done.out)
    written = json.loads(Path("check.json").read_text())
    assert [(one["field"], one["verdict"], one["place"]) for one in written["limits"]] == [
        (HIGH, "broken", "limits.toml, limit 1"),
        ("individuals", "within", "--at-least"),
    ]
    assert written["counted_as_broken"] == 1
    assert written["limits"][1]["limit"] == 2
    assert "<testcase" in Path("check.xml").read_text()
    assert "**broken**" in Path("check.md").read_text()


def test_json_on_standard_output_stands_alone(shell: Shell, audit: Path) -> None:
    done = shell("check", audit, "--at-most", f"{HIGH}=0.05", "--json", "-")
    assert done.status == 1
    assert json.loads(done.out)["broken"] == 1


def test_changes_against_a_stored_audit(shell: Shell, audit: Path) -> None:
    limit = ("--at-most-increase", "models[*].failure_rate=0")
    assert shell("check", audit, *limit, "--against", audit).status == 0
    done = shell("check", audit, *limit)
    assert done.status == 2
    assert "names no result to measure it from" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--limits", "none.toml"), "There is no file 'none.toml'"),
        ((), "There are no limits"),
        (("--at-most", f"{HIGH}=nan"), "bounds nothing"),
        (("--at-most", HIGH), "is no limit"),
        (("--at-most", f"{HIGH}=1", "--json", "-", "--github"), "would mix"),
        (("--at-most", f"{HIGH}=1", "--junit", "audit.json"), "would overwrite"),
        (("--at-most", f"{HIGH}=1", "--junit", "no/such.xml"), "there is no folder 'no'"),
        (("--at-most-change", "individuals=1", "--against", "none.json"), "There is no file 'none.json'"),
        (("--at-mst", "individuals=1"), "--at-mst"),
    ],
)
def test_a_wrong_call_is_refused(shell: Shell, audit: Path, words: tuple[str, ...], says: str) -> None:
    before = sorted(Path().iterdir())
    done = shell("check", audit, *words)
    assert done.status == 2
    assert says in done.err
    assert "Traceback" not in done.err
    assert sorted(Path().iterdir()) == before


def test_the_schema_is_printed(shell: Shell) -> None:
    assert json.loads(shell("schema", "check").out)["$id"] == "polyculture/check/1"
    assert "Did you mean 'check'?" in shell("schema", "chek").err


def test_numbers_of_a_comparison_are_named_by_snapshots_and_models(shell: Callable[..., Any], tmp_path: Path) -> None:
    tables = [pl.DataFrame({"id": range(60), "a": [1] * n + [0] * (60 - n), "b": [1, 0] * 30}) for n in (30, 20)]
    pc.compare(*tables, id="id", outcomes="failed").json(tmp_path / "c.json")
    limits = ("changes[0].systemic_failure.rate.difference.high=1", "changes[0].undoing[0].improved=99")
    words = [word for limit in limits for word in ("--at-most", limit)]
    done = shell("check", tmp_path / "c.json", *words, "--json", "-")
    assert done.status == 0, done.err
    assert [line["field"] for line in json.loads(done.out)["limits"]] == [
        "changes[before=before, after=after].systemic_failure.rate.difference.high",
        "changes[before=before, after=after].undoing[reading=before].improved",
    ]
