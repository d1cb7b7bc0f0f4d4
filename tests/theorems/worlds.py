"""Exact worlds for theorem tests: priors, channels and joints, and the extremal ones among them.

A world is a prior and the rows of a channel, both as fractions. Random channels leave slack in
every bound; the mechanisms built here from vertices of the posterior polytope

    PI = {v : L P(x) <= v(x) <= U P(x), sum v = 1}

reach them. The oracles recompute every leakage from its definition,
with fractions and mpmath only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import Any, SupportsFloat

import mpmath
from hypothesis import strategies as st

from liftlock import Alphabet, Channel, Joint, Prior

Masses = tuple[Fraction, ...]
Rows = tuple[tuple[Fraction, ...], ...]

DIGITS = 60
"""Decimal digits of the oracles' logarithms and powers."""
ROUNDING = Fraction(1, 10**45)
"""More than the oracles can be off, far less than any bound may be missed by."""


# --- building worlds ------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """A prior on 0, 1, ... and a channel from there to 0, 1, ..."""

    masses: Masses
    rows: Rows

    @cached_property
    def prior(self) -> Prior:
        return prior_of(self.masses)

    @cached_property
    def channel(self) -> Channel:
        return channel_of(self.rows)

    @property
    def smallest(self) -> Fraction:
        """P_min of the papers."""
        return min(self.masses)

    @cached_property
    def outputs(self) -> Masses:
        """P(y) for every output."""
        return tuple(
            sum(
                (mass * row[y] for mass, row in zip(self.masses, self.rows, strict=True)),
                Fraction(0),
            )
            for y in range(len(self.rows[0]))
        )

    @cached_property
    def lifts(self) -> tuple[tuple[Fraction, Masses], ...]:
        """P(y) and the lifts of all symbols, for every output of positive mass."""
        return tuple(
            (total, tuple(row[y] / total for row in self.rows))
            for y, total in enumerate(self.outputs)
            if total
        )


def prior_of(masses: Sequence[Fraction]) -> Prior:
    return Prior.from_counts(dict(enumerate(masses)))


def channel_of(rows: Sequence[Sequence[Any]]) -> Channel:
    exact = [[Fraction(value) for value in row] for row in rows]
    return Channel.from_fractions(
        Alphabet.of(range(len(exact))), Alphabet.of(range(len(exact[0]))), exact
    )


def joint_of(cells: Sequence[Sequence[Any]]) -> Joint:
    """Make the joint of a secret (rows) and the data (columns)."""
    return Joint.from_rows(Alphabet.of(range(len(cells))), Alphabet.of(range(len(cells[0]))), cells)


def normalised(weights: Sequence[Fraction | int]) -> Masses:
    total = sum(weights, Fraction(0))
    return tuple(Fraction(weight) / total for weight in weights)


def from_posteriors(masses: Masses, parts: Sequence[tuple[Fraction, Masses]]) -> World:
    """Make the channel whose output y has mass w_y and posterior v_y; sum of w v must be P."""
    rows = tuple(
        tuple(weight * posterior[x] / mass for weight, posterior in parts)
        for x, mass in enumerate(masses)
    )
    assert all(sum(row) == 1 for row in rows)
    return World(masses, rows)


def with_posterior(masses: Masses, posterior: Masses, share: Fraction = Fraction(1, 2)) -> World:
    """Make a channel of two outputs, the first with a given posterior.

    `share` of 1 gives it all the mass it can have; close to 0 the other output hardly speaks.
    """
    most = min(mass / value for mass, value in zip(masses, posterior, strict=True) if value)
    weight = share * min(most, Fraction(1))
    if weight == 1:
        return from_posteriors(masses, [(Fraction(1), posterior)])
    rest = tuple(
        (mass - weight * value) / (1 - weight)
        for mass, value in zip(masses, posterior, strict=True)
    )
    return from_posteriors(masses, [(weight, posterior), (1 - weight, rest)])


def vertex(masses: Masses, low: Fraction, high: Fraction, order: Sequence[int]) -> Masses:
    """Return the vertex of PI that raises the symbols of `order` first."""
    posterior = [low * mass for mass in masses]
    room = 1 - low
    for x in order:
        step = min(room, (high - low) * masses[x])
        posterior[x] += step
        room -= step
    assert room == 0
    return tuple(posterior)


