"""The arc mechanism as a table: lifts by numerical integration, its values, every prior kept."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liftlock import Prior, design
from liftlock.designs import arc
from liftlock.errors import InputError
from liftlock.notions import ALIP, LIP, MaxLift, MinLift

SKEWED = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})


def test_against_a_fine_grid() -> None:
    """P(cell | x) by summing the density of u given T over a grid of T and u."""
    draft = arc(SKEWED, LIP("1"), parts=1)
    low, high = math.exp(-1), math.e
    width = (1 - low) / (high - low)
    cuts = [0.0, 0.1, 0.3, 1.0]
    starts = sorted({c % 1 for edge in cuts[:-1] for c in (edge, edge - width)})
    assert len(starts) == draft.matrix.shape[1] == 6
    grid = 2000
    u = (np.arange(grid) + 0.5) / grid
    cells = (np.searchsorted(starts, u, side="right") - 1) % 6
    for x, (begin, end) in enumerate(itertools.pairwise(cuts)):
        t = begin + (end - begin) * (np.arange(grid) + 0.5) / grid
        covered = ((t[:, None] - u[None, :]) % 1) < width
        density = np.where(covered, high, low).mean(axis=0) / grid
        expected = np.bincount(cells, density, minlength=6)
        assert draft.matrix[x] == pytest.approx(expected, abs=3e-3)


def test_values() -> None:
    """Finely cut, the values of the continuous window: .9048 and .143."""
    uniform = design(Prior.uniform(range(21)), LIP("1"), utility="histogram", method="arc")
    skewed = design(SKEWED, LIP("1"), method="arc")
    assert uniform.origin is not None
    assert skewed.origin is not None
    assert uniform.origin.objective == pytest.approx(0.9048, abs=1e-4)
    assert skewed.origin.objective == pytest.approx(0.143, abs=5e-4)
    coarse = design(SKEWED, LIP("1"), method="arc", parts=1)
    assert coarse.origin is not None
    assert coarse.origin.objective < skewed.origin.objective


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=12),
    st.sampled_from(["0.01", "0.5", "1", "3", "8"]),
    st.sampled_from(["0.01", "0.7", "2", "8"]),
)
def test_every_prior_is_kept(counts: list[int], lower: str, upper: str) -> None:
    prior = Prior.from_counts(dict(enumerate(counts)))
    mechanism = design(prior, ALIP(lower=lower, upper=upper), method="arc", parts=1)
    assert mechanism.certificate.holds
    assert len(mechanism.table.outputs) <= 2 * len(counts)


def test_one_sided_notions_and_huge_budgets() -> None:
    for notion in (MaxLift("1"), MinLift("1"), LIP("10"), LIP("14"), LIP("20"), LIP("1000")):
        assert design(SKEWED, notion, method="arc").certificate.holds


def test_thousands_of_symbols() -> None:
    counts = np.random.default_rng(1).integers(1, 1000, 600)
    prior = Prior.from_counts(dict(enumerate(counts.tolist())))
    draft = arc(prior, LIP("1"))
    assert draft.matrix.shape[1] <= 1200
    masses = prior.floats()
    lifts = draft.matrix / (masses @ draft.matrix)
    assert lifts.max() <= math.e * (1 + 1e-9)
    assert lifts.min() >= math.exp(-1) * (1 - 1e-9)


def test_parts_are_at_least_one() -> None:
    with pytest.raises(InputError, match="no parts"):
        arc(SKEWED, LIP("1"), parts=0)


@pytest.mark.parametrize("notion", [LIP("1"), ALIP(lower="1.3", upper="0.7")])
def test_several_orders_keep_the_budget(notion: LIP | ALIP) -> None:
    prior = Prior.from_counts({k: 60 // (k + 1) for k in range(7)})
    made = design(prior, notion, method="arc", orders=5)
    assert notion.certify(made.channel, prior).holds
    assert len(made.table.outputs.labels) == 5 * 14
    assert made.table.outputs.labels[-1] == "order 5, window 14"


def test_several_orders_tell_neighbours_apart() -> None:
    """The unbiased histogram of one order needs many times the people of sixteen."""
    prior = Prior.from_counts({k: 1000 // (k + 1) for k in range(10)})

    def worst(orders: int) -> float:
        rows = design(prior, LIP("1"), method="arc", parts=1, orders=orders).table.floats()
        scaled = rows / np.sqrt(prior.floats() @ rows)
        return float(np.diag(np.linalg.inv(scaled @ scaled.T)).max())

    assert worst(16) < worst(1) / 10


def test_orders_are_few() -> None:
    for orders in (0, 65):
        with pytest.raises(InputError, match="orders"):
            arc(SKEWED, LIP("1"), orders=orders)
