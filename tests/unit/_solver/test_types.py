"""Symbols of one type: the optimum of the types is that of the symbols, and what is cut adds up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import liftlock as ll
from liftlock import Table
from liftlock._solver.outputs import finish_solution
from liftlock._solver.problem import Optimality, Problem, Step, Task
from liftlock._solver.reductions import Types
from liftlock._solver.strategies import STRATEGIES, solve
from liftlock.exact.integers import Floats
from liftlock.notions import MaxLift, MinLift, Notion
from liftlock.utility import make_utility

NOTIONS: tuple[Notion, ...] = (
    ll.LIP("0.3"),
    ll.LIP("1"),
    ll.ALIP(lower="1.3", upper="0.4"),
    MaxLift("0.5"),
    MinLift("0.5"),
    ll.LDP("0.7"),
)
SYMMETRIC = ("mutual-information", "histogram", "guess")


def joint_of(rows: list[list[int]], shares: list[int], copies: list[int]) -> ll.Joint:
    """Return a joint whose symbols are multiples of a few columns."""
    columns = [
        [share * entry for entry in rows[kind]] for kind, share in zip(copies, shares, strict=False)
    ]
    labels = [f"x{place}" for place in range(len(columns))]
    secrets = [f"s{place}" for place in range(len(rows[0]))]
    return ll.Joint.from_rows(
        ll.Alphabet.of(secrets),
        ll.Alphabet.of(labels),
        [list(row) for row in zip(*columns, strict=False)],
    )


def random_joint(seed: int) -> ll.Joint:
    """Return a joint of four to six symbols of two or three types."""
    source = np.random.default_rng(seed)
    secrets, kinds, symbols = (int(source.integers(*ends)) for ends in ((2, 4), (2, 4), (4, 7)))
    rows = source.integers(0, 9, (kinds, secrets))
    rows[:, 0] += 1
    rows[0] += 1  # every secret occurs
    copies = [*range(kinds), *source.integers(0, kinds, symbols - kinds).tolist()]
    return joint_of(rows.tolist(), source.integers(1, 9, symbols).tolist(), copies)


def without_types(task: Task) -> Optimality:
    """Solve by a list of every extreme posterior of the symbols themselves."""
    strategy = next(each for each in STRATEGIES if each.name == "enumeration")
    found = strategy.solve(task)
    assert found is not None
    return finish_solution(task, found).proof


def recomputed(name: str, matrix: Floats, masses: Floats) -> float:
    """Return the mean cost of a channel, from its definition."""
    total = 0.0
    for column in matrix.T:
        mass = float((column * masses).sum())
        if mass == 0:
            continue
        v = column * masses / mass
        cost = {
            "mutual-information": -sum(p * np.log(p) for p in v if p > 0),
            "histogram": 1 - float((v**2).sum()),
            "guess": 1 - float(v.max()),
        }[name]
        total += mass * cost
    return total


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("seed", range(8))
def test_types_have_the_optimum_of_the_symbols(notion: Notion, name: str, seed: int) -> None:
    joint = random_joint(seed)
    assert len(Types.of(joint)) < len(joint.inputs)
    utility = make_utility(name, joint.inputs)
    steps: list[Step] = []
    task = Task(Problem.of(joint, notion), utility, explain=steps.append)
    found = solve(task)
    assert steps[0].name == "merge-types"
    true = without_types(Task(Problem.of(joint, notion), utility, how="enumeration"))
    scale = max(true.reference, 1e-9)
    assert found.proof.cost == pytest.approx(true.cost, abs=3e-7 * scale)
    assert found.proof.bound <= true.cost + 1e-12
    assert true.bound <= found.proof.cost + 1e-12
    assert found.proof.reference == pytest.approx(true.reference, rel=1e-12)
    masses = joint.prior.floats()
    assert recomputed(name, found.matrix, masses) == pytest.approx(found.proof.cost, abs=1e-12)
    assert np.abs(found.matrix.sum(axis=1) - 1).max() < 1e-12
    made = ll.design(joint, notion, utility=name)
    assert made.certificate.holds
    assert made.origin is not None
    assert made.origin.gap is not None
    assert made.origin.gap <= 2e-6


@pytest.mark.parametrize("seed", range(20))
def test_what_is_cut_says_the_same_of_the_secret(seed: int) -> None:
    """In fractions: each piece has the beliefs of its output, and pieces add up to outputs."""
    joint = random_joint(seed)
    types = Types.of(joint)
    source = np.random.default_rng(seed)
    matrix = source.dirichlet(np.full(3, 0.5), size=len(types))
    matrix[source.random(matrix.shape) < 0.3] = 0.0
    matrix[:, 0] += 0.1
    matrix /= matrix.sum(axis=1, keepdims=True)
    channel = types.expand(matrix)
    assert channel.shape[1] <= len(joint.inputs) + matrix.shape[1]
    smaller = types.reduce()
    beliefs = [_beliefs(smaller, column) for column in matrix.T if column.any()]
    for column in channel.T:
        found = _beliefs(joint, column)
        apart = [max(abs(a - b) for a, b in zip(found, each, strict=True)) for each in beliefs]
        assert min(apart) < 1e-13
    assert np.abs(channel.sum(axis=1) - 1).max() < 1e-14


def _beliefs(joint: ll.Joint, column: Floats) -> list[Fraction]:
    amounts = [
        sum(
            (Fraction(c) * Fraction(float(q)) for c, q in zip(row, column, strict=False)),
            Fraction(0),
        )
        for row in joint.counts
    ]
    return [amount / sum(amounts) for amount in amounts]


def test_a_value_that_says_nothing_of_the_secret_is_released() -> None:
    joint = joint_of([[2, 3]], [1, 2, 3, 4], [0, 0, 0, 0])
    made = ll.design(joint, ll.LIP("0.1"), utility="mutual-information")
    assert isinstance(made.channel, Table)
    assert made.channel.floats().tolist() == np.eye(4).tolist()
    assert made.origin is not None
    assert made.origin.gap == pytest.approx(0.0, abs=1e-12)


def test_a_guess_names_the_symbol_that_it_guesses() -> None:
    joint = random_joint(3)
    made = ll.design(joint, ll.LIP("1"), utility="guess")
    assert isinstance(made.channel, Table)
    weights = made.channel.floats() * joint.prior.floats()[:, None]
    for place, label in enumerate(made.channel.outputs.labels):
        assert weights[joint.inputs.index(label), place] >= weights[:, place].max() * (1 - 1e-9)


def test_rows_are_compared_exactly() -> None:
    """Ratios that no float can tell apart are two types."""
    big = 10**20
    joint = joint_of([[big, big], [big, big + 1]], [1, 1, 2], [0, 1, 0])
    assert Types.of(joint).members == ((0, 2), (1,))


@pytest.mark.parametrize("name", ["mean", "absolute", "hamming"])
def test_costs_that_know_the_names_are_left_alone(name: str) -> None:
    table = {"s": {1: 1, 2: 2, 3: 5}, "t": {1: 3, 2: 6, 3: 1}}
    joint = ll.Joint.from_counts(table)
    steps: list[Step] = []
    utility = make_utility(name, joint.inputs)
    solve(Task(Problem.of(joint, ll.LIP("0.5")), utility, explain=steps.append))
    assert "merge-types" not in [step.name for step in steps if step.taken]


def test_very_many_symbols_of_few_types_are_solved_at_once() -> None:
    source = np.random.default_rng(1)
    kinds = [[1, 2], [2, 1], [1, 9], [5, 3]]
    copies = source.integers(0, 4, 600).tolist()
    joint = joint_of(kinds, source.integers(1, 50, 600).tolist(), copies)
    made = ll.design(joint, ll.LIP("0.4"))
    assert made.certificate.holds
    assert made.origin is not None
    assert made.origin.gap is not None
    assert made.origin.gap <= 1e-6
