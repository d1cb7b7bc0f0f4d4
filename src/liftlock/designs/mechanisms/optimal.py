"""The optimum: the least cost that the notion allows, with a proof of how close it is.

Special cases are mutual information (`optimal_response`), LDP (`staircase`), and two symbols
(`binary`), where it has a closed form that is the same for every utility.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from liftlock._runtime.clock import Clock
from liftlock._runtime.memory import TABLE
from liftlock._runtime.progress import Progress
from liftlock._solver.problem import Problem, Step, Task
from liftlock._solver.strategies import AUTO, STRATEGY_NAMES, check_strategy, memory, solve
from liftlock._solver.two_values import Flips, least_flips, second_range
from liftlock.designs.base import (
    LIFT_NOTIONS,
    PRIOR_KINDS,
    Design,
    Draft,
    draft_of,
    few_outputs_memory,
)
from liftlock.designs.mechanisms.watchdog import Pool, safe_subsets
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats
from liftlock.model import Context
from liftlock.model.alphabet import Alphabet
from liftlock.notions.base import Notion
from liftlock.notions.guarantee import Wanted
from liftlock.utility.base import Utility
from liftlock.utility.symmetric import MutualInformation

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
    beside: Sequence[Wanted] = (),
) -> Draft:
    """Find the best mechanism that a notion allows, for any concave cost of the posterior.

    A mechanism is a mixture of posteriors whose mean is the prior, so the best one is a linear
    programme over the extreme posteriors that the notion allows:

        minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X.

    Reductions make the problem smaller, and the first strategy that is best for what is left
    solves it: two tables say which. A lower bound proves the gap, less all that rounding may have
    added to it. A search that is stopped (by `seconds` or Ctrl-C) returns the best mechanism so
    far, with the gap that it could prove. `explain` is told what is done. With `beside` it is the
    best of those that keep other guarantees too, about other secrets or X itself.

    Source: 002 eq. (12), eq. (25); 000 eq. (18).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> draft = optimal(rare, LIP("1"))
    >>> round(draft.optimality.reference - draft.optimality.cost, 10)  # H(X) - H(X | Y)
    0.1977374041
    """
    check_strategy(how)
    goal = utility if utility is not None else MutualInformation()
    clock = Clock(gap=gap, seconds=seconds, watch=watch)
    problem = Problem.of_several(context, notion, beside)
    begin = None if beside else start_by_merging
    task = Task(problem, goal, clock, how, begin=begin, explain=explain)
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


def memory_of(
    context: Context, notion: Notion, utility: Utility, beside: Sequence[Wanted] = ()
) -> float:
    """Return the bytes that the search and its result take: the arrays of the way that is taken."""
    table = TABLE * float(len(context.inputs)) ** 2
    return table + memory(Task(Problem.of_several(context, notion, beside), utility))


OPTIMAL = Design(
    key="optimal",
    make=optimal,
    summary="the best mechanism that the notion allows, for the given utility",
    promises="optimal within the certified gap that is printed with it",
    source="002 eq. (12); 000 section IV; 001 section IV",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=(*PRIOR_KINDS, "given"),
    uses_utility=True,
    memory=memory_of,
    options={
        **LIMITS_OF_SEARCH,
        "how": f"{', '.join(STRATEGY_NAMES[:-1])} or {STRATEGY_NAMES[-1]}",
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
    >>> from liftlock.model import Prior
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
    summary="the papers' optimal random response: the most mutual information that "
    "the notion allows",
    promises="optimal for mutual information within the certified gap",
    source="002 eq. (12)",
    published=("lip", "alip"),
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
    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Histogram
    >>> draft = staircase(Prior.uniform(range(5)), LDP("1"), utility=Histogram())
    >>> round(draft.optimality.cost, 4), len(draft.outputs)
    (0.7477, 5)
    """
    return optimal(context, notion, utility=utility, gap=gap, seconds=seconds)


STAIRCASE = Design(
    key="staircase",
    make=staircase,
    summary="the best mechanism under local differential privacy, for the given utility",
    promises="optimal within the certified gap that is printed with it",
    source="000 Def 1; 001 section V, where k-RR is called optimal and is not",
    notions=("ldp",),
    contexts=("prior", "joint"),
    uses_utility=True,
    options=LIMITS_OF_SEARCH,
)


def binary(context: Context, notion: Notion, *, as_published: bool = False) -> Draft:
    """Answer one of two symbols with the least noise that the notion allows.

    Let a <= P(second) <= b over the context (a = b for one prior), lifts in [L, U]. The answer
    "second" may have a likelihood ratio q(first) / q(second) of s0 or more, the answer "first" one
    of q(second) / q(first) of s1 or more:

        s0 = max( L b / (1 - L (1 - b)),  (1 - U a) / (U (1 - a)) ),
        s1 = max( L (1 - a) / (1 - L a),  (1 - U (1 - b)) / (U b) ),

    and the channel at the corner, where both are equal, is

        q(second | first) = s0 (1 - s1) / (1 - s0 s1),
        q(first | second) = s1 (1 - s0) / (1 - s0 s1).

    Every other channel that the notion allows is this one followed by noise, so it is the best for
    every utility at once. Which term of s0 and s1 is the larger makes the cases: for one prior
    and epsilon-LIP, the published form is right when no symbol is rarer than 1 / (1 + e^epsilon).

    `as_published` gives that form, which is made for epsilon-LIP and may break it:

        q(second | first) = b / (b - a + e^epsilon),
        q(first | second) = (1 - a) / (b - a + e^epsilon).

    Source: 001 Thm 2, eq. (21) with its condition; 000 section IV-B2 corrected.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> rare = Prior.from_probabilities({"no": "0.9", "yes": "0.1"})
    >>> binary(rare, LIP("1")).matrix.round(6).tolist()
    [[0.782405, 0.217595], [0.268941, 0.731059]]
    >>> binary(rare, LIP("1"), as_published=True).matrix.round(6).tolist()
    [[0.963212, 0.036788], [0.331091, 0.668909]]
    """
    problem = Problem.of(context, notion)
    if len(problem.inputs) != 2 or problem.given is not None:
        raise NotDefined(
            f"the method {BINARY.key}",
            context.describe(),
            "it needs two symbols; use the method optimal",
        )
    if as_published:
        outputs, matrix = problem.inputs, _printed_flips(problem).matrix()
        return Draft.of(problem.inputs, outputs, matrix, faithful=True)
    flips = least_flips(problem)
    if flips.first + flips.second >= 1:
        outputs, matrix = Alphabet.of(["nothing"]), np.ones((2, 1))
    else:
        outputs, matrix = problem.inputs, flips.matrix()
    return Draft.of(
        problem.inputs,
        outputs,
        matrix,
        remarks=["every other channel that keeps the budget is this one with more noise"],
    )


def _printed_flips(problem: Problem) -> Flips:
    """Return the flips that are printed for P(second) in [a, b]; for a = b those of one prior.

    Source: 000 section IV-B2; 001 Thm 2.
    """
    low, high = second_range(problem.context)
    scale = high - low + 1 / Fraction(problem.lower)
    return Flips(high / scale, (1 - low) / scale)


BINARY = Design(
    key="binary",
    make=binary,
    summary="two symbols: the least noise that the notion allows, in closed form",
    promises="optimal for every utility at once: all other channels are this one with more noise",
    source="001 Thm 2, eq. (21) corrected; 000 section IV-B2 corrected",
    published=("lip",),
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("prior", "family", "intervals", "ball"),
    needs="two symbols",
    memory=few_outputs_memory,
)
