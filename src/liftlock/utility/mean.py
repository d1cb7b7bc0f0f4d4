"""Mean squared error of a numeric X: how well its value can be recovered from the output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.exact.reproducible import dot
from liftlock.model.alphabet import Alphabet
from liftlock.utility.base import Utility, Variance

_LARGEST = 1e150
"""Squares of larger numbers leave the range of floats."""


@dataclass(frozen=True)
class Mean(Utility):
    """E (X - E[X | Y])^2, the mean posterior variance of the numbers that the symbols stand for.

    Source: 001 eq. (14), Thm 2, Thm 3; 000 eq. (18).

    >>> bit = Mean.of(Alphabet.of([0, 1]))
    >>> bit.costs(np.array([[0.5, 0.5], [0.0, 1.0]])).tolist()
    [0.25, 0.0]
    """

    points: tuple[float, ...]

    name = "mean"
    title = "squared error of X (mean, per person)"
    numeric = True

    @classmethod
    def of(cls, inputs: Alphabet) -> Mean:
        """Take the numbers from the coordinates or the labels of an alphabet."""
        points = points_of(inputs, "mean")
        if not np.abs(points).max() <= _LARGEST:
            raise InputError(
                "a number is too large to be squared",
                value=float(np.abs(points).max()),
                remedy="measure them in another unit",
            )
        return cls(tuple(points.tolist()))

    @property
    def shape(self) -> Variance:
        """The variance of the numbers."""
        return Variance(np.array(self.points))

    def restrict(self, places: Sequence[int]) -> Mean:
        """Keep the numbers of the symbols at some places."""
        return Mean(tuple(self.points[i] for i in places))

    def costs(self, posteriors: Floats) -> Floats:
        """Return the variance of each row."""
        points = self._centre(posteriors)
        # Measured from the likeliest number, distances keep the digits of small variances, which a
        # difference of squares would lose.
        away = points - points[np.argmax(posteriors, axis=-1)][..., None]
        mean = (posteriors * away).sum(axis=-1)
        total: Floats = (posteriors * (away - mean[..., None]) ** 2).sum(axis=-1)
        return total

    def slopes(self, posteriors: Floats) -> Floats:
        """Return t^2 - 2 mean t."""
        points = self._centre(posteriors)
        mean = np.asarray(dot(posteriors, points))
        slopes: Floats = points**2 - 2.0 * mean[..., None] * points
        return slopes

    def _centre(self, posteriors: Floats) -> Floats:
        points = np.array(self.points)
        if np.shape(posteriors)[-1] != len(points):
            raise InputError(
                f"posteriors of {np.shape(posteriors)[-1]} symbols, numbers for {len(points)}",
                remedy="make the utility from the same alphabet",
            )
        # The variance does not change, its rounding errors do.
        centred: Floats = points - points.mean()
        return centred


def points_of(inputs: Alphabet, purpose: str) -> Floats:
    """Return the number that each symbol stands for: its coordinate, or its label read as one."""
    if inputs.coordinates is not None:
        return np.array([float(point) for point in inputs.coordinates])
    numbers = []
    for label in inputs.labels:
        if not isinstance(label, bool):
            try:
                numbers.append(float(exact(label)))
                continue
            except InputError:
                pass
        raise InputError(
            f"the utility {purpose!r} needs numbers, but a label is not a number",
            value=label,
            remedy="give the alphabet coordinates, or choose histogram, guess or "
            "mutual-information; distance for points such as (3, 5)",
        )
    return np.array(numbers)


def codes_of_numbers(outputs: Alphabet, numbers: Iterable[Any]) -> npt.NDArray[np.intp]:
    """Return which symbol each number stands for; a number that is none of theirs is refused.

    >>> codes_of_numbers(Alphabet.of(["low", "high"], [1, "2.5"]), [2.5, 1.0]).tolist()
    [1, 0]
    """
    points = points_of(outputs, "release")
    order = np.argsort(points, kind="stable")
    if (np.diff(points[order]) == 0).any():
        raise InputError(
            "two outputs have the same number",
            remedy="count their reports by label",
        )
    given = numbers if isinstance(numbers, np.ndarray) else list(numbers)
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("reports are not numbers", remedy="give a column of numbers") from None
    if column.ndim != 1:
        raise InputError("reports are not a column", value=column.shape)
    places = np.minimum(np.searchsorted(points[order], column), len(points) - 1)
    codes: npt.NDArray[np.intp] = order[places]
    wrong = points[codes] != column
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InputError(
            "the number is never released",
            where=f"report {place + 1}",
            value=float(column[place]),
            remedy="check that the report is from this mechanism; nothing was counted",
        )
    return codes


def posterior_means(matrix: Floats, masses: Floats, points: Floats) -> Floats:
    """Return E[X | Y = y] for each output: the number with the least squared error."""
    joint = matrix * masses[:, None]
    means: Floats = (dot(points, joint)) / joint.sum(axis=0)
    return means


def posterior_medians(matrix: Floats, masses: Floats, points: Floats) -> Floats:
    """Return the median of X given each output: the number with the least absolute error."""
    order = np.argsort(points, kind="stable")
    rising = np.cumsum((matrix * masses[:, None])[order], axis=0)
    half = 0.5 * rising[-1]
    places = (rising < half).sum(axis=0)
    medians: Floats = points[order][np.minimum(places, len(points) - 1)]
    return medians