def extremal(masses: Masses, low: Fraction, high: Fraction, order: Sequence[int]) -> World:
    """Return a mechanism all of whose posteriors are vertices of PI, the first one by `order`.

    Caratheodory's construction: go from a vertex of the current face through the point to the
    boundary, which fixes one more coordinate, until the point is a vertex itself.
    """
    parts: list[tuple[Fraction, Masses]] = []
    point, left = masses, Fraction(1)
    fixed: dict[int, Fraction] = {}
    while True:
        posterior = [fixed.get(x, low * mass) for x, mass in enumerate(masses)]
        room = 1 - sum(posterior)
        for x in order:
            if x not in fixed:
                step = min(room, (high - low) * masses[x])
                posterior[x] += step
                room -= step
        assert room == 0
        if tuple(posterior) == point:
            parts.append((left, point))
            return from_posteriors(masses, parts)
        steps = {}
        for x, mass in enumerate(masses):
            direction = point[x] - posterior[x]
            if direction > 0:
                steps[x] = (high * mass - point[x]) / direction
            elif direction < 0:
                steps[x] = (point[x] - low * mass) / -direction
        distance = min(steps.values())
        beyond = tuple(p + distance * (p - v) for p, v in zip(point, posterior, strict=True))
        parts.append((left * distance / (1 + distance), tuple(posterior)))
        left /= 1 + distance
        for x, step in steps.items():
            if step == distance:
                fixed[x] = beyond[x]
        point = beyond


def two_points(low: Fraction, high: Fraction) -> World:
    """Return a world where every output has lifts at `low` and `high` only, in equal-mass cells.

    The raised crowd has mass (1-L)/(U-L) = k/m: m symbols around a circle, each output raises k.
    """
    crowd = (1 - low) / (high - low)
    size, raised = crowd.denominator, crowd.numerator
    masses = normalised([1] * size)
    parts = []
    for start in range(size):
        up = {(start + step) % size for step in range(raised)}
        posterior = tuple((high if x in up else low) / size for x in range(size))
        parts.append((Fraction(1, size), posterior))
    return from_posteriors(masses, parts)


def staircase(masses: Masses, ratio: Fraction, raised: Sequence[int]) -> World:
    """Tell whether x is in a set, flipped with the odds 1 : ratio; exactly ln(ratio)-LDP."""
    rows = tuple(
        (ratio / (1 + ratio), 1 / (1 + ratio))
        if x in raised
        else (1 / (1 + ratio), ratio / (1 + ratio))
        for x in range(len(masses))
    )
    return World(masses, rows)


def randomized_response(masses: Masses, keep: Fraction) -> World:
    """Release x with probability `keep`, else a draw from the prior (000 eq. (20))."""
    rows = tuple(
        tuple((keep if x == y else 0) + (1 - keep) * masses[y] for y in range(len(masses)))
        for x in range(len(masses))
    )
    return World(masses, rows)


def identity(masses: Masses) -> World:
    """Release x itself."""
    return randomized_response(masses, Fraction(1))


def reversed_world(world: World) -> World:
    """Exchange the two ends: Y is the data (as far as it occurs), X given Y is the channel."""
    posteriors = [
        (total, tuple(mass * lift for mass, lift in zip(world.masses, lifts, strict=True)))
        for total, lifts in columns(world)
    ]
    return World(tuple(total for total, _ in posteriors), tuple(rows for _, rows in posteriors))


def product(first: World, second: World) -> World:
    """Release the same value through both channels, independently."""
    rows = tuple(
        tuple(a * b for a in left for b in right)
        for left, right in zip(first.rows, second.rows, strict=True)
    )
    return World(first.masses, rows)


# --- strategies -----------------------------------------------------------------------------------
# Each is made once: Hypothesis examines every new strategy anew, which takes longer than drawing.


def fractions_between(least: Fraction, most: Fraction, denominator: int) -> list[Fraction]:
    """Return all fractions there are with at most that denominator, the simplest first."""
    found = {
        Fraction(number, below): None
        for below in range(1, denominator + 1)
        for number in range(math.ceil(least * below), math.floor(most * below) + 1)
    }
    return list(found)


