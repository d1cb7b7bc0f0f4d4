"""Strategies: the ways to solve a task, of which the first that is best for it is taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from liftlock._runtime.clock import Clock, Ending, SetupTimedOut
from liftlock._solver import two_values
from liftlock._solver.channel_programme import LeastDistortion, least_distortion, solve_profiles
from liftlock._solver.column_generation import Decomposition, Oracle, generate_columns
from liftlock._solver.enumeration import (
    EnumeratedOracle,
    enumerate_vertices,
    half_spaces,
)
from liftlock._solver.limits import LIMITS
from liftlock._solver.outputs import finish_solution, name_by_reproduction, release_nothing
from liftlock._solver.problem import Problem, ProfileTask, Solution, Step, Task
from liftlock._solver.reductions import REDUCTIONS
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model import Family
from liftlock.utility.base import (
    Linear,
    Precision,
    Separable,
    Utility,
    Variance,
    cost_of_no_noise,
    cost_of_no_release,
)
from liftlock.utility.mean import points_of, posterior_medians

AUTO = "auto"

_COEFFICIENT, _LIMITS_OF_A_CELL = 120, 4
"""Bytes of a coefficient of a linear programme in all its copies, and how many each cell has."""

_DRAWN = 340
"""Bytes for each two symbols, where posteriors are drawn at random."""

Found = Decomposition | LeastDistortion | Solution


@dataclass(frozen=True)
class Strategy:
    """One way to solve a task."""

    name: str
    """What `how` accepts."""
    summary: str
    """What it does, in one line."""
    when: str
    """Where it is the best way."""
    fits: Callable[[Task], bool]
    """Whether it can solve a task at all."""
    best: Callable[[Task], bool]
    """Whether it is taken for a task that it fits, unless an earlier one is."""
    solve: Callable[[Task], Found | None]
    """Returns None if it could not, so that the next one is tried."""
    last: bool = True
    """Whether its answer is taken even if it misses the gap; else the next one starts from it."""
    also: tuple[str, ...] = ()
    """Other names that it answers to."""
    memory: Callable[[Task], float] = lambda _: 0.0
    """The bytes that it takes besides the table of the mechanism."""


# --- the numbers on a line ----------------------------------------------------------------------


def _on_line(task: Task) -> bool:
    """Tell whether the cost is a squared or an absolute error of the inputs' own numbers."""
    if not (task.own_secret and task.by_lifts):
        return False
    return isinstance(task.shape, Variance) or _is_distance(task)


def _is_distance(task: Task) -> bool:
    shape, inputs = task.shape, task.problem.inputs
    if not isinstance(shape, Linear) or task.utility.name != "absolute":
        return False
    if shape.losses is None or shape.reproductions is None:
        return False
    known = set(shape.reproductions.labels)
    if any(label not in known for label in inputs.labels):
        return False
    try:
        places = points_of(shape.reproductions, "absolute")
    except InputError:
        return False
    points = points_of(inputs, "absolute")
    return bool((shape.losses == np.abs(points[:, None] - places)).all())


def _numbers(task: Task) -> Found:
    from liftlock._solver.numbers import least_loss

    problem, shape = task.problem, task.shape
    found = least_loss(problem.widen(), task.utility, task.clock)
    if not isinstance(shape, Linear):
        return found
    # Outputs are read as medians; those with the same one are joined.
    assert shape.losses is not None
    assert shape.reproductions is not None
    points = points_of(problem.inputs, "absolute")
    read = posterior_medians(found.columns.T / problem.masses[:, None], problem.masses, points)
    order = np.argsort(points, kind="stable")
    inputs = order[np.searchsorted(points[order], read)]
    place = [shape.reproductions.index(label) for label in problem.inputs.labels]
    return name_by_reproduction(
        problem, shape.losses, shape.reproductions, found, np.array(place)[inputs]
    )


# --- linear losses ------------------------------------------------------------------------------


def _channel_programme(task: Task) -> Found:
    if isinstance(task, ProfileTask):
        return solve_profiles(task)
    return least_distortion(task.problem.widen(), task.utility, clock=task.clock)


