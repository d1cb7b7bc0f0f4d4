"""Reports, weights and offsets as they are given: checked columns, before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats


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
