"""Posteriors when the secret is X itself: a box and a simplex.

The lift limits are bounds on v, so

    Pi = {v : L P <= v <= U P, sum v = 1}

and a vertex has all coordinates but one at an end. A linear function is least where the symbols of
least slope are raised to their high ends, until the mass is used up.

Source: 000 section IV; 001 Thm 4; 002 eq. (25) with S = X.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import PASS
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES

Places: TypeAlias = npt.NDArray[np.intp]


class Box:
    """{v : low <= v <= high, sum v = 1}, with the ends drawn in to what some v attains, or nearly.

    >>> box = Box(np.array([0.25, 0.75]), 0.5, 2.0)
    >>> box.low.round(9).tolist(), box.high.round(9).tolist()
    ([0.125, 0.5], [0.5, 0.875])
    """

    def __init__(self, masses: Floats, lower: float, upper: float) -> None:
        masses = np.asarray(masses, dtype=np.float64)
        low = masses * lower
        high = np.minimum(masses * upper, 1.0) if np.isfinite(upper) else np.ones_like(masses)
        hair = rounding(len(low))
        self.low: Floats = np.maximum(low, 1.0 - (high.sum() - high) - hair)
        self.high: Floats = np.minimum(high, 1.0 - (low.sum() - low) + hair)
        self.width: Floats = np.maximum(self.high - self.low, 0.0)
        self.free = 1.0 - float(self.low.sum())
        above = masses - self.low
        self.shares: Floats = np.divide(
            above, self.width, out=np.zeros_like(above), where=self.width > 0
        ).clip(0.0, 1.0)
        """How often each symbol has to be raised, on average, for the prior to come out."""

    def __len__(self) -> int:
        return len(self.low)

    @property
    def work(self) -> float:
        """Operations that a linear minimisation is counted as."""
        return PASS * float(len(self))

    def fill(self, slopes: Floats) -> Floats:
        """Return, for each row of slopes, the vertex at which slopes . v is least."""
        rows = np.atleast_2d(slopes)
        order = np.argsort(rows, axis=1, kind="stable")
        return self.fill_in(order)

    def minimise(self, slopes: Floats) -> tuple[Floats, Floats]:
        """Return the least slopes . v for each row of slopes, to rounding, and its vertices."""
        vertices = self.fill(slopes)
        values: Floats = (slopes * vertices).sum(axis=1)
        return values, vertices

    def start(self) -> Floats:
        """Return, for each x, a vertex that is as high as can be there, and else at random."""
        keys = np.random.default_rng(len(self)).random((len(self), len(self)))
        np.fill_diagonal(keys, -1.0)
        return self.fill_in(np.argsort(keys, axis=1, kind="stable"))

    def fill_in(self, order: Places) -> Floats:
        """Raise the symbols in the order that each row gives, until the mass is used up."""
        widths = self.width[order]
        before = np.cumsum(widths, axis=1) - widths
        taken = np.clip(self.free - before, 0.0, widths)
        vertices = np.tile(self.low, (len(order), 1))
        np.put_along_axis(vertices, order, self.low[order] + taken, axis=1)
        return self.absorb_rounding(vertices)

    def absorb_rounding(self, vertices: Floats) -> Floats:
        """Put the rounding error of each row into an entry that is strictly inside its ends."""
        short = 1.0 - vertices.sum(axis=1)
        room = np.minimum(vertices - self.low, self.high - vertices)
        place = np.argmax(room, axis=1)
        rows = np.arange(len(vertices))
        vertices[rows, place] += np.where(room[rows, place] > np.abs(short), short, 0.0)
        return vertices

    def vertices(self) -> Floats:
        """Return all vertices, each to rounding: a set of symbols is raised, and one in part.

        >>> Box(np.array([0.25, 0.75]), 0.5, 2.0).vertices().round(9).tolist()
        [[0.5, 0.5], [0.125, 0.875]]
        """
        symbols = len(self)
        raised = ((np.arange(1 << symbols)[:, None] >> np.arange(symbols)) & 1).astype(bool)
        used = np.where(raised, self.width, 0.0).sum(axis=1)
        hair = rounding(symbols)
        found = []
        for part in range(symbols):
            left = self.free - used
            fits = ~raised[:, part] & (left >= -hair) & (left <= self.width[part] + hair)
            rows = self.low + np.where(raised[fits], self.width, 0.0)
            rows[:, part] += np.clip(left[fits], 0.0, self.width[part])
            found.append(rows)
        every = np.vstack(found)
        _, places = np.unique(np.round(every / self.high, 11), axis=0, return_index=True)
        return self.absorb_rounding(every[np.sort(places)])

    def vertices_among(self, columns: Floats) -> Floats:
        """Return the rows of sum 1 that lie in the box with at most one entry between its ends."""
        slack = TOLERANCES.hair * np.maximum(self.width, self.high)
        inside = (columns > self.low + slack) & (columns < self.high - slack)
        # Relative to the symbol: its lift must be right however rare it is.
        most = TOLERANCES.hair * self.high
        out = (columns < self.low - most) | (columns > self.high + most)
        off = np.abs(columns.sum(axis=1) - 1.0) > TOLERANCES.hair
        chosen: Floats = columns[(inside.sum(axis=1) <= 1) & ~out.any(axis=1) & ~off]
        return chosen

    def random_orders(self, count: int, generator: np.random.Generator) -> Places:
        """Return random orders, one for each row."""
        return np.argsort(generator.random((count, len(self))), axis=1, kind="stable")
