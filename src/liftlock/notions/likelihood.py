"""The likelihoods P(y | s) of a channel, for its inputs or for a secret behind them, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import (
    EXACT_FLOAT_BITS,
    Floats,
    WideMatrix,
    as_integers,
    as_wide_matrix,
    multiply,
)
from liftlock.model import Context, Joint
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.notions.measurement import screening_error

Indices: TypeAlias = npt.NDArray[np.intp]

SMALLEST = 1e-290
"""Floats below this are on the way to losing their precision (2.2e-308) or to vanishing."""


@dataclass(frozen=True)
class Likelihoods:
    """P(y | s) = numerators[s, y] / denominators[s]; `approximate` screens, never decides.

    `error` bounds the relative error of `approximate`, except near the end of the range of floats,
    where each entry is the nearest float (so that larger entries never come out smaller).
    """

    secrets: Alphabet
    outputs: Alphabet
    numerators: WideMatrix
    denominators: tuple[int, ...]
    approximate: Floats
    error: float

    @cached_property
    def faithful(self) -> npt.NDArray[np.bool_]:
        """For each output, whether `error` holds for every secret."""
        small = self.numerators.positive() & (self.approximate < SMALLEST)
        return np.asarray(~small.any(axis=0))

    def at(self, s: int, y: int) -> Fraction:
        """Return P(y | s) by indices."""
        return Fraction(self.numerators.item(s, y), self.denominators[s])

    def row(self, s: int) -> list[int]:
        """Return the numerators of one secret."""
        return self.numerators.row(s)

    def select(self, rows: Indices, columns: Indices) -> Likelihoods:
        """Keep some secrets and some outputs."""
        if len(rows) == len(self.secrets) and len(columns) == len(self.outputs):
            return self
        return Likelihoods(
            Alphabet.of(self.secrets.labels[int(s)] for s in rows),
            Alphabet.of(self.outputs.labels[int(y)] for y in columns),
            self.numerators.rows(rows).columns(columns),
            tuple(self.denominators[int(s)] for s in rows),
            self.approximate[np.ix_(rows, columns)],
            self.error,
        )

    def column_extremes(self, sign: int) -> Indices:
        """For each output, the secret of the largest (sign 1) or smallest (sign -1) likelihood.

        The first of equals is taken. Floats find the few candidates, integers decide.
        """
        numerators, denominators = self.numerators, self.denominators
        single = numerators.single
        if single is not None and len(set(denominators)) == 1:
            found: Indices = single.argmax(axis=0) if sign > 0 else single.argmin(axis=0)
            return found
        values = sign * self.approximate
        best = values.max(axis=0)
        near = values >= best - 4 * self.error * np.abs(best)
        rows: Indices = near.argmax(axis=0)
        for column in (int(i) for i in np.flatnonzero(near.sum(axis=0) > 1)):
            candidates = np.flatnonzero(near[:, column])
            winner = int(candidates[0])
            top = sign * numerators.item(winner, column)
            for row in candidates[1:]:
                value = sign * numerators.item(int(row), column)
                if value * denominators[winner] > top * denominators[row]:
                    winner, top = int(row), value
            rows[column] = winner
        return rows


def likelihoods(channel: Channel, context: Context | None = None) -> Likelihoods:
    """Return P(y | x) of the channel, or P(y | s) when the context is a joint.

    Every input is kept, also one of prior probability 0; secrets that never occur are dropped, as
    nothing is known about their data.
    """
    if isinstance(context, Joint):
        return _of_secrets(channel, context.reordered(channel.inputs))
    return Likelihoods(
        channel.inputs,
        channel.outputs,
        as_wide_matrix(channel.weights),
        channel.totals,
        channel.floats(),
        screening_error(1),
    )


def _of_secrets(channel: Channel, joint: Joint) -> Likelihoods:
    keep = np.array([s for s, row in enumerate(joint.counts) if any(row)], dtype=np.intp)
    counts = [joint.counts[s] for s in keep]
    factors = np.array(channel.row_factors, dtype=object)
    left = as_integers(np.array(counts, dtype=object) * factors[None, :])
    sums = [sum(row) for row in counts]
    numerators = multiply(left, channel.weights)
    denominators = tuple(total * channel.common_total for total in sums)
    conditional, rows = _shares(counts, sums), channel.floats()
    least = conditional[left > 0].min() * rows[channel.weights > 0].min()
    approximate = (
        conditional @ rows
        if least >= SMALLEST
        # Products that vanish would make a sum of many of them look smaller than a single one.
        else np.array(
            [
                [float(Fraction(n, total)) for n in numerators.row(s)]
                for s, total in enumerate(denominators)
            ]
        )
    )
    return Likelihoods(
        Alphabet.of(joint.secrets.labels[int(s)] for s in keep),
        channel.outputs,
        numerators,
        denominators,
        approximate,
        screening_error(len(channel.inputs)),
    )


def _shares(counts: list[tuple[int, ...]], sums: list[int]) -> Floats:
    """Return each row divided by its sum, correctly rounded to within an ulp."""
    if max(sums).bit_length() <= EXACT_FLOAT_BITS:
        shares: Floats = (
            np.array(counts, dtype=np.float64) / np.array(sums, dtype=np.float64)[:, None]
        )
        return shares
    rows = zip(counts, sums, strict=True)
    return np.array([[float(Fraction(c, total)) for c in row] for row, total in rows])
