"""Independent recomputation of every measure, on nested lists of Fractions.

Nothing of liftlock is used here: definitions are taken literally, sets are enumerated, polytopes
are given by their vertices, and what is not rational is computed by mpmath with many digits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from typing import Any

import mpmath as mp

mp.mp.dps = 80

Row = list[Fraction]
Rows = list[Row]
Number = Any
"""A Fraction or an mpmath number."""


def real(value: Fraction | int) -> Number:
    """Return an mpmath number."""
    number = Fraction(value)
    return mp.mpf(number.numerator) / number.denominator


def convergent_above_e() -> Fraction:
    """Return a fraction above e by about 1e-60, closer than a first enclosure of e is wide."""
    (p0, q0), (p1, q1) = (1, 0), (2, 1)
    index = 0
    for k in range(1, 100):
        for term in (1, 2 * k, 1):
            (p0, q0), (p1, q1) = (p1, q1), (term * p1 + p0, term * q1 + q0)
            index += 1
            if q1 > 10**30 and index % 2:
                return Fraction(p1, q1)
    raise AssertionError


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """Return all subsets of range(count), the empty one included."""
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


@dataclass(frozen=True)
class Model:
    """P(s), P(y | s) and P(y), with secrets and outputs of probability 0 left out."""

    secrets: list[int]
    outputs: list[int]
    prior: Row
    given: Rows
    masses: Row

    @functools.cached_property
    def lifts(self) -> Rows:
        """P(s | y) / P(s), by Bayes."""
        return [
            [(p * q / mass) / p for q, mass in zip(row, self.masses, strict=True)]
            for p, row in zip(self.prior, self.given, strict=True)
        ]

    @functools.cached_property
    def columns(self) -> Rows:
        """The lifts output by output."""
        return [list(column) for column in zip(*self.lifts, strict=True)]

    @functools.cached_property
    def shares(self) -> tuple[list[int], int]:
        """The prior over one common denominator."""
        (shares,), scale = scaled([self.prior])
        return shares, scale


def scaled(rows: Sequence[Sequence[Fraction]]) -> tuple[list[list[int]], int]:
    """Return integers over one common denominator (sums of long lists of Fractions are slow)."""
    scale = math.lcm(*(value.denominator for row in rows for value in row))
    return [[v.numerator * (scale // v.denominator) for v in row] for row in rows], scale


def product_of(left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Rows:
    """Return the matrix product."""
    (a, first), (b, second) = scaled(left), scaled(right)
    turned = list(zip(*b, strict=True))
    return [
        [
            Fraction(sum(x * y for x, y in zip(row, column, strict=True)), first * second)
            for column in turned
        ]
        for row in a
    ]


def of_prior(prior: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]) -> Model:
    """Take the input as the secret."""
    (masses,) = product_of([prior], rows)
    secrets = [s for s, p in enumerate(prior) if p]
    outputs = [y for y, mass in enumerate(masses) if mass]
    return Model(
        secrets,
        outputs,
        [prior[s] for s in secrets],
        [[rows[s][y] for y in outputs] for s in secrets],
        [masses[y] for y in outputs],
    )


def conditional(joint: Sequence[Sequence[Fraction]], rows: Sequence[Sequence[Fraction]]) -> Rows:
    """Return P(y | s) for the secrets that occur, all outputs kept."""
    given_data = [[c / sum(line) for c in line] for line in joint if any(line)]
    return product_of(given_data, rows)


def of_joint(joint: Sequence[Sequence[Fraction]], rows: Sequence[Sequence[Fraction]]) -> Model:
    """Take another attribute as the secret."""
    prior = [sum(line, Fraction(0)) for line in joint]
    secrets = [s for s, p in enumerate(prior) if p]
    found = of_prior([prior[s] for s in secrets], conditional(joint, rows))
    return Model(secrets, found.outputs, found.prior, found.given, found.masses)


# --- ratios -------------------------------------------------------------------------------------


def max_lift(model: Model) -> Fraction:
    return max(max(row) for row in model.lifts)


def min_lift(model: Model) -> Fraction:
    return min(min(row) for row in model.lifts)


def lip(model: Model) -> Fraction | None:
    """Return e^L_LIP; None is infinite."""
    smallest = min_lift(model)
    return None if smallest == 0 else max(max_lift(model), 1 / smallest)


def ldp(rows: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """Return e^L_LDP over all pairs of rows and all outputs."""
    worst = Fraction(1)
    for a, b in product(rows, repeat=2):
        for p, q in zip(a, b, strict=True):
            if p and not q:
                return None
            if q:
                worst = max(worst, p / q)
    return worst


def identifiability(model: Model) -> Fraction | None:
    worst = Fraction(1)
    for y in range(len(model.outputs)):
        posterior = [p * row[y] for p, row in zip(model.prior, model.given, strict=True)]
        for a, b in product(posterior, repeat=2):
            if a and not b:
                return None
            if b:
                worst = max(worst, a / b)
    return worst


def leakage(model: Model) -> Fraction:
    """Return e^(maximal leakage): the gain in guessing, averaged over outputs."""
    return sum(
        (mass * max(column) for mass, column in zip(model.masses, model.columns, strict=True)),
        Fraction(0),
    )


# --- averages -----------------------------------------------------------------------------------


def _mean(model: Model, values: Sequence[Fraction]) -> Fraction:
    shares, first = model.shares
    (found,), second = scaled([values])
    return Fraction(sum(p * v for p, v in zip(shares, found, strict=True)), first * second)


def l1_lift(model: Model) -> Fraction:
    return max(_mean(model, [abs(v - 1) for v in column]) for column in model.columns)


def chi2_lift(model: Model) -> Fraction:
    return max(_mean(model, [(v - 1) ** 2 for v in column]) for column in model.columns)


def l1_lift_inverse(model: Model) -> Fraction | None:
    if min_lift(model) == 0:
        return None
    return max(_mean(model, [abs(1 / v - 1) for v in column]) for column in model.columns)


def chi2_lift_inverse(model: Model) -> Fraction | None:
    if min_lift(model) == 0:
        return None
    return max(_mean(model, [(1 / v - 1) ** 2 for v in column]) for column in model.columns)


def total_variation(model: Model) -> Fraction:
    return (
        sum(
            (
                mass * _mean(model, [abs(v - 1) for v in column])
                for mass, column in zip(model.masses, model.columns, strict=True)
            ),
            Fraction(0),
        )
        / 2
    )


def chi2(model: Model) -> Fraction:
    return sum(
        (
            mass * _mean(model, [(v - 1) ** 2 for v in column])
            for mass, column in zip(model.masses, model.columns, strict=True)
        ),
        Fraction(0),
    )


# --- logarithms and powers ----------------------------------------------------------------------


def mutual_information(model: Model) -> Number:
    """Return H(S) + H(Y) - H(S, Y)."""

    def entropy(masses: Sequence[Fraction]) -> Number:
        return -mp.fsum(real(m) * mp.log(real(m)) for m in masses if m)

    joint = [p * q for p, row in zip(model.prior, model.given, strict=True) for q in row]
    return entropy(model.prior) + entropy(model.masses) - entropy(joint)


@functools.lru_cache(maxsize=4)
def _powers(alpha: Fraction, _precision: int) -> Callable[[Fraction], Number]:
    """Return x -> x^alpha, which computes the power of a number that comes again only once."""
    a = real(alpha)

    known: dict[tuple[int, int], Number] = {}

    def power(value: Fraction) -> Number:
        key = value.as_integer_ratio()  # the hash of a Fraction takes an inverse modulo a prime
        if key not in known:
            known[key] = mp.power(mp.mpf(key[0]) / key[1], a) if key[0] else mp.mpf(0)
        return known[key]

    return power


def _power_of(alpha: Fraction) -> Callable[[Fraction], Number]:
    return _powers(alpha, mp.mp.prec)


def alpha_lift(model: Model, alpha: Fraction) -> Number:
    power, shares = _power_of(alpha), [real(p) for p in model.prior]
    return max(
        mp.power(
            mp.fsum(p * power(v) for p, v in zip(shares, column, strict=True)), 1 / real(alpha)
        )
        for column in model.columns
    )


def alpha_lift_inverse(model: Model, alpha: Fraction) -> Number:
    if min_lift(model) == 0:
        return mp.inf
    power, shares = _power_of(alpha), [real(p) for p in model.prior]
    return max(
        mp.power(
            mp.fsum(p / power(v) for p, v in zip(shares, column, strict=True)), 1 / real(alpha)
        )
        for column in model.columns
    )


def sibson(model: Model, alpha: Fraction) -> Number:
    a = real(alpha)
    power, shares = _power_of(alpha), [real(p) for p in model.prior]
    total = mp.fsum(
        mp.power(mp.fsum(p * power(q) for p, q in zip(shares, column, strict=True)), 1 / a)
        for column in zip(*model.given, strict=True)
    )
    return a / (a - 1) * mp.log(total)


def arimoto(model: Model, alpha: Fraction) -> Number:
    """Return H_alpha(S) - H_alpha(S | Y) with Arimoto's conditional entropy."""
    a = real(alpha)
    power = _power_of(alpha)
    tilted = [power(p) for p in model.prior]
    before = a / (1 - a) * mp.log(mp.power(mp.fsum(tilted), 1 / a))
    after = (
        a
        / (1 - a)
        * mp.log(
            mp.fsum(
                mp.power(mp.fsum(p * power(q) for p, q in zip(tilted, column, strict=True)), 1 / a)
                for column in zip(*model.given, strict=True)
            )
        )
    )
    return before - after


