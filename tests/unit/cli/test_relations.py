"""`liftlock relations` and `liftlock notions`."""

from __future__ import annotations

import json

import pytest

from liftlock.notions import REGISTRY
from tests.unit.cli.conftest import Run


def test_every_notion_is_listed(run: Run) -> None:
    outcome = run("notions")
    assert (outcome.code, outcome.err) == (0, "")
    names = [line.split("=")[0] for line in outcome.out.splitlines()[1:]]
    assert names == list(REGISTRY)


def test_relations_with_and_without_a_prior(run: Run) -> None:
    free = run("relations", "lip=1")
    assert (free.code, free.err) == (0, "")
    assert free.out.startswith("what lip(1) implies, for every prior\n")
    assert "no bound" in free.out
    files = {"p.csv": "label,count\na,9\nb,1\n"}
    bound = run("relations", "lip=1", "--prior", "p.csv", "--json", files=files)
    rows = {row["target"]: row for row in json.loads(bound.out)}
    # 000 Thm 1, exact form for two symbols: P = (.9, .1), eps 1 gives 1.21186.
    assert rows["ldp"]["bound"] == pytest.approx(1.21186, abs=1e-5)


@pytest.mark.parametrize("guarantee", ["lip", "lip=x", "nothing=1", "alip=1"])
def test_bad_guarantees(run: Run, guarantee: str) -> None:
    outcome = run("relations", guarantee)
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
