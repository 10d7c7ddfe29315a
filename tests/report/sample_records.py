"""AuditRecords made by hand for the tests of the reports; the numbers are plausible, not computed by audit."""

from __future__ import annotations

import itertools
import math

from sample_parts import (
    WAIMAI,
    around,
    collection,
    contrast,
    gap,
    group,
    group_homogenization,
    model,
    outcome,
    pair,
    patterns_of,
    profile_rows,
    provenance,
    rate,
)

from polyculture.audit.records import (
    AuditRecord,
    GroupRecord,
    InputFile,
    NoAnswerRecord,
    NullRecord,
    Outcome,
    Pattern,
    undefined,
)

HOSTILE = "<script>alert(1)</script>"
FORMULA = "=cmd()"
ESCAPE = "[red]x[/red]\x1b[31m"


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
