"""What the tests of the papers share: one folder of quick results, for all workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from liftlock_papers import Figure
from liftlock_papers.data import DataFolder


@pytest.fixture(scope="session")
def quick_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which every figure is computed once, whichever worker needs it first."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return shared / "papers"


def skip_without_data(figure: Figure) -> None:
    """Skip a test whose data set is not on this machine."""
    for key in figure.needs:
        if not DataFolder().has(key):
            pytest.skip(f"{figure.key} needs the data set {key}, which is not on this machine")
