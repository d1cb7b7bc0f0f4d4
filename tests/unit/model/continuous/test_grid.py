"""Cutting the line: masses, means and variances of cells, and where a number goes."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock.designs.noise.axis import Axis
from liftlock.errors import CountError, InputError, LiftlockError
from liftlock.model import context_from_data
from liftlock.model.continuous import ContinuousPrior, Grid, GridPrior, Mixture, read_domain
from liftlock.model.continuous.distribution import Smooth
from liftlock.model.continuous.grid import number_labels

NUMBERS = st.one_of(
    st.integers(-50, 50).map(float),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)
COLUMNS = st.lists(NUMBERS, min_size=2, max_size=60).filter(lambda xs: len(set(xs)) > 1)
CONTINUOUS = {
    "normal": ll.continuous.normal(50, 10, domain=(20, 75)),
    "peaked": ll.continuous.normal(0.2, 0.01, domain=(-40, 60)),
    "mixture": ll.continuous.mixture([(0.25, -3, 0.5), (0.75, 2, 1.5)], domain=(-5, 4)),
    "laplace": ll.continuous.laplace(1, 2, domain=(-5, 8)),
    "beta": ll.continuous.beta(2, 3),
    "steep": ll.continuous.beta(0.5, 0.7),
    "uniform": ll.continuous.uniform(0.3, 0.7, domain=(0, 1)),
    "lognormal": ll.continuous.lognormal(0, 1, domain=(0, 8)),
    "histogram": ll.continuous.from_histogram([0, 1, 5, 6], [1, 0, 3], domain=(0, 7)),
}


def bin_moments(
    prior: ContinuousPrior, low: float, high: float, *, last: bool
) -> tuple[float, ...]:
    """Integrate mass, mean and variance of the clamped X in a cell with scipy's quadrature."""
    distribution = prior.distribution
    assert isinstance(distribution, Smooth)
    tails = 10.0 ** np.arange(-9, 0, 2)
    shares = np.concatenate([tails, np.arange(1, 12) / 12, 1 - tails])
    inner = [q for q in distribution.quantile(shares).tolist() if low < q < high]
    cuts = sorted({low, high, *inner, *(kink for kink in distribution.kinks if low < kink < high)})

    def integral(power: int) -> float:
        parts = [
            scipy.integrate.quad(
                lambda x: (x - low) ** power * float(distribution.density(x)), a, b, epsabs=1e-13
            )[0]
            for a, b in pairwise(cuts)
        ]
        return math.fsum(parts)

    mass, first, second = (integral(power) for power in range(3))
    if low == prior.lower:
        mass += float(distribution.below(low))
    if last:
        over = float(distribution.above(high))
        mass, first = mass + over, first + over * (high - low)
        second += over * (high - low) ** 2
    return mass, low + first / mass, second / mass - (first / mass) ** 2


@pytest.mark.parametrize("spacing", ["mass", "width"])
@pytest.mark.parametrize("name", [name for name in CONTINUOUS if name != "steep"])
def test_cells_hold_what_the_law_puts_there(name: str, spacing: str) -> None:
    prior = CONTINUOUS[name]
    # A cell must resolve the peak: one on the widest domain holds nothing of it otherwise.
    cut = prior.discretise(9 if name != "peaked" or spacing == "mass" else 4001, spacing)
    edges = cut.grid.edges
    assert (edges[0], edges[-1]) == (prior.lower, prior.upper)
    for bin_index, (low, high) in enumerate(pairwise(edges)):
        mass, mean, variance = bin_moments(prior, low, high, last=bin_index == len(edges) - 2)
        scale = max(math.sqrt(max(variance, 0.0)), 1e-9 * (high - low))
        assert float(cut.fractions[bin_index]) == pytest.approx(mass, abs=1e-8)
        if mass < 1e-9:
            continue  # its mean does not matter, and quadrature cannot see it
        assert cut.points[bin_index] == pytest.approx(mean, abs=2e-3 * scale + 1e-9)
        assert cut.grid.variances[bin_index] == pytest.approx(variance, rel=2e-3, abs=1e-9)


@pytest.mark.parametrize("name", ["normal", "mixture", "lognormal", "steep", "histogram"])
def test_the_whole_variance_is_kept(name: str) -> None:
    """Between cells and inside them: together the variance of the clamped X."""
    prior = CONTINUOUS[name]
    shares = (np.arange(20_000) + 0.5) / 20_000
    clamped = np.clip(prior.distribution.quantile(shares), prior.lower, prior.upper)
    for spacing in ("mass", "width"):
        cut = prior.discretise(24, spacing)
        masses = cut.floats()
        mean = float(masses @ cut.points)
        between = float(masses @ (cut.points - mean) ** 2)
        assert mean == pytest.approx(clamped.mean(), abs=1e-3 * clamped.std())
        assert between + cut.variance_within_bins == pytest.approx(clamped.var(), rel=2e-3)


