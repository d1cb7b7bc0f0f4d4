"""Smooth Categorical: every profile its own matrix, the least largest entry off the diagonals.

The matrices A^i minimise max_{i, x != y} A^i(x, y) subject to (P_i A^i)(y) <= E (P_j A^j)(y) for
every edge and value; of all such, those that are wrong least often on average. Any other aim of
profiles can be asked for instead.
"""

from __future__ import annotations

from collections.abc import Callable

from liftlock._solver.blocks import NO_ROOM, differing, without_budget
from liftlock._solver.clock import Clock
from liftlock._solver.problem import ProfileTask, Step
from liftlock._solver.strategies import solve
from liftlock.contexts import ProfileGraph
from liftlock.designs.base import Design, Draft, draft_of_blocks, draft_of_profiles
from liftlock.notions.base import Notion
from liftlock.progress import Progress
from liftlock.utility.profile_utility import ProfileUtility


def smooth_categorical(
    graph: ProfileGraph,
    notion: Notion,
    *,
    utility: ProfileUtility | None = None,
    seconds: float | None = None,
    watch: Progress | None = None,
    explain: Callable[[Step], None] | None = None,
) -> Draft:
    """Find the matrices that corrupt values least, one for each profile.

    A search that is stopped, by `seconds` or Ctrl-C, returns the best matrices so far with the gap
    that it could prove. `explain` is told what is done.

    Source: 004 eq. (6), Alg 4, Thm 8.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> draft = smooth_categorical(ProfileGraph.bernoulli(["0.8", "0.9"]), ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.9791, 0.0209], [0.0, 1.0], [1.0, 0.0], [0.0209, 0.9791]]
    """
    goal = ProfileUtility.of(graph) if utility is None else utility
    clock = Clock(seconds=seconds, watch=watch)
    task = ProfileTask.of(graph, notion, goal, clock=clock, explain=explain)
    if task.problem.allows_nothing:
        task.say(Step("strategy", "constant", "a budget of 0 leaves nothing to choose"))
        said = (NO_ROOM,) if differing(task.problem) else ()
        return draft_of_blocks(task.problem, without_budget(task), DESIGN.key, remarks=said)
    return draft_of_profiles(task, solve(task), DESIGN.key)


DESIGN = Design(
    key="smooth-categorical",
    make=smooth_categorical,
    says="a matrix for each profile, the best for the aim that every edge allows",
    promises="optimal within the certified gap that is printed with it",
    source="004 eq. (6), Alg 4, Thm 8",
    notions=("profile",),
    contexts=("profiles",),
    by_profile=True,
    uses_utility=True,
    options={"seconds": "stop after so many seconds with the best mechanism so far"},
)
