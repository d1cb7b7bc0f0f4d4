"""What every design for profiles owes: its budget on every graph, proved again from the integers.

The guarantee is checked here from the table alone, in fractions and with an exponential of fifty
digits, without the code that certifies.
"""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from liftlock import Mechanism, Prior, ProfileGraph, Table
from liftlock.designs import design, designs_for
from liftlock.errors import InputError, LiftlockError, NotDefined
from liftlock.utility import profile_errors
from liftlock.utility.profile_utility import AIMS

PROFILE_DESIGNS = designs_for("profiles")
BUDGETS = ("0", "1e-9", "0.01", "0.3", "1", "2.5", "8")
FLAVOURS = ("even", "skewed", "zeros", "tiny", "equal", "far")
SHAPES = ("chain", "complete", "scattered", "one edge")


def make_graph(flavour: str, shape: str, size: int, width: int, seed: int) -> ProfileGraph:
    chosen = random.Random(f"{flavour} {shape} {size} {width} {seed}")
    rows: dict[str, dict[str, Any]] = {}
    same = [chosen.randint(1, 50) for _ in range(width)]
    for i in range(size):
        numbers = [chosen.randint(1, 20) for _ in range(width)]
        if flavour == "skewed":
            numbers = [chosen.randint(1, 9) ** 4 for _ in range(width)]
        elif flavour == "zeros":
            numbers = [chosen.choice([0, 0, 1, 5]) for _ in range(width)]
            numbers[chosen.randrange(width)] = 3
        elif flavour == "tiny":
            numbers = [10 ** chosen.randint(0, 14) for _ in range(width)]
        elif flavour == "equal":
            numbers = same
        elif flavour == "far":
            numbers = [int(x == i % width) for x in range(width)]
        rows[f"p{i}"] = {f"v{x}": number for x, number in enumerate(numbers)}
    names = list(rows)
    pairs = [(a, b) for place, b in enumerate(names) for a in names[:place]]
    edges = {
        "chain": list(pairwise(names)),
        "complete": pairs,
        "scattered": [pair for pair in pairs if chosen.random() < 0.4] or pairs[-1:],
        "one edge": pairs[:1],
    }[shape]
    return ProfileGraph.of(rows, edges)


def released(table: Table, graph: ProfileGraph) -> list[list[Fraction]]:
    """Return what each profile releases, from the integers of the table."""
    uses = len(table.inputs) != len(graph.inputs)
    distributions = []
    for name in graph.profiles.labels:
        distribution = graph.distribution(name)
        masses = [Fraction(0)] * len(table.outputs)
        for value, chance in zip(distribution.labels, distribution.fractions, strict=True):
            row = table.weights[table.inputs.index((name, value) if uses else value)]
            masses = [
                m + chance * Fraction(int(w), 1 << table.bits)
                for m, w in zip(masses, row, strict=True)
            ]
        distributions.append(masses)
    return distributions


def check(made: Mechanism, graph: ProfileGraph, budget: str) -> None:
    table = made.table
    distributions = released(table, graph)
    with mp.workdps(50):
        limit = mp.exp(mp.mpf(budget))
        for i, j in graph.edges:
            for first, second in zip(distributions[i], distributions[j], strict=True):
                for high, low in ((first, second), (second, first)):
                    if high == 0:
                        continue
                    assert low > 0
                    ratio = high / low
                    assert mp.mpf(ratio.numerator) / ratio.denominator <= limit
    assert all(sum(distribution) == 1 for distribution in distributions)
    assert made.certificate.guarantee == f"profile(budget={budget_text(budget)})"
    assert set(table.outputs.labels) <= set(graph.inputs.labels)


def budget_text(budget: str) -> str:
    return {"1e-9": "0.000000001"}.get(budget, budget)


