"""Paper 003: errors and leakages of Laplace noise against integrals, grids, small programmes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog

import liftlock as ll
from liftlock_papers import FIGURES, Points, Verdict
from liftlock_papers.paper_003.laplace_noise import (
    FREE,
    HIGH,
    LOW,
    OPTIMUM,
    PEAKED,
    PEAKED_COUNTS,
    PRIORS,
    PUBLISHED,
    Budget,
    Noise,
    World,
    compute,
    of,
)
from liftlock_papers.setting import Setting

X = (0.0, 1.5, 3.0)


def world(name: str) -> World:
    return World(name, PRIORS[name])


def density(x: float, b: float) -> Callable[[float], float]:
    """Eq. (14), normalised by an integral and not by eq. (15)."""
    cuts = [x] if LOW < x < HIGH else None
    total = quad(lambda y: math.exp(-abs(y - x) / b), LOW, HIGH, points=cuts)[0]
    return lambda y: math.exp(-abs(y - x) / b) / total


@pytest.mark.parametrize("b", [0.4, 5.0])
def test_the_error_is_the_integral_of_equation_19(b: float) -> None:
    here = world("P3")
    wanted = 0.0
    for x, mass in zip(X, here.masses, strict=True):
        given = density(x, b)
        parts = [quad(lambda y, f=given, x=x: (y - x) ** 2 * f(y), *ends)[0] for ends in
                 ((LOW, x), (x, HIGH))]  # fmt: skip
        wanted += mass * sum(parts)
    assert Noise(here, b).error == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", list(PRIORS))
def test_the_leakage_is_the_largest_on_a_fine_grid(name: str) -> None:
    here = world(name)
    places = np.linspace(LOW, HIGH, 601)
    for b in (0.8, 2.5):
        given = np.array([[density(x, b)(y) for y in places] for x in X])
        lifts = np.log(given / (here.masses @ given))
        assert Noise(here, b).leakage == pytest.approx(float(np.abs(lifts).max()), abs=1e-9)


def test_the_smallest_scale_is_kept_and_a_little_less_is_not() -> None:
    for bounded in (True, False):
        at = Budget(world("P2"), "1", 64)
        found = at.smallest(bounded=bounded)
        assert found.leakage <= 1
        assert found._replace(scale=0.999 * found.scale).leakage > 1
        assert at.proved(found) <= 1


def least_error(masses: tuple[float, ...], epsilon: float) -> float:
    """List the posteriors at which all lifts but one are at an end, and mix the best of them."""
    ends = math.exp(-epsilon), math.exp(epsilon)
    posteriors = []
    for free in range(3):
        for lifts in itertools.product(ends, repeat=2):
            others = [y for y in range(3) if y != free]
            distribution = [lift * masses[x] for x, lift in zip(others, lifts, strict=True)]
            distribution.insert(free, 1 - sum(distribution))
            if (
                ends[0] * masses[free] - 1e-12
                <= distribution[free]
                <= ends[1] * masses[free] + 1e-12
            ):
                posteriors.append(distribution)
    table = np.array(posteriors)
    points = np.array(X)
    variances = table @ points**2 - (table @ points) ** 2
    found = linprog(variances, A_eq=table.T, b_eq=np.array(masses))
    assert found.fun is not None
    return found.fun


@pytest.mark.parametrize("epsilon", ["0.5", "1.5"])
@pytest.mark.parametrize("name", list(PRIORS))
def test_the_optimum_is_that_of_a_list_of_extreme_posteriors(name: str, epsilon: str) -> None:
    here = world(name)
    error, leakage = Budget(here, epsilon, 64).optimum(ll.LIP)
    assert error == pytest.approx(least_error(tuple(here.masses), float(epsilon)), rel=1e-6)
    assert leakage <= float(epsilon)


def test_a_rarer_number_may_need_less_noise() -> None:
    at = Budget(World(PEAKED, PEAKED_COUNTS), "2", 64)
    assert at.smallest().scale < Budget(world("P1"), "2", 64).smallest().scale
    assert at.published.scale > 1.4


def test_verdicts_follow_the_points() -> None:
    """The same claims with the first branch of eq. (17) left as it was before it jumps back."""
    figure = FIGURES["003-fig3"]
    rows = [row for row in compute(Setting(quick=True)) if row.x <= 1.0]
    found = {each.claim: each.verdict for each in figure.judge(Points(tuple(rows)))}
    assert found["The error is smallest for the uniform prior"] is Verdict.CONFIRMED
    worse = [
        row._replace(y=9.0, leakage=9.0) if row.curve.startswith(PUBLISHED) else row for row in rows
    ]
    found = {each.claim: each.verdict for each in figure.judge(Points(tuple(worse)))}
    claims = [claim for claim in found if "keeps ε-LIP" in claim or "smaller error" in claim]
    assert [found[claim] for claim in claims] == [Verdict.REFUTED] * 2
    one = [
        row._replace(y=9.0, leakage=9.0) if row.curve == of(PUBLISHED, "P2") else row
        for row in rows
    ]
    found = {each.claim: each.verdict for each in figure.judge(Points(tuple(one)))}
    assert [found[claim] for claim in claims] == [Verdict.REFUTED, Verdict.CONDITION]
    assert {FREE, OPTIMUM} <= {row.curve for row in rows}
