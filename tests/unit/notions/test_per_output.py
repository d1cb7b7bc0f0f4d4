"""Averages at the worst output: the shared search."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.notions import lift_table
from liftlock.notions.per_output import power_sum, worst_output
from tests import oracles
from tests.checks import contains
from tests.strategies import Case, cases


def mean(case: Case, values: list[Fraction]) -> Fraction:
    return sum((p * v for p, v in zip(case.model.prior, values, strict=True)), Fraction(0))


@given(cases(zeros=False, impossible=False))
def test_any_function_of_the_lift_can_be_averaged(case: Case) -> None:
    table = lift_table(case.channel, case.context)
    found, witness = worst_output(
        table,
        lambda lifts: lifts**3,
        lambda lifts: Enclosure.of(mean(case, [v**3 for v in lifts])),
    )
    expected = max(
        sum((p * v**3 for p, v in zip(case.model.prior, column, strict=True)), Fraction(0))
        for column in case.model.columns
    )
    assert found == Enclosure.of(expected)
    assert witness.output in table.outputs


@given(cases(zeros=False, impossible=False))
def test_estimates_that_are_no_numbers_are_not_believed(case: Case) -> None:
    # Floats that overflow or are undefined must not hide an output from the exact search.
    table = lift_table(case.channel, case.context)
    exactly = [mean(case, [v**2 for v in c]) for c in case.model.columns]
    for rubbish in (np.nan, np.inf, -np.inf):

        def estimate(lifts: Floats, rubbish: float = rubbish) -> Floats:
            return np.asarray(np.where(lifts == lifts.max(), rubbish, lifts))

        found, _ = worst_output(
            table, estimate, lambda lifts: Enclosure.of(mean(case, [v**2 for v in lifts]))
        )
        assert found == Enclosure.of(max(exactly))


@given(
    st.lists(st.tuples(st.fractions(0, 1), st.fractions(0, 1)), min_size=1, max_size=8),
    st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(2), Fraction(70), Fraction(201, 2)]),
)
def test_sums_of_powers(pairs: list[tuple[Fraction, Fraction]], order: Fraction) -> None:
    values, weights = [v for v, _ in pairs], [w for _, w in pairs]
    true = mp.fsum(
        oracles.real(w) * mp.power(oracles.real(v), oracles.real(order)) for v, w in pairs if v
    )
    assert contains(power_sum(values, weights, order, 160), true)
