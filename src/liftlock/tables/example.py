"""A table of people who do not exist: jobs, pay and schooling, and a household to be hidden."""

from __future__ import annotations

import random

HEADER = ("person", "region", "job", "schooling", "pay", "household")

PEOPLE = 4_000


_HOUSEHOLDS = {"alone": 0.3, "couple": 0.3, "family": 0.3, "shared": 0.1}

_JOBS: dict[str, dict[str, float]] = {
    "care": {"alone": 2, "couple": 3, "family": 5, "shared": 1},
    "craft": {"alone": 3, "couple": 5, "family": 6, "shared": 1},
    "office": {"alone": 6, "couple": 6, "family": 5, "shared": 2},
    "research": {"alone": 3, "couple": 2, "family": 1, "shared": 3},
    "sales": {"alone": 4, "couple": 4, "family": 3, "shared": 3},
    "student": {"alone": 3, "couple": 1, "family": 0.1, "shared": 9},
    "transport": {"alone": 2, "couple": 3, "family": 4, "shared": 0.5},
}

_SCHOOLING = {
    "care": (12, 2),
    "craft": (11, 2),
    "office": (14, 2),
    "research": (19, 1.5),
    "sales": (13, 2),
    "student": (14, 1),
    "transport": (10, 1.5),
}

_PAY = {
    "care": 31_000,
    "craft": 39_000,
    "office": 45_000,
    "research": 58_000,
    "sales": 41_000,
    "student": 9_000,
    "transport": 34_000,
}


def people(number: int = PEOPLE, seed: int = 7) -> list[tuple[str, ...]]:
    """Return rows of cells, the same for the same seed; one job in forty is not known.

    >>> people(2)[0]
    ('1', 'north', 'craft', '11', '39960', 'couple')
    """
    chance = random.Random(seed)
    rows: list[tuple[str, ...]] = []
    for person in range(1, number + 1):
        (household,) = chance.choices(list(_HOUSEHOLDS), list(_HOUSEHOLDS.values()))
        weights = [jobs[household] for jobs in _JOBS.values()]
        (job,) = chance.choices(list(_JOBS), weights)
        centre, spread = _SCHOOLING[job]
        years = min(22, max(8, round(chance.gauss(centre, spread))))
        pay = round(_PAY[job] * chance.lognormvariate(0.02 * (years - centre), 0.25), -1)
        told = "" if chance.random() < 0.025 else job
        region = chance.choice(("east", "north", "south", "west"))
        rows.append((str(person), region, told, str(years), f"{pay:.0f}", household))
    return rows


def people_csv(number: int = PEOPLE) -> str:
    """Return the table as CSV."""
    return "".join(",".join(row) + "\n" for row in (HEADER, *people(number)))