def _programme_memory(task: Task) -> float:
    assert isinstance(task.shape, Linear)
    context, limits = task.problem.context, _LIMITS_OF_A_CELL
    if not task.problem.only_itself:
        limits += sum(2 * len(limit.secret_masses) for limit in task.problem.limits)
    elif isinstance(context, Family):
        limits += 2 * len(context.priors)
    losses = task.shape.losses
    answers = task.symbols if losses is None else losses.shape[1]
    return float(_COEFFICIENT) * limits * task.symbols * answers


# --- random decompositions ----------------------------------------------------------------------


def _random_decomposition(task: Task) -> Found | None:
    with task.clock.pause():
        from liftlock._solver.random_decomposition import decompose

    try:
        return decompose(task.problem.widen(), task.utility, task.clock)
    except SetupTimedOut:
        return None  # column generation has a result whenever it is stopped


# --- unbiased histograms ------------------------------------------------------------------------


def _mixes_for_frequencies(task: Task) -> bool:
    return isinstance(task.shape, Precision) and not isinstance(task, ProfileTask)


def _frequencies(task: Task) -> Found:
    from liftlock._solver.frequencies import least_variance

    try:
        return least_variance(task)
    except SetupTimedOut:
        return _without_search(task)


# --- mixtures of extreme posteriors -------------------------------------------------------------


def _enumeration(task: Task) -> Found | None:
    if isinstance(task, ProfileTask):
        from liftlock._solver.ascent import list_posteriors

        return list_posteriors(task)
    problem, clock = task.problem, task.clock
    asked = task.how != AUTO
    try:
        vertices = enumerate_vertices(
            half_spaces(problem.widen()),
            task.symbols,
            LIMITS.asked_vertices if asked else LIMITS.listed_vertices,
            clock,
        )
    except InputError:
        if asked:
            raise
        return None  # more than are worth listing
    except SetupTimedOut:
        return _without_search(task)
    return _mixture(task, EnumeratedOracle(vertices, task.utility))


def _may_list(task: Task) -> bool:
    """Tell whether a mixture of extreme posteriors of the symbols is a mechanism."""
    if isinstance(task, ProfileTask):
        return (
            task.shared and not isinstance(task.shape, Linear) and not task.problem.allows_nothing
        )
    return task.one_prior and not isinstance(task.shape, Precision)


def _generation(task: Task) -> Found:
    try:
        oracle = _pricing(task.problem.widen(), task.utility, task.clock)
    except SetupTimedOut:
        return _without_search(task)
    return _mixture(task, oracle)


def _pricing(problem: Problem, utility: Utility, clock: Clock) -> Oracle:
    """Return what finds and bounds posteriors of low reduced cost."""
    if problem.uncertain and problem.ratio is None:  # LDP is the same under every prior
        from liftlock._solver.prior_set import prior_set_oracle

        return prior_set_oracle(problem, utility, clock)
    if problem.only_itself and problem.ratio is not None:
        from liftlock._solver.staircase import staircase_oracle

        return staircase_oracle(problem, utility)
    clock.report_stage("compiling (the first time takes half a minute)")
    with clock.pause():
        from liftlock._solver.separable import rows_oracle

    return rows_oracle(problem, utility, clock)


def _mixture(task: Task, oracle: Oracle) -> Decomposition:
    problem = task.problem
    floor = problem.lower if task.own_secret else 0.0
    return generate_columns(
        problem.masses, task.utility, oracle, task.clock, floor=floor, first=_beginning(task)
    )


def _beginning(task: Task) -> Floats | None:
    """Return posteriors of a mechanism to begin with, if one is at hand."""
    if task.first is None and task.problem.given is not None and task.begin is not None:
        return task.begin(task.problem)
    return task.first


def _without_search(task: Task) -> Decomposition:
    """Return what is known when the time was up before any search: merging, or no release."""
    masses, utility, clock = task.problem.masses, task.utility, task.clock
    first = None if task.problem.only_itself else _beginning(task)
    columns = masses[None, :] if first is None else first
    # Each symbol is in one group of those that are merged.
    weights = np.ones(1) if first is None else np.where(first > 0, masses, 0.0).sum(axis=1)
    cost = float(dot(weights, utility.costs(columns)))
    ended: Ending = clock.ended or "work"
    return Decomposition(
        columns,
        weights,
        cost,
        min(cost_of_no_noise(utility, masses), cost),
        cost_of_no_release(utility, masses),
        len(columns),
        0,
        clock.elapsed,
        ended,
    )