def test_equal_mass_is_exactly_equal() -> None:
    cut = ll.continuous.normal(0, 1, domain=(-50, 50)).discretise(64)
    assert set(cut.counts) == {1}
    assert cut.grid.joined == 0
    assert cut.fractions[0] == Fraction(1, 64)


@settings(max_examples=60)
@given(COLUMNS, st.integers(2, 24), st.sampled_from(["mass", "width"]))
def test_a_sample_is_counted(values: list[float], bins: int, spacing: str) -> None:
    prior = ll.continuous.from_data(values)
    try:
        cut = prior.discretise(bins, spacing)
    except InputError:
        # All values so close together that no cell separates them.
        assert len(set(values)) <= 2 or spacing == "width" or np.ptp(values) < 1e-300
        return
    column = np.array(values)
    edges = np.array(cut.grid.edges)
    assert (np.diff(edges) > 0).all()
    assert (edges[0], edges[-1]) == (column.min(), column.max())
    assert cut.total == len(values)
    assert min(cut.counts) > 0
    assert len(cut.counts) == bins - cut.grid.joined <= bins
    codes = cut.grid.encode(column)
    assert np.bincount(codes, minlength=len(cut.counts)).tolist() == list(cut.counts)
    for bin_index, count in enumerate(cut.counts):
        inside = column[codes == bin_index]
        assert (edges[bin_index] <= inside).all()
        assert (inside <= edges[bin_index + 1]).all()
        tolerance = 1e-3 * inside.std() + 1e-9 * np.abs(column).max()
        assert cut.points[bin_index] == pytest.approx(inside.mean(), abs=tolerance)
        assert cut.grid.variances[bin_index] == pytest.approx(
            inside.var(), rel=1e-6, abs=tolerance**2
        )
        assert edges[bin_index] <= cut.points[bin_index] <= edges[bin_index + 1]
        assert count == len(inside)
    assert len(set(cut.labels)) == len(cut.labels)


@settings(max_examples=60)
@given(COLUMNS, st.integers(2, 24))
def test_cells_of_equal_mass_are_as_equal_as_ties_allow(values: list[float], bins: int) -> None:
    try:
        cut = ll.continuous.from_data(values).discretise(bins)
    except InputError:
        return
    ties = max(values.count(value) for value in values)
    assert max(cut.counts) <= math.ceil(len(values) / bins) + ties


@settings(max_examples=40)
@given(
    COLUMNS,
    st.floats(-100, 100, allow_nan=False),
    st.floats(0.5, 1e4),
    st.integers(2, 16),
)
def test_what_lies_outside_is_clamped_and_reported(
    values: list[float], lower: float, width: float, bins: int
) -> None:
    column = np.array(values)
    below = float((column < lower).mean())
    above = float((column > lower + width).mean())
    domain = (lower, lower + width)
    if below + above > 0.5:
        with pytest.raises(InputError, match="the domain holds only"):
            ll.continuous.from_data(values, domain=domain)
        return
    clipped = np.clip(column, lower, lower + width)
    if np.ptp(clipped) == 0:
        with pytest.raises(InputError, match="falls into one bin"):
            ll.continuous.from_data(values, domain=domain).discretise(bins)
        return
    cut = ll.continuous.from_data(values, domain=domain).discretise(bins)
    assert (cut.grid.below, cut.grid.above) == pytest.approx((below, above))
    assert cut.total == len(values)
    assert cut.grid.outside(column) == round((below + above) * len(values))
    assert (cut.grid.encode(column) == cut.grid.encode(clipped)).all()
    assert bool(cut.grid.describe_clamping()) == (below + above > 0)


def test_mass_at_the_upper_end_keeps_its_cell() -> None:
    values = [*range(10), *[25] * 10]
    cut = ll.continuous.from_data(values, domain=(0, 20)).discretise(4)
    assert cut.grid.above == 0.5
    assert cut.counts[-1] == 10
    assert cut.grid.edges[-2] > 9
    assert cut.points[-1] == 20


def test_the_point_of_a_cell_stays_inside_the_domain() -> None:
    values = [-5.0] * 40 + list(np.linspace(0.4, 90, 60))
    cut = ll.continuous.from_data(values, domain=(1 / 3, 90)).discretise(3)
    assert cut.points.min() >= 1 / 3
    assert Axis.of(cut).lower == 1 / 3  # which refuses points outside


