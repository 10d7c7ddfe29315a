"""What the columns of the CSV tables of a comparison mean, and their units.

The parts are put together in ``dictionary``.
"""

from __future__ import annotations

__all__ = ["COMPARE_FIELDS"]

_SHARE, _POINTS, _COUNT, _TEXT = "share (0 to 1)", "difference of shares", "individuals", "text"

_PAIRED = {
    "before": ("{what} at the earlier snapshot", _SHARE),
    "after": ("{what} at the later snapshot", _SHARE),
    "difference": ("{what}: later minus earlier, paired by individual", _POINTS),
    "p_value": ("p-value that {what} did not change", "probability"),
    "p_method": ("how the test of {what} was made", _TEXT),
    "p_adjusted": ("p-value of {what} corrected for the number of models", "probability"),
    "p_adjusted_reason": ("why the p-value of {what} is not corrected", _TEXT),
}
_SYSTEMIC = {
    "individuals": ("individuals of the headline", _COUNT),
    "count_before": ("individuals failed by all their models at the earlier snapshot", _COUNT),
    "count_after": ("individuals failed by all their models at the later snapshot", _COUNT),
    "kept": ("failed by all at both snapshots", _COUNT),
    "undone": ("failed by all at the earlier snapshot only", _COUNT),
    "new": ("failed by all at the later snapshot only", _COUNT),
    "expected_before": ("systemic failure that independent failures at the earlier rates would give", _SHARE),
    "expected_after": ("systemic failure that independent failures at the later rates would give", _SHARE),
    "expected_reason": ("why the expected shares are undefined", _TEXT),
}


def _paired(prefix: str, what: str) -> dict[tuple[str, str] | str, tuple[str, str]]:
    return {f"{prefix}{name}": (meaning.format(what=what), unit) for name, (meaning, unit) in _PAIRED.items()}


def _systemic(prefix: str) -> dict[tuple[str, str] | str, tuple[str, str]]:
    own: dict[tuple[str, str] | str, tuple[str, str]] = {f"{prefix}{name}": entry for name, entry in _SYSTEMIC.items()}
    return own | _paired(f"{prefix}rate_", "the share failed by all their models")


COMPARE_FIELDS: dict[tuple[str, str] | str, tuple[str, str]] = {
    "before": ("the earlier snapshot", _TEXT),
    "after": ("the later snapshot", _TEXT),
    "name": ("model (its earlier name), or all models together", _TEXT),
    "name_after": ("its later name", _TEXT),
    ("snapshots", "name"): ("the snapshot", _TEXT),
    "source": ("what was read", _TEXT),
    "rows": ("rows of the table", "rows"),
    "thresholds": ("resolved thresholds, separated by |", _TEXT),
    ("snapshots", "models"): ("models of the snapshot, separated by |", _TEXT),
    "headline": ("the change in words", _TEXT),
    "matched": ("individuals in both snapshots, with the same label", _COUNT),
    "only_before": ("individuals in the earlier snapshot only", _COUNT),
    "only_after": ("individuals in the later snapshot only", _COUNT),
    "relabelled": ("individuals with another label, left out", _COUNT),
    "judged_otherwise": ("individuals judged by other models at the two snapshots", _COUNT),
    "judged_too_little": ("matched individuals judged twice by too few models, by that number", _TEXT),
    "models_left": ("models of the earlier snapshot only, separated by |", _TEXT),
    "models_joined": ("models of the later snapshot only, separated by |", _TEXT),
    **_systemic("systemic_failure_"),
    **_paired("mean_error_", "the mean share of models that fail the individual"),
    **_paired("error_", "the model's failure rate"),
    "judged": ("individuals whom the model judged at both snapshots", _COUNT),
    ("by_others", "judged"): ("models that judged these individuals at both snapshots", "models"),
    ("flow", "judged"): ("models that judged these individuals at both snapshots", "models"),
    ("flow", "failed_before"): ("models that failed the individual at the earlier snapshot", "models"),
    ("flow", "failed_after"): ("models that failed the individual at the later snapshot", "models"),
    ("flow", "share"): ("share of the individuals judged by so many models", _SHARE),
    "failed_before": ("individuals failed at the earlier snapshot", _COUNT),
    "failed_after": ("individuals failed at the later snapshot", _COUNT),
    "failed_both": ("individuals failed at both", _COUNT),
    "improved": ("failures that were undone: failed at the earlier snapshot only", _COUNT),
    "regressed": ("new failures: failed at the later snapshot only", _COUNT),
    "net": ("improved minus regressed", _COUNT),
    "changed": ("individuals whose outcome changed", _SHARE),
    "churned": ("individuals whose outcome differs between the earlier version and its repeat", _SHARE),
    "reading": ("snapshot at which the other models are read: before or after", _TEXT),
    "others": ("how many other models fail the individual", "models"),
    "potential": ("failures of the earlier snapshot, which could be undone", _COUNT),
    "improvement_rate": ("improved / potential", _SHARE),
    "at_risk": ("individuals not failed at the earlier snapshot", _COUNT),
    "regression_rate": ("regressed / at risk", _SHARE),
    ("by_others", "share"): ("share of the improvements with so many others", _SHARE),
    "expected_uniform": ("the same if each failure were as likely to be undone", _SHARE),
    "expected_adjusted": ("the same if it depended on difficulty alone", _SHARE),
    "expected_uniform_reason": ("why the share expected by the uniform baseline is undefined", _TEXT),
    "expected_adjusted_reason": ("why the share expected by difficulty is undefined", _TEXT),
    "uniform_reason": ("why the uniform baseline is undefined", _TEXT),
    "trend_adjusted_reason": ("why the trend by difficulty alone is undefined", _TEXT),
    "potential_systemic": ("of the potential, those whom all other models fail", _COUNT),
    "improved_systemic": ("of the improved, those whom all other models fail", _COUNT),
    "regressed_systemic": ("of the regressed, those whom all other models fail", _COUNT),
    "net_systemic": ("of the net, those whom all other models fail", _COUNT),
    ("undoing", "share"): ("share of improvements that undo a systemic failure", _SHARE),
    "uniform": ("the same if each failure were as likely to be undone", _SHARE),
    "difference_uniform": ("share minus uniform", _POINTS),
    "p_value": ("p-value of improved against not improved, or of no trend", "probability"),
    "adjusted": ("share if undoing depended on difficulty alone", _SHARE),
    "difference_adjusted": ("share minus adjusted", _POINTS),
    "net_share": ("net improvements that undo a systemic failure / net improvements", "share"),
    "trend": ("odds ratio of being undone for each further model that fails the individual", "ratio"),
    "trend_adjusted": ("the same if undoing depended on difficulty alone", "ratio"),
    "churn": ("share of a repeat's improvements that undo a systemic failure", _SHARE),
    "verdict": ("the share against both baselines", _TEXT),
    "sentence": ("the same in words", _TEXT),
    "series": ("model, or systemic failure", _TEXT),
    ("trend", "individuals"): ("individuals in all snapshots", _COUNT),
    "slope": ("mean change of the rate from one snapshot to the next", _POINTS),
    "snapshot": ("the snapshot", _TEXT),
    "failed": ("individuals failed at the snapshot, by weight", _COUNT),
    "rate": ("failure rate at the snapshot; the interval is part of a band over all snapshots", _SHARE),
}
