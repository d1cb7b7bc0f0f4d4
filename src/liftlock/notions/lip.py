"""Local information privacy: every lift within limits, on both sides or on one.

- LIP:   e^-epsilon <= lift <= e^epsilon for every secret and output;
- ALIP:  e^-lower <= lift <= e^upper (asymmetric);
- the max-lift (eps_upper) and the min-lift (eps_lower) alone.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.errors import NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.decimals import down_to, fold, moves
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.forms import AnyChannel, StructuredChannel, UserChannel
from liftlock.forms.user_channel import budget_text
from liftlock.notions.base import LiftLimits, Notion, UpperBound, safe_text
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.lift import Impossible, LiftRange, extremes, law_range, refuse_impossible
from liftlock.notions.reading import Reading
from liftlock.per_user import AnyUserPrior


def upper_reading(found: LiftRange, bits: int = BITS) -> Reading:
    """Turn the largest lift into nats: eps_upper = ln(largest lift)."""
    return Reading.of_ratio("eps_upper", found.largest.lift, found.largest.witness, bits)


def lower_reading(found: LiftRange, bits: int = BITS) -> Reading:
    """Turn the smallest lift into nats: eps_lower = -ln(smallest lift)."""
    smallest = found.smallest.lift
    ratio = 1 / smallest if smallest else None
    return Reading.of_ratio("eps_lower", ratio, found.smallest.witness, bits)


def lip_reading(found: LiftRange, bits: int = BITS) -> Reading:
    """Take the larger of the two sides."""
    largest, smallest = found.largest.lift, found.smallest.lift
    assert smallest is not None
    down = not smallest or (largest is not None and smallest * largest < 1)
    side = lower_reading(found, bits) if down else upper_reading(found, bits)
    return Reading("lip", side.value, "nats", side.ratio, side.witness)


def lift_claims(
    found: LiftRange, lower: Budget, upper: Budget
) -> tuple[list[Claim], dict[str, Enclosure]]:
    """Compare the extreme lifts with e^upper and e^-lower, exactly."""
    largest, smallest = found.largest, found.smallest
    top = Enclosure.infinity() if largest.lift is None else Enclosure.of(largest.lift)
    bottom = smallest.lift
    assert bottom is not None
    inverse = 1 / bottom if bottom else None
    ceiling = upper.exp()
    floor = lower.exp()
    assert floor.upper is not None
    low_bound = Enclosure(1 / floor.upper, 1 / floor.lower)
    claims = [
        Claim("max-lift", top, "<=", ceiling, upper.allows(largest.lift), largest.witness),
        Claim(
            "min-lift",
            Enclosure.of(bottom),
            ">=",
            low_bound,
            lower.allows(inverse),
            smallest.witness,
        ),
    ]
    nats = {
        "eps_lower": lower_reading(found).value,
        "eps_upper": upper_reading(found).value,
    }
    return claims, nats


def _law_claims(channel: UserChannel) -> list[Claim]:
    """Compare the limits of each law with the budgets of the users who have it."""
    found = []
    for own, law in zip(channel.limits, channel.laws, strict=True):
        claims, _ = lift_claims(law_range(law.largest, law.smallest), *own)
        of = f" of users with {budget_text(own)}"
        found += [replace(claim, quantity=claim.quantity + of) for claim in claims]
    return found


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
        start = "Whoever sees the released {column} of a person may "
        up, down = limits.most, limits.least
        if limits.upper is not None and limits.lower is not None:
            return f"{start}raise the probability of any {{secret}} {moves(up, down)}."
        if limits.upper is not None:
            return (
                f"{start}raise the probability of any {{secret}} at most {fold(up)}. How far it "
                "may fall is not limited: a value may be ruled out."
            )
        assert down is not None
        return (
            f"{start}lower the probability of any {{secret}} at most to {down_to(down)} of what it "
            "was. How far it may rise is not limited directly, only through what the falls of all "
            "the others leave."
        )


class _BothSides(LiftNotion):
    """A notion that limits the rise and the fall of beliefs."""

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether every lift stays within the budgets."""
        unprotected = refuse_impossible(channel, context, impossible)
        lower, upper = self.lift_limits()
        assert lower is not None
        assert upper is not None
        claims, nats = lift_claims(extremes(channel, context), lower, upper)
        if isinstance(channel, UserChannel) and channel.limits != ((lower, upper),):
            claims += _law_claims(channel)
        if isinstance(context, AnyUserPrior):
            claims = [replace(claim, witness=None) for claim in claims]
        return make_certificate(
            self.name, self.budgets, channel, context, claims, nats, unprotected
        )