def test_every_edge_is_a_round_number_and_nobodys_value() -> None:
    values = np.random.default_rng(1).normal(50_000, 9_000, 500).round(2)
    edges = ll.continuous.from_data(values, domain=(0, 100_000)).discretise(8).grid.edges
    assert not set(edges) & set(values.tolist())
    assert all(edge == round(edge, 1) for edge in edges)


def test_a_number_finds_its_cell() -> None:
    grid = Grid((0.0, 10.0, 30.0), "mass", "", 0.0, 0.0, (1.0, 2.0))
    assert grid.encode([-5, 0, 9.99, 10, 30, 31]).tolist() == [0, 0, 0, 1, 1, 1]
    assert grid.outside([-5, 0, 30, 31]) == 2
    with pytest.raises(InputError, match="not a finite number"):
        grid.encode([math.nan])


def test_a_grid_is_written_and_read() -> None:
    for prior in (CONTINUOUS["normal"], ll.continuous.from_data([1, 2, 2, 7.5], domain=(0, 7))):
        cut = prior.discretise(4)
        data = json.loads(json.dumps(cut.to_data()))
        again = context_from_data(data)
        assert isinstance(again, GridPrior)
        assert again == cut
        assert hash(again) == hash(cut)
        assert again.grid.to_data() == cut.grid.to_data()
        assert again.fingerprint == cut.fingerprint
    assert cut != ll.Prior.uniform("ab")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data["grid"].__setitem__("spacing", "even"), "unknown spacing"),
        (lambda data: data["grid"]["edges"].reverse(), "do not ascend"),
        (lambda data: data["grid"]["edges"].pop(), "cells|variances"),
        (lambda data: data["grid"].__setitem__("edges", 3), "not a list"),
        (lambda data: data.__setitem__("grid", None), "not an object"),
        (lambda data: data["counts"].__setitem__(0, 0), "probability 0"),
        (lambda data: data.__setitem__("labels", data["labels"]["labels"]), "coordinate|symbols"),
    ],
)
def test_a_changed_grid_is_refused(change: Any, words: str) -> None:
    data = json.loads(json.dumps(CONTINUOUS["normal"].discretise(4).to_data()))
    change(data)
    with pytest.raises(LiftlockError, match=words):
        context_from_data(data)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ((5, 5), "upper end of the domain is not above the lower"),
        ((5, 1), r"\[5.0, 1.0\]; give the lower end first"),
        ("5:1", "lower end first"),
        ("5", "not a domain: '5'; write it like 0:300000"),
        ("0:", "not a domain"),
        ("0:1:2", "not a domain"),
        ("a:b", "not two finite numbers"),
        ((0, math.inf), "not two finite numbers"),
        ((0, math.nan), "not two finite numbers"),
        ((0, 1, 2), "a domain of 3 numbers"),
        (7, "not a domain: 7"),
    ],
)
def test_domains_that_are_none(domain: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_domain(domain)


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (1, "out of range: 1; give 2 to 4096 bins"),
        (0, "out of range: 0"),
        (-3, "out of range: -3"),
        (4097, "out of range: 4097"),
        (2.5, "not a whole number: 2.5"),
        (True, "not a whole number"),
        ("512", "not a whole number"),
    ],
)
def test_grids_that_are_none(bins: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        CONTINUOUS["normal"].discretise(bins)


def test_other_refusals() -> None:
    with pytest.raises(InputError, match=r"the domain holds only 2\.5 % of normal\(0, 1\)"):
        ll.continuous.normal(0, 1, domain=(1.959963984540054, 50))
    with pytest.raises(InputError, match="holds only 20 % of 5 values"):
        ll.continuous.from_data([1, 2, 3, 4, 5], domain=(4.5, 9))
    with pytest.raises(InputError, match="the whole prior falls into one bin"):
        ll.continuous.normal(0, 1e-3, domain=(-5, 1000)).discretise(4, "width")
    with pytest.raises(InputError, match="unknown spacing: 'even'; use mass or width"):
        CONTINUOUS["normal"].discretise(4, "even")
    with pytest.raises(InputError, match="all values are the same"):
        ll.continuous.from_data([2, 2, 2])
    grid = Grid((0.0, 1.0, 2.0), "mass", "", 0, 0, (0, 0))
    with pytest.raises(CountError, match="3 symbols for 2 bins"):
        GridPrior(ll.Alphabet.of("abc", [1, 2, 3]), (1, 1, 1), grid)


def test_the_largest_grid() -> None:
    cut = ll.continuous.normal(0, 1).discretise(4096)
    assert len(cut.counts) == 4096 - cut.grid.joined
    assert len(set(cut.labels)) == len(cut.labels)


def test_domains_by_default() -> None:
    assert (ll.continuous.from_data([3, 1, 2]).lower, ll.continuous.from_data([3, 1, 2]).upper) == (
        1,
        3,
    )
    bell = ll.continuous.normal(0, 1)
    assert (bell.below, bell.above) == pytest.approx((0.0005, 0.0005))
    assert (ll.continuous.beta(2, 2).lower, ll.continuous.beta(2, 2).upper) == (0, 1)
    assert ll.continuous.lognormal(0, 1).lower == 0


def test_a_law_in_the_cells_of_another_prior() -> None:
    made_for = ll.continuous.from_data(range(100), domain=(0, 100)).discretise(10)
    other = ll.continuous.from_data([5, 5, 15, 250]).masses_on(made_for)
    assert other.labels == made_for.labels
    assert other.counts == (2, 1, 0, 0, 0, 0, 0, 0, 0, 1)
    bell = ContinuousPrior.of(Mixture.of([(1, 50, 20)]), (0, 100)).masses_on(made_for)
    edges = np.array(made_for.grid.edges)
    expected = np.diff(scipy.stats.norm(50, 20).cdf([-np.inf, *edges[1:-1], np.inf]))
    assert bell.floats() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30)
