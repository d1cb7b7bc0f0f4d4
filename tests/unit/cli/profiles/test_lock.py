"""`liftlock lock` for a graph of profiles: a matrix made elsewhere becomes a mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

from liftlock import Mechanism, ProfileGraph
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import FILES, GRAPH, assert_refused

SHARED = "value,low,mid,high\nlow,0.8,0.1,0.1\nmid,0.1,0.8,0.1\nhigh,0.1,0.1,0.8\n"
PAIRS = "profile,value,low,mid,high\n" + "".join(
    f"{name},{row}\n" for name in ("ann", "bob", "cy") for row in SHARED.splitlines()[1:]
)
LOCK = ("lock", "m.csv", *GRAPH, "-o", "safe.json")


@pytest.mark.parametrize("content", [SHARED, PAIRS])
def test_from_matrix_to_release(run: Run, content: str) -> None:
    files = FILES | {"m.csv": content}
    outcome = run(*LOCK, "--guarantee", "profile=1", files=files)
    assert (outcome.code, set(outcome.made)) == (0, {"safe.json"}), outcome.err
    made = Mechanism.load("safe.json")
    assert isinstance(made.context, ProfileGraph)
    assert len(made.context.edges) == 2
    # Locked again under a looser budget, with the graph that the file brings.
    again = run("lock", "safe.json", "--guarantee", "profile=2", "-o", "again.json")
    assert again.code == 0
    assert Mechanism.load("again.json").context == made.context
    arguments = ["--column", "usage", "--profile-column", "user", "-o", "safe.csv"]
    assert run("release", "again.json", "table.csv", *arguments).code == 0


def test_a_refusal_writes_nothing(run: Run) -> None:
    files = FILES | {"m.csv": SHARED}
    outcome = run(*LOCK, "--guarantee", "profile=0.1", files=files)
    assert_refused(outcome, "refused: profile(budget=0.1) does not hold", '"bob"', code=1)
    assert_refused(
        run(*LOCK, "--guarantee", "profile=1", "--prior", "edges.csv"),
        "--prior does not go with a graph of profiles",
    )
    replaced = [*LOCK[:-1], "edges.csv", "--guarantee", "profile=1"]
    assert_refused(run(*replaced), "the output would overwrite --edges")
    assert Path("edges.csv").read_text() == FILES["edges.csv"]
