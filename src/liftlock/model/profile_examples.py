"""Graphs of profiles made by code: the paper's settings, and users of a shared workstation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.errors import CountError, InputError
from liftlock.exact.budget import decimal_text
from liftlock.model.profiles import ProfileGraph

LEVELS = ("idle", "light", "steady", "heavy", "burst")
"""How much of a workstation is in use, from little to much."""

ROLES: Mapping[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "office": (("ann", "bob", "cleo"), (0.45, 0.35, 0.12, 0.05, 0.03)),
    "analysis": (("dan", "eva", "finn"), (0.15, 0.20, 0.25, 0.25, 0.15)),
    "rendering": (("gus", "hana", "ida"), (0.10, 0.08, 0.17, 0.45, 0.20)),
    "support": (("jon", "kim", "lea"), (0.25, 0.40, 0.25, 0.07, 0.03)),
}
"""Each role: its users, and how a typical user of it spends the time over the levels."""

_VARIATION = 0.5
"""The logarithm of a person's share of a level is off the role's by at most this much."""


@dataclass(frozen=True)
class Example:
    """A graph that is ready to be used, and what it shows."""

    name: str
    says: str
    make: Callable[[], ProfileGraph]


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


def workstation(rows: int = 2400, seed: int = 7) -> list[tuple[str, str, str]]:
    """Make up observations of a shared workstation: the user, the role, the level of usage.

    Users of a role are alike, but each departs a little from it. The rows are in no order: one that
    went by users would tell who it was.

    >>> workstation()[:2]
    [('jon', 'support', 'light'), ('jon', 'support', 'steady')]
    """
    if rows < 1:
        raise CountError("no rows", value=rows, remedy="ask for at least one row")
    draw = np.random.default_rng(seed)
    people = []
    for role, (names, typical) in ROLES.items():
        for name in names:
            tilt = _VARIATION * (2.0 * draw.random(len(LEVELS)) - 1.0)
            shares = np.array(typical) * np.exp(tilt)
            people.append((name, role, np.cumsum(shares / shares.sum())))
    table = []
    for row in range(rows):
        name, role, rising = people[row % len(people)]
        level = int(np.searchsorted(rising, draw.random(), side="right"))
        table.append((name, role, LEVELS[min(level, len(LEVELS) - 1)]))
    return [table[place] for place in draw.permutation(rows)]


def workstation_graph() -> ProfileGraph:
    """Count the made-up observations; users of the same role must not be told apart."""
    users, roles, usage = zip(*workstation(), strict=True)
    return ProfileGraph.from_columns(users, usage, groups=roles, smoothing=1, labels=LEVELS)


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
            "workstation",
            "12 users of a shared workstation, joined within their 4 roles (made-up data)",
            workstation_graph,
        ),
    )
}
"""Every example, by name."""


def example(name: str) -> ProfileGraph:
    """Make an example by its name.

    >>> print(example("chain-21"))
    a graph of 21 profiles and 20 edges on 2 values
    """
    key = name.strip().lower().replace("_", "-")
    if key not in EXAMPLES:
        raise InputError(
            "unknown example of profiles", value=name, remedy=f"use one of {', '.join(EXAMPLES)}"
        )
    return EXAMPLES[key].make()
