"""Parts of the AuditRecords that are made by hand for the tests of the reports: one function a record."""

from __future__ import annotations

import math

from scipy.special import betaincinv

from polyculture.audit.records import (
    CollectionRecord,
    Contrast,
    GapRecord,
    GroupHomogenization,
    GroupModel,
    GroupRecord,
    InputFile,
    Merge,
    ModelGap,
    ModelRecord,
    NearDuplicate,
    Outcome,
    PairRecord,
    Pattern,
    ProfileRow,
    Provenance,
    RecourseRow,
    Statistic,
    undefined,
)

# WAIMAI 2020, three services: failure pattern (amazon, baidu, google) -> reviews.
WAIMAI = {
    (0, 0, 0): 8731,
    (0, 0, 1): 749,
    (0, 1, 0): 213,
    (0, 1, 1): 180,
    (1, 0, 0): 720,
    (1, 0, 1): 463,
    (1, 1, 0): 156,
    (1, 1, 1): 775,
}


def rate(events: int, n: int, method: str = "Jeffreys") -> Statistic:
    """Return a share with its Jeffreys interval."""
    if n == 0:
        return undefined("no individuals")
    low = 0.0 if events == 0 else float(betaincinv(events + 0.5, n - events + 0.5, 0.025))
    high = 1.0 if events == n else float(betaincinv(events + 0.5, n - events + 0.5, 0.975))
    return Statistic(value=events / n, low=low, high=high, method=method)


def around(value: float, width: float, method: str = "MOVER") -> Statistic:
    """Return a number with an interval of about ``width`` on either side."""
    return Statistic(value=value, low=value - width, high=value + 1.1 * width, method=method)


def outcome(count: int, n: int, expected: float, ceiling: float) -> Outcome:
    """Return one event with all its numbers."""
    observed = rate(count, n)
    value = count / n
    relative = math.sqrt((1 - value) / max(count, 1)) * 1.96
    if count == 0:
        return Outcome(
            count=0,
            individuals=n,
            observed=observed,
            expected=expected,
            expected_interval=around(expected, expected * 0.1, "delta"),
            difference=Statistic(value=-expected, low=-expected * 1.1, high=observed.high, method="MOVER, one-sided"),
            ratio=Statistic(value=0.0, low=0.0, high=(observed.high or 0) / expected, method="MOVER, one-sided"),
            ceiling=ceiling,
            ceiling_share=undefined("no event was observed"),
            log10_ratio=undefined("the ratio is 0"),
            log10_expected=math.log10(expected),
            label_errors=0,
            p_value=0.4,
            p_method="exact mid-p",
        )
    ratio = value / expected
    return Outcome(
        count=count,
        individuals=n,
        observed=observed,
        expected=expected,
        expected_interval=around(expected, expected * 0.05, "delta"),
        difference=around(value - expected, value * relative),
        ratio=Statistic(
            value=ratio, low=ratio * math.exp(-relative), high=ratio * math.exp(relative), method="MOVER on logs"
        ),
        ceiling=ceiling,
        ceiling_share=around((value - expected) / (ceiling * expected - expected), 0.02),
        log10_ratio=around(math.log10(ratio), 0.02),
        log10_expected=math.log10(expected),
        label_errors=max(0, round(count - expected * n * 1.2)),
        p_value=1e-12,
        p_method="exact mid-p",
    )


def provenance(**changes: object) -> Provenance:
    """Return where the numbers come from."""
    fields: dict[str, object] = {
        "inputs": (
            InputFile(
                name="waimai.csv",
                format="CSV",
                sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                bytes=412_345,
                rows=12_004,
            ),
        ),
        "rows_read": 12_004,
        "rows_used": 11_987,
        "left_out": {"no label": 17},
        "failure_rule": "misclassified",
        "no_answer": "failed",
        "min_judged": 2,
        "min_cell": 30,
        "version": "0.1.0",
        "command": "polyculture audit waimai.csv --id example_id --label true_label --html report.html",
        "seed": 0,
        "period": "2020",
        "note": "Predictions of commercial APIs, published as HAPI by Chen et al. (2022).",
    }
    return Provenance(**{**fields, **changes})  # type: ignore[arg-type]