def arimoto_infinite(model: Model) -> Fraction:
    """Return e^(Arimoto information of order infinity): the gain in guessing the secret."""
    guess = sum(
        (
            max(p * row[y] for p, row in zip(model.prior, model.given, strict=True))
            for y in range(len(model.outputs))
        ),
        Fraction(0),
    )
    return guess / max(model.prior)


# --- deltas: by all sets of outputs ------------------------------------------------------------


def _largest(values: Iterator[Number]) -> Number:
    """Return the largest of 0 (the empty set) and some values."""
    best: Number = Fraction(0)
    for value in values:
        if value > best:
            best = value
    return best


def _mixed(ratio: Number, mass: Fraction, reference: Fraction) -> Number:
    """Return mass - ratio * reference, in the kind of number that ratio is."""
    if isinstance(ratio, Fraction):
        return mass - ratio * reference
    return real(mass) - ratio * real(reference)


def delta_ldp(rows: Sequence[Sequence[Fraction]], ratio: Number) -> Number:
    """Return the smallest delta of (ln ratio, delta)-LDP."""
    sets = list(subsets(len(rows[0])))
    return _largest(
        _mixed(
            ratio,
            sum((a[y] for y in chosen), Fraction(0)),
            sum((b[y] for y in chosen), Fraction(0)),
        )
        for a, b in product(rows, repeat=2)
        for chosen in sets
    )


