"""What pictures show of beliefs and of utility, against fractions computed by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock import Mechanism
from liftlock.model.columns import ColumnEncoding, TableEncoding
from liftlock.report.html.measures import Kept, Leak, output_counts
from tests.unit.report.html import examples


def posterior(made: Mechanism, secret: int, output: int) -> Fraction:
    """Return P(s | y) by summing the joint of s, x and y."""
    context = made.context
    assert isinstance(context, ll.Joint)
    masses = [
        sum(
            Fraction(count, context.total)
            * made.table.probability(x, made.table.outputs.labels[output])
            for x, count in zip(context.inputs.labels, row, strict=True)
        )
        for row in context.counts
    ]
    return Fraction(masses[secret]) / sum(masses)


def test_lifts_and_worst_beliefs() -> None:
    made = examples.careful()
    found = Leak.of(made)
    assert found is not None
    assert not found.banded
    high, low = found.highest(), found.lowest()
    for s in range(3):
        after = [float(posterior(made, s, y)) for y in range(4)]
        assert np.allclose(found.prior[s] * found.lifts[s], after, rtol=1e-12)
        assert (int(high[s]), int(low[s])) == (after.index(max(after)), after.index(min(after)))
        assert math.isclose(found.prior[s], sum(examples.COUNTS[s]) / 220)


def test_numbers_are_joined_to_bands_of_neighbours() -> None:
    made = examples.numbers().columns[0].mechanism
    assert isinstance(made, Mechanism)
    found = Leak.of(made)
    assert found is not None
    assert found.banded == 512
    assert len(found.secrets) == 16
    masses = np.array([float(mass) for mass in made.context.fractions])  # type: ignore[attr-defined]
    matrix = np.array(
        [[float(made.table.probability(x, y)) for y in made.table.outputs.labels]
         for x in made.table.inputs.labels]
    )  # fmt: skip
    edges = np.array(made.context.grid.edges)  # type: ignore[attr-defined]
    for place, name in enumerate(found.secrets):
        low, high = (float(end.replace(",", "")) for end in str(name).split(" to "))
        first, last = (int(np.abs(edges - end).argmin()) for end in (low, high))
        band = slice(first, last)
        assert math.isclose(found.prior[place], masses[band].sum(), rel_tol=1e-9)
        lifts = (masses[band] @ matrix[band]) / masses[band].sum() / (masses @ matrix)
        assert np.allclose(found.lifts[place], lifts, rtol=1e-9)
    assert math.isclose(found.prior.sum(), 1.0)


def test_the_extremes_of_both_sides_are_among_those_shown() -> None:
    made = examples.many().columns[0].mechanism
    assert isinstance(made, Mechanism)
    found = Leak.of(made)
    assert found is not None
    rows, columns = found.most_extreme(30, 60)
    assert (len(rows), len(columns)) == (30, 60)
    for place in (found.lifts.argmax(), found.lifts.argmin()):
        row, column = np.unravel_index(int(place), found.lifts.shape)
        assert row in rows
        assert column in columns


def test_what_is_kept() -> None:
    kept = Kept.of(examples.careful())
    assert kept is not None
    prior = [sum(column) / 220 for column in zip(*examples.COUNTS, strict=True)]
    rows = [[0.7 * (x == y) + 0.3 / 4 for y in range(4)] for x in range(4)]
    shares = [sum(prior[x] * rows[x][y] for x in range(4)) for y in range(4)]
    information = sum(
        prior[x] * rows[x][y] * math.log(rows[x][y] / shares[y]) for x in range(4) for y in range(4)
    )
    whole = -sum(mass * math.log(mass) for mass in prior)
    part, entropy = kept.information()
    assert part == pytest.approx(information, rel=1e-9)
    assert entropy == pytest.approx(whole, rel=1e-12)
    assert kept.true_share() == pytest.approx(0.7 + 0.3 / 4, rel=1e-9)
    right = sum(max(prior[x] * rows[x][y] for x in range(4)) for y in range(4))
    assert kept.guessed() == pytest.approx((right, max(prior)), rel=1e-9)


def test_released_values_are_counted_as_they_were_written() -> None:
    draft = ll.Draft.of([1, 2, "(missing)"], [1, 2, "(missing)"], 0.4 * np.eye(3) + 0.2)
    made = ll.lock(draft, ll.LIP("1"), ll.Prior.uniform([1, 2, "(missing)"]))
    rules = TableEncoding((ColumnEncoding("x", missing="(missing)"),))
    coded = Mechanism(made.channel, made.certificate, made.context, None, rules)
    # A missing output is an empty cell, and CSV files hold text.
    assert output_counts(coded, {"1": 3, 2: 4, None: 5}) == ((3, 4, 5), 0)
    assert output_counts(made, {1: 3, None: 5}) == ((3, 0, 0), 5)