@given(st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1, max_size=12, unique=True))
def test_labels_of_numbers_stay_apart(numbers: list[float]) -> None:
    numbers = sorted(numbers)
    labels, coordinates = number_labels(numbers, 0.5)
    assert len(set(labels)) == len({float(number) for number in numbers})
    assert labels == [float(each) for each in coordinates]
    assert labels == sorted(labels)
    assert labels == pytest.approx(numbers, abs=1e-3)


def test_words() -> None:
    cut = ll.continuous.from_data([1, 2, 3, 400_000], domain=(0, 300_000)).discretise(8)
    assert cut.grid.describe().startswith("4 bins of equal probability on [0, 300000], ")
    assert "(4 fewer than 8: equal values share a bin)" in cut.grid.describe()
    assert cut.grid.describe_clamping() == (
        "of the prior, 25 % above the domain is clamped to its ends"
    )
    assert cut.describe() == "a prior on 4 cells of [0, 300000]"
    assert str(cut).startswith("4 values: 4 bins")


@pytest.mark.parametrize("values", [[-1.7e308, 0, 1.7e308], [0, 1e200], [0, 5e-324], [0, 1e-200]])
def test_numbers_whose_squares_floats_cannot_hold(values: list[float]) -> None:
    with pytest.raises(InputError, match="too large, or too"):
        ll.continuous.from_data(values)


def test_edges_that_floats_cannot_tell_apart() -> None:
    near = ll.continuous.from_data([1.0, 1.0 + 2.0**-52, 1.0 + 2.0**-50])
    with pytest.raises(InputError, match="edges of 8 bins"):
        near.discretise(8, "width")
    assert near.discretise(2, "width").counts == (2, 1)


def test_integer_masses_are_those_of_the_law_to_what_is_documented() -> None:
    for bins in (7, 512, 4096):
        for spacing in ("mass", "width"):
            cut = ll.continuous.normal(50, 10, domain=(20, 75)).discretise(bins, spacing)
            edges = np.array(cut.grid.edges)
            edges[0], edges[-1] = -np.inf, np.inf
            distribution = scipy.stats.norm(50, 10)
            true = np.where(
                edges[1:] > 50, -np.diff(distribution.sf(edges)), np.diff(distribution.cdf(edges))
            )
            assert np.abs(cut.floats() - true).sum() < 1e-8


def test_a_quantile_that_is_not_found_exactly_does_no_harm() -> None:
    """scipy gives up on quantiles of this distribution below 1e-10, with a warning."""
    cut = ll.continuous.beta(0.5, 2).discretise(16)
    edges = np.array(cut.grid.edges)
    assert cut.floats() == pytest.approx(np.diff(scipy.stats.beta(0.5, 2).cdf(edges)), abs=1e-11)
    inside = [
        scipy.integrate.quad(lambda x: x * scipy.stats.beta(0.5, 2).pdf(x), low, high)[0]
        for low, high in pairwise(edges)
    ]
    assert cut.points * cut.floats() == pytest.approx(inside, abs=1e-6)
