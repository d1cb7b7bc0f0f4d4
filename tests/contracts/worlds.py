"""Contexts for every design: random, skewed, with zero cells, of every kind; always the same."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from liftlock import (
    Ball,
    Conditional,
    Context,
    Family,
    Intervals,
    Joint,
    Prior,
    ProfileGraph,
)
from liftlock.model import Kind

FLAVOURS = ("random", "skewed", "zeros")


def counts(size: int, flavour: str, source: random.Random) -> list[int]:
    """Return counts, at least two of them positive."""
    if flavour == "skewed":
        return [max(1, int(10**6 * 0.5**place)) for place in range(size)]
    found = [source.randint(1, 1000) for _ in range(size)]
    if flavour == "zeros" and size > 2:
        for place in source.sample(range(2, size), max(1, (size - 2) // 3)):
            found[place] = 0
    return found


def prior(size: int, flavour: str, source: random.Random) -> Prior:
    """Return a prior on the numbers from 1 on."""
    return Prior.from_counts(list(enumerate(counts(size, flavour, source), start=1)))


def joint(size: int, flavour: str, source: random.Random) -> Joint:
    """Return a joint of a secret of two or three values; zeros are cells, a column, and a row."""
    secrets = 2 + (size > 4 and flavour != "random")
    table = {}
    for secret in range(secrets):
        row = counts(size, "random" if flavour == "zeros" else flavour, source)
        source.shuffle(row)
        if flavour == "zeros":
            for place in range(size):
                if source.random() < 0.25:
                    row[place] = 0
            row[secret % size] = row[(secret + 1) % size] = 7  # no row is empty
        table[f"s{secret}"] = dict(enumerate(row, start=1))
    if flavour == "zeros":
        table["never"] = dict.fromkeys(range(1, size + 1), 0)
        for row_of in table.values():
            row_of[size + 1] = 0
    return Joint.from_counts(table)


def context(kind: Kind, size: int, flavour: str, seed: int) -> Context:
    """Return a context of a kind; the same arguments give the same one."""
    source = random.Random(f"{kind} {size} {flavour} {seed}")
    if kind == "joint":
        return joint(size, flavour, source)
    if kind == "given":
        known = {f"k{place}": joint(size, flavour, source) for place in range(3)}
        rest = joint(size, flavour, source) if flavour == "random" else None
        return Conditional.of(
            known, {**dict.fromkeys(known, 3), "(other)": 1} if rest else None, rest=rest
        )
    if kind == "profiles":
        rows = {f"p{i}": counts(size, flavour, source) for i in range(3)}
        return ProfileGraph.chain(
            {name: dict(enumerate(row, start=1)) for name, row in rows.items()}
        )
    centre = prior(size, flavour, source)
    if kind == "prior":
        return centre
    if kind == "family":
        others = [prior(size, "random", source) for _ in range(2)]
        if flavour == "zeros":  # the same symbols never occur under any of them
            zero = [not count for count in centre.counts]
            others = [
                Prior(
                    centre.alphabet,
                    tuple(0 if no else c for no, c in zip(zero, other.counts, strict=True)),
                )
                for other in others
            ]
        return Family.of([centre, *others])
    if kind == "ball":
        return Ball.of(centre, Fraction(1, 50))
    width = Fraction(1, 4)
    ends = {
        label: (mass * (1 - width), min(Fraction(1), mass * (1 + width)))
        for label, mass in zip(centre.labels, centre.fractions, strict=True)
    }
    return Intervals.of(ends)


def members(found: Context) -> Iterator[Prior]:
    """Return some priors that a context allows: those at the corners that are easy to find."""
    if isinstance(found, Prior):
        yield found
    elif isinstance(found, Joint):
        yield found.prior
    elif isinstance(found, Family):
        yield from found.priors
        third = [Fraction(1, len(found.priors))] * len(found.priors)
        yield Prior.mixture(found.priors, third)
    elif isinstance(found, Ball):
        yield found.centre
        masses = list(found.centre.fractions)
        high, low = masses.index(max(masses)), masses.index(min(masses))
        moved = min(found.radius, masses[high])
        masses[high] -= moved
        masses[low] += moved
        yield Prior.from_probabilities(dict(zip(found.inputs.labels, masses, strict=True)))
    elif isinstance(found, Intervals):
        for order in (1, -1):
            left = 1 - sum(found.lower)
            masses = list(found.lower)
            for place in range(len(masses))[::order]:
                step = min(left, found.upper[place] - found.lower[place])
                masses[place] += step
                left -= step
            yield Prior.from_probabilities(dict(zip(found.inputs.labels, masses, strict=True)))
