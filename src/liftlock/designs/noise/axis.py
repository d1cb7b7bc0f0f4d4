"""The axis of a numeric mechanism: where inputs lie, and the bins that its output is cut into.

Noise on a continuous line is drawn, clamped to the domain and discretised into bins. Clamping and
cutting come after the noise, so they can only hide; the bin's middle is released. No float ever
leaves the mechanism, and the finite channel can be proved exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from liftlock._solver.problem import refuse_zero_mass
from liftlock.designs.base import Draft
from liftlock.errors import InputError, NotDefined
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model import Context, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.grid import (
    DEFAULT_BINS,
    GridPrior,
    check_bins,
    number_labels,
    read_domain,
)
from liftlock.utility.mean import points_of

_FEWEST = 64
RARE = 2.0**-20
"""Outputs that no input gives with this probability are joined with their neighbours."""


@dataclass(frozen=True)
class Axis:
    """Numbers that inputs stand for, their masses, and the output bins of a domain.

    >>> axis = Axis.of(Prior.from_counts({0: 1, 1: 1}), domain=(0, 2), outputs=4)
    >>> axis.edges.tolist(), axis.values.tolist()
    ([0.0, 0.5, 1.0, 1.5, 2.0], [0.25, 0.75, 1.25, 1.75])
    """

    inputs: Alphabet
    points: Floats
    masses: Floats
    edges: Floats
    variance_within_bins: float = 0.0
    """The squared error that cutting the inputs into bins has cost already."""

    @classmethod
    def of(cls, context: Context, *, domain: Any = None, outputs: int | None = None) -> Axis:
        """Read the numbers of a prior; outputs are bins of equal width on the domain.

        There are as many as a grid has bins, but at least 64 and no more than 512 unless others
        are asked for: fewer would coarsen the noise, which blurs what finer ones would show. The
        domain of a grid is its own; that of other priors reaches from the least number to the
        largest, unless another is given. It must hold all numbers, and each must be able to occur.
        """
        if not isinstance(context, Prior):
            raise NotDefined("adding noise", context.describe(), "it needs a prior of numbers")
        points = points_of(context.inputs, "added noise")
        refuse_zero_mass(context)
        if isinstance(context, GridPrior):
            ends = (context.grid.lower, context.grid.upper)
            few = min(max(len(context.grid), _FEWEST), DEFAULT_BINS)
            bins = few if outputs is None else check_bins(outputs)
        else:
            ends = (float(points.min()), float(points.max()))
            bins = DEFAULT_BINS if outputs is None else check_bins(outputs)
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
        edges = np.linspace(*ends, bins + 1)
        if not (np.diff(0.5 * (edges[:-1] + edges[1:])) > 0).all():
            raise InputError(
                f"{bins} outputs are too close for floats",
                value=f"{ends[0]!r} to {ends[1]!r}",
                remedy="use fewer outputs, or subtract a common offset from all numbers",
            )
        return cls(context.inputs, points, context.floats(), edges, context.variance_within_bins)

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
    def input_range(self) -> float:
        """The distance between the outermost inputs, x_max - x_min."""
        return float(np.ptp(self.points))

    @cached_property
    def values(self) -> Floats:
        """The number that each output bin stands for: its middle."""
        middles: Floats = 0.5 * (self.edges[:-1] + self.edges[1:])
        return middles

    @cached_property
    def outputs(self) -> Alphabet:
        """The output bins, labelled by the numbers that are released."""
        return Alphabet.of(*number_labels(self.values.tolist(), self.width / len(self.values)))

    def clamp(self, below: Callable[[Floats], Floats]) -> Floats:
        """Return the probability of each bin, those at the ends taking what lies beyond them.

        `below` gets minus the distance from every input (rows) to every inner edge (columns), and
        returns the probability that the noise, symmetric about 0, is less. So small probabilities
        keep their digits on either side.
        """
        apart = self.edges[None, 1:-1] - self.points[:, None]
        ends = np.zeros((len(self.points), 1))
        tails = np.concatenate([ends, below(-np.abs(apart)), ends], axis=1)
        right = np.concatenate([ends > 0, apart > 0, ends == 0], axis=1)
        low, high = tails[:, :-1], tails[:, 1:]
        one_side = np.abs(high - low)
        bins: Floats = np.where(right[:, 1:] & ~right[:, :-1], 1.0 - low - high, one_side)
        return bins

    def bins_text(self, how: str = "clamped to") -> str:
        """Say what becomes of a number and its noise."""
        ends = f"[{self.lower:g}, {self.upper:g}]"
        return f"{how} {ends}, {len(self.values)} bins"

    def error_text(self, matrix: Floats) -> str:
        """Say how far a released number is from the true one, if it is taken as it is."""
        squared, absolute = (self.face_value_error(matrix, power) for power in (2, 1))
        return (
            "taken as it is, a released number has mean squared error "
            f"{squared + self.variance_within_bins:.6g} and mean absolute error {absolute:.6g}"
        )

    def coarsen(self, bins: int) -> Axis:
        """Return the same axis with fewer output bins."""
        return replace(self, edges=np.linspace(self.lower, self.upper, bins + 1))

    def draft(self, matrix: Floats, *, remarks: Sequence[str], faithful: bool = False) -> Draft:
        """Return the draft of a matrix of bins, rare ones joined with their neighbours."""
        joined, kept = merge_rare_bins(matrix)
        outputs = self.outputs if len(kept) == len(self.values) else self.outputs.subset(kept)
        said = list(remarks)
        if len(kept) < len(self.values):
            rare = len(self.values) - len(kept)
            said.append(f"{rare} rare output bins are merged with others")
        return Draft.of(self.inputs, outputs, joined, remarks=said, faithful=faithful)

    def face_value_error(self, matrix: Floats, power: int = 2) -> float:
        """Return the mean of |Y - X|^power when outputs are taken as they are.

        >>> axis = Axis.of(Prior.from_counts({0: 1, 1: 1}), outputs=2)
        >>> axis.face_value_error(np.eye(2)), axis.face_value_error(np.eye(2), power=1)
        (0.0625, 0.25)
        """
        total = 0.0
        for point, mass, row in zip(self.points, self.masses, matrix, strict=True):
            total += float(mass * (dot(row, np.abs(self.values - point) ** power)))
        return total


def merge_rare_bins(matrix: Floats) -> tuple[Floats, list[int]]:
    """Join outputs that no input gives with a probability of 2^-20 with the nearest other one.

    Joining comes after the noise, so it can only hide. It keeps outputs so rare that rounding to
    integers would distort them out of a table. Returns the matrix and the outputs that are left.

    >>> matrix, kept = merge_rare_bins(
    ...     np.array([[0.5, 1e-9, 0.5 - 1e-9], [0.25, 1e-9, 0.75 - 1e-9]])
    ... )
    >>> matrix.shape, kept
    ((2, 2), [0, 2])
    """
    common = np.flatnonzero(matrix.max(axis=0) >= RARE)
    if len(common) == matrix.shape[1] or not len(common):
        return matrix, list(range(matrix.shape[1]))
    # The bins between two common ones are shared out evenly.
    starts = np.concatenate([[0], (common[:-1] + common[1:]) // 2 + 1])
    joined: Floats = np.add.reduceat(matrix, starts, axis=1)
    return joined, common.tolist()
