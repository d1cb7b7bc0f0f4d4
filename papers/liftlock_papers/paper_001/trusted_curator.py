"""001 section IV-D: a curator who is trusted with all bits releases their number, or less.

Nobody's bit may be learnt from it: e^-epsilon <= P(X_i = j | Y) / P(X_i = j) <= e^epsilon for every
user i. Let I be a user drawn evenly, without regard to the bits. Then that is epsilon-LIP for the
secret (I, X_I), since I is independent of the count; so a joint of (i, j) and the count says all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import liftlock as ll
from liftlock_papers.paper_001.releases import leakage_of
from liftlock_papers.points import Floats, Point

CURATOR = "trusted curator (CIP), certified"
CURATOR_PUBLISHED = "trusted curator (CIP), as published"

FEW = 12
"""Up to so many users the optimum is searched for; for more the count is released, clipped."""

WIDEST = 6.0
"""Counts are clipped at so many standard deviations at most: what is beyond has mass 2e-9."""

_LEAST = 1e-40
_HAIR = 1e-9
_UNIT = 1 << 50
_ENDLESS = "40"


def curator_points(
    panel: str, shares: Sequence[Fraction], numbers: Sequence[int], budgets: Sequence[Fraction]
) -> Iterator[Point]:
    """Compute the root of the error of the count per person, of the best a curator may do."""
    people = sum(numbers)
    if people <= FEW:
        each = [share for share, number in zip(shares, numbers, strict=True) for _ in range(number)]
        joint = exact_joint(each)
        for epsilon in budgets:
            for curve, notion in (
                (CURATOR, ll.LIP(epsilon)),
                (CURATOR_PUBLISHED, ll.ALIP(lower=epsilon, upper=_ENDLESS)),
            ):
                made = ll.design(joint, notion, utility="mean")
                assert made.origin is not None
                error = math.sqrt(max(made.origin.objective, 0.0) / people)
                leaks = leakage_of(made)
                yield Point(
                    panel, curve, float(epsilon), error, leakage=leaks, budget=float(epsilon)
                )
        return
    distribution = CountDistribution.of(shares, numbers)
    for epsilon in budgets:
        error, leaks = clipped_count(distribution, epsilon)
        y = math.sqrt(error / people)
        yield Point(panel, CURATOR, float(epsilon), y, leakage=leaks, budget=float(epsilon))


def count_distribution(shares: Sequence[Fraction]) -> list[Fraction]:
    """Return the distribution of how many of independent bits are 1.

    >>> [str(mass) for mass in count_distribution([Fraction(1, 2), Fraction(1, 4)])]
    ['3/8', '1/2', '1/8']
    """
    distribution = [Fraction(1)]
    for share in shares:
        low, high = [*distribution, Fraction(0)], [Fraction(0), *distribution]
        distribution = [(1 - share) * a + share * b for a, b in zip(low, high, strict=True)]
    return distribution


def exact_joint(shares: Sequence[Fraction]) -> ll.Joint:
    """Return the joint of (user, bit) and the count, exactly."""
    people = len(shares)
    rows = []
    for place, share in enumerate(shares):
        rest = count_distribution([*shares[:place], *shares[place + 1 :]])
        rows.append([(1 - share) * mass / people for mass in rest] + [Fraction(0)])
        rows.append([Fraction(0)] + [share * mass / people for mass in rest])
    secrets = ll.Alphabet.of([f"user {i} says {j}" for i in range(people) for j in (0, 1)])
    return ll.Joint.from_rows(secrets, ll.Alphabet.numbers(range(people + 1)), rows)


@dataclass(frozen=True)
class CountDistribution:
    """The distribution of a count of users, alone and given one user's bit, from `first` on."""

    first: int
    masses: Floats
    given: Floats
    """P(count | bit) for each prior: a row for bit 0, then a row for bit 1."""
    weights: Floats
    """P(user has this prior and this bit), row by row."""

    @classmethod
    def of(cls, shares: Sequence[Fraction], numbers: Sequence[int]) -> CountDistribution:
        """Convolve binomial distributions, with and without one user of each prior.

        Only sums of positive numbers, so that tails are as exact as the middle.
        """
        distributions = [
            binomial(number, float(share)) for share, number in zip(shares, numbers, strict=True)
        ]
        before, after = [Window(0, np.ones(1))], [Window(0, np.ones(1))]
        for distribution in distributions:
            before.append(before[-1].plus(distribution))
        for distribution in reversed(distributions):
            after.append(after[-1].plus(distribution))
        whole = before[-1]
        rows, weights, people = [], [], sum(numbers)
        for place, (share, number) in enumerate(zip(shares, numbers, strict=True)):
            others = before[place].plus(after[len(distributions) - 1 - place])
            rest = others.plus(binomial(number - 1, float(share)))
            rows += [rest.on(whole), Window(rest.first + 1, rest.masses).on(whole)]
            weights += [number / people * float(1 - share), number / people * float(share)]
        return cls(whole.first, whole.masses, np.array(rows), np.array(weights))

    def released(self, low: int, high: int) -> tuple[Floats, Floats, float]:
        """Clip the count to low..high: its distributions, given the bits and not, and its error."""
        counts = self.first + np.arange(len(self.masses), dtype=np.float64)
        start, end = max(low - self.first, 0), min(high - self.first, len(counts) - 1)
        error = 0.0
        for tail in (slice(0, start + 1), slice(end, None)):
            masses = self.masses[tail]
            mean = masses @ counts[tail] / masses.sum()
            error += float(masses @ (counts[tail] - mean) ** 2)

        def clipped(rows: Floats) -> Floats:
            found: Floats = np.concatenate(
                [
                    rows[..., : start + 1].sum(axis=-1, keepdims=True),
                    rows[..., start + 1 : end],
                    rows[..., end:].sum(axis=-1, keepdims=True),
                ],
                axis=-1,
            )
            return found

        return clipped(self.given), clipped(self.masses), error

    def widest(self, epsilon: float) -> tuple[int, int]:
        """Return the widest range, even about the mean, in which no lift is beyond the budget."""
        counts = self.first + np.arange(len(self.masses), dtype=np.float64)
        mean = float(counts @ self.masses)
        deviation = math.sqrt(float(self.masses @ (counts - mean) ** 2))
        reach = math.floor(WIDEST * deviation)
        while True:
            low, high = round(mean) - reach, round(mean) + reach
            rows, masses, _ = self.released(low, high)
            if float(np.abs(np.log(rows / masses)).max()) <= epsilon - _HAIR:
                return low, high
            reach -= max(reach // 50, 1)


@dataclass(frozen=True)
class Window:
    """A distribution of a count, from `first` on; negligible tails are cut."""

    first: int
    masses: Floats

    def plus(self, other: Window) -> Window:
        """Return the distribution of the sum."""
        masses = np.convolve(self.masses, other.masses)
        kept = np.flatnonzero(masses > _LEAST)
        start, end = int(kept[0]), int(kept[-1]) + 1
        return Window(self.first + other.first + start, masses[start:end])

    def on(self, other: Window) -> Floats:
        """Return the masses at the places of another window."""
        places = other.first + np.arange(len(other.masses)) - self.first
        inside = (places >= 0) & (places < len(self.masses))
        found: Floats = np.where(inside, self.masses[np.where(inside, places, 0)], 0.0)
        return found


def binomial(people: int, share: float) -> Window:
    """Return the binomial distribution.

    >>> binomial(2, 0.5).masses.round(9).tolist()
    [0.25, 0.5, 0.25]
    """
    logs = [
        math.lgamma(people + 1)
        - math.lgamma(s + 1)
        - math.lgamma(people - s + 1)
        + s * math.log(share)
        + (people - s) * math.log1p(-share)
        for s in range(people + 1)
    ]
    masses = np.exp(np.array(logs))
    return Window(0, masses / masses.sum()).plus(Window(0, np.ones(1)))


def clipped_count(distribution: CountDistribution, epsilon: Fraction) -> tuple[float, float]:
    """Return the squared error of the clipped count, and what its certificate measured."""
    rows, _, error = distribution.released(*distribution.widest(float(epsilon)))
    users = [f"prior {place // 2}, bit {place % 2}" for place in range(len(rows))]
    draft = ll.Draft.of(users, range(rows.shape[1]), rows / rows.sum(axis=1, keepdims=True))
    prior = ll.Prior.from_counts(
        {user: round(mass * _UNIT) for user, mass in zip(users, distribution.weights, strict=True)}
    )
    made = ll.lock(draft, ll.LIP(epsilon), prior)
    return error, leakage_of(made)
