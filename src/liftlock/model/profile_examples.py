"""Graphs of profiles made by code: the paper's settings, a commute, a shared workstation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.errors import CountError, InputError
from liftlock.exact.budget import decimal_text
from liftlock.model.profiles import ProfileGraph

Group = tuple[tuple[str, ...], tuple[float, ...]]
"""The members of a group, and how a typical one spends the time over the values."""
Row = tuple[str, str, str]
"""Whose observation it is, their group, and the value."""

LEVELS = ("idle", "light", "steady", "heavy", "burst")
"""How much of a workstation is in use, from little to much."""

ROLES: Mapping[str, Group] = {
    "office": (("ann", "bob", "cleo"), (0.45, 0.35, 0.12, 0.05, 0.03)),
    "analysis": (("dan", "eva", "finn"), (0.15, 0.20, 0.25, 0.25, 0.15)),
    "rendering": (("gus", "hana", "ida"), (0.10, 0.08, 0.17, 0.45, 0.20)),
    "support": (("jon", "kim", "lea"), (0.25, 0.40, 0.25, 0.07, 0.03)),
}
"""The users of each role."""

ROUTES = ("mill bridge", "north road", "station", "ring road", "harbour", "south gate")
"""The ways out of a city, from north to south."""

SIDES: Mapping[str, Group] = {
    "north": (("A", "B"), (0.34, 0.34, 0.20, 0.08, 0.03, 0.01)),
    "south": (("C", "D"), (0.01, 0.03, 0.15, 0.13, 0.38, 0.30)),
}
"""The homes on each side of the centre."""

_VARIATION = 0.5
"""The logarithm of one's share of a value is off the group's by at most this much."""


@dataclass(frozen=True)
class Observations:
    """A made-up table: whose each observation is, their group, and the value."""

    whose: str
    group: str
    value: str
    rows: list[Row]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns; the first numbers the rows."""
        return "observation", self.whose, self.group, self.value

    def count(self, labels: tuple[str, ...]) -> ProfileGraph:
        """Count them; those of the same group must not be told apart."""
        whose, groups, values = zip(*self.rows, strict=True)
        return ProfileGraph.from_columns(whose, values, groups=groups, smoothing=1, labels=labels)


@dataclass(frozen=True)
class Example:
    """A graph that is ready to be used, and what it shows."""

    name: str
    says: str
    make: Callable[[], ProfileGraph]
    table: Callable[[], Observations] | None = None
    """The observations that the graph was counted on, if it was."""


def couplet() -> ProfileGraph:
    """Join two profiles of one bit.

    Source: 004 section 6.1 (Bernoulli-Couplet).
    """
    return ProfileGraph.bernoulli(["0.8", "0.9"])


def bernoulli_chain(size: int) -> ProfileGraph:
    """Join profiles of one bit in a chain, their parameters evenly spaced from 0 to 1.

    Source: 004 section 6.1 (Bernoulli-Chain).

    >>> bernoulli_chain(6).profiles.labels
    ('0', '0.2', '0.4', '0.6', '0.8', '1')
    """
    if size < 2:
        raise CountError("a chain of fewer than 2 profiles", value=size, remedy="use 2 or more")
    ones = [Fraction(place, size - 1) for place in range(size)]
    return ProfileGraph.bernoulli({decimal_text(one): one for one in ones})


def categorical_chain() -> ProfileGraph:
    """Join three profiles of four values in a chain.

    Source: 004 Table 1.

    >>> [str(mass) for mass in categorical_chain().distribution("P3").fractions]
    ['2/5', '2/5', '1/10', '1/10']
    """
    table = {
        "P1": ("0.2", "0.3", "0.4", "0.1"),
        "P2": ("0.3", "0.3", "0.3", "0.1"),
        "P3": ("0.4", "0.4", "0.1", "0.1"),
    }
    rows = {name: dict(enumerate(masses, start=1)) for name, masses in table.items()}
    return ProfileGraph.chain(rows)


def _observe(
    groups: Mapping[str, Group], values: tuple[str, ...], rows: int, seed: int
) -> list[Row]:
    """Make up observations of people who are like their group, but each departs a little from it.

    The rows are in no order: one that went by people would tell who it was.
    """
    if rows < 1:
        raise CountError("no rows", value=rows, remedy="ask for at least one row")
    draw = np.random.default_rng(seed)
    people = []
    for group, (names, typical) in groups.items():
        for name in names:
            tilt = _VARIATION * (2.0 * draw.random(len(values)) - 1.0)
            shares = np.array(typical) * np.exp(tilt)
            people.append((name, group, np.cumsum(shares / shares.sum())))
    table = []
    for row in range(rows):
        name, group, rising = people[row % len(people)]
        place = int(np.searchsorted(rising, draw.random(), side="right"))
        table.append((name, group, values[min(place, len(values) - 1)]))
    return [table[place] for place in draw.permutation(rows)]


def workstation(rows: int = 2400, seed: int = 7) -> Observations:
    """Make up observations of a shared workstation: the user, the role, the level of usage.

    >>> workstation().rows[:2]
    [('jon', 'support', 'light'), ('jon', 'support', 'steady')]
    """
    return Observations("user", "role", "usage", _observe(ROLES, LEVELS, rows, seed))


def commute(rows: int = 2000, seed: int = 4) -> Observations:
    """Make up ways home from the centre of a city to four places, two north and two south of it.

    Source: 004 section 1.

    >>> commute().header
    ('observation', 'home', 'side', 'route')
    """
    return Observations("home", "side", "route", _observe(SIDES, ROUTES, rows, seed))


EXAMPLES: Mapping[str, Example] = {
    entry.name: entry
    for entry in (
        Example("couplet", "two joined profiles of one bit, p = 0.8 and 0.9", couplet),
        Example(
            "chain-6",
            "a chain of 6 profiles of one bit, p from 0 to 1",
            lambda: bernoulli_chain(6),
        ),
        Example(
            "chain-21",
            "a chain of 21 profiles of one bit, p from 0 to 1",
            lambda: bernoulli_chain(21),
        ),
        Example(
            "categorical-chain",
            "a chain of 3 profiles of four values (004 Table 1)",
            categorical_chain,
        ),
        Example(
            "commute",
            "ways home to 4 places, joined within the north and the south of a city (made-up data)",
            lambda: commute().count(ROUTES),
            commute,
        ),
        Example(
            "workstation",
            "12 users of a shared workstation, joined within their 4 roles (made-up data)",
            lambda: workstation().count(LEVELS),
            workstation,
        ),
    )
}
"""Every example, by name."""


def find_example(name: str) -> Example:
    """Return an example by its name."""
    key = name.strip().lower().replace("_", "-")
    if key not in EXAMPLES:
        raise InputError(
            "unknown example of profiles", value=name, remedy=f"use one of {', '.join(EXAMPLES)}"
        )
    return EXAMPLES[key]


def example(name: str) -> ProfileGraph:
    """Make an example by its name.

    >>> print(example("chain-21"))
    a graph of 21 profiles and 20 edges on 2 values
    """
    return find_example(name).make()
