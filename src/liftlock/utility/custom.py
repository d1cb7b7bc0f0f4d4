"""A user's own utility: any concave function of the posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.utility.base import Utility

_STEP = 1e-6


@dataclass(frozen=True)
class CustomUtility(Utility):
    """The mean of a concave cost c(v) that the user wrote, of one posterior v at a time.

    The optimum is only an optimum if c is concave; random midpoints are tested when it is made.

    >>> gini = CustomUtility(lambda v: 1 - (v**2).sum(), symbols=3)
    >>> round(float(gini.costs(np.array([[0.5, 0.5, 0.0]]))[0]), 12)
    0.5
    >>> CustomUtility(lambda v: (v**2).sum(), symbols=3)
    Traceback (most recent call last):
    liftlock.errors.InputError: the cost is not concave at the midpoint of ...
    """

    function: Callable[[Floats], float]
    symbols: int
    name: str = "own"
    title: str = "expected cost"

    def __post_init__(self) -> None:
        generator = np.random.default_rng(0)
        pairs = generator.dirichlet(np.full(self.symbols, 0.5), size=(64, 2))
        for left, right in pairs:
            ends, middle = self.costs(np.array([left, right])), self.costs((left + right)[None] / 2)
            if not np.isfinite(ends).all() or not np.isfinite(middle).all():
                raise InputError(
                    "the cost is not a finite number", value=left.tolist(), remedy="correct it"
                )
            if middle[0] < ends.mean() - 1e-9 * (1 + np.abs(ends).max()):
                raise InputError(
                    "the cost is not concave at the midpoint of two posteriors",
                    value=[left.round(3).tolist(), right.round(3).tolist()],
                    remedy="give a concave function: more information must never cost more",
                )

    def restrict(self, places: Sequence[int]) -> CustomUtility:
        """Give the function posteriors of all its symbols, with 0 at those that never occur."""
        kept, symbols, function = np.array(places), self.symbols, self.function

        def wide(posterior: Floats) -> float:
            whole = np.zeros(symbols)
            whole[kept] = posterior
            return function(whole)

        return CustomUtility(wide, len(kept), self.name, self.title)

    def costs(self, posteriors: Floats) -> Floats:
        """Call the function on each row."""
        rows = np.atleast_2d(posteriors)
        return np.array([float(self.function(row)) for row in rows])

    def slopes(self, posteriors: Floats) -> Floats:
        """Return one-sided differences along each coordinate."""
        rows = np.atleast_2d(posteriors)
        slopes = np.empty_like(rows, dtype=np.float64)
        for k, row in enumerate(rows):
            here = float(self.function(row))
            for x in range(rows.shape[1]):
                moved = row.copy()
                moved[x] += _STEP
                slopes[k, x] = (float(self.function(moved)) - here) / _STEP
        return slopes
