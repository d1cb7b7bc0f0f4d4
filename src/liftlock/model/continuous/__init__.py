"""Continuous priors: distributions of a number, fitted or declared, and their bins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from liftlock.model.continuous import distribution as distributions
from liftlock.model.continuous.distribution import (
    DISTRIBUTIONS,
    Distribution,
    Histogram,
    Mixture,
    Parametric,
    Sample,
    parse_distribution,
)
from liftlock.model.continuous.fit import FITS, Fit, Score, fit
from liftlock.model.continuous.grid import (
    DEFAULT_BINS,
    MOST_BINS,
    SPACINGS,
    ContinuousPrior,
    Grid,
    GridPrior,
    read_domain,
)

__all__ = [
    "DEFAULT_BINS",
    "DISTRIBUTIONS",
    "FITS",
    "MOST_BINS",
    "SPACINGS",
    "ContinuousPrior",
    "Distribution",
    "Fit",
    "Grid",
    "GridPrior",
    "Histogram",
    "Mixture",
    "Parametric",
    "Sample",
    "Score",
    "beta",
    "fit",
    "from_data",
    "from_histogram",
    "from_scipy",
    "laplace",
    "lognormal",
    "mixture",
    "normal",
    "parse_distribution",
    "read_domain",
    "uniform",
]

Domain = Any
"""A pair of numbers, text such as ``0:100``, or None for the distribution's own."""


def normal(mean: float, sd: float, *, domain: Domain = None) -> ContinuousPrior:
    """Return a normal prior on a domain.

    >>> normal(0, 5, domain=(-20, 20)).discretise(16).describe()
    'a prior on 16 cells of [-20, 20]'
    """
    return ContinuousPrior.of(distributions.normal(mean, sd), domain)


def uniform(low: float, high: float, *, domain: Domain = None) -> ContinuousPrior:
    """Return a uniform prior."""
    return ContinuousPrior.of(distributions.uniform(low, high), domain)


def beta(
    a: float, b: float, low: float = 0.0, high: float = 1.0, *, domain: Domain = None
) -> ContinuousPrior:
    """Return a beta prior, stretched to [low, high]."""
    return ContinuousPrior.of(distributions.beta(a, b, low, high), domain)


def lognormal(mu: float, sigma: float, *, domain: Domain = None) -> ContinuousPrior:
    """Return a log-normal prior: ln X is normal(mu, sigma)."""
    return ContinuousPrior.of(distributions.lognormal(mu, sigma), domain)


def laplace(mean: float, scale: float, *, domain: Domain = None) -> ContinuousPrior:
    """Return a Laplace prior."""
    return ContinuousPrior.of(distributions.laplace(mean, scale), domain)


def from_scipy(distribution: Any, *, domain: Domain = None) -> ContinuousPrior:
    """Return the prior of any continuous scipy distribution, such as ``scipy.stats.gamma(2)``."""
    return ContinuousPrior.of(distributions.from_scipy(distribution), domain)


def mixture(components: Iterable[Sequence[float]], *, domain: Domain = None) -> ContinuousPrior:
    """Return a mixture of normal priors, from triples weight, mean, deviation."""
    return ContinuousPrior.of(Mixture.of(components), domain)


def from_data(values: Any, *, domain: Domain = None) -> ContinuousPrior:
    """Return the prior of numbers as they were seen.

    Without a domain it is that of the data, which shows their smallest and largest value: declare
    one that does not depend on the data.
    """
    return ContinuousPrior.of(Sample.of(values), domain)


def from_histogram(edges: Any, counts: Any, *, domain: Domain = None) -> ContinuousPrior:
    """Return the prior of a histogram, even inside each bin."""
    return ContinuousPrior.of(Histogram.of(edges, counts), domain)
