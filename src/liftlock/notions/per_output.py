"""Leakages that average a function of the lift over secrets and take the worst output."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats, sum_of
from liftlock.notions.lift import LiftTable
from liftlock.notions.reading import Reading, Witness, exact_maximum, screening_error


def worst_output(
    notion: str,
    table: LiftTable,
    estimate: Callable[[Floats], Floats],
    exactly: Callable[[list[Fraction]], Enclosure],
    amplify: float = 1.0,
) -> Reading:
    """Take the maximum over outputs of an average over secrets.

    `estimate` maps the matrix of lifts to floats to be averaged with P(s); `exactly` maps the lifts
    at one output to the exact (or enclosed) value. An infinite estimate is infinite. `amplify` is
    by how much the function multiplies the relative error of a lift.
    """
    masses = np.array([float(m) for m in table.secret_masses])
    with np.errstate(divide="ignore"):
        values = masses @ estimate(table.floats())
    labels = table.outputs.labels
    if np.isinf(values).any():
        where = int(np.flatnonzero(np.isinf(values))[0])
        secret = table.secrets.labels[int(table.bottom_secrets[where])]
        witness = Witness(secret=secret, output=labels[where])
        return Reading(notion, Enclosure.infinity(), "", None, witness)
    error = (table.error + screening_error(len(masses))) * 64 * amplify
    error *= 1 + float(np.abs(values).max())
    value, y = exact_maximum(values, error, lambda y: exactly(table.column(y)))
    return Reading(notion, value, "", None, Witness(output=labels[y]))


def average(masses: tuple[Fraction, ...], values: list[Fraction]) -> Fraction:
    """Return the exact mean of values under P(s)."""
    return sum_of(m * v for m, v in zip(masses, values, strict=True))
