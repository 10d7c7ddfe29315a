from __future__ import annotations

from polyculture.audit.records import ProfileRow, Statistic, undefined


def test_a_statistic_shows_what_it_holds_and_no_more() -> None:
    whole = Statistic(value=0.5, low=0.4, high=0.6, method="Jeffreys")
    assert repr(whole) == "Statistic(value=0.5, low=0.4, high=0.6, method='Jeffreys')"
    assert repr(undefined("nobody was judged")) == "Statistic(value=None, reason='nobody was judged')"


def test_records_show_their_statistics_the_same_way() -> None:
    row = ProfileRow(judged=3, failed=1, count=2, observed=Statistic(value=0.5), expected=0.25)
    assert repr(row) == "ProfileRow(judged=3, failed=1, count=2, observed=Statistic(value=0.5), expected=0.25)"
