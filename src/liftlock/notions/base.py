"""What every privacy notion can do, and the one rule shared by those that bound a single number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from liftlock.errors import NotDefined, NumberError
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.numbers import exact
from liftlock.model import Conditional, Context
from liftlock.model.structured import AnyChannel
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.given import certify_given, worst_given
from liftlock.notions.lift import (
    Impossible,
    LiftTable,
    check_impossible,
    lift_table,
    refuse_impossible,
)
from liftlock.notions.measurement import Measurement, Witness

MOST_BITS = 4096
"""A comparison that is still open at this precision counts as a refusal, the safe side."""


Decided: TypeAlias = tuple[Sequence[Claim], Mapping[str, Enclosure]]
"""What a certificate claims, and the leakages that it shows in nats."""
Order: TypeAlias = Fraction | None
"""None stands for infinity."""


def read_order(value: object) -> Order:
    """Read an order.

    >>> read_order("2"), read_order("inf") is None
    (Fraction(2, 1), True)
    """
    if value is None or (isinstance(value, str) and value.strip().lower() in {"inf", "infinity"}):
        return None
    if isinstance(value, float) and value == float("inf"):
        return None
    order = exact(value, name="alpha")
    if order <= 0:
        raise NumberError("alpha is not positive", value=value, remedy="use a number above 0")
    return order


def order_text(order: Order) -> str:
    """Write an order for people."""
    return "inf" if order is None else str(order)


# --- what notions limit ---------------------------------------------------------------------------


class LiftLimits(NamedTuple):
    """How far beliefs may move: e^-lower <= lift <= e^upper; None is no limit."""

    lower: Budget | None
    upper: Budget | None

    @property
    def least(self) -> Fraction | None:
        """The smallest lift that is allowed, on the safe side."""
        top = None if self.lower is None else self.lower.exp().upper
        return None if top is None else 1 / top

    @property
    def most(self) -> Fraction | None:
        """The largest lift that is allowed, on the safe side."""
        return None if self.upper is None else self.upper.exp().upper


class DeltaLimit(NamedTuple):
    """What a notion with a delta allows, and in which form: of LIP, or of LDP."""

    epsilon: Budget
    delta: Fraction
    form: Literal["def5", "ediv", "joint", "ldp"]


class OutputLimit(NamedTuple):
    """What a notion allows the lifts at each output to be on average.

    The mean is that of abs(l - 1), of (l - 1)^2, or the alpha-norm of l; of 1/l when `inverse`.
    """

    mean: Literal["l1", "chi2", "alpha"]
    inverse: bool
    budget: Fraction
    order: Order = None


@dataclass(frozen=True)
class NotionKind:
    """One kind of guarantee: what it is called, its parameters in order, how to make it."""

    key: str
    title: str
    parameters: tuple[str, ...]
    notion: Callable[..., Notion]
    summary: str
    page: str
    """The page of the documentation, and the test, that are about it."""
    quantity: str
    """What an audit calls the number that it bounds."""

    def make(self, *values: object) -> Notion:
        """Make the guarantee from the values of its parameters, in their order."""
        return self.notion(**dict(zip(self.parameters, values, strict=True)))


class Notion(ABC):
    """A privacy guarantee with its budgets: it can be measured, certified, and relaxed to fit.

    What others must know of a notion is a member of it: what it limits (`lift_limits`,
    `ratio_limit`, `delta_limit`, `output_limit`, `profile_budget`), what implies it, and what it
    promises in words.
    """

    key: ClassVar[str]
    """The name in files and on the command line, such as ``lip``."""
    title: ClassVar[str]
    """What people call it."""
    unit: ClassVar[str] = "nats"
    """The unit of the measurement; empty for plain numbers."""
    parameters: ClassVar[tuple[str, ...]] = ("budget",)
    """The budgets, in the order in which they are written."""
    summary: ClassVar[str]
    """What it bounds, in a few words."""
    page: ClassVar[str] = ""
    """The page that explains it, where that is not its key."""
    quantity: ClassVar[str] = ""
    """What an audit calls the number that it bounds, where that is not its key."""
    audited: ClassVar[str] = ""
    """When an audit measures it: always, in some contexts, if asked; empty: never."""
    context_free: ClassVar[bool] = False
    """Whether it speaks of every input and needs no prior."""
    one_number: ClassVar[bool] = False
    """Whether one number is all that it bounds from above, so that levels of it can be named."""

    @classmethod
    def kinds(cls) -> tuple[NotionKind, ...]:
        """Return the kinds of guarantee that this class makes, each under its own key."""
        page = cls.page or cls.key
        return (
            NotionKind(
                cls.key, cls.title, cls.parameters, cls, cls.summary, page, cls.quantity or cls.key
            ),
        )

    @classmethod
    def make_measurement(cls, value: Enclosure, witness: Witness | None = None) -> Measurement:
        """Return a value as what was measured."""
        return Measurement(cls.key, value, cls.unit, None, witness)

    @property
    def name(self) -> str:
        """The key of the notion, such as ``lip``."""
        return self.key

    @property
    def budgets(self) -> Mapping[str, str]:
        """The budgets as exact text."""
        return {name: _exact_text(getattr(self, name)) for name in self.parameters}

    @property
    def guarantee(self) -> str:
        """The guarantee in short, e.g. ``alip(lower=1.3, upper=0.7)``."""
        return f"{self.name}({', '.join(f'{k}={v}' for k, v in self.budgets.items())})"

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.budgets.values())})"

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether the guarantee holds; of joints given a value, for each of them."""
        check_impossible(impossible)
        if isinstance(context, Conditional):
            return certify_given(self, channel, context, impossible)
        unprotected = () if self.context_free else refuse_impossible(channel, context, impossible)
        claims, nats = self.decide(channel, context)
        return make_certificate(
            self.name,
            self.budgets,
            channel,
            context,
            claims,
            nats,
            unprotected,
            self.measure_anyway(channel, context),
        )

    def bounded_number(self, channel: AnyChannel, context: Context) -> Enclosure | None:  # noqa: ARG002
        """Return the number that it bounds; None where its limits of lifts, or a delta, say it."""
        return None

    def measure_anyway(self, channel: AnyChannel, context: Context) -> Measurement | None:  # noqa: ARG002
        """Measure what a certificate says beside its guarantee, without a promise, if anything."""
        return None

    @abstractmethod
    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Compare the measurement with the budgets, exactly."""

    @abstractmethod
    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budget of this kind that the channel satisfies; empty if none is."""

    def say_smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the same; empty too where nothing is known of such a budget in a context."""
        try:
            return self.smallest_text(channel, context)
        except NotDefined:
            return ""

    def smallest_guarantee(self, channel: AnyChannel, context: Context) -> Notion | None:  # noqa: ARG002
        """Return the smallest guarantee of this kind that a channel keeps.

        None for a notion that has no such form; what lifts show can always be said.
        """
        return None

    # --- what it limits -------------------------------------------------------------------------

    def lift_limits(self) -> LiftLimits | None:
        """Return the budgets of falling and rising beliefs; None if it is about something else."""
        return None

    def belief_limits(self) -> LiftLimits:
        """Return how far beliefs may move, whatever the prior: what it limits, or what follows."""
        return self.lift_limits() or LiftLimits(None, None)

    @property
    def ratio_limit(self) -> Budget | None:
        """The budget of the ratio of any two likelihoods: that of LDP; None for other notions."""
        return None

    @property
    def ldp_budget(self) -> Budget | None:
        """The budget of LDP that implies the notion under every prior; None if none is known.

        Source: 000 Thm 1 converse, Cor 2.
        """
        return None

    def delta_limit(self) -> DeltaLimit | None:
        """Return epsilon, delta and the form of a notion with a delta; None for other notions."""
        return None

    @property
    def without_delta(self) -> Notion:
        """The guarantee without a delta that implies it: itself, if it has none."""
        return self

    def epsilon_at_delta(self, channel: AnyChannel, context: Context) -> Measurement:  # noqa: ARG002
        """Return the smallest epsilon that a channel keeps at the delta of the notion."""
        raise NotDefined("the smallest epsilon at a delta", str(self), "give a notion with a delta")

    def output_limit(self) -> OutputLimit | None:
        """Return the mean of lifts that is limited at every output; None for other notions."""
        return None

    @property
    def profile_budget(self) -> Budget | None:
        """The budget of the edges of a graph of profiles; None for other notions."""
        return None

    def scaled(self, scale: Fraction) -> Notion:
        """Multiply the budgets; delta and alpha stay.

        >>> from liftlock.notions.lip import ALIP
        >>> str(ALIP(lower="1.3", upper="0.7").scaled(Fraction(1, 2)))
        'alip(lower=0.65, upper=0.35)'
        """
        budgets: dict[str, object] = dict(self.budgets)
        for name in _SCALED.intersection(budgets):
            budget = Budget.of(str(budgets[name]))
            nats = budget.epsilon if budget.epsilon is not None else Fraction(float(budget))
            budgets[name] = decimal_text((nats * scale).limit_denominator(10**12))
        return self._like(budgets)

    def _like(self, budgets: Mapping[str, object]) -> Notion:
        """Return the guarantee of the same kind with other budgets."""
        kind = next(kind for kind in self.kinds() if kind.key == self.name)
        return kind.notion(**budgets)

    # --- in words -------------------------------------------------------------------------------

    @property
    def promise(self) -> str:
        """What it promises, in words, to be filled with the names of ``{column}`` and ``{secret}``.

        Never more than a certificate proves: every number is rounded to its safe side.
        """
        budgets = ", ".join(f"{name} {value}" for name, value in self.budgets.items())
        return (
            "What the released {column} tells about {secret} is limited in this sense: "
            f"{self.summary} ({budgets}). This is a limit on average or of another kind; it does "
            "not by itself limit the change of every single belief."
        )


_SCALED = frozenset({"epsilon", "lower", "upper", "budget"})


def _exact_text(value: Budget | Fraction) -> str:
    return str(value) if isinstance(value, Budget) else decimal_text(value)


@dataclass(frozen=True, init=False)
class UpperBound(Notion):
    """A notion that bounds one number from above: budget in nats, or a plain number.

    A subclass gives the notion's name, its unit, and how to measure it to a given precision.
    """

    budget: Budget | Fraction

    one_number = True
    of_ratio: ClassVar[bool] = False
    """Whether it is the logarithm of an exact ratio."""
    averages: ClassVar[bool] = False
    """Whether it is a mean over outputs, which forgives a rare one that reveals everything."""
    inverse: ClassVar[bool] = False
    """Whether it is about one over the lift, so infinite for a lift of 0."""

    def __init__(self, budget: object) -> None:
        object.__setattr__(self, "budget", self._read_budget(budget))

    @classmethod
    def _read_budget(cls, budget: object) -> Budget | Fraction:
        if cls.unit == "nats":
            return Budget.of(budget, name=cls.key)
        value = exact(budget, name=cls.key)
        if value < 0:
            raise NumberError(
                f"{cls.key} budget is negative", value=budget, remedy="budgets are 0 or more"
            )
        return value

    @abstractmethod
    def measure_leakage(self, channel: AnyChannel, context: Context, bits: int) -> Measurement:
        """Measure the leakage to a precision of `bits`."""

    def bound(self, bits: int = BITS) -> Enclosure:
        """Enclose the budget."""
        if isinstance(self.budget, Budget):
            return self.budget.nats(bits)
        return Enclosure.of(self.budget)

    def _holds(self, found: Measurement, bits: int) -> bool | None:
        """Tell whether a value is within the budget; None: it takes more bits to say."""
        if found.value.upper is None:
            return False
        if isinstance(self.budget, Budget) and found.ratio is not None:
            return self.budget.allows(found.ratio)
        bound = self.bound(bits)
        if bound.upper is None or found.value.upper <= bound.lower:
            return True
        return False if found.value.lower > bound.upper or bits >= MOST_BITS else None

    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Compare the value with the budget, with as many bits as it takes."""
        bits, holds = BITS // 2, None
        try:
            while holds is None:
                bits *= 2
                found = self.measure_leakage(channel, context, bits)
                holds = self._holds(found, bits)
        except NotDefined as error:
            raise NotDefined(self.name, error.context, error.remedy) from None
        claim = Claim(self.key, found.value, "<=", self.bound(), holds, found.witness)
        return [claim], {self.key: found.value} if self.unit == "nats" else {}

    def bounded_number(self, channel: AnyChannel, context: Context) -> Enclosure | None:
        """Return the number that it bounds."""
        return self.measure_leakage(channel, context, BITS).value

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budget that the channel satisfies."""
        return claim_text(self.name, self.measure_leakage(channel, context, BITS).value)


class MeasuredBound(UpperBound):
    """A bound of one number that needs nothing but the channel and the context."""

    @classmethod
    @abstractmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure the leakage exactly, or enclose it."""

    def measure_leakage(self, channel: AnyChannel, context: Context, bits: int) -> Measurement:
        """Measure the leakage; of joints given a value the worst of them."""
        if isinstance(context, Conditional):
            return worst_given(
                channel,
                context,
                lambda part, known: self.measure(part, known, bits),
                every=self.context_free,
            )
        return self.measure(channel, context, bits)


