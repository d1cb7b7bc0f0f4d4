"""The optimal mechanism: the least cost that the notion allows, with a proof of how close it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeGuard, get_args

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet
from liftlock.context import Context
from liftlock.designs.distortion import Least
from liftlock.designs.draft import Draft, Ending, Optimality
from liftlock.designs.lock import representative
from liftlock.designs.merging import Pool
from liftlock.designs.problem import Problem, supported
from liftlock.designs.rare import joined
from liftlock.designs.readings import posterior_medians
from liftlock.designs.registry import ALL_KINDS, LIFT_NOTIONS, Design
from liftlock.designs.solver.generation import Solution, generate
from liftlock.designs.solver.oracle import Clock, Oracle, Progress
from liftlock.designs.solver.vertices import ListedOracle, enumerate_vertices, half_spaces
from liftlock.designs.subset_merging import safe_subsets
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.notions.notion import Notion
from liftlock.prior import Prior
from liftlock.utility.distortion import Distortion
from liftlock.utility.guess import Guess
from liftlock.utility.histogram import Histogram
from liftlock.utility.mean import OF_NUMBERS, Mean, points_of
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility, mean_cost, restricted

_WORTHLESS = 1e-12
"""A mechanism that saves a smaller share of the cost of releasing nothing releases nothing."""

_TOLERABLE = 1e-9
"""A bound this near to the cost of releasing nothing proves that nothing else is worth a word."""

_ASSIGN = 300_000
"""Beyond so many cells outputs are named greedily."""

_ZERO_BUDGET = "a budget of 0 allows nothing to be said: the output is constant"
_EXACT_BUDGET = (
    "a budget of 0, or nearly so, leaves no room for rounding: the output is constant; "
    "a tiny budget, such as 1e-9, may allow much more"
)
_NOTHING_BETTER = "nothing that the budget allows is better than no release: the output is constant"
_NOTHING_FOUND = (
    "the search ended before anything better than no release was found: the output is constant; "
    "ask for a smaller gap, or give it more time"
)

How = Literal["auto", "generation", "enumeration"]

_MANY, _MANY_POINTS = 250, 24
"""Beyond so many symbols of X itself, linear programmes over posteriors are too slow."""

_MANY_UNDER_LDP = 24
"""Beyond so many numbers neighbours are joined before the LDP optimum is searched for."""

_MANY_DISTANCES = 48
"""Beyond so many symbols of X itself, a linear programme in the whole channel is too slow."""

_ENUMERATE_RAREST = 1e-6
"""Listing tells vertices apart by their distance, which rarer symbols would be lost in."""

_ENUMERATE, _ENUMERATE_CELLS, _ENUMERATE_MOST = 8, 128, 8000
"""Up to so many symbols, or cells of a joint, extreme posteriors are listed, if they are not more
than so many: the quickest way, and nothing needs compiling."""


def optimal(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = 1e-6,
    seconds: float | None = None,
    watch: Callable[[Progress], None] | None = None,
    how: How = "auto",
) -> Draft:
    """Find the best mechanism that a notion allows, for any concave cost of the posterior.

    A mechanism is a mixture of posteriors whose mean is the prior, so the best one is a linear
    programme over the extreme posteriors that the notion allows:

        minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X.

    Few symbols: all extreme posteriors are listed. Many: they are generated as they are needed, and
    a lower bound of the pricing problem proves the gap. Expected distortions are solved directly
    as a linear programme in the channel. Squared and absolute errors of many numbers are solved by
    the places on the line that outputs stand for. A search that is stopped (by `seconds` or Ctrl-C)
    returns the best mechanism so far, with the gap that it could prove.

    Source: 002 eq. (12), eq. (25); 000 eq. (18).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> rare = Prior.from_probabilities({1: "0.1", 2: "0.2", 3: "0.7"})
    >>> draft = optimal(rare, LIP("1"))
    >>> round(draft.optimality.reference - draft.optimality.cost, 10)  # H(X) - H(X | Y)
    0.1977374041
    """
    if how not in get_args(How):
        raise InputError("unknown way", value=how, remedy=f"use {', '.join(get_args(How))}")
    goal = utility if utility is not None else MutualInformation()
    return find_optimum(context, notion, goal, Clock(gap=gap, seconds=seconds, watch=watch), how)


def find_optimum(
    context: Context, notion: Notion, goal: Utility, clock: Clock, how: How = "auto"
) -> Draft:
    """Find the best mechanism within the work that a clock allows."""
    problem = Problem.of(context, notion)
    if problem.lower >= 1.0 or problem.upper <= 1.0 or problem.ratio == 1.0:
        if problem.given is None:
            return _constant(problem, goal, np.inf, DESIGN.key, _ZERO_BUDGET)
        # Outputs that speak of X and are independent of the secret may exist, but no rounded
        # table is *exactly* independent, as this budget demands.
        worst = float(dot(problem.masses, goal.costs(np.eye(len(problem.masses)))))
        return _constant(problem, goal, worst, DESIGN.key, _EXACT_BUDGET)
    if how == "auto" and _many_under_ldp(problem, goal):
        from liftlock.designs.neighbours import by_neighbours

        return by_neighbours(problem, goal, clock, find_optimum)
    if isinstance(goal, Distortion | Guess) and how != "enumeration":
        return _distortion(problem, goal, clock, how)
    if problem.ratio is not None and not (problem.masses > 0).all():
        return _completed(context, notion, goal, clock, how)
    first = _merged(problem) if problem.given is not None else None
    if how == "auto" and problem.given is None and problem.ratio is None and not problem.uncertain:
        direct = _many_symbols(problem, goal, clock)
        if direct is not None and (direct.gap <= clock.gap or isinstance(goal, Mean)):
            return draft_of(problem, goal, direct, DESIGN.key)
        first = None if direct is None else direct.columns
    scaled, unit = _scaled(goal)
    oracle = _oracle(problem, scaled, how, clock)
    floor = problem.lower if problem.given is None and not problem.uncertain else 0.0
    if clock.watch is not None:
        tell = clock.watch
        clock.watch = lambda step: tell(
            replace(step, cost=unit * step.cost, bound=unit * step.bound)
        )
    found = generate(problem.masses, scaled, oracle, clock, floor=floor, first=first)
    solution = replace(
        found, cost=unit * found.cost, bound=unit * found.bound, reference=unit * found.reference
    )
    return draft_of(problem, goal, solution, DESIGN.key)


def _many_under_ldp(problem: Problem, goal: Utility) -> bool:
    """Tell whether there are more numbers than the search for an LDP optimum can bear."""
    return (
        problem.ratio is not None
        and isinstance(problem.context, Prior)
        and len(problem.masses) > _MANY_UNDER_LDP
        and goal.name in OF_NUMBERS
        and bool((problem.masses > 0).all())
    )


def _scaled(goal: Utility) -> tuple[Utility, float]:
    """Bring numbers to a range of about 1, or linear programmes lose their digits.

    Returns the utility, and what its costs are to be multiplied by: a power of two, so that
    nothing is rounded.
    """
    if not isinstance(goal, Mean):
        return goal, 1.0
    points = np.array(goal.points)
    size = float(np.ptp(points))
    if not size > 0:
        return goal, 1.0
    unit = 2.0 ** round(np.log2(size))
    return Mean(tuple((points / unit).tolist())), unit**2


def _merged(problem: Problem) -> Floats:
    """Return the posteriors of subset merging: a mechanism to start from, found in one pass."""
    pool = Pool.of(problem.context, problem.notion)
    groups = safe_subsets(pool, *pool.split())
    columns = np.zeros((len(groups), len(problem.masses)))
    for column, group in zip(columns, groups, strict=True):
        column[group] = problem.masses[group]
    posteriors: Floats = columns / columns.sum(axis=1, keepdims=True)
    return posteriors


def _completed(context: Context, notion: Notion, goal: Utility, clock: Clock, how: How) -> Draft:
    """Design for the inputs that occur; the others answer like the most likely one.

    LDP protects inputs of probability 0 as well, and a row that is there twice keeps every ratio.
    """
    kept, _ = supported(context)
    places = [context.inputs.index(label) for label in kept.inputs.labels]
    narrow = restricted(goal, places, len(context.inputs))
    inner = find_optimum(kept, notion, narrow, clock, how)
    model = int(np.argmax(representative(kept).floats()))
    rows = np.full(len(context.inputs), model)
    rows[places] = np.arange(len(places))
    return Draft.of(
        context.inputs,
        inner.outputs,
        inner.matrix[rows],
        method=DESIGN.key,
        optimality=inner.optimality,
        remarks=[*inner.remarks, "inputs of probability 0 answer like the most likely input"],
    )


def _many_symbols(problem: Problem, goal: Utility, clock: Clock) -> Solution | None:
    """Solve without column generation when X itself is the secret and has very many symbols."""
    if len(problem.masses) > _MANY_POINTS and isinstance(goal, Mean):
        from liftlock.designs.solver.places import least_loss

        return least_loss(problem, goal, clock)
    if len(problem.masses) > _MANY and isinstance(goal, MutualInformation | Histogram):
        with clock.pause():
            from liftlock.designs.solver.spread import spread

        return spread(problem, goal, clock)
    return None


def _oracle(problem: Problem, goal: Utility, how: How, clock: Clock) -> Oracle:
    if problem.uncertain and problem.ratio is None:  # LDP is the same under every prior
        from liftlock.designs.solver.prior_set import PriorSetOracle

        return PriorSetOracle(problem, goal, clock)
    symbols = len(problem.masses)
    if how == "enumeration":
        return ListedOracle(enumerate_vertices(half_spaces(problem), symbols), goal)
    if (
        how == "auto"
        and problem.masses.min() > _ENUMERATE_RAREST
        and (
            symbols <= _ENUMERATE
            or (problem.given is not None and problem.given.size <= _ENUMERATE_CELLS)
        )
    ):
        try:
            vertices = enumerate_vertices(half_spaces(problem), symbols, _ENUMERATE_MOST)
            return ListedOracle(vertices, goal)
        except InputError:
            pass  # more than are worth listing
    if problem.given is not None:
        clock.tell("compiling (the first time takes half a minute)")
        with clock.pause():
            from liftlock.designs.solver.rows import RowsOracle

        return RowsOracle(problem, goal)
    if problem.ratio is not None:
        from liftlock.designs.solver.staircase import staircase_oracle

        return staircase_oracle(problem, goal)
    with clock.pause():
        from liftlock.designs.solver import spread  # noqa: F401  compiled here
        from liftlock.designs.solver.box import BoxOracle

    return BoxOracle(problem, goal)


def _distortion(problem: Problem, goal: Distortion | Guess, clock: Clock, how: How) -> Draft:
    from liftlock.designs.distortion import least_distortion

    stopped: Ending = ""
    if how == "auto" and len(problem.masses) > _MANY_DISTANCES and _is_distance(goal, problem):
        from liftlock.designs.solver.places import least_loss

        solution = least_loss(problem, goal, clock)
        found, stopped = _medians(problem, goal, solution), solution.stopped
    else:
        found = least_distortion(problem, goal, clock=clock)
        stopped = "" if found.solved else clock.ended or "stuck"
    if found.cost >= found.reference * (1.0 - _WORTHLESS):
        remark = _why_constant(found.bound, found.reference)
        return _constant(problem, goal, found.bound, DESIGN.key, remark)
    kept = joined(problem, goal, found.matrix)
    cost = float((problem.masses[:, None] * kept.matrix * found.loss[:, list(kept.kept)]).sum())
    truth = float(dot(problem.masses, goal.costs(np.eye(len(problem.masses)))))
    proof = Optimality(
        goal.name,
        cost,
        min(max(found.bound, truth), cost),
        found.reference,
        seconds=clock.elapsed,
        stopped=stopped,
    )
    remarks = [*kept.remarks(), *proof.stopped_early()]
    return Draft.of(
        problem.inputs,
        found.outputs.subset(kept.kept),
        kept.matrix,
        method=DESIGN.key,
        optimality=proof,
        remarks=remarks,
    )


def _is_distance(goal: Distortion | Guess, problem: Problem) -> TypeGuard[Distortion]:
    """Tell whether a loss is the distance of the inputs' own numbers, under limits of lifts."""
    if problem.given is not None or problem.ratio is not None or problem.uncertain:
        return False
    if not isinstance(goal, Distortion) or goal.name != "absolute":
        return False
    known = set(goal.reproductions.labels)
    if any(label not in known for label in problem.inputs.labels):
        return False
    try:
        places = points_of(goal.reproductions, goal.name)
    except InputError:
        return False
    points = points_of(problem.inputs, goal.name)
    return bool((goal.loss == np.abs(points[:, None] - places)).all())


