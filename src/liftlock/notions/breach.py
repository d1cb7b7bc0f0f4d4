"""Privacy breaches: can an output turn an unlikely property of the secret into a likely one?

An upward rho1-to-rho2 breach is a set Q of secrets with P(Q) <= rho1 and P(Q | y) > rho2; a
downward rho2-to-rho1 breach is a set with P(Q) >= rho2 and P(Q | y) < rho1, which is the upward
(1-rho2)-to-(1-rho1) breach of the complement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from liftlock.errors import NumberError
from liftlock.exact.budget import decimal_text
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.numbers import exact_probability
from liftlock.model import Context
from liftlock.model.alphabet import Label
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import Decided, Notion
from liftlock.notions.certificate import Claim
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.measurement import Measurement, Witness

_TICKS = 10**10

MOST_NODES = 20_000
"""Search steps for one output; when they do not suffice the value is an interval, still certain."""


def highest_posterior(table: LiftTable, rho1: Fraction) -> Measurement:
    """Return the highest posterior of any property of prior at most rho1, on a table of lifts."""
    best, ceiling = Fraction(0), Fraction(0)
    witness = Witness(secrets=(), output=table.outputs.labels[0])
    for y, label in enumerate(table.outputs.labels):
        found, members, bound = _best_set(table, y, rho1, best)
        ceiling = max(ceiling, bound)
        if found > best:
            best = found
            names: tuple[Label, ...] = tuple(table.secrets.labels[s] for s in members)
            witness = Witness(secrets=names, output=label)
    return Measurement("breach", Enclosure(best, max(best, ceiling)), "", None, witness)


def _best_set(
    table: LiftTable, y: int, room: Fraction, floor: Fraction
) -> tuple[Fraction, tuple[int, ...], Fraction]:
    """Return (value, set, upper bound) of the most probable set of prior mass at most `room`."""
    lifts = table.column(y)
    order = sorted(range(len(lifts)), key=lambda s: -lifts[s])
    sizes = [table.secret_masses[s] for s in order]
    gains = [table.secret_masses[s] * lifts[s] for s in order]

    def relaxed(start: int, left: Fraction) -> Fraction:
        value = Fraction(0)
        for size, gain in zip(sizes[start:], gains[start:], strict=True):
            if size > left:
                return value + gain * left / size
            value += gain
            left -= size
        return value

    best = floor
    chosen: tuple[int, ...] = ()
    open_bound = floor
    stack: list[tuple[int, Fraction, Fraction, tuple[int, ...]]] = [(0, room, Fraction(0), ())]
    nodes = 0
    while stack:
        start, left, value, members = stack.pop()
        if value > best:
            best, chosen = value, members
        if start == len(order):
            continue
        bound = value + relaxed(start, left)
        if bound <= best:
            continue
        nodes += 1
        if nodes > MOST_NODES:
            open_bound = max(open_bound, bound)
            continue
        stack.append((start + 1, left, value, members))
        if sizes[start] <= left:
            taken = (*members, order[start])
            stack.append((start + 1, left - sizes[start], value + gains[start], taken))
    return best, chosen, max(best, open_bound)


@dataclass(frozen=True)
class BreachReport:
    """Whether breaches between two levels exist: the worst posterior each way, with its witness."""

    rho1: Fraction
    rho2: Fraction
    upward: Measurement
    downward: Measurement

    @property
    def possible(self) -> bool:
        """Whether some property is breached (an undecided case counts as possible)."""
        up, down = self.upward.value.upper, self.downward.value.lower
        return up is None or up > self.rho2 or down < self.rho1

    def __str__(self) -> str:
        verdict = "breach possible" if self.possible else "no breach"
        return (
            f"{verdict}: a property of prior at most {float(self.rho1):.4g} can reach "
            f"{self.upward.value} ({self.upward.witness}); one of prior at least "
            f"{float(self.rho2):.4g} can fall to {self.downward.value}"
        )


def find_breaches(
    channel: AnyChannel, context: Context, rho1: object, rho2: object
) -> BreachReport:
    """Look for upward rho1-to-rho2 and downward rho2-to-rho1 breaches, exactly.

    Source: 002 Def A1, eq. (A1), Prop A1.

    >>> from liftlock.model.channel import Channel
    >>> from liftlock.model import Prior
    >>> report = find_breaches(Channel.identity("ab"), Prior.uniform("ab"), "0.5", "0.9")
    >>> report.possible
    True
    """
    low, high = _levels(rho1, rho2)
    table = lift_table(channel, context)
    upward = highest_posterior(table, low)
    mirrored = highest_posterior(table, 1 - high)
    upper = mirrored.value.upper
    assert upper is not None
    fallen = Enclosure(1 - upper, 1 - mirrored.value.lower)
    risen = mirrored.witness
    assert risen is not None
    # The property that falls is everything outside the one that rises.
    rest = tuple(s for s in table.secrets.labels if s not in (risen.secrets or ()))
    witness = Witness(secrets=rest, output=risen.output)
    return BreachReport(low, high, upward, Measurement("breach_down", fallen, "", None, witness))


def _levels(rho1: object, rho2: object) -> tuple[Fraction, Fraction]:
    low = exact_probability(rho1, name="rho1")
    high = exact_probability(rho2, name="rho2")
    if not 0 < low < high < 1:
        raise NumberError(
            "breach levels out of order", value=f"{rho1}, {rho2}", remedy="use 0 < rho1 < rho2 < 1"
        )
    return low, high


@dataclass(frozen=True, init=False)
class NoBreach(Notion):
    """The guarantee that no property of prior at most rho1 reaches a posterior above rho2.

    The mirror image (from at least rho2 to below rho1) is part of it.

    Source: 002 Def A1, Prop A1.
    """

    rho1: Fraction
    rho2: Fraction

    key = "breach"
    title = "breach"
    unit = ""
    parameters = ("rho1", "rho2")
    summary = "no property rises from rho1 to above rho2"

    def __init__(self, rho1: object, rho2: object) -> None:
        low, high = _levels(rho1, rho2)
        object.__setattr__(self, "rho1", low)
        object.__setattr__(self, "rho2", high)

    @staticmethod
    def measure(channel: AnyChannel, context: Context, rho1: object) -> Measurement:
        """Measure the highest posterior of any property whose prior is at most rho1.

        Choosing the property is a knapsack problem; it is solved exactly by branch and bound, with
        the fractional knapsack (largest lift first) as the bound.

        Source: 002 Def A1.

        >>> from liftlock.model.channel import Channel
        >>> from liftlock.model import Prior
        >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> measurement = NoBreach.measure(bit, Prior.from_counts({0: 9, 1: 1}), "0.1")
        >>> measurement.value.lower, measurement.witness.secrets
        (Fraction(1, 4), (1,))
        """
        return highest_posterior(lift_table(channel, context), exact_probability(rho1, name="rho1"))

    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Compare the extreme posteriors with the levels, exactly."""
        report = find_breaches(channel, context, self.rho1, self.rho2)
        up, down = report.upward, report.downward
        low, high = Enclosure.of(self.rho1), Enclosure.of(self.rho2)
        assert up.value.upper is not None
        rises, falls = up.value.upper <= self.rho2, down.value.lower >= self.rho1
        return [
            Claim("highest posterior", up.value, "<=", high, rises, up.witness),
            Claim("lowest posterior", down.value, ">=", low, falls, down.witness),
        ], {}

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the smallest rho2 that the channel satisfies at this rho1, to ten decimals."""
        table = lift_table(channel, context)
        reached = highest_posterior(table, self.rho1).value.upper
        assert reached is not None

        def mirrored(tick: int) -> bool:
            fallen = highest_posterior(table, 1 - Fraction(tick, _TICKS)).value.upper
            return fallen is not None and fallen <= 1 - self.rho1

        low = max(math.ceil(reached * _TICKS), math.floor(self.rho1 * _TICKS) + 1)
        high = _TICKS
        # The higher rho2, the smaller the sets whose belief must not fall: look for the turn.
        if low < high and mirrored(low):
            high = low
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if mirrored(middle) else (middle, high)
        if high >= _TICKS:
            return "no rho2 below 1 at this rho1"
        return f"rho2={decimal_text(Fraction(high, _TICKS))} at this rho1"
