"""Random files and random options through the command: never a traceback, never half a file.

POLYCULTURE_FUZZ is the number of files of all these tests together; 150 in the fast tier, at least 10,000 in
the full one (`make test`), which is where most of the time of that tier goes.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polyculture.cli import main

FULL = 10_000
FAST = 150
SHARDS = 4  # of each kind, so that workers can share them

NAMES = st.one_of(
    st.sampled_from(["id", "true", "one", "two", "w", "n", "sex", "age", "model", "value", "a,b", 'q"q', "x\ny", "🦆"]),
    st.sampled_from(["<script>", "=cmd()", "{{x}}", "[b]", "", " ", "value", "count", "__count", "__g0", "age>=40"]),
    st.text(max_size=8),
)
VALUES = st.one_of(
    st.sampled_from(["", "0", "1", "a", "b", "true", "false", "null", "NaN", "inf", "-1", "1.5", "1e999", "unknown"]),
    st.sampled_from(["=cmd()", "<b>", '"', "'", ",", "\n", "\x00", "é", "9" * 40, "2020-01-01", " a"]),
    st.text(max_size=6),
    st.integers(-3, 3).map(str),
)
ROWS = 12


@st.composite
def separated(draw: st.DrawFn) -> bytes:
    """Draw a text file that may be a table, quoted or not, whole or not, in some encoding."""
    names = draw(st.lists(NAMES, min_size=0, max_size=6))
    separator = draw(st.sampled_from([",", ";", "\t", "|"]))
    quoted = draw(st.booleans())
    rows = draw(st.lists(st.lists(VALUES, min_size=max(0, len(names) - 1), max_size=len(names) + 1), max_size=ROWS))
    if draw(st.integers(0, 3)):
        rows = [(row + [""] * len(names))[: len(names)] for row in rows]

    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if quoted else text

    lines = [separator.join(map(cell, row)) for row in [names, *rows]]
    text = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(lines) + draw(st.sampled_from(["", "\n"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    data = text.encode(encoding, errors="replace")
    if not draw(st.integers(0, 3)):
        data = data[: draw(st.integers(0, len(data)))]
    return gzip.compress(data) if not draw(st.integers(0, 9)) else data


def good_files() -> dict[str, bytes]:
    """Return one small table in every format."""
    rows = range(40)
    frame = pl.DataFrame(
        {
            "id": [f"p{i}" for i in rows],
            "true": [["a", "b"][i % 2] for i in rows],
            "one": [["a", "b"][i % 3 % 2] for i in rows],
            "two": [["a", "b", None][i % 3] for i in rows],
            "sex": [["f", "m", "unknown", None][i % 4] for i in rows],
            "age": [20.0 + i for i in rows],
            "w": [1.0 + i % 2 for i in rows],
            "n": [1 + i % 3 for i in rows],
            "out": [i % 2 for i in rows],
        }
    )
    found = {"csv": frame.write_csv().encode(), "jsonl": frame.write_ndjson().encode()}
    for name in ("parquet", "ipc", "ipc_stream"):
        buffer = io.BytesIO()
        getattr(frame, f"write_{name}")(buffer)
        found[name] = buffer.getvalue()
    found["gz"] = gzip.compress(found["csv"])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "a.csv"), Path(folder, "a.tally")
        source.write_bytes(found["csv"])
        assert main(["tally", str(source), "--label", "true", "--models", "one,two", "-o", str(target), "--quiet"]) == 0
        found["tally"] = target.read_bytes()
    return found


GOOD = good_files()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a good file with bytes changed, cut off, repeated, or put in."""
    data = bytearray(GOOD[draw(st.sampled_from(sorted(GOOD)))])
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.integers(0, 3)):
            case 0:
                data[place : place + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del data[place:]
            case 2:
                data[place:place] = draw(st.binary(max_size=6))
            case _:
                data[place:place] = data[place : place + draw(st.integers(0, 60))]
    return bytes(data)


COLUMNS = st.sampled_from(["id", "true", "one", "two", "sex", "age", "w", "n", "out", "none", ""])
WORDS = st.one_of(COLUMNS, VALUES, st.text(max_size=6)).filter(lambda word: "\x00" not in word)
EXPRESSIONS = st.one_of(
    WORDS,
    st.builds(
        lambda left, sign, right: f"{left}{sign}{right}",
        COLUMNS,
        st.sampled_from(["=", "!=", "<", ">=", " in ", " not in [", " and ", "("]),
        WORDS,
    ),
    st.builds(lambda column, bins: f"quantiles({column}, {bins})", COLUMNS, st.integers(-1, 5)),
)
OPTIONS: dict[str, st.SearchStrategy[str]] = {
    "--id": WORDS,
    "--label": st.one_of(st.just("true"), WORDS),
    "--models": st.one_of(st.sampled_from(["one,two", "o*", "*", "out,n", "["]), WORDS),
    "--by": EXPRESSIONS,
    "--snapshot": EXPRESSIONS,
    "--weight": WORDS,
    "--count": WORDS,
    "--cluster": WORDS,
    "--model": WORDS,
    "--value": WORDS,
    "--outcomes": st.sampled_from(["failed", "correct", "both"]),
    "--failure": st.one_of(
        st.sampled_from(["misclassified", "decision=a", "false-negative=a", "score<0.5", "outside-top=0.2"]),
        st.sampled_from(["score<x", "outside-top=2", "decision="]),
        WORDS,
    ),
    "--failed-when": EXPRESSIONS,
    "--pending": WORDS,
    "--no-answer": st.sampled_from(["failed", "missing", "x"]),
    "--no-answer-values": WORDS,
    "--min-judged": st.sampled_from(["0", "1", "2", "3", "99", "x"]),
    "--min-cell": st.sampled_from(["-1", "1", "30"]),
    "--max-groups": st.sampled_from(["0", "1", "1000"]),
    "--positive": WORDS,
    "--encoding": st.sampled_from(["utf-8", "latin-1", "utf-16", "rot13", "zip", "idna", "base64", ""]),
    "--correction": st.sampled_from(["bh", "holm", "none"]),
    "--seed": st.sampled_from(["-1", "0", "3", "99999999999999999999"]),
    "--noun": WORDS,
}
FLAGS = ("--long", "--census", "--dry-run")


@st.composite
def options(draw: st.DrawFn, most: int = 5) -> list[str]:
    """Draw options, each at most once, joined to their values so that a value may begin with a dash."""
    names = draw(st.lists(st.sampled_from(sorted(OPTIONS)), unique=True, max_size=most))
    return [f"{name}={draw(OPTIONS[name])}" for name in names] + draw(
        st.lists(st.sampled_from(FLAGS), unique=True, max_size=1)
    )


USUAL = st.sampled_from(
    [
        ["--label", "true"],
        ["--label", "true", "--models", "one,two"],
        ["--label", "true", "--models", "one,two", "--by", "sex"],
        ["--outcomes", "failed"],
        ["--outcomes", "failed", "--models", "one,two", "--id", "id"],
        ["--label", "true", "--long", "--id", "id", "--model", "model", "--value", "value"],
        [],
    ]
)
MAPS = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda key, value: f"{key} = {value}\n".encode(errors="replace"),
        st.sampled_from(["label", "by", "models", "long", "colour", "[columns]\nid", "min-judged"]),
        st.sampled_from(['"true"', "3", "true", '["one", "two"]', "[1]", "{a = 1}", "2020-01-01", "nan"]),
    ),
)

