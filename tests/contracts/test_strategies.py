"""What every strategy and every reduction of the solver must do.

A mechanism that keeps every limit to 1e-11, a bound that is never above the true optimum (by a
brute force that shares no code), an end at its limit of work, and one answer whenever it is asked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import liftlock as ll
from liftlock import Context
from liftlock._runtime.clock import Clock
from liftlock._solver.outputs import finish_solution
from liftlock._solver.problem import Problem, ProfileTask, Solution, Step, Task
from liftlock._solver.reductions import REDUCTIONS, Reduction
from liftlock._solver.strategies import STRATEGIES, STRATEGY_NAMES, Strategy, explain_steps, solve
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.notions import Notion, ProfilePrivacy
from liftlock.utility import CustomUtility, ProfileUtility, Utility, make_utility
from tests.brute_force import best_mixture, brute_vertices, ldp_cuts, lift_cuts

UTILITIES = ("mutual-information", "histogram", "mean", "guess", "absolute", "own")
CONTEXTS: dict[str, Context] = {
    "prior 2": ll.Prior.from_counts({1: 2, 2: 5}),
    "prior 4": ll.Prior.from_counts({1: 3, 2: 5, 4: 1, 9: 7}),
    "joint": ll.Joint.from_rows(
        ll.Alphabet.of("st"), ll.Alphabet.of([1, 2, 3, 4]), [[3, 8, 1, 6], [5, 2, 7, 12]]
    ),
    "types": ll.Joint.from_rows(
        ll.Alphabet.of("st"), ll.Alphabet.of([1, 2, 3, 4]), [[1, 3, 2, 6], [2, 1, 4, 2]]
    ),
    "never": ll.Prior.from_counts({1: 3, 2: 0, 4: 1, 9: 7}),
}
NOTIONS: tuple[Notion, ...] = (ll.LIP("0.6"), ll.ALIP(lower="1.1", upper="0.5"), ll.LDP("0.8"))


@dataclass(frozen=True)
class Case:
    """A tiny task, and the least that any mechanism costs, by brute force."""

    problem: Problem
    utility: Utility
    least: float

    def task(self, how: str = "auto", clock: Clock | None = None) -> Task:
        """Return the task afresh."""
        return Task(self.problem, self.utility, clock or Clock(), how)


def utility_of(name: str, context: Context) -> Utility:
    """Return a utility, or one that somebody wrote."""
    if name == "own":
        return CustomUtility(lambda v: float(np.sqrt(v).sum()), symbols=len(context.inputs))
    return make_utility(name, context.inputs)


def cases() -> Iterator[tuple[str, Case]]:
    """Return every tiny task with its true optimum."""
    for kind, context in CONTEXTS.items():
        for notion in NOTIONS:
            if kind == "never" and notion.ratio_limit is None:
                continue
            problem = Problem.of(context, notion)
            occur = problem.masses > 0
            masses = problem.masses[occur]
            given = np.eye(len(masses)) if problem.given is None else problem.given
            secret = masses if problem.given is None else problem.secret_masses
            if problem.ratio is not None:
                cuts = ldp_cuts(given, secret, problem.ratio)
            else:
                cuts = lift_cuts(given, secret, problem.lower, problem.upper)
            vertices = brute_vertices(cuts, len(masses))
            # A root would make 3e-9 of the 1e-17 that rounding may leave of 0.
            vertices[vertices < 1e-14] = 0.0
            wide = np.zeros((len(vertices), len(occur)))
            wide[:, occur] = vertices
            for name in UTILITIES:
                utility = utility_of(name, context)
                costs = dict(zip(map(bytes, vertices), utility.costs(wide).tolist(), strict=True))
                least, _ = best_mixture(vertices, masses, lambda v, of=costs: of[bytes(v)])  # type: ignore[misc]
                yield f"{kind}-{notion}-{name}", Case(problem, utility, least)


CASES = dict(cases())
OF_PROFILES = {"output-distributions", "ascent"}


def check(case: Case, found: Solution, *, exact: bool = True) -> None:
    """Check the limits of every output, the cost, and the bound."""
    problem, matrix = case.problem, found.matrix
    masses = problem.masses
    assert matrix.min() >= 0
    assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-11
    given = np.eye(len(masses)) if problem.given is None else problem.given * masses
    secret = np.ones(len(masses)) if problem.given is None else problem.secret_masses
    likely = (given @ matrix) / secret[:, None]
    if problem.ratio is not None:
        assert (likely.max(axis=0) <= problem.ratio * likely.min(axis=0) * (1 + 1e-11)).all()
    else:
        total = masses @ matrix
        assert (likely >= problem.lower * total * (1 - 1e-11)).all()
        assert (likely <= problem.upper * total * (1 + 1e-11)).all()
    proof = found.proof
    cost = _mean_cost(case.utility, matrix, masses)
    assert cost <= proof.cost + 1e-9 * proof.reference  # outputs taken at their word cost no less
    assert proof.bound <= case.least + 1e-9 * proof.reference
    assert proof.cost >= case.least - 1e-9 * proof.reference
    if exact and not proof.stopped:
        assert proof.cost <= case.least + 2e-6 * proof.reference


def _mean_cost(utility: Utility, matrix: Floats, masses: Floats) -> float:
    joint = (matrix * masses[:, None]).T
    return sum(float(row.sum() * utility.costs((row / row.sum())[None])[0]) for row in joint)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.name)
class TestStrategies:
    def test_the_answer_keeps_its_limits_and_its_proof(
        self, strategy: Strategy, case: Case
    ) -> None:
        task = case.task(strategy.name)
        if not strategy.fits(task) or not (case.problem.masses > 0).all():
            return
        found = strategy.solve(task)
        if found is None:
            return
        check(case, finish_solution(task, found), exact=case.utility.name != "own")

    def test_it_ends_at_its_limit_of_work(self, strategy: Strategy, case: Case) -> None:
        clock = Clock(seconds=1e-6)
        task = case.task(strategy.name, clock)
        if not strategy.fits(task) or not (case.problem.masses > 0).all():
            return
        begun = time.monotonic()
        found = strategy.solve(task)
        assert time.monotonic() - begun < 30  # what is compiled is not counted
        if found is not None:
            check(case, finish_solution(task, found), exact=False)

    def test_it_answers_the_same_again(self, strategy: Strategy, case: Case) -> None:
        task = case.task(strategy.name)
        if not strategy.fits(task) or not (case.problem.masses > 0).all():
            return
        first, again = (strategy.solve(case.task(strategy.name)) for _ in range(2))
        if first is None or again is None:
            assert first is again
            return
        once, twice = finish_solution(task, first), finish_solution(task, again)
        assert once.matrix.tobytes() == twice.matrix.tobytes()
        assert (once.outputs, once.proof.cost, once.proof.bound) == (
            twice.outputs,
            twice.proof.cost,
            twice.proof.bound,
        )

    def test_it_says_what_it_is_for(self, strategy: Strategy) -> None:
        assert strategy.name in STRATEGY_NAMES
        assert strategy.summary
        assert strategy.when


@pytest.mark.parametrize("reduction", REDUCTIONS, ids=lambda each: each.name)
class TestReductions:
    def test_what_is_mapped_back_keeps_its_limits_and_its_proof(
        self, reduction: Reduction, case: Case
    ) -> None:
        reduced = reduction.apply(case.task())
        if reduced is None:
            return
        assert reduced.summary
        assert reduction.apply(reduced.task) is None  # or it would never end
        found = reduced.expand(solve(reduced.task), solve)
        check(case, found, exact=reduction.name != "group-neighbours")

    def test_it_says_what_it_is_for(self, reduction: Reduction) -> None:
        assert reduction.summary
        assert reduction.when
        assert reduction.loses


@pytest.mark.parametrize("name", ["mutual-information", "histogram"])
def test_many_symbols_are_drawn_within_the_bound_of_generation(name: str) -> None:
    """Too many for brute force: two strategies prove each other's bounds."""
    prior = ll.Prior.from_counts({k: 10**6 // k for k in range(1, 81)})
    problem, utility = Problem.of(prior, ll.LIP("0.4")), make_utility(name, prior.inputs)
    drawn = solve(Task(problem, utility, how="random-decomposition"))
    listed = solve(Task(problem, utility, how="generation"))
    check(Case(problem, utility, listed.proof.bound), drawn, exact=False)
    assert drawn.proof.gap <= 1e-6
    assert drawn.proof.bound <= listed.proof.cost + 1e-12
    with pytest.raises(InputError, match="this strategy found nothing"):
        solve(Task(Problem.of(prior, ll.LIP("2.5")), utility, how="random-decomposition"))


def test_every_reduction_and_strategy_is_met() -> None:
    """The cases reach all that small tasks can reach."""
    tasks = [each.task() for each in CASES.values()]
    met = {each.name for each in STRATEGIES if any(each.fits(task) for task in tasks)}
    # The cost of frequencies is no mean over outputs: tests/unit/_solver/test_frequencies.py.
    others = {"random-decomposition", "frequencies", *OF_PROFILES}
    assert met == {each.name for each in STRATEGIES} - others
    reached = {each.name for each in REDUCTIONS if any(each.apply(task) for task in tasks)}
    assert reached == {"drop-impossible-inputs", "scale-numbers", "merge-types"}


def test_the_tables_solve_every_task(case: Case) -> None:
    steps: list[Step] = []
    task = Task(case.problem, case.utility, explain=steps.append)
    check(case, solve(task), exact=case.utility.name != "own")
    assert [step.part for step in steps].count("strategy") >= 1
    assert steps[-1].part == "strategy"


def test_a_strategy_that_does_not_fit_is_refused_with_those_that_do() -> None:
    case = CASES["joint-lip(0.6)-histogram"]
    with pytest.raises(InputError, match="use auto, enumeration, generation"):
        solve(case.task("numbers"))


# --- graphs of profiles ---------------------------------------------------------------------------

GRAPHS: dict[str, ll.ProfileGraph] = {
    "chain": ll.ProfileGraph.chain(
        {"a": {1: 5, 2: 2, 4: 1}, "b": {1: 2, 2: 5, 4: 3}, "c": {1: 1, 2: 1, 4: 6}}
    ),
    "parts": ll.ProfileGraph.of(
        {"a": {1: 1, 2: 3}, "b": {1: 4, 2: 1}, "c": {1: 1, 2: 1}, "d": {1: 9, 2: 1}},
        [("a", "b"), ("c", "d")],
    ),
    "zeros": ll.ProfileGraph.complete({"a": {1: 3, 2: 1, 4: 0}, "b": {1: 1, 2: 2, 4: 1}}),
}


def profile_tasks(how: str = "auto", **rest: Any) -> Iterator[ProfileTask]:
    """Return every aim on every graph, with a matrix for each profile and with one for all."""
    for graph in GRAPHS.values():
        for aim in ("minimax", "hamming", "squared", "mutual-information"):
            for shared in (False, True):
                goal = ProfileUtility.of(graph, aim)
                notion = ProfilePrivacy("0.6")
                yield ProfileTask.of(graph, notion, goal, shared=shared, how=how, **rest)


def check_profiles(task: ProfileTask, found: Solution) -> None:
    """Check every edge with the ratio of the budget, the value, and that the bound is below it."""
    distributions, goal = task.problem.distributions, task.goal
    blocks = found.matrix.reshape(-1, task.problem.values, task.problem.values)
    assert len(blocks) == task.blocks
    assert blocks.min() >= 0
    assert np.abs(blocks.sum(axis=2) - 1).max() <= 1e-11
    each = np.broadcast_to(blocks, (len(distributions), *blocks.shape[1:]))
    released = (distributions[:, :, None] * each).sum(axis=1)
    for i, j in task.problem.edges.tolist():
        for one, other in ((released[i], released[j]), (released[j], released[i])):
            assert (one <= math.exp(0.6) * other * (1 + 1e-11)).all()
    value = goal.value(distributions, blocks)
    cost = found.proof.reference - value if goal.larger_is_better else value
    assert found.proof.cost == pytest.approx(cost, abs=1e-9)
    assert found.proof.bound <= found.proof.cost + 1e-9


def brute_profiles(task: ProfileTask) -> float:
    """Return the least value of a linear aim: one programme in all entries of all matrices."""
    distributions, goal, width = task.problem.distributions, task.goal, task.problem.values
    shape = (task.blocks, width, width)
    block = (
        np.zeros(len(distributions), dtype=int) if task.shared else np.arange(len(distributions))
    )
    entries = np.arange(np.prod(shape)).reshape(shape)
    largest = entries.size
    costs, rows = np.zeros(largest + 1), []
    if goal.name == "minimax":
        costs[largest] = 1.0
        for i, x, y in np.argwhere((distributions > 0)[:, :, None] & ~np.eye(width, dtype=bool)):
            row = np.zeros(largest + 1)
            row[entries[block[i], x, y]], row[largest] = 1.0, -1.0
            rows.append(row)
    else:
        for i, distribution in enumerate(distributions):
            np.add.at(
                costs,
                entries[block[i]],
                goal.weights[i] * distribution[:, None] * goal.losses(width),
            )
    for i, j in task.problem.edges.tolist():
        for one, other in ((i, j), (j, i)):
            for y in range(width):
                row = np.zeros(largest + 1)
                np.add.at(row, entries[block[one], :, y], distributions[one])
                np.add.at(row, entries[block[other], :, y], -math.exp(0.6) * distributions[other])
                rows.append(row)
    sums = np.zeros((task.blocks * width, largest + 1))
    sums[np.arange(len(sums)).repeat(width), entries.ravel()] = 1.0
    found = linprog(costs, np.array(rows), np.zeros(len(rows)), sums, np.ones(len(sums)), (0, 1))
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.name)
class TestProfiles:
    def test_the_bound_is_not_above_brute_force(self, strategy: Strategy) -> None:
        for task in profile_tasks(strategy.name):
            if strategy.fits(task) and not task.goal.larger_is_better:
                found = strategy.solve(task)
                assert isinstance(found, Solution)
                least = brute_profiles(task)
                assert found.proof.bound <= least + 1e-9
                assert least - 1e-9 <= found.proof.cost <= least + 1e-6

    def test_the_answer_keeps_every_edge_and_no_other_beats_its_bound(
        self, strategy: Strategy
    ) -> None:
        for task in profile_tasks(strategy.name):
            if not strategy.fits(task):
                continue
            found = strategy.solve(task)
            assert isinstance(found, Solution)
            check_profiles(task, found)
            best = solve(replace(task, how="auto", clock=Clock()))
            assert found.proof.bound <= best.proof.cost + 1e-9
            assert best.proof.bound <= found.proof.cost + 1e-9

    def test_it_ends_at_its_limit_of_work(self, strategy: Strategy) -> None:
        for task in profile_tasks(strategy.name):
            if strategy.fits(task):
                begun = time.monotonic()
                found = strategy.solve(replace(task, clock=Clock(seconds=1e-6)))
                assert time.monotonic() - begun < 30
                if found is not None:
                    assert isinstance(found, Solution)
                    check_profiles(task, found)

    def test_it_answers_the_same_again(self, strategy: Strategy) -> None:
        for task in profile_tasks(strategy.name):
            if strategy.fits(task):
                first, again = (strategy.solve(replace(task, clock=Clock())) for _ in range(2))
                assert isinstance(first, Solution)
                assert isinstance(again, Solution)
                assert first.matrix.tobytes() == again.matrix.tobytes()
                assert first.proof.bound == again.proof.bound


def test_two_strategies_find_the_same_optimum_of_profiles() -> None:
    """Output distributions, and the whole programme in flows, share no rows."""
    for task in profile_tasks():
        if task.goal.name == "hamming" and not task.shared:
            first, second = (
                solve(replace(task, how=how, clock=Clock()))
                for how in ("output-distributions", "channel-programme")
            )
            assert first.proof.cost == pytest.approx(second.proof.cost, abs=1e-7)
            assert first.proof.bound == pytest.approx(second.proof.bound, abs=1e-7)


def test_profiles_are_explained_by_the_same_tables() -> None:
    taken = set()
    for task in profile_tasks():
        steps: list[Step] = []
        solve(replace(task, explain=steps.append))
        rows = explain_steps(steps)
        assert [row.name for row in rows] == [each.name for each in (*REDUCTIONS, *STRATEGIES)]
        taken |= {row.name for row in rows if row.taken}
    assert taken == {"output-distributions", "channel-programme", "enumeration", "ascent"}