def _generation_memory(task: Task) -> float:
    if task.problem.only_itself:
        return 0.0
    rows, inputs = 1, task.symbols
    for limit in task.problem.limits:
        if not limit.is_box:
            rows += len(limit.secret_masses) * (1 if limit.ratio is None else 2)
    return 8.0 * (3 * rows**2 + 6 * rows * (inputs + rows) + 2 * inputs**2)


# --- graphs of profiles ---------------------------------------------------------------------------


def _corrupts_little(task: Task) -> bool:
    return (
        isinstance(task, ProfileTask)
        and not task.shared
        and not task.problem.allows_nothing
        and task.goal.name in ("minimax", "hamming")
    )


def _output_distributions(task: Task) -> Found:
    from liftlock._solver import transport

    assert isinstance(task, ProfileTask)
    return transport.solve(task)


def _ascent(task: Task) -> Found:
    from liftlock._solver.ascent import ascend

    assert isinstance(task, ProfileTask)
    return ascend(task)


# --- the table ----------------------------------------------------------------------------------

STRATEGIES = (
    Strategy(
        "closed-form",
        "the least noise, which every other channel adds to",
        "X itself as the secret, with two values",
        fits=lambda task: task.two_values,
        best=lambda _: True,
        solve=two_values.solve,
    ),
    Strategy(
        "numbers",
        "place outputs on the real line, and solve for their weights by an interior point",
        f"lifts of X itself; the squared error of more than {LIMITS.listed_symbols} numbers, or "
        f"the absolute error of more than {LIMITS.numbers_absolute}",
        fits=_on_line,
        best=lambda task: (
            task.symbols
            > (LIMITS.numbers_absolute if isinstance(task.shape, Linear) else LIMITS.listed_symbols)
        ),
        solve=_numbers,
    ),
    Strategy(
        "output-distributions",
        "find what each profile releases, then the matrices that move the least to it",
        "profiles with a matrix each: the largest, or the mean, chance of a wrong value",
        fits=_corrupts_little,
        best=lambda _: True,
        solve=_output_distributions,
    ),
    Strategy(
        "channel-programme",
        "a linear programme in all probabilities of the channel",
        "losses of a reproduction: guess, hamming, absolute, squared, or a matrix; also for "
        "profiles",
        fits=lambda task: isinstance(task.shape, Linear),
        best=lambda _: True,
        solve=_channel_programme,
        # Every column that could be generated is known: one for each reproduction.
        also=("generation",),
        memory=_programme_memory,
    ),
    Strategy(
        "frequencies",
        "mix extreme posteriors by an interior point, and add those that its gradient asks for",
        f"frequencies; proved by listing all of them up to {LIMITS.few_symbols} symbols, and by "
        "second moments beyond",
        fits=_mixes_for_frequencies,
        best=lambda _: True,
        solve=_frequencies,
        also=("generation", "enumeration"),
    ),
    Strategy(
        "enumeration",
        "list every extreme posterior in exact numbers, and mix them by a linear programme",
        f"lifts, or a secret behind X; up to {LIMITS.listed_symbols} symbols or "
        f"{LIMITS.listed_cells} cells of a joint, {LIMITS.listed_vertices:,} posteriors; "
        "information of profiles with one matrix",
        fits=_may_list,
        best=lambda task: (
            (task.by_lifts or not task.problem.only_itself)
            and (
                task.symbols <= LIMITS.listed_symbols
                or (task.all_behind and task.cells <= LIMITS.listed_cells)
            )
        ),
        solve=_enumeration,
        memory=_generation_memory,
    ),
    Strategy(
        "random-decomposition",
        "draw posteriors at random that cost next to no more than a bound of all",
        f"lifts of X itself; information or histogram of more than {LIMITS.drawn_symbols} symbols",
        fits=lambda task: (
            task.own_secret
            and task.by_lifts
            and isinstance(task.shape, Separable)
            and task.symbols >= LIMITS.drawn_fewest
        ),
        best=lambda task: task.symbols > LIMITS.drawn_symbols,
        solve=_random_decomposition,
        last=False,
        memory=lambda task: _DRAWN * float(task.symbols) ** 2,
    ),
    Strategy(
        "ascent",
        "climb from several starts by linear programmes, and bound by how often one can guess",
        "information of profiles",
        fits=lambda task: isinstance(task, ProfileTask) and not isinstance(task.shape, Linear),
        best=lambda _: True,
        solve=_ascent,
    ),
    Strategy(
        "generation",
        "add extreme posteriors to a linear programme as its prices ask for them",
        "everything else",
        fits=lambda task: (
            not isinstance(task.shape, Linear | Precision) and not isinstance(task, ProfileTask)
        ),
        best=lambda _: True,
        solve=_generation,
        memory=_generation_memory,
    ),
)
"""In the order in which they are tried."""

