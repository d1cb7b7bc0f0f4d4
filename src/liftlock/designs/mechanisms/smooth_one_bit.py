"""Smooth one bit: a flipping probability for each profile, far from costly edges a small one.

With D_i = p_i + (1 - 2 p_i) alpha_i, the chance that profile i releases a 1,

    minimise max_i alpha_i   subject to   0 <= alpha_i <= 1/2,
    D_i <= E D_j   and   1 - D_j <= E (1 - D_i)   for every edge, both ways,

and of all that do, the least mean of the alphas.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liftlock._runtime.clock import Clock
from liftlock._runtime.progress import Progress
from liftlock._solver.blocks import (
    NO_ROOM,
    differing_parts,
    enforce_budget,
    mean_bound,
    response,
    shares,
)
from liftlock._solver.problem import Optimality, ProfileProblem
from liftlock.designs.base import Design, Draft, draft_of_blocks
from liftlock.errors import InputError, NotDefined, extra
from liftlock.exact.integers import Floats
from liftlock.exact.linear_programme import LinearProgramme, Solver, safe_bound
from liftlock.model import ProfileGraph
from liftlock.notions.base import Notion
from liftlock.utility.profile_utility import ProfileUtility

_HAIR = 1e-11
"""How much of the largest flip the second stage may give away: nothing but rounding."""


def smooth_one_bit(
    graph: ProfileGraph,
    notion: Notion,
    *,
    utility: ProfileUtility | None = None,
    seconds: float | None = None,
    watch: Progress | None = None,
) -> Draft:
    """Flip the bit of each profile as seldom as its neighbours allow.

    Source: 004 eq. (5), Alg 3, Thm 7.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.5", "0.8", "0.9"])
    >>> draft = smooth_one_bit(graph, ProfilePrivacy("0.5"))
    >>> draft.matrix[::2, 1].round(4).tolist()  # how often a 0 becomes a 1
    [0.0, 0.1721, 0.1049]
    """
    problem = ProfileProblem.of(graph, notion)
    goal = ProfileUtility.of(graph) if utility is None else utility
    if problem.values != 2:
        raise InputError(
            "smooth-one-bit is for two values",
            value=graph.describe(),
            remedy="use smooth-categorical",
        )
    if goal.name not in ("minimax", "hamming"):
        raise NotDefined(
            "the method smooth-one-bit",
            f"the aim {goal.name}",
            "use minimax or hamming, or the method smooth-categorical",
        )
    clock = Clock(seconds=seconds, watch=watch)
    clock.report_stage("flips")
    flips, bound, solved = least_flips(problem, goal, clock)
    remarks: tuple[str, ...] = ()
    if problem.ratio == 1.0 and (parts := differing_parts(problem)):
        flips[np.concatenate(parts)] = 0.5
        remarks = (NO_ROOM,)
    blocks = enforce_budget(problem, response(2, 2.0 * flips))
    proved = Optimality(
        goal.name,
        goal.value(problem.distributions, blocks),
        bound,
        goal.value_of_no_release(problem.distributions),
        seconds=clock.elapsed,
        stopped="" if solved else clock.ended or "stuck",
    )
    return draft_of_blocks(
        problem, blocks, optimality=proved, remarks=(*proved.early_stop_remarks(), *remarks)
    )


def least_flips(
    problem: ProfileProblem, goal: ProfileUtility, clock: Clock
) -> tuple[Floats, float, bool]:
    """Return the flips, a lower bound of what the aim asks to be least, and whether all is solved.

    Flips of a search that was stopped may still break edges.
    """
    with extra("solver"):
        from scipy.sparse import csr_matrix, identity, vstack

    ones = problem.distributions[:, 1]
    size, weights = len(ones), shares(goal.weights)
    minimax = goal.name == "minimax"
    program = LinearProgramme()
    flips = program.add_variables(np.zeros(size) if minimax else weights, most=0.5)
    largest = program.add_variables(np.array([float(minimax)]), most=0.5)
    column = csr_matrix(np.ones((size, 1)))
    program.add_rows([(flips, identity(size)), (largest, -column)], -np.inf, 0.0)
    rows, ends = edge_rows(problem, problem.ratio)
    program.add_rows([(flips, rows)], -np.inf, ends)
    solver = Solver(program, clock=clock)
    solver.set_bounds(np.zeros(size + 1), np.full(size + 1, 0.5))
    found = solver.solve()
    if not len(found.values):
        # To a budget of 0 rounding may look like a contradiction.
        return np.full(size, 0.5), 0.0, False
    # The bound is proved for the budget itself, not for the slightly smaller one of the search.
    wide, wide_ends = edge_rows(problem, problem.widen().ratio)
    bound = safe_bound(
        solver.cost,
        solver.least,
        solver.most,
        vstack([solver.matrix[:size], wide]),
        solver.lower,
        np.concatenate([np.zeros(size), wide_ends]),
        found.prices,
    )
    if not minimax:
        bound = mean_bound(bound, goal.weights, 0.5)
    if minimax and found.solved:
        most = np.full(size + 1, min(float(found.values[largest]) + _HAIR, 0.5))
        solver.set_bounds(np.zeros(size + 1), most)
        solver.set_costs(np.append(weights, 0.0))
        second = solver.solve()
        if second.solved and len(second.values):
            found = second
    return np.clip(found.values[:size], 0.0, 0.5), max(bound, 0.0), found.solved


def edge_rows(problem: ProfileProblem, ratio: float) -> tuple[Any, Floats]:
    """Return the edges as rows . flips <= ends, each way and for each output.

    Both sides are divided by E, which may be large. A last column, of zeros, is the largest flip's.
    """
    with extra("solver"):
        from scipy.sparse import coo_matrix, vstack

    size = len(problem.distributions)
    more, less = np.concatenate([problem.edges, problem.edges[:, ::-1]]).T
    count, blocks, ends = len(more), [], []
    places = np.tile(np.arange(count), 2)
    for output in (0, 1):
        distribution = problem.distributions[:, output]
        slope = 1.0 - 2.0 * distribution
        values = np.concatenate([slope[more] / ratio, -slope[less]])
        columns = np.concatenate([more, less])
        blocks.append(coo_matrix((values, (places, columns)), (count, size + 1)))
        ends.append(distribution[less] - distribution[more] / ratio)
    return vstack(blocks), np.concatenate(ends)


DESIGN = Design(
    key="smooth-one-bit",
    make=smooth_one_bit,
    summary="one bit: a flipping probability for each profile, small where its "
    "neighbours are alike",
    promises="the least of all that flip both values of a profile alike, at most half of the time",
    source="004 eq. (5), Alg 3, Thm 7",
    notions=("profile",),
    contexts=("profiles",),
    fits=lambda graph: len(graph.inputs) == 2,
    by_profile=True,
    needs="two values",
    uses_utility=True,
    kind="with one flip of at most 1/2 for each profile",
    options={"seconds": "time limit in seconds; the best flips so far are used"},
)
