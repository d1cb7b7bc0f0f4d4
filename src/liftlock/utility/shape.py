"""The shape of a cost: what a solver may use of it beyond its being concave.

Symbols may be exchanged in a `symmetric` one, and those of probability 0 left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.exact.integers import Floats


class Kind(IntEnum):
    """The function of one probability that a separable cost adds up."""

    ENTROPY = 0
    """h(v) = -v ln v."""
    SQUARE = 1
    """h(v) = -v^2, with the constant 1."""


@dataclass(frozen=True)
class Separable:
    """c(v) = constant + sum_x h(v_x)."""

    kind: Kind
    symmetric: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Variance:
    """c(v) = sum_x t_x^2 v_x - (sum_x t_x v_x)^2, the variance of numbers t."""

    points: Floats
    symmetric: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class Linear:
    """c(v) = min_z sum_x v_x d(x, z): the least of linear functions, one for each reproduction z.

    >>> Linear().matrix(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    losses: Floats | None = None
    """d(x, z), rows inputs; None is d(x, z) = 1[x != z] for any alphabet."""
    reproductions: Alphabet | None = None
    """The names of the columns; None are the inputs."""

    @property
    def symmetric(self) -> bool:
        """Whether symbols may be exchanged, and those of probability 0 left out."""
        return self.losses is None

    def matrix(self, symbols: int) -> Floats:
        """Return d(x, z) for a number of symbols."""
        return 1.0 - np.eye(symbols) if self.losses is None else self.losses

    def names(self, inputs: Alphabet) -> Alphabet:
        """Return the names of the reproductions."""
        return inputs if self.reproductions is None else self.reproductions


@dataclass(frozen=True)
class Concave:
    """Any concave cost: nothing else is known of it."""

    symmetric: ClassVar[bool] = False


Shape = Separable | Variance | Linear | Concave
