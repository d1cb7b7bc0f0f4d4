"""The optimum: the least cost that the notion allows, with a proof of how close it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from liftlock._solver.clock import Clock
from liftlock._solver.problem import Problem, Step, Task
from liftlock._solver.strategies import AUTO, WAYS, check_way, memory, solve
from liftlock.contexts import Context
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design, Draft, draft_of
from liftlock.designs.mechanisms.merging import Pool, safe_subsets
from liftlock.exact.integers import Floats
from liftlock.memory import TABLE
from liftlock.notions.base import Notion
from liftlock.progress import Progress
from liftlock.utility.symmetric import MutualInformation
from liftlock.utility.utility import Utility

GAP = 1e-6
"""The relative gap that is proved unless another is asked for."""
LIMITS_OF_SEARCH = {
    "gap": "the relative gap to prove before stopping (1e-6)",
    "seconds": "time limit in seconds; the best mechanism so far is used",
}
"""What the options of a search for the optimum mean."""


def optimal(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = GAP,
    seconds: float | None = None,
    watch: Progress | None = None,
    how: str = AUTO,
    explain: Callable[[Step], None] | None = None,
) -> Draft:
    """Find the best mechanism that a notion allows, for any concave cost of the posterior.

    A mechanism is a mixture of posteriors whose mean is the prior, so the best one is a linear
    programme over the extreme posteriors that the notion allows:

        minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X.

    Reductions make the problem smaller, and the first strategy that is best for what is left
    solves it: two tables say which. A lower bound proves the gap, less all that rounding may have
    added to it. A search that is stopped (by `seconds` or Ctrl-C) returns the best mechanism so
    far, with the gap that it could prove. `explain` is told what is done.

    Source: 002 eq. (12), eq. (25); 000 eq. (18).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.contexts import Prior
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> draft = optimal(rare, LIP("1"))
    >>> round(draft.optimality.reference - draft.optimality.cost, 10)  # H(X) - H(X | Y)
    0.1977374041
    """
    check_way(how)
    goal = utility if utility is not None else MutualInformation()
    clock = Clock(gap=gap, seconds=seconds, watch=watch)
    task = Task(
        Problem.of(context, notion), goal, clock, how, begin=start_by_merging, explain=explain
    )
    return draft_of(solve(task), context.inputs)


def start_by_merging(problem: Problem) -> Floats:
    """Return the posteriors of subset merging: a mechanism to start from, found in one pass."""
    pool = Pool.of(problem.context, problem.notion)
    groups = safe_subsets(pool, *pool.split())
    columns = np.zeros((len(groups), len(problem.masses)))
    for column, group in zip(columns, groups, strict=True):
        column[group] = problem.masses[group]
    posteriors: Floats = columns / columns.sum(axis=1, keepdims=True)
    return posteriors


def memory_of(context: Context, notion: Notion, utility: Utility) -> float:
    """Return the bytes that the search and its result take: the arrays of the way that is taken."""
    table = TABLE * float(len(context.inputs)) ** 2
    return table + memory(Task(Problem.of(context, notion), utility))


OPTIMAL = Design(
    key="optimal",
    make=optimal,
    says="the best mechanism that the notion allows, for the given utility",
    promises="optimal within the certified gap that is printed with it",
    source="002 eq. (12); 000 section IV; 001 section IV",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=PRIOR_KINDS,
    uses_utility=True,
    memory=memory_of,
    options={
        **LIMITS_OF_SEARCH,
        "how": f"{', '.join(WAYS[:-1])} or {WAYS[-1]}",
    },
)


def optimal_response(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = GAP,
    seconds: float | None = None,
    watch: Progress | None = None,
    how: str = AUTO,
    explain: Callable[[Step], None] | None = None,
) -> Draft:
    """Maximise I(X; Y) under the notion, whatever the utility it is then judged by.

    The papers list every vertex of the polytope of allowed posteriors (`how="enumeration"`) and
    choose among them by a linear programme. That ends at some 17 symbols. `how="generation"` makes
    the vertices as they are needed, with the same result.

    Source: 002 eq. (12), eq. (15).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.contexts import Prior
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> draft = optimal_response(rare, LIP("1"), how="enumeration")
    >>> round(draft.optimality.reference - draft.optimality.cost, 10)  # I(X; Y)
    0.1977374041
    """
    found = optimal(
        context,
        notion,
        utility=MutualInformation(),
        gap=gap,
        seconds=seconds,
        watch=watch,
        how=how,
        explain=explain,
    )
    if utility is None or utility.name == MutualInformation.name:
        return found
    # The proof speaks of mutual information, and says nothing of another utility.
    remark = f"made for mutual information, not for {utility.name}: method optimal would be better"
    return replace(found, optimality=None, remarks=(*found.remarks, remark))


OPTIMAL_RESPONSE = Design(
    key="optimal-response",
    make=optimal_response,
    says="the papers' optimal random response: the most mutual information that the notion allows",
    promises="optimal for mutual information within the certified gap",
    source="002 eq. (12)",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("prior", "joint"),
    options={
        **LIMITS_OF_SEARCH,
        "how": "auto, generation or enumeration (list every vertex, as in the papers)",
    },
)


def staircase(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = GAP,
    seconds: float | None = None,
) -> Draft:
    """Find the channel of the least cost among those whose likelihoods differ by at most e^epsilon.

    Each output has likelihoods m and e^epsilon m only, hence the name. Expected distortions are a
    linear programme with one extra variable for each output; other utilities are a linear programme
    over staircases, all of them listed up to 16 symbols. With a joint, what is protected is the
    secret, and the likelihoods are P(y | s).

    An input of probability 0 answers like the most likely input, which keeps every ratio.

    Source: 000 Def 1, section V; 001 section V, where k-ary randomised response is called optimal.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.contexts import Prior
    >>> from liftlock.utility.symmetric import Histogram
    >>> draft = staircase(Prior.uniform(range(5)), LDP("1"), utility=Histogram())
    >>> round(draft.optimality.cost, 4), len(draft.outputs)
    (0.7477, 5)
    """
    return optimal(context, notion, utility=utility, gap=gap, seconds=seconds)


STAIRCASE = Design(
    key="staircase",
    make=staircase,
    says="the best mechanism under local differential privacy, for the given utility",
    promises="optimal within the certified gap that is printed with it",
    source="000 Def 1; 001 section V, where k-RR is called optimal and is not",
    notions=("ldp",),
    contexts=("prior", "joint"),
    uses_utility=True,
    options=LIMITS_OF_SEARCH,
)
