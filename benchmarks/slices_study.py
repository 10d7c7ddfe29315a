"""How often a search for slices reports one where there is none, and finds one that was planted: docs/slices.md.

    python benchmarks/slices_study.py [--replicates 200] [--write]
    python benchmarks/slices_study.py --libraries HATECHECK.csv     beside sliceline, where it is installed

Five models judge individuals with six columns: three of two to six values, two numbers, one that goes with clusters.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

from polyculture.audit.records import SlicesRecord
from polyculture.audit.settings import Settings
from polyculture.audit.slices import slices
from polyculture.outcomes import Mapping, Outcomes

DOCS = Path(__file__).resolve().parent.parent / "docs" / "slices.md"
BEGIN, END = "<!-- slices_study begins -->", "<!-- slices_study ends -->"
MODELS = 5
COLUMNS = ("city", "kind", "sex", "age", "income", "site")
NULLS = ("shared difficulty", "rates differ by sex", "clusters of 20")
PLANTED = {"city = b", "kind = k1", "sex = f"}


def columns_of(rng: np.random.Generator, individuals: int) -> pl.DataFrame:
    """Return six columns that have nothing to do with failures."""
    cluster = np.arange(individuals) // 20
    return pl.DataFrame(
        {
            "city": rng.choice(list("abcdef"), individuals),
            "kind": rng.choice(["k1", "k2", "k3"], individuals, p=[0.4, 0.4, 0.2]),
            "sex": rng.choice(["f", "m"], individuals),
            "age": rng.integers(18, 80, individuals),
            "income": rng.lognormal(10, 1, individuals),
            "site": rng.choice(["n", "s", "w"], cluster.max() + 1)[cluster],
            "cluster": cluster,
        }
    )


def table(law: str, rng: np.random.Generator, individuals: int = 4000) -> pl.DataFrame:
    """Return one data set of a law: a null, or "planted" (a tenth of the failures of one slice are shared)."""
    frame = columns_of(rng, individuals)
    rates = np.linspace(0.15, 0.4, MODELS)
    shared = rng.random((individuals, 1)) < 0.1
    if law == "clusters of 20":
        shared = (rng.random(frame["cluster"].max() + 1) < 0.1)[frame["cluster"].to_numpy()][:, None]
    if law == "rates differ by sex":
        women = (frame["sex"] == "f").to_numpy()[:, None]
        failed = rng.random((individuals, MODELS)) < np.where(women, rates * 1.8, rates * 0.6)
    else:
        failed = (rng.random((individuals, MODELS)) < rates) | (shared & (rng.random((individuals, MODELS)) < 0.7))
    if law == "planted":
        inside = ((frame["city"] == "b") & (frame["kind"] == "k1") & (frame["sex"] == "f")).to_numpy()
        failed |= (inside & (rng.random(individuals) < 0.25))[:, None]
    return frame.with_columns(**{f"m{j}": failed[:, j].astype(int) for j in range(MODELS)})


def search(frame: pl.DataFrame, seed: int, *, clustered: bool = False, measure: str = "excess") -> SlicesRecord:
    """Search one data set."""
    mapping = Mapping(
        outcomes="failed", models=tuple(f"m{j}" for j in range(MODELS)), cluster="cluster" if clustered else None
    )
    return slices(Outcomes(frame, mapping), COLUMNS, measure=measure, settings=Settings(seed=seed))


def false_slices(law: str, replicates: int, *, measure: str = "excess") -> float:
    """Return the share of null data sets in which any slice is confirmed."""
    found = 0
    for seed in range(replicates):
        frame = table(law, np.random.default_rng(seed))
        found += search(frame, seed, clustered=law == "clusters of 20", measure=measure).confirmed > 0
    return found / replicates


def planted(replicates: int) -> tuple[float, float, float]:
    """Return how often exactly the planted slice is found, how often anything that overlaps, and false ones a set."""
    exact = near = others = 0.0
    for seed in range(replicates):
        found = search(table("planted", np.random.default_rng(10_000 + seed)), seed)
        confirmed = [set(one.conditions) for one in found.slices if one.confirmed]
        exact += PLANTED in confirmed
        near += any(one & PLANTED for one in confirmed)
        others += sum(not one & PLANTED for one in confirmed)
    return exact / replicates, near / replicates, others / replicates


def study(replicates: int) -> str:
    """Return the table."""
    lines = ["| data | slices tested for | data sets with a slice reported |", "| --- | --- | --- |"]
    for law in NULLS:
        for measure in ("excess", "systemic-failure"):
            if law == "rates differ by sex" and measure == "systemic-failure":
                continue  # systemic failure does differ by sex there
            rate = false_slices(law, replicates, measure=measure)
            lines.append(f"| none: {law} | {measure} | {rate:.3f} |")
    exact, near, others = planted(max(20, replicates // 4))
    what = "planted: three conditions, a fifteenth of all, a quarter of it failed by all besides"
    lines.append(f"| {what} | excess | {exact:.2f} exactly it; {near:.2f} it or a part of it; {others:.2f} others |")
    return "\n".join(lines)


def beside_sliceline(path: str) -> str:
    """Search HateCheck by systemic failure here and with sliceline, and say what each puts first."""
    from sliceline.slicefinder import Slicefinder

    frame = pl.read_csv(path)
    mapping = Mapping(id="case_id", label="hateful", models="pred_*", cluster="template")
    outcomes = Outcomes(frame, mapping)
    names = ("target_ident", "functionality", "direction")
    start = time.perf_counter()
    found = slices(outcomes, names, measure="systemic-failure", settings=Settings())
    ours = time.perf_counter() - start
    failed = np.stack([(frame[m] != frame["hateful"]).to_numpy() for m in outcomes.models], axis=1).all(axis=1)
    start = time.perf_counter()
    finder = Slicefinder(alpha=0.95, k=5, max_l=3, min_sup=30, verbose=False)
    finder.fit(frame.select(pl.col(*names).fill_null("missing")).to_numpy(), failed.astype(float))
    theirs = time.perf_counter() - start
    lines = [f"here: {ours:.2f} s", *(f"  {one.conditions} {one.confirmed}" for one in found.slices)]
    lines += [f"sliceline: {theirs:.2f} s", *(f"  {list(one)}" for one in finder.top_slices_)]
    return "\n".join(lines)


def main() -> None:
    """Run the study, print the table, and write it into docs where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--libraries", metavar="HATECHECK.csv")
    given = parser.parse_args()
    if given.libraries:
        print(beside_sliceline(given.libraries))
        return
    text = study(given.replicates)
    print(text)
    if given.write:
        told = (
            f"{given.replicates} null data sets a row, {max(20, given.replicates // 4)} with a planted slice; 4,000 "
            f"individuals, {MODELS} models, {len(COLUMNS)} columns (`python benchmarks/slices_study.py --write`)."
        )
        before, rest = DOCS.read_text(encoding="utf-8").split(BEGIN)
        DOCS.write_text(f"{before}{BEGIN}\n{text}\n\n{told}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
