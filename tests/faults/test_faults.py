"""Whatever happens at any file event of a command: the old files are there, or all the new ones."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.sets import CASES, World, warm_up
from tests.faults.victim import run_forked

ENDINGS = {"interrupt": (130, "interrupted"), "terminate": (143, "terminated")}


@pytest.fixture(params=CASES, ids=lambda case: case.name.replace(" ", "-"))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    made = World.of(request.param, tmp_path / "world")
    warm_up(made)
    return made


def happen_at_events(world: World, what: str, step: int = 1) -> Counter[tuple[str, int]]:
    code, events, said = run_forked(world.folder, world.case.command)
    assert code == 0, said
    assert world.check(code) == "new"
    assert events > 10
    seen: Counter[tuple[str, int]] = Counter()
    for at in range(1, events + 1, step):
        world.restore()
        code, _, said = run_forked(world.folder, world.case.command, at, what)
        state = world.check(code)
        seen[state, code] += 1
        lines = [line for line in said.splitlines() if line.startswith("liftlock:")]
        if what in ENDINGS:
            number, word = ENDINGS[what]
            assert (code, lines) == (number, [f"liftlock: {word}; nothing more is written"])
        elif what != "kill":
            assert code in (0, 2), said
            assert len(lines) == (code == 2), said
            assert code == 0 or "No space left" in lines[0], said
    return seen


def test_a_kill(world: World) -> None:
    seen = happen_at_events(world, "kill")
    assert seen["old", -signal.SIGKILL] > 0
    if "again" in world.case.name:
        # Only the helper was killed, and the command finished what it had begun.
        assert seen["new", 0] > 0


@pytest.mark.parametrize(
    ("what", "step"), [("full", 1), ("full from then on", 1), ("interrupt", 4), ("terminate", 4)]
)
@pytest.mark.parametrize("world", [CASES[1]], indirect=True)
def test_anything_else(world: World, what: str, step: int) -> None:
    seen = happen_at_events(world, what, step)
    assert sum(seen[state, code] for state, code in seen if state == "old") > 0