def model(name: str, judged: int, failed: int, no_answer: int = 0) -> ModelRecord:
    """Return one model's row."""
    return ModelRecord(
        name=name,
        judged=judged,
        failed=failed,
        no_answer=no_answer,
        failure_rate=rate(failed, judged),
        no_answer_rate=rate(no_answer, judged),
        no_answer_reasons={"timeout": no_answer} if no_answer else {},
    )


def profile_rows(counts: list[int], expected: list[float], k: int | None = None) -> tuple[ProfileRow, ...]:
    """Return the rows of a profile for one number of judgements."""
    n = sum(counts)
    judged = len(counts) - 1 if k is None else k
    return tuple(
        ProfileRow(judged=judged, failed=t, count=c, observed=rate(c, n), expected=e)
        for t, (c, e) in enumerate(zip(counts, expected, strict=True))
    )


def patterns_of(table: dict[tuple[int, ...], int], names: tuple[str, ...]) -> tuple[Pattern, ...]:
    """Return failure patterns, the most frequent first, with what independence expects."""
    n = sum(table.values())
    rates = [sum(c for p, c in table.items() if p[j]) / n for j in range(len(names))]
    rows = []
    for pattern, c in sorted(table.items(), key=lambda item: -item[1]):
        expected = math.prod(f if bit else 1 - f for f, bit in zip(rates, pattern, strict=True))
        failed = tuple(name for name, bit in zip(names, pattern, strict=True) if bit)
        rows.append(Pattern(judged=names, failed=failed, count=c, share=c / n, expected=expected))
    return tuple(rows)


def pair(models: tuple[str, str], n: int, failed: int, kappa: float | None) -> PairRecord:
    """Return one pair of models; without kappa one of them is constant."""
    none = undefined("a model fails nobody, or everybody, of those whom both judged")
    value = none if kappa is None else around(kappa, 0.04, "delta")
    return PairRecord(
        models=models,
        both_judged=n,
        both_failed=failed,
        phi=value,
        kappa=value,
        capa=value,
        jaccard=rate(failed, n, "delta"),
        agree_when_both_wrong=undefined("needs the answers, not only who was failed"),
        agree_when_either_wrong=undefined("needs the answers, not only who was failed"),
        capa_method="exact match of failure flags",
    )


