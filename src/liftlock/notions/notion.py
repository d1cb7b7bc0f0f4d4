"""What every privacy notion can do, and the one rule shared by those that bound a single number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.errors import NotDefined, NumberError
from liftlock.exact.budget import Budget, decimal_text
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.numbers import exact
from liftlock.forms import AnyChannel, SupportChannel
from liftlock.notions.certificate import Certificate, Claim, make_certificate
from liftlock.notions.lift import Impossible, refuse_impossible
from liftlock.notions.order import Order, order_text, read_order
from liftlock.notions.reading import Reading

MOST_BITS = 4096
"""A comparison that is still open at this precision counts as a refusal, the safe side."""


class Notion(Protocol):
    """A privacy guarantee with its budgets: it can be measured, certified, and relaxed to fit."""

    @property
    def name(self) -> str:
        """The key of the notion, such as ``lip``."""
        ...

    @property
    def budgets(self) -> Mapping[str, str]:
        """The budgets as exact text."""
        ...

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether the guarantee holds."""
        ...

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budget of this kind that the channel satisfies."""
        ...


@dataclass(frozen=True, init=False)
class UpperBound(ABC):
    """A notion that bounds one number from above: budget in nats, or a plain number.

    A subclass gives the notion's name, its unit, and how to measure it to a given precision.
    """

    budget: Budget | Fraction
    notion: ClassVar[str]
    unit: ClassVar[str] = "nats"
    context_free: ClassVar[bool] = False

    def __init__(self, budget: object) -> None:
        object.__setattr__(self, "budget", self._read_budget(budget))

    @classmethod
    def _read_budget(cls, budget: object) -> Budget | Fraction:
        if cls.unit == "nats":
            return Budget.of(budget, name=cls.notion)
        value = exact(budget, name=cls.notion)
        if value < 0:
            raise NumberError(
                f"{cls.notion} budget is negative", value=budget, remedy="budgets are 0 or more"
            )
        return value

    @abstractmethod
    def read(self, channel: Channel, context: Context, bits: int) -> Reading:
        """Measure the leakage with a precision of so many bits."""

    def read_form(self, channel: SupportChannel, context: Context, bits: int) -> Reading:
        """Measure the leakage of a form; unless a notion knows better, write out its table."""
        return self.read(channel.expanded(), context, bits)

    def _read(self, channel: AnyChannel, context: Context, bits: int) -> Reading:
        if isinstance(channel, Channel):
            return self.read(channel, context, bits)
        return self.read_form(channel, context, bits)

    @property
    def name(self) -> str:
        """The key of the notion."""
        return self.notion

    @property
    def budgets(self) -> Mapping[str, str]:
        """The budget as exact text."""
        return {"budget": self._text}

    @property
    def _text(self) -> str:
        return str(self.budget) if isinstance(self.budget, Budget) else decimal_text(self.budget)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.budgets.values())})"

    def bound(self, bits: int = BITS) -> Enclosure:
        """Enclose the budget."""
        if isinstance(self.budget, Budget):
            return self.budget.nats(bits)
        return Enclosure.of(self.budget)

    def _decide(self, channel: AnyChannel, context: Context) -> tuple[bool, Reading]:
        bits = BITS
        while True:
            reading = self._read(channel, context, bits)
            value = reading.value
            if value.upper is None:
                return False, reading
            if isinstance(self.budget, Budget) and reading.ratio is not None:
                return self.budget.allows(reading.ratio), reading
            bound = self.bound(bits)
            if bound.upper is None or value.upper <= bound.lower:
                return True, reading
            if value.lower > bound.upper or bits >= MOST_BITS:
                return False, reading
            bits *= 2

    def certify(
        self, channel: AnyChannel, context: Context, *, impossible: Impossible = "refuse"
    ) -> Certificate:
        """Audit exactly whether the value stays within the budget."""
        unprotected = () if self.context_free else refuse_impossible(channel, context, impossible)
        try:
            holds, reading = self._decide(channel, context)
        except NotDefined as error:
            raise NotDefined(self.name, error.context, error.remedy) from None
        claim = Claim(self.notion, reading.value, "<=", self.bound(), holds, reading.witness)
        nats = {self.notion: reading.value} if self.unit == "nats" else {}
        return make_certificate(
            self.name, self.budgets, channel, context, [claim], nats, unprotected
        )

    def smallest(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest budget that the channel satisfies."""
        return f"{self.name}={safe_text(self._read(channel, context, BITS).value)}"


@dataclass(frozen=True, init=False)
class OrderedUpperBound(UpperBound):
    """A notion of some order alpha that bounds one number from above."""

    order: Order

    def __init__(self, alpha: object, budget: object) -> None:
        super().__init__(budget)
        object.__setattr__(self, "order", read_order(alpha))

    @property
    def budgets(self) -> Mapping[str, str]:
        """The order and the budget as exact text."""
        return {"alpha": order_text(self.order), "budget": self._text}


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
