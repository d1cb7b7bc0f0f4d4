"""The two distributions for per-user priors, on integers: every user's table follows from one.

The arc mechanism. A circle has 2^32 points, and each user's prior is an integer number of points
for each symbol, its arc. A point T is uniform on the arc of the true symbol; the report is the
start u of a window, and

    P(u | T) = f(u - T) / 2^62,

where f depends on the distance around the circle only. It is `low` for the starts whose window of
`width` points does not hold T, and `high` or `high + 1` for those whose window does, 2^62 in all.
Since T is uniform on the whole circle under the prior, and f is summed over all distances,

    P(u) = 2^-32 exactly, and the lift of x at u is the mean of f(u - t) / 2^30 over its arc,

between low / 2^30 and (high + 1) / 2^30 for EVERY prior: nothing about the prior is left to check.

The safe response. A user keeps her value with probability T / 2^32, else draws one from her own
prior, integers p(x) that sum to 2^32. All probabilities are integers over 2^64:

    P(y | x) = (T 2^32 [x = y] + (2^32 - T) p(y)) / 2^64,      P(y) = p(y) / 2^32 exactly,

so the lift is 1 - T / 2^32 off the diagonal and 1 - T / 2^32 + T / p(x) on it. With the limits
rounded to the safe side, floor = ceil(2^32 e^-lower) and ceiling = floor(2^32 e^upper), the keep
probability of a user whose smallest positive count is p is the largest that both allow:

    T = min(2^32 - floor, (ceiling - 2^32) p div (2^32 - p)).

A user with a set of priors draws from one of them, p, and must keep both limits under all. Under
another prior an output has mass P(y) = ((2^32 - T) p(y) + T q) / 2^64 where q points of the prior
are on y, so it matters only how few, a(y), and how many, b(y), they can be:

    lift off the diagonal >= (2^32 - T) p / ((2^32 - T) p + T b),
    lift on the diagonal  <= 1 + T (2^32 - a) / ((2^32 - T) p + T a),

both attained. The first falls and the second rises with T, and solved for T both are linear.

Source: 000 eq. (19) with the limit it lacks; 000 Prop. 2 at delta = 0; 000 Def 6.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from liftlock.errors import RowError
from liftlock.exact.budget import Budget

POINT_BITS = 32
WEIGHT_BITS = 62


class UserDistribution(ABC):
    """A few integers that limit the lift of every user, whatever the prior."""

    point_bits: int

    @classmethod
    @abstractmethod
    def of(cls, lower: Budget, upper: Budget) -> Self:
        """Return the distribution with the widest lifts within both budgets, decided exactly."""

    @property
    def points(self) -> int:
        """How many points a prior has."""
        return 1 << self.point_bits

    @property
    @abstractmethod
    def largest(self) -> Fraction:
        """A limit of the lift under every prior."""

    @property
    @abstractmethod
    def smallest(self) -> Fraction:
        """The other limit of the lift under every prior."""


@dataclass(frozen=True)
class ArcDistribution(UserDistribution):
    """The integers of f: `low` outside the window, inside `high`, and one more in `extra` places.

    Counted from the start that is T itself, backwards: distance 0, 1, ..., width - 1 before T is
    inside, and the first `extra` of these have weight high + 1.

    >>> distribution = ArcDistribution.of(Budget.of("ln 2"), Budget.of("ln 2"))
    >>> (
    ...     round(distribution.width / distribution.points, 6),
    ...     round(float(distribution.largest), 6),
    ...     float(distribution.smallest),
    ... )
    (0.333333, 2.0, 0.5)
    >>> (
    ...     Budget.of("ln 2").allows(distribution.largest),
    ...     Budget.of("ln 2").allows(1 / distribution.smallest),
    ... )
    (True, True)
    """

    low: int
    high: int
    width: int
    extra: int
    point_bits: int = POINT_BITS
    weight_bits: int = WEIGHT_BITS

    def __post_init__(self) -> None:
        inside = self.width * self.high + self.extra
        if not (0 < self.width < self.points and 0 <= self.extra < self.width):
            raise RowError("window out of range", value=f"{self.width} of {self.points} points")
        if inside + (self.points - self.width) * self.low != 1 << self.weight_bits:
            raise RowError("weights of the window do not sum to a power of two")
        if not 0 < self.low <= self.high:
            raise RowError("weights of the window out of order", value=(self.low, self.high))

    @classmethod
    def of(
        cls,
        lower: Budget,
        upper: Budget,
        *,
        point_bits: int = POINT_BITS,
        weight_bits: int = WEIGHT_BITS,
    ) -> ArcDistribution:
        """Return the distribution with the widest lifts within both budgets, decided exactly."""
        points, total = 1 << point_bits, 1 << weight_bits
        unit = total // points
        floor, ceiling = lower.exp(), upper.exp()
        assert floor.upper is not None
        # Rounded so that 1 / lift is at most e^lower, which the enclosure's lower end decides.
        low = min(-(-unit * floor.lower.denominator // floor.lower.numerator), unit)
        least = Fraction(low, unit)
        # The exact window is (1 - L) / (U - L); one that is wider by a hair keeps the upper limit.
        gap = ceiling.lower - least
        width = max(1, int((1 - least) * points / gap)) if gap > 0 else points - 1
        width = min(width, points - 1)
        step = 1
        while True:
            inside = total - (points - width) * low
            high, extra = divmod(inside, width)
            if upper.allows(Fraction(high + bool(extra), unit)):
                return cls(low, high, width, extra, point_bits, weight_bits)
            if width == points - 1:
                return cls(unit, unit, width, 0, point_bits, weight_bits)
            width = min(width + step, points - 1)
            step *= 2

    @property
    def unit(self) -> int:
        """The weight of a start that says nothing: 2^weight_bits / 2^point_bits."""
        return 1 << (self.weight_bits - self.point_bits)

    @property
    def largest(self) -> Fraction:
        """The largest lift under any prior."""
        return Fraction(self.high + bool(self.extra), self.unit)

    @property
    def smallest(self) -> Fraction:
        """The smallest lift under any prior."""
        return Fraction(self.low, self.unit)

    def lift(self, start: int, length: int, u: int) -> Fraction:
        """Return the exact lift at u of a symbol whose arc has so many points from `start` on.

        >>> distribution = ArcDistribution.of(
        ...     Budget.of("ln 2"), Budget.of("ln 2"), point_bits=3, weight_bits=10
        ... )
        >>> str(distribution.lift(0, 8, 5))  # a symbol that is certain
        '1'
        """
        offset = (start - u) % self.points
        covered = _overlap(offset, length, self.width, self.points)
        raised = _overlap(offset, length, self.extra, self.points)
        total = self.low * (length - covered) + self.high * covered + raised
        return Fraction(total, length * self.unit)


@dataclass(frozen=True)
class SafeDistribution(UserDistribution):
    """Two integers: no lift is below floor / 2^bits or above ceiling / 2^bits.

    >>> distribution = SafeDistribution.of(Budget.of("ln 2"), Budget.of("ln 2"))
    >>> distribution.floor == 2**31, distribution.ceiling == 2**33
    (True, True)
    >>> distribution.keep(2**30) / 2**32  # (U - 1) P / (1 - P) = 1/3
    0.3333333332557231
    """

    floor: int
    ceiling: int
    point_bits: int = POINT_BITS

    def __post_init__(self) -> None:
        if not 0 < self.floor <= self.points <= self.ceiling <= self.points**2:
            raise RowError("limits of the lift out of order", value=(self.floor, self.ceiling))

    @classmethod
    def of(cls, lower: Budget, upper: Budget, *, point_bits: int = POINT_BITS) -> SafeDistribution:
        """Return the distribution with the widest limits within both budgets, decided exactly."""
        points = 1 << point_bits
        # The ends of an enclosure may lie on both sides of an integer: the budgets decide.
        below = lower.exp().lower
        floor = max(-(-points * below.denominator // below.numerator), 1)
        if floor > 1 and lower.allows(Fraction(points, floor - 1)):
            floor -= 1
        # A posterior is at most 1 and a prior at least one point, so no lift is above 2^bits.
        ceiling = min(int(points * upper.exp().lower), points**2)
        if ceiling < points**2 and upper.allows(Fraction(ceiling + 1, points)):
            ceiling += 1
        return cls(floor, ceiling, point_bits)

    @property
    def most(self) -> int:
        """The largest T that the floor allows."""
        return self.points - self.floor

    @property
    def gain(self) -> int:
        """How far the ceiling is above a lift of 1, in points."""
        return self.ceiling - self.points

    @property
    def enough(self) -> int:
        """The smallest count from which on the floor alone decides.

        Below it gain * count < most * (2^bits - count), which is less than 2^64.
        """
        if self.most == 0:
            return 1
        return -(-self.most * self.points // (self.gain + self.most))

    @property
    def largest(self) -> Fraction:
        """A limit of the lift under every prior."""
        return Fraction(self.ceiling, self.points)

    @property
    def smallest(self) -> Fraction:
        """The other limit of the lift under every prior."""
        return Fraction(self.floor, self.points)

    def keep(self, least: int) -> int:
        """Return T for a user whose smallest positive count is `least`."""
        if least >= self.enough:
            return self.most
        return self.gain * least // (self.points - least)


def _overlap(offset: int, length: int, width: int, points: int) -> int:
    """Count the points that [0, width) shares with the arc from `offset` on, around the circle."""
    stop = offset + length
    here = max(0, min(stop, width) - offset)
    return here + max(0, min(stop - points, width))
