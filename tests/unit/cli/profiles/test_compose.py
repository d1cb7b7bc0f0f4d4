"""`liftlock profiles compose`: sums, maxima, and a refusal with its number."""

from __future__ import annotations

import json

import pytest

import liftlock as ll
from liftlock import Channel, ProfileGraph
from liftlock.accounting import compose
from liftlock.notions import ProfilePrivacy
from tests.unit.cli.conftest import Run
from tests.unit.cli.profiles.worlds import assert_refused


@pytest.fixture
def made(run: Run) -> Run:
    """Write two mechanisms for one graph, and one for another."""
    graph = ProfileGraph.bernoulli({"a": "0.9", "b": "1"})
    for name, budget in (("one.json", "1"), ("two.json", "2")):
        ll.design(graph, ProfilePrivacy(budget), method="cluster").save(name)
    other = ProfileGraph.bernoulli({"a": "0.8", "b": "1"})
    ll.design(other, ProfilePrivacy("1"), method="cluster").save("other.json")
    return run


@pytest.mark.parametrize(("of", "loss"), [("samples", 3.0), ("profiles", 2.0)])
def test_together(made: Run, of: str, loss: float) -> None:
    outcome = made("profiles", "compose", "one.json", "two.json", "--of", of, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert data["loss"] == pytest.approx(loss, rel=1e-6)
    assert data["promised"] == pytest.approx(loss)
    assert data["at_once"] == (pytest.approx(3.0, rel=1e-6) if of == "profiles" else None)
    mechanisms = [ll.Mechanism.load(name) for name in ("one.json", "two.json")]
    assert data["channels"] == [m.channel.fingerprint for m in mechanisms]
    text = made("profiles", "compose", "one.json", "two.json", "--of", of).out
    assert compose(mechanisms, of).describe() in " ".join(text.split())  # type: ignore[arg-type]
    assert '"a" against "b"' in text


def test_the_same_observation_is_refused(made: Run) -> None:
    outcome = made("profiles", "compose", "one.json", "one.json", "--of", "observation")
    assert_refused(outcome, "refused: no rule", "3.5252 nats", "more than the 2 that", code=1)


def test_many_edges(run: Run) -> None:
    graph = ProfileGraph.bernoulli({f"p{i}": f"{i}/100" for i in range(1, 40)})
    ll.design(graph, ProfilePrivacy("0.01"), method="cluster").save("m.json")
    outcome = run("profiles", "compose", "m.json", "m.json", "--of", "samples")
    assert "and 18 more edges, which lose no more; --json lists all" in outcome.out
    data = json.loads(run("profiles", "compose", "m.json", "--of", "samples", "--json").out)
    assert len(data["edges"]) == 38


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["one.json", "other.json", "--of", "samples"],
            ["not the graph of", "one.json", "other.json"],
        ),
        (["one.json"], ["Missing option '--of'"]),
        (["--of", "samples"], ["Missing argument"]),
        (["one.json", "--of", "luck"], ["'luck' is not one of"]),
        (["none.json", "--of", "samples"], ["no such file at none.json"]),
        (["plain.json", "--of", "samples"], ["not a mechanism for profiles at plain.json"]),
    ],
)
def test_refusals(made: Run, arguments: list[str], parts: list[str]) -> None:
    coin = Channel.from_rows({x: {0: "0.5", 1: "0.5"} for x in (0, 1)})
    ll.lock(coin, ll.LIP("0"), ll.Prior.uniform([0, 1])).save("plain.json")
    assert_refused(made("profiles", "compose", *arguments), *parts)
