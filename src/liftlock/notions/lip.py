"""Local information privacy: every lift within limits, on both sides or on one.

- LIP:   e^-epsilon <= lift <= e^epsilon for every secret and output;
- ALIP:  e^-lower <= lift <= e^upper (asymmetric);
- the max-lift (eps_upper) and the min-lift (eps_lower) alone.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from liftlock.errors import NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import fold_text, moves_text, share_text
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.model import AnyUserPrior, Context
from liftlock.model.structured import AnyChannel, UserChannel
from liftlock.model.structured.user_channel import budget_text
from liftlock.notions.base import Decided, LiftLimits, MeasuredBound, Notion, claim_text
from liftlock.notions.certificate import Claim
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import LiftRange, exact_lift_range, extreme_lifts
from liftlock.notions.measurement import Measurement


def lift_claims(found: LiftRange, lower: Budget, upper: Budget, whose: str = "") -> list[Claim]:
    """Compare the extreme lifts with e^upper and e^-lower, exactly."""
    largest, smallest = found.largest, found.smallest
    top = Enclosure.infinity() if largest.lift is None else Enclosure.of(largest.lift)
    bottom, floor = smallest.lift, lower.exp()
    assert bottom is not None
    assert floor.upper is not None
    least = Enclosure(1 / floor.upper, 1 / floor.lower)
    falls = lower.allows(1 / bottom if bottom else None)
    rises = upper.allows(largest.lift)
    return [
        Claim(f"max-lift{whose}", top, "<=", upper.exp(), rises, largest.witness),
        Claim(f"min-lift{whose}", Enclosure.of(bottom), ">=", least, falls, smallest.witness),
    ]


class LiftNotion(Notion):
    """A notion that limits lifts; a subclass says by what."""

    @abstractmethod
    def lift_limits(self) -> LiftLimits:
        """Return the budgets of falling and rising beliefs; None is no limit."""

    @property
    def ldp_budget(self) -> Budget:
        """The budget of LDP that implies it under every prior: the smaller of its budgets."""
        return min((side for side in self.lift_limits() if side is not None), key=float)

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        limits = self.lift_limits()
        start = "Whoever sees the released {column} of a person can "
        up, down = limits.most, limits.least
        if limits.upper is not None and limits.lower is not None:
            return f"{start}raise the probability of any {{secret}} {moves_text(up, down)}."
        if limits.upper is not None:
            return (
                f"{start}raise the probability of any {{secret}} at most {fold_text(up)}. How far "
                "it can fall is not limited: a value can be ruled out."
            )
        assert down is not None
        return (
            f"{start}lower the probability of any {{secret}} to no less than {share_text(down)} "
            "of what it was. How far it can rise is not limited directly, only through what the "
            "falls of all the others leave."
        )


class _BothSides(LiftNotion):
    """A notion that limits the rise and the fall of beliefs."""

    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Compare every lift with the budgets, and those of users with their own."""
        lower, upper = self.lift_limits()
        assert lower is not None
        assert upper is not None
        found = extreme_lifts(channel, context)
        claims = lift_claims(found, lower, upper)
        if isinstance(channel, UserChannel) and channel.limits != ((lower, upper),):
            for own, distribution in zip(channel.limits, channel.distributions, strict=True):
                limits = exact_lift_range(distribution.largest, distribution.smallest)
                claims += lift_claims(limits, *own, whose=f" of users with {budget_text(own)}")
        if isinstance(context, AnyUserPrior):
            claims = [replace(claim, witness=None) for claim in claims]
        sides = found.eps_lower(), found.eps_upper()
        return claims, {side.notion: side.value for side in sides}

    def measure_anyway(self, channel: AnyChannel, context: Context) -> Measurement | None:
        """Measure the LDP, for whoever knows more than the prior; None if there is no table."""
        return None if isinstance(channel, UserChannel) else LDP.measure(channel, context)


