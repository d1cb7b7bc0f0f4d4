"""The optimal mechanism: the least cost that the notion allows, with a proof of how close it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from liftlock._solver.oracle import Clock
from liftlock._solver.problem import Problem, Solution, Step, Task
from liftlock._solver.strategies import AUTO, WAYS, check_way, memory, solve
from liftlock.alphabet import Alphabet
from liftlock.context import Context
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design, Draft
from liftlock.designs.mechanisms.subset_merging import safe_subsets
from liftlock.designs.merging import Pool
from liftlock.exact.integers import Floats
from liftlock.memory import TABLE
from liftlock.notions.base import Notion
from liftlock.progress import Progress
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility

GAP = 1e-6
"""The relative gap that is proved unless another is asked for."""


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
    >>> from liftlock.prior import Prior
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
    return draft_of(solve(task), context.inputs, DESIGN.key)


def draft_of(solution: Solution, inputs: Alphabet, method: str) -> Draft:
    """Make the draft of what the solver found."""
    return Draft.of(
        inputs,
        solution.outputs,
        solution.matrix,
        method=method,
        optimality=solution.proof,
        remarks=solution.remarks,
    )


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


DESIGN = Design(
    key="optimal",
    make=optimal,
    says="the best mechanism that the notion allows, for the utility that is asked for",
    promises="optimal within the certified gap that is printed with it",
    source="002 eq. (12); 000 section IV; 001 section IV",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=PRIOR_KINDS,
    uses_utility=True,
    memory=memory_of,
    options={
        "gap": "the relative gap to prove before stopping (1e-6)",
        "seconds": "stop after so many seconds with the best mechanism so far",
        "how": f"{', '.join(WAYS[:-1])} or {WAYS[-1]}",
    },
)
