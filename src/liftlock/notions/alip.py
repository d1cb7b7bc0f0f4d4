"""Asymmetric local information privacy: e^-lower <= lift <= e^upper for every secret and output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from liftlock.channel import Channel
from liftlock.context import Context, PriorSet
from liftlock.errors import NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.forms import AnyChannel, StructuredChannel, SupportChannel, UserChannel, dense
from liftlock.forms.extremes import Corner, lift_corners
from liftlock.forms.user_channel import budget_text
from liftlock.notions.bounded_prior import LiftRange, lift_range
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.lift import Extreme, Impossible, lift_table, refuse_impossible
from liftlock.notions.notion import LiftLimits, Notion, UpperBound, lift_promise, safe_text
from liftlock.notions.reading import Reading, Witness
from liftlock.notions.user_lifts import UserLifts, user_lifts
from liftlock.per_user import AnyUserPrior, PerUserPriors


def extremes(channel: AnyChannel, context: Context) -> LiftRange:
    """Return the exact extreme lifts in any context (for a set of priors: over the whole set).

    For a form whose reports do not support every set of symbols they are bounds on the safe side.
    """
    if isinstance(context, PerUserPriors):
        users = reduce(UserLifts.joined, user_lifts(channel, context))
        return LiftRange(users.largest.extreme, users.smallest.extreme)
    if isinstance(channel, UserChannel) and isinstance(context, AnyUserPrior):
        return _law_range(channel.largest, channel.smallest)
    if isinstance(channel, SupportChannel):
        found = lift_corners(channel, context)
        return LiftRange(_extreme(channel, found.largest), _extreme(channel, found.smallest))
    if isinstance(context, PriorSet):
        return lift_range(dense(channel), context)
    table = lift_table(channel, context)
    return LiftRange(table.largest(), table.smallest())


def _law_range(largest: Fraction, smallest: Fraction) -> LiftRange:
    """The limits of a law hold for every user, so nobody is their witness."""
    return LiftRange(Extreme(largest, Witness()), Extreme(smallest, Witness()))


def certify_lifts(
    notion: Notion,
    channel: AnyChannel,
    context: Context,
    limits: tuple[Budget, Budget],
    impossible: Impossible,
) -> Certificate:
    """Compare the extreme lifts with the budgets, and those of each law with its own."""
    unprotected = refuse_impossible(channel, context, impossible)
    claims, nats = lift_claims(extremes(channel, context), *limits)
    if isinstance(channel, UserChannel) and channel.limits != (limits,):
        for own, law in zip(channel.limits, channel.laws, strict=True):
            each, _ = lift_claims(_law_range(law.largest, law.smallest), *own)
            of = f" of users with {budget_text(own)}"
            claims += [replace(claim, quantity=claim.quantity + of) for claim in each]
    if isinstance(context, AnyUserPrior):
        claims = [replace(claim, witness=None) for claim in claims]
    return make_certificate(
        notion.name, notion.budgets, channel, context, claims, nats, unprotected
    )


def _extreme(channel: SupportChannel, corner: Corner) -> Extreme:
    report = channel.report_text(corner.places)
    return Extreme(corner.value, Witness(corner.secret, report, prior=corner.prior))


def measure_upper(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
    """Measure eps_upper = ln(largest lift).

    Source: 002 Def 3.
    """
    return upper_reading(extremes(channel, context), bits)


def measure_lower(channel: AnyChannel, context: Context, bits: int = BITS) -> Reading:
    """Measure eps_lower = -ln(smallest lift).

    Source: 002 Def 3.
    """
    return lower_reading(extremes(channel, context), bits)


def upper_reading(found: LiftRange, bits: int = BITS) -> Reading:
    """Turn the largest lift into nats."""
    return Reading.of_ratio("eps_upper", found.largest.lift, found.largest.witness, bits)


def lower_reading(found: LiftRange, bits: int = BITS) -> Reading:
    """Turn the smallest lift into nats."""
    smallest = found.smallest.lift
    ratio = 1 / smallest if smallest else None
    return Reading.of_ratio("eps_lower", ratio, found.smallest.witness, bits)


@dataclass(frozen=True, init=False)
class ALIP(Notion):
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

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether every lift stays within the budgets."""
        return certify_lifts(self, channel, context, (self.lower, self.upper), impossible)

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budgets that the channel satisfies."""
        found = extremes(channel, context)
        lower, upper = lower_reading(found).value, upper_reading(found).value
        return f"lower={safe_text(lower)}, upper={safe_text(upper)}"

    def lift_limits(self) -> LiftLimits:
        """Return the budgets of falling and rising beliefs."""
        return LiftLimits(self.lower, self.upper)

    @property
    def ldp_budget(self) -> Budget:
        """The budget of LDP that implies it: the smaller of its budgets."""
        return min(self.lower, self.upper, key=float)

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        return lift_promise(self.lift_limits())


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


class MaxLift(UpperBound):
    """The guarantee that no belief rises by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    budget: Budget

    key = "eps_upper"
    title = "eps_upper (max-lift)"
    says = "no lift above e^budget"

    def lift_limits(self) -> LiftLimits:
        """Return the budgets of falling and rising beliefs."""
        return LiftLimits(None, self.budget)

    @property
    def ldp_budget(self) -> Budget:
        """The budget of LDP that implies it: the smaller of its budgets."""
        return self.budget

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        return lift_promise(self.lift_limits())

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return measure_upper(channel, context, bits)

    def read_form(self, channel: StructuredChannel, context: Context, bits: int) -> Reading:
        """Measure the leakage without a table."""
        return measure_upper(channel, context, bits)


class MinLift(UpperBound):
    """The guarantee that no belief falls by more than a factor e^budget (one side only).

    Source: 002 eq. (2), Def 3.
    """

    budget: Budget

    key = "eps_lower"
    title = "eps_lower (min-lift)"
    says = "no lift below e^-budget"

    def lift_limits(self) -> LiftLimits:
        """Return the budgets of falling and rising beliefs."""
        return LiftLimits(self.budget, None)

    @property
    def ldp_budget(self) -> Budget:
        """The budget of LDP that implies it: the smaller of its budgets."""
        return self.budget

    @property
    def promise(self) -> str:
        """What it promises, in words."""
        return lift_promise(self.lift_limits())

    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage."""
        return measure_lower(channel, context, bits)

    def read_form(self, channel: StructuredChannel, context: Context, bits: int) -> Reading:
        """Measure the leakage without a table."""
        return measure_lower(channel, context, bits)
