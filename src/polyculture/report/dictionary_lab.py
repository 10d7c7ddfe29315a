"""What the columns of a component-sharing experiment's tables mean, and their units."""

from __future__ import annotations

__all__ = ["LAB_COLUMNS"]

_TEXT, _SHARE, _RATIO, _LOG, _TRIALS = "text", "share (0 to 1)", "ratio", "natural logarithm", "trials"
_WHERE = {
    "learner": ("what decision-makers learn with; empty for all learners together", _TEXT),
    "blocks": ("number of blocks that the training rows are cut into; empty for all sizes together", "blocks"),
    "training_rows": ("rows that each decision-maker trains on; empty for all sizes together", "rows"),
}
_RESULTS = {
    **_WHERE,
    "arm": ("what decision-makers share", _TEXT),
    "trials": ("trials of this row", _TRIALS),
    "without_outcomes": (
        "of them left out of every arm, as in one a learner could not be fitted or judged nobody",
        _TRIALS,
    ),
    "undefined": ("of them with nothing expected, so without an H of their own; they are in the sums", _TRIALS),
    "systemic_failure": ("mean share of tested individuals whom all decision-makers fail", _SHARE),
    "expected": ("mean share expected if decision-makers failed independently at their own rates", _SHARE),
    "homogenization": ("sum of systemic failure over the sum expected (H)", _RATIO),
    "accuracy": ("mean accuracy of the decision-makers", _SHARE),
    "groups_average": ("average group homogenization, from sums over trials", _RATIO),
    "groups_uniform": ("uniform group homogenization, from sums over trials", _RATIO),
    "groups_worst": ("worst group homogenization, from sums over trials", _RATIO),
    "groups_undefined": ("trials with nothing expected among individuals of known group", _TRIALS),
    "groups": ("group homogenization; empty without groups", _RATIO),
}
_EFFECTS = {
    **_WHERE,
    "component": ("what is shared: rows, features, preprocessing, learner, seed or backbone", _TEXT),
    "level": ("how much of it is shared", _TEXT),
    "against": ("what that is compared with: the least shared", _TEXT),
    "trials": ("trials with outcomes in all arms", _TRIALS),
    "log_ratio": ("log(sum of systemic failure / sum expected), level minus against, paired by trial", _LOG),
    "ratio": ("H at this level / H of the least shared", _RATIO),
    "excess": ("systemic failure minus expected, level minus against", "difference of shares"),
    "group_log_ratio": ("the same as log_ratio of uniform group homogenization; empty without groups", _LOG),
    "beyond_groups": ("log_ratio minus group_log_ratio; empty without groups", _LOG),
    "behind_first": ("the largest effect minus this one", _LOG),
}
_LEARNERS = {
    "learner": ("one way to adapt a pretrained model", _TEXT),
    "against": ("the way that it is compared with", _TEXT),
    "arm": _RESULTS["arm"],
    "trials": ("trials with outcomes of both", _TRIALS),
    "log_ratio": ("log(sum of systemic failure / sum expected), learner minus against, paired by trial", _LOG),
    "ratio": ("H of learner / H of against", _RATIO),
    "group_ratio": ("the same of uniform group homogenization; empty without groups", _RATIO),
    "accuracy": ("mean accuracy of learner minus that of against", "difference of shares"),
}

LAB_COLUMNS: dict[tuple[str, str], tuple[str, str]] = {
    **{("results", name): entry for name, entry in _RESULTS.items()},
    **{(table, name): entry for table in ("effects", "components") for name, entry in _EFFECTS.items()},
    **{("learners", name): entry for name, entry in _LEARNERS.items()},
    ("interactions", "first"): ("a component", _TEXT),
    ("interactions", "second"): ("another", _TEXT),
    ("interactions", "log_ratio"): ("effect of the first where the second is shared minus where it is not", _LOG),
    ("interactions", "ratio"): ("how many times larger that effect is where the second is shared", _RATIO),
    ("accuracy", "arm"): _RESULTS["arm"],
    ("accuracy", "rank_correlation"): ("Spearman's correlation over trials of H with mean accuracy", "-1 to 1"),
    ("faults", "learner"): _WHERE["learner"],
    ("faults", "blocks"): _WHERE["blocks"],
    ("faults", "arm"): _RESULTS["arm"],
    ("faults", "decision_maker"): ("the decision-maker, named by its task", _TEXT),
    ("faults", "reason"): ("what went wrong", _TEXT),
    ("faults", "count"): ("how often, over the trials of this row", _TRIALS),
    ("faults", "said"): ("what the learner said the first time", _TEXT),
}
"""(table, column) -> (meaning, unit)."""
