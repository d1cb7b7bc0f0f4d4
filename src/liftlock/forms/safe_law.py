"""The safe response on integers: a prior of 2^32 points, and a keep probability of T / 2^32.

A user keeps her value with probability T / 2^32, else draws one from her own prior, integers p(x)
that sum to 2^32. All probabilities are integers over 2^64:

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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from liftlock.errors import RowError
from liftlock.exact.budget import Budget

POINT_BITS = 32


@dataclass(frozen=True)
class SafeLaw:
    """The two integers of the law: no lift is below floor / 2^bits or above ceiling / 2^bits.

    >>> law = SafeLaw.of(Budget.of("ln 2"), Budget.of("ln 2"))
    >>> law.floor == 2**31, law.ceiling == 2**33
    (True, True)
    >>> law.keep(2**30) / 2**32  # (U - 1) P / (1 - P) = 1/3
    0.3333333332557231
    """

    floor: int
    ceiling: int
    point_bits: int = POINT_BITS

    def __post_init__(self) -> None:
        if not 0 < self.floor <= self.points <= self.ceiling <= self.points**2:
            raise RowError("limits of the lift out of order", value=(self.floor, self.ceiling))

    @classmethod
    def of(cls, lower: Budget, upper: Budget, *, point_bits: int = POINT_BITS) -> SafeLaw:
        """Return the law with the widest limits that both budgets allow, decided exactly."""
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
    def points(self) -> int:
        """How many points a prior has."""
        return 1 << self.point_bits

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

    def keep_in_set(
        self, counts: Sequence[int], lowest: Sequence[int], highest: Sequence[int]
    ) -> int:
        """Return T for a user who draws from `counts` and whose prior is between two rows.

        >>> law = SafeLaw.of(Budget.of("ln 2"), Budget.of("ln 2"))
        >>> one = [2**30, 3 * 2**30]
        >>> law.keep_in_set(one, one, one) == law.keep(2**30)
        True
        """
        keep = self.most
        for p, a, b in zip(counts, lowest, highest, strict=True):
            if not keep or a == self.points or not b:
                continue
            keep = min(keep, self.most * p * self.points // (self.floor * b + self.most * p))
            above = self.points * (self.points - a) - self.gain * (a - p)
            if above > 0:
                keep = min(keep, self.gain * self.points * p // above)
        return keep

    def weights(self, counts: Sequence[int], x: int) -> list[int]:
        """Return P(y | x) times 2^(2 bits) for each y, on Python's integers.

        >>> law = SafeLaw.of(Budget.of("1"), Budget.of("1"), point_bits=3)
        >>> law.weights([2, 6], 0), law.weights([2, 6], 1)
        ([40, 24], [8, 56])
        """
        keep = self.keep(min(count for count in counts if count))
        drawn = [(self.points - keep) * count for count in counts]
        drawn[x] += keep * self.points
        return drawn
