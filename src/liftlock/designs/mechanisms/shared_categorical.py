"""Shared categorical: one matrix for all profiles, for those who may not say which is theirs.

    minimise the largest off-diagonal entry of A   subject to
    sum_x (P_i(x) / E - P_j(x)) A_xy <= 0   for every edge, both ways, and every output y,

and of all that do, the least mean chance of a wrong value; or any other aim instead. Randomised
response is one such matrix, so the best is at least as good. Only rows that a solution breaks are
given to the solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liftlock._solver.ascent import highest, least_uncertainty, proof
from liftlock._solver.linear_programme import LinearProgram, Optimum, Solver, safe_bound
from liftlock._solver.optimality import Optimality
from liftlock._solver.oracle import Clock
from liftlock._solver.profile_enumeration import Cells, list_all, matrix_of
from liftlock._solver.profile_problem import ProfileProblem, response
from liftlock._solver.profile_programme import (
    NO_ROOM,
    Broken,
    differing,
    settled,
)
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.designs.mechanisms.randomised_response import response_at
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.notions.base import Notion
from liftlock.profile_graph import ProfileGraph
from liftlock.progress import Progress
from liftlock.utility.profile_utility import ProfileUtility

_NEAR = 1e-8
"""Values that are nearer to each other than this are the same to a solver."""

_HAIR = 1e-10
"""How much of the largest entry the second stage may give away: nothing but rounding."""

_UNWEIGHTED = 1e-8
"""What a value counts that only profiles of weight 0 have."""


class SharedMatrix:
    """The linear programme of one matrix for all profiles, to be solved for several costs."""

    def __init__(self, problem: ProfileProblem, *, clock: Clock) -> None:
        from scipy.sparse import identity, kron

        self.problem = problem
        width = problem.values
        self.occurs = np.asarray(problem.laws.max(axis=0) > 0)
        program = LinearProgram()
        program.variables(np.zeros((width, width)))
        self._largest = program.variables(np.zeros(1))
        each = kron(identity(width), np.ones((1, width)))
        program.between([(0, each)], 1.0, 1.0)
        self._solver = Solver(program, clock=clock)
        self._fixed = [self._solver.matrix]
        self._known = np.zeros((2, len(problem.edges), width), dtype=bool)
        self._asked: list[Broken | None] = [None]
        self.rounds = 0
        self._ask(problem.laws)

    def least(self, costs: Floats) -> tuple[Floats, float, bool]:
        """Return the matrix of the least sum of costs times entries, as one block.

        With it come a lower bound of that sum, and whether the solver came to its end. The matrix
        keeps the budget in any case.
        """
        scale = max(float(np.abs(costs).max()), np.finfo(float).tiny)
        shift = np.minimum((costs / scale).min(axis=1), 0.0)
        priced = costs / scale - shift[:, None]
        self._solver.price(np.append(priced.ravel(), 0.0))
        found = self._solve()
        if not len(found.values):
            return self._nothing()
        bound = (self._bound(found) + float(shift.sum())) * scale
        return self._block(found), bound, found.solved

    def least_largest(self, costs: Floats) -> tuple[Floats, float, bool]:
        """Return the cheapest of the matrices with the least largest off-diagonal entry."""
        self._limit_entries()
        size = costs.size
        self._solver.price(np.append(np.zeros(size), 1.0))
        found = self._solve()
        if not len(found.values):
            return self._nothing()
        bound = self._bound(found)
        if found.solved:
            most = np.ones(size + 1)
            most[size] = min(float(found.values[size]) + _HAIR, 1.0)
            self._solver.keep(np.zeros(size + 1), most)
            self._solver.price(np.append(costs.ravel(), 0.0))
            second = self._solve()
            if second.solved and len(second.values):
                found = second
        return self._block(found), bound, found.solved

    def _nothing(self) -> tuple[Floats, float, bool]:
        """To a budget of 0 rounding may look like a contradiction: then nothing is known."""
        return response(self.problem.values, np.ones(1)), 0.0, False

    def _limit_entries(self) -> None:
        from scipy.sparse import coo_matrix

        width = self.problem.values
        off = ~np.eye(width, dtype=bool) & self.occurs[:, None]
        places = np.flatnonzero(off)
        count = len(places)
        rows = np.tile(np.arange(count), 2)
        columns = np.append(places, np.full(count, self._largest))
        values = np.repeat([1.0, -1.0], count)
        shape = (count, width * width + 1)
        self._demand(coo_matrix((values, (rows, columns)), shape), None)

    def _demand(self, rows: Any, broken: Broken | None) -> None:
        self._solver.demand(rows, -np.inf, 0.0)
        self._fixed.append(rows)
        self._asked.append(broken)

    def _solve(self) -> Optimum:
        while True:
            found = self._solver.solve()
            self.rounds += 1
            if not found.solved or not len(found.values):
                return found
            if not self._ask(dot(self.problem.laws, self._entries(found))):
                return found

    def _ask(self, released: Floats) -> bool:
        """Give the solver the edges that an output breaks; tell whether there were any."""
        broken = Broken.by(self.problem, released, self._known)
        if not len(broken):
            return False
        self._demand(self._rows(broken, self.problem.ratio), broken)
        return True

    def _rows(self, broken: Broken, ratio: float) -> Any:
        from scipy.sparse import coo_matrix

        laws, width, count = self.problem.laws, self.problem.values, len(broken)
        values = laws[broken.more] / ratio - laws[broken.less]
        columns = np.arange(width)[None, :] * width + broken.output[:, None]
        places = np.repeat(np.arange(count), width)
        shape = (count, width * width + 1)
        return coo_matrix((values.ravel(), (places, columns.ravel())), shape)

    def _bound(self, found: Optimum) -> float:
        """Prove a bound for the budget itself, not for the slightly smaller one of the search."""
        from scipy.sparse import vstack

        solver, wide = self._solver, self.problem.wide_ratio
        parts = [
            rows if broken is None else self._rows(broken, wide)
            for rows, broken in zip(self._fixed, self._asked, strict=True)
        ]
        return safe_bound(
            solver.cost,
            solver.least,
            solver.most,
            vstack(parts).tocsc(),
            solver.lower,
            solver.upper,
            found.prices,
        )

    def _entries(self, found: Optimum) -> Floats:
        width = self.problem.values
        return np.clip(found.values[: width * width], 0.0, None).reshape(width, width)

    def _block(self, found: Optimum) -> Floats:
        entries = self._entries(found)
        entries[entries.sum(axis=1) <= 0] = 1.0
        entries = entries / entries.sum(axis=1, keepdims=True)
        # A value that no profile has can follow what they release: it gives nothing away then.
        entries[~self.occurs] = (dot(self.problem.laws, entries)).mean(axis=0)
        return settled(self.problem, entries[None, :, :])


def shared_categorical(
    graph: ProfileGraph,
    notion: Notion,
    *,
    utility: ProfileUtility | None = None,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> Draft:
    """Corrupt values as little as one matrix for all profiles allows.

    Source: 004 eq. (6) with A^1 = ... = A^k, Thm 9.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.5", "0.8", "0.9"])
    >>> draft = shared_categorical(graph, ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.8279, 0.1721], [0.1721, 0.8279]]
    """
    problem = ProfileProblem.of(graph, notion)
    goal = ProfileUtility.of(graph) if utility is None else utility
    clock = Clock(seconds=seconds, watch=watch)
    clock.tell("one matrix")
    matrix = SharedMatrix(problem, clock=clock)
    masses = dot(goal.weights, problem.laws)
    unweighted = (masses == 0) & matrix.occurs
    masses = np.where(unweighted, _UNWEIGHTED, masses)
    losses = goal.losses(problem.values)
    nothing = problem.ratio == 1.0 and bool(differing(problem))
    if goal.name == "mutual-information":
        blocks, proved, remarks = _most_information(matrix, goal, masses, clock)
        return draft_of_blocks(problem, blocks, DESIGN.key, optimality=proved, remarks=remarks)
    if goal.name == "minimax":
        blocks, bound, solved = matrix.least_largest(masses[:, None] * losses)
    else:
        blocks, bound, solved = matrix.least(masses[:, None] * losses)
        bound -= _UNWEIGHTED * int(unweighted.sum()) * float(losses.max())
    # A search that was stopped, or a budget too small for rounding, can be beaten by these.
    silent = _constant(problem, goal)
    candidates = (silent,) if nothing else (blocks, response_at(problem), silent)
    least = min(goal.value(problem.laws, each) for each in candidates)
    # Of those that are as good but for the solver's tolerance, the one that is wrong least often.
    blocks = min(
        (each for each in candidates if goal.value(problem.laws, each) <= least + _NEAR),
        key=lambda each: float((masses[:, None] * losses * each[0]).sum()),
    )
    proved = Optimality(
        goal.name,
        goal.value(problem.laws, blocks),
        max(bound, 0.0),
        goal.of_nothing(problem.laws),
        rounds=matrix.rounds,
        seconds=clock.elapsed,
        stopped="" if solved else clock.ended or "stuck",
    )
    remarks = (NO_ROOM,) if nothing else proved.stopped_early()
    return draft_of_blocks(problem, blocks, DESIGN.key, optimality=proved, remarks=remarks)


def _constant(problem: ProfileProblem, goal: ProfileUtility) -> Floats:
    """Return the best matrix of equal rows."""
    width = problem.values
    blocks = np.full((1, width, width), 1.0 / width)
    if goal.name not in ("minimax", "mutual-information"):
        each = dot(dot(goal.weights, problem.laws), goal.losses(width))
        blocks[:] = np.eye(width)[int(each.argmin())]
    return blocks


def _most_information(
    matrix: SharedMatrix, goal: ProfileUtility, masses: Floats, clock: Clock
) -> tuple[Floats, Optimality, tuple[str, ...]]:
    problem = matrix.problem
    wrong = masses[:, None] * (1.0 - np.eye(problem.values))

    def solve(losses: Floats) -> Floats:
        return matrix.least(masses[:, None] * losses)[0]

    truthful, bound, _ = matrix.least(wrong)
    least = least_uncertainty(bound - _UNWEIGHTED * problem.values, problem.values)
    if problem.ratio == 1.0 and differing(problem):
        blocks = _constant(problem, goal)
    else:
        even, _, _ = SharedMatrix(problem, clock=clock).least_largest(wrong)
        starts = (truthful, even, response_at(problem))
        listed = list_all(problem, Cells.shared(problem, goal))
        if listed is None:
            blocks = highest(problem, goal, starts, solve, clock).blocks
        else:
            best = settled(problem, matrix_of(problem, goal, listed))
            blocks = max((best, *starts), key=lambda each: goal.value(problem.laws, each))
            least = max(least, listed.bound)
    proved, remarks = proof(problem, goal, blocks, least, clock)
    return blocks, proved, remarks


DESIGN = Design(
    key="shared-categorical",
    make=shared_categorical,
    says="one matrix for all profiles: whoever releases need not say, or know, which is theirs",
    promises="the best of all that ignore the profile; for information only of up to 8 values",
    source="004 eq. (6), Thm 9",
    notions=("profile",),
    contexts=("profiles",),
    uses_utility=True,
    kind="with one matrix for all",
    options={"seconds": "stop after so many seconds with the best matrix so far"},
)
