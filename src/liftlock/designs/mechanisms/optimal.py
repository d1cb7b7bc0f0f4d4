"""The optimal mechanism: the least cost that the notion allows, with a proof of how close it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeGuard, get_args

import numpy as np
import numpy.typing as npt

from liftlock._solver.channel_programme import Least
from liftlock._solver.generation import Solution, generate
from liftlock._solver.optimality import NO_ROOM, Ending, Optimality, gap_text, relative_gap
from liftlock._solver.oracle import Clock, Oracle, Progress, TimeUp
from liftlock._solver.problem import Problem, supported
from liftlock._solver.rare import joined
from liftlock._solver.vertices import ListedOracle, enumerate_vertices, half_spaces
from liftlock.alphabet import Alphabet
from liftlock.context import Context, Family, Joint, representative
from liftlock.designs.draft import Draft
from liftlock.designs.mechanisms.subset_merging import safe_subsets
from liftlock.designs.merging import Pool
from liftlock.designs.readings import posterior_medians
from liftlock.designs.registry import ALL_KINDS, LIFT_NOTIONS, Design
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.memory import TABLE
from liftlock.notions.notion import Notion
from liftlock.prior import Prior
from liftlock.utility.distortion import Distortion
from liftlock.utility.guess import Guess
from liftlock.utility.histogram import Histogram
from liftlock.utility.mean import Mean, points_of
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import (
    Utility,
    cost_of_nothing,
    cost_of_truth,
    doubt,
    mean_cost,
    restricted,
)

GAP = 1e-6
"""The relative gap that is proved unless another is asked for."""

_WORTHLESS = 1e-12
"""A mechanism that saves a smaller share of the cost of releasing nothing releases nothing."""

_TOLERABLE = 1e-6
"""Where more than this share of the cost might be saved, the search ended too early."""

_ASSIGN = 300_000
"""Beyond so many cells outputs are named greedily."""

_ZERO_BUDGET = "a budget of 0 allows nothing to be said: the output is constant"
_EXACT_BUDGET = (
    "a budget of 0, or nearly so, leaves no room for rounding: the output is constant; "
    "a tiny budget, such as 1e-9, may allow much more"
)
_NOTHING_BETTER = "nothing that the budget allows is better than no release"
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

_STARTING = 100.0
"""Operations that the first columns take, for each two symbols."""

_COEFFICIENT, _LIMITS_OF_A_CELL = 120, 4
"""Bytes of a coefficient of a linear programme in all its copies, and how many each cell has."""

_DRAWN = 340
"""Bytes for each two symbols, where mechanisms for many symbols are drawn at random."""

_ENUMERATE, _ENUMERATE_CELLS, _ENUMERATE_MOST = 8, 128, 8000
"""Up to so many symbols, or cells of a joint, extreme posteriors are listed, if they are not more
than so many: the quickest way, and nothing needs compiling."""


def optimal(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = GAP,
    seconds: float | None = None,
    watch: Callable[[Progress], None] | None = None,
    how: How = "auto",
) -> Draft:
    """Find the best mechanism that a notion allows, for any concave cost of the posterior.

    A mechanism is a mixture of posteriors whose mean is the prior, so the best one is a linear
    programme over the extreme posteriors that the notion allows:

        minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X.

    Two symbols: the closed form. Few: all extreme posteriors are listed, in exact numbers. Many:
    they are generated as they are needed, and a lower bound of the pricing problem proves the gap,
    less all that rounding may have added to it. Expected distortions are solved directly
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
            return _constant(problem, goal, _without_room(problem, goal), DESIGN.key, _ZERO_BUDGET)
        # Outputs that speak of X and are independent of the secret may exist, but no rounded
        # table is *exactly* independent, as this budget demands.
        return _constant(problem, goal, _of_truth(problem, goal), DESIGN.key, _EXACT_BUDGET)
    if how == "auto" and _many_under_ldp(problem, goal):
        from liftlock.designs.neighbours import by_neighbours

        return by_neighbours(problem, goal, clock, find_optimum)
    if isinstance(goal, Distortion | Guess) and how != "enumeration":
        return _distortion(problem, goal, clock, how)
    if problem.ratio is not None and not (problem.masses > 0).all():
        return _completed(context, notion, goal, clock, how)
    if how == "auto" and _has_two_values(problem):
        return draft_of(problem, goal, _two_values(problem, goal, clock), DESIGN.key)
    first = _merged(problem) if problem.given is not None else None
    if how == "auto" and problem.given is None and problem.ratio is None and not problem.uncertain:
        direct = _many_symbols(problem.widened(), goal, clock)
        if direct is not None and (direct.gap <= clock.gap or isinstance(goal, Mean)):
            return draft_of(problem, goal, direct, DESIGN.key)
        first = None if direct is None else direct.columns
    scaled, unit = _scaled(goal)
    floor = problem.lower if problem.given is None and not problem.uncertain else 0.0
    try:
        oracle = _oracle(problem.widened(), scaled, how, clock)
    except TimeUp:
        merged = first if problem.given is not None else None
        return draft_of(problem, goal, _without_search(problem, goal, clock, merged), DESIGN.key)
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


