"""Continuous priors: distributions of a number, fitted or declared, and their bins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from liftlock.line import law as laws
from liftlock.line.fitting import FITS, Fit, Score, fit
from liftlock.line.grid import (
    DEFAULT_CELLS,
    MOST_CELLS,
    SPACINGS,
    Grid,
    GridPrior,
    LinePrior,
    read_domain,
)
from liftlock.line.law import LAWS, Histogram, Law, Mixture, Parametric, Sample, parse_law

__all__ = [
    "DEFAULT_CELLS",
    "FITS",
    "LAWS",
    "MOST_CELLS",
    "SPACINGS",
    "Fit",
    "Grid",
    "GridPrior",
    "Histogram",
    "Law",
    "LinePrior",
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
    "parse_law",
    "read_domain",
    "uniform",
]

Domain = Any
"""A pair of numbers, text such as ``0:100``, or None for the law's own."""


def normal(mean: float, sd: float, *, domain: Domain = None) -> LinePrior:
    """Return a normal prior on a domain.

    >>> normal(0, 5, domain=(-20, 20)).grid(16).describe()
    'a prior on 16 cells of [-20, 20]'
    """
    return LinePrior.of(laws.normal(mean, sd), domain)


def uniform(low: float, high: float, *, domain: Domain = None) -> LinePrior:
    """Return a uniform prior."""
    return LinePrior.of(laws.uniform(low, high), domain)


def beta(
    a: float, b: float, low: float = 0.0, high: float = 1.0, *, domain: Domain = None
) -> LinePrior:
    """Return a beta prior, stretched to [low, high]."""
    return LinePrior.of(laws.beta(a, b, low, high), domain)


def lognormal(mu: float, sigma: float, *, domain: Domain = None) -> LinePrior:
    """Return a log-normal prior: ln X is normal(mu, sigma)."""
    return LinePrior.of(laws.lognormal(mu, sigma), domain)


def laplace(mean: float, scale: float, *, domain: Domain = None) -> LinePrior:
    """Return a Laplace prior."""
    return LinePrior.of(laws.laplace(mean, scale), domain)


def from_scipy(distribution: Any, *, domain: Domain = None) -> LinePrior:
    """Return the prior of any continuous scipy distribution, such as ``scipy.stats.gamma(2)``."""
    return LinePrior.of(laws.from_scipy(distribution), domain)


def mixture(components: Iterable[Sequence[float]], *, domain: Domain = None) -> LinePrior:
    """Return a mixture of normal priors, from triples weight, mean, deviation."""
    return LinePrior.of(Mixture.of(components), domain)


def from_data(values: Any, *, domain: Domain = None) -> LinePrior:
    """Return the prior of numbers as they were seen.

    Without a domain it is that of the data, which shows their smallest and largest value: declare
    one that does not depend on the data.
    """
    return LinePrior.of(Sample.of(values), domain)


def from_histogram(edges: Any, counts: Any, *, domain: Domain = None) -> LinePrior:
    """Return the prior of a histogram, even inside each bin."""
    return LinePrior.of(Histogram.of(edges, counts), domain)