STRATEGY_NAMES = tuple(
    dict.fromkeys([AUTO, "generation", "enumeration", *(each.name for each in STRATEGIES)])
)
"""What `how` accepts."""


def check_strategy(how: str) -> None:
    """Refuse a name that no strategy has."""
    if how not in STRATEGY_NAMES:
        raise InputError("unknown strategy", value=how, remedy=f"use {', '.join(STRATEGY_NAMES)}")


def candidates(task: Task) -> Iterable[Strategy]:
    """Return the strategies to try, in order."""
    fitting = [strategy for strategy in STRATEGIES if strategy.fits(task)]
    if task.how == AUTO:
        return [strategy for strategy in fitting if strategy.best(task)]
    named = [each for each in fitting if task.how in (each.name, *each.also)]
    if not named:
        names = ", ".join(strategy.name for strategy in fitting)
        raise InputError(
            "this strategy cannot solve the problem", value=task.how, remedy=f"use auto, {names}"
        )
    return named


def solve(task: Task) -> Solution:
    """Make the task smaller, solve it by the first strategy that is best, and map it back.

    A strategy that misses the gap, or gives up, leaves the task to the next one.
    """
    for reduction in REDUCTIONS:
        reduced = reduction.apply(task)
        if reduced is not None:
            task.explain_step(Step("reduction", reduction.name, reduced.summary))
            return reduced.expand(solve(reduced.task), solve)
    if task.problem.allows_nothing and not isinstance(task, ProfileTask):
        return release_nothing(task)
    tried = []
    for strategy in candidates(task):
        tried.append(strategy)
        found = strategy.solve(task)
        if found is None:
            task.explain_step(Step("strategy", strategy.name, "gave up", taken=False))
            continue
        if not strategy.last and task.how == AUTO and found.gap > task.clock.gap:
            assert isinstance(found, Decomposition)
            said = "missed the gap: the next one starts from what it found"
            task.explain_step(Step("strategy", strategy.name, said))
            task = replace(task, first=found.columns)
            continue
        task.explain_step(Step("strategy", strategy.name, strategy.summary))
        _say_why_not(task, tried)
        return finish_solution(task, found)
    # Column generation solves everything, so this one was asked for by its name.
    raise InputError("this strategy found nothing", value=task.how, remedy="use auto")


def _say_why_not(task: Task, tried: list[Strategy]) -> None:
    """Tell whoever asks why the other rows of the tables were not taken."""
    for reduction in REDUCTIONS:
        said = f"not here; it is for {reduction.when}"
        task.explain_step(Step("reduction", reduction.name, said, taken=False))
    for strategy in STRATEGIES:
        if strategy in tried:
            continue
        if not strategy.fits(task):
            said = f"does not apply; it is for {strategy.when}"
        elif task.how != AUTO:
            said = f"would apply; {task.how} was requested"
        elif strategy.best(task):
            said = "would apply; an earlier one is used"
        else:
            said = f"would apply; it is best for {strategy.when}"
        task.explain_step(Step("strategy", strategy.name, said, taken=False))


def memory(task: Task) -> float:
    """Return the bytes that solving takes besides the table of the mechanism."""
    for reduction in REDUCTIONS:
        reduced = reduction.apply(task)
        if reduced is not None:
            return memory(reduced.task)
    return next((strategy.memory(task) for strategy in candidates(task)), 0.0)


def explain_steps(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return one step for each row of the tables, in their order: what was taken, or why not."""
    found: dict[tuple[str, str], Step] = {}
    for step in steps:
        known = found.get((step.part, step.name))
        if known is None or (step.taken and not known.taken):
            found[step.part, step.name] = step
    order = [("reduction", each.name) for each in REDUCTIONS]
    order += [("strategy", each.name) for each in STRATEGIES]
    ends = [key for key in found if key not in order]
    return tuple(found[key] for key in [*order, *ends] if key in found)