WEIGHTS = st.one_of(st.integers(1, 9), st.sampled_from((1, 30, 1000, 10**5)))
WEIGHTS_AND_ZERO = st.one_of(WEIGHTS, st.just(0))
LOUD = st.one_of(st.integers(1, 9), st.just(1000))
SHARES = st.sampled_from(fractions_between(Fraction(1, 7), Fraction(6, 7), 7))
CELLS = st.one_of(st.integers(0, 9), st.sampled_from((1, 100, 10**4)))


@cache
@st.composite
def masses(draw: st.DrawFn, least: int = 2, most: int = 5) -> Masses:
    """Draw a prior without zeros: uniform, mild, or skewed over many orders of magnitude."""
    size = draw(st.integers(least, most))
    kind = draw(st.sampled_from(("uniform", "mild", "mild", "skewed", "one rare")))
    if kind == "uniform":
        return normalised([1] * size)
    if kind == "mild":
        return normalised(draw(st.lists(st.integers(1, 9), min_size=size, max_size=size)))
    if kind == "one rare":
        rare = draw(st.sampled_from((50, 1000, 10**6)))
        weights = [rare] * size
        weights[draw(st.integers(0, size - 1))] = 1
        return normalised(weights)
    powers = draw(st.lists(st.integers(0, 7), min_size=size, max_size=size))
    return normalised([10**power for power in powers])


@cache
def ratios(*, one: bool = False) -> st.SearchStrategy[Fraction]:
    """Draw E = e^epsilon, a rational above 1 (or from 1 on)."""
    choices = [Fraction(text) for text in ("101/100", "3/2", "2", "193/71", "4", "25")]
    if one:
        choices.append(Fraction(1))
    return st.one_of(
        st.sampled_from(choices),
        st.sampled_from(fractions_between(Fraction(21, 20), Fraction(8), 40)),
    )


@cache
@st.composite
def rows(draw: st.DrawFn, size: int, *, zeros: bool = False, most: int = 5) -> Rows:
    """Draw the rows of a channel; entries may differ by orders of magnitude."""
    width = draw(st.integers(2, most))
    weight = WEIGHTS_AND_ZERO if zeros else WEIGHTS
    table = []
    for _ in range(size):
        row = draw(st.lists(weight, min_size=width, max_size=width))
        if not any(row):
            row[draw(st.integers(0, width - 1))] = 1
        table.append(normalised(row))
    return tuple(table)


@cache
@st.composite
def random_worlds(draw: st.DrawFn, *, zeros: bool = False, most: int = 5) -> World:
    """Draw a prior and a channel that have nothing to do with each other."""
    prior = draw(masses(most=most))
    return World(prior, draw(rows(len(prior), zeros=zeros)))


@cache
@st.composite
def extremal_worlds(draw: st.DrawFn, *, symmetric: bool = False, most: int = 5) -> World:
    """Draw a mechanism made of vertices of PI."""
    prior = draw(masses(most=most))
    high = draw(ratios())
    low = 1 / high if symmetric else 1 / draw(ratios())
    # A symbol cannot be raised above 1/P, nor can all be raised: PI is then smaller than asked.
    return extremal(prior, low, high, draw(st.permutations(range(len(prior)))))


@cache
@st.composite
def staircase_worlds(draw: st.DrawFn) -> World:
    """Draw a mixture of two set responses: LDP holds with equality."""
    prior = draw(masses())
    ratio = draw(ratios())
    sets = [
        draw(st.sets(st.integers(0, len(prior) - 1), min_size=1, max_size=len(prior) - 1))
        for _ in range(2)
    ]
    share = draw(SHARES)
    first, second = (staircase(prior, ratio, sorted(chosen)) for chosen in sets)
    return mixture(first, second, share)


@cache
@st.composite
def pointed_worlds(draw: st.DrawFn) -> World:
    """Draw a channel with one loud output, often of tiny mass."""
    prior = draw(masses())
    weights = draw(st.lists(LOUD, min_size=len(prior), max_size=len(prior)))
    share = draw(
        st.sampled_from((Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)))
    )
    return with_posterior(prior, normalised(weights), share)


def mixture(first: World, second: World, share: Fraction) -> World:
    """Toss a coin for the channel and say which one it was."""
    rows_ = tuple(
        tuple(share * a for a in left) + tuple((1 - share) * b for b in right)
        for left, right in zip(first.rows, second.rows, strict=True)
    )
    return World(first.masses, rows_)


