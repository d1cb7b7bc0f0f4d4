"""Local information privacy: every lift within a factor e^epsilon of 1, both ways."""

from __future__ import annotations

from dataclasses import dataclass

from liftlock.context import Context
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import BITS
from liftlock.forms import AnyChannel
from liftlock.notions.alip import certify_lifts, extremes, lower_reading, upper_reading
from liftlock.notions.bounded_prior import LiftRange
from liftlock.notions.certificate import Certificate
from liftlock.notions.lift import Impossible
from liftlock.notions.notion import LiftLimits, Notion, lift_promise, safe_text
from liftlock.notions.reading import Reading


def measure(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
    """Measure L_LIP = max over s, y of abs(ln lift(s, y)), in nats.

    In a set of priors (bounded-prior LIP) the maximum is over every prior of the set as well.

    Source: 000 eq. (8), Def 6; 001 Def 3; 002 Def 1.

    >>> from liftlock.channel import Channel
    >>> from liftlock.prior import Prior
    >>> reading = measure(Channel.identity("ab"), Prior.uniform("ab"))
    >>> reading.value.is_infinite, str(reading.witness)
    (True, 'secret "b", output "a"')
    """
    return of_range(extremes(channel, context), bits)


def of_range(found: LiftRange, bits: int = BITS) -> Reading:
    """Take the larger of the two sides."""
    largest, smallest = found.largest.lift, found.smallest.lift
    assert smallest is not None
    down = not smallest or (largest is not None and smallest * largest < 1)
    side = lower_reading(found, bits) if down else upper_reading(found, bits)
    return Reading("lip", side.value, "nats", side.ratio, side.witness)


@dataclass(frozen=True, init=False)
class LIP(Notion):
    """The guarantee that every lift lies between e^-epsilon and e^epsilon.

    For a `Prior` it protects the value itself, for a `Joint` the secret behind it; for a set of
    priors it is bounded-prior LIP and holds under each of them.

    Source: 000 Def 5 with delta 0, eq. (5)-(7), Cor 1; 001 Def 3; 002 Def 1, eq. (3).

    >>> from liftlock.channel import Channel
    >>> from liftlock.prior import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> print(LIP("0.7").certify(bit, Prior.uniform([0, 1])))
    CERTIFIED: lip(epsilon=0.7) for a prior on 2 symbols
      holds: max-lift 1.5 (= 3/2) <= 2.013752707 at secret 0, output 0
      holds: min-lift 0.5 (= 1/2) >= 0.4965853038 at secret 1, output 0
      leakage in nats: eps_lower 0.693147, eps_upper 0.405465
      channel ..., context ...
    """

    epsilon: Budget

    key = "lip"
    title = "LIP"
    parameters = ("epsilon",)
    says = "every lift within a factor e^epsilon of 1"

    def __init__(self, epsilon: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether every lift stays within the budget."""
        return certify_lifts(self, channel, context, (self.epsilon, self.epsilon), impossible)

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest epsilon that the channel satisfies."""
        return f"lip={safe_text(measure(channel, context).value)}"

    def lift_limits(self) -> LiftLimits:
        """Return the budgets of falling and rising beliefs."""
        return LiftLimits(self.epsilon, self.epsilon)

    @property
    def ldp_budget(self) -> Budget:
        """The budget of LDP that implies it: the smaller of its budgets."""
        return self.epsilon

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        return lift_promise(self.lift_limits())
