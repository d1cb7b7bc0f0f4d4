"""Expected distortion: what it costs to use one symbol in place of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liftlock._runtime.memory import require_memory
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model.alphabet import Alphabet
from liftlock.utility.base import Linear, Utility
from liftlock.utility.mean import points_of

LOSSES = ("hamming", "absolute", "squared")


@dataclass(frozen=True, eq=False)
class Distortion(Utility):
    """E d(X, Z) where Z is the best reproduction given the output: c(v) = min_z sum_x v_x d(x, z).

    A mechanism whose outputs are reproductions attains it by taking the output at its word, once
    each output is the best reproduction of its posterior, as it is at the optimum.

    Source: 000 eq. (18); 001 Prop. 3.

    >>> far = Distortion.from_name("absolute", Alphabet.of([1, 2, 3]))
    >>> far.costs(np.array([[0.5, 0.25, 0.25]])).tolist()
    [0.75]
    """

    loss: Floats
    """d(x, z): rows inputs, columns reproductions."""
    reproductions: Alphabet
    name: str = "distortion"
    title: str = "expected distortion"

    def __post_init__(self) -> None:
        if self.loss.ndim != 2 or self.loss.shape[1] != len(self.reproductions):
            raise InputError(
                f"a loss of shape {self.loss.shape} for {len(self.reproductions)} reproductions",
                remedy="give one row for each input and one column for each reproduction",
            )
        if not np.isfinite(self.loss).all():
            raise InputError("a loss is not a finite number", remedy="correct the matrix")
        self.loss.setflags(write=False)

    @classmethod
    def of(cls, loss: Any, reproductions: Iterable[Any] | Alphabet) -> Distortion:
        """Make a distortion from any matrix, one row for each input."""
        labels = (
            reproductions if isinstance(reproductions, Alphabet) else Alphabet.of(reproductions)
        )
        return cls(np.array(loss, dtype=np.float64), labels)

    @classmethod
    def from_name(cls, loss: str, inputs: Alphabet) -> Distortion:
        """Make the Hamming, absolute or squared distortion on the input's own alphabet."""
        require_memory(
            3.0 * 8.0 * len(inputs) ** 2,
            f"a loss of {len(inputs):,} values by as many",
            remedy="merge rare values, use fewer bins for numbers, or ask for another utility",
        )
        if loss == "hamming":
            matrix = 1.0 - np.eye(len(inputs))
        elif loss in LOSSES:
            points = points_of(inputs, f"{loss} distortion")
            matrix = np.abs(points[:, None] - points[None, :])
            if loss == "squared":
                matrix = matrix**2
        else:
            raise InputError("unknown loss", value=loss, remedy=f"use one of {', '.join(LOSSES)}")
        return cls(matrix, inputs, name=loss, title=f"expected {loss} distortion")

    @property
    def numeric(self) -> bool:
        """Whether it sees the numbers of symbols only."""
        return self.name in ("absolute", "squared")

    @property
    def shape(self) -> Linear:
        """The least of the mean losses."""
        return Linear(self.loss, self.reproductions)

    def restrict(self, places: Sequence[int]) -> Distortion:
        """Keep the rows of the inputs at some places; reproductions stay."""
        return replace(self, loss=self.loss[list(places)])

    def costs(self, posteriors: Floats) -> Floats:
        """Return the least expected loss of each row."""
        symbols = np.shape(posteriors)[-1]
        if symbols != len(self.loss):
            raise InputError(
                f"posteriors of {symbols} symbols, losses for {len(self.loss)}",
                remedy="give the loss one row for each input",
            )
        total: Floats = np.min(dot(posteriors, self.loss), axis=-1)
        return total

    def slopes(self, posteriors: Floats) -> Floats:
        """Return the losses of the best reproduction."""
        best = np.argmin(dot(posteriors, self.loss), axis=-1)
        slopes: Floats = self.loss.T[best]
        return slopes
