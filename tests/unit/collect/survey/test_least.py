"""What is shown leaves over enough reports: against every difference with the totals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from liftlock.collect.survey.least import shown_days, shown_mechanisms, shown_parts

NUMBERS = st.integers(0, 30)


@given(st.dictionaries(st.sampled_from("abcdef"), NUMBERS), st.integers(0, 25), NUMBERS)
def test_what_is_left_out_is_nothing_or_enough(
    totals: dict[str, int], least: int, left_out: int
) -> None:
    kept = shown_parts(totals, least, left_out)
    assert all(totals[part] == 0 or totals[part] >= least for part in kept)
    rest = left_out + sum(totals.values()) - sum(totals[part] for part in kept)
    assert rest == 0 or rest >= least or not any(totals[part] for part in kept)


@given(st.lists(st.lists(NUMBERS, min_size=4, max_size=4), max_size=4), st.integers(0, 25))
def test_days_and_mechanisms_leave_over_enough_both_ways(
    table: list[list[int]], least: int
) -> None:
    made = {digest: SimpleNamespace(group=digest[0]) for digest in ("a1", "a2", "b1", "b2")}
    collection: Any = SimpleNamespace(mechanisms=made, least=least)
    history = {
        f"day {at}": {digest: (n, 0) for digest, n in zip(made, row, strict=True)}
        for at, row in enumerate(table)
    }
    counts = {digest: (sum(row[digest][0] for row in history.values()),) for digest in made}
    known = shown_mechanisms(collection, counts)
    for group in "ab":
        levels = [digest for digest in made if digest[0] == group]
        rest = sum(counts[digest][0] for digest in levels if digest not in known)
        assert rest == 0 or rest >= least or not known.intersection(levels)
    days = shown_days(collection, history)
    for digest in known:
        seen = [history[day][digest][0] for day in days if digest in days[day]]
        assert all(number == 0 or number >= max(least, 1) for number in seen)
        rest = counts[digest][0] - sum(seen)
        assert rest == 0 or rest >= least or not any(seen)
    for day, kept in days.items():
        seen = [history[day][digest][0] for digest in kept]
        rest = sum(numbers[0] for numbers in history[day].values()) - sum(seen)
        assert rest == 0 or rest >= least or not any(seen)


def test_everything_is_shown_where_nothing_is_too_few() -> None:
    made = {digest: SimpleNamespace(group=None) for digest in ("one", "two")}
    collection: Any = SimpleNamespace(mechanisms=made, least=0)
    history = {"2026-05-04": {"one": (1,), "two": (0,)}}
    assert shown_days(collection, history) == {"2026-05-04": frozenset(made)}
    assert shown_mechanisms(collection, history["2026-05-04"]) == frozenset(made)
