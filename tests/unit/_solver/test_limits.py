"""Limits and tolerances of the solver: each limit is measured, and tolerances are told apart."""

from dataclasses import astuple, fields
from itertools import pairwise

from benchmarks.bench_limits import TASKS, limited, measured
from liftlock._solver import strategies
from liftlock._solver.limits import LIMITS, Limits
from liftlock.exact.tolerances import TOLERANCES


def test_every_limit_has_a_task_that_measures_it() -> None:
    assert set(TASKS) == {field.name for field in fields(Limits)}
    seconds, gap = measured(TASKS["listed_symbols"], LIMITS).split(" s, ")
    assert float(seconds) >= 0
    assert float(gap) <= 1e-6


def test_limits_are_lent_to_the_solver_and_taken_back() -> None:
    other = Limits(listed_symbols=2)
    with limited(other):
        assert vars(strategies)["LIMITS"] is other
    assert vars(strategies)["LIMITS"] is LIMITS


def test_tolerances_differ_by_more_than_rounding() -> None:
    assert all(5 * small < large for small, large in pairwise(sorted(astuple(TOLERANCES))))
