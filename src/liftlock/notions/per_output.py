"""Leakages that average a function of the lift over secrets and take the worst output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from liftlock.exact.enclosure import Enclosure, power
from liftlock.exact.integers import Floats, sum_of
from liftlock.notions.lift import LiftTable
from liftlock.notions.reading import Reading, Witness, exact_maximum, screening_error


def worst_output(
    notion: str,
    table: LiftTable,
    estimate: Callable[[Floats], Floats],
    exactly: Callable[[list[Fraction]], Enclosure],
    *,
    inverse: bool = False,
    amplify: float = 1.0,
) -> Reading:
    """Take the maximum over outputs of an average over secrets.

    `estimate` maps the matrix of lifts to floats to be averaged with P(s); `exactly` maps the lifts
    at one output to the exact (or enclosed) value. `inverse` says that a lift of 0 makes it
    infinite. `amplify` is by how much the function multiplies the relative error of a lift.
    """
    if inverse:
        smallest = table.smallest()
        if smallest.lift == 0:
            return Reading(notion, Enclosure.infinity(), "", None, smallest.witness)
    masses = np.array([float(m) for m in table.secret_masses])
    with np.errstate(all="ignore"):
        values = masses @ estimate(table.floats())
    if table.faithful and np.isfinite(values).all():
        error = (table.error + screening_error(len(masses))) * 64 * amplify
        error *= 1 + float(np.abs(values).max())
    else:  # beyond the range of floats: look at every output exactly
        values, error = np.zeros(len(values)), math.inf
    value, y = exact_maximum(values, error, lambda y: exactly(table.column(y)))
    return Reading(notion, value, "", None, Witness(output=table.outputs.labels[y]))


def power_sum(
    values: Sequence[Fraction], weights: Sequence[Fraction], order: Fraction, bits: int
) -> Enclosure:
    """Enclose the sum of weight * value^order, with so many bits after the point."""
    gathered: dict[Fraction, Fraction] = {}
    for value, weight in zip(values, weights, strict=True):
        if value:
            gathered[value] = gathered.get(value, Fraction(0)) + weight
    total = Enclosure.of(0)
    for value, weight in gathered.items():
        total += power(Enclosure.of(value), order, bits).scaled(weight).rounded(bits)
    return total


def average(masses: tuple[Fraction, ...], values: list[Fraction]) -> Fraction:
    """Return the exact mean of values under P(s)."""
    return sum_of(m * v for m, v in zip(masses, values, strict=True))
