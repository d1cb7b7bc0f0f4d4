"""What the figures of paper 000 are computed from, against independent computations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock.accounting import Release, account
from liftlock_papers.paper_000 import (
    composition,
    gaussian_noise,
    laplace_noise,
    relations,
    sampling_tradeoff,
    transferring,
)


def largest_ratio_by_lp(masses: list[float], ratio: float, weights: list[float]) -> float:
    """Maximise w(x') l(x') / (w(x) l(x)) over the lifts that epsilon-LIP allows.

    With w(x) l(x) = 1 by scaling (Charnes and Cooper) each pair is a linear program in the scaled
    lifts and their scale t: t / E <= l <= t E, sum P l = t.
    """
    from scipy.optimize import linprog

    size, best = len(masses), 0.0
    for top, bottom in itertools.permutations(range(size), 2):
        cost = np.zeros(size + 1)
        cost[top] = -weights[top]
        bounds = np.zeros((2 * size, size + 1))
        for x in range(size):
            bounds[x, x], bounds[x, size] = 1, -ratio
            bounds[size + x, x], bounds[size + x, size] = -1, 1 / ratio
        equal = np.zeros((2, size + 1))
        equal[0, :size], equal[0, size] = masses, -1
        equal[1, bottom] = weights[bottom]
        found = linprog(cost, bounds, np.zeros(2 * size), equal, [0, 1])
        assert found.fun is not None
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.6])
@pytest.mark.parametrize("counts", [(1, 33, 33, 33), (25, 25, 25, 25), (1, 99), (10, 90)])
def test_maxima_by_linear_programs(counts: tuple[int, ...], epsilon: float) -> None:
    masses = [count / 100 for count in counts]
    ratio = math.exp(epsilon)
    vertices = relations.vertices(np.array(masses), ratio)
    ldp = math.log(largest_ratio_by_lp(masses, ratio, [1.0] * len(masses)))
    odds = math.log(largest_ratio_by_lp(masses, ratio, masses))
    assert relations.largest_log_ratio(vertices / np.array(masses)) == pytest.approx(ldp, abs=1e-7)
    assert relations.largest_log_ratio(vertices) == pytest.approx(odds, abs=1e-7)
    implied = relations.implications(counts, epsilon)
    assert implied["ldp"] == pytest.approx(ldp, abs=1e-7)
    assert implied["identifiability"] == pytest.approx(odds, abs=1e-7)


def test_bounds_on_several_releases_are_those_of_the_library() -> None:
    prior = composition.prior_of("P2")
    for number in (1, 3):
        promised = [Release.from_guarantee(ll.LIP("2"), prior)] * number
        found = {each.accountant: each for each in account(promised, prior).spent}
        published = composition.published_bound([2.0] * number, [0.1] * number, 0.1)
        assert published == pytest.approx(float(found["published"]["lip"].value), rel=1e-12)
        tight = composition.tight_bound([2.0] * number, [0.1] * number, 0.1)
        assert tight == pytest.approx(float(found["tight"]["lip"].value), rel=1e-12)


def test_two_releases_by_hand() -> None:
    """The optimum for the uniform prior is the response (19): its product is written out."""
    rows = composition.optimum("P1", 2).table.floats()
    product = np.einsum("xy,xz->xyz", rows, rows).reshape(4, 16)
    lifts = product / product.mean(axis=0)
    leakage = float(np.abs(np.log(lifts)).max())
    made = composition.optimum("P1", 2)
    assert float(account([made, made])["lip"].value) == pytest.approx(leakage, rel=1e-9)


def test_the_correlated_sequence_has_the_given_priors() -> None:
    names = ("P1", "P2", "P3")
    joint = composition.correlated(names)
    for place, name in enumerate(names):
        for value, percent in enumerate(composition.PRIORS[name]):
            tuples = [label for label in joint.labels if isinstance(label, tuple)]
            mass = sum((joint[label] for label in tuples if label[place] == value), Fraction(0))
            assert mass == Fraction(percent, 100)
    # All at the same quantile: of the lowest 1 % all data are in their first value.
    assert joint[(0, 0, 0)] == (Fraction(1, 4) * Fraction(1, 10) + 1) * Fraction(1, 100) / 2


def test_leakage_of_sequences_by_enumeration() -> None:
    names = ("P2", "P3")
    tables = [composition.optimum(name, 2).table.floats() for name in names]
    joint = composition.correlated(names)
    masses = np.array([[float(joint[(a, b)]) for b in range(4)] for a in range(4)])
    channel = np.einsum("ay,bz->abyz", *tables)
    output = np.einsum("ab,abyz->yz", masses, channel)
    leakage = float(np.abs(np.log(channel / output)).max())
    assert composition.correlated_leakage(names, 2) == pytest.approx(leakage, rel=1e-9)


@pytest.mark.parametrize(("seen", "size"), [(15, 50), (9, 50), (97, 100)])
def test_mechanisms_made_for_a_sample(seen: int, size: int) -> None:
    """The closed forms against the audit of the library's mechanisms, under both priors."""
    counted, share = ll.Prior.from_counts({0: seen, 1: size - seen}), np.array([seen / size])
    published = ll.design_as_published(counted, ll.LIP("1"), method="response")
    optimum = ll.design(counted, ll.LIP("1"), method="binary")
    for made, flips in (
        (published, transferring.response_flips(share, math.e)),
        (optimum, transferring.optimum_flips(share, math.e)),
    ):
        for p, prior in ((0.3, ll.Prior.from_counts({0: 3, 1: 7})), (seen / size, counted)):
            audited = float(ll.audit(made.channel, prior)["lip"].value)
            assert transferring.leakage(flips, p)[0] == pytest.approx(audited, rel=1e-9)