@dataclass(frozen=True, init=False)
class LIP(_BothSides):
    """The guarantee that every lift lies between e^-epsilon and e^epsilon.

    For a `Prior` it protects the value itself, for a `Joint` the secret behind it; for a set of
    priors it is bounded-prior LIP and holds under each of them.

    Source: 000 Def 5 with delta 0, eq. (5)-(7), Cor 1; 001 Def 3; 002 Def 1, eq. (3).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> print(LIP("0.7").certify(bit, Prior.uniform([0, 1])))
    CERTIFIED: lip(epsilon=0.7) for a prior on 2 symbols
      holds: max-lift 1.5 (= 3/2) <= 2.013752707 at secret 0, output 0
      holds: min-lift 0.5 (= 1/2) >= 0.4965853038 at secret 1, output 0
      leakage in nats: eps_lower 0.693148, eps_upper 0.405466, ldp 1.09862
      channel ..., context ...
    """

    epsilon: Budget

    key = "lip"
    one_number = True
    title = "LIP"
    parameters = ("epsilon",)
    summary = "every lift within a factor e^epsilon of 1"
    audited = "always"

    def __init__(self, epsilon: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure L_LIP = max over s, y of abs(ln lift(s, y)), in nats.

        In a set of priors (bounded-prior LIP) the maximum is over every prior of the set as well.

        Source: 000 eq. (8), Def 6; 001 Def 3; 002 Def 1.

        >>> from liftlock.model.channel import Channel
        >>> from liftlock.model import Prior
        >>> measurement = LIP.measure(Channel.identity("ab"), Prior.uniform("ab"))
        >>> measurement.value.is_infinite, str(measurement.witness)
        (True, 'secret "b", output "a"')
        """
        return extreme_lifts(channel, context).lip(bits)

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest epsilon that the channel satisfies."""
        return claim_text("lip", self.measure(channel, context).value)

    def lift_limits(self) -> LiftLimits:
        """Return epsilon for both sides."""
        return LiftLimits(self.epsilon, self.epsilon)


@dataclass(frozen=True, init=False)
class ALIP(_BothSides):
    """The guarantee that every lift lies between e^-lower and e^upper.

    Source: 002 Def 3, eq. (5).

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> fair = Prior.uniform([0, 1])
    >>> ALIP(lower="0.7", upper="0.41").certify(bit, fair).holds
    True
    >>> ALIP(lower="0.7", upper="0.4").smallest_text(bit, fair)
    'lower=0.6931471806, upper=0.4054651082'
    """

    lower: Budget
    upper: Budget

    key = "alip"
    title = "ALIP"
    parameters = ("lower", "upper")
    summary = "every lift between e^-lower and e^upper"

    def __init__(self, *, lower: object, upper: object) -> None:
        object.__setattr__(self, "lower", Budget.of(lower, name="lower budget"))
        object.__setattr__(self, "upper", Budget.of(upper, name="upper budget"))

    def __str__(self) -> str:
        return f"alip(lower={self.lower}, upper={self.upper})"

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budgets that the channel satisfies."""
        found = extreme_lifts(channel, context)
        lower, upper = found.eps_lower().value, found.eps_upper().value
        both = claim_text("lower", lower), claim_text("upper", upper)
        return ", ".join(both) if all(both) else ""

    def lift_limits(self) -> LiftLimits:
        """Return the two budgets."""
        return LiftLimits(self.lower, self.upper)


class _OneSide(LiftNotion, MeasuredBound):
    """A notion that limits the rise or the fall of beliefs alone."""

    budget: Budget

    audited = "always"
    page = "alip"
    of_ratio = True
    rises: ClassVar[bool]

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure eps_upper = ln(largest lift), or eps_lower = -ln(smallest lift).

        Source: 002 Def 3.
        """
        found = extreme_lifts(channel, context)
        return found.eps_upper(bits) if cls.rises else found.eps_lower(bits)

    def lift_limits(self) -> LiftLimits:
        """Return the budget of the rise or of the fall."""
        return LiftLimits(None, self.budget) if self.rises else LiftLimits(self.budget, None)


class MaxLift(_OneSide):
    """The guarantee that no belief rises by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    key = "eps_upper"
    title = "eps_upper (max-lift)"
    summary = "no lift above e^budget"
    rises = True


class MinLift(_OneSide):
    """The guarantee that no belief falls by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    key = "eps_lower"
    title = "eps_lower (min-lift)"
    summary = "no lift below e^-budget"
    rises = False


def lift_notion(*, lower: object = None, upper: object = None) -> Notion:
    """Return the guarantee with these limits of lifts: of both sides, or of one (None: no limit).

    >>> str(lift_notion(lower="1.3", upper="0.7")), str(lift_notion(upper="0.7"))
    ('alip(lower=1.3, upper=0.7)', 'eps_upper(0.7)')
    """
    if lower is None and upper is None:
        raise NumberError("no limit of lifts", value=None, remedy="give lower, upper or both")
    if lower is None:
        return MaxLift(upper)
    return MinLift(lower) if upper is None else ALIP(lower=lower, upper=upper)
