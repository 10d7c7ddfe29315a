"""H over 200,000 individuals x 3 models, against an implementation over dictionaries of dictionaries.

    python benchmarks/speed_h.py

The peer is written here, after the way in which the measure is usually computed from saved predictions: a
dictionary of entries, each a dictionary of prediction, label and group; one pass a model, then one for grouping.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl

from measure import machine

ROWS, MODELS, REPEAT = 200_000, 3, 5
Entries = dict[int, dict[str, object]]


def data() -> pl.DataFrame:
    """Return predictions of three models, labels and a group, for people of different difficulty."""
    rng = np.random.default_rng(7)
    difficulty, label = rng.random(ROWS), rng.integers(0, 2, ROWS)
    said = {f"m{j}": np.where(rng.random(ROWS) + difficulty < 0.4 + 0.1 * j, 1 - label, label) for j in range(MODELS)}
    return pl.DataFrame({"label": label, **said, "group": rng.integers(0, 5, ROWS).astype(str)})


def entries(frame: pl.DataFrame) -> list[Entries]:
    """Return the predictions as one dictionary a model: entry -> prediction, label, group."""
    return [
        {
            i: {"prediction": prediction, "label": label, "group": group}
            for i, (prediction, label, group) in enumerate(frame.select(f"m{j}", "label", "group").iter_rows())
        }
        for j in range(MODELS)
    ]


def error_rate(model: Entries) -> float:
    """Return the share of entries that a model gets wrong: one pass."""
    return sum(said["prediction"] != said["label"] for said in model.values()) / len(model)


def by_group(model: Entries) -> dict[object, Entries]:
    """Divide the entries of a model by their group."""
    groups: dict[object, Entries] = {}
    for entry, said in model.items():
        groups.setdefault(said["group"], {})[entry] = said
    return groups


def over_dictionaries(models: list[Entries]) -> tuple[float, float]:
    """Return H and the uniform group homogenization: one pass a model, one over entries, and the grouping."""
    expected = 1.0
    for model in models:
        expected *= error_rate(model)
    failed_by_all = sum(
        all(model[entry]["prediction"] != model[entry]["label"] for model in models) for entry in models[0]
    )
    observed = failed_by_all / len(models[0])
    grouped = [by_group(model) for model in models]
    products = []
    for group in grouped[0]:
        product = 1.0
        for groups in grouped:
            product *= error_rate(groups[group])
        products.append(product)
    return observed / expected, sum(products) / len(products) / expected


def with_a_tally(frame: pl.DataFrame) -> tuple[float, float]:
    """Return the same two numbers from a Tally, without intervals or tests."""
    from polyculture.outcomes import Mapping, Outcomes
    from polyculture.tally import Tally

    tally = Tally.of(Outcomes(frame, Mapping(label="label", by=("group",))))
    table, patterns = tally.model_table(), tally.patterns
    rates = table.failed / table.judged
    expected = np.prod(table.failed.sum(axis=0) / table.judged.sum(axis=0))
    observed = patterns.count[patterns.failed.all(axis=1)].sum() / patterns.count.sum()
    return float(observed / expected), float(np.prod(rates, axis=1).mean() / expected)


def best(function: object, argument: object) -> tuple[float, tuple[float, float]]:
    """Return the best time of several calls, and what they returned."""
    seconds = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        result = function(argument)  # type: ignore[operator]
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def main() -> None:
    """Compare both, and the whole audit."""
    import polyculture as pc

    frame = data()
    dictionaries = entries(frame)
    print(machine())
    slow, expected = best(over_dictionaries, dictionaries)
    fast, got = best(with_a_tally, frame)
    assert np.allclose(expected, got), (expected, got)
    whole, _ = best(lambda one: pc.audit(one, label="label", by=["group"]), frame)
    print(f"| {ROWS:,} x {MODELS} | best of {REPEAT} | ratio |")
    print("| --- | --- | --- |")
    print(f"| H and group homogenization over dictionaries | {1000 * slow:.0f} ms | 1 |")
    print(f"| the same from a Tally | {1000 * fast:.1f} ms | {slow / fast:.0f} times faster (limit 30) |")
    print(f"| the whole audit, with intervals and tests | {1000 * whole:.0f} ms | {slow / whole:.1f} times faster |")


if __name__ == "__main__":
    main()
