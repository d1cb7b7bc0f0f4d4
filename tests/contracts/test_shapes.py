"""Every utility has the shape that it claims: what a solver uses of it is true of its costs."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock import Alphabet
from liftlock.utility import (
    REGISTRY,
    Concave,
    CustomUtility,
    Distortion,
    Linear,
    Precision,
    Separable,
    Utility,
    Variance,
    make_utility,
)
from liftlock.utility.base import TermKind

NUMBERS = Alphabet.of([1, 2, 4, 8])
UTILITIES: dict[str, Utility] = {name: make_utility(name, NUMBERS) for name in REGISTRY} | {
    "distortion": Distortion.of([[0, 2], [1, 1], [3, -1], [0, 0]], "ab"),
    "own": CustomUtility(lambda v: float(1 - (v**2).sum()), symbols=4),
}


@pytest.fixture(params=UTILITIES)
def utility(request: pytest.FixtureRequest) -> Utility:
    return UTILITIES[request.param]


@pytest.fixture
def posteriors() -> np.ndarray:
    return np.random.default_rng(7).dirichlet(np.full(4, 0.4), size=200)


def test_the_shape_gives_the_costs(utility: Utility, posteriors: np.ndarray) -> None:
    shape = utility.shape
    match shape:
        case Separable(kind):
            logs = np.log(np.where(posteriors > 0, posteriors, 1.0))
            added = {TermKind.ENTROPY: -posteriors * logs, TermKind.SQUARE: -(posteriors**2)}[kind]
            found = added.sum(axis=1) + (1.0 if kind is TermKind.SQUARE else 0.0)
        case Variance(points):
            found = posteriors @ points**2 - (posteriors @ points) ** 2
        case Linear():
            found = (posteriors @ shape.matrix(4)).min(axis=1)
            assert len(shape.names(NUMBERS)) == shape.matrix(4).shape[1]
        case Concave() | Precision():
            return
    assert np.allclose(found, utility.costs(posteriors), rtol=0, atol=1e-12)


def test_symmetric_shapes_ignore_names_and_zeros(utility: Utility, posteriors: np.ndarray) -> None:
    """What types rely on: symbols may be exchanged, and one of probability 0 left out."""
    moved = posteriors[:, [2, 0, 3, 1]]
    if not utility.shape.symmetric:
        return
    padded = np.hstack([posteriors, np.zeros((len(posteriors), 3))])
    assert np.allclose(utility.costs(posteriors), utility.costs(moved), rtol=0, atol=1e-14)
    assert np.allclose(utility.costs(posteriors), utility.costs(padded), rtol=0, atol=1e-14)


def test_numeric_utilities_see_numbers_only(utility: Utility) -> None:
    assert utility.numeric == (utility.name in ("mean", "absolute", "squared"))
