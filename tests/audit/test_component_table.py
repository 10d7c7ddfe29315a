"""What kind of value a component has, and what is refused."""

from __future__ import annotations

import datetime as dt
import math

import pytest

from polyculture.audit.component_table import ComponentTable
from polyculture.errors import ColumnError, InputError, ValueInDataError


def column(values, *, text=False):
    models = [f"m{j}" for j in range(len(values))]
    rows = {model: {"x": value} for model, value in zip(models, values, strict=True)}
    (found,) = ComponentTable("the table", rows, text=text).of(models)
    return found


def test_categories_are_text_and_truth_values():
    found = column(["a", " a ", "b", None, "Unknown", float("nan")])
    assert (found.kind, found.values, found.levels) == ("category", ("a", "a", "b", None, None, None), ("a", "b"))
    assert found.known == (True, True, True, False, False, False)
    assert column([True, False]).values == ("true", "false")
    assert column([None, None]).kind == "category"


def test_text_that_looks_like_numbers_is_numbers_only_in_a_file():
    assert column(["1", "2"]).kind == "category"
    found = column(["1", "2.5", ""], text=True)
    assert (found.kind, found.values, found.scale) == ("number", (1.0, 2.5, None), "difference")
    assert column(["1", "v2"], text=True).kind == "category"
    assert column(["1", "nan"], text=True).kind == "category"


def test_wide_positive_numbers_are_compared_by_logarithms():
    found = column([2, 20.0])
    assert found.scale == "difference of logarithms"
    assert found.values == (math.log(2), math.log(20))
    assert column([0, 20]).scale == column([3, 20]).scale == "difference"


def test_dates_are_days():
    for values in (["2024-05-13", "2024-05-15"], [dt.date(2024, 5, 13), dt.datetime(2024, 5, 15, 10)]):
        found = column(values)
        assert (found.kind, found.scale) == ("date", "days apart")
        assert found.values[1] - found.values[0] == 2
    assert column(["2024-05", "2024-05-15"], text=True).levels == (float(dt.date(2024, 5, 15).toordinal()),)
    with pytest.raises(ValueInDataError, match="'x' of 'm0' is '2024-13-01', which is no day"):
        column(["2024-13-01"])


def test_values_of_two_types_are_refused():
    with pytest.raises(ColumnError, match=r"of 'm0' is a number \(1.0\), and of 'm1' a category \('1'\)"):
        column([1, "1"])
    for value in ([1], math.inf, {"a": 1}):
        with pytest.raises(ValueInDataError, match="cannot be compared"):
            column([value])


def test_an_empty_table_and_a_model_of_no_audit_are_refused():
    with pytest.raises(InputError, match="holds no model"):
        ComponentTable("the table", {}).of(["a"])
    with pytest.raises(InputError, match="names models but no component"):
        ComponentTable("the table", {"a": {}}).of(["a"])
    with pytest.raises(InputError, match=r"has the model 'gpt4'.*Did you mean 'gpt-4'\?"):
        ComponentTable("the table", {"gpt4": {"x": 1}}).of(["gpt-4", "claude"])
