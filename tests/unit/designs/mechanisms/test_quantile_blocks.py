"""Quantile blocks, against their closed form, the edges of their budget and the optimum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import design, quantile_blocks
from liftlock.designs.mechanisms.quantile_blocks import block_shares, two_blocks
from liftlock.errors import InputError
from liftlock.notions import MaxLift, MinLift, Notion


def lifts(draft: ll.Draft, masses: np.ndarray) -> np.ndarray:
    return np.asarray(draft.matrix / (masses @ draft.matrix))


@pytest.mark.parametrize("blocks", [3, 4, 5, 8])
def test_every_lift_is_at_a_limit_when_the_number_of_blocks_is_whole(blocks: int) -> None:
    prior = ll.Prior.uniform(range(120))
    draft = quantile_blocks(prior, ll.LIP(f"ln {blocks - 1}"))
    assert draft.matrix.shape == (120, blocks)
    found = np.unique(lifts(draft, prior.floats()).round(9))
    assert found.tolist() == pytest.approx([1 / (blocks - 1), blocks - 1])
    own = (blocks - 1) / blocks
    assert draft.matrix.max() == pytest.approx(own, rel=1e-12)
    assert draft.matrix.min() == pytest.approx(1 / (blocks * (blocks - 1)), rel=1e-12)


@pytest.mark.parametrize("blocks", [3, 4, 6])
def test_explained_variance_of_evenly_spread_numbers(blocks: int) -> None:
    """(1 - 1/E)^2 (1 - p^2) Var X, for X uniform on an interval; the cells add their width."""
    prior = ll.continuous.uniform(0, 1).discretise(240)
    made = design(prior, ll.LIP(f"ln {blocks - 1}"), utility="mean", method="quantile-blocks")
    assert made.origin is not None
    ratio, crowd = blocks - 1, 1 / blocks
    explained = (1 - 1 / ratio) ** 2 * (1 - crowd**2) / 12
    left = 1 / 12 - explained
    assert made.origin.objective + prior.variance_within_bins == pytest.approx(left, rel=1e-6)
    best = design(prior, ll.LIP(f"ln {blocks - 1}"), utility="mean", gap=1e-5)
    assert best.origin is not None
    assert best.origin.bound == pytest.approx(made.origin.objective, abs=3e-5 / 12)


def test_the_optimum_is_better_where_one_plus_e_is_not_whole_and_for_clusters() -> None:
    normal = ll.continuous.normal(0, 1, domain=(-4, 4)).discretise(96)
    clusters = ll.Prior.from_counts(
        {1: 5, 2: 5, 3: 5, 1001: 9, 1002: 9, 2001: 20, 2002: 20, 2003: 2}
    )
    for prior, notion in ((normal, ll.LIP("1")), (clusters, ll.LIP("ln 3"))):
        blocks = design(prior, notion, utility="mean", method="quantile-blocks").origin
        best = design(prior, notion, utility="mean", gap=1e-4).origin
        assert blocks is not None
        assert best is not None
        assert best.objective < 0.99 * blocks.objective


@pytest.mark.parametrize(
    "notion",
    [
        ll.LIP("0.05"),
        ll.LIP("1"),
        ll.LIP("3.3"),
        ll.LIP("30"),
        ll.ALIP(lower="1.3", upper="0.5"),
        ll.ALIP(lower="0.2", upper="2"),
        MaxLift("0.3"),
        MaxLift("2"),
        MinLift("0.7"),
    ],
    ids=str,
)
def test_every_budget_is_kept_with_atoms_and_cut_cells(notion: Notion) -> None:
    generator = np.random.default_rng(5)
    counts = generator.integers(1, 50, 23)
    counts[7] = 600
    points = generator.permutation(23) ** 2
    prior = ll.Prior.from_counts({int(t): int(c) for t, c in zip(points, counts, strict=True)})
    made = design(prior, notion, utility="mean", method="quantile-blocks")
    assert made.certificate.holds
    assert made.origin is not None
    assert made.origin.objective <= (made.origin.nothing or 0.0)


def test_cells_are_cut_in_proportion() -> None:
    masses = np.array([Fraction(1, 10), Fraction(5, 10), Fraction(4, 10)], dtype=float)
    # Blocks end at 1/3 and 2/3: the middle cell reaches from 0.1 to 0.6.
    expected = [[1, 0, 0], [7 / 15, 8 / 15, 0], [0, 1 / 6, 5 / 6]]
    assert block_shares(masses, 3) == pytest.approx(np.array(expected), abs=1e-12)
    assert masses @ block_shares(masses, 3) == pytest.approx(np.full(3, 1 / 3))


def test_blocks_inside_one_cell_are_one_output() -> None:
    prior = ll.Prior.from_counts({0: 1, 1: 98, 2: 1})
    draft = quantile_blocks(prior, ll.ALIP(lower="2", upper="2"))
    assert draft.matrix.shape[1] == 3
    assert draft.matrix.sum(axis=1) == pytest.approx(np.ones(3))


def test_two_unequal_blocks_where_no_two_equal_ones_fit() -> None:
    """U + L < 2: the best cut and the best two answers, against all of them."""
    notion = ll.ALIP(lower="1.3", upper="0.5")
    lower, upper = math.exp(-1.3), math.exp(0.5)
    assert upper + lower < 2
    points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    masses = np.array([0.1, 0.3, 0.3, 0.2, 0.1])
    rows, below = two_blocks(masses, points, lower, upper)

    def explained(matrix: np.ndarray) -> float:
        joint = masses[:, None] * matrix
        return float(((points @ joint) ** 2 / joint.sum(axis=0)).sum() - (masses @ points) ** 2)

    best = 0.0
    for cut in range(1, 5):
        for first in np.linspace(0, 1, 101):
            for second in np.linspace(0, 1, 101):
                likely = np.where(np.arange(5) < cut, first, second)
                matrix = np.stack([likely, 1 - likely], axis=1)
                weights = masses @ matrix
                if weights.min() <= 0:
                    continue
                ratio = matrix / weights
                if ratio.max() <= upper and ratio.min() >= lower:
                    best = max(best, explained(matrix))
    assert explained(rows) >= best
    assert explained(rows) <= 1.1 * best
    assert below in np.cumsum(masses)
    prior = ll.Prior.from_probabilities(
        {str(int(t)): str(m) for t, m in zip(points, masses.round(1), strict=True)}
    )
    made = design(prior, notion, utility="mean", method="quantile-blocks")
    assert made.certificate.holds
    assert made.origin is not None
    assert "two unequal blocks" in " ".join(made.origin.remarks)


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="needs numbers"):
        quantile_blocks(ll.Prior.uniform("abc"), ll.LIP("1"))


def test_symbols_of_the_same_number_get_blocks_with_names() -> None:
    prior = ll.Prior.from_counts({f"0.{'0' * k}": 1 for k in range(1, 7)})
    draft = quantile_blocks(prior, ll.LIP("ln 2"))
    assert draft.outputs.labels == ("block 1", "block 2", "block 3")


@pytest.mark.parametrize(
    "counts",
    [
        {1: 1, 2: 10**15},
        {1: 10**15, 2: 1},
        {0: 1, 1: 1, 2: 10**15, 3: 5},
        {0: 22, 1: 41491166, 2: 6, 3: 68050048183877, 4: 2, 5: 7928625993302},
        {0: 10**200, 1: 1, 2: 10**200, 3: 1},
    ],
)
@pytest.mark.parametrize("epsilon", ["1e-6", "0.1", "1", "10", "30"])
def test_cells_too_rare_for_a_share_of_their_own(counts: dict[int, int], epsilon: str) -> None:
    made = design(ll.Prior.from_counts(counts), ll.LIP(epsilon), method="quantile-blocks")
    assert made.certificate.holds


def test_a_rare_cell_lies_in_the_block_where_its_middle_is() -> None:
    masses = np.array([1e-20, 0.5, 1e-20, 0.5, 1e-20])
    shares = block_shares(masses, 2)
    assert shares[[0, 1, 3, 4]].tolist() == [[1, 0], [1, 0], [0, 1], [0, 1]]
    assert sorted(shares[2].tolist()) == [0, 1]


def test_two_blocks_beside_a_likely_cell_keep_the_exact_odds() -> None:
    """The last cell has mass 1e-20, so the mass below it is 1 in floats."""
    masses, lower, upper = np.array([0.5, 0.5, 1e-20]), 1 / 1.2, 1.2
    rows, below = two_blocks(masses, np.array([0.0, 0.0, 1e15]), lower, upper)
    a, b = 1 - Fraction(1, 10**20), Fraction(1, 10**20)
    rise = min(a * Fraction(upper) - a, b - b * Fraction(lower))
    fall = min(a - a * Fraction(lower), b * Fraction(upper) - b)
    weight = fall / (rise + fall)
    assert below == 1.0
    assert rows[0, 0] == pytest.approx(float(weight * (1 + rise / a)), rel=1e-12)
    assert rows[2, 0] == pytest.approx(float(weight * (1 - rise / b)), rel=1e-12)