def delta_lip(model: Model, ratio: Number, form: str, given: Rows | None = None) -> Number:
    """Return the smallest delta of (ln ratio, delta)-LIP in one of the three forms.

    `given` replaces the protected rows (for families: the union of the supports).
    """
    sets = list(subsets(len(model.outputs)))
    rows = model.given if given is None else given

    def values() -> Iterator[Number]:
        for s, row in enumerate(rows):
            for chosen in sets:
                here = sum((row[y] for y in chosen), Fraction(0))
                all_ = sum((model.masses[y] for y in chosen), Fraction(0))
                up, down = _mixed(ratio, here, all_), _mixed(ratio, all_, here)
                if form == "def5":  # 000 Def 5: P(Y in A) >= P(Y in A | x) / E - delta
                    up = up / ratio
                if form == "joint":  # 003 Def 4: everything times P(x)
                    weight = model.prior[s] if isinstance(ratio, Fraction) else real(model.prior[s])
                    up, down = up * weight, down * weight
                yield up
                yield down

    return _largest(values())


# --- sets of secrets ----------------------------------------------------------------------------


def breach(model: Model, rho1: Fraction) -> Fraction:
    """Return the highest posterior of any property of prior at most rho1."""
    best = Fraction(0)
    for chosen in subsets(len(model.prior)):
        if sum((model.prior[s] for s in chosen), Fraction(0)) <= rho1:
            for y, mass in enumerate(model.masses):
                joint = sum((model.prior[s] * model.given[s][y] for s in chosen), Fraction(0))
                best = max(best, joint / mass)
    return best


