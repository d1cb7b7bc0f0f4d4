"""Gaussian noise: its cells, its calibration, and the formulas that it is compared with."""

from __future__ import annotations

import itertools
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import DESIGNS, Draft, design, design_as_published, gaussian, lock
from liftlock.designs.formulas import gaussian as formulas
from liftlock.designs.noise.axis import Axis
from liftlock.designs.noise.gaussian import Gaussian
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model.continuous import ContinuousPrior, GridPrior, Mixture, normal
from liftlock.notions import LDP, LIP, REGISTRY, ApproximateLDP, ApproximateLIP, Notion, make_notion

AGES = ll.Prior.from_counts({20: 3, 40: 5, 60: 2})


def wages(bins: int = 48) -> GridPrior:
    return normal(50, 10, domain=(20, 80)).discretise(bins)


def peaks(bins: int = 48) -> GridPrior:
    distribution = Mixture.of([(0.7, 30, 5), (0.3, 70, 8)])
    return ContinuousPrior.of(distribution, domain=(0, 100)).discretise(bins, "width")


def notion_of(name: str, epsilon: str = "1", delta: str = "0.001") -> Notion:
    values = {"delta": delta, "upper": "0.6"}
    return make_notion(name, {k: values.get(k, epsilon) for k in REGISTRY[name].parameters})


def sigma_of(draft: Draft) -> float:
    return float(draft.remarks[0].split("deviation ")[1].split(",")[0])


# --- cells ----------------------------------------------------------------------------------------


def test_cells_keep_their_digits_in_both_tails() -> None:
    axis = Axis.of(ll.Prior.from_counts({-4: 1, 0: 1, 4: 1}), domain=(-5, 5), outputs=40)
    matrix = Gaussian(axis).bin_masses(0.3)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-15)
    smallest = 1.0
    with mp.workdps(400):
        for x, y in itertools.product(range(3), range(0, 40, 3)):
            low, high = (
                mp.mpf(float(axis.edges[y + side]) - float(axis.points[x])) / mp.mpf(0.3)
                for side in (0, 1)
            )
            exact = (mp.ncdf(high) if y < 39 else 1) - (mp.ncdf(low) if y else 0)
            if exact > 1e-280:
                assert matrix[x, y] == pytest.approx(float(exact), rel=1e-11), (x, y)
                smallest = min(smallest, float(exact))
    assert smallest < 1e-100


def test_one_deviation_for_each_input() -> None:
    axis = Axis.of(AGES, outputs=16)
    sds = np.array([3.0, 10.0, 40.0])
    together = Gaussian(axis).bin_masses(sds)
    for row, sd in enumerate(sds):
        assert together[row].tolist() == Gaussian(axis).bin_masses(float(sd))[row].tolist()


# --- calibration ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS["gaussian"].notions)
@pytest.mark.parametrize("prior", [AGES, wages(), peaks()], ids=["ages", "wages", "peaks"])
def test_the_least_deviation_locks_as_it_is(prior: ll.Prior, name: str) -> None:
    notion = notion_of(name)
    draft = gaussian(prior, notion, outputs=64)
    locked = lock(draft, notion, prior)
    assert locked.certificate.holds
    assert not locked.blend
    less = gaussian(prior, notion, outputs=64, scale=sigma_of(draft) * 0.999)
    with pytest.raises(NotCertified):
        lock(less, notion, prior)


@pytest.mark.parametrize("name", DESIGNS["gaussian"].notions)
def test_more_budget_asks_for_no_more_noise(name: str) -> None:
    source = np.random.default_rng(7)
    for place in range(3):
        points = np.sort((source.normal(size=int(source.integers(2, 9))) * 30).round(3))
        counts = source.integers(1, 10 ** (place + 1), size=len(points))
        prior = ll.Prior.from_counts(list(zip(points.tolist(), counts.tolist(), strict=True)))
        wide = (-300, 250) if place == 2 else None  # outputs that hardly ever occur
        axis = Axis.of(prior, domain=wide, outputs=24)
        epsilons = ["0.01", "0.3", "0.69", "0.7", "0.71", "1", "2", "5", "12"]
        found = [Gaussian(axis).smallest(notion_of(name, epsilon)) for epsilon in epsilons]
        assert (np.diff(found) <= 0).all()
        assert found[-1] < found[0]
        if "delta" in REGISTRY[name].parameters:
            deltas = ["1e-12", "1e-9", "1e-8", "2e-8", "1e-6", "0.001", "0.01", "0.1", "0.4"]
            found = [Gaussian(axis).smallest(notion_of(name, "1", delta)) for delta in deltas]
            assert (np.diff(found) <= 0).all()


def test_clamping_makes_pure_notions_possible() -> None:
    """Unclamped normal noise has unbounded lifts; clamped it costs hardly more than a delta."""
    pure = sigma_of(gaussian(wages(), LIP("1")))
    nearly = sigma_of(gaussian(wages(), ApproximateLIP("1", "0.0001")))
    assert nearly <= pure < 1.01 * nearly


