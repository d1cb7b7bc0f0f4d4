"""What mechanisms truly leak in one notion, and the parameter at which a method leaks a level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from liftlock.errors import InputError, NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import extreme_lifts
from liftlock.notions.registry import NOTIONS

MakeNotion = Callable[[Any], Notion]
"""Makes the notion of a budget epsilon; its budgets grow in proportion to epsilon."""

EPSILON = "epsilon"
"""The word for comparing at equal budgets, whatever these mean."""

_NAMES = {"max_lift": "eps_upper", "min_lift": "eps_lower"}
_TRIES = 32
_CLOSE = 1e-6
"""A level that is missed by less than this part of it counts as reached."""
_FLOATS = 1e-12
"""What floats may be off a leakage that is exactly a level."""
_FINE = Fraction(1, 10**6)
"""How far apart, of themselves, the last parameter that keeps a level and the next may be."""
_LESS, _MORE = 256, 40
"""Parameters are looked for from the first one divided by this, up to so many nats."""
_DIGITS = 8
"""Significant digits of a parameter."""


@dataclass(frozen=True)
class MechanismLeakage:
    """What a mechanism truly leaks, in nats rounded up: as lifts, and as LDP."""

    lower: float
    upper: float
    ldp: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> MechanismLeakage:
        """Measure the integers of a mechanism in its own context."""
        found = extreme_lifts(mechanism.channel, mechanism.context)
        return cls(
            round_up(found.eps_lower().value),
            round_up(found.eps_upper().value),
            round_up(LDP.measure(mechanism.channel, mechanism.context).value),
        )

    @property
    def lip(self) -> float:
        """How far any belief moves, either way."""
        return max(self.lower, self.upper)

    def smallest_epsilon(self, asked: Notion, epsilon: float) -> float:
        """Return the smallest epsilon, in the notion's proportions, that covers the leakage."""
        limits = asked.lift_limits()
        if limits is None:
            raise NotDefined(
                "comparing",
                f"the notion {asked.name}",
                "compare lip, alip, one of these with a delta, or a notion that bounds one number",
            )
        shares = [0.0]
        for leak, budget in zip((self.lower, self.upper), limits, strict=True):
            if budget is not None and leak > 0:
                side = float(budget)
                shares.append(epsilon * (leak / side) if side else math.inf)
        return max(shares)


def round_up(found: Enclosure) -> float:
    """Return a float that is certainly not less.

    >>> round_up(Enclosure.of(Fraction(1, 10))), round_up(Enclosure.of(Fraction(3, 10)))
    (0.1, 0.30000000000000004)
    """
    if found.upper is None:
        return math.inf
    number = float(Enclosure.of(found.upper))
    enough = math.isinf(number) or number >= found.upper
    return number if enough else math.nextafter(number, math.inf)


def read_axis(name: str, asked: Notion, make_notion: MakeNotion) -> tuple[str, MakeNotion]:
    """Return the notion of a name; that which is asked for keeps its delta, or its proportions.

    >>> from liftlock.notions.lip import LIP
    >>> read_axis("max-lift", LIP("1"), LIP)[1]("0.5").guarantee
    'eps_upper(budget=0.5)'
    """
    key = name.strip().lower().replace("-", "_")
    key = _NAMES.get(key, key)
    if key == asked.name:
        return key, make_notion
    known: dict[str, MakeNotion] = {
        each.key: each
        for each in NOTIONS.values()
        if each.one_number and len(each.parameters) == 1 and each.audited
    }
    if key not in known:
        raise InputError(
            "no such leakage to compare at",
            value=name,
            remedy=f"use {EPSILON} or one of {', '.join(known)}",
        )
    return key, known[key]