@cache
def worlds(*, zeros: bool = False) -> st.SearchStrategy[World]:
    """Draw any world; with `zeros`, some that have zero entries too."""
    return st.one_of(
        random_worlds(zeros=zeros),
        extremal_worlds(),
        extremal_worlds(symmetric=True),
        staircase_worlds(),
        pointed_worlds(),
    )


@cache
@st.composite
def joints(draw: st.DrawFn) -> tuple[tuple[int, ...], ...]:
    """Draw the cells of a joint of a secret (rows) and the data (columns), no marginal 0."""
    secrets, inputs = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    cells = [draw(st.lists(CELLS, min_size=inputs, max_size=inputs)) for _ in range(secrets)]
    for s in range(secrets):
        if not any(cells[s]):
            cells[s][draw(st.integers(0, inputs - 1))] = 1
    for x in range(inputs):
        if not any(row[x] for row in cells):
            cells[draw(st.integers(0, secrets - 1))][x] = 1
    return tuple(tuple(row) for row in cells)


# --- oracles: every leakage from its definition ---------------------------------------------------


def output_masses(world: World) -> Masses:
    return world.outputs


def columns(world: World) -> Iterator[tuple[Fraction, Masses]]:
    """Give, for each output of positive mass, its mass and the lifts of all symbols."""
    return iter(world.lifts)


def largest_lift(world: World) -> Fraction:
    return max(max(lifts) for _, lifts in columns(world))


def smallest_lift(world: World) -> Fraction:
    return min(min(lifts) for _, lifts in columns(world))


def lip_ratio(world: World) -> Fraction | None:
    """Return e^L_LIP; None is infinite."""
    low = smallest_lift(world)
    return max(largest_lift(world), 1 / low) if low else None


def ldp_ratio(world: World) -> Fraction | None:
    """Return e^L_LDP over all pairs of rows; None is infinite."""
    best = Fraction(1)
    for column in zip(*world.rows, strict=True):
        if any(column):
            if not all(column):
                return None
            best = max(best, max(column) / min(column))
    return best


def odds_ratio(world: World) -> Fraction | None:
    """Return e^DI on singletons; None is infinite."""
    best = Fraction(1)
    for _, lifts in columns(world):
        odds = [mass * lift for mass, lift in zip(world.masses, lifts, strict=True)]
        if not all(odds):
            return None
        best = max(best, max(odds) / min(odds))
    return best


def guessing_ratio(world: World) -> Fraction:
    """Return e^MIL, the sum of column maxima."""
    return sum((max(column) for column in zip(*world.rows, strict=True)), Fraction(0))


def mean(world: World, lifts: Masses, function: Callable[[Fraction], Fraction]) -> Fraction:
    terms = (mass * function(lift) for mass, lift in zip(world.masses, lifts, strict=True))
    return sum(terms, Fraction(0))


def total_variation(world: World) -> Fraction:
    return (
        sum(
            (total * mean(world, lifts, lambda v: abs(v - 1)) for total, lifts in columns(world)),
            Fraction(0),
        )
        / 2
    )


def chi2(world: World) -> Fraction:
    return sum(
        (total * mean(world, lifts, lambda v: (v - 1) ** 2) for total, lifts in columns(world)),
        Fraction(0),
    )


def l1_lift(world: World) -> Fraction:
    return max(mean(world, lifts, lambda v: abs(v - 1)) for _, lifts in columns(world))


def chi2_lift(world: World) -> Fraction:
    return max(mean(world, lifts, lambda v: (v - 1) ** 2) for _, lifts in columns(world))


def l1_lift_inverse(world: World) -> Fraction | None:
    if not smallest_lift(world):
        return None
    return max(mean(world, lifts, lambda v: abs(1 / v - 1)) for _, lifts in columns(world))


def chi2_lift_inverse(world: World) -> Fraction | None:
    if not smallest_lift(world):
        return None
    return max(mean(world, lifts, lambda v: (1 / v - 1) ** 2) for _, lifts in columns(world))


def real(value: Fraction | int) -> mpmath.mpf:
    number = Fraction(value)
    return mpmath.mpf(number.numerator) / number.denominator


def rational(value: mpmath.mpf) -> Fraction:
    """Return the oracle's number as the fraction it is."""
    sign, mantissa, exponent, _ = value._mpf_
    number = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -number if sign else number


