"""A service in process, and a server as a process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.collect.server.harness import FLU, World, serving


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def survey_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey of one question."""
    path = tmp_path_factory.mktemp("survey") / "health.json"
    path.write_text(json.dumps(FLU))
    return path
