"""What a figure consists of: points on named curves in named panels, kept as one CSV file.

The file is the result. Pictures, findings and pages are made from what is read back from it, so a
figure that was computed and one that was kept cannot differ.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Point(NamedTuple):
    """One point of a curve; a mechanism's point may say what it promised and what it leaks."""

    panel: str
    curve: str
    x: float
    y: float
    error: float | None = None
    """Half the width of a 95 % interval, where y is the mean of a simulation."""
    leakage: float | None = None
    """What the mechanism truly leaks, measured exactly, in the unit of its budget."""
    budget: float | None = None
    """What it was made for."""

    @property
    def broken(self) -> bool:
        """Whether the mechanism leaks more than it was made for.

        >>> Point("a", "as published", 1, 0.5, leakage=1.9, budget=1.0).broken
        True
        """
        if self.leakage is None or self.budget is None:
            return False
        return self.leakage > self.budget * (1 + 1e-9)


@dataclass(frozen=True)
class Points:
    """The points of a figure.

    >>> points = Points((Point("a", "LDP", 1, 0.5), Point("a", "LDP", 2, 0.25)))
    >>> points.y("a", "LDP")
    array([0.5 , 0.25])
    >>> points.at("a", "LDP", 2)
    0.25
    """

    rows: tuple[Point, ...]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, panel: str, curve: str) -> list[Point]:
        """Return the points of a curve, in the order in which they were computed."""
        return [row for row in self.rows if row.panel == panel and row.curve == curve]

    def x(self, panel: str, curve: str) -> Floats:
        """Return where a curve was computed."""
        return np.array([row.x for row in self.of(panel, curve)])

    def y(self, panel: str, curve: str) -> Floats:
        """Return the values of a curve."""
        return np.array([row.y for row in self.of(panel, curve)])

    def leakage(self, panel: str, curve: str) -> Floats:
        """Return what the mechanisms of a curve truly leak; NaN where it is not known."""
        found = (row.leakage for row in self.of(panel, curve))
        return np.array([math.nan if value is None else value for value in found])

    def at(self, panel: str, curve: str, x: float) -> float:
        """Return the value of a curve at a place where it was computed."""
        for row in self.of(panel, curve):
            if math.isclose(row.x, x, rel_tol=1e-9, abs_tol=1e-12):
                return row.y
        raise KeyError(f"{curve!r} was not computed at {x} in panel {panel!r}")

    def curves(self, panel: str) -> list[str]:
        """Return the curves of a panel, in order."""
        return list(dict.fromkeys(row.curve for row in self.rows if row.panel == panel))

    def broken(self) -> list[Point]:
        """Return the points whose mechanism leaks more than it was made for."""
        return [row for row in self.rows if row.broken]


def to_csv(points: Iterable[Point]) -> str:
    """Write points as CSV, to twelve digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(Point._fields)
    for panel, curve, *numbers in points:
        writer.writerow([panel, curve, *("" if n is None else f"{n:.12g}" for n in numbers)])
    return file.getvalue()


def from_csv(text: str) -> Points:
    """Read what `to_csv` has written.

    >>> from_csv(to_csv([Point("a", "LDP", 1, 0.5, budget=2.0)])).rows[0].budget
    2.0
    """
    rows = []
    for panel, curve, x, y, *rest in list(csv.reader(io.StringIO(text)))[1:]:
        error, leakage, budget = (float(cell) if cell else None for cell in rest)
        rows.append(Point(panel, curve, float(x), float(y), error, leakage, budget))
    return Points(tuple(rows))
