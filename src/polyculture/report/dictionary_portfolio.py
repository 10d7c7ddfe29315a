"""What the columns of the tables of a portfolio mean, and their units."""

from __future__ import annotations

__all__ = ["PORTFOLIO_COLUMNS"]

_SHARE, _POINTS, _TEXT, _FLAG = "share (0 to 1)", "difference of shares", "text", "true or false"

_FIGURES = {
    "individuals": ("individuals whom any model judged", "individuals"),
    "seed": ("seed of the random halves", "number"),
    "objective": ("what was to be made small (systemic-failure) or large (majority)", _TEXT),
    "choice": ("what was chosen: a set, a swap of one of today's models, or an addition to them", _TEXT),
    "size": ("models in the chosen set", "models"),
    "by": ("group columns of the worst group", _TEXT),
    "worst_group": ("whether the group that fares worst counts, not everyone", _FLAG),
    "groups": ("groups among which the worst is looked for", "groups"),
    "most_mean_failure": ("bound on the mean failure rate of the chosen models", _SHARE),
    "least_mean_failure": ("least mean failure rate that such a choice can have", _SHARE),
    "sets": ("sets that may be chosen, the bound left aside", "sets"),
    "method": ("how the set was found", _TEXT),
    "exact": ("whether no other set is better on these data", _FLAG),
    "bound": ("value that no set can beat on these data, where the search was not exact", _SHARE),
    "bound_reason": ("why there is no such bound", _TEXT),
    "held_out": ("value, on the other half, of sets chosen on random halves", _SHARE),
    "held_out_mean_failure": ("mean failure rate of those sets on the other half", _SHARE),
    "halves": ("halves on which a set was chosen", "halves"),
    "halves_without_a_set": ("halves on which no set met the bound", "halves"),
    "random": ("mean value of all choices of this kind", _SHARE),
    "difference_from_random": ("held-out value minus that of a random choice", _POINTS),
    "difference_from_today": ("held-out value minus that of today's models", _POINTS),
    "within_noise_count": ("sets compared that cannot be told from the chosen one", "sets"),
    "sets_compared": ("sets compared with the chosen one", "sets"),
    "within_noise_note": ("how they were compared", _TEXT),
    "appeals_note": ("whom an appeal is open to, and whom it may let through", _TEXT),
    "notes": ("what a reader must know besides", _TEXT),
}

_SETS = {
    "role": ("chosen, today, or within noise of the chosen one", _TEXT),
    "models": ("the members, separated by |", _TEXT),
    "value": ("what was asked for, on all individuals: too favourable for the chosen set", _SHARE),
    "mean_failure": ("mean of the members' failure rates", _SHARE),
    "systemic_failure": ("individuals failed by every member that judged them", _SHARE),
    "majority": ("individuals on whom more than half of the members are right, a tie as half", _SHARE),
    "removed": ("today's models that are not in the set", _TEXT),
    "added": ("models of the set that are not in use today", _TEXT),
    "worst_group": ("the group that fares worst", _TEXT),
    "difference": ("value minus that of the chosen set, on the same individuals", _POINTS),
}

_MODELS = {
    "name": ("the model", _TEXT),
    "chosen": ("whether it is in the chosen set", _FLAG),
    "today": ("whether it is in use today", _FLAG),
    "share_of_halves": ("halves on which the chosen set holds it", _SHARE),
}

_ALTERNATIVES = {
    "name": ("the other way to use the models", _TEXT),
    "sentence": ("what it means", _TEXT),
    "value": ("what was asked for, under it", _SHARE),
    "difference": ("held-out value of the chosen set minus this value", _POINTS),
    "mean_failure": ("mean failure rate of its models", _SHARE),
}

_APPEALS = {
    "first": ("the model that decides first", _TEXT),
    "second": ("the model to which an appeal goes", _TEXT),
    "individuals": ("individuals whom an appeal may help and both judged", "individuals"),
    "failure": ("failure rate of the first model alone", _SHARE),
    "after_appeal_in_sample": ("failed by both, with the second model chosen on the same individuals", _SHARE),
    "after_appeal": ("failed by both, held out", _SHARE),
    "false_positives": ("let through by the first model, of those who should be rejected", _SHARE),
    "added_false_positives": ("let through by the appeal alone, of those who should be rejected, held out", _SHARE),
}

PORTFOLIO_COLUMNS: dict[tuple[str, str], tuple[str, str]] = {
    (table, column): entry
    for table, columns in (
        ("portfolio", _FIGURES),
        ("portfolio_sets", _SETS),
        ("portfolio_models", _MODELS),
        ("alternatives", _ALTERNATIVES),
        ("appeals", _APPEALS),
    )
    for column, entry in columns.items()
}
