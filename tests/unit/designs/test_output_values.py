"""Readings: what an output stands for, by brute force, and how outputs are labelled by it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liftlock as ll
from liftlock.designs import Draft
from liftlock.designs.output_values import label_by_value
from liftlock.exact.integers import Floats
from liftlock.notions import MinLift
from liftlock.utility import make_utility
from liftlock.utility.mean import posterior_means, posterior_medians

CUT = ll.continuous.from_data([1, 2, 2, 3, 5, 8, 13, 21], domain=(0, 25)).discretise(4)
SEEDS = st.integers(0, 10_000)


def some_matrix(seed: int, rows: int, columns: int) -> Floats:
    return np.asarray(np.random.default_rng(seed).dirichlet(np.ones(columns), size=rows))


@settings(max_examples=30)
@given(SEEDS)
def test_the_mean_and_the_median_are_the_best_guesses(seed: int) -> None:
    matrix = some_matrix(seed, 5, 3)
    random = np.random.default_rng(seed + 1)
    masses, points = random.dirichlet(np.ones(5)), random.permutation([0.0, 1.0, 4.0, 9.0, 20.0])
    means = posterior_means(matrix, masses, points)
    medians = posterior_medians(matrix, masses, points)
    guesses = np.linspace(0, 20, 401)
    for y in range(3):
        weights = masses * matrix[:, y]
        squared = weights @ (points[:, None] - guesses) ** 2
        absolute = weights @ np.abs(points[:, None] - guesses)
        assert weights @ (points - means[y]) ** 2 <= squared.min() + 1e-12
        assert weights @ np.abs(points - medians[y]) <= absolute.min() + 1e-12


def draft_of(matrix: Floats) -> Draft:
    names = [f"y{place}" for place in range(matrix.shape[1])]
    return Draft.of(CUT.inputs, names, matrix)


@pytest.mark.parametrize("name", ["mean", "absolute"])
def test_outputs_are_labelled_in_ascending_order(name: str) -> None:
    matrix = some_matrix(3, len(CUT.counts), 3)
    made = label_by_value(draft_of(matrix), CUT, make_utility(name, CUT.inputs))
    read = posterior_means if name == "mean" else posterior_medians
    expected = np.sort(read(matrix, CUT.floats(), CUT.points))
    labels = [float(label) for label in made.outputs.labels]  # type: ignore[arg-type]
    assert labels == sorted(labels)
    assert np.unique(labels) == pytest.approx(np.unique(expected), abs=1e-4 * np.ptp(CUT.points))
    assert made.matrix.sum(axis=1) == pytest.approx(1)
    assert read(made.matrix, CUT.floats(), CUT.points) == pytest.approx(labels, abs=1e-3)


def test_outputs_that_read_alike_are_joined_only_if_nothing_is_lost() -> None:
    same = np.full((len(CUT.counts), 3), 1 / 3)  # three copies of one output
    joined = label_by_value(draft_of(same), CUT, make_utility("mean", CUT.inputs))
    assert joined.matrix.shape[1] == 1
    kept = label_by_value(draft_of(same), CUT, make_utility("mutual-information", CUT.inputs))
    assert kept.matrix.shape[1] == 3
    assert len(set(kept.outputs.labels)) == 3
    assert kept.outputs.coordinates is not None
    assert len(set(kept.outputs.coordinates)) == 1


def test_a_constant_mechanism_says_the_mean() -> None:
    for notion in (ll.LIP("0"), ll.LDP("0")):
        made = ll.design(CUT, notion)
        mean = float(CUT.floats() @ CUT.points)
        assert made.release([3.0, 99.0]) == pytest.approx([mean, mean], rel=1e-3)
        assert made.accuracy().squared == pytest.approx(
            np.clip([1, 2, 2, 3, 5, 8, 13, 21], 0, 25).var(), rel=1e-3
        )


def test_a_residue_is_joined_with_the_output_that_reads_most_alike() -> None:
    prior = ll.continuous.uniform(0, 1).discretise(4)
    rows = np.array([[0.7, 0.3], [0.6, 0.4], [0.4, 0.6], [0.3, 0.7]])
    residue = 1e-8 * np.array([1.0, 2.0, 3.0, 4.0])
    matrix = np.column_stack([rows[:, 0], residue, rows[:, 1] - residue])
    draft = Draft.of(prior.inputs, ["low", "rare", "high"], matrix)
    found = label_by_value(draft, prior, make_utility("mean", prior.inputs))
    assert np.allclose(found.matrix, rows, rtol=0, atol=1e-15)
    assert len(label_by_value(draft, prior, make_utility("histogram", prior.inputs)).outputs) == 3


@pytest.mark.parametrize("name", ["mean", "absolute", "histogram"])
def test_an_output_that_never_occurs_is_not_read(name: str) -> None:
    matrix = np.array([[0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.25, 0.0, 0.75], [0.25, 0.0, 0.75]])
    draft = Draft.of(CUT.inputs, ["low", "never", "high"], matrix)
    read = label_by_value(draft, CUT, make_utility(name, CUT.inputs))
    assert read.matrix == pytest.approx(matrix[:, [0, 2]])


def test_common_outputs_that_read_the_same_are_joined_where_others_are_rare() -> None:
    rare = 2.0**-30
    matrix = np.tile([0.5, 0.5, 0.0], (4, 1))
    matrix[3] = 0.5 - rare / 2, 0.5 - rare / 2, rare
    draft = Draft.of(CUT.inputs, ["one", "same", "rare"], matrix)
    read = label_by_value(draft, CUT, make_utility("mean", CUT.inputs))
    assert read.matrix == pytest.approx(np.ones((4, 1)))


def test_a_method_with_many_outputs_that_read_alike_works_on_a_grid() -> None:
    cut = ll.continuous.normal(50, 10, domain=(20, 80)).discretise(8, "width")
    made = ll.design(cut, MinLift("1.843"), method="arc", utility="mean")
    assert made.certificate.holds
    assert np.isfinite(np.asarray(made.simulate([20.0, 90.0], seed=1))).all()
