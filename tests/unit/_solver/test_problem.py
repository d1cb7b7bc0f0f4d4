"""Contexts and notions as floats, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock._solver.problem import (
    MOST_RATIO,
    Problem,
    ldp_budget,
    limits,
    restrict_to_support,
    zero_mass_inputs,
)
from liftlock.errors import InputError, NotDefined
from liftlock.model import representative
from liftlock.notions import MaxLift, MinLift

JOINT = ll.Joint.from_counts(
    {"s": {"a": 3, "b": 1, "c": 0}, "t": {"a": 2, "b": 4, "c": 0}, "u": {"a": 0, "b": 0, "c": 0}}
)


def test_limits_of_every_notion() -> None:
    half, two = 0.5, 2.0
    assert limits(ll.LIP("ln 2")) == (half, two, None)
    assert limits(ll.ALIP(lower="ln 2", upper="ln 4")) == (half, 4.0, None)
    assert limits(MaxLift("ln 2")) == (0.0, two, None)
    assert limits(MinLift("ln 2")) == (half, math.inf, None)
    assert limits(ll.LDP("ln 2")) == (0.0, math.inf, two)
    with pytest.raises(NotDefined, match="design for lip"):
        limits(ll.ApproximateLDP("1", "0.1"))


def test_huge_budgets_are_bounded_downwards() -> None:
    """A smaller budget is a safe stand-in, and solvers stay finite."""
    lower, upper, _ = limits(ll.LIP("1000"))
    assert (lower, upper) == (1 / MOST_RATIO, MOST_RATIO)
    assert math.log(MOST_RATIO) < 1000


def test_a_joint_without_what_never_occurs() -> None:
    kept, dropped = restrict_to_support(JOINT)
    assert dropped == ("c",)
    problem = Problem.of(kept, ll.LIP("1"))
    assert problem.given is not None
    # The secret u never occurs and constrains nothing.
    np.testing.assert_allclose(problem.given, [[3 / 5, 1 / 5], [2 / 5, 4 / 5]], rtol=1e-15)
    np.testing.assert_allclose(problem.secret_masses, [0.4, 0.6], rtol=1e-15)
    np.testing.assert_allclose(problem.masses, [0.5, 0.5])
    np.testing.assert_allclose(problem.given @ problem.masses, problem.secret_masses)


def test_an_input_that_never_occurs_is_refused_by_lift_notions_only() -> None:
    prior = ll.Prior.from_counts({"a": 1, "b": 0})
    with pytest.raises(InputError, match="probability 0: 'b'; drop it"):
        Problem.of(prior, ll.LIP("1"))
    assert Problem.of(prior, ll.LDP("1")).masses.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "context",
    [
        ll.Family.of(
            [ll.Prior.from_counts({1: 1, 2: 0, 3: 2}), ll.Prior.from_counts({1: 2, 2: 0, 3: 1})]
        ),
        ll.Intervals.of({1: ("0.2", "0.9"), 2: (0, 0), 3: ("0.1", "0.8")}),
        ll.Ball.of(ll.Prior.from_counts({1: 1, 2: 0, 3: 2}), 0),
        ll.Prior.from_counts({1: 1, 2: 0, 3: 2}),
    ],
    ids=lambda context: type(context).__name__,
)
def test_dropping_in_every_kind(context: ll.Context) -> None:
    assert zero_mass_inputs(context) == (2,)
    kept, dropped = restrict_to_support(context)
    assert (kept.inputs.labels, dropped) == ((1, 3), (2,))
    assert type(kept) is type(context)
    assert restrict_to_support(kept) == (kept, ())
    problem = Problem.of(kept, ll.LIP("1"))
    assert problem.uncertain is not isinstance(context, ll.Prior)
    assert problem.masses.sum() == pytest.approx(1)


def test_coordinates_survive_dropping() -> None:
    alphabet = ll.Alphabet.of("abc", [10, 20, 40])
    for context in (
        ll.Prior(alphabet, (1, 0, 2)),
        ll.Joint(ll.Alphabet.of("st"), alphabet, ((1, 0, 2), (2, 0, 1))),
        ll.Intervals(alphabet, (Fraction(0),) * 3, (Fraction(1), Fraction(0), Fraction(1))),
    ):
        kept, _ = restrict_to_support(context)
        assert kept.inputs.coordinates == (Fraction(10), Fraction(40))


def test_the_budget_of_ldp_that_implies_a_notion() -> None:
    assert str(ldp_budget(ll.LIP("0.5"))) == "0.5"
    assert str(ldp_budget(ll.ALIP(lower="ln 3", upper="2"))) == "ln 3"
    with pytest.raises(NotDefined):
        ldp_budget(ll.ApproximateLDP("1", "0.1"))


def test_a_ball_around_a_prior_with_zeros_has_a_prior_without() -> None:
    ball = ll.Ball.of(ll.Prior.from_counts({1: 1, 2: 0, 3: 3}), "0.1")
    inside = representative(ball)
    assert min(inside.fractions) > 0
    distance = sum(abs(p - q) for p, q in zip(inside.fractions, ball.centre.fractions, strict=True))
    assert distance / 2 <= ball.radius
    assert Problem.of(ball, ll.LIP("1")).masses.min() > 0
