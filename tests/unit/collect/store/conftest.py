"""A home for a store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from liftlock.collect.store import Store
from tests.unit.collect.store.homes import HOMES, NAME, NEVER, Home, Mechanism, served


@pytest.fixture(params=HOMES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return HOMES[request.param](tmp_path)


@pytest.fixture
def narrow() -> Mechanism:
    return Mechanism(3)


@pytest.fixture
def wide() -> Mechanism:
    return Mechanism(1000)


@pytest.fixture
def store(home: Home, narrow: Mechanism, wide: Mechanism) -> Iterator[Store]:
    """A store with one collection of two mechanisms, which folds only when it is asked to."""
    opened = home.open(every=NEVER)
    opened.register(NAME, served(narrow, wide), {"ask": "How are you today?"})
    yield opened
    opened.shutdown()
