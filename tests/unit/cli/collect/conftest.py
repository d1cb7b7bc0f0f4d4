"""A survey and its store in the folder that commands run in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from liftlock.collect.survey import Survey
from tests.unit.cli.collect.worlds import HEALTH, Counts, answered, fill
from tests.unit.cli.conftest import Run


@dataclass(frozen=True)
class Health:
    """The survey, and what was reported."""

    survey: Survey
    counts: Counts

    def total(self, name: str) -> int:
        return sum(map(sum, self.counts[name].values()))


@pytest.fixture(scope="session")
def designed() -> Health:
    survey = Survey.from_data(_read(HEALTH))
    return Health(survey, answered(survey))


def _read(text: str) -> object:
    from liftlock.collect.survey.file import parse_source

    return parse_source(text, Path("health.yaml"), "YAML").data


@pytest.fixture
def health(run: Run, designed: Health, tmp_path: Path) -> Health:
    """`run` is used first: it changes into the folder."""
    (tmp_path / "health.yaml").write_text(HEALTH, encoding="utf-8")
    fill(tmp_path / "health.sqlite", designed.survey, designed.counts)
    return designed
