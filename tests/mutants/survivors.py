"""The changes that are known to pass the tests, each with the reason."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.changes import Change

LIST = Path(__file__).with_name("survivors.toml")


@dataclass(frozen=True)
class Survivor:
    """A change by its text, so that it is found again wherever the line moves to."""

    module: str
    line: str
    change: str
    reason: str
    equivalent: bool = True
    """Whether nothing that matters changes; otherwise it is a hole that is left open."""

    def matches(self, change: Change) -> bool:
        """Say whether this is the change."""
        return (self.module, self.line, self.change) == (change.module, change.line, change.shown)


def survivors(path: Path = LIST) -> list[Survivor]:
    """Read the list."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Survivor(**each) for each in found.get("survivor", [])]
