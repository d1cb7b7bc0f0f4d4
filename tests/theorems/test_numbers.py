"""What cutting numbers into cells does to a guarantee: before the noise nothing, after it no harm.

A refined world has the same distribution of reports, with every cell split into finer values that
answer alike. Its audit is the audit of X itself, as finely as one likes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Prior, Table
from liftlock.notions import LIP, ApproximateLIP

BITS = 20


@st.composite
def bins(draw: st.DrawFn) -> tuple[Prior, Table, list[list[int]]]:
    """Return a prior of cells, a table on them, and the counts that each cell is split into."""
    number = draw(st.integers(2, 5))
    outputs = draw(st.integers(2, 5))
    parts = [draw(st.lists(st.integers(1, 50), min_size=1, max_size=4)) for _ in range(number)]
    rows = []
    for _ in range(number):
        cuts = sorted(
            draw(st.lists(st.integers(0, 1 << BITS), min_size=outputs - 1, max_size=outputs - 1))
        )
        rows.append(np.diff([0, *cuts, 1 << BITS]).tolist())
    prior = Prior.from_counts({f"cell {i}": sum(part) for i, part in enumerate(parts)})
    names = Prior.uniform(range(outputs)).alphabet
    return prior, Table.of(prior.alphabet, names, np.array(rows), BITS), parts


def refined(prior: Prior, table: Table, parts: list[list[int]]) -> tuple[Prior, Table]:
    """Split the cells; every part answers as its cell does."""
    split = Prior.from_counts(
        {
            (label, k): count
            for label, part in zip(prior.labels, parts, strict=True)
            for k, count in enumerate(part)
        }
    )
    rows = [row for row, part in zip(table.weights.tolist(), parts, strict=True) for _ in part]
    return split, Table.of(split.alphabet, table.outputs, np.array(rows), BITS)


@settings(max_examples=60, deadline=None)
@given(bins(), st.sampled_from(["0.1", "0.7", "2"]))
def test_cutting_the_input_is_linkage(
    world: tuple[Prior, Table, list[list[int]]], epsilon: str
) -> None:
    """000 section III: the lift of a value is the lift of its cell, and so is its delta."""
    prior, table, parts = world
    finer, channel = refined(prior, table, parts)
    assert LIP.measure(channel, finer).value == LIP.measure(table, prior).value
    for form in ("ediv", "def5"):
        coarse = ApproximateLIP.measure(table, prior, epsilon, form).value
        assert ApproximateLIP.measure(channel, finer, epsilon, form).value == coarse
    # The joint form weighs by the probability of the value: it shrinks with the cell.
    fine = ApproximateLIP.measure(channel, finer, epsilon, "joint").value
    coarse = ApproximateLIP.measure(table, prior, epsilon, "joint").value
    assert fine.upper is not None
    assert coarse.upper is not None
    assert fine.lower <= coarse.upper


@settings(max_examples=60, deadline=None)
@given(bins(), st.sampled_from(["0.1", "0.7", "2"]))
def test_cutting_the_output_is_post_processing(
    world: tuple[Prior, Table, list[list[int]]], epsilon: str
) -> None:
    """000 section III: joining neighbouring outputs never leaks more."""
    prior, table, _ = world
    joined = np.add.reduceat(table.weights, np.arange(0, len(table.outputs), 2), axis=1)
    names = Prior.uniform(range(joined.shape[1])).alphabet
    coarse = Table.of(table.inputs, names, joined, BITS)
    before, after = LIP.measure(table, prior).value, LIP.measure(coarse, prior).value
    assert before.is_infinite or float(after) <= float(before) + 1e-12
    for form in ("ediv", "def5", "joint"):
        less = ApproximateLIP.measure(coarse, prior, epsilon, form).value
        more = ApproximateLIP.measure(table, prior, epsilon, form).value
        assert more.upper is not None
        assert less.lower <= more.upper + Fraction(1, 10**30)
