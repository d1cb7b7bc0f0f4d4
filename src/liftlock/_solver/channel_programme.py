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

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liftlock._solver.limits import TOLERANCES
from liftlock._solver.linear_programme import LinearProgram, Optimum
from liftlock._solver.optimality import Ending, relative_gap
from liftlock._solver.oracle import Clock
from liftlock._solver.problem import Problem
from liftlock.alphabet import Alphabet
from liftlock.context import Ball, Family, Intervals
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.utility.shape import Linear
from liftlock.utility.utility import Utility

_WHOLE_ROW = 0.5
"""A row of less than this is no row of a channel, whatever the solver says of it."""


@dataclass(frozen=True)
class Least:
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


def least_distortion(problem: Problem, utility: Utility, *, clock: Clock | None = None) -> Least:
    """Find the channel of least expected distortion that a notion allows.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> from liftlock.utility.guess import Guess
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


def least(problem: Problem, loss: Floats, names: Alphabet, *, clock: Clock | None = None) -> Least:
    """Find the best channel for any loss matrix, rows inputs, columns reproductions."""
    # Losses of any size are brought to about 1; a power of two rounds nothing.
    size = float(np.abs(loss).max(initial=0.0))
    unit = 2.0 ** round(np.log2(size)) if size > 0 else 1.0
    builder = Builder(problem, np.asarray(loss) / unit)
    optimum, channel, prices = builder.solve(clock)
    solved = optimum.solved and bool(channel.sum(axis=1).min() > _WHOLE_ROW)
    if not solved:
        # Out of time, or lost in rounding: the best constant answer, with what the prices prove.
        channel = np.zeros_like(channel)
        channel[:, int(np.argmin(dot(problem.masses, loss)))] = 1.0
    matrix, used = _cleaned(channel)
    points = names.coordinates
    outputs = Alphabet.of(
        [names.labels[z] for z in used], None if points is None else [points[z] for z in used]
    )
    cost = float(((problem.masses[:, None] * matrix) * loss[:, used]).sum())
    reference = float(dot(problem.masses, loss).min())
    bound = min(unit * optimum.bound, cost)
    stopped: Ending = "" if solved else (clock.ended if clock is not None else "") or "stuck"
    return Least(
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


def _cleaned(channel: Floats) -> tuple[Floats, list[int]]:
    """Drop outputs that are hardly used, and let every row sum to 1."""
    channel = np.clip(channel, 0.0, None)
    used = [int(z) for z in np.flatnonzero(channel.max(axis=0) > TOLERANCES.residue)]
    kept = channel[:, used]
    return kept / kept.sum(axis=1, keepdims=True), used


class Builder:
    """The programme of one context and notion."""

    def __init__(self, problem: Problem, loss: Floats) -> None:
        from scipy import sparse

        self.sparse: Any = sparse
        self.problem = problem
        self.loss = np.asarray(loss, dtype=np.float64)
        self.inputs, self.outputs = self.loss.shape
        self.program = LinearProgram()
        self._most = 1.0

    def solve(self, clock: Clock | None) -> tuple[Optimum, Floats, Floats]:
        """Return the solution, the channel, and prices of the inputs."""
        problem = self.problem
        if problem.uncertain and problem.ratio is None:
            read = self._prior_set()
        elif problem.given is not None:
            read = self._joint()
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

    def weighted(self, weights: Floats) -> Any:
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
        extra = program.variables(self._costs())
        shares = program.variables(lower * dot(masses, self.loss))
        each = self.sparse.identity(self.outputs)
        program.between([(extra, self._over_outputs())], 1 - lower, 1 - lower)
        program.between([(extra, self.weighted(masses)), (shares, (lower - 1) * each)], 0.0, 0.0)
        program.between(
            [(extra, self._each()), (shares, (lower - upper) * self._per_output())], -np.inf, 0.0
        )
        return lambda values: (
            self._table(values, extra) + lower * values[shares : shares + self.outputs]
        )

    def _staircase(self, ratio: float) -> Any:
        program = self.program
        extra = program.variables((ratio - 1) * self._costs())
        least_of = program.variables(dot(self.problem.masses, self.loss))
        every = self.sparse.coo_matrix(np.ones((self.inputs, self.outputs)))
        program.between([(extra, (ratio - 1) * self._over_outputs()), (least_of, every)], 1.0, 1.0)
        program.between([(extra, self._each()), (least_of, -self._per_output())], -np.inf, 0.0)
        return lambda values: (
            (ratio - 1) * self._table(values, extra) + values[least_of : least_of + self.outputs]
        )

    def _joint(self) -> Any:
        problem, program = self.problem, self.program
        given = problem.given
        assert given is not None
        keep = problem.secret_masses > 0
        # P(x | s): what turns a channel of X into one of S.
        turned = given[keep] * problem.masses / problem.secret_masses[keep, None]
        count = len(turned)
        table = program.variables(self._costs())
        level = program.variables(np.zeros(self.outputs))
        program.between([(table, self._over_outputs())], 1.0, 1.0)
        secrets = self.weighted(turned)
        if problem.ratio is not None:
            low, high = 1.0, problem.ratio
        else:
            each = self.sparse.identity(self.outputs)
            program.between([(table, self.weighted(problem.masses)), (level, -each)], 0.0, 0.0)
            low, high = problem.lower, problem.upper
        if low > 0:
            program.between([(table, secrets), (level, -low * self._per_row(count))], 0.0, np.inf)
        if np.isfinite(high):
            program.between([(table, secrets), (level, -high * self._per_row(count))], -np.inf, 0.0)
        return lambda values: self._table(values, table)

    def _prior_set(self) -> Any:
        table = self.program.variables(self._costs())
        self.program.between([(table, self._over_outputs())], 1.0, 1.0)
        self.limit_lifts(table)
        return lambda values: self._table(values, table)

    def limit_lifts(self, table: int, most: float = 1.0) -> None:
        """Limit the lifts of a table of likelihoods up to `most`, under every prior of a set."""
        problem, program = self.problem, self.program
        self._most = most
        if problem.lower > 0:
            highest = program.variables(np.zeros(self.outputs), most)
            self._end(table, highest, least=False)
            program.between(
                [(table, self._each()), (highest, -problem.lower * self._per_output())],
                0.0,
                np.inf,
            )
        if np.isfinite(problem.upper):
            lowest = program.variables(np.zeros(self.outputs), most)
            self._end(table, lowest, least=True)
            program.between(
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
            rows = [(level, self._per_row(len(priors))), (table, -self.weighted(priors))]
            program.between(rows, *ends)
            return
        shift = program.variables(np.zeros(self.outputs), self._most)
        over = program.variables(np.zeros(self.inputs * self.outputs), self._most)
        if isinstance(context, Intervals):
            pairs = list(zip(context.lower, context.upper, strict=True))
            low = np.array([float(least) for least, _ in pairs])
            wide = np.array([float(most - least) for least, most in pairs])
            left = float(1 - sum(context.lower, Fraction(0)))
            # level >= (1 - sum low) mu + sum low q + sum (high - low) r, with r >= q - mu.
            program.between(
                [
                    (level, each),
                    (shift, -left * each),
                    (table, -self.weighted(low)),
                    (over, -sign * self.weighted(wide)),
                ],
                *ends,
            )
            program.between(
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
        step = program.variables(np.zeros(self.outputs), self._most)
        # level >= c . q + radius k + sum c r, with M >= q and r >= M - q - k.
        program.between(
            [
                (level, each),
                (table, -self.weighted(centre)),
                (step, -sign * radius * each),
                (over, -sign * self.weighted(centre)),
            ],
            *ends,
        )
        program.between(
            [(shift, sign * self._per_output()), (table, -sign * self._each())], 0.0, np.inf
        )
        program.between(
            [
                (over, self._each()),
                (step, self._per_output()),
                (shift, -sign * self._per_output()),
                (table, sign * self._each()),
            ],
            0.0,
            np.inf,
        )
