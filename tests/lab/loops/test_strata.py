"""Strata of any number of classes and groups: the same ones for the ideal, the quotas, the books and the record."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import polyculture as pc
from polyculture.lab.loops.chain import Chain
from polyculture.lab.loops.plan import LoopPlan
from polyculture.lab.loops.world import everyone, strata_names

Plan = Callable[..., LoopPlan]
SHARES = (0.05, 0.1, 0.15, 0.2, 0.2, 0.3)


def of_six(plan: Plan, label: str, column: str, classes: str, groups: str) -> LoopPlan:
    """Return a plan over six strata, every one of which has its own ideal share but two."""
    return plan(
        label=label,
        data={**_data(plan), "groups": [column]},
        ideal=[
            {"target": target, "group": group, "share": share}
            for (target, group), share in zip(product(classes, groups), SHARES, strict=True)
        ],
        seeds=1,
        generations=2,
        rows=160,
        arm=[{"setting": "SeqGenSeqClass", "intervention": [{"kind": "STAR", "of": ["classifier", "generator"]}]}],
    )


def _data(plan: Plan) -> dict[str, str | None]:
    own = plan().data
    return {"source": own.source, "id": own.id}


@pytest.mark.parametrize(
    ("label", "column", "classes", "groups"), [("good", "code", "01", "abc"), ("code", "sex", "abc", "fm")]
)
def test_quotas_and_books_are_of_the_strata_that_the_ideal_names(
    plan: Plan, label: str, column: str, classes: str, groups: str
) -> None:
    own = of_six(plan, label, column, classes, groups)
    everybody = everyone(own)
    names = strata_names(everybody.classes, everybody.groups)
    assert [(target, group.removeprefix(f"{column} = ")) for target, group in names] == list(product(classes, groups))
    chain = Chain(own, everybody, 0)
    chain.step(0)
    made, state = chain.step(1)
    for purpose in ("classifier", "generator"):
        books, rows = made.made[0].accounting[purpose], state[0][purpose]
        assert books.quota.tolist() == [8, 16, 24, 32, 32, 48]
        assert books.pool.sum() == 200
        assert books.taken.tolist() == np.minimum(books.pool, books.quota).tolist()
        assert books.filled.sum() == 160 - books.taken.sum()
        there = [
            int(((rows.label == target) & (rows.group == group)).sum())
            for target, group in product(range(len(classes)), range(len(groups)))
        ]
        assert (books.taken + books.filled).tolist() == there


def test_the_record_names_them_the_same(plan: Plan, tmp_path: Path) -> None:
    found = pc.lab.loop(of_six(plan, "good", "code", "01", "abc"), out=tmp_path / "out")
    assert [one.ideal for one in found.record.strata] == list(SHARES)
    first = [one for one in found.record.accounting if (one.generation, one.purpose) == (0, "classifier")]
    assert [(one.target, one.group) for one in first] == [(one.target, one.group) for one in found.record.strata]
    assert [one.quota for one in first] == [8, 16, 24, 32, 32, 48]
    made = found.store.generations(0)[-1].made[0]
    shares = made.strata / made.strata.sum()
    curves = {one.of: one.value[-1] for one in found.curves if one.measure == "stratum_share"}
    assert list(curves.values()) == pytest.approx(shares.tolist())
    share = {one.of: one.value[-1] for one in found.curves if one.measure in {"class_share", "group_share"}}
    assert share["1"] == pytest.approx(shares[3:].sum())
    assert share["code = b"] == pytest.approx(shares[[1, 4]].sum())
    (divergence,) = (one.value[-1] for one in found.curves if one.measure == "divergence")
    there = shares > 0
    assert divergence == pytest.approx((shares[there] * np.log(shares[there] / np.array(SHARES)[there])).sum())
