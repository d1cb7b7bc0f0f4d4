"""Gaussian noise by instance: never worse than one deviation, and certified on its true output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import DESIGNS, design, design_as_published, gaussian, instance_gaussian, lock
from liftlock.designs.formulas import gaussian as formulas
from liftlock.designs.noise.axis import Axis
from liftlock.designs.noise.calibration import row_needs
from liftlock.designs.noise.gaussian import Gaussian, needed_shares
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model.continuous import ContinuousPrior, GridPrior, Mixture, normal
from liftlock.notions import LDP, LIP, REGISTRY, ApproximateLDP, ApproximateLIP, Notion, make_notion

SKEWED = ll.Prior.from_counts({0: 900, 1: 60, 5: 30, 20: 10})


def wages(bins: int = 32) -> GridPrior:
    return normal(50, 10, domain=(20, 80)).discretise(bins)


def peaks(bins: int = 32) -> GridPrior:
    distribution = Mixture.of([(0.7, 30, 5), (0.3, 70, 8)])
    return ContinuousPrior.of(distribution, domain=(0, 100)).discretise(bins, "width")


def notion_of(name: str, epsilon: str = "1", delta: str = "0.001") -> Notion:
    values = {"delta": delta, "upper": "0.6"}
    return make_notion(name, {k: values.get(k, epsilon) for k in REGISTRY[name].parameters})


@pytest.mark.parametrize("name", DESIGNS["gaussian-by-instance"].notions)
@pytest.mark.parametrize("prior", [wages(), peaks(), SKEWED], ids=["wages", "peaks", "skewed"])
def test_never_worse_than_one_deviation(prior: ll.Prior, name: str) -> None:
    notion = notion_of(name, "1.5")
    for utility in ("mean", "absolute") if name == "lip" else ("mean",):
        even = design(prior, notion, utility=utility, method="gaussian", outputs=32)
        made = design(prior, notion, utility=utility, method="gaussian-by-instance", outputs=32)
        assert made.certificate.holds
        assert even.origin is not None
        assert made.origin is not None
        assert made.origin.objective <= even.origin.objective * (1 + 1e-9)


def test_much_better_where_the_prior_is_dense() -> None:
    """A normal prior at epsilon 3: half of the squared error at face value."""
    prior = wages(96)
    errors = []
    for make in (gaussian, instance_gaussian):
        matrix = make(prior, LIP("3")).matrix
        errors.append(Axis.of(prior).face_value_error(matrix))
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("prior", [wages(), SKEWED], ids=["wages", "skewed"])
def test_the_power_zero_is_one_deviation(prior: ll.Prior) -> None:
    for notion in (LIP("1"), ApproximateLIP("1", "0.01")):
        flat = instance_gaussian(prior, notion, power=0, outputs=32)
        even = gaussian(prior, notion, outputs=32)
        assert flat.matrix == pytest.approx(even.matrix, abs=1e-8)


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_every_power_is_calibrated(power: float) -> None:
    for prior in (wages(), peaks()):
        notion = ApproximateLIP("1", "0.01")
        draft = instance_gaussian(prior, notion, power=power)
        locked = lock(draft, notion, prior)
        assert locked.certificate.holds
        assert not locked.blend


def test_the_profile_is_what_each_value_needs_alone() -> None:
    """At its own deviation, given to all, a value just keeps the budget; the binding one has 1."""
    prior = wages()
    axis = Axis.of(prior, outputs=32)
    for notion in (LIP("1"), LDP("1"), ApproximateLIP("1", "0.01"), ApproximateLDP("1", "0.01")):
        common = Gaussian(axis).smallest(notion)
        shares = needed_shares(Gaussian(axis), notion, common)
        assert shares.max() == pytest.approx(1.0, abs=0.01)
        assert (shares <= 1 + 1e-9).all()
        needs = row_needs(notion)
        for x in range(0, len(axis.points), 7):
            if shares[x] > 0.06:
                kept = needs(
                    Gaussian(axis).bin_masses(common * float(shares[x]) * 1.05), axis.masses
                )[x]
                broken = needs(
                    Gaussian(axis).bin_masses(common * float(shares[x]) * 0.95), axis.masses
                )[x]
                assert kept <= 0 < broken


def test_less_noise_where_the_prior_is_dense() -> None:
    prior = wages()
    axis = Axis.of(prior)
    shares = needed_shares(Gaussian(axis), LIP("2"), Gaussian(axis).smallest(LIP("2")))
    middle = len(shares) // 2
    assert shares[middle] < 0.7 < shares[0]


# --- as published ---------------------------------------------------------------------------------


def test_the_published_rule_is_refused_and_its_true_delta_shown() -> None:
    prior = normal(0, 5, domain=(-60, 60)).discretise(64)
    notion = ApproximateLIP("1", "0.0001")
    options: dict[str, Any] = {"method": "gaussian-by-instance", "as_published": True}
    with pytest.raises(NotCertified, match="design_as_published"):
        design(prior, notion, **options)
    made = design_as_published(prior, notion, method="gaussian-by-instance")
    assert isinstance(made.notion, ApproximateLIP)
    assert float(made.notion.delta) > 0.05
    assert made.origin is not None
    said = next(text for text in made.origin.remarks if "true delta" in text)
    shown = float(said.split(" is ")[1].split(",")[0])
    assert shown == pytest.approx(0.12, abs=0.01)


def test_the_published_deviations_are_those_of_the_formula() -> None:
    prior, notion = wages(), ApproximateLIP("1", "0.01", "def5")
    points, masses = prior.points, prior.floats()
    mean = float(masses @ points)
    sd = float(np.sqrt(masses @ (points - mean) ** 2))
    sigmas = formulas.instance_sigma(points, mean, sd, 1, 0.01, "def5")
    draft = instance_gaussian(prior, notion, as_published=True, outputs=32)
    assert draft.faithful
    assert draft.matrix == pytest.approx(
        Gaussian(Axis.of(prior, outputs=32)).bin_masses(sigmas), abs=1e-9
    )


def test_it_is_published_for_a_delta_alone() -> None:
    with pytest.raises(NotDefined, match="it is made for lip_ediv"):
        instance_gaussian(SKEWED, LIP("1"), as_published=True)


@pytest.mark.parametrize("power", [-0.1, 1.5, "much", float("nan")])
def test_bad_powers(power: object) -> None:
    with pytest.raises(InputError):
        instance_gaussian(SKEWED, LIP("1"), power=power)  # type: ignore[arg-type]
