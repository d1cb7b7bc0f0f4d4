"""Maximum likelihood: the proof holds, the maximum is found, and what is not unique is said."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from liftlock.errors import NotDefined
from liftlock.estimate import Question
from liftlock.estimate.estimators import Likelihood
from liftlock.estimate.maximum_likelihood import GAP, maximise_likelihood, minimise_quadratic
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ask
from tests.unit.estimate.worlds import ILL, TWINS, WIDE, model_of, response

Floats = npt.NDArray[np.float64]


def level(rows: Floats, counts: Floats, shares: Floats) -> float:
    seen = counts > 0
    return float(counts[seen] @ np.log(shares @ rows[:, seen]))


def searched(rows: Floats, counts: Floats) -> float:
    """Return the maximum as a general optimiser finds it."""
    size = len(rows)
    found = minimize(  # type: ignore[call-overload]
        lambda s: -level(rows, counts, np.maximum(s, 1e-12)),
        np.full(size, 1 / size),
        bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda s: s.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    shares = np.maximum(found.x, 0)
    return level(rows, counts, shares / shares.sum())


@pytest.mark.parametrize("seed", range(6))
def test_as_likely_as_a_general_optimiser_finds(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size, outputs = [(3, 3), (4, 7), (6, 4), (8, 8), (5, 5), (2, 9)][seed]
    rows = generator.dirichlet(np.ones(outputs), size=size)
    shares = generator.dirichlet(np.full(size, 0.3))
    counts = generator.multinomial([20, 300, 4000][seed % 3], shares @ rows).astype(float)
    start = np.full(size, 1 / size)
    found = maximise_likelihood(rows, counts, start)
    best = searched(rows, counts)
    assert found.gaps <= GAP
    assert best - level(rows, counts, found.shares) <= found.gaps + 1e-9
    assert found.shares.min() >= 0
    assert found.shares.sum() == pytest.approx(1)


@pytest.mark.parametrize("cycles", [1, 3, 10])
def test_the_proof_holds_wherever_it_stops(cycles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With far too few steps the gap is large, and still no smaller than the truth."""
    monkeypatch.setattr("liftlock.estimate.maximum_likelihood._CYCLES", cycles)
    monkeypatch.setattr("liftlock.estimate.maximum_likelihood._NEWTON", 0)
    monkeypatch.setattr("liftlock.estimate.maximum_likelihood._ROUNDS", 0)
    rows = response(6, 0.5)
    counts = np.array([40.0, 3.0, 10.0, 9.0, 0.0, 20.0])
    found = maximise_likelihood(rows, counts, np.full(6, 1 / 6))
    missing = searched(rows, counts) - level(rows, counts, found.shares)
    assert 0 <= missing <= found.gaps


def test_the_likelihood_never_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = response(8, 0.3)
    counts = np.random.default_rng(1).multinomial(200, np.full(8, 1 / 8)).astype(float)
    levels = []
    monkeypatch.setattr("liftlock.estimate.maximum_likelihood._ROUNDS", 0)
    for cycles, newton in [(c, 0) for c in range(1, 12)] + [(11, n) for n in range(1, 8)]:
        monkeypatch.setattr("liftlock.estimate.maximum_likelihood._CYCLES", cycles)
        monkeypatch.setattr("liftlock.estimate.maximum_likelihood._NEWTON", newton)
        levels.append(
            level(rows, counts, maximise_likelihood(rows, counts, np.full(8, 1 / 8)).shares)
        )
    assert (np.diff(levels) >= -1e-12).all()


def test_inside_it_is_the_unbiased_histogram() -> None:
    """Where the inverse has no negative count it fits perfectly, and nothing is likelier."""
    counts = np.array([500.0, 300.0, 200.0])
    found = Likelihood(Dense.of(ILL), Question.histogram(ILL.inputs)).values(counts)
    assert found == pytest.approx(counts @ np.linalg.inv(ILL.floats()), abs=0.01)


def test_many_counts_at_once_are_those_one_by_one() -> None:
    rows = WIDE.floats()
    many = np.random.default_rng(2).multinomial(60, np.full(3, 1 / 3) @ rows, size=40).astype(float)
    estimator = Likelihood(Dense.of(WIDE), ask(WIDE.inputs, "mean"))
    found = estimator.values(many)
    assert found.shape == (40, 1)
    one_by_one = np.array([estimator.values(counts) for counts in many])
    # The likelihood of each is within 1e-4 of the largest: a small part of a standard error.
    assert np.abs(found - one_by_one).max() < 1.0
    shape = estimator.values(many.reshape(8, 5, 4)[0]).shape
    assert shape == (5, 1)


def test_a_maximum_that_is_not_the_only_one() -> None:
    counts = np.array([60.0, 40.0])
    for question, only in [("histogram", False), ("survey", True)]:
        asked = ask(TWINS.inputs, question, "c" if question == "survey" else None)
        estimator = Likelihood(Dense.of(TWINS), asked)
        assert estimator.unique(counts, estimator.maximum(counts).shares) is only
    # Both symbols give the one output that was seen with the same probability.
    half = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    seen = np.array([5.0, 0.0, 0.0])
    model = model_of(half)
    estimator = Likelihood(model, Question.histogram(model.inputs))
    assert not estimator.unique(seen, estimator.maximum(seen).shares)
    assert estimator.unique(seen + 1, estimator.maximum(seen + 1).shares)


def test_symbols_that_look_alike_and_reports_that_are_very_rare() -> None:
    """More symbols than outputs, and probabilities from 1e-12 to 1: the proof is still reached."""
    generator = np.random.default_rng(7)
    for size, outputs, spread in [(37, 12, 13.0), (20, 6, 0.05), (30, 30, 0.05), (12, 4, 1.0)] * 3:
        rows = generator.dirichlet(np.full(outputs, spread), size=size)
        shares = generator.dirichlet(np.full(size, 0.2))
        distribution = shares @ rows
        counts = generator.multinomial(2000, distribution / distribution.sum()).astype(float)
        assert maximise_likelihood(rows, counts, np.full(size, 1 / size)).gaps <= GAP


def test_negative_sums_of_weights_are_refused() -> None:
    with pytest.raises(NotDefined, match="negative or all 0; ask for unbiased or bayes"):
        maximise_likelihood(ILL.floats(), np.array([3.0, -1.0, 2.0]), np.full(3, 1 / 3))


@pytest.mark.parametrize("seed", range(5))
def test_the_quadratic_model_is_minimised_exactly(seed: int) -> None:
    """Against every choice of the symbols that are not 0."""
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(6, 8))
    curvature, pull = root @ root.T, generator.normal(size=6)
    best = np.inf
    for free in itertools.product([False, True], repeat=6):
        some = np.flatnonzero(free)
        point = np.zeros(6)
        point[some] = np.linalg.solve(curvature[np.ix_(some, some)], pull[some])
        if point.min() >= 0:
            best = min(best, float(point @ curvature @ point / 2 - pull @ point))
    found = minimise_quadratic(curvature, pull, np.ones(6, dtype=np.bool_))
    assert found is not None
    assert found.min() >= 0
    assert float(found @ curvature @ found / 2 - pull @ found) == pytest.approx(best, abs=1e-9)