def collection(names: tuple[str, ...], n: int) -> CollectionRecord:
    """Return the likeness of some models, with a tree that joins them one after the other."""
    k = len(names)
    steps = [Merge(left=0, right=1, height=0.3)]
    steps += [Merge(left=k + j - 2, right=j, height=0.3 + 0.5 * j / k) for j in range(2, k)]
    return CollectionRecord(
        models=k,
        varying=k,
        constant=(),
        sentence=f"{k} models count as about 1.9 independent ones (1.8 to 2.0).",
        n_eff=around(1.9, 0.1, "delta"),
        mean_phi=around(0.31, 0.02, "delta"),
        fleiss=around(0.3, 0.02, "delta"),
        capa=around(0.21, 0.02, "delta"),
        capa_method="exact match of failure flags",
        ambiguity=rate(n // 5, n),
        discrepancy=rate(n // 8, n),
        baseline_model=names[0],
        discrepancy_model=names[-1],
        wanted="no failure",
        recourse=tuple(RecourseRow(low=x / 2, high=x / 2, count=n // 3, observed=rate(n // 3, n)) for x in range(3)),
        near_duplicates=(NearDuplicate(models=names[:2], kappa=0.93, why="kappa of 0.9 or more"),),
        order=names,
        merges=tuple(steps),
    )


def contrast(points: float, ratio: float, p: float, *, signs_disagree: bool = False) -> Contrast:
    """Return a group against everyone else."""
    return Contrast(
        difference=around(points, 0.011, "Newcombe"),
        ratio=around(ratio, 0.2, "MOVER on logs"),
        excess_difference=around(points * 0.8, 0.012),
        homogenization_ratio=around(1 / ratio if signs_disagree else ratio * 0.9, 0.18),
        p_value=p,
        p_adjusted=min(1.0, p * 3),
        method="score test; Benjamini-Hochberg over 5 comparisons",
        signs_disagree=signs_disagree,
    )


def group(by: dict[str, str | None], n: int, count: int, names: tuple[str, ...], **changes: object) -> GroupRecord:
    """Return a group that is reported."""
    counts = [round(n * 0.6), round(n * 0.2), n - round(n * 0.6) - round(n * 0.2) - count, count]
    expected = [0.55, 0.36, 0.085, 0.005]
    fields: dict[str, object] = {
        "by": by,
        "individuals": n,
        "status": "reported",
        "systemic_failure": outcome(count, n, 0.005, 28.0),
        "consistent_success": outcome(counts[0], n, 0.55, 1.5),
        "homogeneous_outcomes": outcome(counts[0] + count, n, 0.555, 1.6),
        "profile": profile_rows(counts, expected),
        "models": tuple(
            GroupModel(
                name=name,
                judged=n,
                failed=round(n * f),
                no_answer=0,
                failure_rate=rate(round(n * f), n),
            )
            for name, f in zip(names, (0.18, 0.11, 0.18), strict=True)
        ),
    }
    return GroupRecord(**{**fields, **changes})  # type: ignore[arg-type]


def group_homogenization(by: tuple[str, ...], **changes: object) -> GroupHomogenization:
    """Return group homogenization with its corrected values."""
    fields: dict[str, object] = {
        "by": by,
        "groups": 3,
        "individuals": 8900,
        "average": around(1.12, 0.06, "delta on logs"),
        "uniform": around(1.31, 0.09, "delta on logs"),
        "worst": around(2.04, 0.3, "Sidak-simultaneous on logs"),
        "spread": Statistic(value=3.1e-6, reason="a variance over few groups; see its p-value"),
        "worst_group": dict.fromkeys(by, "older"),
        "average_corrected": around(1.1, 0.06, "jackknife"),
        "uniform_corrected": around(1.28, 0.09, "jackknife"),
        "spread_corrected": Statistic(value=2.9e-6, reason="a variance over few groups; see its p-value"),
        "worst_corrected": around(1.97, 0.3, "jackknife"),
        "spread_p_value": 0.012,
        "relative_bias": 0.04,
        "reliable": True,
        "left_out": {"too few": 21, "unknown": 2106},
    }
    return GroupHomogenization(**{**fields, **changes})  # type: ignore[arg-type]


def gap(by: tuple[str, ...], names: tuple[str, ...]) -> GapRecord:
    """Return gaps model by model beside the gap of systemic failure."""
    none = undefined("labels have more than two values")
    return GapRecord(
        by=by,
        groups=3,
        models=tuple(
            ModelGap(
                name=name,
                failure_rate_difference=around(size, 0.012, "Newcombe"),
                failure_rate_ratio=around(0.88, 0.05, "MOVER on logs"),
                demographic_parity_difference=around(size / 2, 0.011),
                demographic_parity_ratio=around(0.93, 0.04),
                equalized_odds_difference=none,
                equalized_odds_ratio=none,
            )
            for name, size in zip(names, (0.021, 0.012, 0.017), strict=True)
        ),
        systemic_failure_difference=around(0.083, 0.012, "Newcombe"),
        systemic_failure_ratio=around(0.31, 0.05, "MOVER on logs"),
        expected_with_no_difference=0.009,
        p_value=0.001,
        highest=dict.fromkeys(by, "older"),
        lowest=dict.fromkeys(by, "younger"),
        selection="predicted 'positive'",
    )
