"""A hand-made record of components, with names that try to break out; the numbers are plausible, not computed."""

from __future__ import annotations

from typing import Any

from polyculture.audit.records import (
    AuditRecord,
    ComponentRecord,
    ComponentsRecord,
    FamilyRecord,
    RegressionRecord,
    RegressionTerm,
    ShareRecord,
    SharesRecord,
    Statistic,
    WhatIfRecord,
    undefined,
)

BREAK_OUT = "<b onclick=x>vendor</b>"


def component(name: str, **changes: Any) -> ComponentRecord:
    """Return a category that is known of all three models."""
    import sample_records as samples

    fields: dict[str, Any] = {
        "name": name,
        "kind": "category",
        "scale": "the same or not",
        "models": 3,
        "levels": 2,
        "unknown": (),
        "pairs_within": 1,
        "pairs_between": 2,
        "within": samples.around(0.52, 0.1, "jackknife over models"),
        "between": samples.around(0.31, 0.06, "jackknife over models"),
        "difference": samples.around(0.21, 0.08, "jackknife over models"),
        "correlation": samples.around(0.4, 0.1, "jackknife over models on the Fisher z scale"),
        "p_value": 0.002,
        "p_adjusted": 0.004,
        "method": "models permuted (QAP), 999 draws, two-sided",
        "at_like_accuracies": samples.around(-0.012, 0.08, "jackknife over models"),
        "at_like_accuracies_p_value": 0.3,
        "at_like_accuracies_p_adjusted": 0.6,
        "without_near_duplicates": 0.19,
    }
    return ComponentRecord(**{**fields, **changes})


def components(names: tuple[str, ...]) -> ComponentsRecord:
    """Return a category, a number known of few models, and what follows from them."""
    import sample_records as samples

    vendor = component(BREAK_OUT)
    none = undefined("a number is close or far, not the same or different: see the correlation")
    size = component(
        "=size",
        kind="number",
        scale="difference of logarithms",
        models=2,
        unknown=names[2:],
        pairs_within=0,
        pairs_between=0,
        within=none,
        between=none,
        difference=none,
        without_near_duplicates=None,
    )
    few = undefined("known of only 2 of 3 models, fewer than half")
    sandwich = Statistic(value=0.2, low=0.15, high=0.25, method="dyadic-robust", reason="too narrow below 100 models")
    return ComponentsRecord(
        sentence=f"Pairs of models that share {BREAK_OUT} (kappa +0.21; corrected p .004) fail more alike than others.",
        source="parts.csv",
        sha256="ab" * 32,
        response="error consistency (kappa)",
        without_row=names[2:],
        components=(vendor, size),
        regression=RegressionRecord(
            models=3,
            pairs=3,
            left_out=(),
            accuracies="mean and distance of the two failure rates, polynomial of degree 2",
            accuracies_share=0.61,
            components_share=0.12,
            terms=(
                RegressionTerm(
                    name=BREAK_OUT,
                    components=(BREAK_OUT,),
                    kind="category",
                    coefficient=samples.around(0.2, 0.09, "jackknife over models"),
                    sandwich=sandwich,
                    p_value=0.002,
                    p_adjusted=0.002,
                    method="models permuted (QAP) by double semi-partialling, 999 draws, two-sided",
                ),
                RegressionTerm(name="=size", components=("=size",), kind="number", coefficient=few, sandwich=few),
            ),
        ),
        shares=SharesRecord(
            value_function="what the mean would be lower by if no two models shared any of them",
            null="no two models share any of the components (value 0)",
            excess=samples.around(0.35, 0.04, "jackknife over models"),
            shares=(
                ShareRecord(name=BREAK_OUT, components=(BREAK_OUT,), share=samples.around(0.08, 0.03, "jackknife")),
                ShareRecord(name="=size", components=("=size",), share=few),
            ),
            rest=samples.around(0.92, 0.03, "jackknife over models"),
        ),
        families=(
            FamilyRecord(
                component=BREAK_OUT,
                level="[red]A[/red]",
                models=names[:2],
                kappa=0.52,
                systemic_failure=samples.outcome(931, 11_987, 0.0195, 5.7),
            ),
        ),
        what_if=(
            WhatIfRecord(
                component=BREAK_OUT,
                families=2,
                left_out=names[2:],
                systemic_failure=samples.rate(870, 11_987),
                expected=0.018,
                from_all=samples.rate(1041, 11_987),
                difference=samples.around(0.014, 0.004),
                sentence="With one model for each of the 2 values, drawn at random, 7.3 % would be expected to fail.",
            ),
        ),
        near_duplicates_left_out=names[1:2],
        notes=("Values of vendor with one model, which are no families: 1 of 2.",),
    )


def with_components() -> AuditRecord:
    """Return three services and what they are made of."""
    import sample_records as samples

    names = ("Amazon", "Baidu", "Google")
    return samples.waimai(names, components=components(names))