def _medians(problem: Problem, goal: Distortion, solution: Solution) -> Least:
    """Name the outputs by the medians they are read as; those with the same one are joined."""
    points = points_of(problem.inputs, goal.name)
    read = posterior_medians(solution.columns.T / problem.masses[:, None], problem.masses, points)
    order = np.argsort(points, kind="stable")
    inputs = order[np.searchsorted(points[order], read)]
    channel = solution.channel(problem.masses)
    used = np.unique(inputs)
    matrix = np.stack([channel[:, inputs == x].sum(axis=1) for x in used], axis=1)
    labels = [problem.inputs.labels[x] for x in used]
    places = [goal.reproductions.index(label) for label in labels]
    loss = goal.loss[:, places]
    cost = float((problem.masses[:, None] * matrix * loss).sum())
    return Least(
        matrix,
        loss,
        tuple(places),
        goal.reproductions.subset(places),
        cost,
        min(solution.bound, cost),
        solution.reference,
        not solution.stopped,
        np.zeros(0),
    )


def draft_of(problem: Problem, goal: Utility, solution: Solution, method: str) -> Draft:
    """Turn a decomposition of the prior into a draft with named outputs."""
    if solution.cost >= solution.reference * (1.0 - _WORTHLESS):
        remark = _why_constant(solution.bound, solution.reference)
        return _constant(problem, goal, solution.bound, method, remark)
    kept = joined(problem, goal, solution.channel(problem.masses))
    cost = mean_cost(goal, kept.matrix, problem.masses)
    outputs, order = named_outputs(problem.inputs, kept.matrix, problem.masses)
    proof = Optimality(
        goal.name,
        cost,
        min(solution.bound, cost),
        solution.reference,
        solution.seen,
        solution.rounds,
        solution.seconds,
        solution.stopped,
    )
    remarks = [*kept.remarks(), *proof.stopped_early()]
    return Draft.of(
        problem.inputs,
        outputs,
        kept.matrix[:, order],
        method=method,
        optimality=proof,
        remarks=remarks,
    )


