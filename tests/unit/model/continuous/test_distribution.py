"""Distributions of a number: masses and quantiles against scipy, and refusals in one clear line."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats

import liftlock as ll
from liftlock.errors import InputError
from liftlock.model.continuous import Distribution, Histogram, Mixture, Sample, parse_distribution
from liftlock.model.continuous import distribution as distributions
from liftlock.model.continuous.distribution import Smooth, read_numbers

PEAKS = Mixture.of([(0.25, -3, 0.5), (0.75, 2, 1.5)])
DISTRIBUTIONS: list[tuple[Distribution, Any]] = [
    (distributions.normal(50, 10), scipy.stats.norm(50, 10)),
    (distributions.uniform(-1, 3), scipy.stats.uniform(-1, 4)),
    (distributions.beta(2, 5, 10, 20), scipy.stats.beta(2, 5, 10, 10)),
    (distributions.lognormal(1, 0.5), scipy.stats.lognorm(0.5, scale=math.e)),
    (distributions.laplace(3, 2), scipy.stats.laplace(3, 2)),
    (distributions.from_scipy(scipy.stats.gamma(2, scale=3)), scipy.stats.gamma(2, scale=3)),
]


@pytest.mark.parametrize(
    ("distribution", "known"), DISTRIBUTIONS, ids=lambda each: getattr(each, "title", "")
)
def test_named_laws_are_those_of_scipy(distribution: Distribution, known: Any) -> None:
    shares = np.linspace(0.01, 0.99, 9)
    points = known.ppf(shares)
    assert distribution.below(points) == pytest.approx(shares)
    assert distribution.above(points) == pytest.approx(1 - shares)
    assert distribution.quantile(shares) == pytest.approx(points)
    assert distribution.support == known.support()
    assert isinstance(distribution, Smooth)
    assert distribution.density(points) == pytest.approx(known.pdf(points))


def test_a_mixture_is_the_sum_of_its_parts() -> None:
    points = np.linspace(-6, 8, 40)
    one, two = scipy.stats.norm(-3, 0.5), scipy.stats.norm(2, 1.5)
    assert PEAKS.below(points) == pytest.approx(0.25 * one.cdf(points) + 0.75 * two.cdf(points))
    assert PEAKS.above(points) == pytest.approx(0.25 * one.sf(points) + 0.75 * two.sf(points))
    assert PEAKS.density(points) == pytest.approx(0.25 * one.pdf(points) + 0.75 * two.pdf(points))
    shares = np.array([1e-9, 0.1, 0.25, 0.5, 0.999])
    assert PEAKS.below(PEAKS.quantile(shares)) == pytest.approx(shares, rel=1e-7)
    assert PEAKS.quantile([0.0, 1.0]).tolist() == [-math.inf, math.inf]


def test_tails_keep_their_digits() -> None:
    bell = distributions.normal(0, 1)
    assert float(bell.above(20)) == pytest.approx(scipy.stats.norm.sf(20), rel=1e-12)
    assert float(PEAKS.above(40)) == pytest.approx(0.75 * scipy.stats.norm.sf(38 / 1.5), rel=1e-9)


def test_a_sample_counts() -> None:
    seen = Sample.of([4, 1, 2, 2, 9])
    assert seen.below([1, 2, 2.5, 9, 10]).tolist() == [0.0, 0.2, 0.6, 0.8, 1.0]
    assert seen.above([9, 9.5]).tolist() == pytest.approx([0.2, 0.0])
    assert seen.quantile([0.0, 0.2, 0.21, 0.6, 1.0]).tolist() == [1, 1, 2, 2, 9]


def test_a_histogram_is_even_inside_its_bins() -> None:
    wages = Histogram.of([0, 10, 30, 40], [2, 0, 6])
    assert wages.support == pytest.approx((0, 40))
    assert wages.below([5, 10, 20, 35]).tolist() == [0.125, 0.25, 0.25, 0.625]
    assert wages.above([5, 35]).tolist() == [0.875, 0.375]
    assert wages.quantile([0.125, 0.625, 1.0]).tolist() == [5, 35, 40]
    assert wages.density([5, 20, 35, 50]).tolist() == [0.025, 0, 0.075, 0]
    known = scipy.stats.rv_histogram(
        (np.array([2, 0, 6]), np.array([0, 10, 30, 40])), density=False
    )
    points = np.linspace(1, 39, 17)
    assert wages.below(points) == pytest.approx(known.cdf(points))


@pytest.mark.parametrize(
    "values",
    [[1, 2.5], ["1", "2.5"], (Fraction(1), Decimal("2.5")), np.array([1, 2.5], np.float32)],
)
def test_numbers_of_any_kind(values: Any) -> None:
    assert read_numbers(values).tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, math.nan, 3], "not a finite number at value 2: nan; leave it out"),
        ([1, None, math.inf], r"value 2: nan; leave it out \(2 of 3 values are not finite\)"),
        ([1, -math.inf], "not a finite number at value 2: -inf"),
        ([1, "many"], "a value is not a number at value 2: 'many'"),
        ([1, object()], "a value is not a number at value 2"),
        ("12", "one text instead of numbers"),
        ([[1, 2], [3, 4]], "not a column of numbers"),
        ([[1], [2, 3]], "not a column of numbers"),
        ([True, False], "not a column of numbers"),
        ([1j, 2], "not a column of numbers"),
        (np.array(["2020-01-01"], "datetime64[D]"), "not a column of numbers"),
        ([], "no values; give at least two"),
        (7, "not a column of numbers"),
    ],
)
def test_what_is_not_a_column_of_numbers(values: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_numbers(values)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sample.of([3, 3, 3]), "all values are the same: 3.0"),
        (lambda: distributions.normal(0, -1), "normal: sd is not positive: -1"),
        (lambda: distributions.normal(0, math.inf), "sd is not positive"),
        (lambda: distributions.normal(math.nan, 1), "normal: mean is not a finite number"),
        (lambda: distributions.uniform(3, 3), "upper end is not above the lower"),
        (lambda: distributions.beta(0, 1), "beta: a is not positive"),
        (lambda: distributions.beta(1, 1, 2, 1), "beta: width is not positive"),
        (lambda: distributions.lognormal(0, 0), "sigma is not positive"),
        (lambda: distributions.laplace(0, -2), "scale is not positive"),
        (lambda: distributions.from_scipy(scipy.stats.gamma), "with fixed parameters"),
        (lambda: distributions.from_scipy(scipy.stats.poisson(3)), "is discrete"),
        (lambda: Mixture.of([(0.5, 0, 1), (0.4, 1, 1)]), "do not sum to 1: 0.9"),
        (lambda: Mixture.of([(1.5, 0, 1), (-0.5, 1, 1)]), "weight of a mixture is not positive"),
        (lambda: Mixture.of([(1, 0, 0)]), "deviation of a mixture is not positive"),
        (lambda: Mixture.of([(1, math.nan, 1)]), "not finite"),
        (lambda: Mixture.of([(1, 2)]), "not weight, mean and deviation"),
        (lambda: Mixture.of([]), "without components"),
        (lambda: Histogram.of([0, 1], [1, 2]), "2 edges for 2 bins"),
        (lambda: Histogram.of([0, 0, 1], [1, 2]), "do not ascend"),
        (lambda: Histogram.of([0, 1, 2], [0, 0]), "one above 0"),
        (lambda: Histogram.of([0, 1, 2], [1, -1]), "0 or more"),
    ],
)
def test_laws_that_are_none(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_laws_are_read_from_text() -> None:
    assert parse_distribution(" Normal( 50 , 10 ) ") == distributions.normal(50, 10)
    assert parse_distribution("beta(2, 3)").support == (0, 1)
    assert parse_distribution("beta(2, 3, 10, 20)").support == (10, 20)
    assert parse_distribution("lognormal(1,0.5)").describe() == "lognormal(1, 0.5)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("normal", "not a distribution: 'normal'; write one of normal"),
        ("normal(50; 10)", "wrong parameters"),
        (
            "normal(50)",
            r"wrong parameters of a distribution: 'normal\(50\)'; write normal\(MEAN, SD\)",
        ),
        ("normal(50, 10, 3)", "wrong parameters"),
        ("normal(50, nan)", "wrong parameters"),
        ("normal(50, -1)", "normal: sd is not positive: -1.0"),
        ("cauchy(0, 1)", "unknown distribution: 'cauchy'; use one of normal"),
        ("__import__('os')", "not a distribution|unknown distribution|wrong parameters"),
        ("", "not a distribution"),
    ],
)
def test_text_that_is_no_law(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_distribution(text)


def test_the_package_names_them_all() -> None:
    priors = [
        ll.continuous.normal(0, 1),
        ll.continuous.uniform(0, 1),
        ll.continuous.beta(2, 2),
        ll.continuous.lognormal(0, 1),
        ll.continuous.laplace(0, 1),
        ll.continuous.from_scipy(scipy.stats.gamma(2)),
        ll.continuous.mixture([(1, 0, 1)]),
        ll.continuous.from_data([1, 2, 3]),
        ll.continuous.from_histogram([0, 1, 2], [1, 3]),
    ]
    for prior in priors:
        assert sum(prior.discretise(8).fractions) == 1


def test_equal_values_are_not_called_public() -> None:
    """A value that only one person has shown is still theirs: the remedy is not to release it."""
    with pytest.raises(InputError) as refusal:
        Sample.of([7])
    assert "release" not in str(refusal.value)
    assert "add people, or give a distribution" in str(refusal.value)


def test_one_component_is_one_law() -> None:
    assert Mixture.of([(1, 0, 1)]).describe() == "a mixture of 1 normal distribution"
    assert PEAKS.describe() == "a mixture of 2 normal distributions"
