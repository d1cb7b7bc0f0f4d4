"""Looking at the figures that are drawn, which files do not show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from liftlock.report.plots import figure as pictures


def kept_figures(monkeypatch: pytest.MonkeyPatch, module: Any) -> list[Any]:
    """Keep the figures that a module draws from now on."""
    kept: list[Any] = []
    true = pictures.picture

    @contextmanager
    def spied(path: Path, width: float, height: float) -> Iterator[Any]:
        with true(path, width, height) as figure:
            yield figure
            kept.append(figure)

    monkeypatch.setattr(module, "picture", spied)
    return kept