def natural_log(value: Fraction) -> Fraction:
    """Return ln(value), a few units of the 60th digit off."""
    with mpmath.workdps(DIGITS):
        return rational(mpmath.log(real(value)))


def exponential(value: Fraction | int | str) -> Fraction:
    """Return e^value, a few units of the 60th digit off."""
    with mpmath.workdps(DIGITS):
        return rational(mpmath.exp(real(Fraction(value))))


def mutual_information(world: World) -> Fraction:
    weights: dict[Fraction, Fraction] = {}
    for total, lifts in columns(world):
        for mass, lift in zip(world.masses, lifts, strict=True):
            if lift:
                weights[lift] = weights.get(lift, Fraction(0)) + total * mass * lift
    with mpmath.workdps(DIGITS):
        terms = [real(weight) * mpmath.log(real(lift)) for lift, weight in weights.items()]
        return rational(mpmath.fsum(terms))


def _power_mean(weights: Sequence[mpmath.mpf], values: Sequence[Fraction], order: Fraction) -> Any:
    shares: dict[Fraction, mpmath.mpf] = {}
    for weight, value in zip(weights, values, strict=True):
        if value:
            shares[value] = shares.get(value, 0) + weight
    exponent = real(order)
    inner = mpmath.fsum(share * real(value) ** exponent for value, share in shares.items())
    return inner ** (1 / exponent)


def alpha_lift(world: World, order: Fraction) -> Fraction:
    with mpmath.workdps(DIGITS):
        weights = [real(mass) for mass in world.masses]
        return rational(max(_power_mean(weights, lifts, order) for _, lifts in columns(world)))


def alpha_lift_inverse(world: World, order: Fraction) -> Fraction | None:
    if not smallest_lift(world):
        return None
    with mpmath.workdps(DIGITS):
        weights = [real(mass) for mass in world.masses]
        return rational(
            max(
                _power_mean(weights, [1 / lift for lift in lifts], order)
                for _, lifts in columns(world)
            )
        )


def sibson(world: World, order: Fraction, *, tilt: Fraction | None = None) -> Fraction:
    """Return Sibson's information; with `tilt`, at the prior proportional to P^tilt."""
    if order == 1:
        return mutual_information(world)
    with mpmath.workdps(DIGITS):
        weights = [real(mass) for mass in world.masses]
        if tilt is not None:
            powers = [weight ** real(tilt) for weight in weights]
            weights = [value / mpmath.fsum(powers) for value in powers]
        total = mpmath.fsum(
            _power_mean(weights, column, order)
            for column in zip(*world.rows, strict=True)
            if any(column)
        )
        return rational(real(order) / (real(order) - 1) * mpmath.log(total))


def arimoto(world: World, order: Fraction) -> Fraction:
    return sibson(world, order, tilt=order)


def subsets(size: int) -> Iterator[tuple[int, ...]]:
    for count in range(size + 1):
        yield from combinations(range(size), count)


def excess(p: Sequence[Fraction], q: Sequence[Fraction], ratio: Fraction) -> Fraction:
    """Return E_ratio(p || q) as a maximum over all sets of outputs (no positive parts)."""
    return max(
        sum((p[y] - ratio * q[y] for y in chosen), Fraction(0)) for chosen in subsets(len(p))
    )


def delta(world: World, ratio: Fraction, form: str) -> Fraction:
    """Return the smallest delta of (ln ratio, delta)-LIP in one of its three forms."""
    output = output_masses(world)
    worst = Fraction(0)
    for mass, row in zip(world.masses, world.rows, strict=True):
        up, down = excess(row, output, ratio), excess(output, row, ratio)
        if form == "def5":
            up /= ratio
        weight = mass if form == "joint" else 1
        worst = max(worst, weight * up, weight * down)
    return worst


def delta_ldp(world: World, ratio: Fraction) -> Fraction:
    return max(excess(p, q, ratio) for p in world.rows for q in world.rows)


# --- comparing ------------------------------------------------------------------------------------


def agrees(value: SupportsFloat, digits: str) -> bool:
    """Tell whether a number rounds to the printed one, digit by digit."""
    number = value if isinstance(value, Fraction) else Fraction(float(value))
    places = len(digits.partition(".")[2])
    return abs(number - Fraction(digits)) <= Fraction(51, 100 * 10**places)
