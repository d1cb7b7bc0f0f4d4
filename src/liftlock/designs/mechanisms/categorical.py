"""Categorical mechanisms for profiles: the least corruption that every edge allows.

*Smooth*: every profile has its own matrix A^i. They minimise max_{i, x != y} A^i(x, y) subject to
(P_i A^i)(y) <= E (P_j A^j)(y) for every edge and value; of all such, those that are wrong least
often on average. Any other aim of profiles can be asked for instead.

*Shared*: one matrix for all profiles, for those who may not say which is theirs,

    minimise the largest off-diagonal entry of A   subject to
    sum_x (P_i(x) / E - P_j(x)) A_xy <= 0   for every edge, both ways, and every output y,

and of all that do, the least mean chance of a wrong value; or any other aim instead. Randomised
response is one such matrix, so the best is at least as good.
"""

from __future__ import annotations

from collections.abc import Callable

from liftlock._runtime.clock import Clock
from liftlock._runtime.progress import Progress
from liftlock._solver.blocks import NO_ROOM, differing_parts, zero_budget_blocks
from liftlock._solver.problem import ProfileTask, Step
from liftlock._solver.strategies import solve
from liftlock.designs.base import Design, Draft, draft_of_blocks, draft_of_profiles
from liftlock.model import ProfileGraph
from liftlock.notions.base import Notion
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
        task.explain_step(Step("strategy", "constant", "a budget of 0 leaves nothing to choose"))
        said = (NO_ROOM,) if differing_parts(task.problem) else ()
        return draft_of_blocks(task.problem, zero_budget_blocks(task), remarks=said)
    return draft_of_profiles(task, solve(task))


SMOOTH_CATEGORICAL = Design(
    key="smooth-categorical",
    make=smooth_categorical,
    summary="a matrix for each profile, the best for the aim that every edge allows",
    promises="optimal within the certified gap that is printed with it",
    source="004 eq. (6), Alg 4, Thm 8",
    notions=("profile",),
    contexts=("profiles",),
    by_profile=True,
    uses_utility=True,
    options={"seconds": "time limit in seconds; the best mechanism so far is used"},
)


def shared_categorical(
    graph: ProfileGraph,
    notion: Notion,
    *,
    utility: ProfileUtility | None = None,
    seconds: float | None = None,
    watch: Progress | None = None,
    explain: Callable[[Step], None] | None = None,
) -> Draft:
    """Corrupt values as little as one matrix for all profiles allows.

    Source: 004 eq. (6) with A^1 = ... = A^k, Thm 9.

    >>> from liftlock.notions.profile import ProfilePrivacy
    >>> graph = ProfileGraph.bernoulli(["0.5", "0.8", "0.9"])
    >>> draft = shared_categorical(graph, ProfilePrivacy("0.5"))
    >>> draft.matrix.round(4).tolist()
    [[0.8279, 0.1721], [0.1721, 0.8279]]
    """
    goal = ProfileUtility.of(graph) if utility is None else utility
    clock = Clock(seconds=seconds, watch=watch)
    task = ProfileTask.of(graph, notion, goal, clock=clock, shared=True, explain=explain)
    return draft_of_profiles(task, solve(task))


SHARED_CATEGORICAL = Design(
    key="shared-categorical",
    make=shared_categorical,
    summary="one matrix for all profiles: whoever releases need not say, or know, which is theirs",
    promises="the best of all that ignore the profile; for information only of up to 8 values",
    source="004 eq. (6), Thm 9",
    notions=("profile",),
    contexts=("profiles",),
    uses_utility=True,
    kind="with one matrix for all",
    options={"seconds": "time limit in seconds; the best matrix so far is used"},
)
