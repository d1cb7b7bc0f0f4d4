"""(epsilon, delta)-LDP: over all pairs of rows and all sets of outputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Prior, Table
from liftlock.errors import NumberError
from liftlock.notions import ApproximateLDP, DeltaCurve
from tests import oracles, replay
from tests.checks import TINY, contains, is_number, smallest_values
from tests.strategies import (
    Case,
    Rows,
    cases,
    make_channel,
    near_ties,
    prior_case,
    randomised_response,
)

ANY = st.one_of(cases(outputs=3), near_ties(size=3))
RATIOS = st.one_of(
    st.fractions(1, 10, max_denominator=30), st.sampled_from([Fraction(1), Fraction(3)])
)


@given(ANY, RATIOS)
def test_delta_is_the_largest_excess_over_sets(case: Case, ratio: Fraction) -> None:
    found = ApproximateLDP.measure(case.channel, case.context, f"ln {ratio}")
    assert is_number(found.value, oracles.delta_ldp(case.given, ratio))


@given(ANY, st.fractions(0, 3, max_denominator=20))
def test_delta_at_an_irrational_ratio(case: Case, epsilon: Fraction) -> None:
    found = ApproximateLDP.measure(case.channel, case.context, epsilon)
    assert contains(found.value, oracles.delta_ldp(case.given, mp.exp(oracles.real(epsilon))))


def excess_of(rows: Rows, s: int, other: int, chosen: list[int], ratio: Fraction) -> Fraction:
    return sum((rows[s][y] - ratio * rows[other][y] for y in chosen), Fraction(0))


@given(st.one_of(cases(joints=False, outputs=3), near_ties(size=3, joints=False)), RATIOS)
def test_the_witness_attains_delta(case: Case, ratio: Fraction) -> None:
    found = ApproximateLDP.measure(case.channel, case.context, f"ln {ratio}")
    witness = found.witness
    assert witness is not None
    assert witness.outputs is not None
    s, other = (int(str(label)[1:]) for label in (witness.secret, witness.other))
    chosen = [int(str(label)[1:]) for label in witness.outputs]
    assert excess_of(case.rows, s, other, chosen, ratio) == found.value.lower


@given(ANY, st.fractions(0, 1, max_denominator=40))
def test_epsilon_is_the_exact_inverse(case: Case, delta: Fraction) -> None:
    found = DeltaCurve.of(case.channel, case.context, "ldp").epsilon(delta)
    rows = case.given
    if found.ratio is None:
        # The excess over sets that the other row never gives does not depend on E.
        assert oracles.delta_ldp(rows, Fraction(10**40)) > delta
        return
    attained = oracles.delta_ldp(rows, found.ratio)
    assert attained <= delta
    if found.ratio > 1:
        assert attained == delta
        assert oracles.delta_ldp(rows, 1 + (found.ratio - 1) * (1 - TINY)) > delta


@given(ANY, RATIOS)
def test_decisions_at_the_boundary(case: Case, ratio: Fraction) -> None:
    delta = oracles.delta_ldp(case.given, ratio)

    def holds(budget: object, bound: Fraction) -> bool:
        return ApproximateLDP(budget, bound).certify(case.channel, case.context).holds

    assert holds(f"ln {ratio}", delta)
    if delta:
        assert not holds(f"ln {ratio}", delta * (1 - TINY))
        # ln ratio is irrational unless ratio is 1: the last decimal below and above it.
        with mp.workdps(150):
            scaled = int(mp.floor(mp.log(oracles.real(ratio)) * mp.mpf(10) ** 45))
        assert holds(Fraction(scaled + 1, 10**45), delta)
        steep = oracles.delta_ldp(case.given, ratio * 2) < delta
        if ratio > 1 and steep:
            assert not holds(Fraction(scaled, 10**45), delta)


@given(ANY, RATIOS)
def test_the_smallest_budgets_suffice(case: Case, ratio: Fraction) -> None:
    notion = ApproximateLDP(f"ln {ratio}", "1/50")
    delta, *rest = smallest_values(notion, case)
    assert ApproximateLDP(f"ln {ratio}", delta).certify(case.channel, case.context).holds
    for epsilon in rest:
        assert ApproximateLDP(epsilon, "1/50").certify(case.channel, case.context).holds
        less = Fraction(epsilon) - Fraction(1, 10**9)
        if less > 0:
            assert not ApproximateLDP(less, "1/50").certify(case.channel, case.context).holds


@settings(max_examples=25)
@given(cases(outputs=3))
def test_delta_0_is_ldp_and_delta_falls_with_epsilon(case: Case) -> None:
    ratio = oracles.ldp(case.given)
    found = DeltaCurve.of(case.channel, case.context, "ldp").epsilon(0)
    assert found.ratio == ratio
    values = [
        ApproximateLDP.measure(case.channel, case.context, epsilon).value.lower
        for epsilon in ("0", "0.3", "1", "3")
    ]
    assert values == sorted(values, reverse=True)


def test_many_equal_pairs() -> None:
    ties = prior_case([1] * 40, randomised_response(40))
    rows = ties.rows
    ratio = Fraction(2)
    found = ApproximateLDP.measure(ties.channel, ties.context, "ln 2")
    excess = [max(a - ratio * b, Fraction(0)) for a, b in zip(rows[0], rows[1], strict=True)]
    assert is_number(found.value, sum(excess, Fraction(0)))
    assert DeltaCurve.of(ties.channel, None, "ldp").epsilon(0).ratio == rows[0][0] / rows[0][1]


def test_large_tables(large: Case) -> None:
    found = ApproximateLDP.measure(large.channel, large.context, "1/2")
    E = mp.exp(mp.mpf(1) / 2)
    witness = found.witness
    assert witness is not None
    # Every pair in floats, and the best ones again with many digits.
    table = large.channel.floats()
    estimates = np.array([np.maximum(row - float(E) * table, 0).sum(axis=1) for row in table])
    near = np.argwhere(estimates >= estimates.max() - 1e-9)
    true = max(
        mp.fsum(
            max(oracles.real(a) - E * oracles.real(b), 0)
            for a, b in zip(large.rows[s], large.rows[t], strict=True)
        )
        for s, t in near
    )
    assert contains(found.value, true)


def test_a_symmetric_pair_is_looked_at_once_but_named_rightly() -> None:
    # Rows are permutations of one another: the witness must name outputs of its own pair.
    case = prior_case([1, 1, 1], randomised_response(3))
    witness = ApproximateLDP.measure(case.channel, case.context, 0).witness
    assert witness is not None
    assert witness.outputs == (f"y{str(witness.secret)[1:]}",)


def test_budgets_too_large_for_floats() -> None:
    channel = make_channel([[Fraction(1, 2), Fraction(1, 2)], [Fraction(1), Fraction(0)]])
    context = Prior.uniform(["x0", "x1"])
    assert ApproximateLDP(1000, "1/2").certify(channel, context).holds
    assert not ApproximateLDP(1000, "0.4999").certify(channel, context).holds
    small = Fraction(1, 10**500)
    channel = Channel.from_fractions(
        Alphabet.of("ab"), Alphabet.of("uv"), [[Fraction(1, 2)] * 2, [1 - small, small]]
    )
    prior = Prior.uniform("ab")
    with mp.workdps(700):
        E = mp.exp(1000)
        expected = mp.mpf(1) / 2 - E * mp.mpf(10) ** -500
    found = ApproximateLDP.measure(channel, prior, 1000).value
    assert abs(mp.mpf(float(found)) - expected) < 1e-15
    assert ApproximateLDP("ln 1" + "0" * 500, "1e-300").certify(channel, prior).holds
    assert not ApproximateLDP(1150, "1e-300").certify(channel, prior).holds


def test_two_pairs_whose_order_hangs_on_the_fiftieth_digit_of_e() -> None:
    close = oracles.convergent_above_e()
    step = Fraction(1, 1000)
    r1, r2, m2 = 2 * step, step, Fraction(1, 2)
    m1 = m2 + close * step
    channel = make_channel([[m1, r2, 1 - m1 - r2], [r1, m2, 1 - r1 - m2], [r1, r2, 1 - r1 - r2]])
    prior = Prior.uniform(["x0", "x1", "x2"])
    with mp.workdps(120):
        first = oracles.real(m1) - mp.e * oracles.real(r1)
        second = oracles.real(m2) - mp.e * oracles.real(r2)
        assert 0 < first - second < mp.mpf(10) ** -55
        between = Fraction(int(mp.floor((first + second) / 2 * mp.mpf(10) ** 100)), 10**100)
    assert not ApproximateLDP(1, between).certify(channel, prior).holds
    assert ApproximateLDP(1, between + Fraction(1, 10**50)).certify(channel, prior).holds


def test_words_and_refusals() -> None:
    notion = ApproximateLDP("ln 3", "0.01")
    assert str(notion) == "ldp_delta(ln 3, 0.01)"
    assert notion.budgets == {"epsilon": "ln 3", "delta": "0.01"}
    assert notion.name == "ldp_delta"
    for epsilon, delta in ((-1, 0), (1, 2), (1, -1)):
        with pytest.raises(NumberError):
            ApproximateLDP(epsilon, delta)


@pytest.mark.parametrize("ratio", ["1", "3/2", "3", "700"])
@pytest.mark.parametrize("wobble", [0, 1, 5])
def test_many_pairs_that_are_nearly_alike(wobble: int, ratio: str) -> None:
    """Rows that differ by a few units: the one pair that is worse than all others is found."""
    size, total = 24, 1 << 52
    source = np.random.default_rng(wobble)
    weights = np.full((size, size), total // (3 * size), dtype=object)
    weights += source.integers(-wobble, wobble + 1, size=(size, size))
    for x in range(size):
        weights[x, x] = 0
        weights[x, x] = total - sum(int(w) for w in weights[x])
    labels = Alphabet.of(range(size))
    channel = Table.of(labels, labels, weights.astype(np.int64), 52)
    rows = [[Fraction(int(w), total) for w in row] for row in weights]
    limit = Fraction(ratio)
    expected = max(
        sum((max(a - limit * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))
        for p in rows
        for q in rows
    )
    epsilon, prior = f"ln {ratio}", Prior.uniform(range(size))
    assert is_number(ApproximateLDP.measure(channel, None, epsilon).value, expected)
    assert ApproximateLDP(epsilon, expected).certify(channel, prior).holds
    if expected:
        less = expected - Fraction(1, 2 * total)
        assert not ApproximateLDP(epsilon, less).certify(channel, prior).holds


# --- for the contracts ----------------------------------------------------------------------------


def delta_attained(at: replay.Replay) -> Any:
    more, less = (at.sums(secret)[0] for secret in (at.witness.secret, at.witness.other))
    return max(oracles.real(more) - replay.factor(at.notion) * oracles.real(less), mp.mpf(0))


TRUTHS: replay.Truths = {
    "ldp_delta": lambda case, notion: {
        "delta_ldp": oracles.delta_ldp(case.given, replay.factor(notion))
    }
}
ATTAINED: replay.Attained = {"ldp_delta": {"delta_ldp": delta_attained}}
