"""What a mechanism for numbers releases, and how far that is from the truth, as text and data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from rich.text import Text

from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.structured import SupportChannel
from liftlock.report.format import DIGITS, amount, grid_of
from liftlock.utility.mean import points_of, posterior_means, posterior_medians

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_LISTED = 12
"""With more outputs than this only their range is shown."""

_SAME = 1e-3
_TINY = 1e-4


@dataclass(frozen=True)
class Released:
    """The numbers that a mechanism gives out, and what they are worth."""

    numbers: Floats
    """What is released, one for each output, ascending."""
    shares: Floats
    """How often."""
    guesses: Floats
    """The mean of X given each of them."""
    absolute: float
    squared: float
    read_absolute: float
    """The errors of the best readings of the outputs, instead of the numbers themselves."""
    read_squared: float
    nothing_absolute: float
    """The errors of one number for everybody, when nothing is released."""
    nothing_squared: float
    reading: Literal["mean", "median"]
    """Which reading, and which one number, is the best for what was designed for."""

    @property
    def apart(self) -> bool:
        """Whether readings are noticeably better than the numbers themselves."""
        if self.reading == "median":
            return self.absolute > (1 + _SAME) * self.read_absolute
        return self.squared > (1 + _SAME) * self.read_squared

    @classmethod
    def of(cls, made: Mechanism) -> Released | None:
        """Measure a mechanism; None if it is not one for numbers."""
        if not isinstance(made.context, GridPrior) or isinstance(made.channel, SupportChannel):
            return None
        masses, points = made.masses_and_points()
        matrix = made.table.floats()
        numbers = points_of(made.table.outputs, "released numbers")
        order = np.argsort(numbers, kind="stable")
        reading = reading_of(made)
        best = made.readings(reading)
        best = np.where(np.isfinite(best), best, numbers)  # an output that never occurs has none
        one = for_everybody(masses, points, reading)
        found, read, nothing = (made.accuracy(guess) for guess in (None, best, one))
        return cls(
            numbers[order],
            (masses @ matrix)[order],
            posterior_means(matrix, masses, points)[order],
            found.absolute,
            found.squared,
            read.absolute,
            read.squared,
            nothing.absolute,
            nothing.squared,
            reading,
        )


def reading_of(made: Mechanism) -> Literal["mean", "median"]:
    """Return which reading is the best for what a mechanism was designed for."""
    absolute = made.origin is not None and made.origin.utility == "absolute"
    return "median" if absolute else "mean"


def for_everybody(masses: Floats, points: Floats, reading: Literal["mean", "median"]) -> float:
    """Return the one number that is nearest to everybody: the mean or the median."""
    if reading == "mean":
        return float(masses @ points / masses.sum())
    read = posterior_medians(np.ones((len(masses), 1)), masses, points)
    return float(read[0])


def number_lines(made: Mechanism) -> list[RenderableType]:
    """Say how far released numbers are from the truth, and list them if they are few."""
    found = Released.of(made)
    if found is None:
        return []
    step = float(np.ptp(found.numbers)) or abs(float(found.numbers[0])) or 1.0
    write = _writer(step, float(np.abs(found.numbers).max()))
    lines: list[RenderableType] = [
        Text(
            f"a released number is off by {_short(found.absolute)} on average (no release, the "
            f"{found.reading} for everybody: {_short(found.nothing_absolute)})"
        ),
        Text(
            f"its squared error, including discretisation, is {amount(found.squared)} (no release: "
            f"{amount(found.nothing_squared)}), root mean square "
            f"{_short(math.sqrt(found.squared))} (no release: "
            f"{_short(math.sqrt(found.nothing_squared))})"
        ),
    ]
    if found.apart:
        lines.append(
            Text(
                f"replaced by its best reading, the {found.reading} of X given it "
                f"(Mechanism.readings), it is off by {_short(found.read_absolute)}, root mean "
                f"square {_short(math.sqrt(found.read_squared))}"
            )
        )
    if len(found.numbers) > MOST_LISTED:
        lines.append(
            Text(
                f"{len(found.numbers)} different numbers are released, "
                f"from {write(found.numbers[0])} to {write(found.numbers[-1])}"
            )
        )
        return lines
    apart = np.abs(found.guesses - found.numbers).max() > _SAME * step
    grid = grid_of()
    grid.add_column("released", justify="right")
    grid.add_column("how often", justify="right")
    if apart:
        grid.add_column("mean of X then", justify="right")
    for number, share, guess in zip(found.numbers, found.shares, found.guesses, strict=True):
        cells = [write(number), f"{100 * share:.3g} %"]
        grid.add_row(*cells, *([write(guess)] if apart else []))
    return [*lines, Text(), grid, Text()]


def _short(error: float) -> str:
    return amount(error, DIGITS - 1)


def _writer(step: float, largest: float) -> Callable[[float], str]:
    """Return what writes numbers of one list alike, fine enough to tell them apart.

    >>> _writer(80_000.0, 130_000.0)(52_310.4), _writer(2e-9, 3e-9)(1.7224448e-9)
    ('52,310', '1.722e-09')
    """
    digits = 3 - math.floor(math.log10(step))
    if largest < _TINY:
        places = digits + math.floor(math.log10(largest or step))
        return lambda number: f"{number:.{places}e}"
    return lambda number: f"{round(number, min(digits + 2, 15)):,.{max(0, digits)}f}"


def number_data(made: Mechanism) -> dict[str, Any] | None:
    """Return the JSON form of what is released for numbers; None for other mechanisms."""
    found = Released.of(made)
    if found is None:
        return None
    assert isinstance(made.context, GridPrior)
    grid = made.context.grid
    return {
        "source": grid.source,
        "domain": [grid.lower, grid.upper],
        "cells": len(grid),
        "spacing": grid.spacing,
        "narrowest": float(grid.widths.min()),
        "widest": float(grid.widths.max()),
        "below": grid.below,
        "above": grid.above,
        "absolute_error": found.absolute,
        "squared_error": found.squared,
        "absolute_error_of_readings": found.read_absolute,
        "squared_error_of_readings": found.read_squared,
        "reading": found.reading,
        "absolute_error_of_nothing": found.nothing_absolute,
        "squared_error_of_nothing": found.nothing_squared,
        "released": found.numbers.tolist(),
        "shares": found.shares.tolist(),
        "readings": found.guesses.tolist(),
    }