class TableMeasure(Notion):
    """A notion that is measured on the table of lifts of one prior or joint; an audit has it."""

    audited = "a prior or a joint"
    of_sets: ClassVar[bool] = False
    """Whether it is defined for sets of priors too, or for some of them."""

    @classmethod
    @abstractmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""

    @classmethod
    def measure(cls, channel: AnyChannel, context: Context, bits: int = BITS) -> Measurement:
        """Measure it exactly, or enclose it."""
        if isinstance(context, Conditional):
            return worst_given(
                channel,
                context,
                lambda part, known: cls.measure(part, known, bits),
                least=not issubclass(cls, UpperBound),
            )
        return cls.of_table(lift_table(channel, context), bits)


class TableBound(TableMeasure, MeasuredBound):
    """A bound of one number that the table of lifts shows."""


@dataclass(frozen=True, init=False)
class OrderedBound(UpperBound):
    """A bound of one number of some order alpha that the table of lifts shows."""

    alpha: Order

    parameters: ClassVar[tuple[str, ...]] = ("alpha", "budget")
    audited = "with `--alpha`"

    def __init__(self, alpha: object, budget: object) -> None:
        super().__init__(budget)
        object.__setattr__(self, "alpha", read_order(alpha))

    @property
    def budgets(self) -> Mapping[str, str]:
        """The order and the budget as exact text."""
        return {"alpha": order_text(self.alpha), "budget": _exact_text(self.budget)}

    @classmethod
    @abstractmethod
    def of_table(cls, table: LiftTable, order: Order, bits: int = BITS) -> Measurement:
        """Measure it on a table of lifts."""

    @classmethod
    def measure(
        cls, channel: AnyChannel, context: Context, alpha: object, bits: int = BITS
    ) -> Measurement:
        """Measure it exactly, or enclose it."""
        if isinstance(context, Conditional):
            return worst_given(
                channel, context, lambda part, known: cls.measure(part, known, alpha, bits)
            )
        return cls.of_table(lift_table(channel, context), read_order(alpha), bits)

    def measure_leakage(self, channel: AnyChannel, context: Context, bits: int) -> Measurement:
        """Measure the leakage."""
        return self.measure(channel, context, self.alpha, bits)


def claim_text(name: str, value: Enclosure) -> str:
    """Write the smallest budget that allows a leakage; empty if it is infinite, and none does.

    >>> claim_text("lip", Enclosure.of(2)), claim_text("lip", Enclosure.infinity())
    ('lip=2', '')
    """
    return "" if value.is_infinite else f"{name}={safe_text(value)}"


def safe_text(value: Enclosure) -> str:
    """Write the upper end as a short decimal that is certainly not too small.

    >>> safe_text(Enclosure(Fraction(1, 3), Fraction(1, 3)))
    '0.3333333334'
    """
    if value.upper is None:
        return "inf"
    if value.is_exact and "/" not in decimal_text(value.upper):
        return decimal_text(value.upper)
    scaled = value.upper * 10**10
    return decimal_text(Fraction(-(-scaled.numerator // scaled.denominator), 10**10))
