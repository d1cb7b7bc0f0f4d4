"""Users with priors of their own, and what their reports say, on fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock import Mechanism, PerUserPriors, design
from liftlock.model.structured import UserChannel
from liftlock.model.structured.user_distributions import ArcDistribution, SafeDistribution
from liftlock.notions import ALIP, LIP
from liftlock.sampling import prior_counts, user_posteriors
from tests.unit.per_user.distributions import safe_weights

POINTS = 1 << 32
LABELS = ["a", "b", "c", "d", "e"]
METHODS = ("arc", "safe-response")


def some_masses(users: int, seed: int = 1) -> npt.NDArray[np.float64]:
    """Random priors; some users have impossible values, the last one is certain."""
    rng = np.random.default_rng(seed)
    masses = rng.dirichlet(np.full(len(LABELS), 0.8), users)
    masses[users // 2 :, 1] = 0
    masses /= masses.sum(axis=1, keepdims=True)
    masses[-1] = np.eye(len(LABELS))[2]
    return masses


def some_people(masses: npt.NDArray[np.float64], seed: int = 2) -> npt.NDArray[np.int64]:
    """A value for each user, drawn from her prior."""
    draws = np.random.default_rng(seed).random(len(masses))
    found = (draws[:, None] > masses.cumsum(axis=1)).sum(axis=1)
    allowed = np.where(masses > 0, np.arange(masses.shape[1]), -1).max(axis=1)
    people: npt.NDArray[np.int64] = np.minimum(found, allowed)
    return people


def distribution_of(mechanism: Mechanism) -> ArcDistribution | SafeDistribution:
    """The distribution that all users share."""
    assert isinstance(mechanism.channel, UserChannel)
    distribution: ArcDistribution | SafeDistribution = mechanism.channel.distributions[0]
    return distribution


def posteriors_of(
    mechanism: Mechanism, masses: npt.NDArray[Any], reports: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """P(x | report) of users, as floats."""
    assert isinstance(mechanism.channel, UserChannel)
    priors = PerUserPriors.of(mechanism.channel.inputs, masses)
    return user_posteriors(mechanism.channel, priors, reports)


def world(
    method: Any, users: int = 40, notion: LIP | ALIP | None = None
) -> tuple[Mechanism, PerUserPriors, npt.NDArray[Any]]:
    """A mechanism, the priors of users, and their reports."""
    masses = some_masses(users)
    mechanism = design(LABELS, notion or LIP("1"), method=method)
    priors = PerUserPriors.of(LABELS, masses)
    reports = mechanism.simulate(some_people(masses), priors, seed=3, coded=True)
    assert isinstance(reports, np.ndarray)
    return mechanism, priors, reports


def exact_posteriors(
    mechanism: Mechanism, masses: npt.NDArray[Any], reports: npt.NDArray[Any]
) -> list[list[Fraction]]:
    """P(x | report) of every user by Bayes on fractions."""
    distribution = distribution_of(mechanism)
    found = []
    for counts, report in zip(prior_counts(masses).tolist(), reports.tolist(), strict=True):
        row = []
        start = 0
        for symbol, count in enumerate(counts):
            if isinstance(distribution, ArcDistribution):
                lift = distribution.lift(start, count, report) if count else Fraction(0)
                row.append(Fraction(count, POINTS) * lift)
            else:
                assert isinstance(distribution, SafeDistribution)
                given = Fraction(safe_weights(distribution, counts, symbol)[report], POINTS**2)
                row.append(Fraction(count, POINTS) * given / Fraction(counts[report], POINTS))
            start += count
        assert sum(row) == 1
        found.append(row)
    return found
