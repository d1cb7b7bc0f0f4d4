"""Lifts over sets of priors, against all vertices of the polytope."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liftlock import Ball, Channel, Family, Intervals, Prior
from liftlock.errors import UnprotectedInput
from liftlock.notions import LDP, LIP, MaxLift, MinLift, lift_range, worst_case
from tests import oracles
from tests.checks import TINY, is_ratio, nats_around
from tests.strategies import Rows, channels, make_channel, prior_sets, randomised_response


@st.composite
def sets(draw: st.DrawFn) -> tuple[Rows, Channel, Rows, Any]:
    size = draw(st.integers(1, 4))
    rows, channel = draw(channels(inputs=size))
    vertices, found = draw(prior_sets(size))
    return rows, channel, vertices, found


@given(sets())
def test_the_range_is_that_of_the_vertices(case: tuple[Rows, Channel, Rows, Any]) -> None:
    rows, channel, vertices, context = case
    largest, smallest = oracles.lift_range(rows, vertices)
    found = lift_range(channel, context)
    assert found.largest.lift == largest
    assert found.smallest.lift == smallest


@given(sets())
def test_the_witness_prior_attains_the_value(case: tuple[Rows, Channel, Rows, Any]) -> None:
    rows, channel, _, context = case
    found = lift_range(channel, context)
    for extreme in (found.largest, found.smallest):
        witness = extreme.witness
        assert witness.prior is not None
        prior = [witness.prior[label] for label in channel.inputs.labels]
        x, y = channel.inputs.index(witness.secret), channel.outputs.index(witness.output)
        mass = sum((p * row[y] for p, row in zip(prior, rows, strict=True)), Fraction(0))
        if extreme.lift is None:
            assert mass == 0
            assert rows[x][y] > 0
        else:
            assert rows[x][y] / mass == extreme.lift


@given(sets())
def test_every_member_leaks_at_most_as_much(case: tuple[Rows, Channel, Rows, Any]) -> None:
    rows, channel, vertices, context = case
    found = lift_range(channel, context)
    middle = [sum((v[x] for v in vertices), Fraction(0)) / len(vertices) for x in range(len(rows))]
    for prior in [*vertices, middle]:
        model = oracles.of_prior(prior, rows)
        assert oracles.min_lift(model) >= (found.smallest.lift or 0)
        assert found.largest.lift is None or oracles.max_lift(model) <= found.largest.lift


@given(sets())
def test_bounded_prior_lip_is_decided_exactly(case: tuple[Rows, Channel, Rows, Any]) -> None:
    rows, channel, vertices, context = case
    largest, smallest = oracles.lift_range(rows, vertices)
    ratio = None if largest is None or smallest == 0 else max(largest, 1 / smallest)
    assert is_ratio(LIP.measure(channel, context), ratio)
    assert is_ratio(MaxLift.measure(channel, context), largest)
    assert is_ratio(MinLift.measure(channel, context), 1 / smallest if smallest else None)

    def holds(budget: object) -> bool:
        return LIP(budget).certify(channel, context, impossible="ignore").holds

    if ratio is None:
        assert not holds(1000)
        assert LIP(1).smallest_text(channel, context) == ""
        return
    assert holds(f"ln {ratio}")
    assert holds(LIP(1).smallest_text(channel, context).removeprefix("lip="))
    if ratio > 1:
        assert not holds(f"ln {1 + (ratio - 1) * (1 - TINY)}")
        assert not holds(nats_around(ratio)[0])
        assert holds(nats_around(ratio)[1])


@given(channels())
def test_over_all_priors_it_is_ldp(case: tuple[Rows, Channel]) -> None:
    # 000 Cor 2.
    rows, channel = case
    found = worst_case(channel)
    expected = oracles.ldp(rows)
    assert found.largest.lift == expected
    smallest = found.smallest.lift
    assert (1 / smallest if smallest else None) == expected
    assert LDP.measure(channel).ratio == expected


def test_disjoint_supports_make_the_identity_infinite() -> None:
    # 000 Lemma 2: 0-LIP under each of the two priors, infinite under a mixture.
    ends = [Prior.from_counts({"a": 1, "b": 0}), Prior.from_counts({"a": 0, "b": 1})]
    channel = Channel.identity("ab")
    for prior in ends:
        assert LIP(0).certify(channel, prior, impossible="ignore").holds
    assert LIP.measure(channel, Family.of(ends)).value.is_infinite


def test_published_intervals_leak_more_than_they_say() -> None:
    # 000: [.1, .2], eps 1, q01 = b/(b-a+E): leaks 1.64075.
    E = Fraction("2.718281828459045")
    a, b = Fraction(1, 10), Fraction(1, 5)
    up, down = b / (b - a + E), (1 - a) / (b - a + E)
    channel = make_channel([[1 - up, up], [down, 1 - down]])
    box = Intervals.of({"x0": (1 - b, 1 - a), "x1": (a, b)})
    assert abs(float(LIP.measure(channel, box)) - 1.64075) < 1e-5


def test_the_ball_grows_with_its_radius() -> None:
    channel = make_channel(randomised_response(4))
    centre = Prior.from_counts({"x0": 1, "x1": 2, "x2": 3, "x3": 4})
    values = [
        LIP.measure(channel, Ball.of(centre, r)).ratio for r in ("0", "0.05", "0.1", "0.5", "1")
    ]
    assert values == sorted(values, key=lambda v: v or 0)
    assert values[0] == LIP.measure(channel, centre).ratio
    assert values[-1] == LDP.measure(channel).ratio


def test_symbols_impossible_under_every_prior_are_refused() -> None:
    channel = Channel.identity("abc")
    box = Intervals.of({"a": (0, 1), "b": (0, 1), "c": (0, 0)})
    with pytest.raises(UnprotectedInput, match="'c'"):
        LIP(1).certify(channel, box)
    tight = Intervals.of({"a": ("1/2", 1), "b": ("1/2", 1), "c": (0, 1)})
    assert lift_range(channel, tight).largest.lift == 2
    with pytest.raises(UnprotectedInput, match="'c'"):
        LIP(1).certify(channel, tight)
