"""A loop that is killed at any moment goes on where it stopped, and ends with the bytes of one that was not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import polyculture as pc
from killed import Killed
from make_people import people
from polyculture.errors import FileError, OutputError, UsageError
from polyculture.lab.folder import summed
from polyculture.lab.loops import run as running
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.run import run
from polyculture.lab.loops.store import LoopStore
from polyculture.lab.loops.world import everyone
from store_tree import tree

Plan = Callable[..., LoopPlan]
PLAN = """
label = "good"
generations = {generations}
seeds = 2
samples = 200
decision_makers = 2
[data]
source = "people.csv"
id = "person"
groups = ["sex"]
[generator]
estimator = "sklearn.mixture.GaussianMixture"
parameters = {{ reg_covar = 0.001 }}
[[arm]]
setting = "SeqClass"
[[arm]]
setting = "SeqGenSeqClass"
pool = "shared"
shift = [{{ kind = "disparity amplification" }}]
intervention = [{{ kind = "STAR", of = ["generator", "classifier"] }}]
"""


def killed(generations: int) -> Killed:
    return Killed("loop", PLAN.format(generations=generations), "generation-*", 4 * generations, 0.1)


def test_five_kills_leave_the_same_bytes(tmp_path: Path) -> None:
    store = killed(generations=4).again_and_again(tmp_path, 5)
    assert not list(store.glob("state-*"))


@pytest.mark.full
def test_twenty_kills_leave_the_same_bytes(tmp_path: Path) -> None:
    killed(generations=10).again_and_again(tmp_path, 20)


def test_any_number_of_jobs_gives_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    run(plan(), tmp_path / "one")
    run(plan(), tmp_path / "two", jobs=2)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    lines = (tmp_path / "two" / "timings.csv").read_text().splitlines()
    assert lines[0] == "chain,generations,seconds"
    assert {line.split(",")[1] for line in lines[1:]} == {"3"}


def test_a_store_of_another_plan_or_other_data_is_not_added_to(plan: Plan, tmp_path: Path) -> None:
    run(plan(generations=1), tmp_path / "out")
    with pytest.raises(UsageError, match="another plan: generations"):
        run(plan(), tmp_path / "out")
    people(240, seed=9).write_csv(tmp_path / "people.csv")
    with pytest.raises(UsageError, match=r"other data: people\.csv"):
        run(plan(generations=1), tmp_path / "out")


def test_a_cluster_whose_libraries_differ_is_refused(plan: Plan, tmp_path: Path) -> None:
    own = plan(generations=1, seeds=1)
    store = run(own, tmp_path / "out")
    begun_with = {**store.manifest.versions, "scikit-learn": "0.1"}
    other = LoopStore(store.path, msgspec.structs.replace(store.manifest, versions=begun_with))
    with pytest.raises(UsageError, match=r"other libraries than this one: scikit-learn"):
        running._run_chains(other, everyone(own), [0])


def test_a_damaged_generation_is_named_and_mended(plan: Plan, tmp_path: Path) -> None:
    store = run(plan(), tmp_path / "out")
    whole = tree(tmp_path / "out")
    place = store.there()[1][1]
    content = bytearray(place.read_bytes())
    content[len(content) // 2] ^= 1
    place.write_bytes(bytes(content))
    with pytest.raises(FileError, match="is damaged") as caught:
        run(plan(), tmp_path / "out")
    assert "Delete it" in caught.value.hint
    place.unlink()
    with pytest.raises(FileError, match="lacks generations of chain 1"):
        list(store.chains())
    run(plan(), tmp_path / "out")
    assert tree(tmp_path / "out") == whole


def test_individuals_that_are_gone_are_written_anew_where_it_goes_on(plan: Plan, tmp_path: Path) -> None:
    own = plan(generations=1)
    run(own, tmp_path / "out")
    whole = tree(tmp_path / "out")
    (tmp_path / "out" / "store" / "individuals.parquet").unlink()
    with pytest.raises(FileError, match=r"There is no .*individuals\.parquet'\. Run the same command again"):
        pc.lab.open_loop(tmp_path / "out")
    run(own, tmp_path / "out")
    assert tree(tmp_path / "out") == whole


@pytest.mark.parametrize(("chain", "number"), [(0, 0), (0, 7), (9, 0)])
def test_a_file_of_no_generation_or_of_one_that_is_there_is_named(
    plan: Plan, tmp_path: Path, chain: int, number: int
) -> None:
    store = run(plan(generations=1, seeds=1), tmp_path / "out")
    (store.path / summed(f"generation-{chain:06d}-{number:04d}", b"else")).write_bytes(b"else")
    with pytest.raises(FileError, match="does not belong to this plan, or is there twice"):
        store.there()


def test_a_generation_whose_state_is_lost_is_run_again_to_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    store = run(plan(seeds=1), tmp_path / "out")
    whole = tree(tmp_path / "out")
    store.there()[0][2].unlink()  # its state was removed when the chain was finished
    run(plan(seeds=1), tmp_path / "out")
    assert tree(tmp_path / "out") == whole


def test_a_state_that_a_kill_left_beside_a_finished_chain_is_removed(plan: Plan, tmp_path: Path) -> None:
    store = run(plan(seeds=1), tmp_path / "out")
    whole = tree(tmp_path / "out")
    (store.path / summed("state-000000-0001", b"left")).write_bytes(b"left")
    run(plan(seeds=1), tmp_path / "out")
    assert tree(tmp_path / "out") == whole


def test_what_a_kill_left_half_written_of_the_report_is_removed(plan: Plan, tmp_path: Path) -> None:
    run(plan(generations=1, seeds=1), tmp_path / "out")
    whole = tree(tmp_path / "out")
    (tmp_path / "out" / ".polyculture-page.tmp").write_bytes(b"<html>")
    (tmp_path / "out" / ".polyculture-tables.tmp").mkdir()
    (tmp_path / "out" / ".polyculture-tables.tmp" / "endpoints.csv").write_bytes(b"arm")
    run(plan(generations=1, seeds=1), tmp_path / "out")
    assert tree(tmp_path / "out") == whole
    assert not list((tmp_path / "out").glob(".polyculture-*"))


def test_a_stopped_chain_is_finished_and_not_run_again(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stops_at_once.py").write_text(
        "from sklearn.mixture import GaussianMixture\nclass Breaks(GaussianMixture):\n"
        "    def fit(self, X):\n        raise ValueError('no')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    own = plan(generator={"estimator": "stops_at_once.Breaks"})
    store = run(own, tmp_path / "out")
    assert [one[0].stopped for one in store.chains()] == ["ValueError: no"] * 2
    whole = tree(tmp_path / "out")
    assert tree(run(own, tmp_path / "out").path.parent) == whole


def test_a_full_disk_is_said_and_what_is_there_stays(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.fsync, [0]

    def full(handle: int) -> None:
        calls[0] += 1
        if calls[0] == 6:
            raise OSError(28, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="no space left on device"):
        run(plan(), tmp_path / "out")
    there = set(tree(tmp_path / "out"))
    assert sum("generation-" in name for name in there) == 1
    monkeypatch.undo()
    store = run(plan(), tmp_path / "out")
    assert {name for name in there if "generation-" in name} < set(tree(tmp_path / "out"))
    assert len(list(store.chains())) == 2


def test_an_interrupt_says_how_many_generations_are_kept(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = running.Chain.step

    def stops(chain: running.Chain, number: int) -> object:
        if number == 2:
            raise KeyboardInterrupt
        return real(chain, number)

    monkeypatch.setattr(running.Chain, "step", stops)
    with pytest.raises(KeyboardInterrupt, match="2 of 6 generations are kept"):
        run(plan(), tmp_path / "out")


def test_progress_names_generations_and_the_time_left(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "WATCHED", 0.01)
    said: list[str] = []
    run(plan(generations=5), tmp_path / "out", progress=said.append)
    assert said[:2] == ["Reading the data", "Generation 0 of 10"]
    assert any(text.startswith("Generation ") and text.endswith(" left") for text in said)


def test_no_pickle_lies_in_a_store(plan: Plan, tmp_path: Path) -> None:
    store = run(plan(generations=1), tmp_path / "out")
    kinds = {path.suffix for path in store.path.iterdir()}
    assert kinds == {".parquet", ".json"}
    with pytest.raises(FileError, match="no store"):
        LoopStore.open(tmp_path / "elsewhere")
