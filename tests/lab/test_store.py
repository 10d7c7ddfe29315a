"""A run that is killed at any moment goes on where it stopped, and ends with the bytes of one that was not."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

import polyculture as pc
from killed import Killed
from make_people import people
from polyculture.errors import FileError, OutputError, UsageError
from polyculture.lab.data import prepare
from polyculture.lab.plan import Plan
from polyculture.lab.run import run
from polyculture.lab.store import Store, locked
from store_tree import tree

PLAN = """
blocks = [2, 3, 4]
model_seeds = {seeds}
partition_seeds = {seeds}
chunk = 1
[data]
source = "people.csv"
id = "person"
groups = ["sex"]
[[task]]
name = "good"
label = "good"
[[task]]
name = "large"
label = "amount > 100"
[[learner]]
estimator = "sklearn.naive_bayes.GaussianNB"
"""


def killed(seeds: int) -> Killed:
    return Killed("sharing", PLAN.format(seeds=seeds), "trials-*", 3 * seeds * seeds, 0.06)


def test_three_kills_leave_the_same_bytes(tmp_path: Path) -> None:
    killed(seeds=4).again_and_again(tmp_path, 3)


@pytest.mark.full
def test_twenty_kills_leave_the_same_bytes(tmp_path: Path) -> None:
    killed(seeds=8).again_and_again(tmp_path, 20)


def test_how_long_chunks_took_stands_beside_the_store(plan: Callable[..., Plan], tmp_path: Path) -> None:
    run(plan(), tmp_path / "out")
    assert (tmp_path / "out" / "timings.csv").read_text().startswith("chunk,trials,seconds\n0,5,")


def test_a_store_of_another_plan_or_other_data_is_not_added_to(
    plan: Callable[..., Plan], tmp_path: Path, table: Path
) -> None:
    run(plan(), tmp_path / "out")
    with pytest.raises(UsageError, match="another plan: blocks"):
        run(plan(blocks=[3]), tmp_path / "out")
    people(seed=9).write_csv(table)
    with pytest.raises(UsageError, match=r"other data: people\.csv"):
        run(plan(), tmp_path / "out")


def test_other_versions_are_not_mixed(plan: Callable[..., Plan], tmp_path: Path) -> None:
    store = run(plan(), tmp_path / "out")
    old = msgspec.structs.replace(store.manifest, versions={**store.manifest.versions, "scikit-learn": "0.1"})
    (store.path / "manifest.json").write_bytes(msgspec.json.encode(old))
    with pytest.raises(UsageError, match="other libraries: scikit-learn"):
        run(plan(), tmp_path / "out")


def chunk_of(store: Store) -> Path:
    return store.chunks()[1]


def test_a_damaged_store_is_named_and_mended(plan: Callable[..., Plan], tmp_path: Path) -> None:
    store = run(plan(), tmp_path / "out")
    whole = tree(tmp_path / "out")
    chunk = chunk_of(store)
    content = bytearray(chunk.read_bytes())
    content[len(content) // 2] ^= 1
    chunk.write_bytes(bytes(content))
    with pytest.raises(FileError, match="is damaged") as caught:
        run(plan(), tmp_path / "out")
    assert "Delete it" in caught.value.hint
    chunk.unlink()
    with pytest.raises(FileError, match="lacks 1 of 3 chunks"):
        list(store.outcomes())
    run(plan(), tmp_path / "out")
    assert tree(tmp_path / "out") == whole
    individuals = store.path / "individuals.parquet"
    individuals.write_bytes(individuals.read_bytes()[:-20])
    with pytest.raises(FileError, match="does not hold who is in the data"):
        run(plan(), tmp_path / "out")
    with pytest.raises(FileError, match="cannot be read"):
        store.individuals()
    individuals.unlink()
    run(plan(), tmp_path / "out")
    assert tree(tmp_path / "out") == whole
    (store.path / "manifest.json").write_text('{"schema": "polyculture/lab-store/1"')
    with pytest.raises(FileError, match="damaged"):
        run(plan(), tmp_path / "out")
    with pytest.raises(FileError, match="no store"):
        Store.open(tmp_path / "elsewhere")


def test_trials_of_another_number_or_plan_are_refused(plan: Callable[..., Plan], tmp_path: Path) -> None:
    store = run(plan(), tmp_path / "out")
    first, second = (chunk.read_bytes() for chunk in (store.chunks()[0], store.chunks()[1]))
    chunk_of(store).unlink()
    store.write(1, first)
    with pytest.raises(FileError, match="holds trials 0, 1, 2, 3, 4, not 5 to 9"):
        list(store.outcomes())
    store.chunks()[1].unlink()
    store.write(1, second)
    other = run(plan(blocks=[2, 3]), tmp_path / "other")
    store.chunks()[2].unlink()
    store.write(2, other.chunks()[2].read_bytes())
    with pytest.raises(FileError, match="trial 10 has blocks 3, not 4"):
        pc.lab.sharing(plan(), out=tmp_path / "out")
    assert not (tmp_path / "out" / "sharing.json").exists()


def test_trials_without_a_manifest_are_not_taken_for_those_of_any_plan(
    plan: Callable[..., Plan], tmp_path: Path
) -> None:
    store = run(plan(seed=1), tmp_path / "out")
    (store.path / "manifest.json").unlink()
    with pytest.raises(OutputError, match=r"no manifest\.json of a store"):
        run(plan(seed=2), tmp_path / "out")


def test_what_a_killed_run_left_of_its_results_is_removed(plan: Callable[..., Plan], tmp_path: Path) -> None:
    pc.lab.sharing(plan(), out=tmp_path / "out")
    whole = tree(tmp_path / "out")
    for place in ("", "store", "tables"):
        (tmp_path / "out" / place / ".polyculture-abc.tmp").write_text("half")
    (tmp_path / "out" / ".polyculture-def.tmp").mkdir()
    (tmp_path / "out" / ".polyculture-def.tmp" / "results.csv").write_text("half")
    pc.lab.sharing(plan(), out=tmp_path / "out")
    assert tree(tmp_path / "out") == whole
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_of_other_files_is_left_alone(plan: Callable[..., Plan], tmp_path: Path) -> None:
    (tmp_path / "out" / "store").mkdir(parents=True)
    (tmp_path / "out" / "store" / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="other files"):
        run(plan(), tmp_path / "out")


def test_two_runs_do_not_write_into_one_folder(plan: Callable[..., Plan], tmp_path: Path) -> None:
    with locked(tmp_path / "out"), pytest.raises(OutputError, match="Another run"):
        run(plan(), tmp_path / "out")
    run(plan(), tmp_path / "out")


def test_a_full_disk_is_said_and_what_is_there_stays(
    plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.fsync, [0]

    def full(handle: int) -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="no space left"):
        run(plan(), tmp_path / "out")
    store = tmp_path / "out" / "store"
    assert len(list(store.glob("trials-*"))) == 1
    assert not list(store.glob(".polyculture-*"))
    monkeypatch.undo()
    assert len(list(run(plan(), tmp_path / "out").outcomes())) == 12


def test_a_limit_on_files_ends_the_run_and_leaves_no_part_of_one(plan: Callable[..., Plan], tmp_path: Path) -> None:
    """The kernel itself refuses to write: manifest and individuals fit under the limit, a chunk of trials does not."""
    resource = pytest.importorskip("resource", reason="no such limits on this system")
    own = plan(chunk=12)
    whole = run(own, tmp_path / "whole")
    size = {path.name: path.stat().st_size for path in whole.path.iterdir()}
    (chunk,) = (name for name in size if name.startswith("trials-"))
    largest = max(value for name, value in size.items() if name != chunk)
    assert largest < size[chunk]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((largest + size[chunk]) // 2, before[1]))
    try:
        with pytest.raises(OutputError, match="file too large"):
            run(own, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert {path.name for path in (tmp_path / "out" / "store").iterdir()} == {"manifest.json", "individuals.parquet"}
    run(own, tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_progress_says_how_far_it_is(plan: Callable[..., Plan], tmp_path: Path) -> None:
    said: list[str] = []
    run(plan(), tmp_path / "out", progress=said.append)
    assert said[:2] == ["Reading the data", "Trial 0 of 12"]
    assert said[-1].startswith("Trial 12 of 12, about 0 s left")


def test_an_interrupt_says_what_is_kept(
    plan: Callable[..., Plan], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(said: str) -> None:
        if said.startswith("Trial 5 "):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="5 of 12 trials are kept"):
        run(plan(), tmp_path / "out", progress=interrupt)
    assert len(Store.open(tmp_path / "out" / "store").chunks()) == 1


@pytest.mark.parametrize(("changed", "message"), [({"backend": "locky"}, "'loky'"), ({"jobs": 0}, "1 or more")])
def test_a_wrong_call_is_refused(
    plan: Callable[..., Plan], tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run(plan(), tmp_path / "out", **changed)
    assert not (tmp_path / "out").exists()


def test_the_store_says_what_it_was_made_of(plan: Callable[..., Plan], tmp_path: Path, table: Path) -> None:
    store = run(plan(), tmp_path / "out")
    assert store.manifest.data == {"people.csv": sha256(table.read_bytes()).hexdigest()}
    assert {"polyculture", "python", "numpy", "scikit-learn"} <= set(store.manifest.versions)
    ids, cell, cells = store.individuals()
    data = prepare(plan())
    assert ids == data.ids.tolist()
    assert cell.tolist() == data.cell.tolist()
    assert cells == (("f",), ("m",))
