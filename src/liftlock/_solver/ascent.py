"""Mutual information: climbing from several starts, since there is no concave hill to climb.

I(X; Y) of the mixture of all profiles is convex in the channel: whatever the posteriors r_y(x), it
is at least H(X) + sum_xy J(x, y) ln r_y(x), with equality for the posteriors of the joint
distribution J itself. So the channel that is best for the posteriors of another, a linear
programme, has at least as much information as that one. Repeated, it ends in a vertex that no step
leaves.

How much more there could be is bounded by how often the value can be guessed: a guess from Y is
itself a mechanism, so nobody guesses wrong less often than the least mean chance of a wrong value,
and H(X | Y) is at least what such a chance of error implies. For few profiles and values all
extreme posteriors are listed instead, which bounds it more tightly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from liftlock._solver.limits import TOLERANCES
from liftlock._solver.optimality import Optimality
from liftlock._solver.oracle import Clock
from liftlock._solver.profile_enumeration import Cells, list_all
from liftlock._solver.profile_problem import ProfileProblem, part_noise, response
from liftlock._solver.profile_programme import (
    NO_ROOM,
    Flows,
    mean_bound,
    shares,
    without_budget,
)
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot, log
from liftlock.progress import Progress
from liftlock.utility.profile_utility import ProfileUtility, information

_STEPS = 200
_STARTS, _WORK = 12, 20_000
"""How many random losses give a start each, fewer if these many probabilities are exceeded."""

LOCAL = (
    "the most information that climbing from several starts found: nothing near it is better, "
    "but something far from it may be"
)

Solve = Callable[[Floats], Floats]
"""From a loss of each value and output to the blocks of the least mean loss."""


@dataclass(frozen=True)
class Climb:
    """A local optimum: its blocks, its information, and that of every step that led there."""

    blocks: Floats
    information: float
    steps: tuple[float, ...]


def climb(
    problem: ProfileProblem, goal: ProfileUtility, start: Floats, solve: Solve, clock: Clock
) -> Climb:
    """Go on for as long as it leads upwards."""
    best = start
    steps = [information(goal.joint(problem.laws, best))]
    while len(steps) < _STEPS and clock.left > 0:
        found = solve(-slopes(goal.joint(problem.laws, best)))
        height = information(goal.joint(problem.laws, found))
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


def highest(
    problem: ProfileProblem,
    goal: ProfileUtility,
    starts: Iterable[Floats],
    solve: Solve,
    clock: Clock,
) -> Climb:
    """Climb from the starts and from seeded random losses; return the highest end."""
    generator = np.random.default_rng(0)
    width = problem.values
    best: Climb | None = None
    for start in starts:
        found = climb(problem, goal, start, solve, clock)
        if best is None or found.information > best.information:
            best = found
    assert best is not None
    for number in range(min(_STARTS, _WORK // best.blocks.size)):
        if clock.left <= 0:
            break
        losses = generator.random((width, width))
        if number % 2:
            # Near the truth, but with some errors worse than others.
            losses = (losses + 0.5) * (1.0 - np.eye(width))
        found = climb(problem, goal, solve(losses), solve, clock)
        if found.information > best.information:
            best = found
    return best


def least_uncertainty(error: float, values: int) -> float:
    """Return the least H(X | Y) in nats when no guess from Y errs less often than `error`.

    Between the errors 1 - 1/k and 1 - 1/(k + 1) it is linear, from ln k to ln (k + 1): the entropy
    of a law whose likeliest value has a given chance is least when as many values as fit have the
    same chance, and the convex hull of that joins the even laws.

    Source: math the entropy of a law by its largest chance.

    >>> round(least_uncertainty(0.5, 2), 6), round(least_uncertainty(0.25, 2), 6)
    (0.693147, 0.346574)
    """
    for even in range(1, values):
        low, high = 1.0 - 1.0 / even, 1.0 - 1.0 / (even + 1)
        if error <= high:
            share = max(error - low, 0.0) / (high - low)
            return float(log(even) + share * (log(even + 1) - log(even)))
    return float(log(values))


def proof(
    problem: ProfileProblem, goal: ProfileUtility, blocks: Floats, least: float, clock: Clock
) -> tuple[Optimality, tuple[str, ...]]:
    """State what is known: the information, and the least H(X | Y) that was proved."""
    masses = dot(goal.weights, problem.laws)
    used = masses[masses > 0]
    entropy = max(0.0, float(-(used * log(used)).sum()))
    bound = min(max(0.0, least - TOLERANCES.hair), entropy)
    proved = Optimality(
        goal.name,
        max(0.0, entropy - information(goal.joint(problem.laws, blocks))),
        bound,
        entropy,
        seconds=clock.elapsed,
        stopped=clock.ended if clock.left <= 0 else "",
    )
    most = f"none of its kind has more than {entropy - bound:.6g} of a value's {entropy:.6g} nats"
    if problem.ratio == 1.0:
        return proved, (NO_ROOM, most)
    if proved.stopped:
        return proved, (*proved.stopped_early(), most)
    return proved, (most,) if proved.gap < TOLERANCES.close else (LOCAL, most)


def most_information(
    problem: ProfileProblem,
    goal: ProfileUtility,
    *,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> tuple[Floats, Optimality | None, tuple[str, ...]]:
    """Find blocks with much information about the value for somebody who does not know the profile.

    Source: 004 section 5.2 with mutual information for its objective.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> from liftlock.profile_graph import ProfileGraph
    >>> graph = ProfileGraph.bernoulli(["0.5", "0.8"])
    >>> problem = ProfileProblem.of(graph, ProfilePrivacy("0.5"))
    >>> blocks, proved, _ = most_information(
    ...     problem, ProfileUtility.of(graph, "mutual-information")
    ... )
    >>> round(proved.reference - proved.cost, 4), round(proved.reference, 4)
    (0.4934, 0.6474)
    """
    clock = Clock(seconds=seconds, watch=watch)
    clock.tell("climbing")
    flows = Flows(problem, clock=clock)
    weights = shares(goal.weights)[:, None, None]
    wrong = 1.0 - np.eye(problem.values)

    def solve(losses: Floats) -> Floats:
        return flows.least(weights * losses)[0]

    simple = response(problem.values, part_noise(problem, problem.laws))
    truthful, bound, _ = flows.least(weights * wrong)
    least = least_uncertainty(mean_bound(bound, goal.weights, 1.0), problem.values)
    listed = list_all(problem, Cells.each(problem, goal))
    if listed is not None:
        least = max(least, listed.bound)
    if problem.ratio == 1.0:
        blocks = without_budget(problem, goal)
    else:
        blocks = highest(problem, goal, (truthful, simple), solve, clock).blocks
    proved, remarks = proof(problem, goal, blocks, least, clock)
    return blocks, proved, remarks
