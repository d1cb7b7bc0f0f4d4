"""The arc mechanism on integers: one law for all users, whatever the prior of each.

A circle has 2^32 points, and each user's prior is an integer number of points for each symbol, its
arc. A point T is uniform on the arc of the true symbol; the report is the start u of a window, and

    P(u | T) = f(u - T) / 2^62,

where f depends on the distance around the circle only. It is `low` for the starts whose window of
`width` points does not hold T, and `high` or `high + 1` for those whose window does, 2^62 in all.
Since T is uniform on the whole circle under the prior, and f is summed over all distances,

    P(u) = 2^-32 exactly, and the lift of x at u is the mean of f(u - t) / 2^30 over its arc,

between low / 2^30 and (high + 1) / 2^30 for EVERY prior: nothing about the prior is left to check.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from liftlock.errors import RowError
from liftlock.exact.budget import Budget

POINT_BITS = 32
LAW_BITS = 62


@dataclass(frozen=True)
class ArcLaw:
    """The integers of f: `low` outside the window, inside `high`, and one more in `extra` places.

    Counted from the start that is T itself, backwards: distance 0, 1, ..., width - 1 before T is
    inside, and the first `extra` of these have weight high + 1.

    >>> law = ArcLaw.of(Budget.of("ln 2"), Budget.of("ln 2"))
    >>> round(law.width / law.points, 6), round(float(law.largest), 6), float(law.smallest)
    (0.333333, 2.0, 0.5)
    >>> Budget.of("ln 2").allows(law.largest), Budget.of("ln 2").allows(1 / law.smallest)
    (True, True)
    """

    low: int
    high: int
    width: int
    extra: int
    point_bits: int = POINT_BITS
    law_bits: int = LAW_BITS

    def __post_init__(self) -> None:
        inside = self.width * self.high + self.extra
        if not (0 < self.width < self.points and 0 <= self.extra < self.width):
            raise RowError("window out of range", value=f"{self.width} of {self.points} points")
        if inside + (self.points - self.width) * self.low != 1 << self.law_bits:
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
        law_bits: int = LAW_BITS,
    ) -> ArcLaw:
        """Return the law with the widest lifts that both budgets allow, decided exactly."""
        points, total = 1 << point_bits, 1 << law_bits
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
                return cls(low, high, width, extra, point_bits, law_bits)
            if width == points - 1:
                return cls(unit, unit, width, 0, point_bits, law_bits)
            width = min(width + step, points - 1)
            step *= 2

    @property
    def points(self) -> int:
        """How many points the circle has."""
        return 1 << self.point_bits

    @property
    def unit(self) -> int:
        """The weight of a start that says nothing: 2^law_bits / 2^point_bits."""
        return 1 << (self.law_bits - self.point_bits)

    @property
    def largest(self) -> Fraction:
        """The largest lift under any prior."""
        return Fraction(self.high + bool(self.extra), self.unit)

    @property
    def smallest(self) -> Fraction:
        """The smallest lift under any prior."""
        return Fraction(self.low, self.unit)

    def weight(self, distance: int) -> int:
        """Return f for a start so many points before T, around the circle."""
        before = distance % self.points
        if before >= self.width:
            return self.low
        return self.high + (before < self.extra)

    def lift(self, start: int, length: int, u: int) -> Fraction:
        """Return the exact lift at u of a symbol whose arc has so many points from `start` on.

        >>> law = ArcLaw.of(Budget.of("ln 2"), Budget.of("ln 2"), point_bits=3, law_bits=10)
        >>> str(law.lift(0, 8, 5))  # a symbol that is certain
        '1'
        """
        offset = (start - u) % self.points
        covered = _overlap(offset, length, self.width, self.points)
        raised = _overlap(offset, length, self.extra, self.points)
        total = self.low * (length - covered) + self.high * covered + raised
        return Fraction(total, length * self.unit)


def _overlap(offset: int, length: int, width: int, points: int) -> int:
    """Count the points that [0, width) shares with the arc from `offset` on, around the circle."""
    stop = offset + length
    here = max(0, min(stop, width) - offset)
    return here + max(0, min(stop - points, width))
