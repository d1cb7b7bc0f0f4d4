"""Fitted distributions: parameters against scipy and closed forms, BIC, the largest distance."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

import liftlock as ll
from liftlock import Step
from liftlock.errors import InputError
from liftlock.model.continuous import FITS, Fit, Histogram, Mixture, Parametric, Sample
from liftlock.model.continuous.fit import distance, round_bins

RANDOM = np.random.default_rng(20)
NORMAL = RANDOM.normal(50_000, 9_000, 400)
POSITIVE = RANDOM.lognormal(10, 0.4, 400)
TWO = np.concatenate([RANDOM.normal(30_000, 3_000, 300), RANDOM.normal(70_000, 6_000, 200)])


@pytest.fixture(scope="module")
def peaks() -> Fit:
    return ll.continuous.fit(TWO, domain=(0, 100_000), most=3)


def test_a_mixture_finds_the_peaks(peaks: Fit) -> None:
    distribution = peaks.distribution
    assert isinstance(distribution, Mixture)
    assert distribution.weights == pytest.approx((0.6, 0.4), abs=0.02)
    assert distribution.means == pytest.approx((30_000, 70_000), rel=0.02)
    assert distribution.deviations == pytest.approx((3_000, 6_000), rel=0.15)
    assert [score.components for score in peaks.scores] == [1, 2, 3]
    assert min(peaks.scores, key=lambda score: score.bic).components == 2
    assert peaks.distance < 0.05


def test_bic_is_that_of_the_numbers_themselves(peaks: Fit) -> None:
    """On the scale of the data, so that the scores of different distributions can be compared."""
    distribution, score = peaks.distribution, peaks.scores[1]
    assert isinstance(distribution, Mixture)
    likelihood = float(np.log(distribution.density(TWO)).sum())
    assert score.likelihood == pytest.approx(likelihood, rel=1e-9)
    assert score.bic == pytest.approx(5 * math.log(len(TWO)) - 2 * likelihood)
    one = ll.continuous.fit(TWO, distribution="normal", domain=(0, 100_000)).scores[0]
    assert peaks.scores[0].bic == pytest.approx(one.bic, rel=1e-4)


def test_the_same_fit_every_time(peaks: Fit) -> None:
    shuffled = RANDOM.permutation(TWO)
    again = ll.continuous.fit(shuffled, domain=(0, 100_000), most=3)
    assert again.distribution == peaks.distribution
    assert again.scores == peaks.scores


def test_the_scale_does_not_matter(peaks: Fit) -> None:
    small = ll.continuous.fit(TWO * 1e-9 + 5, domain=(5, 5.0001), components=2)
    assert isinstance(small.distribution, Mixture)
    assert isinstance(peaks.distribution, Mixture)
    assert small.distribution.weights == pytest.approx(peaks.distribution.weights, rel=1e-3)
    assert (np.array(small.distribution.means) - 5) * 1e9 == pytest.approx(
        peaks.distribution.means, rel=1e-3
    )


def test_many_numbers_are_fitted_from_a_few_first() -> None:
    many = np.concatenate([RANDOM.normal(0, 1, 4000), RANDOM.normal(9, 1, 2000)])
    found = ll.continuous.fit(many, components=2).distribution
    assert isinstance(found, Mixture)
    assert found.means == pytest.approx((0, 9), abs=0.1)
    assert found.weights == pytest.approx((2 / 3, 1 / 3), abs=0.01)


def test_repeated_values_do_not_become_spikes() -> None:
    values = [*[40_000] * 60, *NORMAL[:80]]
    found = ll.continuous.fit(values, domain=(0, 100_000), most=3).distribution
    assert isinstance(found, Mixture)
    assert min(found.deviations) >= 0.0099 * np.std(values)


def test_no_component_is_a_person() -> None:
    """Ten people had one of 61,000 and one of 120,000 as components of their own."""
    ten = [31e3, 35e3, 38e3, 40e3, 42e3, 44e3, 47e3, 52e3, 61e3, 120e3]
    found = ll.continuous.fit(ten, domain=(0, 200_000))
    assert isinstance(found.distribution, Mixture)
    assert len(found.scores) <= 2
    assert min(found.distribution.weights) * len(ten) >= 5
    far = [*NORMAL, 900_000, 910_000]
    apart = ll.continuous.fit(far, domain=(0, 1_000_000), most=3)
    assert isinstance(apart.distribution, Mixture)
    assert min(apart.distribution.weights) * len(far) >= 5
    for values, number in ((ten, 3), (far, 2)):
        with pytest.raises(InputError, match=f"one of {number} components rests on fewer than 5"):
            ll.continuous.fit(values, components=number)
    assert isinstance(ll.continuous.fit([1, 2, 3], components=1).distribution, Mixture)


def test_few_values_make_wide_components() -> None:
    values = [*[10.0] * 10, *[20.0] * 10]
    found = ll.continuous.fit(values, components=2).distribution
    assert isinstance(found, Mixture)
    assert min(found.deviations) >= 0.999 * np.std(values) * math.sqrt(0.1 / 20)


def test_a_million_numbers_take_seconds() -> None:
    ordered = scipy.stats.norm.ppf((np.arange(1_000_000) + 0.5) / 1_000_000)
    tried: list[Step] = []
    found = ll.continuous.fit(ordered, most=2, watch=tried.append)
    assert tried == [Step("1 of 2 components"), Step("2 of 2 components")]
    assert found.used == 20_000
    assert "fitted to 20,000 of 1,000,000 values" in found.describe()
    assert isinstance(found.distribution, Mixture)
    assert found.distribution.means == pytest.approx((0,), abs=1e-4)
    assert found.distribution.deviations == pytest.approx((1,), rel=1e-3)
    assert found.distance < 1e-3
    one = ll.continuous.fit(ordered, distribution="normal")
    assert one.used == 1_000_000
    assert found.scores[0].bic == pytest.approx(one.scores[0].bic, rel=1e-4)


def test_far_is_more_than_chance() -> None:
    assert not ll.continuous.fit(NORMAL, distribution="normal").is_far
    assert not ll.continuous.fit([31, 35, 38, 40, 42, 44, 47, 120], distribution="normal").is_far
    zeros = [*[0.0] * 900, *RANDOM.uniform(1, 1000, 100)]
    assert ll.continuous.fit(zeros, distribution="normal").is_far
    assert not ll.continuous.fit(zeros, distribution="sample").is_far


@pytest.mark.parametrize(
    ("distribution", "values", "known"),
    [
        ("normal", NORMAL, lambda v: scipy.stats.norm(*scipy.stats.norm.fit(v))),
        (
            "lognormal",
            POSITIVE,
            lambda v: scipy.stats.lognorm(*scipy.stats.lognorm.fit(v, floc=0)),
        ),
        ("laplace", NORMAL, lambda v: scipy.stats.laplace(*scipy.stats.laplace.fit(v))),
        ("uniform", NORMAL, lambda v: scipy.stats.uniform(*scipy.stats.uniform.fit(v))),
        (
            "beta",
            NORMAL,
            lambda v: scipy.stats.beta(*scipy.stats.beta.fit(v, floc=0, fscale=100_000)),
        ),
    ],
)
def test_maximum_likelihood(distribution: str, values: Any, known: Any) -> None:
    found = ll.continuous.fit(values, distribution=distribution, domain=(0, 100_000))
    best = known(values)
    assert isinstance(found.distribution, Parametric)
    points = best.ppf(np.linspace(0.05, 0.95, 7))
    assert found.distribution.below(points) == pytest.approx(best.cdf(points), abs=2e-4)
    likelihood = found.scores[0].likelihood
    assert likelihood == pytest.approx(float(best.logpdf(values).sum()), rel=1e-6)
    # No neighbour is more likely.
    for factor in (0.98, 1.02):
        near = Parametric(
            "",
            found.distribution.family,
            found.distribution.arguments,
            found.distribution.loc,
            found.distribution.scale * factor,
        )
        with np.errstate(divide="ignore"):
            other = float(np.log(near.density(values)).sum())
        assert distribution == "beta" or other < likelihood + 1e-6


@pytest.mark.parametrize(
    "distribution", ["normal", "lognormal", "laplace", "uniform", "beta", "histogram"]
)
def test_the_largest_distance_is_that_of_scipy(distribution: str) -> None:
    found = ll.continuous.fit(POSITIVE, distribution=distribution, domain=(0, 200_000))
    cdf: Any = found.distribution.below
    known = scipy.stats.kstest(POSITIVE, cdf).statistic
    assert found.distance == pytest.approx(known, abs=1e-9)
    assert distance(found.distribution, POSITIVE) == found.distance


def test_a_sample_is_its_own_law() -> None:
    found = ll.continuous.fit([3, 1, 2, 2, 9], distribution="sample", domain=(0, 5))
    assert isinstance(found.distribution, Sample)
    assert found.distance == pytest.approx(0, abs=1e-15)
    assert found.scores == ()
    assert found.outside == 1
    assert found.above == pytest.approx(0.2)
    assert found.discretise(4) == ll.continuous.from_data(
        [3, 1, 2, 2, 9], domain=(0, 5)
    ).discretise(4)


def test_a_histogram_has_round_bins() -> None:
    found = ll.continuous.fit(NORMAL, distribution="histogram", domain=(0, 100_000)).distribution
    assert isinstance(found, Histogram)
    widths = np.diff(found.edges)
    assert set(widths.tolist()) in ({1000.0}, {2000.0}, {5000.0})
    assert found.shares.sum() == pytest.approx(1)
    ages = np.sort(RANDOM.integers(17, 90, 30_000)).astype(float)
    assert np.diff(round_bins(ages, 0.1)[1]).min() == 1
    assert np.diff(round_bins(ages / 10, 0.1)[1]).min() == pytest.approx(0.1)
    assert np.diff(round_bins(ages * 3, 0.1)[1]).min() >= 3
    counts, edges = round_bins(np.array([0.0, 0.0, 0.0, 10.0]))  # quartiles in one place
    assert counts.sum() == 4
    assert edges[0] <= 0 < 10 < edges[-1]


def test_a_fit_goes_straight_into_design(peaks: Fit) -> None:
    mechanism = ll.design(peaks, ll.LIP("1"), method="sampling", bins=16)
    assert mechanism.certificate.holds
    assert isinstance(mechanism.context, ll.continuous.GridPrior)
    assert "mixture of 2 normal distributions" in mechanism.context.grid.source


def test_words(peaks: Fit) -> None:
    assert peaks.describe().startswith(
        "a mixture of 2 normal distributions, fitted to 500 values (largest"
    )
    assert ll.continuous.fit([1, 2], distribution="sample").describe() == (
        "the empirical distribution of 2 values (largest distance 0)"
    )
    assert set(peaks.parameters()) == {"weights", "means", "deviations"}
    assert ll.continuous.fit(NORMAL, distribution="normal").parameters()["scale"] == pytest.approx(
        NORMAL.std()
    )
    assert "edges" in ll.continuous.fit(NORMAL, distribution="histogram").parameters()
    assert ll.continuous.fit([1, 2], distribution="sample").parameters() == {}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"distribution": "cauchy"},
            f"unknown distribution to fit: 'cauchy'; use one of {', '.join(FITS)}",
        ),
        ({"distribution": "normal", "components": 2}, "only a mixture has components"),
        ({"components": 0}, "not a whole number of 1 or more: 0"),
        ({"components": 2.5}, "not a whole number of 1 or more"),
        ({"most": -1}, "not a whole number of 1 or more"),
        ({"components": 9}, "9 components for 3 different values"),
        ({"distribution": "lognormal"}, "positive numbers only: -1.0"),
        ({"distribution": "beta"}, "a beta distribution needs a domain; give the domain"),
        ({"distribution": "beta", "domain": (-1, 8)}, "1 of 3 values lie outside the open domain"),
        ({"distribution": "normal", "domain": (100, 200)}, "the domain holds only"),
        ({"domain": (5, 5)}, "not above the lower"),
    ],
)
def test_fits_that_are_none(options: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ll.continuous.fit([-1, 2, 7], **options)


def test_nothing_to_fit() -> None:
    for values, words in (([4, 4], "all values are the same"), ([1, math.nan], "not a finite")):
        for distribution in FITS:
            with pytest.raises(InputError, match=words):
                ll.continuous.fit(values, distribution=distribution, domain=(0, 10))


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-323])
def test_numbers_whose_squares_leave_the_floats(size: float) -> None:
    for distribution in FITS:
        with pytest.raises(InputError, match=r"too large, or too near .* in another unit"):
            ll.continuous.fit([size, 2 * size, -3 * size], distribution=distribution)


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    known = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith("sklearn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return known(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"need .*scikit-learn.*; pip install 'liftlock\[fit\]'"):
        ll.continuous.fit([1, 2, 3])
    assert (
        ll.continuous.fit([1, 2, 3], distribution="normal").distribution.describe()
        == "normal(2, 0.816497)"
    )
