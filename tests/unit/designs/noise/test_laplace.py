"""Clamped Laplace noise: least scales, and the classical mechanism of local privacy."""

from __future__ import annotations

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import design, design_as_published, laplace, lock
from liftlock.designs.formulas import laplace as formulas
from liftlock.errors import NotCertified
from liftlock.model.continuous import normal
from liftlock.notions import LDP, ApproximateLIP
from liftlock_papers.formulas.laplace import smallest_scale
from tests.unit.designs.noise.test_bounded_laplace import FAIR, GRADES, scale_of


def test_the_matrix_is_that_of_the_formula() -> None:
    draft = laplace(GRADES, ll.LIP("1"), scale=0.7, domain=(-1, 4), outputs=10)
    expected = formulas.clamped_bin_masses(np.array([0.0, 1.0, 2.0]), np.linspace(-1, 4, 11), 0.7)
    assert (draft.matrix == expected).all()
    assert draft.matrix.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-15)


def test_the_classical_mechanism_is_ldp_and_exactly_so() -> None:
    """At the outermost cells the ratio of two atoms at the ends is e^(Delta - cells) / b."""
    for budget in ("0.5", "1", "3"):
        made = design(GRADES, LDP(budget), method="laplace", scale="context-free", outputs=64)
        assert made.certificate.holds
        draft = laplace(GRADES, LDP(budget), scale="context-free", outputs=4096)
        ratio = np.log(draft.matrix.max(axis=0) / draft.matrix.min(axis=0)).max()
        assert ratio == pytest.approx(float(budget), rel=5e-3)
        assert ratio <= float(budget)


def test_the_least_scale_comes_near_that_of_the_uncut_noise() -> None:
    points, masses = np.array([0.0, 1.0, 2.0]), GRADES.floats()
    for budget in ("0.3", "1", "2"):
        for domain in ((0, 2), (-3, 8)):
            ends = float(domain[0]), float(domain[1])
            unclamped_remarks = smallest_scale(points, masses, float(budget), *ends, bounded=False)
            draft = laplace(GRADES, ll.LIP(budget), domain=domain, outputs=1000)
            assert scale_of(draft) == pytest.approx(unclamped_remarks, rel=1.5e-2)
            assert scale_of(draft) <= unclamped_remarks * (1 + 1e-5)


def test_the_domain_does_not_enter_the_published_scale() -> None:
    """Clamping comes after the noise, so the sensitivity of the data is enough."""
    for domain in (None, (0, 2), (-5, 9)):
        draft = laplace(FAIR, ll.LIP("0.5"), scale="published", domain=domain)
        assert scale_of(draft) == pytest.approx(formulas.published_scale(0.5, 0.5, 1.0), rel=1e-5)
        assert lock(draft, ll.LIP("0.5"), FAIR).certificate.holds
    wide = laplace(FAIR, ll.LIP("0.5"), scale="context-free", domain=(0, 2), sensitivity="domain")
    assert scale_of(wide) == 4.0


def test_the_published_scale_keeps_the_budget() -> None:
    """The rule is loose but safe here, below and above its jump."""
    source = np.random.default_rng(4)
    for _ in range(5):
        size = int(source.integers(2, 6))
        points = np.sort(source.choice(50, size, replace=False))
        prior = ll.Prior.from_counts({int(x): int(source.integers(1, 30)) for x in points})
        for budget in ("0.2", "1", "3"):
            for scale in ("published", "every-epsilon", "context-free"):
                made = design(prior, ll.LIP(budget), method="laplace", scale=scale, outputs=48)
                assert made.certificate.holds


def test_too_little_noise_is_refused_or_named() -> None:
    with pytest.raises(NotCertified, match="design_as_published"):
        design(GRADES, ll.LIP("1"), method="laplace", scale=0.3)
    made = design_as_published(GRADES, ll.LIP("1"), method="laplace", scale=0.3, outputs=64)
    assert made.certificate.notion == "alip"
    assert made.certificate.holds


@pytest.mark.parametrize("budget", ["0.01", "1", "8"])
def test_grids_lock_as_they_are(budget: str) -> None:
    prior = normal(0, 1, domain=(-4, 12)).discretise(256, "width")
    for notion in (ll.LIP(budget), ApproximateLIP(budget, "0.001"), LDP(budget)):
        locked = lock(laplace(prior, notion), notion, prior)
        assert locked.blend == 0
        assert not locked.dropped


def test_more_budget_never_asks_for_more_noise() -> None:
    prior = normal(0, 1, domain=(-3, 3)).discretise(64)
    for delta in ("0", "0.01"):
        scales = [
            scale_of(laplace(prior, ApproximateLIP(budget, delta), outputs=64))
            for budget in ("0.1", "0.69", "0.7", "1.5", "4")
        ]
        assert scales == sorted(scales, reverse=True)