def test_a_delta_of_zero_is_the_pure_notion() -> None:
    assert sigma_of(gaussian(AGES, ApproximateLIP("1", 0))) == sigma_of(gaussian(AGES, LIP("1")))
    assert sigma_of(gaussian(AGES, ApproximateLDP("1", 0))) == sigma_of(gaussian(AGES, LDP("1")))


@pytest.mark.parametrize(
    "notion",
    [
        ApproximateLIP("25", "1e-6"),
        ApproximateLIP("40", "0.001"),
        ApproximateLIP("5", "1e-12", "def5"),
        ApproximateLIP("0", "0.001"),
        ApproximateLIP("0.001", "1e-12"),
        ApproximateLIP("1", "0.999"),
        ApproximateLDP("20", "1e-9"),
        LIP("20"),
        LIP("1e-6"),
        LDP("30"),
    ],
    ids=str,
)
def test_extreme_budgets(notion: Notion) -> None:
    skewed = ll.Prior.from_counts({0: 1, 1: 10**9, 2: 10**6, 1000: 1})
    for prior in (wages(24), skewed):
        made = design(prior, notion, utility="mean", method="gaussian", outputs=32)
        assert made.certificate.holds
        assert made.origin is not None
        assert not any("blended" in remark for remark in made.origin.remarks)


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_tiny_and_huge_numbers(scale: float) -> None:
    """Nothing depends on the unit of the numbers."""
    counts = [(float(f"{x * scale:.6g}"), n) for x, n in ((20, 3), (40, 5), (60, 2))]
    prior = ll.Prior.from_counts(counts)
    found = sigma_of(gaussian(prior, LIP("1"), outputs=32))
    assert found / scale == pytest.approx(sigma_of(gaussian(AGES, LIP("1"), outputs=32)), rel=1e-5)


def test_512_cells() -> None:
    prior = wages(512)
    notion = ApproximateLIP("1", "0.0001")
    locked = lock(gaussian(prior, notion), notion, prior)
    assert locked.channel.weights.shape == (512, 512)
    assert not locked.blend


# --- formulas -------------------------------------------------------------------------------------


def test_the_published_deviation() -> None:
    prior = wages()
    points, masses = prior.points, prior.floats()
    mean = float(masses @ points)
    sd = float(np.sqrt(masses @ (points - mean) ** 2))
    notion = ApproximateLIP("1", "0.01")
    draft = gaussian(prior, notion, scale="published", radius=15)
    expected = float(formulas.smallest_sigma(15, sd, 1, 0.01))
    assert draft.faithful
    assert sigma_of(draft) == pytest.approx(expected, rel=1e-5)
    whole = gaussian(prior, notion, as_published=True)
    assert sigma_of(whole) == pytest.approx(
        float(formulas.smallest_sigma(np.abs(points - mean).max(), sd, 1, 0.01)), rel=1e-5
    )
    def5 = gaussian(prior, ApproximateLIP("1", "0.01", "def5"), scale="published", radius=15)
    assert sigma_of(def5) == pytest.approx(
        float(formulas.smallest_sigma(15, sd, 1, 0.01, "def5")), rel=1e-5
    )


def test_what_lies_beyond_a_radius_is_said() -> None:
    prior = wages()
    points, masses = prior.points, prior.floats()
    notion = ApproximateLIP("1", "0.01")
    draft = gaussian(prior, notion, scale="published", radius=8)
    beyond = 100 * masses[np.abs(points - masses @ points) > 8].sum()
    assert any(
        said.startswith(f"{beyond:.3g} % of the prior lies beyond that radius")
        and "the certificate covers every input" in said
        for said in draft.remarks
    )
    assert not any("beyond that radius" in said for said in gaussian(prior, notion).remarks)


def test_a_small_radius_is_refused_with_what_is_true() -> None:
    """The formula is silent on values beyond the radius, the certificate is not."""
    prior, notion = wages(), ApproximateLIP("1", "0.01")
    with pytest.raises(NotCertified, match="design_as_published"):
        design(prior, notion, method="gaussian", scale="published", radius=2)
    true = design_as_published(prior, notion, method="gaussian", radius=2)
    assert true.certificate.holds
    assert isinstance(true.notion, ApproximateLIP)
    assert float(true.notion.delta) > 0.01


def test_the_analytic_delta_is_shown() -> None:
    prior, notion = wages(), ApproximateLIP("1", "0.01")
    draft = gaussian(prior, notion)
    points, masses = prior.points, prior.floats()
    sd = float(np.sqrt(masses @ (points - masses @ points) ** 2))
    reach = float(np.abs(points - masses @ points).max())
    analytic = float(formulas.radius_delta(reach, sd, sigma_of(draft), 1))
    assert any(f"is {analytic:.3g}"[:-1] in said for said in draft.remarks)
    assert analytic > 0.01, "clamping hides what the tails would tell"
    ldp = gaussian(prior, ApproximateLDP("1", "0.01"))
    shown = float(ldp.remarks[2].rsplit(" ", 1)[1])
    assert shown == pytest.approx(
        formulas.analytic_delta(1, sigma_of(ldp), np.ptp(points)), rel=1e-3
    )


