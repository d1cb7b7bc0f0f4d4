"""Sums for one question, user by user: posterior means and variances, weighted, without rounding.

A report of user i adds a_i E[f(X_i) | report] + b_i to the answer and a_i^2 Var[f(X_i) | report] to
its squared error. Each of these is one float that depends on the user alone; their sums are exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock.errors import FileError, InputError
from liftlock.exact.accumulation import added, column_sums, exact_sum
from liftlock.exact.encoding import fraction_text
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact


@dataclass(frozen=True)
class Asked:
    """The exact sums of one question: `columns` has the numbers f(x) of each answer.

    For a histogram `columns` is None, and there is an answer for each symbol.

    Source: 001 Prop. 2, eq. (14).
    """

    columns: tuple[tuple[float, ...], ...] | None
    sums: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    weight: Fraction
    offset: Fraction
    weighted: bool

    @classmethod
    def of(
        cls,
        columns: tuple[tuple[float, ...], ...] | None,
        means: Floats,
        variances: Floats,
        weights: Floats | None,
        offsets: Floats | None,
    ) -> Asked:
        """Add up means and variances, a row for each user and a column for each answer."""
        with np.errstate(over="ignore", invalid="ignore"):
            if weights is not None:
                means = means * weights[:, None]
                variances = variances * np.square(weights)[:, None]
        if not (np.isfinite(means).all() and np.isfinite(variances).all()):
            raise InputError(
                "numbers too large to be weighted and squared",
                remedy="measure in another unit; nothing was counted",
            )
        return cls(
            columns,
            column_sums(means),
            column_sums(variances),
            Fraction(len(means)) if weights is None else exact_sum(weights),
            Fraction(0) if offsets is None else exact_sum(offsets),
            weights is not None or offsets is not None,
        )

    def __add__(self, other: Asked) -> Asked:
        if other.columns != self.columns or other.weighted != self.weighted:
            raise InputError(
                "aggregates for different questions",
                remedy="aggregate all reports with the same question, weighted or not; nothing was "
                "added",
            )
        return Asked(
            self.columns,
            added(self.sums, other.sums),
            added(self.variances, other.variances),
            self.weight + other.weight,
            self.offset + other.offset,
            self.weighted,
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "columns": None if self.columns is None else [list(row) for row in self.columns],
            "sums": [fraction_text(value) for value in self.sums],
            "variances": [fraction_text(value) for value in self.variances],
            "weight": fraction_text(self.weight),
            "offset": fraction_text(self.offset),
            "weighted": self.weighted,
        }

    @classmethod
    def from_data(cls, data: Any, symbols: int) -> Asked:
        """Read the JSON form."""
        told = data["columns"]
        columns = None
        if told is not None:
            columns = tuple(tuple(float(value) for value in column) for column in told)
        sums = tuple(_read(value, "sums") for value in data["sums"])
        variances = tuple(_read(value, "variances") for value in data["variances"])
        weighted = data["weighted"]
        if (
            not len(sums) == len(variances) == (symbols if columns is None else len(columns))
            or any(len(column) != symbols for column in columns or ())
            or not all(math.isfinite(value) for column in columns or () for value in column)
            or min(variances, default=Fraction(0)) < 0
            or not isinstance(weighted, bool)
        ):
            raise FileError("sums that cannot be", remedy="aggregate the reports again")
        weight, offset = _read(data["weight"], "weight"), _read(data["offset"], "offset")
        return cls(columns, sums, variances, weight, offset, weighted)


def _read(value: Any, name: str) -> Fraction:
    return exact(value, name=name)
