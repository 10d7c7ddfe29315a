"""What the columns of the CSV tables mean, and their units.

A column's name is a field of ``audit.records``, with the names of the records around it before it and
the part of a Statistic behind it; the meaning is put together the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polyculture.report.dictionary_improvement import IMPROVEMENT_COLUMNS
from polyculture.report.dictionary_lab import LAB_COLUMNS
from polyculture.report.dictionary_portfolio import PORTFOLIO_COLUMNS
from polyculture.report.dictionary_slices import SLICE_COLUMNS

__all__ = ["describe"]

_TEXT_CELLS = {
    "table": "(all)",
    "column": "(all text)",
    "meaning": "Text that begins with = + - @, a tab or a line break has an apostrophe before it, so that no "
    "spreadsheet takes it for a formula; other control characters are written as escapes. Empty means none.",
    "unit": "text",
}

_SHARE, _POINTS, _RATIO, _COUNT, _TEXT = "share (0 to 1)", "difference of shares", "ratio", "individuals", "text"

# Field -> (meaning, unit).
_FIELDS: dict[str, tuple[str, str]] = {
    "name": ("model, or null model", _TEXT),
    "judged": ("individuals whom the model judged", _COUNT),
    "failed": ("individuals whom the model failed", _COUNT),
    "no_answer": ("individuals to whom the model gave no answer", _COUNT),
    "no_answer_reasons": ("reasons of no answer with their counts", _TEXT),
    "failure_rate": ("failed / judged", _SHARE),
    "no_answer_rate": ("no answer / asked", _SHARE),
    "count": ("individuals", _COUNT),
    "individuals": ("individuals", _COUNT),
    "observed": ("observed share of individuals", _SHARE),
    "expected": ("share expected if models failed independently at their own rates", _SHARE),
    "expected_interval": ("the expected share as an estimate with its interval", _SHARE),
    "difference": ("observed minus expected", _POINTS),
    "ratio": ("observed / expected; of systemic failure this is H", _RATIO),
    "ceiling": ("largest ratio that these failure rates allow", _RATIO),
    "ceiling_share": ("difference / largest possible difference", "share (at most 1)"),
    "log10_ratio": ("decimal logarithm of the ratio", "log10"),
    "log10_expected": ("decimal logarithm of the expected share", "log10"),
    "label_errors": (
        "events that would have to be label errors before the interval of the difference reaches 0",
        "count",
    ),
    "p_value": ("two-sided p-value", "probability"),
    "p_method": ("how the p-value was made, or why there is none", _TEXT),
    "p_adjusted": ("p-value corrected for several comparisons", "probability"),
    "method": ("how the test was made, or why there is none", _TEXT),
    "outcome": (
        "systemic failure: all models fail; consistent success: none fails; homogeneous outcomes: either",
        _TEXT,
    ),
    "share": ("share of individuals with this pattern", _SHARE),
    "status": ("reported, too few (figures withheld) or unknown (part of no comparison)", _TEXT),
    "excess_difference": ("difference between the group's excess (observed - expected) and everyone else's", _POINTS),
    "homogenization_ratio": ("H of the group / H of everyone else", _RATIO),
    "signs_disagree": (
        "the contrasts of excess and of H point in different directions: read neither alone",
        "true or false",
    ),
    "by": ("group columns", _TEXT),
    "groups": ("number of groups compared", "count"),
    "average": ("average group homogenization", _RATIO),
    "uniform": ("uniform group homogenization", _RATIO),
    "worst": ("worst group homogenization", _RATIO),
    "spread": ("variance over groups of the product of failure rates", "share squared"),
    "worst_group": ("the group with the largest product of failure rates", _TEXT),
    "average_corrected": ("average, corrected for small groups (jackknife)", _RATIO),
    "uniform_corrected": ("uniform, corrected for small groups (jackknife)", _RATIO),
    "worst_corrected": ("worst, corrected for small groups (jackknife)", _RATIO),
    "spread_corrected": ("spread, less what sampling alone gives", "share squared"),
    "spread_p_value": ("p-value of the spread when group labels are shuffled", "probability"),
    "spread_p_method": ("how that p-value was made, or why there is none", _TEXT),
    "relative_bias": ("largest estimated relative bias of a group's product", "share"),
    "reliable": ("false where the groups are too small for the plain values", "true or false"),
    "left_out": ("individuals left out, by reason", _TEXT),
    "failure_rate_difference": ("largest minus smallest failure rate over the groups", _POINTS),
    "failure_rate_ratio": ("smallest / largest failure rate over the groups", _RATIO),
    "demographic_parity_difference": ("largest minus smallest selection rate over the groups", _POINTS),
    "demographic_parity_ratio": ("smallest / largest selection rate over the groups", _RATIO),
    "equalized_odds_difference": ("larger of the gaps in true and in false positive rate", _POINTS),
    "equalized_odds_ratio": ("smaller of the ratios of true and of false positive rates", _RATIO),
    "systemic_failure_difference": ("largest minus smallest systemic failure over the groups", _POINTS),
    "systemic_failure_ratio": ("smallest / largest systemic failure over the groups", _RATIO),
    "expected_with_no_difference": ("mean gap that these group sizes show when group labels are shuffled", _POINTS),
    "highest": ("group with the highest systemic failure", _TEXT),
    "lowest": ("group with the lowest systemic failure", _TEXT),
    "selection": ("what counts as selected", _TEXT),
    "models": ("the two models", _TEXT),
    "both_judged": ("individuals whom both models judged", _COUNT),
    "both_failed": ("individuals whom both models failed", _COUNT),
    "phi": ("correlation of the two models' failures", "-1 to 1"),
    "kappa": ("error consistency: agreement of right and wrong beyond the two accuracies", "at most 1"),
    "capa": ("CAPA: agreement of answers beyond what the accuracies make likely", "at most 1"),
    "capa_method": ("what CAPA is made of: failure flags, answers, or probabilities of options", _TEXT),
    "jaccard": ("failed by both / failed by either", _SHARE),
    "agree_when_both_wrong": ("same answers among those on whom both are wrong", _SHARE),
    "agree_when_either_wrong": ("same answers among those on whom either is wrong", _SHARE),
    "baseline": ("chance that two wrong answers are the same, 1 / (options - 1)", _SHARE),
    "varying": ("models that fail some individuals but not all", "models"),
    "constant": ("models that fail nobody or everybody, left out of n_eff", _TEXT),
    "n_eff": ("effective number of models: k * sum f (1 - f) / Var(t)", "models"),
    "mean_phi": ("mean of phi over pairs", "-1 to 1"),
    "fleiss": ("Fleiss' kappa of failures", "at most 1"),
    "ambiguity": ("individuals to whom some model gives another outcome than the baseline model", _SHARE),
    "discrepancy": ("most individuals to whom one model gives another outcome than the baseline model", _SHARE),
    "baseline_model": ("the model that the others are compared with: of the lowest failure rate", _TEXT),
    "discrepancy_model": ("the model that differs from it most", _TEXT),
    "wanted": ("the wanted outcome of recourse", _TEXT),
    "order": ("models in the order of the tree, separated by |", _TEXT),
    "low": ("smallest share of an individual's models that give the wanted outcome", _SHARE),
    "high": ("largest share of them", _SHARE),
    "why": ("why the pair is flagged", _TEXT),
    "left": ("first branch: a model by its place in the order, from 0, or an earlier step (from k)", "place"),
    "right": ("second branch", "place"),
    "height": ("mean of 1 - kappa between the branches", "distance"),
    "majority": ("individuals on whom more than half of the panel are right, a tie as half", _SHARE),
    "independent": ("the same if members failed independently at their own rates", _SHARE),
    "ties": ("individuals on whom half of the panel are right", _SHARE),
    "ties_independent": ("the same if members failed independently", _SHARE),
    "best": ("the most accurate member", _TEXT),
    "accuracy": ("individuals whom the member did not fail / judged", _SHARE),
    "n_eff_without": ("effective number of the panel without this member", "models"),
    "majority_without": ("individuals on whom the majority without this member is right", _SHARE),
    "tested": ("items on which two models could share a wrong answer", "items"),
    "level": ("corrected p-value up to which an item is flagged", "probability"),
    "systemic_failure_without": ("systemic failure without the flagged items", _SHARE),
    "failed_by_all": ("individuals whom all models failed", _COUNT),
    "failed_by_all_without": ("the same without the flagged items", _COUNT),
    "id": ("the item", _TEXT),
    "label": ("its label", _TEXT),
    "answer": ("the answer that models share instead", _TEXT),
    "same": ("models that gave this answer", "models"),
    "parameters": ("parameters of the null model", "count"),
    "sentence": ("what it supposes, or says, in plain words", _TEXT),
    "fits_by_construction": (
        "as many parameters as patterns are free, and it fits them all, so that nothing is tested",
        "true or false",
    ),
    "converged": ("false where the fit did not converge", "true or false"),
    "homogenization": ("observed / expected under this null model", _RATIO),
    "rejected": ("whether the test at 5 % rejects the null model; empty where there is none", "true or false"),
    "poorest_not_rejected": ("the null model with the fewest parameters that is not rejected", "true or false"),
    "smallest_detectable_excess": ("excess that a test at 5 % finds in 80 % of data sets", _POINTS),
    "log_likelihood": ("log-likelihood of all individuals under the fit", "natural logarithm"),
    "held_out_log_likelihood": (
        "mean log-likelihood of an individual under the fit to the half of the data without it",
        "natural logarithm",
    ),
    "expected_profile": ("expected shares of individuals failed by 0, 1, ... all models, separated by |", _SHARE),
    "reason": ("why it is undefined", _TEXT),
    "residual_df": ("residual degrees of freedom", "count"),
    "residual_df_reason": ("why there are none", _TEXT),
    "systemic_failure": ("systemic failure that the null model expects", _SHARE),
    "excess": ("observed minus expected under this null model", _POINTS),
    "scale": ("how values of the component are compared", _TEXT),
    "levels": ("different known values", "count"),
    "unknown": ("models whose value is not known, separated by |", _TEXT),
    "pairs_within": ("pairs of models that share the component", "pairs"),
    "pairs_between": ("pairs of models that do not", "pairs"),
    "within": ("mean error consistency of pairs that share it", "at most 1"),
    "between": ("mean error consistency of pairs that do not", "at most 1"),
    "correlation": ("correlation over pairs of error consistency with sharing or closeness", "-1 to 1"),
    "at_like_accuracies": ("coefficient of the component beside the accuracies of both models", "difference of kappa"),
    "at_like_accuracies_p_value": ("two-sided p-value of it by permuting models", "probability"),
    "at_like_accuracies_p_adjusted": ("the same corrected over components", "probability"),
    "without_near_duplicates": (
        "difference (of numbers and dates the correlation) without one model of each near-duplicate pair",
        "difference of kappa",
    ),
    "components": ("components that the term stands for, separated by |", _TEXT),
    "coefficient": ("difference in error consistency, all other terms held constant", "difference of kappa"),
    "sandwich": ("the same number with the dyadic-robust interval", "difference of kappa"),
    "component": ("the component", _TEXT),
    "sha256": ("SHA-256 of that file", _TEXT),
    "response": ("the likeness that is compared", _TEXT),
    "without_row": ("models that the table of components does not hold, separated by |", _TEXT),
    "near_duplicates_left_out": ("models that the figures without near-duplicates leave out, separated by |", _TEXT),
    "notes": ("what was left out, separated by |", _TEXT),
    "from_all": ("the same with as many models drawn without regard to families", _SHARE),
    "families": ("number of families", "count"),
    "kind": ("kind of decision-makers", _TEXT),
    "kinds": ("the two kinds compared, first - second", _TEXT),
    "group": ("group, or everyone", _TEXT),
    "groups_compared": ("the two groups compared, first - second", _TEXT),
    "mean_failure_rate": ("mean of the failure rates of this kind", _SHARE),
    "about": ("what a claim is about: data set, service, group", _TEXT),
    "statement": ("what the paper reports, in words", _TEXT),
    "published": ("the number that it reports; empty where it reports a direction", "see the column unit"),
    "decimals": ("decimals with which it is printed", "count"),
    "found": ("what was found", "see the column unit"),
    "judged_by": (
        "same data: equal but for rounding; interval: it holds the published number and leaves none out; direction: it "
        "lies on the claimed side; absence: it lies within the margin of none",
        _TEXT,
    ),
    "margin": ("of an absence: the difference that would be one", "see the column unit"),
    "verdict": ("agrees, disagrees, cannot tell or not tested", _TEXT),
    "source": ("where the paper reports it", _TEXT),
    "dataset": ("data set", _TEXT),
    "task": ("task: fer (faces), sa (sentiment), scr (spoken words)", _TEXT),
    "period": ("when the outcomes were made", _TEXT),
    "note": ("what a reader should know", _TEXT),
    "field": ("what is told", _TEXT),
    "value": ("its value", _TEXT),
    "table": ("file name without .csv", _TEXT),
    "column": ("column of that file", _TEXT),
    "meaning": ("what the column holds", _TEXT),
    "unit": ("its unit", _TEXT),
}

_CONTRAST = "contrast_"
_CONTRASTS = "group_contrasts"

# (table or record around it, field) -> the same where the field means something else there.
_SPECIAL: dict[tuple[str, str], tuple[str, str]] = {
    **LAB_COLUMNS,
    **PORTFOLIO_COLUMNS,
    **SLICE_COLUMNS,
    **IMPROVEMENT_COLUMNS,
    ("profile", "judged"): ("number of models that judged these individuals", "models"),
    ("profile", "failed"): ("number of them that failed the individual", "models"),
    ("group_profiles", "judged"): ("number of models that judged these individuals", "models"),
    ("group_profiles", "failed"): ("number of them that failed the individual", "models"),
    ("kind_profiles", "judged"): ("number of this kind that judged these individuals", "models"),
    ("kind_profiles", "failed"): ("number of them that failed the individual", "models"),
    ("claims", "reason"): ("what the verdict rests on, or why there is none", _TEXT),
    ("profiles", "judged"): ("number of models that judged these individuals", "models"),
    ("profiles", "failed"): ("number of them that failed the individual", "models"),
    ("snapshots", "models"): ("models, separated by |", _TEXT),
    ("kinds", "models"): ("models of this kind, separated by |", _TEXT),
    ("kind_contrasts", "excess_difference"): ("excess under the first kind minus the second's", _POINTS),
    ("kind_contrasts", "homogenization_ratio"): ("H (observed / expected) of the first kind / of the second", _RATIO),
    ("kind_group_differences", "excess_difference"): ("excess of the first group minus the second's", _POINTS),
    ("kind_group_differences", "homogenization_ratio"): ("H of the first group / of the second", _RATIO),
    ("kind_differences", "excess_difference"): (
        "difference of the groups' excesses under the first kind minus that under the second",
        _POINTS,
    ),
    ("kind_differences", "homogenization_ratio"): (
        "ratio of the groups' H under the first kind / that under the second",
        _RATIO,
    ),
    ("patterns", "judged"): ("models that judged, separated by |", _TEXT),
    ("patterns", "failed"): ("models that failed, separated by |", _TEXT),
    ("judged_too_little", "judged"): ("number of models that judged these individuals", "models"),
    ("outcomes", "no_answer"): ("what no answer counts as in this row", _TEXT),
    ("panel", "difference"): ("majority minus independent", _POINTS),
    ("suspect_keys", "systemic_failure"): ("systemic failure with all items", _SHARE),
    ("suspect_keys", "count"): ("items flagged", "items"),
    ("suspect_key_items", "judged"): ("models that answered the item", "models"),
    ("suspect_key_items", "expected"): (
        "models expected to give this answer if wrong answers were independent",
        "models",
    ),
    ("collection", "sentence"): ("how many independent models these count as", _TEXT),
    ("panel", "sentence"): ("how many independent votes these are worth", _TEXT),
    ("components", "name"): ("the component", _TEXT),
    ("components", "kind"): ("category (the same or different), number or date", _TEXT),
    ("component_regression", "kind"): ("category (the same or different), number or date", _TEXT),
    ("component_summary", "source"): ("where the table of components comes from", _TEXT),
    ("components", "models"): ("models whose value is known", "models"),
    ("components", "difference"): ("within minus between", "difference of kappa"),
    ("component_regression", "name"): ("the component, or several that could not be told apart", _TEXT),
    ("component_shares", "name"): ("the component, or several that could not be told apart", _TEXT),
    ("component_shares", "share"): ("share of the mean error consistency associated with sharing it", "share"),
    ("component_families", "level"): ("value of the component that these models share", _TEXT),
    ("component_families", "models"): ("the models of the family, separated by |", _TEXT),
    ("component_families", "kappa"): ("mean error consistency of their pairs", "at most 1"),
    ("component_summary", "sentence"): ("what goes with likeness, in words", _TEXT),
    **{
        ("component_summary", f"regression_{name}"): entry
        for name, entry in {
            "models": ("models in the regression of all together", "models"),
            "pairs": ("pairs of them", "pairs"),
            "left_out": ("models left out of it, separated by |", _TEXT),
            "accuracies": ("how accuracies are held constant", _TEXT),
            "accuracies_share": ("share of the variation of likeness that goes with accuracies", "share"),
            "components_share": ("share of what they leave that goes with all components", "share"),
            "reason": ("why there is no regression", _TEXT),
        }.items()
    },
    ("component_summary", "shares_value_function"): ("value of a set of components in the shares", _TEXT),
    ("component_summary", "shares_null"): ("the state of value 0", _TEXT),
    ("component_summary", "shares_excess"): ("mean error consistency, which is shared out", "at most 1"),
    ("component_summary", "shares_rest"): ("share that is associated with no component", "share"),
    ("component_what_if", "left_out"): ("models of unknown family, separated by |", _TEXT),
    ("component_what_if", "systemic_failure"): ("systemic failure expected of one model of each family", _SHARE),
    ("component_what_if", "expected"): ("the same if models failed independently", _SHARE),
    ("component_what_if", "difference"): ("from_all minus systemic_failure", _POINTS),
    ("component_what_if", "sentence"): ("the same in words", _TEXT),
    ("collection", "models"): ("number of models", "models"),
    **{
        (where, name): entry
        for where in (_CONTRAST, _CONTRASTS)
        for name, entry in {
            "difference": ("the group's systemic failure minus everyone else's", _POINTS),
            "ratio": ("the group's systemic failure / everyone else's", _RATIO),
        }.items()
    },
}

_AROUND = {
    "systemic_failure_": "Systemic failure: ",
    "consistent_success_": "Consistent success: ",
    "homogeneous_outcomes_": "Homogeneous outcomes: ",
    _CONTRAST: "Against everyone else whose group is known: ",
}

_PARTS = {
    "_low": "lower end of the 95 % interval of: ",
    "_high": "upper end of the 95 % interval of: ",
    "_method": "how the interval was made of: ",
    "_reason": "why the number or its interval is undefined: ",
}


def describe(
    columns: Mapping[str, Sequence[str]], more: Mapping[tuple[str, str] | str, tuple[str, str]] | None = None
) -> list[dict[str, str]]:
    """Return one row a column: table, column, meaning, unit.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        Columns of each table.
    more : mapping, optional
        Meaning and unit of further columns, or of columns of one table (table, column); these win.
    """
    everything = {**columns, "dictionary": ("table", "column", "meaning", "unit")}
    return [_TEXT_CELLS] + [
        {"table": table, "column": column, **_entry(column, table, more or {})}
        for table, names in everything.items()
        for column in names
    ]


def _entry(
    column: str, table: str, more: Mapping[tuple[str, str] | str, tuple[str, str]] | None = None
) -> dict[str, str]:
    """Return meaning and unit; in the table of groups the record around a field is looked for first."""
    known = more or {}
    if (table, column) in known or column in known:
        meaning, unit = known[table, column] if (table, column) in known else known[column]
        return {"meaning": meaning, "unit": unit}
    for ending, words in _PARTS.items():
        whole = column.removesuffix(ending)
        if column.endswith(ending) and ((table, whole) in known or whole in known):
            return _part(ending, words, _entry(whole, table, known))
    if (table, column) in _SPECIAL:
        meaning, unit = _SPECIAL[table, column]
        return {"meaning": meaning, "unit": unit}
    if column.startswith("by_"):
        meaning = f"value of the group column {column.removeprefix('by_')!r}; empty where the group is not about it"
        return {"meaning": meaning, "unit": _TEXT}
    for beginning, words in _AROUND.items():
        if table == "groups" and column.startswith(beginning):
            entry = _entry(column.removeprefix(beginning), beginning, known)
            return {"meaning": words + entry["meaning"], "unit": entry["unit"]}
    if column in _FIELDS:
        meaning, unit = _FIELDS[column]
        return {"meaning": meaning, "unit": unit}
    for ending, words in _PARTS.items():
        if column.endswith(ending):
            return _part(ending, words, _entry(column.removesuffix(ending), table, known))
    return {"meaning": column.replace("_", " "), "unit": ""}  # a test holds that no column comes here


def _part(ending: str, words: str, entry: Mapping[str, str]) -> dict[str, str]:
    """Return meaning and unit of a part of a statistic."""
    text = ending in {"_method", "_reason"}
    return {"meaning": words + entry["meaning"], "unit": _TEXT if text else entry["unit"]}
