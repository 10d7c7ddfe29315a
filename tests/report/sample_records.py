"""AuditRecords made by hand for the tests of the reports; the numbers are plausible, not computed by audit."""

from __future__ import annotations

import itertools
import math

from scipy.special import betaincinv

from polyculture.audit.records import (
    AuditRecord,
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
    NoAnswerRecord,
    NullRecord,
    Outcome,
    PairRecord,
    Pattern,
    ProfileRow,
    Provenance,
    RecourseRow,
    Statistic,
    undefined,
)

HOSTILE = "<script>alert(1)</script>"
FORMULA = "=cmd()"
ESCAPE = "[red]x[/red]\x1b[31m"

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


def waimai(names: tuple[str, str, str] = ("Amazon", "Baidu", "Google"), **changes: object) -> AuditRecord:
    """Return three services on 11,987 reviews, no groups."""
    fields: dict[str, object] = {
        "provenance": provenance(),
        "headline": "775 of 11,987 reviews (6.5 %, 95 % interval 6.0 to 6.9 %) were misread by all 3 models; "
        "0.35 % would be expected if they failed independently",
        "individuals": 11_987,
        "seed": 0,
        "models": (
            model(names[0], 11_987, 2114),
            model(names[1], 11_987, 1324),
            model(names[2], 11_987, 2167, no_answer=12),
        ),
        "profile": profile_rows([8731, 1682, 799, 775], [0.6004, 0.3347, 0.0614, 0.003522]),
        "profile_p_value": 0.001,
        "systemic_failure": outcome(775, 11_987, 0.003522, 31.4),
        "consistent_success": outcome(8731, 11_987, 0.6004, 1.364),
        "homogeneous_outcomes": outcome(9506, 11_987, 0.6039, 1.54),
        "patterns": patterns_of(WAIMAI, names),
        "pairs": tuple(
            pair(two, 11_987, failed, kappa)
            for two, failed, kappa in zip(
                itertools.combinations(names, 2), (931, 1238, 955), (0.47, 0.52, None), strict=True
            )
        ),
        "collection": collection(names, 11_987),
        "nulls": (
            NullRecord(
                name="independence",
                parameters=3,
                residual_df=4,
                systemic_failure=0.003522,
                excess=around(0.0611, 0.0044),
                p_value=1e-12,
                method="exact mid-p",
            ),
        ),
        "no_answer": NoAnswerRecord(
            counted_as="failed",
            other="missing",
            individuals=11_987,
            systemic_failure=outcome(771, 11_985, 0.00351, 31.6),
        ),
        "notes": ("Individuals are treated as a sample of like ones; --census drops the intervals.",),
    }
    return AuditRecord(**{**fields, **changes})  # type: ignore[arg-type]


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


def with_groups(names: tuple[str, str, str] = ("Amazon", "Baidu", "Google")) -> AuditRecord:
    """Return three services with two group columns, intersections, too few and unknown."""
    return waimai(
        names,
        provenance=provenance(
            clusters=212,
            left_out={"no label": 11, "judged by no model": 6},
            warnings=("The group column 'age' has 2,106 missing values (18 %); they are a row of their own.",),
        ),
        judged_too_little={0: 6, 1: 14},
        groups=(
            group({"age": "younger"}, 4400, 165, names, contrast=contrast(-0.052, 0.42, 1e-9)),
            group({"age": "middle"}, 3200, 205, names, contrast=contrast(-0.004, 0.95, 0.61, signs_disagree=True)),
            group({"age": "older"}, 1300, 157, names, contrast=contrast(0.067, 2.3, 1e-11)),
            GroupRecord(by={"age": "very old"}, individuals=21, status="too few"),
            group({"age": None}, 2106, 190, names, status="unknown"),
            group({"age": "younger", "sex": "female"}, 2150, 60, names, contrast=contrast(-0.06, 0.3, 1e-9)),
            group({"age": "older", "sex": "female"}, 700, 0, names, contrast=contrast(-0.08, 0.0, 1e-9)),
            GroupRecord(by={"age": "very old", "sex": "female"}, individuals=9, status="too few"),
            group({"age": None, "sex": "unknown"}, 300, 20, names, status="unknown"),
        ),
        group_homogenization=group_homogenization(("age", "sex"), reliable=False, relative_bias=0.41),
        group_homogenization_by_column=(group_homogenization(("age",)), group_homogenization(("sex",))),
        gaps=(gap(("age",), names), gap(("sex",), names)),
    )


def hostile() -> AuditRecord:
    """Return names that try to break out of HTML, spreadsheets and terminals."""
    names = (HOSTILE, FORMULA, ESCAPE)
    record = with_groups(names)
    nasty = group({"a\"b<'": "</td></svg><img src=x onerror=alert(1)>\n👩‍💻"}, 300, 20, names)
    return waimai(
        names,
        headline=f"20 of 300 {HOSTILE} [bold]were[/bold] failed by all 3 models \u202ereversed",
        provenance=provenance(
            inputs=(InputFile(name="</style>=cmd|' /C calc'!A0.csv", format="CSV", sha256="ab" * 32, rows=3),),
            command="polyculture audit '<b>.csv' -- \x1b]0;title\x07",
            warnings=("<img src=x onerror=alert(1)>",),
        ),
        groups=(nasty, *record.groups),
        gaps=(gap(("a\"b<'",), names),),
        notes=("{{ 7 * 7 }} {% raw %}",),
    )


