"""Many numbers under LDP: neighbours answer alike, and the optimum is that of their groups.

The search for an LDP optimum grows quickly with the number of symbols. Numbers near each other can
share a row without losing much, and rows that are there twice keep every ratio of likelihoods.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from liftlock._solver.clock import SEARCHING
from liftlock._solver.limits import LIMITS, TOLERANCES
from liftlock._solver.problem import Optimality, Problem, Solution, Task
from liftlock.alphabet import Alphabet
from liftlock.contexts import Prior
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.notions.lip import LIP
from liftlock.utility.mean import points_of
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility, cost_of_nothing, mean_cost


@dataclass(frozen=True)
class Groups:
    """A prior of numbers with neighbours joined to groups, and the group of each."""

    task: Task
    """That of all the numbers."""
    prior: Prior
    group: npt.NDArray[np.intp]

    @classmethod
    def of(cls, task: Task) -> Groups:
        """Join neighbours to groups of about the same mass."""
        problem = task.problem
        assert isinstance(problem.context, Prior)
        points = points_of(problem.inputs, task.utility.name)
        return cls(task, *_joined(problem.context, problem.masses, points))

    def smaller(self) -> Task:
        """Return the task of the groups, for a part of the time."""
        task = self.task
        return Task(
            Problem.of(self.prior, task.problem.notion),
            make_utility(task.utility.name, self.prior.inputs),
            task.clock.part(SEARCHING),
            explain=task.explain,
        )

    def expand(self, found: Solution, smaller: Task, solve: Callable[[Task], Solution]) -> Solution:
        """Let each number answer like its group, and prove how far all could be better.

        Two bounds of the optimum are compared. Every mechanism of epsilon-LDP is epsilon-LIP, and
        the optimum of that is known. And X = M + R, the mean of its group and the rest: a mechanism
        for X is one for the groups, of which it cannot say more than their optimum G, while of R it
        says

            |E[R | Y]| <= (E - 1)/2 E|R|,

        as its lifts differ by at most E - 1. So at most (sqrt(G) + (E - 1)/2 E|R|)^2 of the
        variance is explained, and the mean distance is at most E|R| below that of the groups.

        Source: math groups of neighbours under LDP; 000 Thm 1 converse, Cor 2.
        """
        task, problem, utility = self.task, self.task.problem, self.task.utility
        budget = problem.notion.ratio_limit
        assert budget is not None
        task.clock.spend(smaller.clock.work)
        matrix = found.matrix[self.group].copy()
        cost = mean_cost(utility, matrix, problem.masses)
        wider = Task(Problem.of(problem.context, LIP(budget)), utility, task.clock.part(1.0))
        looser = solve(wider).proof.bound
        least = _bound(problem, utility, self.prior, self.group, found.proof.bound)
        proof = Optimality(
            utility.name,
            cost,
            min(max(0.0, least, looser), cost),
            cost_of_nothing(utility, problem.masses),
            seconds=task.clock.elapsed,
            stopped=found.proof.stopped,
        )
        said = f"neighbours are joined to {len(self.prior.inputs)} groups, "
        said += "the optimum of which is used"
        outputs = Alphabet.of(range(matrix.shape[1]))
        return Solution(matrix, outputs, proof, (*found.remarks, said))


def _bound(
    problem: Problem, goal: Utility, joined: Prior, group: npt.NDArray[np.intp], least: float
) -> float:
    """Return the least that any LDP mechanism costs, from the optimum of the groups."""
    points = points_of(problem.inputs, goal.name)
    means = points_of(joined.inputs, goal.name)
    if goal.name == "squared":
        # As a distortion it reads groups as their means alone, where inputs have more numbers to
        # be read as: the optimum of the groups then bounds nothing.
        return 0.0
    rest = float(dot(problem.masses, np.abs(points - means[group])))
    least = least * (1.0 - TOLERANCES.visible)
    if goal.name == "absolute":
        return least - rest * (1.0 + TOLERANCES.visible)
    assert problem.ratio is not None
    weights = joined.floats()
    spread = float(dot(weights, (means - dot(weights, means)) ** 2))
    whole = float(dot(problem.masses, (points - dot(problem.masses, points)) ** 2))
    unseen = math.sqrt(max(whole - spread, 0.0))
    said = math.sqrt(max(spread - least, 0.0)) + min((problem.ratio - 1.0) / 2.0 * rest, unseen)
    return whole * (1.0 - TOLERANCES.visible) - said**2 * (1.0 + TOLERANCES.visible)


def _joined(prior: Prior, masses: Floats, points: Floats) -> tuple[Prior, npt.NDArray[np.intp]]:
    """Join neighbours to groups of about the same mass; return their prior, and who is where."""
    order = np.argsort(points, kind="stable")
    middle = (np.cumsum(masses[order]) - masses[order] / 2.0) * LIMITS.few_symbols
    group = np.empty(len(masses), dtype=np.intp)
    group[order] = np.unique(middle.astype(np.intp), return_inverse=True)[1]
    size = int(group.max()) + 1
    counts = [0] * size
    for place, count in zip(group.tolist(), prior.counts, strict=True):
        counts[place] += count
    means = np.bincount(group, masses * points) / np.bincount(group, masses)
    alphabet = Alphabet.of(range(size), [Fraction(float(mean)) for mean in means])
    return Prior(alphabet, tuple(counts)), group