def _why_constant(bound: float, reference: float) -> str:
    """Say whether no release is proved to be the best, or only the best that was found."""
    proved = bound >= reference - _TOLERABLE * abs(reference)
    return _NOTHING_BETTER if proved else _NOTHING_FOUND


def _constant(problem: Problem, goal: Utility, bound: float, method: str, remark: str) -> Draft:
    """Release nothing, when nothing else is allowed or nothing is better."""
    cost = float(goal.costs(problem.masses[None, :])[0])
    return Draft.of(
        problem.inputs,
        ["nothing"],
        np.ones((len(problem.masses), 1)),
        method=method,
        optimality=Optimality(goal.name, cost, min(bound, cost), cost),
        remarks=[remark],
    )


def named_outputs(
    inputs: Alphabet, channel: Floats, masses: Floats
) -> tuple[Alphabet, npt.NDArray[np.intp]]:
    """Name each output after an input it is likely to come from, and order them like the inputs.

    The names are matched so that P(Y = X) is largest; a name is only a name, and what an output
    says is its posterior. Returns the outputs and the order of the columns.
    """
    joint = (channel * masses[:, None]).T
    if len(joint) > len(inputs):
        return Alphabet.of(range(len(joint))), np.arange(len(joint))
    places = _assigned(joint)
    order = np.argsort(places, kind="stable")
    return inputs.subset(int(x) for x in places[order]), order


def _assigned(joint: Floats) -> npt.NDArray[np.intp]:
    if joint.size <= _ASSIGN:
        from scipy.optimize import linear_sum_assignment

        return np.asarray(linear_sum_assignment(-joint)[1], dtype=np.intp)
    free = np.ones(joint.shape[1], dtype=bool)
    places = np.zeros(len(joint), dtype=np.intp)
    for k in np.argsort(-joint.max(axis=1), kind="stable"):
        x = int(np.argmax(np.where(free, joint[k], -1.0)))
        free[x] = False
        places[k] = x
    return places


DESIGN = Design(
    key="optimal",
    make=optimal,
    says="the best mechanism that the notion allows, for the utility that is asked for",
    promises="optimal within the certified gap that is printed with it",
    source="002 eq. (12); 000 section IV; 001 section IV",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=ALL_KINDS,
    uses_utility=True,
    options={
        "gap": "the relative gap to prove before stopping (1e-6)",
        "seconds": "stop after so many seconds with the best mechanism so far",
        "how": "auto, generation or enumeration",
    },
)