def breach_down(model: Model, rho2: Fraction) -> Fraction:
    """Return the lowest posterior of any property of prior at least rho2."""
    best = Fraction(1)
    for chosen in subsets(len(model.prior)):
        if sum((model.prior[s] for s in chosen), Fraction(0)) >= rho2:
            for y, mass in enumerate(model.masses):
                joint = sum((model.prior[s] * model.given[s][y] for s in chosen), Fraction(0))
                best = min(best, joint / mass)
    return best


def crowd_mass(model: Model) -> Fraction:
    """Return the smallest prior mass of the secrets that an output makes more likely."""
    best = Fraction(1)
    for column in model.columns:
        raised = [p for p, v in zip(model.prior, column, strict=True) if v > 1]
        if raised:
            best = min(best, sum(raised, Fraction(0)))
    return best


# --- sets of priors: by vertices ---------------------------------------------------------------


def interval_vertices(lower: Sequence[Fraction], upper: Sequence[Fraction]) -> list[Row]:
    """Return points that include every vertex of the box cut by sum = 1."""
    found = []
    size = len(lower)
    for free in range(size):
        others = [i for i in range(size) if i != free]
        for ends in product((0, 1), repeat=size - 1):
            point = [Fraction(0)] * size
            for i, end in zip(others, ends, strict=True):
                point[i] = upper[i] if end else lower[i]
            point[free] = 1 - sum((point[i] for i in others), Fraction(0))
            if lower[free] <= point[free] <= upper[free]:
                found.append(point)
    return found


def ball_vertices(centre: Sequence[Fraction], radius: Fraction) -> list[Row]:
    """Return points of the total-variation ball that include every vertex.

    In an orthant around the centre all but two coordinates of a vertex are 0 or the centre's.
    """
    size = len(centre)
    found = []

    def keep(point: Row) -> None:
        distance = sum(abs(p - c) for p, c in zip(point, centre, strict=True)) / 2
        if min(point) >= 0 and sum(point) == 1 and distance <= radius:
            found.append(point)

    for free in combinations(range(size), min(2, size)):
        others = [i for i in range(size) if i not in free]
        for zero in product((False, True), repeat=len(others)):
            point = [Fraction(0)] * size
            for i, empty in zip(others, zero, strict=True):
                point[i] = Fraction(0) if empty else centre[i]
            rest = 1 - sum((point[i] for i in others), Fraction(0))
            if size == 1:
                keep([Fraction(1)])
                continue
            f, g = free
            spent = sum(abs(point[i] - centre[i]) for i in others)
            left = 2 * radius - spent
            shift = rest - centre[f] - centre[g]
            # One of the two also at an end ...
            for value in (Fraction(0), centre[f]):
                keep(_with(point, f, value, g, rest - value))
            for value in (Fraction(0), centre[g]):
                keep(_with(point, g, value, f, rest - value))
            # ... or both move, in opposite directions, until the radius is used up.
            for up in (Fraction(1), Fraction(-1)):
                step = (left + up * shift) / 2
                keep(_with(point, f, centre[f] + up * step, g, rest - centre[f] - up * step))
    return found


def _with(point: Row, f: int, a: Fraction, g: int, b: Fraction) -> Row:
    changed = list(point)
    changed[f], changed[g] = a, b
    return changed


def lift_range(
    rows: Sequence[Sequence[Fraction]], vertices: Sequence[Sequence[Fraction]]
) -> tuple[Fraction | None, Fraction]:
    """Return (largest, smallest) lift over a polytope of priors; None is infinite."""
    possible = [x for x in range(len(rows)) if any(v[x] for v in vertices)]
    largest: Fraction | None = Fraction(0)
    smallest: Fraction | None = None
    for y in range(len(rows[0])):
        masses = [
            sum((p * row[y] for p, row in zip(v, rows, strict=True)), Fraction(0)) for v in vertices
        ]
        if max(masses) == 0:
            continue
        for x in possible:
            down = rows[x][y] / max(masses)
            smallest = down if smallest is None else min(smallest, down)
            if rows[x][y]:
                if min(masses) == 0:
                    largest = None
                elif largest is not None:
                    largest = max(largest, rows[x][y] / min(masses))
    assert smallest is not None
    return largest, smallest
