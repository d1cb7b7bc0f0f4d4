"""Statements of paper 002 that no figure shows: what ALIP says of averaged measures."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import liftlock as ll
from liftlock.notions import (
    Chi2,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
    TotalVariation,
)
from liftlock_papers.figure import Finding, Statement, Verdict

Measure = Callable[[ll.Channel, ll.Prior], Any]
Bound = Callable[[Fraction, Fraction], Fraction]
"""Of the smallest lift L = e^-ε_l and the largest lift U = e^ε_u."""


def turned() -> tuple[ll.Channel, ll.Prior]:
    """Return three even secrets with the lifts 1/10 and 29/20 at every output.

    Beliefs may fall by more than they rise, as the paper recommends.
    """
    cells = [Fraction(1, 30), Fraction(29, 60), Fraction(29, 60)]
    rows = {s: {y: cells[(y - s) % 3] for y in range(3)} for s in range(3)}
    return ll.Channel.from_rows(rows), ll.Prior.uniform(range(3))


def lopsided() -> tuple[ll.Channel, ll.Prior]:
    """Return two secrets of which the rare one has the lift 8/5, the other one 9/10."""
    rows = {"a": {0: "0.09", 1: "0.91"}, "b": {0: "0.16", 1: "0.84"}}
    return ll.Channel.from_rows(rows), ll.Prior.from_counts({"a": 6, "b": 1})


def _judge(claim: str, measure: Measure, bound: Bound, *, inverse: bool, why: str) -> Finding:
    channel, prior = lopsided() if inverse else turned()
    lifts = [lift for row in ll.lift_table(channel, prior).lifts() for lift in row]
    low, high = min(lifts), max(lifts)
    said, found = bound(low, high), measure(channel, prior).value
    assert found.is_exact
    where = "P_S = (6, 1)/7" if inverse else "three even secrets"
    return Finding(
        claim,
        Verdict.of(found.lower <= said),
        f"{where}, lifts from {float(low):g} to {float(high):g}: {found.lower} = "
        f"{float(found.lower):.5g}, above the {float(said):.5g} that is said",
        why,
    )


_LIFTS = "It holds if and only if e^ε_u + e^-ε_l ≥ 2, so for ε_l ≤ ε_u, not where the paper "
_ASYMMETRIC = _LIFTS + "recommends ε_l > ε_u; always at most "
_INVERSE = (
    "It holds if and only if e^ε_l + e^-ε_u ≥ 2, so for ε_u ≤ ε_l; always at most "
    "max(e^ε_l − 1, 1 − e^-ε_u)"
)


def _statement(
    key: str, name: str, claim: str, measure: Measure, bound: Bound, why: str
) -> Statement:
    inverse = name.startswith("Prop 5")
    return Statement(key, name, partial(_judge, claim, measure, bound, inverse=inverse, why=why))


STATEMENTS = (
    _statement(
        "002-prop1.2-tv",
        "Prop 1.2, total variation",
        "(ε_l, ε_u)-ALIP implies T(S;Y) ≤ (e^ε_u − 1)/2",
        TotalVariation.measure,
        lambda _, high: (high - 1) / 2,
        _ASYMMETRIC + "(U − 1)(1 − L)/(U − L) with U = e^ε_u, L = e^-ε_l",
    ),
    _statement(
        "002-prop1.2-chi2",
        "Prop 1.2, χ²",
        "(ε_l, ε_u)-ALIP implies χ²(S;Y) ≤ (e^ε_u − 1)²",
        Chi2.measure,
        lambda _, high: (high - 1) ** 2,
        _ASYMMETRIC + "(e^ε_u − 1)(1 − e^-ε_l)",
    ),
    _statement(
        "002-prop3.1",
        "Prop 3.1",
        "(ε_l, ε_u)-ALIP bounds the ℓ₁-lift by e^ε_u − 1",
        L1Lift.measure,
        lambda _, high: high - 1,
        _ASYMMETRIC + "2(U − 1)(1 − L)/(U − L) with U = e^ε_u, L = e^-ε_l",
    ),
    _statement(
        "002-prop3.2",
        "Prop 3.2",
        "(ε_l, ε_u)-ALIP bounds the χ²-lift by (e^ε_u − 1)²",
        Chi2Lift.measure,
        lambda _, high: (high - 1) ** 2,
        _ASYMMETRIC + "(e^ε_u − 1)(1 − e^-ε_l)",
    ),
    _statement(
        "002-prop5.1",
        "Prop 5.1",
        "(ε_l, ε_u)-ALIP bounds the ℓ₁-lift-inverse by e^ε_l − 1",
        L1LiftInverse.measure,
        lambda low, _: 1 / low - 1,
        _INVERSE,
    ),
    _statement(
        "002-prop5.2",
        "Prop 5.2",
        "(ε_l, ε_u)-ALIP bounds the χ²-lift-inverse by (e^ε_l − 1)²",
        Chi2LiftInverse.measure,
        lambda low, _: (1 / low - 1) ** 2,
        _INVERSE + ", squared",
    ),
)
