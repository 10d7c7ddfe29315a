"""What the columns of a feedback loop's tables mean, and their units."""

from __future__ import annotations

__all__ = ["LOOP_COLUMNS"]

_TEXT, _PEOPLE, _OWN = "text", "people, mean over seeds and decision-makers", "that of the measure"
_ARM = ("which way of running the loop", _TEXT)
_ENDPOINTS = {
    "arm": _ARM,
    "against": ("the arm that this one is compared with", _TEXT),
    "measure": ("what is measured, see docs/loops.md", _TEXT),
    "of": ("group, class or stratum that it is of; empty for all", _TEXT),
    "endpoint": ("last generation, mean over generations, or change since generation 0", _TEXT),
    "primary": ("whether the plan names the measure among its endpoints", "true or false"),
    "value": ("mean over seeds", _OWN),
    "difference": (
        "this arm minus the one it is compared with, paired by seed; of homogenization the ratio of the two",
        _OWN,
    ),
}
_GENERATIONS = {
    "arm": _ARM,
    "measure": _ENDPOINTS["measure"],
    "of": ("group, class or stratum that it is of; empty for all", _TEXT),
    "generation": ("generation, from 0", "generations"),
    "value": ("mean over seeds", _OWN),
    "value_low": ("lower end of the band, which holds in all generations at once", _OWN),
    "value_high": ("upper end of the band", _OWN),
    "seeds": ("seeds in which it is defined", "seeds"),
    "unit": ("what the measure is in: share, points, ratio or number", _TEXT),
    "band": ("how the band was made", _TEXT),
    "why_undefined": ("why a value or the band is missing somewhere", _TEXT),
}
_COLLAPSE = {
    "arm": _ARM,
    "seeds": ("chains of the arm", "seeds"),
    "collapsed": ("of them such whose accuracy falls for good", "seeds"),
    "first": ("generation from which on, in the first of them", "generations"),
    "median": ("the median of them", "generations"),
    "last": ("the last of them", "generations"),
    "constant": ("seeds whose classifiers give nearly everyone the same class in the last generation", "seeds"),
    "constant_from": ("first generation from which on most seeds do", "generations"),
    "largest_class": ("share of test individuals that get the most frequent class, last generation", "share (0 to 1)"),
    "stopped": ("chains that ended before their time", "seeds"),
}
_STRATUM = {
    "target": ("class; empty where people are selected by group alone", _TEXT),
    "group": ("group; empty where people are selected by class alone", _TEXT),
}
_STRATA = {
    **_STRATUM,
    "ideal": ("share of the ideal distribution; empty where it is that of the training individuals", "share (0 to 1)"),
    "original": ("share of the original individuals", "share (0 to 1)"),
}
_ACCOUNTING = {
    "arm": _ARM,
    "generation": _GENERATIONS["generation"],
    "purpose": ("whether a generator or a classifier is trained on them", _TEXT),
    **_STRATUM,
    "pool": ("of them among the first draws, B + r", _PEOPLE),
    "quota": ("of them wanted", _PEOPLE),
    "taken": ("of them taken by quota", _PEOPLE),
    "filled": ("of them who came to fill the shortfall", _PEOPLE),
    "added": ("of them more than as many unselected draws would have held", _PEOPLE),
    "shortfall": ("places of all strata together that quotas left empty", _PEOPLE),
}
_FAULTS = {
    "arm": _ARM,
    "reason": ("what went wrong", _TEXT),
    "count": ("how often, over generations, seeds and decision-makers", "times"),
    "first": ("generation in which it happened first", "generations"),
    "said": ("what was said of it then", _TEXT),
}

_TABLES = {
    "endpoints": _ENDPOINTS,
    "generations": _GENERATIONS,
    "collapse": _COLLAPSE,
    "strata": _STRATA,
    "accounting": _ACCOUNTING,
    "faults": _FAULTS,
}
LOOP_COLUMNS: dict[tuple[str, str] | str, tuple[str, str]] = {
    (table, column): entry for table, columns in _TABLES.items() for column, entry in columns.items()
}
"""(table, column) -> (meaning, unit)."""