def test_samples_are_binomial() -> None:
    from scipy.stats import binom

    for size in (50, 10_000):
        counts, chances = transferring.samples(size)
        assert chances.sum() == pytest.approx(1, abs=1e-10)
        assert chances == pytest.approx(binom(size, 0.3).pmf(counts), rel=1e-8)
        likely = counts[transferring.central(chances)]
        assert (likely[0], likely[-1]) == binom(size, 0.3).interval(0.99)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_best_release_of_two_halves_under_ldp(epsilon: float) -> None:
    """It is randomised response, right with probability p = E / (E + 1)."""
    prior = sampling_tradeoff.DISTRIBUTIONS["Uniform(0, 1)"].discretise(2)
    made = sampling_tradeoff.optimum(prior, ll.LDP(f"{epsilon:g}"))
    p = math.exp(epsilon) / (math.exp(epsilon) + 1)
    middle = made.readings("median").min()
    expected = p * (middle**2 + (0.5 - middle) ** 2) + 2 * (1 - p) * (0.375 - 0.5 * middle)
    assert sampling_tradeoff.uniform_error(made, prior) == pytest.approx(expected, rel=1e-6)
    assert sampling_tradeoff.leakage(made) <= epsilon


def test_what_is_not_proved_is_not_called_an_optimum() -> None:
    prior = sampling_tradeoff.DISTRIBUTIONS["Uniform(0, 1)"].discretise(32)
    with pytest.raises(ll.InputError, match="not proved to be the optimum"):
        sampling_tradeoff.optimum(prior, ll.LDP("4"))


def test_mean_differences_in_closed_form() -> None:
    distributions = sampling_tradeoff.DISTRIBUTIONS
    assert sampling_tradeoff.mean_difference(distributions["Gaussian N(0, 1)"]) == pytest.approx(
        2 / math.sqrt(math.pi), rel=1e-6
    )
    # Of a beta distribution it is 4 B(a + b, a + b) / ((a + b) B(a, a) B(b, b)).
    both, first, second = (math.gamma(x) ** 2 / math.gamma(2 * x) for x in (7, 2, 5))
    expected = 4 / 7 * both / (first * second)
    assert sampling_tradeoff.mean_difference(distributions["Beta(2, 5)"]) == pytest.approx(
        expected, rel=1e-6
    )


def test_deviations_are_read_off_a_certified_table() -> None:
    prior = ll.continuous.normal(0, 5, domain=(-10, 10)).discretise(32, "width")
    made = ll.design_as_published(
        prior, ll.ApproximateLIP("1", "0.5"), method="gaussian", scale=7.25
    )
    found = gaussian_noise.measured_deviations(made)
    assert [sigma for _, sigma in found] == pytest.approx([7.25] * 16, rel=1e-6)


@pytest.mark.parametrize("budget", ["1", "2"])
def test_published_deviations_would_do_if_the_sum_were_clamped(budget: str) -> None:
    """What the notes of Fig. 9 say of its published rule, which breaks its budget otherwise."""
    prior = ll.continuous.normal(0, 5, domain=(-10, 10)).discretise(32, "width")
    notion = ll.ApproximateLIP(budget, "0.0001")
    made = ll.design_as_published(prior, notion, method="gaussian-by-instance")
    assert notion.certify(made.channel, prior).holds


def test_laplace_noise_by_quadrature() -> None:
    """Leakage and error of eq. (26) on a fine grid of outputs."""
    numbers = laplace_noise.SKEWED
    scales = np.array([1.1, 1.7, 2.3])
    y = np.linspace(0.0, 3.0, 30_001)
    density = np.exp(-np.abs(y - numbers.values[:, None]) / scales[:, None])
    density /= np.trapezoid(density, y, axis=1)[:, None]
    leakage = float(np.abs(np.log(density / (numbers.masses @ density))).max())
    apart = np.trapezoid(density * np.abs(y - numbers.values[:, None]), y, axis=1)
    assert numbers.leakage(scales) == pytest.approx(leakage, abs=1e-6)
    assert numbers.error(scales) == pytest.approx(float(numbers.masses @ apart), rel=1e-6)
    assert laplace_noise.OWN.masses == pytest.approx([1 / 3 + 0.1, 1 / 3, 1 / 3 - 0.1])
