"""All outputs of several releases, one by one, in fractions: nothing of the accountants is used."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

Row = list[Fraction]
Rows = list[Row]
Ratio = Fraction | None


def likelihoods(channels: Sequence[Rows]) -> Iterator[Row]:
    """Return P(y_1, ..., y_n | x) for every x, for every tuple of outputs."""
    for outputs in itertools.product(*(range(len(rows[0])) for rows in channels)):
        yield [
            math.prod((rows[x][y] for rows, y in zip(channels, outputs, strict=True)), start=ONE)
            for x in range(len(channels[0]))
        ]


ONE = Fraction(1)


def secret_likelihoods(channels: Sequence[Rows], joint: Rows) -> Iterator[Row]:
    """Return P(y_1, ..., y_n | s): independent given the data, not given the secret."""
    for given in likelihoods(channels):
        yield [
            sum((p * q for p, q in zip(row, given, strict=True)), Fraction(0)) / sum(row)
            for row in joint
            if any(row)
        ]


def extreme_lifts(columns: Iterator[Row], masses: Sequence[Row]) -> tuple[Ratio, Ratio]:
    """Return 1 / min-lift and the max-lift over all priors; None is infinite.

    Rows of zero mass under every prior are left out.
    """
    used = [x for x in range(len(masses[0])) if any(prior[x] for prior in masses)]
    lower: Ratio = ONE
    upper: Ratio = ONE
    for column in columns:
        for prior in masses:
            mean = sum((p * q for p, q in zip(prior, column, strict=True)), Fraction(0))
            for x in used:
                if mean:
                    upper = None if upper is None else max(upper, column[x] / mean)
                    if column[x]:
                        lower = None if lower is None else max(lower, mean / column[x])
                    else:
                        lower = None
                elif column[x]:
                    upper = None
    return lower, upper


def ratio(columns: Iterator[Row]) -> Ratio:
    """Return the largest ratio of two likelihoods."""
    best: Ratio = ONE
    for column in columns:
        if max(column) == 0:
            continue
        if min(column) == 0:
            return None
        best = max(best or ONE, max(column) / min(column))
    return best
