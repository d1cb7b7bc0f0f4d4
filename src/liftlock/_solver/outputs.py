"""From what a strategy found to a mechanism: join rare outputs, name the others, state the proof.

A solver's answer is right to 1e-10 or so, and a table has units of 2^-52. An output as rare as that
may break its limits by far more than a hair. Leaving it out would change the rows that give it;
joining two outputs keeps every limit that both keep, since the limits are linear in a column,

    L lambda_z <= q_z <= U lambda_z,   or for LDP   q_z(s) <= E q_z(s'),

and an output of probability lambda that is joined costs at most lambda of what is gained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt

from liftlock._solver.channel_programme import LeastDistortion
from liftlock._solver.column_generation import Decomposition
from liftlock._solver.limits import LIMITS
from liftlock._solver.problem import (
    Limit,
    Optimality,
    Problem,
    Solution,
    Step,
    Task,
    relative_gap,
)
from liftlock.errors import extra
from liftlock.exact.integers import Floats, Integers
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import GRAIN, MOST_BITS
from liftlock.exact.tolerances import TOLERANCES
from liftlock.model import PriorSet
from liftlock.model.alphabet import Alphabet
from liftlock.model.provenance import gap_text
from liftlock.utility.base import (
    Linear,
    Precision,
    Utility,
    cost_error,
    cost_of_no_noise,
    cost_of_no_release,
    mean_cost,
)
from liftlock.utility.symmetric import Histogram

NO_BUDGET = "a budget of 0 allows nothing else"
ONLY_EXACT = (
    "a budget of 0, or nearly so, leaves no room for rounding, so nothing is released; "
    "a tiny one, such as 1e-9, may allow much more"
)
_NOTHING_BETTER = "nothing that the budget allows is better than no release"
_NOTHING_FOUND = (
    "the search ended before anything better than no release was found: the output is constant; "
    "ask for a smaller gap, or give it more time"
)

_MOST = 2.0**-21
"""Half of the blend that locking allows: outputs that need more are joined in any case."""


@dataclass(frozen=True)
class MergedOutputs:
    """A channel without the outputs that were too rare."""

    matrix: Floats
    kept: tuple[int, ...]
    """Which outputs are left, in their old order."""
    share: float
    """The probability of the outputs that were joined with others."""

    def remarks(self) -> list[str]:
        """Say what was joined, if that is more than a solver's residue."""
        if self.share <= TOLERANCES.hair:
            return []
        said = "outputs too rare to be rounded within their limits were joined with others"
        return [f"{said}: {self.share:.2g} of the probability"]


def required_blend(problem: Problem, matrix: Floats) -> Floats:
    """Return, for each output, the blend with P_Y that its limits need once it is rounded.

    A limit broken by d, with room g lambda at the blended end, needs t = d / (d + g lambda).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> problem = Problem.of(Prior.uniform("ab"), LIP("ln 2"))
    >>> required_blend(problem, np.array([[0.8, 0.2], [0.2, 0.8]])).round(3).tolist()
    [0.167, 0.167]
    """
    need = np.zeros(matrix.shape[1])
    for limit in problem.limits:
        need = np.maximum(need, _blend_of_limit(problem, limit, matrix))
    return need


def _blend_of_limit(problem: Problem, limit: Limit, matrix: Floats) -> Floats:
    weights = dot(problem.masses, matrix)
    secrets = matrix
    if limit.given is not None:
        turned = limit.given * problem.masses / limit.secret_masses[:, None]
        secrets = dot(turned, matrix)
    least, most = secrets.min(axis=0) - GRAIN, secrets.max(axis=0) + GRAIN
    if limit.ratio is not None:
        return _blend(most - limit.ratio * least, (limit.ratio - 1.0) * weights)
    low, high = _mass_ranges(problem, matrix) if problem.uncertain else (weights, weights)
    need = np.zeros(matrix.shape[1])
    if limit.lower > 0:
        broken = limit.lower * (high + GRAIN) - least
        need = np.maximum(need, _blend(broken, (1.0 - limit.lower) * weights))
    if np.isfinite(limit.upper):
        broken = most - limit.upper * (low - GRAIN)
        need = np.maximum(need, _blend(broken, (limit.upper - 1.0) * weights))
    return need


def _blend(broken: Floats, room: Floats) -> Floats:
    over = np.maximum(broken, 0.0)
    weight: Floats = np.divide(over, over + room, out=np.zeros_like(over), where=over > 0)
    return weight


