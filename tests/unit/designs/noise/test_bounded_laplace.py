"""Bounded Laplace noise: least scales, published ones that are refused, and what is said."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import Draft, bounded_laplace, design, design_as_published, lock
from liftlock.designs.formulas import laplace as formulas
from liftlock.errors import InputError, NotCertified, NotDefined
from liftlock.model.continuous import normal
from liftlock.notions import LDP, ApproximateLDP, ApproximateLIP, MaxLift, Notion
from liftlock_papers.formulas.laplace import smallest_scale

FAIR = ll.Prior.from_counts({0: 1, 1: 1})
GRADES = ll.Prior.from_probabilities({0: "0.05", 1: "0.9", 2: "0.05"})


def scale_of(draft: Draft) -> float:
    """Read the scale from what is said."""
    found = re.match(r"Laplace noise of scale (\S+),", draft.remarks[0])
    assert found
    return float(found[1])


# --- the least scale ----------------------------------------------------------------------------


def test_the_least_scale_comes_near_that_of_the_uncut_noise() -> None:
    """Cutting hides a little, so a little less noise is enough."""
    points, masses = np.array([0.0, 1.0, 2.0]), GRADES.floats()
    for budget in ("0.3", "1", "2"):
        unclamped_remarks = smallest_scale(points, masses, float(budget), 0.0, 2.0)
        before = 0.0
        for outputs in (16, 64, 512):
            found = scale_of(bounded_laplace(GRADES, ll.LIP(budget), outputs=outputs))
            assert before < found < unclamped_remarks
            before = found
        assert before == pytest.approx(unclamped_remarks, rel=5e-3)


def test_a_draft_is_at_the_edge_of_its_budget() -> None:
    for notion in (ll.LIP("1"), LDP("0.5"), ApproximateLIP("0.5", "0.01")):
        draft = bounded_laplace(GRADES, notion, outputs=64)
        locked = lock(draft, notion, GRADES)
        assert locked.blend == 0
        less = bounded_laplace(GRADES, notion, outputs=64, scale=scale_of(draft) * (1 - 1e-4))
        with pytest.raises(NotCertified):
            lock(less, notion, GRADES)


def test_the_matrix_is_that_of_the_formula() -> None:
    draft = bounded_laplace(GRADES, ll.LIP("1"), scale=1.5, domain=(-1, 4), outputs=10)
    edges = np.linspace(-1, 4, 11)
    expected = formulas.bounded_bin_masses(np.array([0.0, 1.0, 2.0]), edges, 1.5)
    assert (draft.matrix == expected).all()
    assert draft.outputs.labels == (-0.75, -0.25, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75)


@pytest.mark.parametrize(
    ("budget", "domain", "bins"),
    [("0.01", (-4, 4), 256), ("1", (-4, 9), 512), ("8", (-12, 30), 512)],
)
def test_grids_lock_as_they_are(budget: str, domain: tuple[int, int], bins: int) -> None:
    prior = normal(0, 1, domain=domain).discretise(bins)
    for notion in (ll.LIP(budget), ApproximateLIP(budget, "0.001")):
        draft = bounded_laplace(prior, notion)
        locked = lock(draft, notion, prior)
        assert locked.blend == 0
        assert not locked.dropped


@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_tiny_and_huge_domains_are_the_same_problem(scale: float) -> None:
    def prior(unit: float) -> ll.Prior:
        return normal(5 * unit, unit, domain=(0, 10 * unit)).discretise(64)

    one = scale_of(bounded_laplace(prior(1.0), ll.LIP("1")))
    other = scale_of(bounded_laplace(prior(scale), ll.LIP("1")))
    assert other / scale == pytest.approx(one, rel=1e-4)
    assert design(prior(scale), ll.LIP("1"), method="bounded-laplace").certificate.holds


def test_skewed_priors_lock_as_they_are() -> None:
    prior = ll.Prior.from_counts({x: max(1, 10**9 >> (3 * x)) for x in range(11)})
    for notion in (ll.LIP("0.01"), ll.LIP("8"), MaxLift("1"), ApproximateLDP("1", "1e-6")):
        locked = lock(bounded_laplace(prior, notion, outputs=128), notion, prior)
        assert locked.blend == 0


def test_more_budget_never_asks_for_more_noise() -> None:
    budgets = ("0.05", "0.69", "0.7", "0.9", "1.5", "4")
    for prior in (FAIR, GRADES, normal(0, 1, domain=(-3, 3)).discretise(32)):
        scales = [scale_of(bounded_laplace(prior, ll.LIP(b), outputs=32)) for b in budgets]
        assert scales == sorted(scales, reverse=True)
        assert len(set(scales)) == len(scales)


def test_no_noise_is_said_to_be_none() -> None:
    fine = normal(0, 1, domain=(-4, 4)).discretise(512)
    draft = bounded_laplace(fine, ApproximateLIP("1", "0.01", "joint"))
    assert "asks for no noise here" in draft.remarks[1]


# --- published scales ---------------------------------------------------------------------------


def test_the_published_scales() -> None:
    for scale, expected in (
        ("published", formulas.published_scale(1.0, 0.05, 2.0)),
        ("every-epsilon", formulas.scale_for_every_epsilon(1.0, 0.05, 2.0)),
        ("context-free", 2.0),
    ):
        draft = bounded_laplace(GRADES, ll.LIP("1"), scale=scale)
        assert scale_of(draft) == pytest.approx(expected, rel=1e-5)
        assert draft.faithful
        assert lock(draft, ll.LIP("1"), GRADES).certificate.holds
    wide = bounded_laplace(GRADES, ll.LIP("1"), scale="context-free", domain=(0, 5))
    assert scale_of(wide) == 5.0
    data = bounded_laplace(
        GRADES, ll.LIP("1"), scale="context-free", domain=(0, 5), sensitivity="data"
    )
    assert scale_of(data) == 2.0


def test_the_sensitivity_of_the_data_is_refused_with_its_true_leakage() -> None:
    """P = (1/2, 1/2), X = {0, 1}, [l, u] = [0, 2], epsilon 0.5: it leaks 0.7423 uncut."""
    options = {"method": "bounded-laplace", "domain": (0, 2), "sensitivity": "data"}
    with pytest.raises(NotCertified) as refusal:
        design(FAIR, ll.LIP("0.5"), scale="published", **options)  # type: ignore[arg-type]
    text = str(refusal.value)
    assert "min-lift" in text
    found = re.search(r"alip\(lower=(\S+), upper=(\S+)\)", refusal.value.smallest)
    assert found
    assert float(found[1]) == pytest.approx(0.7423, abs=4e-3)
    made = design_as_published(FAIR, ll.LIP("0.5"), **options)  # type: ignore[arg-type]
    assert made.certificate.holds
    assert made.certificate.notion == "alip"
    assert made.origin is not None
    assert any("eps_lower 0.7423" in remark for remark in made.origin.remarks)
    assert any("asked for lip(0.5)" in remark for remark in made.origin.remarks)
    safe = design(FAIR, ll.LIP("0.5"), scale="published", method="bounded-laplace", domain=(0, 2))
    assert safe.certificate.holds


def test_a_formula_is_never_softened() -> None:
    with pytest.raises(NotCertified, match="design_as_published"):
        design(FAIR, ll.LIP("0.5"), method="bounded-laplace", scale=0.5)


def test_as_published_is_the_published_scale() -> None:
    plain = bounded_laplace(GRADES, ll.LIP("2"), as_published=True)
    named = bounded_laplace(GRADES, ll.LIP("2"), scale="published")
    assert (plain.matrix == named.matrix).all()
    with pytest.raises(InputError, match="no paper prints this scale"):
        bounded_laplace(GRADES, ll.LIP("2"), scale="smallest", as_published=True)


@pytest.mark.parametrize("budget", ["0.3", "0.69", "0.8", "2"])
def test_two_atoms_at_the_ends_are_exact(budget: str) -> None:
    """The first branch is the least scale there; cut into 4096 cells it is nearly so."""
    rule = formulas.scale_for_every_epsilon(float(budget), 0.5, 1.0)
    found = scale_of(bounded_laplace(FAIR, ll.LIP(budget), outputs=4096))
    assert found == pytest.approx(rule, rel=2e-3)
    assert found <= rule


def test_the_context_free_scale_is_ldp() -> None:
    made = design(GRADES, LDP("1"), method="bounded-laplace", scale="context-free")
    assert made.certificate.holds


# --- what is said, and refusals -----------------------------------------------------------------


def test_the_errors_that_are_said_are_those_of_the_mechanism() -> None:
    made = design(GRADES, ll.LIP("1"), method="bounded-laplace", outputs=512)
    assert made.origin is not None
    said = next(text for text in made.origin.remarks if text.startswith("taken as it is"))
    numbers = [float(text) for text in re.findall(r"\d+\.\d+(?:e-?\d+)?", said)]
    accuracy = made.accuracy()
    assert numbers[0] == pytest.approx(accuracy.squared, rel=1e-5)
    assert numbers[1] == pytest.approx(accuracy.absolute, rel=1e-5)
    assert numbers[2] == pytest.approx(accuracy.squared, rel=1e-2)


def test_released_numbers_lie_in_the_domain() -> None:
    made = design(GRADES, ll.LIP("1"), method="bounded-laplace", domain=(-1, 3), outputs=40)
    reports = np.array(made.release([0, 1, 2] * 200))
    assert reports.min() >= -1
    assert reports.max() <= 3
    assert len(set(reports.tolist())) > 20


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scale": "least"}, "unknown scale"),
        ({"scale": -1.0}, "the scale is not a positive number"),
        ({"scale": float("nan")}, "number"),
        ({"sensitivity": "query"}, "unknown sensitivity"),
        ({"domain": (1, 0)}, "the upper end of the domain is not above the lower"),
        ({"domain": (0.5, 2)}, "a number lies outside the domain"),
        ({"outputs": 1}, "out of range: 1;"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        design(FAIR, ll.LIP("1"), method="bounded-laplace", **options)  # type: ignore[arg-type]


def test_priors_that_are_not_of_numbers() -> None:
    with pytest.raises(InputError, match="a label is not a number"):
        design(ll.Prior.uniform("ab"), ll.LIP("1"), method="bounded-laplace")
    with pytest.raises(InputError, match="all numbers are the same"):
        design(ll.Prior.from_counts({3: 2, 4: 0}), ll.LIP("1"), method="bounded-laplace")
    with pytest.raises(InputError, match="the prior gives an input probability 0"):
        bounded_laplace(ll.Prior.from_counts({3: 2, 4: 1, 5: 0}), ll.LIP("1"))


def test_budgets_of_zero() -> None:
    nothing: Notion = ApproximateLIP("0", "0.01")
    assert design(FAIR, nothing, method="bounded-laplace", outputs=16).certificate.holds
    with pytest.raises(InputError, match="needs an epsilon above 0"):
        bounded_laplace(FAIR, nothing, scale="published")
    with pytest.raises(NotDefined, match="the noise would have to be infinite"):
        bounded_laplace(FAIR, ll.LIP(Fraction(0)), outputs=16)
