"""The axis of a numeric mechanism: where inputs lie, and the cells that its output is cut into.

Noise on a continuous line is drawn, clamped to the domain and cut into cells. Clamping and cutting
come after the noise, so they can only hide; the cell's middle is released. No float ever leaves
the mechanism, and the finite channel can be proved exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.context import Context
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.line.grid import DEFAULT_CELLS, GridPrior, check_cells, number_labels, read_domain
from liftlock.prior import Prior
from liftlock.utility.mean import points_of


@dataclass(frozen=True)
class Axis:
    """Numbers that inputs stand for, their masses, and the output cells of a domain.

    >>> axis = Axis.of(Prior.from_counts({0: 1, 1: 1}), domain=(0, 2), outputs=4)
    >>> axis.edges.tolist(), axis.values.tolist()
    ([0.0, 0.5, 1.0, 1.5, 2.0], [0.25, 0.75, 1.25, 1.75])
    """

    inputs: Alphabet
    points: Floats
    masses: Floats
    edges: Floats

    @classmethod
    def of(cls, context: Context, *, domain: Any = None, outputs: int | None = None) -> Axis:
        """Read the numbers of a prior; outputs are cells of equal width on the domain.

        There are as many as a grid has cells, but no more than 512 unless more are asked for: noise
        blurs what finer ones would show. The domain of a grid is its own; that of other priors reaches from the least number to the
        largest, unless another is given. It must hold all numbers.
        """
        if not isinstance(context, Prior):
            raise NotDefined("adding noise", context.describe(), "it needs a prior of numbers")
        points = points_of(context.inputs, "added noise")
        if isinstance(context, GridPrior):
            ends = (context.grid.lower, context.grid.upper)
            few = min(len(context.grid), DEFAULT_CELLS)
            cells = few if outputs is None else check_cells(outputs)
        else:
            ends = (float(points.min()), float(points.max()))
            cells = DEFAULT_CELLS if outputs is None else check_cells(outputs)
        if domain is not None:
            ends = read_domain(domain)
        if not ends[0] < ends[1]:
            raise InputError(
                "all numbers are the same", value=ends[0], remedy="there is nothing to protect"
            )
        if points.min() < ends[0] or points.max() > ends[1]:
            raise InputError(
                "a number lies outside the domain",
                value=f"{ends[0]:g} to {ends[1]:g}",
                remedy=f"the numbers go from {points.min():g} to {points.max():g}",
            )
        return cls(context.inputs, points, context.floats(), np.linspace(*ends, cells + 1))

    @property
    def lower(self) -> float:
        """The lower end of the domain."""
        return float(self.edges[0])

    @property
    def upper(self) -> float:
        """The upper end of the domain."""
        return float(self.edges[-1])

    @property
    def width(self) -> float:
        """The width u - l of the domain."""
        return self.upper - self.lower

    @property
    def spread(self) -> float:
        """The distance between the outermost inputs, x_max - x_min."""
        return float(np.ptp(self.points))

    @cached_property
    def values(self) -> Floats:
        """The number that each output cell stands for: its middle."""
        middles: Floats = 0.5 * (self.edges[:-1] + self.edges[1:])
        return middles

    @cached_property
    def outputs(self) -> Alphabet:
        """The output cells, labelled by the numbers that are released."""
        return Alphabet.of(*number_labels(self.values.tolist(), self.width / len(self.values)))

    def clamped(self, below: Callable[[Floats], Floats]) -> Floats:
        """Return the probability of each cell, those at the ends taking what lies beyond them.

        `below` gets the distance from every input (rows) to every inner edge (columns), and
        returns the probability that the noise is less.
        """
        inner = below(self.edges[None, 1:-1] - self.points[:, None])
        rows = len(self.points)
        padded = np.concatenate([np.zeros((rows, 1)), inner, np.ones((rows, 1))], axis=1)
        cells: Floats = np.clip(np.diff(padded, axis=1), 0.0, None)
        return cells
