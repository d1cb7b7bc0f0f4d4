"""Expected distortion: what it costs to use one symbol in place of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from liftlock._runtime.memory import require_memory
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.exact.reproducible import dot
from liftlock.model.alphabet import Alphabet
from liftlock.utility.base import Linear, Utility
from liftlock.utility.mean import points_of

LOSSES = ("hamming", "absolute", "squared", "distance")


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
        """Make a distortion on the input's own alphabet.

        The distance is Euclidean. It takes points of the plane, symbols such as (3, 5), and so does
        its square; of numbers it is the absolute difference.

        Source: 000 section IV-A.

        >>> town = Alphabet.of([(0, 0), (3, 4)])
        >>> Distortion.from_name("distance", town).loss.tolist()
        [[0.0, 5.0], [5.0, 0.0]]
        """
        require_memory(
            3.0 * 8.0 * len(inputs) ** 2,
            f"a loss of {len(inputs):,} values by as many",
            remedy="merge rare values, use fewer bins for numbers, or ask for another utility",
        )
        if loss == "hamming":
            matrix = 1.0 - np.eye(len(inputs))
        elif loss in LOSSES:
            places = None if loss == "absolute" else places_of(inputs)
            if places is not None:
                matrix = sum((each[:, None] - each) ** 2 for each in places.T)
                matrix = np.sqrt(matrix) if loss == "distance" else matrix
            elif loss == "distance":
                return cls.from_name("absolute", inputs)
            else:
                points = points_of(inputs, f"{loss} distortion")
                matrix = np.abs(points[:, None] - points)
                matrix = matrix**2 if loss == "squared" else matrix
        else:
            raise InputError("unknown loss", value=loss, remedy=f"use one of {', '.join(LOSSES)}")
        title = "expected distance" if loss == "distance" else f"expected {loss} distortion"
        return cls(matrix, inputs, name=loss, title=title)

    @property
    def numeric(self) -> bool:
        """Whether it sees the numbers of symbols only."""
        return self.name in ("absolute", "squared") and places_of(self.reproductions) is None

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


def places_of(inputs: Alphabet) -> Floats | None:
    """Return the coordinates (n, d) of symbols that are points, tuples of d numbers; else None.

    >>> places_of(Alphabet.of([(0, "0.5"), (1, 2)])).tolist()
    [[0.0, 0.5], [1.0, 2.0]]
    """
    if not all(isinstance(label, tuple) for label in inputs.labels):
        return None
    try:
        found = [[float(exact(part)) for part in cast("tuple[Any]", x)] for x in inputs.labels]
    except InputError:
        return None
    return np.array(found) if len({len(point) for point in found}) == 1 else None