KINDS: dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "tables": (separated(), st.one_of(USUAL, options(3)), st.none()),
    "damaged": (damaged(), USUAL, st.none()),
    "options": (st.sampled_from([GOOD["csv"], GOOD["parquet"]]), options(), st.none()),
    "maps": (st.just(GOOD["csv"]), options(1), MAPS),
}


def refused_or_done(data: bytes, words: list[str], column_map: bytes | None, folder: Path) -> None:
    """Run the command on a file and check how it ended."""
    shutil.rmtree(folder, ignore_errors=True)
    out = folder / "out"
    out.mkdir(parents=True)
    (folder / "file").write_bytes(data)
    if column_map is not None:
        (folder / "map.toml").write_bytes(column_map)
        words = [*words, "--map", str(folder / "map.toml")]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        arguments = ["audit", str(folder / "file"), *words, "--json", str(out / "a.json"), "--tables", str(out / "t")]
        status = main(arguments)
    text = said.getvalue()
    assert status in (0, 2), text
    assert "Traceback" not in text
    written = {path.name for path in out.iterdir()}
    if status == 2:
        assert text.startswith("polyculture: error: "), text
        assert len(text) < 3000
        assert written == set()
    elif "--dry-run" not in words:
        assert written == {"a.json", "t"}


def _cases() -> list[Any]:
    cases: list[Any] = [pytest.param(kind, FAST // len(KINDS), id=f"{kind}-fast") for kind in KINDS]
    total = max(int(os.environ.get("POLYCULTURE_FUZZ", FULL)), len(KINDS) * SHARDS)
    each = -(-total // (len(KINDS) * SHARDS))
    cases += [
        pytest.param(kind, each, id=f"{kind}-full-{shard}", marks=pytest.mark.full)
        for kind in KINDS
        for shard in range(SHARDS)
    ]
    return cases


@pytest.mark.parametrize(("kind", "examples"), _cases())
@pytest.mark.timeout(1500)
def test_random_files_give_no_traceback(
    kind: str, examples: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    files, options_given, maps = KINDS[kind]

    def check(data: bytes, words: list[str], column_map: bytes | None) -> None:
        refused_or_done(data, words, column_map, tmp_path / "work")

    fast = request.node.get_closest_marker("full") is None
    rules = settings(
        max_examples=examples,
        deadline=None,
        derandomize=fast,  # the fast tier says the same on every run; the full one looks further each time
        database=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    rules(given(files, options_given, maps)(check))()
