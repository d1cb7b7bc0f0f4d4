"""Linear equations with one solution on every machine: elimination without LAPACK.

Columns are eliminated in blocks: inside a block elementwise, beyond it by products that are the
same everywhere (`reproducible.dot`). Pivots are the largest of their column, the first of equals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot

BLOCK = 48
"""Columns that are eliminated at a time."""


@dataclass(frozen=True)
class LUFactors:
    """matrix[order] = L U, with L (its diagonal is 1) below the diagonal of `both` and U above it.

    >>> factors = LUFactors.of(np.array([[0.0, 2.0], [4.0, 0.0]]))
    >>> factors.solve(np.array([2.0, 8.0])).tolist()
    [2.0, 1.0]
    """

    both: Floats
    order: Any
    width: int
    """How far from the diagonal the matrix has entries; those of U are twice as far at most."""

    @classmethod
    def of(cls, matrix: Floats, width: int | None = None) -> LUFactors:
        """Eliminate a matrix with at least as many rows as columns; singular gives infinities."""
        both = np.array(matrix, dtype=np.float64)
        rows, columns = both.shape
        reach = rows if width is None else width
        order = np.arange(rows)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for begin in range(0, columns, BLOCK):
                end = min(begin + BLOCK, columns)
                # Nothing is below, or to the right of, the band.
                low, far = min(end + reach, rows), min(end + 2 * reach, columns)
                _eliminate_block(both, order, begin, end, low)
                if far > end:
                    _eliminate_beside(both, begin, end, far)
                    step = dot(both[end:low, begin:end], both[begin:end, end:far])
                    both[end:low, end:far] -= step
        return cls(both, order, reach)

    def solve(self, right: Floats) -> Floats:
        """Solve for one right-hand side, or for one in each column; the matrix is square."""
        found: Floats = np.array(right, dtype=np.float64)[self.order]
        size = len(self.both)
        both = self.both if found.ndim == 1 else self.both[:, :, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # Rows were exchanged after they were eliminated: multipliers may be anywhere below.
            for begin in range(0, size, BLOCK):
                end = min(begin + BLOCK, size)
                for k in range(begin, end - 1):
                    found[k + 1 : end] -= both[k + 1 : end, k] * found[k]
                found[end:] -= dot(self.both[end:, begin:end], found[begin:end])
            for end in range(size, 0, -BLOCK):
                begin = max(end - BLOCK, 0)
                for k in range(end - 1, begin - 1, -1):
                    found[k] /= self.both[k, k]
                    found[begin:k] -= both[begin:k, k] * found[k]
                first = max(begin - 2 * self.width, 0)
                found[first:begin] -= dot(self.both[first:begin, begin:end], found[begin:end])
        return found

    def left_null_space(self) -> Floats:
        """Return rows d with d . matrix = 0, as many as the matrix has rows more than columns."""
        rows, columns = self.both.shape
        share = self.both[columns:, :columns].copy()
        # share L = the lower rows of L, from the last column to the first.
        for end in range(columns, 0, -BLOCK):
            begin = max(end - BLOCK, 0)
            for k in range(end - 1, begin - 1, -1):
                share[:, begin:k] -= share[:, k, None] * self.both[k, begin:k]
            if begin:
                share[:, :begin] -= dot(share[:, begin:end], self.both[begin:end, :begin])
        found = np.zeros((rows - columns, rows))
        found[:, self.order[:columns]] = -share
        found[np.arange(rows - columns), self.order[columns:]] = 1.0
        return found


def _eliminate_block(both: Floats, order: Any, begin: int, end: int, low: int) -> None:
    """Eliminate the columns from `begin` to `end`, of the rows above `low`."""
    for k in range(begin, min(end, len(both))):
        pivot = k + int(np.argmax(np.abs(both[k:low, k])))
        if pivot != k:
            both[[k, pivot]] = both[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
        both[k + 1 : low, k] /= both[k, k]
        both[k + 1 : low, k + 1 : end] -= both[k + 1 : low, k, None] * both[k, k + 1 : end]


def _eliminate_beside(both: Floats, begin: int, end: int, far: int) -> None:
    """Eliminate the columns beside a block from the rows of the block."""
    for k in range(begin, end - 1):
        both[k + 1 : end, end:far] -= both[k + 1 : end, k, None] * both[k, end:far]