@dataclass(frozen=True, init=False)
class LIP(_BothSides):
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
    audited = "always"

    def __init__(self, epsilon: object) -> None:
        object.__setattr__(self, "epsilon", Budget.of(epsilon))

    @staticmethod
    def measure(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
        """Measure L_LIP = max over s, y of abs(ln lift(s, y)), in nats.

        In a set of priors (bounded-prior LIP) the maximum is over every prior of the set as well.

        Source: 000 eq. (8), Def 6; 001 Def 3; 002 Def 1.

        >>> from liftlock.channel import Channel
        >>> from liftlock.prior import Prior
        >>> reading = LIP.measure(Channel.identity("ab"), Prior.uniform("ab"))
        >>> reading.value.is_infinite, str(reading.witness)
        (True, 'secret "b", output "a"')
        """
        return lip_reading(extremes(channel, context), bits)

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest epsilon that the channel satisfies."""
        return f"lip={safe_text(self.measure(channel, context).value)}"

    def lift_limits(self) -> LiftLimits:
        """Return epsilon for both sides."""
        return LiftLimits(self.epsilon, self.epsilon)


@dataclass(frozen=True, init=False)
class ALIP(_BothSides):
    """The guarantee that every lift lies between e^-lower and e^upper.

    Source: 002 Def 3, eq. (5).

    >>> from liftlock.prior import Prior
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> fair = Prior.uniform([0, 1])
    >>> ALIP(lower="0.7", upper="0.41").certify(bit, fair).holds
    True
    >>> ALIP(lower="0.7", upper="0.4").smallest(bit, fair)
    'lower=0.6931471806, upper=0.4054651082'
    """

    lower: Budget
    upper: Budget

    key = "alip"
    title = "ALIP"
    parameters = ("lower", "upper")
    says = "every lift between e^-lower and e^upper"

    def __init__(self, *, lower: object, upper: object) -> None:
        object.__setattr__(self, "lower", Budget.of(lower, name="lower budget"))
        object.__setattr__(self, "upper", Budget.of(upper, name="upper budget"))

    def __str__(self) -> str:
        return f"alip(lower={self.lower}, upper={self.upper})"

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budgets that the channel satisfies."""
        found = extremes(channel, context)
        lower, upper = lower_reading(found).value, upper_reading(found).value
        return f"lower={safe_text(lower)}, upper={safe_text(upper)}"

    def lift_limits(self) -> LiftLimits:
        """Return the two budgets."""
        return LiftLimits(self.lower, self.upper)


class MaxLift(LiftNotion, UpperBound):
    """The guarantee that no belief rises by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    budget: Budget

    key = "eps_upper"
    title = "eps_upper (max-lift)"
    says = "no lift above e^budget"
    audited = "always"
    page = "alip"

    @staticmethod
    def measure(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
        """Measure eps_upper = ln(largest lift).

        Source: 002 Def 3.
        """
        return upper_reading(extremes(channel, context), bits)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return self.measure(channel, context, bits)

    def read_form(self, channel: StructuredChannel, context: Context, bits: int) -> Reading:
        """Measure the leakage without a table."""
        return self.measure(channel, context, bits)

    def lift_limits(self) -> LiftLimits:
        """Return the budget of the rise."""
        return LiftLimits(None, self.budget)


class MinLift(LiftNotion, UpperBound):
    """The guarantee that no belief falls by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    budget: Budget

    key = "eps_lower"
    title = "eps_lower (min-lift)"
    says = "no lift below e^-budget"
    audited = "always"
    page = "alip"

    @staticmethod
    def measure(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
        """Measure eps_lower = -ln(smallest lift).

        Source: 002 Def 3.
        """
        return lower_reading(extremes(channel, context), bits)

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return self.measure(channel, context, bits)

    def read_form(self, channel: StructuredChannel, context: Context, bits: int) -> Reading:
        """Measure the leakage without a table."""
        return self.measure(channel, context, bits)

    def lift_limits(self) -> LiftLimits:
        """Return the budget of the fall."""
        return LiftLimits(self.budget, None)


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
