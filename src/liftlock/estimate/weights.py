"""What comes with reports, weights and offsets, and what they add up to, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError, NotDefined
from liftlock.estimate.question import About, Of
from liftlock.exact.accumulation import add_exact, exact_sum
from liftlock.exact.fingerprint import fraction_text
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact

Sums: TypeAlias = tuple[Fraction, ...]

_WHOLE = ("total", "total_squares", "offset", "least")
"""The parts of weights that are one number, as files name them."""
_BOTH_SIGNS = ("auto", "bayes", "unbiased")
"""The estimators that take weights of both signs."""


@dataclass(frozen=True)
class Weights:
    """What weighted reports add up to: a_i and a_i^2 by output, all a_i, and the offsets b_i.

    The squares are floats that were rounded one by one; all sums are exact. `least` is the smallest
    a_i: where none is negative, every sum of weights is at least 0.
    """

    sums: tuple[Fraction, ...]
    squares: tuple[Fraction, ...]
    total: Fraction
    total_squares: Fraction
    offset: Fraction
    least: Fraction

    def __add__(self, other: Weights) -> Weights:
        return Weights(
            add_exact(self.sums, other.sums),
            add_exact(self.squares, other.squares),
            self.total + other.total,
            self.total_squares + other.total_squares,
            self.offset + other.offset,
            min(self.least, other.least),
        )

    @classmethod
    def of(
        cls,
        number: int,
        weights: npt.ArrayLike | None,
        offsets: npt.ArrayLike | None,
        add: Callable[[Floats, Floats], tuple[Sums, Sums]],
    ) -> Weights:
        """Add up what so many reports were given.

        `add` returns the sums of two columns by output, each with the sum of all last.
        """
        numbers = numbers_each(weights, number, "weight")
        shifts = numbers_each(offsets, number, "offset")
        ones = np.ones(number) if numbers is None else numbers
        (*sums, total), (*squares, total_squares) = add(ones, squares_each(ones))
        offset = Fraction(0) if shifts is None else exact_sum(shifts)
        least = Fraction(float(ones.min()))
        return cls(tuple(sums), tuple(squares), total, total_squares, offset, least)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "sums": [fraction_text(value) for value in self.sums],
            "squares": [fraction_text(value) for value in self.squares],
            "total": fraction_text(self.total),
            "total_squares": fraction_text(self.total_squares),
            "offset": fraction_text(self.offset),
            "least": fraction_text(self.least),
        }

    @classmethod
    def from_data(cls, data: Any) -> Weights:
        """Read the JSON form."""
        sums = tuple(exact(value, name="sums") for value in data["sums"])
        squares = tuple(exact(value, name="squares") for value in data["squares"])
        rest = (exact(data[key], name=key) for key in _WHOLE)
        if len(squares) != len(sums) or min(squares, default=0) < 0:
            raise FileError("the squares of weights do not fit their sums")
        return cls(sums, squares, *rest)

    def refuse(self, of: Of, about: About, method: str) -> None:
        """Refuse weights and offsets that give the question, or the method, no meaning."""
        if self.total_squares == 0:
            raise InputError(
                "all weights are 0, or too small to be squared",
                remedy="give some reports a positive weight, or measure in another unit",
            )
        if self.offset != 0 and of != "sum":
            raise InputError(
                f"offsets, but the question is {of}",
                remedy="ask for sum, or count the reports without offsets",
            )
        if self.offset != 0 and about == "population":
            raise InputError(
                "offsets belong to the people who reported, not to a population",
                remedy="ask about people, or count the reports without offsets",
            )
        if self.total == 0 and of == "mean":
            raise no_mean_error()
        if self.least < 0 and method not in _BOTH_SIGNS:
            raise NotDefined(
                f"the {method} estimate",
                "negative weights",
                "ask for unbiased or bayes, which take weights of both signs",
            )


def no_mean_error() -> InputError:
    """Return the refusal of a mean over nobody."""
    return InputError("the weights add up to 0, so there is no mean", remedy="ask for sum instead")


# --- columns as they are given, checked before anything is counted ------------------------------


def column_of(reports: Iterable[Any] | npt.NDArray[Any]) -> Sequence[Any] | npt.NDArray[Any]:
    """Return reports as a column, or refuse what is none."""
    if isinstance(reports, str | bytes):
        raise InputError(
            "one text instead of a column of reports", value=reports, remedy="put it in a list"
        )
    if not isinstance(reports, Iterable):
        raise InputError(
            "not a column of reports", value=type(reports).__name__, remedy="give a list of them"
        )
    return reports if isinstance(reports, np.ndarray | Sequence) else list(reports)


def squares_each(numbers: Floats) -> Floats:
    """Return the squares, or refuse with the place of what is too large."""
    with np.errstate(over="ignore"):
        squared: Floats = np.square(numbers)
    if not np.isfinite(squared).all():
        place = int(np.argmax(~np.isfinite(squared)))
        raise InputError(
            "a weight is too large to be squared",
            where=f"report {place + 1}",
            value=float(numbers[place]),
            remedy="measure in another unit; nothing was counted",
        )
    return squared


def numbers_each(
    given: npt.ArrayLike | None, number: int, name: str, of: str = "report"
) -> Floats | None:
    """Return one finite float for each report, or refuse with the place of what is not one.

    >>> numbers_each([1, "2"], 2, "weight").tolist()
    [1.0, 2.0]
    """
    if given is None:
        return None
    try:
        array = np.asarray(given)
        if array.dtype.kind in "bc":
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}s are not numbers", remedy=f"give one {name} for each {of}"
        ) from None
    if numbers.ndim == 0:
        numbers = np.full(number, float(numbers))
    if numbers.shape != (number,):
        raise InputError(
            f"{name}s of shape {numbers.shape} for {number} {of}s",
            remedy=f"give one {name} for each {of}; nothing was counted",
        )
    if not np.isfinite(numbers).all():
        place = int(np.argmax(~np.isfinite(numbers)))
        raise InputError(
            f"{name} is not a finite number",
            where=f"{of} {place + 1}",
            value=float(numbers[place]),
            remedy="correct it; nothing was counted",
        )
    return numbers
