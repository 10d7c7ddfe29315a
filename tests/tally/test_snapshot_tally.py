"""SnapshotTally: parts add up, files give it back, and the trend of parts is the trend of the whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polyculture as pc
from polyculture.errors import TallyError, UsageError

OPTIONS: dict[str, Any] = {"id": "id", "outcomes": "failed", "models": ["a", "b", "c"]}


def stacked(snapshots: int = 3, rows: int = 240) -> pl.DataFrame:
    parts = []
    for place in range(snapshots):
        rng = np.random.default_rng(place)
        failed = {name: rng.random(rows) < 0.3 for name in "abc"}
        columns = {name: [None if rng.random() < 0.05 else int(x) for x in values] for name, values in failed.items()}
        date = pl.lit(f"202{place}")
        parts.append(pl.DataFrame({"id": range(rows), **columns}).with_columns(date=date))
    return pl.concat(parts).with_columns(
        site=pl.col("id") // 10, sex=pl.when(pl.col("id") % 3 == 0).then(pl.lit("f")).otherwise(pl.lit("m")), w=1.5
    )


FULL = {**OPTIONS, "snapshot": "date", "cluster": "site", "by": ["sex"]}


def tally(table: pl.DataFrame, **options: Any) -> pc.SnapshotTally:
    return pc.compare(table, **{**FULL, **options}).tally


@pytest.mark.parametrize("more", [{}, {"cluster": None, "weight": "w"}], ids=["clusters", "weights"])
def test_parts_add_up_to_the_whole(more: dict[str, Any]) -> None:
    table = stacked()
    whole = pc.compare(table, **{**FULL, **more})
    parts = [tally(table.filter(keep), **more) for keep in (pl.col("id") < 90, pl.col("id") >= 90)]
    assert parts[0] + parts[1] == whole.tally
    assert parts[1] + parts[0] == whole.tally
    again = pc.compare(parts[1] + parts[0])
    assert again.record.changes == whole.record.changes
    assert again.record.trend == whole.record.trend
    assert again.record.snapshots == whole.record.snapshots
    assert again.record.provenance.rows_used == whole.record.provenance.rows_used == 720


def test_saved_and_loaded_it_is_the_same_and_so_are_the_bytes(tmp_path: Path) -> None:
    kept = tally(stacked())
    kept.save(tmp_path / "one")
    loaded = pc.SnapshotTally.load(tmp_path / "one")
    assert loaded == kept
    loaded.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    plain = tally(stacked(2), cluster=None, by=())
    plain.save(tmp_path / "plain")
    assert pc.SnapshotTally.load(tmp_path / "plain") == plain != kept


def test_a_repeat_is_kept(tmp_path: Path) -> None:
    parts = stacked().partition_by("date")
    found = pc.compare(parts[0], parts[1], repeat=parts[2], **OPTIONS)
    found.tally.save(tmp_path / "kept")
    again = pc.compare(tmp_path / "kept")
    assert again.record.changes == found.record.changes
    assert again.models[0].churned.value is not None
    with pytest.raises(TallyError, match="Only one of these SnapshotTallies has a repeat"):
        found.tally + dataclasses.replace(found.tally, repeat=None)


def test_the_command_keeps_counts_and_reads_them_again(shell: Callable[..., Any], tmp_path: Path) -> None:
    table = stacked()
    words = ("--id", "id", "--outcomes", "failed", "--models", "a,b,c", "--snapshot", "date")
    for name, keep in (("north", pl.col("id") < 90), ("south", pl.col("id") >= 90)):
        table.filter(keep).write_csv(tmp_path / f"{name}.csv")
        done = shell("compare", tmp_path / f"{name}.csv", *words, "--tally", tmp_path / f"{name}.tally")
        assert done.status == 0, done.err
        assert f"{name}.tally" in done.out
    saved = [tmp_path / "north.tally", tmp_path / "south.tally"]
    done = shell("compare", *saved, "--json", tmp_path / "c.json")
    assert done.status == 0, done.err
    whole = pc.compare(table, **OPTIONS, snapshot="date")
    found = pc.compare(saved)
    assert found.record.changes == whole.record.changes
    assert found.record.trend == whole.record.trend
    assert [(one.name, one.format) for one in found.record.provenance.inputs] == [
        (str(path), "SnapshotTally") for path in saved
    ]
    assert '"trend":[' in (tmp_path / "c.json").read_text().replace(" ", "").replace("\n", "")


def test_what_is_no_part_of_the_same_snapshots_is_not_added() -> None:
    table = stacked()
    early, late = (tally(table.filter(pl.col("date").is_in(dates))) for dates in (["2020", "2021"], ["2021", "2022"]))
    with pytest.raises(TallyError, match=r"different snapshots .*'2020', '2021'.*'2021', '2022'"):
        early + late
    with pytest.raises(TallyError, match="different snapshots"):
        early + tally(table)
    with pytest.raises(TallyError, match="different models"):
        tally(table) + tally(table, models=["a", "b"])
    parts = [tally(table.filter(pl.col("id") < 90)), tally(table, cluster=None)]
    with pytest.raises(TallyError, match="clusters"):
        parts[0] + parts[1]
    with pytest.raises(TallyError, match="other models, snapshots or clusters"):
        parts[0].moments + parts[1].moments  # type: ignore[operator]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("beside outcomes", "holds the earlier and the later one"),
        ("later", "which holds both"),
        ("columns", "so that id has no use"),
        ("match", "so that match has no use"),
        ("with a table", r"is a tally of snapshots and .* is not"),
        ("twice", "counted twice"),
        ("to audit", "holds counts of several snapshots"),
        ("damaged", "is no tally of snapshots, or it is damaged"),
        ("another version", "of another version"),
    ],
)
def test_wrong_calls_say_what_to_do(case: str, message: str, tmp_path: Path) -> None:
    table = stacked(2)
    table.write_csv(tmp_path / "t.csv")
    saved = tmp_path / "kept"
    tally(table).save(saved)
    if case == "damaged":
        saved.write_bytes(saved.read_bytes()[:-400])
    if case == "another version":
        from polyculture.tally.archive import SNAPSHOT_HEADER, write_archive

        write_archive(saved, SNAPSHOT_HEADER, {"format": "polyculture/snapshots/9"}, {})
    calls: dict[str, Callable[[], object]] = {
        "beside outcomes": lambda: pc.compare(saved, tmp_path / "t.csv"),
        "later": lambda: pc.compare(tmp_path / "t.csv", saved),
        "columns": lambda: pc.compare(saved, id="id"),
        "match": lambda: pc.compare(saved, match="a=b"),
        "with a table": lambda: pc.compare([saved, tmp_path / "t.csv"]),
        "twice": lambda: pc.compare([saved, saved]),
        "to audit": lambda: pc.audit(saved),
    }
    with pytest.raises((UsageError, TallyError), match=message) as caught:
        calls.get(case, lambda: pc.compare(saved))()
    assert caught.value.hint