def _mass_ranges(problem: Problem, matrix: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest P(y) over a set of priors."""
    context = cast("PriorSet", problem.context)
    columns: Integers = np.ldexp(np.clip(matrix.T, 0.0, 1.0), MOST_BITS).astype(np.int64)
    ends = [context.mass_range(column.astype(object)) for column in columns]
    scale = 2.0**-MOST_BITS
    return (
        np.array([float(low) * scale for low, _ in ends]),
        np.array([float(high) * scale for _, high in ends]),
    )


def merge_rare_outputs(problem: Problem, utility: Utility, matrix: Floats) -> MergedOutputs:
    """Join outputs that need a large blend with the output where that costs least.

    What is joined is chosen so that its probability and the blend that the rest needs are least
    together.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.model import Prior
    >>> from liftlock.utility.symmetric import Guess
    >>> problem = Problem.of(Prior.uniform("ab"), LIP("ln 2"))
    >>> rare = 1e-15
    >>> table = np.array([[2 / 3 - rare, 1 / 3, rare], [1 / 3, 2 / 3, 0.0]])
    >>> merge_rare_outputs(problem, Guess(), table).kept
    (0, 1)
    """
    matrix, kept = matrix.copy(), np.arange(matrix.shape[1])
    share = 0.0
    while len(kept) > 1:
        need = required_blend(problem, matrix[:, kept])
        weights = dot(problem.masses, matrix[:, kept])
        gone = need > _level(need, weights)
        if not gone.any():
            break
        staying = kept[~gone]
        for place in kept[gone]:
            partner = _choose_partner(problem.masses, utility, matrix, int(place), staying)
            matrix[:, partner] += matrix[:, place]
        share += float(weights[gone].sum())
        kept = staying
    left = matrix[:, kept]
    return MergedOutputs(left / left.sum(axis=1, keepdims=True), tuple(int(k) for k in kept), share)


def _level(need: Floats, weights: Floats) -> float:
    """Return the blend t for which t and the probability of what needs more are least together.

    Where every output needs much, joining them does not help: infinity.
    """
    order = np.argsort(need, kind="stable")
    rest = np.concatenate([np.cumsum(weights[order][::-1])[::-1][1:], [0.0]])
    total = np.where(need[order] <= _MOST, need[order] + rest, np.inf)
    best = int(np.argmin(total))
    return float(need[order][best]) if np.isfinite(total[best]) else np.inf


def _choose_partner(
    masses: Floats, utility: Utility, matrix: Floats, place: int, staying: Integers
) -> int:
    """Return the output whose cost grows least when another is joined with it."""
    joint = (matrix[:, staying] * masses[:, None]).T
    together = joint + matrix[:, place] * masses
    if isinstance(utility.shape, Precision):  # it judges no output by itself
        utility = Histogram()
    change = _cost(utility, together) - _cost(utility, joint)
    return int(staying[int(np.argmin(change))])


def _cost(utility: Utility, joint: Floats) -> Floats:
    weights = joint.sum(axis=1)
    costs: Floats = weights * utility.costs(joint / weights[:, None])
    return costs


def finish_solution(task: Task, found: Decomposition | LeastDistortion | Solution) -> Solution:
    """Turn what a strategy found into a mechanism whose outputs have names."""
    if isinstance(found, Solution):
        return found
    problem, utility = task.problem, task.utility
    bound = proved_bound(task, found.bound)
    if is_worthless(found.cost, found.reference):
        return constant_solution(task, bound)
    if isinstance(found, LeastDistortion):
        kept = merge_rare_outputs(problem, utility, found.matrix)
        losses = found.loss[:, list(kept.kept)]
        cost = float((problem.masses[:, None] * kept.matrix * losses).sum())
        matrix, outputs = kept.matrix, found.outputs.subset(kept.kept)
        counts = (0, 0, task.clock.elapsed)
    else:
        kept = merge_rare_outputs(problem, utility, found.channel(problem.masses))
        cost = mean_cost(utility, kept.matrix, problem.masses)
        outputs, order = name_outputs(problem.inputs, kept.matrix, problem.masses)
        matrix = kept.matrix[:, order]
        counts = (found.seen, found.rounds, found.seconds)
    proof = Optimality(
        utility.name, cost, min(bound, cost), found.reference, *counts, found.stopped
    )
    return Solution(matrix, outputs, proof, tuple(kept.remarks()))


def is_worthless(cost: float, reference: float) -> bool:
    """Tell whether a mechanism saves nothing of the cost of no release."""
    return cost >= reference * (1.0 - TOLERANCES.hair)


def proved_bound(task: Task, bound: float) -> float:
    """Return the bound that holds for the budget asked for, no less than what releasing X costs."""
    truth = least_cost(task)
    return truth if task.problem.capped else max(bound, truth)


def least_cost(task: Task) -> float:
    """Return a cost that no mechanism is below: that of releasing X itself."""
    truth = cost_of_no_noise(task.utility, task.problem.masses)
    return truth - float(cost_error(task.utility, truth, task.symbols, task.symbols))


def release_nothing(task: Task) -> Solution:
    """Release nothing under a budget that is 0, or so small that floats cannot tell.

    Outputs that speak of X and are independent of a secret behind it may exist, but integers of
    fixed width can hardly ever be independent *exactly*, as a budget of 0 demands.
    """
    task.explain_step(Step("strategy", "constant", "a budget of 0 leaves nothing to choose"))
    masses, shape = task.problem.masses, task.shape
    nothing = cost_of_no_release(task.utility, masses)
    if not task.allows_nothing_of_itself:
        found = constant_solution(task, least_cost(task), ONLY_EXACT)
    else:
        # Floats cannot tell the budget from 0, so next to nothing can be saved.
        hair = TOLERANCES.hair * abs(nothing) if math.isfinite(nothing) else 0.0
        found = constant_solution(task, nothing - hair, NO_BUDGET)
    if isinstance(shape, Linear) and shape.reproductions is not None:
        # Its outputs are taken at their word.
        best = int(np.argmin(dot(masses, shape.matrix(len(masses)))))
        found = replace(found, outputs=shape.reproductions.subset([best]))
    return replace(found, proof=replace(found.proof, reference=abs(nothing)))


def constant_solution(task: Task, bound: float, remark: str | None = None) -> Solution:
    """Release nothing, when nothing else is allowed or nothing is better."""
    problem, utility = task.problem, task.utility
    cost = cost_of_no_release(utility, problem.masses)
    if remark is None:
        remark = _why_constant(bound, cost + float(cost_error(utility, cost, task.symbols)))
    proof = Optimality(utility.name, cost, min(bound, cost), cost)
    return Solution(np.ones((task.symbols, 1)), Alphabet.of(["nothing"]), proof, (remark,))


def _why_constant(bound: float, cost: float) -> str:
    """Say how much better than no release anything can be, or that nothing better was found."""
    gap = relative_gap(cost, bound, cost)
    if gap > TOLERANCES.close:
        return _NOTHING_FOUND
    by = f" by more than {gap_text(gap)} of its cost" if gap else ""
    return f"{_NOTHING_BETTER}{by}: the output is constant"


def name_outputs(
    inputs: Alphabet, channel: Floats, masses: Floats
) -> tuple[Alphabet, npt.NDArray[np.intp]]:
    """Name each output after an input it is likely to come from, and order them like the inputs.

    The names are matched so that P(Y = X) is largest; a name is only a name, and what an output
    says is its posterior. Returns the outputs and the order of the columns.
    """
    joint = (channel * masses[:, None]).T
    if len(joint) > len(inputs):
        return Alphabet.of(range(len(joint))), np.arange(len(joint))
    places = _assign_inputs(joint)
    order = np.argsort(places, kind="stable")
    return inputs.subset(int(x) for x in places[order]), order


def _assign_inputs(joint: Floats) -> npt.NDArray[np.intp]:
    if joint.size <= LIMITS.assigned_cells:
        with extra("solver"):
            from scipy.optimize import linear_sum_assignment

        return np.asarray(linear_sum_assignment(-joint)[1], dtype=np.intp)
    free = np.ones(joint.shape[1], dtype=bool)
    places = np.zeros(len(joint), dtype=np.intp)
    for k in np.argsort(-joint.max(axis=1), kind="stable"):
        x = int(np.argmax(np.where(free, joint[k], -1.0)))
        free[x] = False
        places[k] = x
    return places


def name_by_reproduction(
    problem: Problem,
    loss: Floats,
    names: Alphabet,
    found: Decomposition,
    read: npt.NDArray[np.intp],
) -> LeastDistortion:
    """Name each output by the reproduction that it is read as; those with the same are joined."""
    channel = found.channel(problem.masses)
    used = np.unique(read)
    matrix = np.stack([channel[:, read == z].sum(axis=1) for z in used], axis=1)
    cost = float((problem.masses[:, None] * matrix * loss[:, used]).sum())
    return LeastDistortion(
        matrix,
        loss[:, used],
        tuple(used.tolist()),
        names.subset(used.tolist()),
        cost,
        min(found.bound, cost),
        found.reference,
        found.stopped,
        np.zeros(0),
    )
