"""The guarantees that paper 002 compares at one budget epsilon, and how much of it is needed.

ALIP divides epsilon into share x epsilon for falling and (1 - share) x epsilon for rising beliefs;
the measures that average over the secrets are bounded by what ALIP would imply for one secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from liftlock import ALIP, LDP, Channel, Joint, exact, measured
from liftlock.notions import (
    AlphaLift,
    AlphaLiftInverse,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
    LiftTable,
    Notion,
    lift_table,
)

Kind = Literal["alip", "ldp", "l1", "chi2", "alpha"]


@dataclass(frozen=True)
class Leak:
    """What the outputs of a channel say about the secret, exactly; None is an infinite ratio."""

    largest: Fraction
    """The largest lift."""
    inverse: Fraction | None
    """1 / the smallest lift."""
    ratio: Fraction | None
    """The largest ratio of two lifts at one output."""

    @classmethod
    def of(cls, channel: Channel, joint: Joint) -> Leak:
        """Audit a channel."""
        table = lift_table(channel, joint)
        smallest = table.smallest().lift
        largest = table.largest().lift
        assert smallest is not None
        assert largest is not None
        return cls(largest, 1 / smallest if smallest else None, _ratio(table))

    @property
    def upper(self) -> float:
        """The max-lift leakage, in nats."""
        return _log(self.largest)

    @property
    def lower(self) -> float:
        """The min-lift leakage, in nats."""
        return _log(self.inverse)


def _ratio(table: LiftTable) -> Fraction | None:
    ratios = []
    tops, bottoms = table.top_secrets.tolist(), table.bottom_secrets.tolist()
    for y, (top, bottom) in enumerate(zip(tops, bottoms, strict=True)):
        least = table.lift_at(bottom, y)
        if not least:
            return None
        ratios.append(table.lift_at(top, y) / least)
    return max(ratios)


def _log(ratio: Fraction | None) -> float:
    return np.inf if ratio is None else float(np.log(float(ratio)))


@dataclass(frozen=True)
class Promise:
    """A kind of guarantee; with a budget it becomes a notion, or two that must both hold.

    >>> str(Promise("alip", "0.65").notions("2")[0])
    'alip(lower=1.3, upper=0.7)'
    >>> [str(notion) for notion in Promise("l1", "0.5").notions("0")]
    ['l1_lift(0)', 'l1_lift_inverse(0)']
    """

    kind: Kind
    share: str = "0.5"
    """lambda: the part of the budget that falling beliefs get."""
    order: int = 0
    """alpha."""

    def sides(self, epsilon: str | Fraction) -> tuple[Fraction, Fraction]:
        """Return the budgets for falling and for rising beliefs."""
        whole, share = exact(epsilon), exact(self.share)
        return whole * share, whole * (1 - share)

    def notions(self, epsilon: str | Fraction) -> tuple[Notion, ...]:
        """Return what every output must keep."""
        if self.kind == "ldp":
            return (LDP(epsilon),)
        lower, upper = self.sides(epsilon)
        if self.kind == "alip":
            return (ALIP(lower=lower, upper=upper),)
        # The limits are e^epsilon to the last bit of a float, and exact from there on.
        rise, fall = measured(np.exp(float(upper))), measured(np.exp(float(lower)))
        if self.kind == "l1":
            return (L1Lift(rise - 1), L1LiftInverse(fall - 1))
        if self.kind == "chi2":
            return (Chi2Lift((rise - 1) ** 2), Chi2LiftInverse((fall - 1) ** 2))
        return (AlphaLift(self.order, rise), AlphaLiftInverse(self.order, fall))

    def kept(self, leak: Leak, epsilon: str) -> bool:
        """Say exactly whether a channel keeps ALIP or LDP."""
        (notion,) = self.notions(epsilon)
        limits = notion.lift_limits()
        if limits is None:
            return LDP(epsilon).budget.allows(leak.ratio)
        lower, upper = limits
        assert lower is not None
        assert upper is not None
        return upper.allows(leak.largest) and lower.allows(leak.inverse)

    def needed(self, leak: Leak) -> float:
        """Return the smallest epsilon that a channel keeps, for ALIP with this share or for LDP.

        >>> leak = Leak(Fraction(2), Fraction(3), Fraction(4))
        >>> round(float(np.exp(Promise("alip", "0.5").needed(leak))), 9)
        9.0
        """
        if self.kind == "ldp":
            return _log(leak.ratio)
        share = float(exact(self.share))
        return max(leak.lower / share, leak.upper / (1 - share))
