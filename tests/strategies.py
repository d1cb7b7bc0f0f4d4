"""Hypothesis strategies: exact priors, joints, channels, sets of priors, and their raw lists.

Each is made once: Hypothesis examines every new strategy anew, which takes longer than drawing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

from hypothesis import strategies as st

from liftlock import Alphabet, Ball, Channel, Family, Intervals, Joint, Prior
from tests import oracles

Row = list[Fraction]
Rows = list[Row]


def inputs_of(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def outputs_of(count: int) -> list[str]:
    return [f"y{i}" for i in range(count)]


def secrets_of(count: int) -> list[str]:
    return [f"s{i}" for i in range(count)]


def fractions(numbers: list[int]) -> Row:
    total = sum(numbers)
    return [Fraction(number, total) for number in numbers]


@cache
@st.composite
def counts(draw: st.DrawFn, size: int, *, zeros: bool = True) -> list[int]:
    """Return integers, not all 0: small with many ties, ordinary, or wider than 62 bits."""
    least = 0 if zeros else 1
    highest = draw(st.sampled_from((3, 3, 50, 10**6, 2**70)))
    numbers = draw(st.lists(st.integers(least, highest), min_size=size, max_size=size))
    if not any(numbers):
        numbers[draw(st.integers(0, size - 1))] = 1
    return numbers


def make_prior(numbers: list[int], order: list[int] | None = None) -> Prior:
    """Return a prior, its labels in any order."""
    labels = inputs_of(len(numbers))
    places = order if order is not None else range(len(numbers))
    return Prior.from_counts([(labels[i], numbers[i]) for i in places])


def make_channel(rows: Rows) -> Channel:
    return Channel.from_fractions(
        Alphabet.of(inputs_of(len(rows))), Alphabet.of(outputs_of(len(rows[0]))), rows
    )


@cache
@st.composite
def priors(draw: st.DrawFn, size: int | None = None, *, zeros: bool = False) -> tuple[Row, Prior]:
    """Return a prior as fractions and as an object whose labels may stand in another order."""
    length = size if size is not None else draw(st.integers(1, 5))
    numbers = draw(counts(length, zeros=zeros))
    order = draw(st.permutations(range(length)))
    return fractions(numbers), make_prior(numbers, order)


@cache
@st.composite
def rows(draw: st.DrawFn, inputs: int, outputs: int, *, zeros: bool = True) -> Rows:
    """Return rows with zeros, repeated rows, different totals, unused outputs."""
    found: Rows = []
    for _ in range(inputs):
        if found and draw(st.integers(0, 4)) == 0:
            found.append(list(draw(st.sampled_from(found))))
        else:
            found.append(fractions(draw(counts(outputs, zeros=zeros))))
    return found


@cache
@st.composite
def channels(
    draw: st.DrawFn, inputs: int | None = None, outputs: int | None = None, *, zeros: bool = True
) -> tuple[Rows, Channel]:
    """Return a channel as rows and as an object."""
    n = inputs if inputs is not None else draw(st.integers(1, 5))
    m = outputs if outputs is not None else draw(st.integers(1, 5))
    found = draw(rows(n, m, zeros=zeros))
    return found, make_channel(found)


@dataclass(frozen=True)
class Case:
    """A channel in a context (a prior or a joint), and the same as plain fractions."""

    channel: Channel
    context: Prior | Joint
    rows: Rows
    prior: Row
    joint: Rows | None

    @cached_property
    def model(self) -> oracles.Model:
        """What the oracles read."""
        if self.joint is None:
            return oracles.of_prior(self.prior, self.rows)
        return oracles.of_joint(self.joint, self.rows)

    @cached_property
    def given(self) -> Rows:
        """The likelihoods of all secrets that LDP compares."""
        return self.rows if self.joint is None else oracles.conditional(self.joint, self.rows)

    @cached_property
    def secrets(self) -> list[str]:
        """The labels of the secrets of positive probability."""
        make = inputs_of if self.joint is None else secrets_of
        names = make(len(self.prior if self.joint is None else self.joint))
        return [names[i] for i in self.model.secrets]

    @cached_property
    def outputs(self) -> list[str]:
        """The labels of the outputs of positive probability."""
        return [outputs_of(len(self.rows[0]))[i] for i in self.model.outputs]

    def lift(self, secret: object, output: object) -> Fraction:
        """Return one lift of the oracle by labels."""
        return self.model.lifts[self.secrets.index(str(secret))][self.outputs.index(str(output))]


def prior_case(numbers: list[int], found: Rows, order: list[int] | None = None) -> Case:
    return Case(make_channel(found), make_prior(numbers, order), found, fractions(numbers), None)


def joint_case(cells: list[list[int]], found: Rows, order: list[int] | None = None) -> Case:
    total = sum(sum(row) for row in cells)
    table = [[Fraction(cell, total) for cell in row] for row in cells]
    labels = inputs_of(len(found))
    places = order if order is not None else range(len(found))
    joint = Joint.from_counts(
        {
            secret: {labels[i]: row[i] for i in places}
            for secret, row in zip(secrets_of(len(cells)), cells, strict=True)
        }
    )
    marginal = [sum((row[x] for row in table), Fraction(0)) for x in range(len(found))]
    return Case(make_channel(found), joint, found, marginal, table)


@cache
@st.composite
def cases(
    draw: st.DrawFn,
    *,
    zeros: bool = True,
    inputs: int = 4,
    outputs: int = 4,
    impossible: bool = True,
    joints: bool = True,
) -> Case:
    """Return a channel in a prior or a joint.

    `zeros` allows zero likelihoods, `impossible` secrets and inputs of probability 0.
    """
    n, m = draw(st.integers(1, inputs)), draw(st.integers(1, outputs))
    found = draw(rows(n, m, zeros=zeros))
    order = draw(st.permutations(range(n)))
    if not joints or draw(st.booleans()):
        return prior_case(draw(counts(n, zeros=impossible)), found, order)
    size = draw(st.integers(1, 4))
    flat = draw(counts(size * n, zeros=impossible))
    return joint_case([flat[s * n : (s + 1) * n] for s in range(size)], found, order)


# --- sets of priors -----------------------------------------------------------------------------


@cache
@st.composite
def families(draw: st.DrawFn, size: int, *, zeros: bool = True) -> tuple[Rows, Family]:
    members = draw(st.lists(priors(size, zeros=zeros), min_size=1, max_size=4))
    return [row for row, _ in members], Family.of(prior for _, prior in members)


@cache
@st.composite
def intervals(draw: st.DrawFn, size: int) -> tuple[Rows, Intervals]:
    """Return the vertices and the set: intervals around some prior, so that it is not empty."""
    centre = fractions(draw(counts(size)))
    scale = draw(st.sampled_from((1, 2, 7, 100)))
    down = draw(st.lists(st.integers(0, scale), min_size=size, max_size=size))
    up = draw(st.lists(st.integers(0, scale), min_size=size, max_size=size))
    lower = [c * Fraction(d, scale) for c, d in zip(centre, down, strict=True)]
    upper = [c + (1 - c) * Fraction(u, scale) for c, u in zip(centre, up, strict=True)]
    order = draw(st.permutations(range(size)))
    labels = inputs_of(size)
    box = Intervals.of({labels[i]: (lower[i], upper[i]) for i in order})
    return oracles.interval_vertices(lower, upper), box


@cache
@st.composite
def balls(draw: st.DrawFn, size: int) -> tuple[Rows, Ball]:
    """Return the vertices and the ball."""
    centre, prior = draw(priors(size, zeros=True))
    radius = Fraction(draw(st.integers(0, 12)), 12)
    return oracles.ball_vertices(centre, radius), Ball.of(prior, radius)


@cache
@st.composite
def prior_sets(draw: st.DrawFn, size: int) -> tuple[Rows, Family | Intervals | Ball]:
    """Return any set of priors with its vertices."""
    return draw(st.one_of(families(size), intervals(size), balls(size)))


# --- hard cases ---------------------------------------------------------------------------------


@cache
@st.composite
def near_ties(draw: st.DrawFn, *, size: int = 4, joints: bool = True) -> Case:
    """Return a randomised response whose equal numbers differ by a few units of 2^-60 or less.

    All lifts, ratios and averages then agree to the last digit of a float: only exact arithmetic
    finds the largest.
    """
    if draw(st.booleans()):
        return draw(split_outputs(size=size, joints=joints))
    n = draw(st.integers(2, size))
    unit = 1 << draw(st.sampled_from((50, 60, 100, 200)))
    heavy = draw(st.sampled_from((1, 2, 3, 7)))
    steps = st.integers(-2, 2)
    found = []
    for x in range(n):
        row = [unit * (heavy if x == y else 1) for y in range(n)]
        for y in range(n):
            step = draw(steps)
            row[y] += step
            row[(y + 1) % n] -= step
        found.append(fractions(row))
    if not joints or draw(st.booleans()):
        return prior_case([unit + draw(steps) for _ in range(n)], found)
    cells = [
        [unit * (3 if s == x else 1) + draw(steps) for x in range(n)]
        for s in range(draw(st.integers(2, 3)))
    ]
    return joint_case(cells, found)


@cache
@st.composite
def split_outputs(draw: st.DrawFn, *, size: int = 4, joints: bool = True) -> Case:
    """Return a channel two of whose outputs are nearly proportional: one output, split in two.

    Their lifts agree to 2^-60 or better, but are ratios of quite different numbers, so that floats
    round them in different directions.
    """
    n = draw(st.integers(2, size))
    share = draw(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=1000))
    unit = Fraction(1, 1 << draw(st.sampled_from((55, 60, 100))))
    found = []
    for _ in range(n):
        base = fractions(draw(counts(2, zeros=False)))
        step = draw(st.integers(-2, 2)) * unit * base[0] * share
        found.append([base[0] * share + step, base[0] * (1 - share) - step, base[1]])
    if not joints or draw(st.booleans()):
        return prior_case(draw(counts(n, zeros=False)), found)
    cells = [draw(counts(n, zeros=False)) for _ in range(draw(st.integers(2, 3)))]
    return joint_case(cells, found)


def randomised_response(size: int, total_bits: int = 20) -> Rows:
    """Return k-ary randomised response: all values on and off the diagonal agree."""
    total = 1 << total_bits
    rest = total // (2 * size)
    diagonal = total - (size - 1) * rest
    return [
        [Fraction(diagonal if x == y else rest, total) for y in range(size)] for x in range(size)
    ]


def random_case(
    inputs: int, outputs: int, *, seed: int, secrets: int | None = None, zeros: bool = False
) -> Case:
    """Return a large random table, over one total so that fractions stay short."""
    source = random.Random(seed)
    total = 1 << 40
    found = []
    for _ in range(inputs):
        raw = [
            0 if zeros and source.random() < 0.1 else source.randint(1, 1000)
            for _ in range(outputs)
        ]
        raw[0] += 1
        weights = [total * value // sum(raw) for value in raw]
        weights[0] += total - sum(weights)
        found.append([Fraction(weight, total) for weight in weights])
    if secrets is None:
        return prior_case([source.randint(1, 1000) for _ in range(inputs)], found)
    cells = [[source.randint(0, 100) for _ in range(inputs)] for _ in range(secrets)]
    return joint_case(cells, found)
