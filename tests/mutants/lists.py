"""What is written down about changes: which pass the tests, and why; which round the wrong way."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.changes import Change, replacement

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src" / "liftlock"


@dataclass(frozen=True)
class Survivor:
    """A change that passes, known by its text, so that it is found wherever the line moves to."""

    module: str
    line: str
    change: str
    reason: str
    equivalent: bool = True
    """Whether nothing that matters changes; otherwise it is a hole that is left open."""

    def matches(self, change: Change) -> bool:
        """Say whether this is the change."""
        return (self.module, self.line, self.change) == (change.module, change.line, change.shown)


def survivors() -> list[Survivor]:
    """Read the changes that are known to pass."""
    found = tomllib.loads((HERE / "survivors.toml").read_text(encoding="utf-8"))
    return [Survivor(**each) for each in found.get("survivor", [])]


def roundings() -> list[Change]:
    """Read the changes that round to the other side wherever something is on the safe side."""
    found = tomllib.loads((HERE / "safe_side.toml").read_text(encoding="utf-8"))
    return [
        replacement(
            each["module"],
            (SOURCE / each["module"]).read_text(encoding="utf-8"),
            each["before"],
            each["after"],
        )
        for each in found["rounding"]
    ]
