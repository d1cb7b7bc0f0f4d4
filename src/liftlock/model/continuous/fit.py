"""Fitting a distribution to numbers: which one, how good it is, and what lies outside the domain.

The guarantee of a mechanism is relative to its prior. A distribution that fits badly is a wrong
prior, and a release under a wrong prior can leak more than its budget: look at the distance and the
picture.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress, Step
from liftlock.errors import InputError, extra
from liftlock.exact.integers import Floats
from liftlock.model.continuous import distribution as distributions
from liftlock.model.continuous.distribution import (
    MOST_SIZE,
    Distribution,
    Histogram,
    Mixture,
    Parametric,
    Sample,
    Smooth,
    read_numbers,
)
from liftlock.model.continuous.grid import ContinuousPrior, read_domain

MOST_COMPONENTS = 8
"""As many components are tried unless told otherwise."""

MOST_FITTED = 20_000
"""Of more numbers a mixture is fitted to so many, evenly spaced in their order: no distribution
that these cannot tell apart is worth the hours that millions would take."""

LEAST_PEOPLE = 5
"""A component on fewer numbers than this would publish them."""

_STARTS = 5
_STEPS = 200
_STILL = 1e-5
"""From the best start EM goes on until a step gains less than this, in nats for each number."""
_MOST_AT_FIRST = 2048
"""Starts are tried on so many of the ordered numbers, evenly spaced; then all are used."""
_LEAST_VARIANCE = 1e-4
"""Of one component, as a share of the variance of all: keeps a repeated value from being a spike
of infinite likelihood."""
_LEAST_OF_FEW = 0.1
"""The same times the number of values: few values do not tell a peak from a person."""
_FAR, _FAR_ROOT = 0.05, 1.6
_SEED = 0
_MOST_BINS = 512
_SAME = 1e-9
"""Numbers nearer than this share of their range differ by rounding."""


@dataclass(frozen=True)
class Score:
    """How well one candidate explains the numbers, and what its parameters cost.

    BIC = p ln n - 2 ln L with p free parameters, n numbers and the likelihood L: less is better.
    Of more than 20,000 numbers so many are counted, evenly spaced in their order, for every
    distribution.
    """

    distribution: str
    components: int
    likelihood: float
    """The logarithm of the likelihood, in nats."""
    bic: float

    @classmethod
    def of(
        cls, distribution: str, components: int, likelihood: float, free: int, size: int
    ) -> Score:
        """Weigh a likelihood against the number of free parameters."""
        return cls(distribution, components, likelihood, free * math.log(size) - 2.0 * likelihood)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "law": self.distribution,
            "components": self.components,
            "likelihood": self.likelihood,
            "bic": self.bic,
        }


@dataclass(frozen=True, eq=False)
class Fit(ContinuousPrior):
    """A continuous prior that was fitted, and how well it fits; it goes straight into `design`."""

    values: Floats
    """The numbers it was fitted to, in ascending order."""
    scores: tuple[Score, ...]
    """The candidates that were tried; none for distributions that have no likelihood."""
    choice: str
    """The kind of distribution, as it is asked for."""

    @cached_property
    def distance(self) -> float:
        """The largest distance between the distribution functions of the fit and of the numbers.

        D = sup |F_n(x) - F(x)| (Kolmogorov and Smirnov): 0 is perfect, 1 is hopeless.
        """
        return distance(self.distribution, self.values)

    @property
    def is_far(self) -> bool:
        """Whether the distance is more than chance and a good distribution leave: a wrong prior.

        D > max(0.05, 1.6 / sqrt(n)); the second is exceeded by chance once in a hundred times.
        """
        return self.distance > max(_FAR, _FAR_ROOT / math.sqrt(len(self.values)))

    @property
    def doubt(self) -> str:
        """What is to be said of a mechanism under this prior: nothing, unless it is far."""
        if not self.is_far:
            return ""
        return (
            f"{self.distribution.describe()} is far from the data (largest distance "
            f"{self.distance:.3g}): under this prior a mechanism may leak more than its budget; "
            "try another distribution, or the empirical one (sample)"
        )

    @property
    def used(self) -> int:
        """How many of the numbers the distribution was fitted to."""
        many = len(self.values)
        return min(many, MOST_FITTED) if self.choice == "mixture" else many

    @property
    def outside(self) -> int:
        """How many of the numbers lie outside the domain, and would count as its nearer end."""
        return int(((self.values < self.lower) | (self.values > self.upper)).sum())

    def parameters(self) -> dict[str, Any]:
        """Return what makes the distribution, by name; nothing for a sample."""
        distribution = self.distribution
        if isinstance(distribution, Mixture):
            return {
                "weights": list(distribution.weights),
                "means": list(distribution.means),
                "deviations": list(distribution.deviations),
            }
        if isinstance(distribution, Histogram):
            return {"edges": distribution.edges.tolist(), "shares": distribution.shares.tolist()}
        if isinstance(distribution, Parametric):
            return {
                "shape": list(distribution.arguments),
                "location": distribution.loc,
                "scale": distribution.scale,
            }
        return {}

    def describe(self) -> str:
        """Say which distribution was fitted, to how many numbers, and how well."""
        part = f"{self.used:,} of " if self.used < len(self.values) else ""
        text = f"{self.distribution.describe()}, fitted to {part}{len(self.values):,} values"
        if isinstance(self.distribution, Sample):
            text = f"the empirical distribution of {len(self.values):,} values"
        return f"{text} (largest distance {self.distance:.3g})"


def fit(
    values: Any,
    *,
    domain: Any = None,
    distribution: str = "mixture",
    components: int | None = None,
    most: int = MOST_COMPONENTS,
    watch: Progress | None = None,
) -> Fit:
    """Fit a distribution to numbers.

    A ``mixture`` of normal distributions is fitted by EM (scikit-learn); without `components` their
    number, 1 to `most`, is that of the least BIC, and none stands on fewer than 5 numbers. Of more
    than 20,000 numbers so many are used, evenly spaced in their order. ``normal``, ``lognormal``,
    ``laplace``, ``uniform`` and ``beta`` (on the domain, which it needs) are fitted by maximum
    likelihood. ``histogram`` takes bins of a round width, ``sample`` the numbers as they are.
    `watch` is told what is being tried.

    Source: 000 Remark 2.

    >>> wages = fit([31, 35, 38, 40, 42, 44, 47, 55], distribution="normal", domain=(0, 100))
    >>> wages.distribution.describe(), round(wages.distance, 3)
    ('normal(41.5, 6.94622)', 0.109)
    >>> wages.discretise(16).describe()
    'a prior on 16 cells of [0, 100]'
    """
    key = distribution.strip().lower()
    if key not in FITS:
        raise InputError(
            "unknown distribution to fit",
            value=distribution,
            remedy=f"use one of {', '.join(FITS)}",
        )
    if components is not None and key != "mixture":
        raise InputError(
            "only a mixture has components", value=key, remedy="leave out the number of components"
        )
    numbers = np.sort(read_numbers(values))
    sample = Sample(numbers)  # refuses numbers that are all the same
    if max(-numbers[0], numbers[-1]) > MOST_SIZE or numbers[-1] - numbers[0] < 1.0 / MOST_SIZE:
        raise InputError(
            "the numbers are too large, or too near each other, to fit a distribution",
            value=f"{numbers[0]:g} to {numbers[-1]:g}",
            remedy="measure them in another unit",
        )
    ends = None if domain is None else read_domain(domain)
    found: Distribution = sample
    scores: tuple[Score, ...] = ()
    if key == "mixture":
        found, scores = _mixture(_thin_evenly(numbers, MOST_FITTED), components, most, watch)
    elif key != "sample":
        found, free = _FITTERS[key](numbers, ends)
        if free:
            some = _thin_evenly(numbers, MOST_FITTED)
            likelihood = float(np.log(found.density(some)).sum())
            scores = (Score.of(key, 1, likelihood, free, len(some)),)
    placed = ContinuousPrior.of(found, ends)
    return Fit(found, placed.lower, placed.upper, numbers, scores, key)


def distance(distribution: Distribution, values: Any) -> float:
    """Return the largest distance between the distribution functions of a fit and of numbers.

    >>> from liftlock.model.continuous.distribution import uniform
    >>> round(distance(uniform(0, 1), [0.25, 0.5]), 9)
    0.5
    """
    points, counts = np.unique(read_numbers(values), return_counts=True)
    up_to = np.cumsum(counts) / counts.sum()
    before = up_to - counts / counts.sum()
    under = distribution.below(points)
    and_at = distribution.below(np.nextafter(points, np.inf))
    return float(max(np.abs(up_to - and_at).max(), np.abs(before - under).max()))


# --- mixtures -----------------------------------------------------------------------------------


def _thin_evenly(numbers: Floats, most: int) -> Floats:
    """Return at most so many of ordered numbers, each in the middle of its share of them."""
    if len(numbers) <= most:
        return numbers
    return numbers[((np.arange(most) + 0.5) * (len(numbers) / most)).astype(np.intp)]


def _mixture(
    numbers: Floats, components: int | None, most: int, watch: Progress | None
) -> tuple[Mixture, tuple[Score, ...]]:
    different = len(np.unique(numbers))
    # One component is the mean and the deviation, which two numbers have as well.
    people = max(1, len(numbers) // LEAST_PEOPLE)
    if components is not None:
        tried = [_check_components(components)]
        if tried[0] > different:
            raise InputError(
                f"{tried[0]} components for {different} different values",
                remedy="give fewer components",
            )
        if tried[0] > people:
            raise _too_few_error(tried[0], len(numbers))
    else:
        tried = list(range(1, min(_check_components(most), different, people) + 1))
    # Solvers and their tolerances like numbers of the size of 1.
    centre, spread = float(numbers.mean()), float(numbers.std())
    column = ((numbers - centre) / spread)[:, None]
    candidates = []
    for number in tried:
        if watch is not None:
            watch(Step(f"{number} of {tried[-1]} components"))
        weights, means, deviations, likelihood = _run_em(column, number)
        if number > 1 and weights.min() / weights.sum() * len(numbers) < LEAST_PEOPLE:
            continue
        order = np.argsort(means, kind="stable")
        distribution = Mixture(
            tuple((weights[order] / weights.sum()).tolist()),
            tuple((centre + spread * means[order]).tolist()),
            tuple((spread * deviations[order]).tolist()),
        )
        on_the_line = likelihood - len(numbers) * math.log(spread)
        score = Score.of("mixture", number, on_the_line, 3 * number - 1, len(numbers))
        candidates.append((distribution, score))
    if not candidates:
        raise _too_few_error(tried[0], len(numbers))
    best = min(candidates, key=lambda candidate: candidate[1].bic)[0]
    return best, tuple(score for _, score in candidates)


def _too_few_error(components: int, size: int) -> InputError:
    return InputError(
        f"one of {components} components rests on fewer than {LEAST_PEOPLE} of {size:,} values "
        "and would reveal them",
        remedy="give fewer components, or leave the number out to have it chosen",
    )


def _check_components(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise InputError(
            "the number of components is not a whole number of 1 or more",
            value=given,
            remedy=f"leave it out to try 1 to {MOST_COMPONENTS}",
        )
    return int(given)


def _run_em(column: Floats, components: int) -> tuple[Floats, Floats, Floats, float]:
    """Return weights, means, deviations and the log-likelihood of the best of several starts."""
    with extra("fit"):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits
    shared = {
        "n_components": components,
        "max_iter": _STEPS,
        "reg_covar": max(_LEAST_VARIANCE, _LEAST_OF_FEW / len(column)),
        "random_state": _SEED,
    }
    few = _thin_evenly(column, _MOST_AT_FIRST)
    # Threads that wait for one another take ten times as long on so little work.
    with warnings.catch_warnings(), threadpool_limits(1):
        # The best point of the last step is a mixture like any other; its likelihood is measured.
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            GaussianMixture(n_init=_STARTS, init_params=start, **shared).fit(few)
            for start in ("kmeans", "k-means++")
        ]
        model = max(models, key=lambda each: float(each.score(few)))
        model = GaussianMixture(
            weights_init=model.weights_ / model.weights_.sum(),
            means_init=model.means_,
            precisions_init=model.precisions_,
            tol=_STILL,
            **shared,
        ).fit(column)
        likelihood = float(model.score_samples(column).sum())
    deviations = np.sqrt(model.covariances_.reshape(components))
    return model.weights_, model.means_[:, 0], deviations, likelihood


# --- distributions of a few parameters ----------------------------------------------------------


def _normal(numbers: Floats, _: object) -> tuple[Smooth, int]:
    return distributions.normal(float(numbers.mean()), float(numbers.std())), 2


def _lognormal(numbers: Floats, _: object) -> tuple[Smooth, int]:
    if numbers[0] <= 0:
        raise InputError(
            "a log-normal distribution takes positive numbers only",
            value=float(numbers[0]),
            remedy="fit another distribution, such as mixture",
        )
    logs = np.log(numbers)
    return distributions.lognormal(float(logs.mean()), float(logs.std())), 2


def _laplace(numbers: Floats, _: object) -> tuple[Smooth, int]:
    middle = float(np.median(numbers))
    return distributions.laplace(middle, float(np.abs(numbers - middle).mean())), 2


def _uniform(numbers: Floats, _: object) -> tuple[Smooth, int]:
    return distributions.uniform(float(numbers[0]), float(numbers[-1])), 2


def _beta(numbers: Floats, ends: tuple[float, float] | None) -> tuple[Smooth, int]:
    if ends is None:
        raise InputError("a beta distribution needs a domain", remedy="give the domain")
    lower, upper = ends
    outside = int(((numbers <= lower) | (numbers >= upper)).sum())
    if outside:
        raise InputError(
            f"{outside} of {len(numbers)} values lie outside the open domain of a beta "
            "distribution",
            value=f"{lower:g} to {upper:g}",
            remedy="widen the domain a little, or fit another distribution such as mixture",
        )
    with extra("statistics"):
        from scipy.stats import beta

    a, b, _, _ = beta.fit((numbers - lower) / (upper - lower), floc=0.0, fscale=1.0)
    return distributions.beta(float(a), float(b), lower, upper), 2


def _histogram(numbers: Floats, _: object) -> tuple[Smooth, int]:
    """Take bins of a round width, so that no edge is somebody's number."""
    counts, edges = round_bins(numbers)
    return Histogram.of(edges, counts), 0


