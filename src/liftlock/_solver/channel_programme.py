"""Expected distortion: a linear programme directly in the channel.

    minimise sum_x P(x) sum_z d(x, z) q(z | x)   subject to the notion, one output for each z

For lifts in [L, U] write q(z | x) = L lambda_z + s(x, z); then 0 <= s(x, z) <= (U - L) lambda_z,
sum_x P(x) s(x, z) = (1 - L) lambda_z and sum_z s(x, z) = 1 - L. For LDP with ratio E write
q(z | x) = m_z + (E - 1) s(x, z) with 0 <= s(x, z) <= m_z: one extra variable for each output and
n^2 sparse rows, where comparing all pairs of inputs would take n^3.

Sets of priors: L max_P lambda_P(z) <= q(z | x) <= U min_P lambda_P(z), both ends over the set
written by linear duality, with one variable for each input.

Source: 000 eq. (18), Def 6; 001 Prop. 3; 002 eq. (25).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock._runtime.clock import Clock, Ending
from liftlock._solver.blocks import (
    NO_ROOM,
    differing_parts,
    enforce_budget,
    mean_bound,
    response,
    shares,
    solution_of,
    zero_budget_blocks,
)
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import Limit, Optimality, Problem, ProfileTask, Solution, relative_gap
from liftlock.errors import extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import Algorithm, LinearProgramme, Optimum, Solver, safe_bound
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.exact.tolerances import TOLERANCES
from liftlock.model import Ball, Family, Intervals
from liftlock.model.alphabet import Alphabet
from liftlock.utility.base import Linear, Utility

Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class LeastDistortion:
    """The channel of least expected distortion, and the proof."""

    matrix: Floats
    """P(z | x), rows inputs, columns those reproductions that are used."""
    loss: Floats
    """d(x, z) of those reproductions."""
    used: tuple[int, ...]
    """Which reproductions they are."""
    outputs: Alphabet
    cost: float
    bound: float
    """No channel of this notion has a smaller expected distortion."""
    reference: float
    """The least expected distortion without any answer."""
    stopped: Ending
    """What ended the search before its end."""
    prices: Floats
    """y with sum_x d(x, z) v_x - y . v >= 0 for every posterior that is allowed, to rounding."""

    @property
    def gap(self) -> float:
        """The proved relative gap."""
        return relative_gap(self.cost, self.bound, self.reference)


def least_distortion(
    problem: Problem, utility: Utility, *, clock: Clock | None = None
) -> LeastDistortion:
    """Find the channel of least expected distortion that a notion allows.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Guess
    >>> three = Problem.of(Prior.uniform([1, 2, 3]), LDP("ln 2"))
    >>> round(least_distortion(three, Guess()).cost, 9)  # k-ary randomised response
    0.5
    """
    loss, names = reproductions_of(problem, utility)
    return least(problem, loss, names, clock=clock)


def reproductions_of(problem: Problem, utility: Utility) -> tuple[Floats, Alphabet]:
    """Return the loss matrix and the reproductions; guessing is the Hamming loss."""
    shape = utility.shape
    assert isinstance(shape, Linear)
    return shape.matrix(len(problem.inputs)), shape.names(problem.inputs)


def least(
    problem: Problem, loss: Floats, names: Alphabet, *, clock: Clock | None = None
) -> LeastDistortion:
    """Find the best channel for any loss matrix, rows inputs, columns reproductions."""
    # Losses of any size are brought to about 1; a power of two rounds nothing.
    size = float(np.abs(loss).max(initial=0.0))
    unit = 2.0 ** round(np.log2(size)) if size > 0 else 1.0
    builder = ChannelProgramme(problem, np.asarray(loss) / unit)
    optimum, channel, prices = builder.solve(clock)
    solved = optimum.solved and bool(channel.sum(axis=1).min() > 1.0 - TOLERANCES.close)
    if not solved:
        # Out of time, or lost in rounding: the best constant answer, with what the prices prove.
        channel = np.zeros_like(channel)
        channel[:, int(np.argmin(dot(problem.masses, loss)))] = 1.0
    matrix, used = _drop_unused_outputs(channel)
    points = names.coordinates
    outputs = Alphabet.of(
        [names.labels[z] for z in used], None if points is None else [points[z] for z in used]
    )
    cost = float(((problem.masses[:, None] * matrix) * loss[:, used]).sum())
    reference = float(dot(problem.masses, loss).min())
    bound = min(unit * optimum.bound, cost)
    stopped: Ending = "" if solved else (clock.ended if clock is not None else "") or "stuck"
    return LeastDistortion(
        matrix,
        loss[:, used],
        tuple(used),
        outputs,
        cost,
        bound,
        reference,
        stopped,
        unit * prices,
    )


def _drop_unused_outputs(channel: Floats) -> tuple[Floats, list[int]]:
    """Drop outputs that are hardly used, and let every row sum to 1."""
    channel = np.clip(channel, 0.0, None)
    used = [int(z) for z in np.flatnonzero(channel.max(axis=0) > TOLERANCES.residue)]
    kept = channel[:, used]
    return kept / kept.sum(axis=1, keepdims=True), used


class ChannelProgramme:
    """The programme of one context and notion."""

    def __init__(self, problem: Problem, loss: Floats) -> None:
        with extra("solver"):
            from scipy import sparse

        self.sparse: Any = sparse
        self.problem = problem
        self.loss = np.asarray(loss, dtype=np.float64)
        self.inputs, self.outputs = self.loss.shape
        self.program = LinearProgramme()
        self._most = 1.0

    def solve(self, clock: Clock | None) -> tuple[Optimum, Floats, Floats]:
        """Return the solution, the channel, and prices of the inputs."""
        problem = self.problem
        if problem.uncertain and problem.ratio is None:
            read = self._prior_set()
        elif not problem.only_itself:
            read = self._behind()
        elif problem.ratio is not None:
            read = self._staircase(problem.ratio)
        else:
            read = self._lifts()
        optimum = self.program.minimise(clock=clock)
        if not len(optimum.values):
            # Saying the same to everybody is always allowed, so "infeasible" is rounding, and
            # proves nothing: the least loss of each input is all that is known.
            least = float(dot(problem.masses, self.loss.min(axis=1)))
            rows = sum(len(lower) for _, lower, _ in self.program.rows)
            optimum = Optimum(np.zeros(self.program.count), np.zeros(rows), least, solved=False)
        return optimum, read(optimum.values), optimum.prices[: self.inputs]

    # Blocks: entry (x, z) of a table is the variable x * outputs + z of its block.

    def _each(self) -> Any:
        return self.sparse.identity(self.inputs * self.outputs, format="coo")

    def _per_output(self) -> Any:
        """Return the matrix that repeats a value of each output for every input."""
        return self.sparse.kron(np.ones((self.inputs, 1)), self.sparse.identity(self.outputs))

    def _over_outputs(self) -> Any:
        """Return the matrix that sums a table over outputs."""
        return self.sparse.kron(self.sparse.identity(self.inputs), np.ones((1, self.outputs)))

    def sum_over_inputs(self, weights: Floats) -> Any:
        """Return the matrix that sums a table over inputs with weights (a row or several)."""
        return self.sparse.kron(np.atleast_2d(weights), self.sparse.identity(self.outputs))

    def _per_row(self, count: int) -> Any:
        return self.sparse.kron(np.ones((count, 1)), self.sparse.identity(self.outputs))

    def _costs(self) -> Floats:
        return self.problem.masses[:, None] * self.loss

    def _table(self, values: Floats, first: int) -> Floats:
        size = self.inputs * self.outputs
        table: Floats = values[first : first + size].reshape(self.inputs, self.outputs)
        return table

    def _lifts(self) -> Any:
        problem, program = self.problem, self.program
        masses, lower = problem.masses, problem.lower
        # A posterior of 1 is the most there is.
        upper = min(problem.upper, (1.0 + rounding(1)) / float(masses.min()))
        extra = program.add_variables(self._costs())
        shares = program.add_variables(lower * dot(masses, self.loss))
        each = self.sparse.identity(self.outputs)
        program.add_rows([(extra, self._over_outputs())], 1 - lower, 1 - lower)
        program.add_rows(
            [(extra, self.sum_over_inputs(masses)), (shares, (lower - 1) * each)], 0.0, 0.0
        )
        program.add_rows(
            [(extra, self._each()), (shares, (lower - upper) * self._per_output())], -np.inf, 0.0
        )
        return lambda values: (
            self._table(values, extra) + lower * values[shares : shares + self.outputs]
        )

    def _staircase(self, ratio: float) -> Any:
        program = self.program
        extra = program.add_variables((ratio - 1) * self._costs())
        least_of = program.add_variables(dot(self.problem.masses, self.loss))
        every = self.sparse.coo_matrix(np.ones((self.inputs, self.outputs)))
        program.add_rows([(extra, (ratio - 1) * self._over_outputs()), (least_of, every)], 1.0, 1.0)
        program.add_rows([(extra, self._each()), (least_of, -self._per_output())], -np.inf, 0.0)
        return lambda values: (
            (ratio - 1) * self._table(values, extra) + values[least_of : least_of + self.outputs]
        )

    def _behind(self) -> Any:
        """Write down the limits of secrets behind X, or of several guarantees at once."""
        problem, program = self.problem, self.program
        table = program.add_variables(self._costs())
        program.add_rows([(table, self._over_outputs())], 1.0, 1.0)
        shares: int | None = None
        for limit in problem.limits:
            if limit.ratio is not None:
                # The least likelihood of each output.
                level, low, high = program.add_variables(np.zeros(self.outputs)), 1.0, limit.ratio
            else:
                if shares is None:
                    shares = self._output_masses(table)
                level, low, high = shares, limit.lower, limit.upper
            self._limit_secrets(table, level, limit, low, high)
        return lambda values: self._table(values, table)

    def _output_masses(self, table: int) -> int:
        """Add the probability of each output as a variable."""
        each = self.sparse.identity(self.outputs)
        shares = self.program.add_variables(np.zeros(self.outputs))
        masses = self.sum_over_inputs(self.problem.masses)
        self.program.add_rows([(table, masses), (shares, -each)], 0.0, 0.0)
        return shares

    def _limit_secrets(self, table: int, level: int, limit: Limit, low: float, high: float) -> None:
        """Keep the likelihoods of secrets within `low` and `high` times the level of an output."""
        program = self.program
        # P(x | s): what turns a channel of X into one of S.
        turned = limit.lifts * self.problem.masses
        secrets, count = self.sum_over_inputs(turned), len(turned)
        if low > 0:
            program.add_rows([(table, secrets), (level, -low * self._per_row(count))], 0.0, np.inf)
        if np.isfinite(high):
            program.add_rows(
                [(table, secrets), (level, -high * self._per_row(count))], -np.inf, 0.0
            )

    def _prior_set(self) -> Any:
        table = self.program.add_variables(self._costs())
        self.program.add_rows([(table, self._over_outputs())], 1.0, 1.0)
        self.limit_lifts(table)
        return lambda values: self._table(values, table)

    def limit_lifts(self, table: int, most: float = 1.0) -> None:
        """Limit the lifts of a table of likelihoods up to `most`, under every prior of a set."""
        problem, program = self.problem, self.program
        self._most = most
        if problem.lower > 0:
            highest = program.add_variables(np.zeros(self.outputs), most)
            self._end(table, highest, least=False)
            program.add_rows(
                [(table, self._each()), (highest, -problem.lower * self._per_output())],
                0.0,
                np.inf,
            )
        if np.isfinite(problem.upper):
            lowest = program.add_variables(np.zeros(self.outputs), most)
            self._end(table, lowest, least=True)
            program.add_rows(
                [(table, self._each()), (lowest, -problem.upper * self._per_output())],
                -np.inf,
                0.0,
            )

    def _end(self, table: int, level: int, *, least: bool) -> None:
        """Let a level be at least the largest (at most the smallest) P . q over the set."""
        context, program, sparse = self.problem.context, self.program, self.sparse
        sign = -1.0 if least else 1.0
        each = sparse.identity(self.outputs)
        ends = (-np.inf, 0.0) if least else (0.0, np.inf)
        if isinstance(context, Family):
            priors = np.array([prior.floats() for prior in context.priors])
            rows = [(level, self._per_row(len(priors))), (table, -self.sum_over_inputs(priors))]
            program.add_rows(rows, *ends)
            return
        shift = program.add_variables(np.zeros(self.outputs), self._most)
        over = program.add_variables(np.zeros(self.inputs * self.outputs), self._most)
        if isinstance(context, Intervals):
            pairs = list(zip(context.lower, context.upper, strict=True))
            low = np.array([float(least) for least, _ in pairs])
            wide = np.array([float(most - least) for least, most in pairs])
            left = float(1 - sum(context.lower, Fraction(0)))
            # level >= (1 - sum low) mu + sum low q + sum (high - low) r, with r >= q - mu.
            program.add_rows(
                [
                    (level, each),
                    (shift, -left * each),
                    (table, -self.sum_over_inputs(low)),
                    (over, -sign * self.sum_over_inputs(wide)),
                ],
                *ends,
            )
            program.add_rows(
                [
                    (over, self._each()),
                    (table, -sign * self._each()),
                    (shift, sign * self._per_output()),
                ],
                0.0,
                np.inf,
            )
            return
        assert isinstance(context, Ball)
        centre, radius = context.centre.floats(), float(context.radius)
        step = program.add_variables(np.zeros(self.outputs), self._most)
        # level >= c . q + radius k + sum c r, with M >= q and r >= M - q - k.
        program.add_rows(
            [
                (level, each),
                (table, -self.sum_over_inputs(centre)),
                (step, -sign * radius * each),
                (over, -sign * self.sum_over_inputs(centre)),
            ],
            *ends,
        )
        program.add_rows(
            [(shift, sign * self._per_output()), (table, -sign * self._each())], 0.0, np.inf
        )
        program.add_rows(
            [
                (over, self._each()),
                (step, self._per_output()),
                (shift, -sign * self._per_output()),
                (table, sign * self._each()),
            ],
            0.0,
            np.inf,
        )


# --- a graph of profiles --------------------------------------------------------------------------


class ProfileProgramme:
    """The programme of a graph of profiles, to be solved for several costs.

    With f_i(x, y) = P_i(x) A^i(x, y) and D_i(y) = sum_x f_i(x, y), what profile i releases,

        sum_y f_i(x, y) = P_i(x),   D_i(y) / E <= D_j(y)  for every edge, both ways.

    One matrix for all has its entries for variables, not flows. Only edges that a solution breaks
    are given to the solver: those of profiles that are alike never are.
    """

    def __init__(self, task: ProfileTask) -> None:
        with extra("solver"):
            from scipy.sparse import coo_matrix, identity, kron

        self.task, self.problem = task, task.problem
        distributions, width = self.problem.distributions, self.problem.values
        if task.shared:
            self.value = np.flatnonzero(distributions.max(axis=0) > 0)
            self.profile = np.zeros_like(self.value)
            self._masses = np.ones(len(self.value))
            self._counts = dot(task.goal.weights, distributions)[self.value]
            self._shares = shares(self._counts)
        else:
            self.profile, self.value = np.nonzero(distributions > 0)
            self._masses = distributions[self.profile, self.value]
            self._counts = task.goal.weights
            self._shares = shares(self._counts)[self.profile]
        cells = len(self._masses)
        program = LinearProgramme()
        flows = program.add_variables(np.zeros((cells, width)))
        program.most[-1] = np.repeat(self._masses, width)
        self._outputs = program.count
        each = kron(identity(cells), np.ones((1, width)))
        program.add_rows([(flows, each)], self._masses, self._masses)
        if not task.shared:
            size = len(distributions)
            program.add_variables(np.zeros((size, width)))
            gather = coo_matrix((np.ones(cells), (self.profile, np.arange(cells))), (size, cells))
            sums = kron(gather, identity(width))
            outputs = (self._outputs, -identity(size * width))
            program.add_rows([(flows, sums), outputs], 0.0, 0.0)
        self._largest = program.add_variables(np.zeros(1))
        self._solver = Solver(program, clock=task.clock)
        fixed = self._solver.matrix
        self._rows: list[Callable[[float], Any]] = [lambda _: fixed]
        """All rows so far, as they are for an E."""
        self._known = np.zeros((2 * len(self.problem.edges), width), dtype=bool)
        self._add_violated_edges(distributions)
        self._way: Algorithm = "ipm" if cells * width > LIMITS.simplex_flows else "simplex"
        self.rounds = 0

    def minimise(self, costs: Floats) -> tuple[Floats, float, bool]:
        """Return the blocks of the least sum of costs (cells, outputs) times variables.

        Cells are the pairs of `profile` and `value`. With it come a lower bound of that sum, and
        whether the solver came to its end. Blocks keep the budget in any case.
        """
        scale = max(float(np.abs(costs).max()), np.finfo(float).tiny)
        # Costs of either sign: shifting a row of costs shifts the sum by a constant.
        shift = np.minimum((costs / scale).min(axis=1), 0.0)
        self._solver.set_costs((costs / scale - shift[:, None]).ravel())
        found = self._solve()
        bound = (self._bound(found) + float(dot(shift, self._masses))) * scale
        return self._blocks(found), bound, found.solved

    def minimise_mean(self, losses: Floats) -> tuple[Floats, float, bool]:
        """Return the blocks of the least mean loss of value and output, as `minimise` does."""
        blocks, bound, solved = self.minimise(self._shares[:, None] * losses[self.value])
        return blocks, mean_bound(bound, self._counts, float(losses.max())), solved

    def minimise_largest(self) -> tuple[Floats, float, bool]:
        """Return the least often wrong of the blocks with the least largest entry off a diagonal.

        The bound is that of the entry. Afterwards entries stay below it.
        """
        self._limit_entries()
        cost = np.zeros(len(self._solver.cost))
        cost[self._largest] = 1.0
        self._solver.set_costs(cost)
        found = self._solve()
        bound = self._bound(found)
        if found.solved and len(found.values):
            most = np.ones(len(cost))
            most[self._largest] = min(float(found.values[self._largest]) + TOLERANCES.solver, 1.0)
            self._solver.set_bounds(np.zeros(len(cost)), most)
            cost[self._largest] = 0.0
            self._solver.set_costs(cost)
            blocks, _, solved = self.minimise_mean(1.0 - np.eye(self.problem.values))
            if solved:
                return blocks, bound, True
        return self._blocks(found), bound, found.solved

    def _limit_entries(self) -> None:
        with extra("solver"):
            from scipy.sparse import coo_matrix

        width = self.problem.values
        cell, output = np.nonzero(self.value[:, None] != np.arange(width))
        count = len(cell)
        places = np.tile(np.arange(count), 2)
        columns = np.append(cell * width + output, np.full(count, self._largest))
        values = np.append(np.ones(count), -self._masses[cell])
        rows = coo_matrix((values, (places, columns)), (count, len(self._solver.cost)))
        self._add_edge_rows(lambda _: rows)

    def _add_edge_rows(self, rows: Callable[[float], Any]) -> None:
        self._rows.append(rows)
        self._solver.add_rows(rows(self.problem.ratio), -np.inf, 0.0)

    def _solve(self) -> Optimum:
        while True:
            found = self._solver.solve(self._way)
            self._way = "simplex"  # from the vertex that the interior point ended in
            self.rounds += 1
            if not len(found.values):
                # To a budget of 0 rounding may look like a contradiction: then nothing is known.
                return replace(found, solved=False)
            if not found.solved or not self._add_violated_edges(self._released(found)):
                return found

    def _released(self, found: Optimum) -> Floats:
        if self.task.shared:
            shared: Floats = dot(self.problem.distributions[:, self.value], self._entries(found))
            return shared
        return found.values[self._outputs : self._largest].reshape(self.problem.distributions.shape)

    def _entries(self, found: Optimum) -> Floats:
        values = found.values[: self._outputs]
        return np.clip(values, 0.0, None).reshape(-1, self.problem.values)

    def _add_violated_edges(self, released: Floats) -> bool:
        """Give the solver the edges that an output breaks; tell whether there were any."""
        more, less = self.problem.directed_edges
        over = released[more] / self.problem.ratio - released[less]
        way, output = np.nonzero((over > TOLERANCES.zero) & ~self._known)
        if not len(way):
            return False
        self._known[way, output] = True
        more, less = more[way], less[way]
        self._add_edge_rows(lambda ratio: self._edges(more, less, output, ratio))
        return True

    def _edges(self, more: Places, less: Places, output: Places, ratio: float) -> Any:
        """Return the rows D_more(y) / E - D_less(y), to be 0 at most."""
        with extra("solver"):
            from scipy.sparse import coo_matrix

        width, count = self.problem.values, len(output)
        if self.task.shared:
            distributions = self.problem.distributions[:, self.value]
            values = distributions[more] / ratio - distributions[less]
            columns = np.arange(len(self.value)) * width + output[:, None]
            places = np.repeat(np.arange(count), len(self.value))
        else:
            values = np.repeat([1.0 / ratio, -1.0], count)
            columns = self._outputs + np.append(more * width + output, less * width + output)
            places = np.tile(np.arange(count), 2)
        shape = (count, self._largest + 1)
        return coo_matrix((values.ravel(), (places, columns.ravel())), shape)

    def _bound(self, found: Optimum) -> float:
        """Prove a bound for the budget itself, not for the slightly smaller one of the search."""
        with extra("solver"):
            from scipy.sparse import vstack

        if not len(found.values):
            return 0.0
        wide, solver = self.problem.widen().ratio, self._solver
        matrix = vstack([rows(wide) for rows in self._rows]).tocsc()
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
        """Return what was found, made to keep the budget; values that never occur follow others.

        A solver that was stopped, or a value too rare for it, may have left nothing to divide.
        """
        width = self.problem.values
        if not len(found.values):
            return response(width, np.ones(self.task.blocks))
        entries, released = self._entries(found), np.clip(self._released(found), 0.0, None)
        if self.task.shared:
            released = released.mean(axis=0, keepdims=True)
        released[released.sum(axis=1) <= 0] = 1.0
        blocks = np.repeat(released[:, None, :], width, axis=1)
        some = entries.sum(axis=1) > 0
        blocks[self.profile[some], self.value[some]] = entries[some]
        return enforce_budget(self.problem, blocks)


def solve_profiles(task: ProfileTask) -> Solution:
    """Find the blocks that are best for a loss, and prove how close they are.

    Source: 004 eq. (6), also with A^1 = ... = A^k, and with the mean loss for its objective.

    >>> from liftlock.model import ProfileGraph
    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.utility.profile_utility import ProfileUtility
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> goal = ProfileUtility.of(graph, "hamming")
    >>> proved = solve_profiles(ProfileTask.of(graph, ProfilePrivacy("0.5"), goal)).proof
    >>> round(proved.cost, 6), round(proved.bound, 6)
    (0.010653, 0.010653)
    """
    problem, goal, clock = task.problem, task.goal, task.clock
    clock.report_stage("one matrix" if task.shared else "flows")
    programme = ProfileProgramme(task)
    losses = goal.losses(problem.values)
    if goal.name == "minimax":
        blocks, bound, solved = programme.minimise_largest()
    else:
        blocks, bound, solved = programme.minimise_mean(losses)
    # A search that was stopped, or a budget too small for rounding, can be beaten by these.
    silent = zero_budget_blocks(task)
    simple = enforce_budget(problem, np.tile(np.eye(problem.values), (task.blocks, 1, 1)))
    nothing = problem.allows_nothing and bool(differing_parts(problem))
    candidates = [silent] if nothing else [blocks, simple, silent]
    least = min(goal.value(problem.distributions, each) for each in candidates)
    # Of those that are as good but for the solver's tolerance, the one that is wrong least often.
    near = [
        each
        for each in candidates
        if goal.value(problem.distributions, each) <= least + TOLERANCES.visible
    ]
    blocks = min(
        near, key=lambda each: float((goal.joint(problem.distributions, each) * losses).sum())
    )
    proof = Optimality(
        goal.name,
        goal.value(problem.distributions, blocks),
        max(bound, 0.0),
        goal.value_of_no_release(problem.distributions),
        rounds=programme.rounds,
        seconds=clock.elapsed,
        stopped="" if solved else clock.ended or "stuck",
    )
    remarks = (NO_ROOM,) if nothing else proof.early_stop_remarks()
    return solution_of(task, blocks, proof, remarks)
