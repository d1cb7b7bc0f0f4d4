"""Mutual information of profiles: list all extreme posteriors, or climb from several starts.

An output is a posterior of the cells, and a mechanism a mixture of posteriors whose mean is the
distribution of the cells: the values for one matrix that ignores the profile, and pairs (profile,
value) else. What an edge asks of an output is linear in its posterior, so of few cells all extreme
posteriors are listed, and the best mixture is a linear programme. It has no more outputs than
cells: for one matrix it is the optimum, else a bound.

Climbing is for all others. I(X; Y) of the mixture of all profiles is convex in the channel:
whatever the posteriors r_y(x), it is at least H(X) + sum_xy J(x, y) ln r_y(x), with equality for
the posteriors of the joint distribution J itself. So the channel that is best for the posteriors of
another, a linear programme, has at least as much information as that one. Repeated, it ends in a
vertex that no step leaves.

How much more there could be is bounded by how often the value can be guessed: a guess from Y is
itself a mechanism, so nobody guesses wrong less often than the least mean chance of a wrong value,
and H(X | Y) is at least what such a chance of error implies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from liftlock._runtime.clock import SetupTimedOut
from liftlock._solver.blocks import (
    NO_ROOM,
    differing_parts,
    enforce_budget,
    solution_of,
    zero_budget_blocks,
)
from liftlock._solver.channel_programme import ProfileProgramme
from liftlock._solver.column_generation import Decomposition, generate_columns
from liftlock._solver.enumeration import EnumeratedOracle, comparison_rows, enumerate_vertices
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import Optimality, ProfileTask, Solution
from liftlock.errors import InputError, extra
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.exact.tolerances import TOLERANCES
from liftlock.utility.base import cost_of_no_release
from liftlock.utility.profile_utility import information
from liftlock.utility.symmetric import MutualInformation

LOCAL = (
    "the most information that climbing from several starts found: nothing near it is better, "
    "but something far from it may be"
)


# --- few cells ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """What a posterior speaks of: the mass and the value of each cell, and its lift by profile."""

    masses: Floats
    values: Floats
    """One row for each cell, 1 at its value."""
    lifts: Floats
    """P(cell | profile) / P(cell), rows profiles."""

    @classmethod
    def of(cls, task: ProfileTask, *, shared: bool) -> Cells | None:
        """Return the values, or pairs of profile and value; None if profiles of weight 0 matter."""
        distributions, weights = task.problem.distributions, task.goal.weights
        each = np.eye(task.problem.values)
        if shared:
            masses = task.problem.masses
            used = masses > 0
            if (distributions[:, ~used] > 0).any():
                return None
            return cls(masses[used], each[used], distributions[:, used] / masses[used])
        if not weights.all():
            return None
        profile, value = np.nonzero(distributions > 0)
        lifts = (np.arange(len(distributions))[:, None] == profile) / weights[:, None]
        return cls((weights[:, None] * distributions)[profile, value], each[value], lifts)

    def few(self, edges: int) -> bool:
        """Tell whether it is quick to list the posteriors of so many edges."""
        return (
            len(self.masses) <= LIMITS.listed_symbols
            and 2 * edges * len(self.masses) <= LIMITS.profile_numbers
            and bool(self.masses.min() >= TOLERANCES.close)
        )


@dataclass(frozen=True, eq=False)
class _OfValues(MutualInformation):
    """H(X | v) of posteriors of cells, where X is the value."""

    values: Floats

    def costs(self, posteriors: Floats) -> Floats:
        """Return the entropy of the value."""
        return super().costs(dot(posteriors, self.values))


def mix(task: ProfileTask, cells: Cells | None, ratio: float) -> Decomposition | None:
    """Return the best mixture of extreme posteriors for an E, if it is quick to list them."""
    problem = task.problem
    if cells is None or not cells.few(len(problem.edges)):
        return None
    cuts = comparison_rows(cells.lifts, *problem.directed_edges, ratio)
    clock = task.clock.part(1.0, gap=TOLERANCES.visible)
    try:
        vertices = enumerate_vertices(cuts, len(cells.masses), LIMITS.listed_vertices, clock)
    except (InputError, SetupTimedOut):
        return None
    utility = _OfValues(cells.values)
    found = generate_columns(cells.masses, utility, EnumeratedOracle(vertices, utility), clock)
    task.clock.spend(clock.work)
    return found


def list_posteriors(task: ProfileTask) -> Solution | None:
    """Return the optimum of one matrix for few values, its outputs named by likely values."""
    with extra("solver"):
        from scipy.optimize import linear_sum_assignment

    problem = task.problem
    cells = Cells.of(task, shared=True)
    found = mix(task, cells, problem.ratio)
    # The bound is proved for the budget itself, not for the slightly smaller one of the mixture.
    proved = mix(task, cells, problem.widen().ratio)
    if found is None or proved is None or cells is None:
        return None
    order = np.argsort(-found.weights, kind="stable")[: problem.values]
    joint = dot(found.columns[order] * found.weights[order, None], cells.values)
    outputs, names = linear_sum_assignment(joint, maximize=True)
    block = np.zeros((problem.values, problem.values))
    block[:, names] = joint[outputs].T
    # A value that no profile has follows what they release.
    block[block.sum(axis=1) == 0] = block.sum(axis=0)
    return _proved_solution(task, enforce_budget(problem, block[None]), proved.bound)


# --- climbing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Climb:
    """A local optimum: its blocks, its information, and that of every step that led there."""

    blocks: Floats
    information: float
    steps: tuple[float, ...]


def climb(programme: ProfileProgramme, start: Floats) -> Climb:
    """Go on for as long as it leads upwards."""
    goal, distributions = programme.task.goal, programme.problem.distributions
    best = start
    steps = [information(goal.joint(distributions, best))]
    while len(steps) < LIMITS.steps and programme.task.clock.left > 0:
        found, _, _ = programme.minimise_mean(-slopes(goal.joint(distributions, best)))
        height = information(goal.joint(distributions, found))
        if height <= steps[-1] + TOLERANCES.hair:
            break
        best = found
        steps.append(height)
    return Climb(best, steps[-1], tuple(steps))


def slopes(joint: Floats) -> Floats:
    """Return ln r_y(x), the logarithms of the posteriors; an unused output has the prior for one.

    >>> slopes(np.array([[0.5, 0.0], [0.25, 0.25]])).round(4).tolist()
    [[-0.4055, -27.631], [-1.0986, 0.0]]
    """
    totals, prior = joint.sum(axis=0, keepdims=True), joint.sum(axis=1, keepdims=True)
    posteriors = np.divide(
        joint, totals, out=np.repeat(prior, joint.shape[1], axis=1), where=totals > 0
    )
    slope: Floats = log(np.maximum(posteriors, TOLERANCES.hair))
    return slope


def best_climb(programme: ProfileProgramme, starts: Iterable[Floats]) -> Climb:
    """Climb from the starts and from seeded random losses; return the highest end."""
    generator = np.random.default_rng(0)
    width = programme.problem.values
    ends = [climb(programme, start) for start in starts]
    for number in range(min(LIMITS.climbs, LIMITS.simplex_flows // ends[0].blocks.size)):
        if programme.task.clock.left <= 0:
            break
        losses = generator.random((width, width))
        if number % 2:
            # Near the truth, but with some errors worse than others.
            losses = (losses + 0.5) * (1.0 - np.eye(width))
        ends.append(climb(programme, programme.minimise_mean(losses)[0]))
    return max(ends, key=lambda end: end.information)


def least_uncertainty(error: float, values: int) -> float:
    """Return the least H(X | Y) in nats when no guess from Y errs less often than `error`.

    Between the errors 1 - 1/k and 1 - 1/(k + 1) it is linear, from ln k to ln (k + 1): the entropy
    of a distribution whose likeliest value has a given chance is least when as many values as fit
    have the same chance, and the convex hull of that joins the even distributions.

    Source: math the entropy of a distribution by its largest chance.

    >>> round(least_uncertainty(0.5, 2), 6), round(least_uncertainty(0.25, 2), 6)
    (0.693147, 0.346574)
    """
    for even in range(1, values):
        low, high = 1.0 - 1.0 / even, 1.0 - 1.0 / (even + 1)
        if error <= high:
            share = max(error - low, 0.0) / (high - low)
            return float(log(even) + share * (log(even + 1) - log(even)))
    return float(log(values))


def _proved_solution(task: ProfileTask, blocks: Floats, least: float) -> Solution:
    """State what is known: the information, and the least H(X | Y) that was proved."""
    problem, goal, clock = task.problem, task.goal, task.clock
    reference = cost_of_no_release(task.utility, problem.masses)
    bound = min(max(0.0, least - TOLERANCES.hair), reference)
    proof = Optimality(
        goal.name,
        max(0.0, reference - information(goal.joint(problem.distributions, blocks))),
        bound,
        reference,
        seconds=clock.elapsed,
        stopped=clock.ended if clock.left <= 0 else "",
    )
    there = f"{reference - bound:.6g} of a value's {reference:.6g} nats"
    most = f"none of its kind has more than {there}"
    if problem.allows_nothing:
        return solution_of(task, blocks, proof, (NO_ROOM, most))
    said = proof.early_stop_remarks()
    if not said and proof.gap >= TOLERANCES.close:
        said = (LOCAL,)
    return solution_of(task, blocks, proof, (*said, most))


def ascend(task: ProfileTask) -> Solution:
    """Find blocks with much information about the value for somebody who does not know the profile.

    Source: 004 section 5.2 with mutual information for its objective.

    >>> from liftlock.model import ProfileGraph
    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.utility.profile_utility import ProfileUtility
    >>> graph = ProfileGraph.bernoulli(["0.5", "0.8"])
    >>> goal = ProfileUtility.of(graph, "mutual-information")
    >>> proved = ascend(ProfileTask.of(graph, ProfilePrivacy("0.5"), goal)).proof
    >>> round(proved.reference - proved.cost, 4), round(proved.reference, 4)
    (0.4934, 0.6474)
    """
    problem = task.problem
    task.clock.report_stage("climbing")
    programme = ProfileProgramme(task)
    truthful, bound, _ = programme.minimise_mean(1.0 - np.eye(problem.values))
    least = least_uncertainty(bound, problem.values)
    cells = None if task.shared else Cells.of(task, shared=False)
    listed = mix(task, cells, problem.widen().ratio)
    if listed is not None:
        least = max(least, listed.bound)
    if problem.allows_nothing and differing_parts(problem):
        return _proved_solution(task, zero_budget_blocks(task), least)
    starts = [
        truthful,
        enforce_budget(problem, np.tile(np.eye(problem.values), (task.blocks, 1, 1))),
    ]
    if task.shared:
        starts.append(ProfileProgramme(task).minimise_largest()[0])
    return _proved_solution(task, best_climb(programme, starts).blocks, least)
