"""Large tables, made once: they take the paths that floats screen."""

from __future__ import annotations

import pytest

from tests.strategies import Case, prior_case, random_case, randomised_response


@pytest.fixture(scope="session")
def large() -> Case:
    """200 inputs, 150 outputs, a random prior."""
    return random_case(200, 150, seed=1)


@pytest.fixture(scope="session")
def large_joint() -> Case:
    """120 secrets behind 30 inputs, 180 outputs."""
    return random_case(30, 180, seed=2, secrets=120)


@pytest.fixture(scope="session")
def ties() -> Case:
    """Randomised response on 150 symbols, uniform prior: every value is attained 150 times."""
    return prior_case([1] * 150, randomised_response(150))
