"""Gross pay of a city's employees, each released once: the fits, and the error of each release.

Errors are those of the people themselves, exactly: expectations over the noise, no simulation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from liftlock import LIP, ApproximateLDP, ApproximateLIP, InputError, Mechanism, continuous, design
from liftlock.designs.formulas import gaussian, sampling_rate
from liftlock.model.continuous import Fit, GridPrior, Mixture
from liftlock_papers.data.baltimore_salaries import read_salaries
from liftlock_papers.paper_000.salary_noise import published_deviations, sufficient, true_delta
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

DOMAIN = (0, 300_000)
"""Declared, whatever the data: the certified mechanisms protect all of it."""
COMPONENTS = 3
"""The fewest normal distributions whose mixture has the two peaks of the data."""
PANELS = {"0.0001": "b", "0.001": "c", "0.01": "d"}
"""The panel of each delta."""
EPSILONS = ("1", "1.5", "2", "2.5", "3", "3.5", "4")
FEW = ("1", "4")
OUTPUTS = 512
"""The true delta of added noise is measured with so many cells of the output."""
BINS = 53
_PARTS = 200
"""Each bin of the histogram is cut so often to integrate over it."""
UNIT = 1000.0
"""Densities are drawn in thousands of dollars."""
_SECONDS = 240.0
_GAP = 1e-5
"""What is called the optimum is proved to be no further from it, relative to no release."""
_NORMAL_MEAN = math.sqrt(2.0 / math.pi)
"""The mean of the absolute value of a standard normal number."""


@dataclass(frozen=True, eq=False)
class Payroll:
    """The people, the two fits, and the same people in cells."""

    people: Floats
    distributions: dict[str, Mixture]
    """The two fits: a mixture of normal distributions, and a single one."""
    prior: GridPrior
    """The people themselves, cut into cells of equal mass."""
    shares: Floats
    """The density of the people: a histogram, as panel (a) has it."""
    edges: Floats

    @classmethod
    def of(cls, people: Floats, bins: int) -> Payroll:
        """Fit the priors."""
        fits = {
            "mixture": continuous.fit(people, domain=DOMAIN, components=COMPONENTS),
            "normal": continuous.fit(people, domain=DOMAIN, components=1),
        }
        top = 5000.0 * math.ceil(people.max() / 5000.0)
        return cls(
            people,
            {name: distribution_of(fit) for name, fit in fits.items()},
            continuous.from_data(people, domain=DOMAIN).discretise(bins),
            *np.histogram(people, bins=BINS, range=(0.0, top), density=True),
        )


def salary_points(setting: Setting) -> Iterator[Point]:
    """Compute 000 Fig. 12."""
    salaries = read_salaries(setting.data)
    people = salaries.gross
    setting.notes.append(
        f"{salaries.missing:,} of {len(people) + salaries.missing:,} employees have no gross pay "
        "stated and are left out"
    )
    payroll = Payroll.of(people, setting.choose(512, 48))
    yield from densities(payroll)
    places = np.linspace(people.min(), people.max(), setting.choose(129, 13))
    steps = setting.choose(97, 21)
    nothing = float(np.abs(people - np.median(people)).mean())
    for epsilon in setting.each(setting.choose(EPSILONS, FEW), "budgets"):
        budget = float(epsilon)
        tables = published_deviations(
            payroll.distributions["mixture"],
            places,
            budget,
            [float(delta) for delta in PANELS],
            steps,
        )
        pure = optimum(payroll.prior, epsilon)
        best = median_error(pure, payroll)
        used = max(float(side) for side in pure.certificate.nats.values())
        for (delta, panel), sigmas in zip(PANELS.items(), tables, strict=True):
            for name, error, true in released(payroll, epsilon, delta, places, sigmas):
                yield Point(panel, name, budget, error, None, true, float(delta))
            yield Point(panel, "optimum, δ = 0", budget, best, None, used, budget)
            yield Point(panel, "no release", budget, nothing)


def densities(payroll: Payroll) -> Iterator[Point]:
    """Return the histogram of the people and the densities of the fits, per thousand dollars."""
    edges = payroll.edges
    for middle, share in zip(0.5 * (edges[1:] + edges[:-1]), payroll.shares, strict=True):
        yield Point("a", "gross pay", middle / UNIT, share * UNIT)
    grid = np.linspace(0.0, edges[-1], 266)
    for name, distribution in payroll.distributions.items():
        for x, height in zip(grid, distribution.density(grid), strict=True):
            yield Point("a", f"{name} fit", x / UNIT, height * UNIT)


def released(
    payroll: Payroll, epsilon: str, delta: str, places: Floats, sigmas: Floats
) -> Iterator[tuple[str, float, float]]:
    """Return name, mean absolute error and true delta of all mechanisms of one budget."""
    people, prior = payroll.people, payroll.prior
    budget = float(epsilon)

    def at(numbers: Floats) -> Floats:
        """Return the published deviations of numbers between the places."""
        return np.exp(np.interp(numbers, places, np.log(sigmas)))

    most = int(sigmas.argmax())
    distribution = payroll.distributions["mixture"]
    common = sufficient(
        distribution, float(places[most]), budget, float(delta), float(sigmas[most])
    )
    yield (
        "Gaussian, as published",
        _NORMAL_MEAN * common,
        true_delta(people, np.full(len(people), common), budget, OUTPUTS),
    )
    yield (
        "Gaussian by instance, as published",
        _NORMAL_MEAN * float(at(people).mean()),
        true_delta(people, at(people), budget, OUTPUTS),
    )
    width = float(np.ptp(people))
    sigma = gaussian.analytic_sigma(budget, float(delta), width)
    yield "Gaussian, LDP", _NORMAL_MEAN * sigma, gaussian.analytic_delta(budget, sigma, width)
    for name, distribution in payroll.distributions.items():
        yield (
            f"sampling, {name} fit",
            sampling_error(people, distribution, budget, float(delta)),
            sampling_delta(payroll.shares, payroll.edges, distribution, budget, float(delta)),
        )
    lip = ApproximateLIP(epsilon, delta, "def5")
    ldp = ApproximateLDP(epsilon, delta)
    for name, method, notion in (
        ("Gaussian, certified", "gaussian", lip),
        ("Gaussian by instance, certified", "gaussian-by-instance", lip),
        ("Gaussian, LDP, certified", "gaussian", ldp),
    ):
        made = design(prior, notion, method=method, utility="absolute")
        true = float(made.certificate.claims[0].measured)
        yield name, median_error(made, payroll), true


def distribution_of(fit: Fit) -> Mixture:
    """Return the distribution of a fit, which is a mixture of one or more normal distributions."""
    assert isinstance(fit.distribution, Mixture)
    return fit.distribution


def sampling_error(people: Floats, distribution: Mixture, epsilon: float, delta: float) -> float:
    """Return the mean of (1 - lambda) E |x - X'| over the people, X' drawn from the fit.

    E |x - N(m, s^2)| = s (2 phi(z) + z (2 Phi(z) - 1)), z = (x - m) / s.

    Source: 000 eq. (20), eq. (21), Prop 2.
    """
    from scipy.special import erf

    z = (people[:, None] - np.array(distribution.means)) / np.array(distribution.deviations)
    apart = np.exp(-0.5 * z**2) * _NORMAL_MEAN + z * erf(z / math.sqrt(2.0))
    kept = float(sampling_rate.continuous_rate(math.exp(epsilon), delta, "def5"))
    return (1.0 - kept) * float(
        (apart @ (np.array(distribution.weights) * distribution.deviations)).mean()
    )


def sampling_delta(
    shares: Floats, edges: Floats, distribution: Mixture, epsilon: float, delta: float
) -> float:
    """Return the true delta of sampling from a fit g, when the density f is a histogram.

    max{lambda / E, integral of (lambda f - (1 - lambda) (E - 1) g)_+}, with E = e^epsilon: the
    value itself is reported with probability lambda and by nobody else, whatever g is; and what
    others report is more than E times as frequent as under x where g is too thin.

    Source: 000 Def 5, Prop 2.
    """
    ratio = math.exp(epsilon)
    kept = float(sampling_rate.continuous_rate(ratio, delta, "def5"))
    parts = (np.arange(_PARTS) + 0.5) / _PARTS
    widths = np.diff(edges)
    places = edges[:-1, None] + widths[:, None] * parts
    over = kept * shares[:, None] - (1.0 - kept) * (ratio - 1.0) * distribution.density(places)
    return max(kept / ratio, float(widths @ np.maximum(over, 0.0).mean(axis=1)))


def optimum(prior: GridPrior, epsilon: str) -> Mechanism:
    """Return the certified mechanism with the least absolute error; refuse one that is not."""
    made = design(prior, LIP(epsilon), utility="absolute", seconds=_SECONDS)
    gap = math.inf if made.origin is None or made.origin.gap is None else made.origin.gap
    if gap > _GAP:
        raise InputError(
            "the optimum was not proved in time",
            where=f"epsilon = {epsilon}",
            value=gap,
            remedy=f"run it where {_SECONDS:g} seconds are enough",
        )
    return made


def median_error(made: Mechanism, payroll: Payroll) -> float:
    """Return the mean absolute error of the people, reports read as posterior medians."""
    bins = payroll.prior.grid.encode(payroll.people)
    rows, numbers = made.table.floats(), made.readings("median")
    total = 0.0
    for bin_index, row in enumerate(rows):
        apart = np.abs(payroll.people[bins == bin_index, None] - numbers)
        total += float((apart @ row).sum())
    return total / len(payroll.people)