def fits(key: str, graph: ProfileGraph) -> bool:
    two = len(graph.inputs) == 2
    if key == "single-bit":
        return two and len(graph) == 2 and len(graph.edges) == 1
    return two or key != "smooth-one-bit"


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
@pytest.mark.parametrize("flavour", FLAVOURS)
def test_the_budget_is_kept(key: str, flavour: str) -> None:
    tried = 0
    for number, budget in enumerate(BUDGETS):
        for width in (2, 4):
            shape = SHAPES[(number + width) % len(SHAPES)]
            size = 2 if key == "single-bit" else (2, 3, 6)[number % 3]
            if key == "single-bit":
                shape = "one edge"
            graph = make_graph(flavour, shape, size, width, number)
            if not fits(key, graph):
                continue
            made = design(graph, budget, method=key)
            check(made, graph, budget)
            tried += 1
    assert tried >= len(BUDGETS)


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
def test_what_does_not_fit_is_refused_by_name(key: str) -> None:
    graph = make_graph("even", "chain", 3, 3, 0)
    if fits(key, graph):
        return
    with pytest.raises(LiftlockError, match=key) as caught:
        design(graph, "1", method=key)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
def test_a_graph_that_promises_nothing_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="a graph without edges promises nothing"):
        design(make_graph("even", "chain", 2, 2, 0).with_edges([]), "1", method=key)


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
def test_what_would_take_hours_is_refused(key: str) -> None:
    wide = {name: dict.fromkeys(range(2100), 1) for name in ("a", "b")}
    with pytest.raises(InputError, match=r"2,100 x 2,100 values.*right column|two values|2 values"):
        design(ProfileGraph.complete(wide), "1", method=key)


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
def test_other_notions_are_refused(key: str) -> None:
    from liftlock.notions import LIP

    graph = make_graph("even", "one edge", 2, 2, 0)
    with pytest.raises(NotDefined, match="lip"):
        design(graph, LIP("1"), method=key)


@pytest.mark.parametrize("key", PROFILE_DESIGNS)
def test_files_and_releases(key: str, tmp_path: Any) -> None:
    graph = make_graph("even", "one edge", 2, 2, 3)
    made = design(graph, "0.5", method=key)
    made.save(tmp_path / "made.json")
    again = Mechanism.load(tmp_path / "made.json")
    assert again.channel == made.channel
    assert again.origin is not None
    assert again.origin.method == key
    values = ["v0", "v1"] * 500
    drawn = again.simulate(values, "p1", seed=5)
    assert drawn == again.simulate(values, ["p1"] * 1000, seed=5)
    found = np.mean([value == "v1" for value in drawn[1::2]])
    row = ("p1", "v1") if ("p1", "v1") in made.channel.inputs else "v1"
    assert found == pytest.approx(float(made.table.probability(row, "v1")), abs=0.12)
    assert len(again.release(np.array(values), np.array(["p0"] * 1000))) == 1000
    json.dumps(made.audit().to_data())


@pytest.mark.parametrize("aim", [aim for aim in AIMS if aim not in ("absolute", "squared")])
@pytest.mark.parametrize("key", [k for k in PROFILE_DESIGNS if PROFILE_DESIGNS[k].uses_utility])
def test_every_aim(key: str, aim: str) -> None:
    width = 2 if key in ("smooth-one-bit", "single-bit") else 3
    size = 2 if key == "single-bit" else 3
    graph = make_graph("even", "chain", size, width, 1)
    loss = [[abs(x - y) ** 0.5 for y in range(width)] for x in range(width)]
    weights = Prior.from_counts({f"p{i}": number for i, number in enumerate([3, 1, 0][:size])})
    given: dict[str, Any] = {"method": key, "utility": aim, "weights": weights}
    if aim == "distortion":
        given["loss"] = loss
    if key == "smooth-one-bit" and aim not in ("minimax", "hamming"):
        with pytest.raises(LiftlockError, match="smooth-categorical"):
            design(graph, "0.7", **given)
        return
    made = design(graph, "0.7", **given)
    check(made, graph, "0.7")
    origin = made.origin
    assert origin is not None
    assert origin.nothing is not None
    assert origin.truth is not None
    if aim == "mutual-information":
        assert origin.nothing <= origin.objective <= origin.truth + 1e-12
    else:
        assert origin.truth <= origin.objective <= origin.nothing + 1e-9
    if origin.bound is not None:
        better = origin.bound + 1e-9 if aim == "mutual-information" else -origin.bound + 1e-9
        assert (origin.objective if aim == "mutual-information" else -origin.objective) <= better
    if aim == "hamming":
        assert profile_errors(made.table, graph, weights).mean_wrong == pytest.approx(
            origin.objective
        )