def _without_search(
    problem: Problem, goal: Utility, clock: Clock, first: Floats | None
) -> Solution:
    """Return what is known when the time was up before any search: merging, or no release."""
    masses = problem.masses
    columns = masses[None, :] if first is None else first
    # Each symbol is in one group of those that are merged.
    weights = np.ones(1) if first is None else np.where(first > 0, masses, 0.0).sum(axis=1)
    cost = float(dot(weights, goal.costs(columns)))
    reference = cost_of_nothing(goal, masses)
    ended: Ending = clock.ended or "work"
    return Solution(
        columns,
        weights,
        cost,
        min(cost_of_truth(goal, masses), cost),
        reference,
        len(columns),
        0,
        clock.elapsed,
        ended,
    )


def _many_under_ldp(problem: Problem, goal: Utility) -> bool:
    """Tell whether there are more numbers than the search for an LDP optimum can bear."""
    return (
        problem.ratio is not None
        and isinstance(problem.context, Prior)
        and len(problem.masses) > _MANY_UNDER_LDP
        and goal.numeric
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
        from liftlock._solver.places import least_loss

        return least_loss(problem, goal, clock)
    if len(problem.masses) > _MANY and isinstance(goal, MutualInformation | Histogram):
        with clock.pause():
            from liftlock._solver.spread import spread

        try:
            return spread(problem, goal, clock)
        except TimeUp:
            return None  # column generation has a result whenever it is stopped
    return None


def _oracle(problem: Problem, goal: Utility, how: How, clock: Clock) -> Oracle:
    if problem.uncertain and problem.ratio is None:  # LDP is the same under every prior
        from liftlock._solver.prior_set import PriorSetOracle

        return PriorSetOracle(problem, goal, clock)
    symbols = len(problem.masses)
    if how == "enumeration":
        vertices = enumerate_vertices(half_spaces(problem), symbols, clock=clock)
        return ListedOracle(vertices, goal)
    if problem.given is None and problem.ratio is not None:
        from liftlock._solver.staircase import staircase_oracle

        return staircase_oracle(problem, goal)
    if how == "auto" and (
        symbols <= _ENUMERATE
        or (problem.given is not None and problem.given.size <= _ENUMERATE_CELLS)
    ):
        try:
            vertices = enumerate_vertices(half_spaces(problem), symbols, _ENUMERATE_MOST, clock)
            return ListedOracle(vertices, goal)
        except InputError:
            pass  # more than are worth listing
    if problem.given is not None:
        clock.tell("compiling (the first time takes half a minute)")
        with clock.pause():
            from liftlock._solver.rows import RowsOracle

        return RowsOracle(problem, goal, clock)
    with clock.pause():
        from liftlock._solver import spread  # noqa: F401  compiled here
        from liftlock._solver.box import BoxOracle

    clock.check(_STARTING * float(symbols) ** 2)
    return BoxOracle(problem, goal)


def _distortion(problem: Problem, goal: Distortion | Guess, clock: Clock, how: How) -> Draft:
    from liftlock._solver.channel_programme import least_distortion, reproductions_of

    stopped: Ending = ""
    if how == "auto" and len(problem.masses) > _MANY_DISTANCES and _is_distance(goal, problem):
        from liftlock._solver.places import least_loss

        solution = least_loss(problem.widened(), goal, clock)
        found, stopped = _medians(problem, goal, solution), solution.stopped
    elif how == "auto" and _has_two_values(problem):
        solution = _two_values(problem, goal, clock)
        loss, names = reproductions_of(problem, goal)
        best = np.argmin(dot(solution.columns, loss), axis=1)
        found = _read_as(problem, loss, names, solution, best)
    else:
        found = least_distortion(problem.widened(), goal, clock=clock)
        stopped = "" if found.solved else clock.ended or "stuck"
    bound = _proved(problem, goal, found.bound)
    if found.cost >= found.reference * (1.0 - _WORTHLESS):
        return _constant(problem, goal, bound, DESIGN.key)
    kept = joined(problem, goal, found.matrix)
    cost = float((problem.masses[:, None] * kept.matrix * found.loss[:, list(kept.kept)]).sum())
    proof = Optimality(
        goal.name,
        cost,
        min(bound, cost),
        found.reference,
        seconds=clock.elapsed,
        stopped=stopped,
    )
    return Draft.of(
        problem.inputs,
        found.outputs.subset(kept.kept),
        kept.matrix,
        method=DESIGN.key,
        optimality=proof,
        remarks=kept.remarks(),
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
    place = [goal.reproductions.index(label) for label in problem.inputs.labels]
    return _read_as(problem, goal.loss, goal.reproductions, solution, np.array(place)[inputs])


def _read_as(
    problem: Problem, loss: Floats, names: Alphabet, solution: Solution, read: npt.NDArray[np.intp]
) -> Least:
    """Name each output by the reproduction that it is read as; those with the same are joined."""
    channel = solution.channel(problem.masses)
    used = np.unique(read)
    matrix = np.stack([channel[:, read == z].sum(axis=1) for z in used], axis=1)
    cost = float((problem.masses[:, None] * matrix * loss[:, used]).sum())
    return Least(
        matrix,
        loss[:, used],
        tuple(used.tolist()),
        names.subset(used.tolist()),
        cost,
        min(solution.bound, cost),
        solution.reference,
        not solution.stopped,
        np.zeros(0),
    )


def _has_two_values(problem: Problem) -> bool:
    """Tell whether X itself is the secret and has two values, so that there is a closed form."""
    return problem.given is None and len(problem.masses) == 2 and bool((problem.masses > 0).all())


def _two_values(problem: Problem, goal: Utility, clock: Clock) -> Solution:
    """Return the closed form: every other channel is this one with more noise.

    The bound is the cost of the one that slightly wider limits allow, which is exact but for the
    rounding of its sums.
    """
    from liftlock.designs.mechanisms.binary import least_flips

    def channel(at: Problem) -> Floats:
        flips = least_flips(at)
        return flips.matrix() if flips.first + flips.second < 1 else np.ones((2, 1))

    least = mean_cost(goal, channel(problem.widened()), problem.masses)
    joint = (channel(problem) * problem.masses[:, None]).T
    weights = joint.sum(axis=1)
    columns = joint / weights[:, None]
    return Solution(
        columns,
        weights,
        float(dot(weights, goal.costs(columns))),
        least - float(doubt(goal, least, 2, 2)),
        cost_of_nothing(goal, problem.masses),
        2,
        1,
        clock.elapsed,
        "",
    )


def _proved(problem: Problem, goal: Utility, bound: float) -> float:
    """Return the bound that holds for the budget asked for, no less than what releasing X costs."""
    truth = _of_truth(problem, goal)
    return truth if problem.capped else max(bound, truth)


def _of_truth(problem: Problem, goal: Utility) -> float:
    """Return a cost that no mechanism is below: that of releasing X itself."""
    truth = cost_of_truth(goal, problem.masses)
    return truth - float(doubt(goal, truth, len(problem.masses), len(problem.masses)))


def _without_room(problem: Problem, goal: Utility) -> float:
    """Return the bound for a budget that is 0, or so small that floats cannot tell."""
    nothing = cost_of_nothing(goal, problem.masses)
    return nothing - NO_ROOM * abs(nothing)


def draft_of(problem: Problem, goal: Utility, solution: Solution, method: str) -> Draft:
    """Turn a decomposition of the prior into a draft with named outputs."""
    bound = _proved(problem, goal, solution.bound)
    if solution.cost >= solution.reference * (1.0 - _WORTHLESS):
        return _constant(problem, goal, bound, method)
    kept = joined(problem, goal, solution.channel(problem.masses))
    cost = mean_cost(goal, kept.matrix, problem.masses)
    outputs, order = named_outputs(problem.inputs, kept.matrix, problem.masses)
    proof = Optimality(
        goal.name,
        cost,
        min(bound, cost),
        solution.reference,
        solution.seen,
        solution.rounds,
        solution.seconds,
        solution.stopped,
    )
    return Draft.of(
        problem.inputs,
        outputs,
        kept.matrix[:, order],
        method=method,
        optimality=proof,
        remarks=kept.remarks(),
    )


def _why_constant(bound: float, cost: float) -> str:
    """Say how much better than no release anything can be, or that nothing better was found."""
    gap = relative_gap(cost, bound, cost)
    if gap > _TOLERABLE:
        return _NOTHING_FOUND
    by = f" by more than {gap_text(gap)} of its cost" if gap else ""
    return f"{_NOTHING_BETTER}{by}: the output is constant"


def _constant(
    problem: Problem, goal: Utility, bound: float, method: str, remark: str | None = None
) -> Draft:
    """Release nothing, when nothing else is allowed or nothing is better."""
    cost = cost_of_nothing(goal, problem.masses)
    if remark is None:
        remark = _why_constant(bound, cost + float(doubt(goal, cost, len(problem.masses))))
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


def memory_of(context: Context, notion: Notion, utility: Utility) -> float:
    """Return the bytes that the search and its result take: the arrays of the way that is taken."""
    inputs, cells = len(context.inputs), float(len(context.inputs)) ** 2
    needed = TABLE * cells
    own = isinstance(context, Prior) and notion.name in LIFT_NOTIONS
    if isinstance(context, Joint):
        rows = len(context.secrets) + 1
        needed += 8.0 * (3 * rows**2 + 6 * rows * (inputs + rows) + 2 * cells)
    if isinstance(utility, Distortion | Guess):
        answers = utility.loss.shape[1] if isinstance(utility, Distortion) else inputs
        limits = _LIMITS_OF_A_CELL
        if isinstance(context, Joint):
            limits += 2 * len(context.secrets)
        elif isinstance(context, Family):
            limits += 2 * len(context.priors)
        elif own and inputs > _MANY_DISTANCES and utility.name == "absolute":
            return needed  # by places on the line, without a programme for the whole channel
        needed += float(_COEFFICIENT) * limits * inputs * answers
    elif own and inputs > _MANY and isinstance(utility, MutualInformation | Histogram):
        needed += _DRAWN * cells
    return needed


DESIGN = Design(
    key="optimal",
    make=optimal,
    says="the best mechanism that the notion allows, for the utility that is asked for",
    promises="optimal within the certified gap that is printed with it",
    source="002 eq. (12); 000 section IV; 001 section IV",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=ALL_KINDS,
    uses_utility=True,
    memory=memory_of,
    options={
        "gap": "the relative gap to prove before stopping (1e-6)",
        "seconds": "stop after so many seconds with the best mechanism so far",
        "how": "auto, generation or enumeration",
    },
)