@pytest.mark.parametrize("name", ["lip_ediv", "lip_def5", "lip_joint", "ldp_delta"])
@pytest.mark.parametrize("scale", ["classical", "analytic"])
def test_baselines_keep_their_promise_up_to_one(scale: str, name: str) -> None:
    prior, notion = peaks(), notion_of(name, "0.8", "0.01")
    made = design(prior, notion, utility="mean", method="gaussian", scale=scale)
    assert made.certificate.holds
    formula = formulas.classical_sigma if scale == "classical" else formulas.analytic_sigma
    expected = formula(0.8, 0.01, float(np.ptp(prior.points)))
    assert made.origin is not None
    assert f"deviation {expected:.6g}" in made.origin.remarks[0]
    least = sigma_of(gaussian(prior, notion))
    assert least <= expected


def test_the_classical_bound_is_refused_where_it_fails() -> None:
    ends, notion = ll.Prior.from_counts({0: 1, 1: 1}), ApproximateLDP("10", "0.0139")
    options: dict[str, Any] = {"method": "gaussian", "domain": (-2, 3)}
    with pytest.raises(NotCertified, match="does not hold"):
        design(ends, notion, scale="classical", **options)
    true = design_as_published(ends, notion, scale="classical", **options)
    assert isinstance(true.notion, ApproximateLDP)
    assert float(true.notion.delta) == pytest.approx(0.0575, abs=0.002)
    assert design(ends, notion, scale="analytic", **options).certificate.holds


def test_formulas_say_what_they_are_made_for() -> None:
    with pytest.raises(NotDefined, match="it is made for lip_ediv, lip_def5, lip_joint"):
        gaussian(AGES, LIP("1"), scale="published")
    with pytest.raises(NotDefined, match="it needs a delta"):
        gaussian(AGES, LIP("1"), scale="analytic")
    with pytest.raises(InputError, match="a delta between 0 and 1"):
        gaussian(AGES, ApproximateLIP("1", 0), scale="published")


# --- use and bad input ----------------------------------------------------------------------------


def test_numbers_in_and_numbers_out() -> None:
    made = design(
        normal(50, 10, domain=(20, 80)),
        LIP("2"),
        method="gaussian",
        bins=64,
    )
    released = made.release([12.0, 50.0, 99.0])
    assert all(20 < float(number) < 80 for number in released)


def test_the_error_at_face_value() -> None:
    draft = gaussian(AGES, LIP("2"), outputs=32)
    axis = Axis.of(AGES, outputs=32)
    squared = sum(
        mass * float(row @ (axis.values - point) ** 2)
        for mass, point, row in zip(axis.masses, axis.points, draft.matrix, strict=True)
    )
    assert f"mean squared error {squared:.6g}" in draft.remarks[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": "best"}, "unknown scale"),
        ({"scale": 0}, "the deviation is not a positive number"),
        ({"scale": float("nan")}, "not a finite number|not a number"),
        ({"radius": -1}, "the radius is not a positive number"),
        ({"domain": (30, 50)}, "outside the domain"),
        ({"domain": (50, 30)}, "not above the lower"),
        ({"outputs": 1}, "out of range: 1;"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        design(AGES, ApproximateLIP("1", "0.1"), method="gaussian", **options)


def test_priors_without_numbers_or_spread() -> None:
    with pytest.raises(InputError, match="needs numbers"):
        gaussian(ll.Prior.uniform("ab"), LIP("1"))
    with pytest.raises(InputError, match="all numbers are the same"):
        gaussian(ll.Prior.from_counts({3: 1}), LIP("1"))
    with pytest.raises(InputError, match="probability 0"):
        gaussian(ll.Prior.from_counts({1: 1, 2: 0, 3: 1}), LIP("1"))
    made = design(ll.Prior.from_counts({1: 1, 2: 0, 3: 1}), LIP("1"), method="gaussian")
    assert made.channel.inputs.labels == (1, 3)


def test_a_radius_that_leaves_nobody_out_does_not_warn() -> None:
    wages = normal(0, 5, domain=(-60, 60)).discretise(16)
    said = {
        radius: design(wages, ApproximateLIP("1", "0.1"), method="gaussian", radius=radius)
        for radius in (5, 50)
    }
    remarks = {
        radius: " ".join(made.origin.remarks) for radius, made in said.items() if made.origin
    }
    assert "% of the prior lies beyond that radius" in remarks[5]
    assert "nothing of the discretised prior lies beyond that radius" in remarks[50]