@dataclass(frozen=True)
class Level:
    """How much may be leaked: a guarantee, and the number that it goes by."""

    notion: Notion
    number: float

    @classmethod
    def of(cls, notion: Notion) -> Level:
        """Take the budget of a notion that limits lifts, the larger of two."""
        limits = notion.without_delta.lift_limits()
        if limits is None:
            raise NotDefined("calibrating", f"the notion {notion.name}", "ask for lip or alip")
        return cls(notion, max(float(side) for side in limits if side is not None))

    def measure(self, made: Mechanism) -> float:
        """Return what a mechanism truly leaks, rounded up: a level that its integers keep."""
        notion, channel, context = self.notion, made.channel, made.context
        if notion.delta_limit() is not None:
            leak = round_up(notion.epsilon_at_delta(channel, context).value)
        elif (found := notion.bounded_number(channel, context)) is not None:
            leak = round_up(found)
        else:
            leak = MechanismLeakage.of(made).smallest_epsilon(notion, self.number)
        # Where it is proved to keep the level itself, no float above that is what it leaks.
        return min(leak, self.number) if leak < self._above and self.is_kept(made) else leak

    @property
    def _above(self) -> float:
        return self.number * (1 + _FLOATS)

    def is_kept(self, made: Mechanism) -> bool:
        """Prove of the integers of a mechanism that they leak no more."""
        return self.notion.certify(made.channel, made.context, impossible="ignore").holds


class Calibrated(NamedTuple):
    """A mechanism that keeps a level, and the parameter it was made with."""

    parameter: Fraction
    mechanism: Mechanism


def calibrate(
    make: Callable[[Fraction], Mechanism | None],
    level: Level,
    start: float | Fraction,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Calibrated | None:
    """Return the mechanism that leaks as much of a level as was found, and no more than that.

    `make` makes the mechanism of a parameter, or returns None if there is none. That the level is
    kept is proved of the integers that are returned. Where leakage grows with the parameter, as it
    does for formulas, one larger by a millionth would break it; the leakage of an optimum may jump,
    and then a larger one might keep it too. None if none was found, or somebody stopped the search.
    """

    def trial(parameter: Fraction) -> tuple[float, Mechanism | None]:
        made = make(parameter)
        if made is None or stopped():
            return math.inf, None
        leak = level.measure(made)
        return leak, made if leak <= level.number and level.is_kept(made) else None

    found = search(trial, level.number, start, stopped=stopped)
    return None if found is None else Calibrated(*found)


Made = TypeVar("Made")


def search(
    trial: Callable[[Fraction], tuple[float, Made | None]],
    level: float,
    start: float | Fraction,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> tuple[Fraction, Made] | None:
    """Return the parameter, of those tried, that leaks most and keeps the level, and what it makes.

    `trial` tells what a parameter leaks, and what it makes if that keeps the level.
    """
    low: _Tried | None = None
    high: _Tried | None = None
    best: tuple[Fraction, Made] | None = None
    most, streak, first = -1.0, 0, Fraction(start)
    guess: Fraction | None = first
    for _ in range(_TRIES):
        if guess is None:
            break
        leak, made = trial(guess)
        if stopped():
            return None
        if made is not None:
            low, streak = _Tried(guess, leak), max(streak, 0) + 1
            if leak >= most:
                best, most = (guess, made), leak
            if leak >= level * (1 - _CLOSE) or not guess:
                break
        else:
            high, streak = _Tried(guess, leak), min(streak, 0) - 1
        guess = _next(low, high, level, first, bisect=abs(streak) > 1)
    return best


class _Tried(NamedTuple):
    parameter: Fraction
    leak: float


def _next(
    low: _Tried | None, high: _Tried | None, level: float, start: Fraction, *, bisect: bool
) -> Fraction | None:
    """Return the next parameter to try; None if there is nothing left to look for."""
    if high is None:
        assert low is not None
        factor = level / low.leak if low.leak else 4.0
        guess = low.parameter * Fraction(min(max(1.02 * factor, 1.1), 4.0))
        return _short(guess) if guess <= max(Fraction(_MORE), 4 * start) else None
    if low is None:
        guess = high.parameter * Fraction(min(max(0.98 * level / high.leak, 0.1), 0.9))
        return _short(guess) if guess * _LESS >= start else None
    width = high.parameter - low.parameter
    if width <= high.parameter * _FINE:
        return None
    share = 0.5
    if not bisect and math.isfinite(high.leak):
        share = (level * (1 - _CLOSE / 2) - low.leak) / (high.leak - low.leak)
        share = min(max(share, 0.001), 0.999)
    guess = _short(low.parameter + width * Fraction(share))
    return guess if low.parameter < guess < high.parameter else None


def _short(parameter: Fraction) -> Fraction:
    """Cut a parameter to a few digits."""
    digits = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return Fraction(digits.divide(Decimal(parameter.numerator), Decimal(parameter.denominator)))
