"""Crowd mass: how large a part of the population an output can point at.

An output points at the secrets it makes more likely (lift above 1); the crowd mass is the prior
mass of the smallest set so pointed at. A mechanism that pushes every lift to one of two ends L
and U (an extremal one) always points at a crowd of mass

    p* = (1 - L) / (U - L),     1 / (1 + e^epsilon) when L = 1/U;

other mechanisms may point at a smaller crowd, but then less sharply. The measure says which it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.numbers import exact_probability
from liftlock.model import Context
from liftlock.model.structured import AnyChannel
from liftlock.notions.base import Decided, TableMeasure
from liftlock.notions.certificate import Claim
from liftlock.notions.lift import LiftTable
from liftlock.notions.measurement import Measurement, Witness


def crowd_mass_limit(*, lower: object, upper: object) -> Enclosure:
    """Enclose p* = (1 - e^-lower) / (e^upper - e^-lower) for lift budgets.

    Source: math the crowd an output points at.

    >>> float(crowd_mass_limit(lower="ln 3", upper="ln 3"))
    0.25
    """
    down, up = Budget.of(lower).exp(), Budget.of(upper).exp()
    assert down.upper is not None
    assert up.upper is not None
    if down.upper == 1 and up.upper == 1:
        return Enclosure.of(1)

    # (1 - 1/D) / (U - 1/D) = (D - 1) / (U D - 1): grows with D, falls with U.
    return Enclosure(
        (down.lower - 1) / (up.upper * down.lower - 1),
        (down.upper - 1) / (up.lower * down.upper - 1),
    )


@dataclass(frozen=True, init=False)
class CrowdMass(TableMeasure):
    """The guarantee that no output points at a crowd smaller than a share of the population.

    Source: math the crowd an output points at.
    """

    at_least: Fraction

    key = "crowd_mass"
    title = "crowd mass"
    unit = ""
    parameters = ("at_least",)
    summary = "smallest crowd an output points at"

    def __init__(self, at_least: object) -> None:
        object.__setattr__(self, "at_least", exact_probability(at_least, name="crowd mass"))

    @classmethod
    def of_table(cls, table: LiftTable, bits: int = BITS) -> Measurement:  # noqa: ARG003 - exact
        """Measure the smallest crowd: min over y of P(s : lift(s, y) > 1), exactly.

        A channel that never changes any belief points at nobody; its crowd is everybody, mass 1.

        Source: math the crowd an output points at.

        >>> from liftlock.model.channel import Channel
        >>> from liftlock.model import Prior
        >>> measurement = CrowdMass.measure(
        ...     Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 3})
        ... )
        >>> measurement.value.lower, measurement.witness.secrets
        (Fraction(1, 4), ('a',))
        """
        best, witness = Fraction(1), None
        floats = table.floats()
        margin = 16 * table.error
        sure = floats > 1 + margin
        unsure = (floats >= 1 - margin) & ~sure
        for y, label in enumerate(table.outputs.labels):
            raised = np.flatnonzero(sure[:, y]).tolist()
            raised += [s for s in np.flatnonzero(unsure[:, y]).tolist() if table.lift_at(s, y) > 1]
            if not raised:
                continue
            raised.sort()
            mass = Fraction(sum(table.counts[s] for s in raised), table.count_total)
            if mass < best:
                best = mass
                names = tuple(table.secrets.labels[s] for s in raised)
                witness = Witness(secrets=names, output=label)
        return Measurement(cls.key, Enclosure.of(best), "", None, witness)

    def decide(self, channel: AnyChannel, context: Context) -> Decided:
        """Compare the smallest crowd with the share, exactly."""
        found, share = self.measure(channel, context), Enclosure.of(self.at_least)
        holds = found.value.lower >= self.at_least
        return [Claim(self.key, found.value, ">=", share, holds, found.witness)], {}

    def smallest_text(self, channel: AnyChannel, context: Context) -> str:
        """Say the largest share that the channel satisfies."""
        return f"crowd_mass={self.measure(channel, context).value.lower}"
