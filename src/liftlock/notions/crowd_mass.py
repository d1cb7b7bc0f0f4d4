"""Crowd mass: how large a part of the population an output can point at.

An output points at the secrets it makes more likely (lift above 1). With lifts limited to
[L, U], an output that pushes every secret to one of the two ends raises a crowd of prior mass

    p* = (1 - L) / (U - L),     1 / (1 + e^epsilon) when L = 1/U,

and so an answer never singles out a smaller crowd than p* as far as the budget allows.
"""

from __future__ import annotations

from fractions import Fraction

from liftlock.channel import Channel
from liftlock.context import Context
from liftlock.exact.budget import Budget
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import sum_of
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.reading import Reading, Witness


def measure(channel: Channel, context: Context) -> Reading:
    """Measure the smallest crowd: min over y of P(s : lift(s, y) > 1), exactly.

    A channel that never changes any belief points at nobody; its crowd is everybody, mass 1.

    Source: math section 8.

    >>> from liftlock.prior import Prior
    >>> reading = measure(Channel.identity("ab"), Prior.from_counts({"a": 1, "b": 3}))
    >>> reading.value.lower, reading.witness.secrets
    (Fraction(1, 4), ('a',))
    """
    return of_table(lift_table(channel, context))


def of_table(table: LiftTable) -> Reading:
    """Measure it on a table of lifts."""
    best, witness = Fraction(1), None
    floats = table.floats()
    margin = 16 * table.error
    sure = floats > 1 + margin
    unsure = (floats >= 1 - margin) & ~sure
    for y, label in enumerate(table.outputs.labels):
        raised = [
            s
            for s in range(len(table.secrets))
            if sure[s, y] or (unsure[s, y] and table.lift_at(s, y) > 1)
        ]
        if not raised:
            continue
        mass = sum_of(table.secret_masses[s] for s in raised)
        if mass < best:
            best = mass
            names = tuple(table.secrets.labels[s] for s in raised)
            witness = Witness(secrets=names, output=label)
    return Reading("crowd_mass", Enclosure.of(best), "", None, witness)


def limit(*, lower: object, upper: object) -> Enclosure:
    """Enclose p* = (1 - e^-lower) / (e^upper - e^-lower) for lift budgets.

    Source: math section 8.

    >>> float(limit(lower="ln 3", upper="ln 3"))
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
