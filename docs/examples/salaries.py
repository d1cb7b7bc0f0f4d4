"""Make salaries.csv, the numbers in the documentation: ``python docs/examples/salaries.py``.

Nobody earns these salaries. They are quantiles of two normal distributions and a log-normal one,
rounded to hundreds, so that the same table is made everywhere.
"""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

PEOPLE = 500
STRIDE = 193  # has no factor in common with the number of people


def salaries() -> list[int]:
    """Return the salaries of everybody, in an order that says nothing."""
    staff = _quantiles(NormalDist(38_000, 6_000), 250)
    experts = _quantiles(NormalDist(62_000, 9_000), 175)
    heads = [math.exp(x) for x in _quantiles(NormalDist(11.5, 0.25), 75)]
    everybody = sorted([*staff, *experts, *heads])
    return [int(round(everybody[k * STRIDE % PEOPLE], -2)) for k in range(PEOPLE)]


def _quantiles(distribution: NormalDist, number: int) -> list[float]:
    return [distribution.inv_cdf((k + 0.5) / number) for k in range(number)]


def table() -> str:
    """Return the CSV file."""
    rows = [f"{place + 1},{salary}\n" for place, salary in enumerate(salaries())]
    return "person,salary\n" + "".join(rows)


if __name__ == "__main__":
    Path(__file__).with_name("salaries.csv").write_text(table(), encoding="utf-8")
