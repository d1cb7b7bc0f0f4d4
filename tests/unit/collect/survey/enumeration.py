"""What reports tell, by enumeration with fractions: nothing of it is what the package computes."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

Rows = Mapping[Hashable, Sequence[Fraction]]
"""The chances of every output, by input."""
Joint = Mapping[tuple[Hashable, ...], Fraction]
"""The chances of tuples of answers."""


def rows_of(mechanism: Any) -> Rows:
    """Return the chances of a mechanism's outputs, from the integers that are sampled."""
    channel = mechanism.channel
    return {
        label: [Fraction(int(weight), total) for weight in row]
        for label, row, total in zip(
            channel.inputs.labels, channel.weights, channel.totals, strict=True
        )
    }


def lifts(
    joint: Joint, tables: Sequence[Rows]
) -> list[tuple[tuple[Hashable, ...], tuple[int, ...], Fraction]]:
    """Return the lift of every tuple of answers by every tuple of reports."""
    found = []
    outputs = [range(len(next(iter(rows.values())))) for rows in tables]
    for ys in itertools.product(*outputs):
        likelihoods = {
            xs: _product(rows[x][y] for rows, x, y in zip(tables, xs, ys, strict=True))
            for xs in joint
        }
        mass = sum((joint[xs] * likelihoods[xs] for xs in joint), Fraction(0))
        if mass:
            found += [(xs, ys, likelihoods[xs] / mass) for xs in joint if joint[xs]]
    return found


def extremes(joint: Joint, tables: Sequence[Rows]) -> tuple[Fraction, Fraction]:
    """Return one over the least lift, and the largest."""
    every = [lift for *_, lift in lifts(joint, tables)]
    return 1 / min(every), max(every)


def event_extremes(joint: Joint, tables: Sequence[Rows]) -> tuple[Fraction, Fraction]:
    """Return the same for every event about the tuple: all sets of tuples but none and all."""
    tuples = [xs for xs in joint if joint[xs]]
    by_output: dict[tuple[int, ...], dict[tuple[Hashable, ...], Fraction]] = {}
    for xs, ys, lift in lifts(joint, tables):
        by_output.setdefault(ys, {})[xs] = lift
    every = []
    for size in range(1, len(tuples)):
        for event in itertools.combinations(tuples, size):
            mass = sum((joint[xs] for xs in event), Fraction(0))
            every += [
                sum((joint[xs] * known[xs] for xs in event), Fraction(0)) / mass
                for known in by_output.values()
            ]
    return 1 / min(every), max(every)


def ldp_ratio(tables: Sequence[Rows]) -> Fraction:
    """Return the largest ratio of the chances of any reports under any two tuples of answers."""
    largest = Fraction(1)
    outputs = [range(len(next(iter(rows.values())))) for rows in tables]
    inputs = list(itertools.product(*(rows for rows in tables)))
    for ys in itertools.product(*outputs):
        chances = [
            _product(rows[x][y] for rows, x, y in zip(tables, xs, ys, strict=True)) for xs in inputs
        ]
        largest = max(largest, max(chances) / min(chances))
    return largest


def _product(factors: Any) -> Fraction:
    found = Fraction(1)
    for factor in factors:
        found *= factor
    return found