def round_bins(numbers: Floats, share: float = 1.0) -> tuple[Floats, Floats]:
    """Return the counts and edges of bins of a round width, near a share of Freedman-Diaconis'.

    No bin is narrower than the smallest distance of two different numbers, such as 1 of integers.

    >>> round_bins(np.array([0.3, 1.2, 1.9, 2.5, 2.6, 4.1]))[1].tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    """
    quarter, three = np.quantile(numbers, [0.25, 0.75])
    whole = float(np.ptp(numbers))
    usual = share * 2.0 * float(three - quarter) / len(numbers) ** (1 / 3)
    gaps = np.diff(numbers)
    least = float(gaps[gaps > whole * _SAME].min()) * (1.0 - _SAME)
    width = max(usual if usual > 0 else whole / math.sqrt(len(numbers)), whole / _MOST_BINS, least)
    power = 10.0 ** math.floor(math.log10(width))
    steps = [power * factor for factor in (1, 2, 5, 10) if power * factor >= least]
    step = min(steps, key=lambda s: abs(math.log(s / width)))
    first = math.floor(float(numbers[0]) / step)
    last = math.floor(float(numbers[-1]) / step) + 1
    edges: Floats = step * np.arange(first, last + 1, dtype=np.float64)
    counts, _ = np.histogram(numbers, edges)
    return counts.astype(np.float64), edges


_FITTERS: Mapping[str, Callable[[Floats, tuple[float, float] | None], tuple[Smooth, int]]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "laplace": _laplace,
    "uniform": _uniform,
    "beta": _beta,
    "histogram": _histogram,
}
FITS: tuple[str, ...] = ("sample", "mixture", *_FITTERS)
"""What can be fitted to numbers."""
