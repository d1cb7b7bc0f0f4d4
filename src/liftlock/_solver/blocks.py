"""Channels for a graph of profiles: how much even noise makes one keep every edge.

A channel is `blocks` of shape (profiles, values, outputs), or (1, values, outputs) when it ignores
the profile; outputs are values. Solvers leave a hair open, and so does rounding: a hair of evenly
drawn outputs closes it.
"""

from __future__ import annotations

import numpy as np

from liftlock._solver.problem import Optimality, ProfileProblem, ProfileTask, Solution
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import GRAIN
from liftlock.exact.tolerances import TOLERANCES

NO_ROOM = (
    "a budget of 0 leaves no room for rounding: joined profiles that differ release a constant; a "
    "tiny budget, such as 1e-5, may allow much more"
)


def response(values: int, noise: Floats) -> Floats:
    """Return blocks that keep a value, or with a probability `noise` draw any value afresh.

    >>> response(2, np.array([0.5])).tolist()
    [[[0.75, 0.25], [0.25, 0.75]]]
    """
    kept = np.eye(values)[None, :, :] * (1.0 - noise)[:, None, None]
    blocks: Floats = kept + noise[:, None, None] / values
    return blocks


def edge_noise(first: Floats, second: Floats, ratio: float, rounding: float = 0.0) -> Floats:
    """Return the least s that makes pairs of distributions (rows) indistinguishable.

    They stay so if afterwards every probability is moved by `rounding`, either way.

    Source: 004 eq. (4), Obs 10 with numerators clipped at 0.

    >>> bits = np.array([[0.2, 0.8]]), np.array([[0.1, 0.9]])
    >>> (edge_noise(*bits, np.exp(0.5)) / 2).round(4).tolist()  # the flipping probability
    [0.0489]
    """
    apart = np.maximum(first - ratio * second, second - ratio * first)
    # Probabilities that are the same are moved alike.
    excess = np.where(first != second, apart, -np.inf).max(axis=1)
    needed = excess + rounding * (1.0 + ratio)
    room = np.maximum(excess + (ratio - 1.0) / first.shape[1], needed)
    noise: Floats = np.divide(needed, room, out=np.zeros_like(excess), where=needed > 0)
    return noise


def part_noise(problem: ProfileProblem, released: Floats) -> Floats:
    """Return for each profile the s that the costliest edge of its part needs.

    `released` are the distributions to be kept apart: those of the data, or of an output that
    breaks the budget.

    >>> from liftlock.model import ProfileGraph
    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.8", "0.9", "0.5"], [("0.8", "0.9")])
    >>> part_noise(ProfileProblem.of(graph, ProfilePrivacy("0.5")), graph.distributions).round(
    ...     4
    ... ).tolist()
    [0.0977, 0.0977, 0.0]
    """
    parts = problem.context.components
    worst = np.zeros(len(parts))
    part_of = np.empty(len(problem.distributions), dtype=np.intp)
    for number, part in enumerate(parts):
        part_of[list(part)] = number
    if len(problem.edges):
        first, second = problem.edges.T
        # Locking moves probabilities, and small ones would lose the promise to it.
        rounding = 2.0 * GRAIN if problem.ratio > 1.0 else 0.0
        needed = edge_noise(released[first], released[second], problem.ratio, rounding)
        np.maximum.at(worst, part_of[first], needed)
    noise: Floats = worst[part_of]
    return noise


def enforce_budget(problem: ProfileProblem, blocks: Floats) -> Floats:
    """Make a channel keep the budget by drawing outputs evenly, as seldom as that is enough.

    >>> from liftlock.model import ProfileGraph
    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> warner = ProfileProblem.of(ProfileGraph.bernoulli([0, 1]), ProfilePrivacy("ln 3"))
    >>> enforce_budget(warner, np.eye(2)[None, :, :]).round(6).tolist()
    [[[0.75, 0.25], [0.25, 0.75]]]
    """
    rows = np.clip(blocks, 0.0, None)
    rows = rows / rows.sum(axis=2, keepdims=True)
    noise = part_noise(problem, problem.released(rows))
    if len(blocks) == 1:
        noise = noise.max(keepdims=True)
    mixed: Floats = (1.0 - noise)[:, None, None] * rows + noise[:, None, None] / problem.values
    return mixed


def differing_parts(problem: ProfileProblem) -> list[list[int]]:
    """Return the connected parts whose profiles are not all the same, as positions."""
    parts = [list(part) for part in problem.context.components]
    return [part for part in parts if np.ptp(problem.distributions[part], axis=0).any()]


def zero_budget_blocks(task: ProfileTask) -> Floats:
    """Return what can be released under a budget of 0, which rounded tables keep by saying nothing.

    Parts whose profiles are all the same release their values, unless one matrix is for all.

    >>> from liftlock.model import ProfileGraph
    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.utility.profile_utility import ProfileUtility
    >>> graph = ProfileGraph.bernoulli(["0.2", "0.9", "0.5"], [("0.2", "0.9")])
    >>> goal = ProfileUtility.of(graph, "hamming")
    >>> zero_budget_blocks(ProfileTask.of(graph, ProfilePrivacy(0), goal))[:, 0, 1].tolist()
    [1.0, 1.0, 0.0]
    """
    problem, goal = task.problem, task.goal
    width, losses = problem.values, goal.losses(problem.values)
    blocks = np.repeat(np.eye(width)[losses.argmin(axis=1)][None, :, :], task.blocks, axis=0)
    every = list(range(len(problem.distributions)))
    for part in [every] if task.shared else differing_parts(problem):
        row = np.full(width, 1.0 / width)
        if goal.name not in ("minimax", "mutual-information"):
            masses = dot(goal.weights[part], problem.distributions[part])
            row = np.eye(width)[int((dot(masses, losses)).argmin())]
        blocks[[0] if task.shared else part] = row
    return blocks


def shares(weights: Floats) -> Floats:
    """Return weights of mean 1 for a solver, if their sum is 1; a weight of 0 is next to nothing.

    >>> shares(np.array([0.25, 0.75, 0.0])).tolist()
    [0.75, 2.25, 1e-09]
    """
    # Nobody should be ruined for nothing.
    scaled: Floats = np.where(weights > 0, weights * len(weights), TOLERANCES.visible)
    return scaled


def mean_bound(bound: float, weights: Floats, most: float) -> float:
    """Return what a bound of the sum with `shares` proves of the mean; no loss is above `most`.

    >>> mean_bound(0.5, np.array([0.25, 0.75]), 1.0)
    0.25
    """
    unweighted = TOLERANCES.visible * int((weights == 0).sum())
    return max((bound - unweighted * most) / len(weights), 0.0)


def solution_of(
    task: ProfileTask, blocks: Floats, proof: Optimality, remarks: tuple[str, ...] = ()
) -> Solution:
    """Return the solution that blocks are, one below the other."""
    values = task.problem.values
    return Solution(blocks.reshape(-1, values), task.problem.inputs, proof, remarks)
