"""Few values: the most information, proved by listing every extreme posterior.

An output is a posterior of the cells, and a mechanism a mixture of posteriors whose mean is the law
of the cells. What an edge asks of an output is linear in its posterior v, so the least H(X | Y) is

    minimise sum_k b_k H(X | v_k)   subject to   sum_k b_k v_k = the law of the cells

over the vertices v_k of a polytope. The cells are the values for one matrix that ignores the
profile, and pairs (profile, value) else. A solution has no more outputs than there are cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock._solver.enumeration import enumerate_vertices
from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.linear_programme import LinearProgram
from liftlock._solver.profile_problem import ProfileProblem
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.utility.profile_utility import ProfileUtility


@dataclass(frozen=True)
class Listed:
    """The best mixture: posteriors of the cells (rows), their shares, and the proved H(X | Y)."""

    posteriors: Floats
    shares: Floats
    bound: float


@dataclass(frozen=True)
class Cells:
    """What a posterior speaks of: masses, the value of each cell, and edges as cuts . v <= 0."""

    masses: Floats
    values: Floats
    """One row for each cell, 1 at its value."""
    more: Floats
    less: Floats
    """For each edge and way: what an output takes of the profile that gives it more, and less."""

    @classmethod
    def shared(cls, problem: ProfileProblem, goal: ProfileUtility) -> Cells | None:
        """Take the values for cells; None if some only belong to profiles of weight 0."""
        masses = dot(goal.weights, problem.laws)
        used = masses > 0
        if (problem.laws[:, ~used] > 0).any():
            return None
        given = problem.laws[:, used] / masses[used]
        first, second = problem.edges.T
        more, less = np.append(first, second), np.append(second, first)
        return cls(masses[used], np.eye(problem.values)[used], given[more], given[less])

    @classmethod
    def each(cls, problem: ProfileProblem, goal: ProfileUtility) -> Cells | None:
        """Take pairs (profile, value) for cells; None if a profile has weight 0."""
        if not goal.weights.all():
            return None
        profile, value = np.nonzero(problem.laws > 0)
        masses = (goal.weights[:, None] * problem.laws)[profile, value]
        given = (np.arange(len(goal.weights))[:, None] == profile) / goal.weights[:, None]
        first, second = problem.edges.T
        more, less = np.append(first, second), np.append(second, first)
        return cls(masses, np.eye(problem.values)[value], given[more], given[less])

    def vertices(self, ratio: float) -> Floats:
        """Return all extreme posteriors."""
        cuts = self.more / ratio - self.less
        return enumerate_vertices(cuts, len(self.masses), LIMITS.profile_vertices)

    def uncertainty(self, posteriors: Floats) -> Floats:
        """Return H(X | v) of posteriors of the cells."""
        laws = np.clip(dot(posteriors, self.values), 0.0, None)
        logs = log(np.where(laws > 0, laws, 1.0))
        entropy: Floats = -(laws * logs).sum(axis=1)
        return entropy


def list_all(problem: ProfileProblem, cells: Cells | None) -> Listed | None:
    """Solve it by listing, if that is quick."""
    from scipy.sparse import csr_matrix

    if (
        cells is None
        or len(cells.masses) > LIMITS.profile_cells
        or cells.more.size > LIMITS.profile_numbers
    ):
        return None
    if cells.masses.min() < TOLERANCES.close:
        return None
    try:
        inside, outside = cells.vertices(problem.ratio), cells.vertices(problem.wide_ratio)
    except InputError:
        return None
    program = LinearProgram()
    program.variables(cells.uncertainty(inside))
    program.between([(0, csr_matrix(inside.T))], cells.masses, cells.masses)
    found = program.minimise()
    if not found.solved or not len(found.values):
        return None
    # A concave cost less a linear one is least at a vertex: here of all that the budget allows.
    reduced = float((cells.uncertainty(outside) - dot(outside, found.prices)).min())
    bound = float(dot(cells.masses, found.prices)) + min(reduced, 0.0) - TOLERANCES.visible
    used = found.values > 0
    return Listed(inside[used], found.values[used], bound)


def matrix_of(problem: ProfileProblem, goal: ProfileUtility, listed: Listed) -> Floats:
    """Return the mixture of posteriors of the values as one block, outputs named by likely values.

    A value that no profile has follows what they release.
    """
    from scipy.optimize import linear_sum_assignment

    masses = dot(goal.weights, problem.laws)
    used = masses > 0
    order = np.argsort(-listed.shares, kind="stable")[: problem.values]
    joint = np.zeros((problem.values, problem.values))
    joint[np.ix_(used, np.arange(len(order)))] = (
        listed.posteriors[order] * listed.shares[order][:, None]
    ).T
    outputs, names = linear_sum_assignment(joint.T, maximize=True)
    named = np.zeros_like(joint)
    named[:, names] = joint[:, outputs]
    block = np.repeat(named.sum(axis=0, keepdims=True), problem.values, axis=0)
    block[used] = named[used] / named[used].sum(axis=1, keepdims=True)
    return block[None, :, :]
