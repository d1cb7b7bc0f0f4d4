"""Reductions: make a task smaller, and map what is found back, with the bound proved again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from liftlock._solver.clock import SearchStep
from liftlock._solver.limits import LIMITS
from liftlock._solver.neighbours import Groups
from liftlock._solver.outputs import constant, is_worthless, joined, named_outputs, proved
from liftlock._solver.problem import Problem, ProfileTask, Solution, Task, rows_of, supported
from liftlock._solver.types import Types
from liftlock.contexts import Joint, Prior, representative
from liftlock.utility.mean import Mean
from liftlock.utility.shape import Linear, Variance
from liftlock.utility.utility import cost_of_nothing, doubt, mean_cost, restricted

Solve = Callable[[Task], Solution]


@dataclass(frozen=True)
class Reduced:
    """A smaller task, and how its solution becomes one of the task that it was made from."""

    task: Task
    expand: Callable[[Solution, Solve], Solution]
    """Takes what was found, and the solver itself, which may be needed for a bound."""
    says: str
    """What became smaller, in numbers."""


@dataclass(frozen=True)
class Reduction:
    """One way to make a task smaller."""

    name: str
    says: str
    """What it does, in one line."""
    when: str
    """Where it applies."""
    loses: str
    """How the bound is proved again, and what it may lose."""
    apply: Callable[[Task], Reduced | None]
    """Returns None where it does not apply."""


def drop_impossible_inputs(task: Task) -> Reduced | None:
    """Solve for the inputs that occur; under LDP the others answer like the most likely one."""
    problem = task.problem
    if isinstance(task, ProfileTask) or task.by_lifts or (problem.masses > 0).all():
        return None
    kept, dropped = supported(problem.context)
    rows = rows_of(problem.inputs, representative(kept))
    places = [problem.inputs.index(label) for label in kept.inputs.labels]
    narrow = restricted(task.utility, places, task.symbols)
    smaller = replace(task, problem=Problem.of(kept, problem.notion), utility=narrow)

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        said = "inputs of probability 0 answer like the most likely input"
        return replace(found, matrix=found.matrix[rows], remarks=(*found.remarks, said))

    return Reduced(smaller, expand, f"{len(dropped):,} inputs never occur")


def group_neighbours(task: Task) -> Reduced | None:
    """Join neighbours on the line to groups: LDP optima of many symbols are out of reach."""
    problem = task.problem
    if (
        task.how != "auto"
        or task.by_lifts
        or problem.allows_nothing
        or not isinstance(problem.context, Prior)
        or task.symbols <= LIMITS.grouped_numbers
        or not task.utility.numeric
    ):
        return None
    groups = Groups.of(task)
    smaller = groups.smaller()

    def expand(found: Solution, solve: Solve) -> Solution:
        return groups.expand(found, smaller, solve)

    says = f"{task.symbols:,} numbers are {smaller.symbols:,} groups of neighbours"
    return Reduced(smaller, expand, says)


def merge_types(task: Task) -> Reduced | None:
    """Take symbols with the same P(. | x) for one, as the secret does."""
    context = task.problem.context
    if not isinstance(context, Joint) or not task.shape.symmetric or task.problem.allows_nothing:
        return None
    types = Types.of(context)
    if len(types) == task.symbols:
        return None
    problem, utility, clock = task.problem, task.utility, task.clock
    inner = Problem.of(types.smaller(), problem.notion)
    reference = cost_of_nothing(utility, problem.masses)
    share = cost_of_nothing(utility, inner.masses) / reference if reference > 0 else 1.0
    # The gap is relative to the cost of no release, which is larger before types are merged.
    relaxed = replace(clock, gap=clock.gap / share) if share > 0 else replace(clock)
    smaller = replace(task, problem=inner, clock=relaxed)

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        clock.work, clock.ended = relaxed.work, relaxed.ended
        matrix = types.expand(found.matrix)
        proof = found.proof
        # The optima are equal; in floats each may be off.
        off = float(doubt(utility, proof.bound, task.symbols, matrix.shape[1]))
        bound = proved(task, proof.bound - off)
        remarks = found.remarks if found.matrix.shape[1] > 1 else ()
        if isinstance(task.shape, Linear):
            # Each output is a guess; joining those with the same one costs nothing.
            read = np.argmax(matrix * problem.masses[:, None], axis=0)
            used = np.unique(read)
            matrix = np.stack([matrix[:, read == x].sum(axis=1) for x in used], axis=1)
        kept = joined(problem, utility, matrix)
        cost = mean_cost(utility, kept.matrix, problem.masses)
        if is_worthless(cost, reference):
            return constant(task, bound)
        if isinstance(task.shape, Linear):
            outputs = problem.inputs.subset(int(x) for x in used[list(kept.kept)])
            order = np.arange(len(outputs))
        else:
            outputs, order = named_outputs(problem.inputs, kept.matrix, problem.masses)
        return Solution(
            kept.matrix[:, order],
            outputs,
            replace(proof, cost=cost, bound=min(bound, cost), reference=reference),
            (*remarks, *kept.remarks()),
        )

    return Reduced(smaller, expand, f"{task.symbols:,} symbols are of {len(types):,} types")


def scale_numbers(task: Task) -> Reduced | None:
    """Bring numbers to a range of about 1, or linear programmes lose their digits.

    By a power of two, so that nothing is rounded.
    """
    shape = task.shape
    if not isinstance(shape, Variance):
        return None
    size = float(np.ptp(shape.points))
    unit = 2.0 ** round(np.log2(size)) if size > 0 else 1.0
    if unit == 1.0:
        return None
    clock, square = task.clock, unit**2
    if clock.watch is not None:
        tell = clock.watch
        clock.watch = lambda step: tell(
            step.scaled(square) if isinstance(step, SearchStep) else step
        )
    smaller = replace(task, utility=Mean(tuple((shape.points / unit).tolist())))

    def expand(found: Solution, solve: Solve) -> Solution:  # noqa: ARG001
        proof = found.proof
        scaled = replace(
            proof,
            cost=square * proof.cost,
            bound=square * proof.bound,
            reference=square * proof.reference,
        )
        return replace(found, proof=scaled)

    return Reduced(smaller, expand, f"numbers are divided by {unit:g}")


REDUCTIONS = (
    Reduction(
        "drop-impossible-inputs",
        "solve for the inputs that occur; the others answer like the most likely one",
        "LDP, where an input has probability 0",
        "exact: equal rows keep every ratio of likelihoods",
        drop_impossible_inputs,
    ),
    Reduction(
        "group-neighbours",
        f"merge neighbouring numbers into {LIMITS.few_symbols} groups",
        f"a prior of more than {LIMITS.grouped_numbers} numbers under LDP, for an error of numbers",
        "bounded by the optimum of LIP, and by what the rest within a group can say",
        group_neighbours,
    ),
    Reduction(
        "merge-types",
        "take symbols that say the same of the secret for one symbol",
        "a secret behind X; mutual information, histogram or guess",
        "exact: the optimum of the types is that of the symbols",
        merge_types,
    ),
    Reduction(
        "scale-numbers",
        "divide numbers by a power of two, so that their range is about 1",
        "the squared error of numbers",
        "exact: nothing is rounded",
        scale_numbers,
    ),
)
"""In the order in which they are tried."""
