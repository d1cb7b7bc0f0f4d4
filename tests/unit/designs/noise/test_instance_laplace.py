"""Laplace noise by instance: it beats one scale for all, and the published rule is shown up."""

from __future__ import annotations

import re

import numpy as np
import pytest

import liftlock as ll
from liftlock.designs import (
    Draft,
    bounded_laplace,
    design,
    design_as_published,
    instance_laplace,
    lock,
)
from liftlock.designs.formulas import laplace as formulas
from liftlock.designs.noise.axis import Axis
from liftlock.errors import InputError, NotCertified
from liftlock.model.continuous import normal
from liftlock.notions import LDP, ApproximateLIP
from tests.unit.designs.noise.test_bounded_laplace import GRADES

SKEWED = ll.Prior.from_probabilities({0: "0.9", 1.5: "0.05", 3: "0.05"})


def scales_of(draft: Draft) -> tuple[float, float]:
    found = re.match(r"Laplace noise of scales (\S+) to (\S+),", draft.remarks[0])
    assert found
    return float(found[1]), float(found[2])


def error_of(draft: Draft, prior: ll.Prior) -> float:
    """Return the squared error at face value, from the draft alone."""
    points = Axis.of(prior).points
    assert draft.outputs.coordinates is not None
    values = np.array([float(value) for value in draft.outputs.coordinates])
    return float(prior.floats() @ (draft.matrix * (values - points[:, None]) ** 2).sum(axis=1))


@pytest.mark.parametrize("budget", ["0.5", "1", "3"])
def test_no_worse_than_one_scale_for_all(budget: str) -> None:
    grid = normal(0, 1, domain=(-4, 4)).discretise(64)
    for prior in (SKEWED, GRADES, grid):
        for notion in (ll.LIP(budget), ApproximateLIP(budget, "0.01"), LDP(budget)):
            draft = instance_laplace(prior, notion, outputs=32)
            single = bounded_laplace(prior, notion, outputs=32)
            assert error_of(draft, prior) <= error_of(single, prior) * (1 + 1e-9)
            assert lock(draft, notion, prior).blend == 0


def test_it_can_halve_the_error() -> None:
    """One frequent value between two rare ones, with a large budget."""
    draft = instance_laplace(GRADES, ll.LIP("3"), outputs=64)
    single = bounded_laplace(GRADES, ll.LIP("3"), outputs=64)
    assert error_of(draft, GRADES) < 0.5 * error_of(single, GRADES)
    least, most = scales_of(draft)
    assert 2 * least < most


def test_weight_zero_is_one_scale_for_all() -> None:
    for notion in (ll.LIP("1"), ApproximateLIP("1", "0.02")):
        draft = instance_laplace(SKEWED, notion, weight=0, outputs=64)
        single = bounded_laplace(SKEWED, notion, outputs=64)
        assert draft.matrix == pytest.approx(single.matrix, rel=1e-12)
        least, most = scales_of(draft)
        assert least == most


def test_the_scales_follow_the_prior() -> None:
    draft = instance_laplace(SKEWED, ll.LIP("1"), weight=0.5, outputs=32)
    least, most = scales_of(draft)
    assert most / least == pytest.approx(1 / (0.5 + 0.5 * 0.05 / 0.9), rel=1e-5)
    scales = np.array([least, most, most])
    edges = np.linspace(0, 3, 33)
    assert draft.matrix == pytest.approx(
        formulas.bounded_bin_masses(np.array([0.0, 1.5, 3.0]), edges, scales), rel=1e-4
    )


def test_equal_masses_follow_the_density() -> None:
    """Cells of equal mass differ in width, and it is the density that counts."""
    grid = normal(0, 1, domain=(-4, 4)).discretise(64)
    least, most = scales_of(instance_laplace(grid, ll.LIP("3"), weight=0.5, outputs=64))
    assert most > 1.5 * least
    uniform = ll.Prior.uniform(range(5))
    least, most = scales_of(instance_laplace(uniform, ll.LIP("1"), outputs=32))
    assert least == most


def test_a_draft_is_at_the_edge_of_its_budget() -> None:
    """With a little less of the same noise the budget breaks."""
    draft = instance_laplace(GRADES, ll.LIP("2"), weight=0.4, outputs=64)
    least, most = scales_of(draft)
    profile = np.array([most, least, most]) / least
    edges = np.linspace(0, 2, 65)
    points = np.array([0.0, 1.0, 2.0])
    kept = formulas.bounded_bin_masses(points, edges, least * profile * (1 + 1e-5))
    broken = formulas.bounded_bin_masses(points, edges, least * profile * (1 - 1e-4))
    labels = draft.outputs
    lock(Draft.of(GRADES.inputs, labels, kept), ll.LIP("2"), GRADES)
    with pytest.raises(NotCertified):
        lock(Draft.of(GRADES.inputs, labels, broken), ll.LIP("2"), GRADES)


def test_the_published_rule_is_refused_and_its_leakage_named() -> None:
    """P = (.9, .05, .05), X = {0, 1.5, 3}, epsilon 1: it leaks 1.1956 uncut."""
    with pytest.raises(NotCertified) as refusal:
        design(SKEWED, ll.LIP("1"), method="laplace-by-instance", as_published=True)
    found = re.search(r"alip\(lower=(\S+), upper=(\S+)\)", refusal.value.smallest)
    assert found
    assert float(found[2]) == pytest.approx(1.1956, abs=5e-3)
    made = design_as_published(SKEWED, ll.LIP("1"), method="laplace-by-instance", outputs=64)
    assert made.certificate.holds
    assert made.origin is not None
    assert any("eps_upper 1.196" in remark for remark in made.origin.remarks)
    assert any("alpha = 0.6545" in remark for remark in made.origin.remarks)


def test_large_budgets_of_the_published_rule_have_one_scale() -> None:
    """From epsilon = ln(1 / P_min) on its alpha is 0."""
    draft = instance_laplace(SKEWED, ll.LIP("3"), as_published=True)
    assert scales_of(draft) == (1.0, 1.0)
    assert lock(draft, ll.LIP("3"), SKEWED).certificate.holds


@pytest.mark.parametrize("budget", ["0.01", "1", "8"])
def test_grids_lock_as_they_are(budget: str) -> None:
    prior = normal(0, 1, domain=(-5, 9)).discretise(256)
    for notion in (ll.LIP(budget), ApproximateLIP(budget, "0.001")):
        locked = lock(instance_laplace(prior, notion, outputs=128), notion, prior)
        assert locked.blend == 0
        assert not locked.dropped


@pytest.mark.parametrize("weight", [-0.1, 1, 2.0, float("nan"), "much"])
def test_weights_that_make_no_sense(weight: object) -> None:
    with pytest.raises(InputError):
        instance_laplace(GRADES, ll.LIP("1"), weight=weight)  # type: ignore[arg-type]


def test_what_is_said_is_what_is_made() -> None:
    made = design(GRADES, ll.LIP("3"), method="laplace-by-instance", outputs=64)
    assert made.origin is not None
    said = next(text for text in made.origin.remarks if text.startswith("one scale for all"))
    single = design(GRADES, ll.LIP("3"), method="bounded-laplace", outputs=64)
    numbers = [float(text) for text in re.findall(r"\d+\.\d+", said)]
    assert numbers[1] == pytest.approx(single.accuracy().squared, rel=1e-5)
    assert made.accuracy().squared < numbers[1]
