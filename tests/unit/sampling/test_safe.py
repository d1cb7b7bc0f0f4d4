"""The safe response: the specification word for word, exact distributions, posteriors, refusals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from liftlock.errors import CountError, InputError
from liftlock.exact.budget import Budget
from liftlock.model.structured.user_distributions import SafeDistribution
from liftlock.notions import ALIP, LIP
from liftlock.sampling import SimulationBits, prior_counts
from tests.unit.per_user.distributions import safe_weights
from tests.unit.sampling.test_arc import POINTS, some_priors
from tests.unit.sampling.users import beliefs, distribution_of, release, simulate


def budgets(notion: LIP | ALIP) -> tuple[Budget, Budget]:
    if isinstance(notion, LIP):
        return notion.epsilon, notion.epsilon
    return notion.lower, notion.upper


NOTIONS: list[LIP | ALIP] = [
    LIP("1"),
    LIP("ln 3"),
    ALIP(lower="2.5", upper="0.3"),
    ALIP(lower="0.2", upper="3"),
]


def allowed(counts: list[int], keep: int, notion: LIP | ALIP, points: int) -> bool:
    """Whether all lifts of a user who keeps her value with probability keep / points are allowed.

    From the distribution P(y | x) = t [x = y] + (1 - t) P(y), as fractions, without any closed
    form.
    """
    lower, upper = budgets(notion)
    t = Fraction(keep, points)
    masses = [Fraction(count, points) for count in counts]
    places = [place for place, mass in enumerate(masses) if mass]
    for x in places:
        for y in places:
            given = t * (x == y) + (1 - t) * masses[y]
            marginal = sum(masses[z] * (t * (z == y) + (1 - t) * masses[y]) for z in places)
            lift = given / marginal
            if not upper.allows(lift) or lift == 0 or not lower.allows(1 / lift):
                return False
    return True


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_keep_is_allowed_and_nothing_larger_is(notion: LIP | ALIP) -> None:
    """Every prior of three symbols on 2^6 points. The result is within a point of the notion.

    `allowed` decides exactly; one more point breaks the limits that were rounded to the safe side.
    """
    distribution = SafeDistribution.of(*budgets(notion), point_bits=6)
    lower, upper = budgets(notion)
    assert lower.allows(Fraction(64, distribution.floor))
    assert upper.allows(Fraction(distribution.ceiling, 64))
    assert distribution.floor == 1 or not lower.allows(Fraction(64, distribution.floor - 1))
    assert not upper.allows(Fraction(distribution.ceiling + 1, 64))
    rounded = ALIP(
        lower=Budget.from_ratio(1 / distribution.smallest),
        upper=Budget.from_ratio(distribution.largest),
    )
    for first in range(1, 22):
        for second in range(first, (64 - first) // 2 + 1, 5):
            counts = [first, second, 64 - first - second]
            keep = distribution.keep(min(counts))
            assert allowed(counts, keep, notion, 64)
            assert not allowed(counts, keep + 1, rounded, 64)
            weights = safe_weights(distribution, counts, 1)
            assert sum(weights) == 64**2
            assert weights[0] == (64 - keep) * counts[0]


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_users_of_full_size(notion: LIP | ALIP) -> None:
    """Random users with 2^32 points, rare symbols and impossible ones among them."""
    distribution = distribution_of("safe-response", notion)
    rounded = ALIP(
        lower=Budget.from_ratio(1 / distribution.smallest),
        upper=Budget.from_ratio(distribution.largest),
    )
    priors = some_priors(12, 5)
    priors[0, :3] = [1e-15, 0, 0.25 - 1e-15]
    priors[0, 3:] = 0.375
    for counts in prior_counts(priors).tolist():
        keep = distribution.keep(min(count for count in counts if count))
        assert allowed(counts, keep, notion, POINTS)
        assert not allowed(counts, keep + 1, rounded, POINTS)


def test_reports_are_the_specification() -> None:
    """Word for word, on Python integers."""
    for notion in NOTIONS:
        distribution = distribution_of("safe-response", notion)
        priors = some_priors(400, 7)
        priors[0] = [0, 0, 1, 0, 0, 0, 0]
        people = np.random.default_rng(2).integers(0, 7, 400)
        people[0] = 2
        counts = prior_counts(priors).tolist()
        words = np.empty(400, dtype=np.uint64)
        SimulationBits(5).fill(words)
        expected = []
        for row, code, word in zip(counts, people.tolist(), words.tolist(), strict=True):
            if word >> 32 < distribution.keep(min(count for count in row if count)):
                expected.append(code)
                continue
            point = word % POINTS
            expected.append(next(y for y in range(7) if point < sum(row[: y + 1])))
        assert simulate("safe-response", priors, people, notion, seed=5).tolist() == expected


def test_frequencies_are_the_law() -> None:
    """Chi-square over three inputs; false alarm 1e-6 each."""
    notion = LIP("1.5")
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    rows = np.broadcast_to(prior, (200_000, 4))
    distribution = distribution_of("safe-response", notion)
    for x in range(3):
        reports = simulate("safe-response", rows, np.full(200_000, x), notion, seed=x)
        weights = np.array(
            safe_weights(distribution, prior_counts(prior[None])[0].tolist(), x), dtype=float
        )
        found = chisquare(np.bincount(reports, minlength=4), weights / 2**64 * 200_000)
        assert found.pvalue > 1e-6


def test_posterior_is_bayes() -> None:
    """Against P(x) P(y | x) / P(y) on fractions."""
    notion = ALIP(lower="1", upper="0.5")
    distribution = distribution_of("safe-response", notion)
    priors = some_priors(30, 6)
    reports = np.random.default_rng(9).integers(0, 6, 30)
    found = beliefs("safe-response", priors, reports, notion)
    for user, counts in enumerate(prior_counts(priors).tolist()):
        y = int(reports[user])
        joint = [counts[x] * safe_weights(distribution, counts, x)[y] for x in range(6)]
        for x in range(6):
            exact = Fraction(joint[x], sum(joint))
            assert found[user, x] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0", "1e-12", "22.2", "30", "1000"])
def test_extreme_budgets(epsilon: str) -> None:
    """No overflow: the compiled T is the one of Python's integers."""
    notion = LIP(epsilon)
    distribution = distribution_of("safe-response", notion)
    assert notion.epsilon.allows(distribution.largest)
    assert notion.epsilon.allows(1 / distribution.smallest)
    counts = [1, 2, 3, 1000, distribution.enough - 1, distribution.enough, POINTS // 2, POINTS]
    rows = np.array([[c, POINTS - c] for c in counts if 0 < c <= POINTS])
    posterior = beliefs("safe-response", rows, np.zeros(len(rows), dtype=np.int64), notion)
    for row, found in zip(rows.tolist(), posterior, strict=True):
        keep = distribution.keep(min(count for count in row if count))
        assert 0 <= keep <= distribution.most
        exact = Fraction(safe_weights(distribution, row, 0)[0] * row[0], row[0] * POINTS * POINTS)
        assert found[0] == pytest.approx(float(exact), rel=1e-12)


def test_refusals() -> None:
    good = np.array([[0.5, 0.5]])
    with pytest.raises(CountError, match=r"probability 0 in the user's prior at user 1"):
        release("safe-response", np.array([[1.0, 0.0]]), np.array([1]), LIP("1"))
    with pytest.raises(CountError, match="do not sum to 1"):
        release("safe-response", np.array([[0.5, 0.4]]), np.array([0]), LIP("1"))
    with pytest.raises(InputError, match="code outside"):
        release("safe-response", good, np.array([2]), LIP("1"))
    with pytest.raises(InputError, match="outside the output alphabet at report 1"):
        beliefs("safe-response", good, np.array([-1]), LIP("1"))
    with pytest.raises(InputError, match="probability 0 under the user's prior"):
        beliefs("safe-response", np.array([[1.0, 0.0]]), np.array([1]), LIP("1"))
    with pytest.raises(InputError, match="2 reports for 1 priors"):
        beliefs("safe-response", good, np.array([1, 0]), LIP("1"))
