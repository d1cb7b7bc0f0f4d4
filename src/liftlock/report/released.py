"""What a mechanism for numbers releases, and how far that is from the truth, as text and data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from liftlock.designs.readings import posterior_means
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.report.text import grid_of
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_LISTED = 12
"""With more outputs than this only their range is shown."""

_SAME = 1e-3


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
    nothing_absolute: float
    """The error of the median, when nothing is released."""
    nothing_squared: float
    """The error of the mean, when nothing is released."""

    @classmethod
    def of(cls, made: Mechanism) -> Released | None:
        """Measure a mechanism; None if it is not one for numbers."""
        prior = made.context
        if not isinstance(prior, GridPrior) or isinstance(made.channel, SupportChannel):
            return None
        masses, points = made.masses_and_points()
        matrix = made.table.floats()
        numbers = points_of(made.table.outputs, "released numbers")
        order = np.argsort(numbers, kind="stable")
        ascending = np.argsort(points, kind="stable")
        places = np.searchsorted(np.cumsum(masses[ascending]), 0.5)
        median = points[ascending][min(int(places), len(points) - 1)]
        mean = float(masses @ points)
        found = made.accuracy()
        return cls(
            numbers[order],
            (masses @ matrix)[order],
            posterior_means(matrix, masses, points)[order],
            found.absolute,
            found.squared,
            float(masses @ np.abs(points - median)),
            float(masses @ (points - mean) ** 2) + prior.inner_variance,
        )


def number_lines(made: Mechanism) -> list[RenderableType]:
    """Say how far released numbers are from the truth, and list them if they are few."""
    found = Released.of(made)
    if found is None:
        return []
    step = float(np.ptp(found.numbers)) or abs(float(found.numbers[0])) or 1.0
    digits = max(0, 3 - math.floor(math.log10(step)))

    def write(number: float) -> str:
        return f"{number:,.{digits}f}"

    lines: list[RenderableType] = [
        Text(
            f"a released number is off by {write(found.absolute)} on average "
            f"(no release: {write(found.nothing_absolute)}), root mean square "
            f"{write(math.sqrt(found.squared))} (no release: "
            f"{write(math.sqrt(found.nothing_squared))})"
        )
    ]
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
        "absolute_error_of_nothing": found.nothing_absolute,
        "squared_error_of_nothing": found.nothing_squared,
        "released": found.numbers.tolist(),
        "shares": found.shares.tolist(),
        "readings": found.guesses.tolist(),
    }