def one_model() -> AuditRecord:
    """Return an audit of a single model: nothing to homogenize."""
    reason = "one model: there is nothing to homogenize"
    nothing = Outcome(
        count=100,
        individuals=1000,
        observed=rate(100, 1000),
        expected=0.1,
        expected_interval=undefined(reason),
        difference=undefined(reason),
        ratio=undefined(reason),
        ceiling=None,
        ceiling_share=undefined(reason),
        log10_ratio=undefined(reason),
        log10_expected=None,
        label_errors=None,
        p_value=None,
        p_method=reason,
    )
    return waimai(
        provenance=provenance(min_judged=1),
        headline="One model judged 1,000 individuals and failed 100 of them: there is nothing to homogenize",
        individuals=1000,
        models=(model("only", 1000, 100),),
        profile=profile_rows([900, 100], [0.9, 0.1]),
        profile_p_value=None,
        systemic_failure=nothing,
        consistent_success=nothing,
        homogeneous_outcomes=nothing,
        patterns=(),
        pairs=(),
        collection=None,
        nulls=(),
        no_answer=None,
    )


def many_models(k: int = 60) -> AuditRecord:
    """Return k models, a long profile and more patterns than a chart can hold."""
    names = tuple(f"organisation-{j % 7}/model-with-a-long-name-{j:02d}b-instruct" for j in range(k))
    n = 5000
    shape = [math.exp(-t / 6) + 0.12 * math.exp(-((k - t) ** 2) / 20) for t in range(k + 1)]
    counts = [round(n * s / sum(shape)) for s in shape]
    counts[0] += n - sum(counts)
    expected = [math.comb(k, t) * 0.15**t * 0.85 ** (k - t) for t in range(k + 1)]
    table = {tuple(int((j * 7 + p * 3) % 11 < p % 9) for j in range(k)): 400 - 9 * p for p in range(40)}
    return waimai(
        headline=f"{counts[-1]} of 5,000 items were failed by all {k} models; 10^-49.4 would be expected if they "
        "failed independently",
        individuals=n,
        models=tuple(model(name, n, 500 + 13 * j) for j, name in enumerate(names)),
        profile=profile_rows(counts, expected),
        systemic_failure=outcome(counts[-1], n, 0.15**k, 1e300).__class__(
            **{
                **{f: getattr(outcome(40, n, 1e-5, 100.0), f) for f in Outcome.__struct_fields__},
                "expected": 0.15**k,
                "log10_expected": k * math.log10(0.15),
                "ratio": undefined("too large for a float; see log10"),
                "log10_ratio": around(47.2, 0.3),
                "ceiling": None,
            }
        ),
        patterns=patterns_of(table, names),
        patterns_note="The 40 most frequent of 3,211 patterns.",
        pairs=tuple(
            pair(two, n, 300 - i % 200, 0.95 - i % 130 / 100) for i, two in enumerate(itertools.combinations(names, 2))
        ),
        collection=collection(names, n),
        no_answer=None,
    )


def zero_events() -> AuditRecord:
    """Return three models that never fail the same individual."""
    return waimai(
        provenance=provenance(warnings=("Fewer than one systemic failure is expected.",)),
        headline="0 of 400 people were failed by all 3 models (at most 0.62 %); 0.1 % would be expected",
        individuals=400,
        models=(model("a", 400, 40), model("b", 400, 40), model("perfect", 400, 0)),
        profile=profile_rows([330, 60, 10, 0], [0.73, 0.24, 0.027, 0.001]),
        systemic_failure=outcome(0, 400, 0.001, 100.0),
        consistent_success=outcome(330, 400, 0.73, 1.2),
        homogeneous_outcomes=outcome(330, 400, 0.731, 1.3),
        patterns=(),
        no_answer=None,
    )


def unequal_sets() -> AuditRecord:
    """Return individuals judged by two or by three models."""
    return waimai(
        profile=(
            *profile_rows([60, 30, 10], [0.55, 0.38, 0.07]),
            *profile_rows([8731, 1682, 799, 775], [0.6004, 0.3347, 0.0614, 0.003522]),
        ),
        patterns=(
            *patterns_of(WAIMAI, ("Amazon", "Baidu", "Google")),
            Pattern(judged=("Amazon", "Baidu"), failed=("Amazon",), count=30, share=0.0025, expected=0.002),
        ),
    )


from component_samples import with_components  # noqa: E402 - it is made of the samples above

ALL = {
    "waimai": waimai,
    "with_groups": with_groups,
    "hostile": hostile,
    "one_model": one_model,
    "many_models": many_models,
    "zero_events": zero_events,
    "unequal_sets": unequal_sets,
    "components": with_components,
}
