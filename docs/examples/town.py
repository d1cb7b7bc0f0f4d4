"""Make town.csv, the map in the documentation: ``python docs/examples/town.py``.

Nobody lives there. It is a town with two centres on a grid of 1 km, and the counts are the rounded
densities of two normal distributions, so that the same map is made everywhere.
"""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist

PEOPLE = 4_000
CENTRES = ((0.6, (2, 2), 1.0), (0.4, (6, 4), 0.75))
"""The share of the people, the place and the spread of each centre."""


def town() -> dict[tuple[int, int], int]:
    """Return how many people are usually at each place where somebody is."""
    counts = {(x, y): _count(x, y) for x in range(9) for y in range(7)}
    return {place: count for place, count in counts.items() if count}


def _count(x: int, y: int) -> int:
    density = sum(
        share * NormalDist(east, spread).pdf(x) * NormalDist(north, spread).pdf(y)
        for share, (east, north), spread in CENTRES
    )
    return round(PEOPLE * density)


def table() -> str:
    """Return the CSV file."""
    return "x,y,count\n" + "".join(f"{x},{y},{count}\n" for (x, y), count in town().items())


if __name__ == "__main__":
    Path(__file__).with_name("town.csv").write_text(table(), encoding="utf-8")
