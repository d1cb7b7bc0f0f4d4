"""Any loss: a linear programme over the flows of every profile.

With f_i(x, y) = P_i(x) A^i_xy and D_i(y) = sum_x f_i(x, y), the output of profile i,

    minimise  sum_i w_i sum_xy c_i(x, y) f_i(x, y)
    subject to  sum_y f_i(x, y) = P_i(x),   D_i(y) / E <= D_j(y)  for every edge, both ways.

Only edges that a solution breaks are given to the solver: those of profiles that are alike never
are. What solvers leave open, a hair of evenly drawn outputs closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.linear_programme import LinearProgram, Optimum, Solver, safe_bound
from liftlock._solver.optimality import Optimality
from liftlock._solver.oracle import Clock
from liftlock._solver.profile_problem import ProfileProblem, part_noise, response
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.progress import Progress
from liftlock.utility.profile_utility import ProfileUtility

_UNWEIGHTED = 1e-8
"""What a profile of weight 0 counts, beside the mean: it should not be ruined for nothing."""

NO_ROOM = (
    "a budget of 0 leaves no room for rounding: joined profiles that differ release a constant; a "
    "tiny budget, such as 1e-5, may allow much more"
)

Places = npt.NDArray[np.intp]


def shares(weights: Floats) -> Floats:
    """Return weights of mean 1 for a solver; a profile of weight 0 gets next to nothing.

    >>> shares(np.array([0.25, 0.75, 0.0])).tolist()
    [0.75, 2.25, 1e-08]
    """
    scaled: Floats = np.where(weights > 0, weights * len(weights), _UNWEIGHTED)
    return scaled


def mean_bound(bound: float, weights: Floats, most: float) -> float:
    """Return what a bound of the sum with `shares` proves of the mean; no loss is above `most`.

    >>> mean_bound(0.5, np.array([0.25, 0.75]), 1.0)
    0.25
    """
    unweighted = _UNWEIGHTED * int((weights == 0).sum())
    return max((bound - unweighted * most) / len(weights), 0.0)


def settled(problem: ProfileProblem, blocks: Floats) -> Floats:
    """Make a channel keep the budget by drawing outputs evenly, as seldom as that is enough.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.profile_graph import ProfileGraph
    >>> warner = ProfileProblem.of(ProfileGraph.bernoulli([0, 1]), ProfilePrivacy("ln 3"))
    >>> settled(warner, np.eye(2)[None, :, :]).round(6).tolist()
    [[[0.75, 0.25], [0.25, 0.75]]]
    """
    rows = np.clip(blocks, 0.0, None)
    rows = rows / rows.sum(axis=2, keepdims=True)
    noise = part_noise(problem, problem.released(rows))
    if len(blocks) == 1:
        noise = noise.max(keepdims=True)
    mixed: Floats = (1.0 - noise)[:, None, None] * rows + noise[:, None, None] / problem.values
    return mixed


@dataclass(frozen=True)
class Broken:
    """Rows D_more(y) <= E D_less(y) that something breaks, as arrays of positions."""

    more: Places
    less: Places
    output: Places

    @classmethod
    def by(cls, problem: ProfileProblem, released: Floats, known: npt.NDArray[np.bool_]) -> Broken:
        """Find those that are not yet known, and note them as known."""
        first, second = problem.edges.T
        ways = np.stack([first, second]), np.stack([second, first])
        over = released[ways[0]] / problem.ratio - released[ways[1]]
        way, edge, output = np.nonzero((over > TOLERANCES.zero) & ~known)
        known[way, edge, output] = True
        return cls(ways[0][way, edge], ways[1][way, edge], output)

    def __len__(self) -> int:
        return len(self.output)


class Flows:
    """The linear programme of a problem, to be solved for several costs."""

    def __init__(self, problem: ProfileProblem, *, clock: Clock) -> None:
        from scipy.sparse import coo_matrix, identity, kron

        self.problem, self.clock = problem, clock
        self.profile, self.value = np.nonzero(problem.laws > 0)
        self.masses = problem.laws[self.profile, self.value]
        self.rounds = 0
        size, width, cells = len(problem.laws), problem.values, len(self.masses)
        program = LinearProgram()
        flows = program.variables(np.zeros((cells, width)))
        program.most[-1] = np.repeat(self.masses, width)
        self._outputs = program.variables(np.zeros((size, width)))
        each = kron(identity(cells), np.ones((1, width)))
        program.between([(flows, each)], self.masses, self.masses)
        gather = coo_matrix((np.ones(cells), (self.profile, np.arange(cells))), (size, cells))
        sums = kron(gather, identity(width))
        program.between([(flows, sums), (self._outputs, -identity(size * width))], 0.0, 0.0)
        self._solver = Solver(program, clock=clock)
        self._fixed = self._solver.matrix
        self._known = np.zeros((2, len(problem.edges), width), dtype=bool)
        self._asked: list[Broken] = []
        self._ask(problem.laws)
        self._way: Any = "ipm" if cells * width > LIMITS.simplex_flows else "simplex"

    def least(self, costs: Floats) -> tuple[Floats, float, bool]:
        """Return the blocks of least sum of costs (profiles, values, outputs) times flows.

        With it come a lower bound of that sum, and whether the solver came to its end. Blocks keep
        the budget in any case.
        """
        problem = self.problem
        scale = max(float(np.abs(costs).max()), np.finfo(float).tiny)
        flow_costs = (costs / scale)[self.profile, self.value]
        # Costs of either sign: shifting a row of costs shifts the sum by a constant.
        shift = np.minimum(flow_costs.min(axis=1), 0.0)
        self._solver.price((flow_costs - shift[:, None]).ravel())
        while True:
            found = self._solver.solve(self._way)
            self._way = "simplex"  # from the vertex that the interior point ended in
            self.rounds += 1
            if not len(found.values):
                # To a budget of 0 rounding may look like a contradiction.
                return constant(problem, int(costs.sum(axis=(0, 1)).argmin())), 0.0, False
            if not found.solved or not self._ask(self._released(found)):
                break
        bound = (self._bound(found) + float(dot(shift, self.masses))) * scale
        return settled(problem, self._blocks(found)), bound, found.solved

    def _released(self, found: Optimum) -> Floats:
        size = len(self.problem.laws)
        return found.values[self._outputs :].reshape(size, self.problem.values)

    def _ask(self, released: Floats) -> bool:
        """Give the solver the edges that an output breaks; tell whether there were any."""
        broken = Broken.by(self.problem, released, self._known)
        if not len(broken):
            return False
        self._asked.append(broken)
        self._solver.demand(self._rows(broken, self.problem.ratio), -np.inf, 0.0)
        return True

    def _rows(self, broken: Broken, ratio: float) -> Any:
        from scipy.sparse import coo_matrix

        width, count = self.problem.values, len(broken)
        places = np.tile(np.arange(count), 2)
        columns = np.concatenate(
            [broken.more * width + broken.output, broken.less * width + broken.output]
        )
        values = np.repeat([1.0 / ratio, -1.0], count)
        shape = (count, self._fixed.shape[1])
        return coo_matrix((values, (places, columns + self._outputs)), shape)

    def _bound(self, found: Optimum) -> float:
        """Prove a bound for the budget itself, not for the slightly smaller one of the search."""
        from scipy.sparse import vstack

        solver = self._solver
        rows = [self._rows(broken, self.problem.wide_ratio) for broken in self._asked]
        matrix = vstack([self._fixed, *rows]).tocsc()
        return safe_bound(
            solver.cost,
            solver.least,
            solver.most,
            matrix,
            solver.lower,
            solver.upper,
            found.prices,
        )

    def _blocks(self, found: Optimum) -> Floats:
        problem = self.problem
        width = problem.values
        flows = np.clip(found.values[: self._outputs], 0.0, None).reshape(-1, width)
        released = np.clip(self._released(found), 0.0, None)
        # A solver that was stopped, or a value too rare for it, may have left nothing to divide.
        released[released.sum(axis=1) <= 0] = 1.0
        blocks = np.repeat(released[:, None, :], width, axis=1)
        some = flows.sum(axis=1) > 0
        blocks[self.profile[some], self.value[some]] = flows[some]
        return blocks


def least_distortion(
    problem: ProfileProblem,
    goal: ProfileUtility,
    *,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> tuple[Floats, Optimality]:
    """Find the blocks of least mean loss, and prove how close they are.

    Source: 004 eq. (6) with the mean loss for its objective.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.profile_graph import ProfileGraph
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> problem = ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    >>> blocks, proved = least_distortion(problem, ProfileUtility.of(graph, "hamming"))
    >>> round(proved.cost, 6), round(proved.bound, 6)
    (0.010653, 0.010653)
    """
    clock = Clock(seconds=seconds, watch=watch)
    clock.tell("flows")
    losses = goal.losses(problem.values)
    flows = Flows(problem, clock=clock)
    blocks, bound, solved = flows.least(shares(goal.weights)[:, None, None] * losses)
    # A search that was stopped, or a budget too small for rounding, can be beaten by these.
    simple = response(problem.values, part_noise(problem, problem.laws))
    silent = without_budget(problem, goal)
    candidates = (silent,) if problem.ratio == 1.0 else (blocks, simple, silent)
    blocks = min(candidates, key=lambda each: mean_loss(problem, goal, each))
    proved = Optimality(
        goal.name,
        mean_loss(problem, goal, blocks),
        mean_bound(bound, goal.weights, float(losses.max())),
        float((dot(dot(goal.weights, problem.laws), losses)).min()),
        rounds=flows.rounds,
        seconds=clock.elapsed,
        stopped="" if solved else clock.ended or "stuck",
    )
    return blocks, proved


def mean_loss(problem: ProfileProblem, goal: ProfileUtility, blocks: Floats) -> float:
    """Return the mean loss of a channel, also for a goal that is after something else."""
    return float((goal.joint(problem.laws, blocks) * goal.losses(problem.values)).sum())


def constant(problem: ProfileProblem, output: int) -> Floats:
    """Return blocks that always say the same."""
    blocks = np.zeros((len(problem.laws), problem.values, problem.values))
    blocks[:, :, output] = 1.0
    return blocks


def differing(problem: ProfileProblem) -> list[list[int]]:
    """Return the connected parts whose profiles are not all the same, as positions."""
    parts = [list(part) for part in problem.graph.components]
    return [part for part in parts if np.ptp(problem.laws[part], axis=0).any()]


def without_budget(problem: ProfileProblem, goal: ProfileUtility) -> Floats:
    """Return what can be released under a budget of 0, which rounded tables keep by saying nothing.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.profile_graph import ProfileGraph
    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9", "0.5"], [("0.2", "0.9")])
    >>> nothing = ProfileProblem.of(graph, ProfilePrivacy(0))
    >>> without_budget(nothing, ProfileUtility.of(graph, "hamming"))[:, 0, 1].tolist()
    [1.0, 1.0, 0.0]
    """
    width, losses = problem.values, goal.losses(problem.values)
    blocks = np.repeat(np.eye(width)[losses.argmin(axis=1)][None, :, :], len(problem.laws), axis=0)
    for part in differing(problem):
        blocks[part] = 1.0 / width
        if goal.name not in ("minimax", "mutual-information"):
            masses = dot(goal.weights[part], problem.laws[part])
            blocks[part] = np.eye(width)[int((dot(masses, losses)).argmin())]
    return blocks
