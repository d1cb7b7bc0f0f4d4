"""Rare outputs: those that cannot keep their limits once rounded are joined with others.

A solver's answer is right to 1e-10 or so, and a table has units of 2^-52. An output as rare as that
may break its limits by far more than a hair. Leaving it out would change the rows that give it;
joining two outputs keeps every limit that both keep, since the limits are linear in a column,

    L lambda_z <= q_z <= U lambda_z,   or for LDP   q_z(s) <= E q_z(s'),

and an output of probability lambda that is joined costs at most lambda of what is gained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.context import PriorSet
from liftlock.exact.integers import Floats, Integers
from liftlock.exact.reproducible import dot
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.utility.utility import Utility

_UNIT = 2.0**-DEFAULT_BITS
_BITS = 62

_RESIDUE = 1e-12

_MOST = 2.0**-21
"""Half of the blend that locking allows: outputs that need more are joined in any case."""


@dataclass(frozen=True)
class Joined:
    """A channel without the outputs that were too rare."""

    matrix: Floats
    kept: tuple[int, ...]
    """Which outputs are left, in their old order."""
    share: float
    """The probability of the outputs that were joined with others."""

    def remarks(self) -> list[str]:
        """Say what was joined, if that is more than a solver's residue."""
        if self.share <= _RESIDUE:
            return []
        said = "outputs too rare to be rounded within their limits were joined with others"
        return [f"{said}: {self.share:.2g} of the probability"]


def strain(problem: Problem, matrix: Floats) -> Floats:
    """Return, for each output, the blend with P_Y that its limits need once it is rounded.

    A limit broken by d, with room g lambda at the blended end, needs t = d / (d + g lambda).

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> problem = Problem.of(Prior.uniform("ab"), LIP("ln 2"))
    >>> strain(problem, np.array([[0.8, 0.2], [0.2, 0.8]])).round(3).tolist()
    [0.167, 0.167]
    """
    weights = dot(problem.masses, matrix)
    secrets = matrix
    if problem.given is not None:
        turned = problem.given * problem.masses / problem.secret_masses[:, None]
        secrets = dot(turned, matrix)
    least, most = secrets.min(axis=0) - _UNIT, secrets.max(axis=0) + _UNIT
    if problem.ratio is not None:
        return _blend(most - problem.ratio * least, (problem.ratio - 1.0) * weights)
    low, high = _mass_ranges(problem, matrix) if problem.uncertain else (weights, weights)
    need = np.zeros(matrix.shape[1])
    if problem.lower > 0:
        broken = problem.lower * (high + _UNIT) - least
        need = np.maximum(need, _blend(broken, (1.0 - problem.lower) * weights))
    if np.isfinite(problem.upper):
        broken = most - problem.upper * (low - _UNIT)
        need = np.maximum(need, _blend(broken, (problem.upper - 1.0) * weights))
    return need


def _blend(broken: Floats, room: Floats) -> Floats:
    over = np.maximum(broken, 0.0)
    weight: Floats = np.divide(over, over + room, out=np.zeros_like(over), where=over > 0)
    return weight


def _mass_ranges(problem: Problem, matrix: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest P(y) over a set of priors."""
    context = cast("PriorSet", problem.context)
    columns: Integers = np.ldexp(np.clip(matrix.T, 0.0, 1.0), _BITS).astype(np.int64)
    ends = [context.mass_range(column.astype(object)) for column in columns]
    scale = 2.0**-_BITS
    return (
        np.array([float(low) * scale for low, _ in ends]),
        np.array([float(high) * scale for _, high in ends]),
    )


def joined(problem: Problem, utility: Utility, matrix: Floats) -> Joined:
    """Join outputs that need a large blend with the output where that costs least.

    What is joined is chosen so that its probability and the blend that the rest needs are least
    together.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> from liftlock.utility.guess import Guess
    >>> problem = Problem.of(Prior.uniform("ab"), LIP("ln 2"))
    >>> rare = 1e-15
    >>> table = np.array([[2 / 3 - rare, 1 / 3, rare], [1 / 3, 2 / 3, 0.0]])
    >>> joined(problem, Guess(), table).kept
    (0, 1)
    """
    matrix, kept = matrix.copy(), np.arange(matrix.shape[1])
    share = 0.0
    while len(kept) > 1:
        need = strain(problem, matrix[:, kept])
        weights = dot(problem.masses, matrix[:, kept])
        gone = need > _level(need, weights)
        if not gone.any():
            break
        staying = kept[~gone]
        for place in kept[gone]:
            partner = _partner(problem.masses, utility, matrix, int(place), staying)
            matrix[:, partner] += matrix[:, place]
        share += float(weights[gone].sum())
        kept = staying
    left = matrix[:, kept]
    return Joined(left / left.sum(axis=1, keepdims=True), tuple(int(k) for k in kept), share)


def _level(need: Floats, weights: Floats) -> float:
    """Return the blend t for which t and the probability of what needs more are least together.

    Where every output needs much, joining them does not help: infinity.
    """
    order = np.argsort(need, kind="stable")
    rest = np.concatenate([np.cumsum(weights[order][::-1])[::-1][1:], [0.0]])
    total = np.where(need[order] <= _MOST, need[order] + rest, np.inf)
    best = int(np.argmin(total))
    return float(need[order][best]) if np.isfinite(total[best]) else np.inf


def _partner(
    masses: Floats, utility: Utility, matrix: Floats, place: int, staying: Integers
) -> int:
    """Return the output whose cost grows least when another is joined with it."""
    joint = (matrix[:, staying] * masses[:, None]).T
    together = joint + matrix[:, place] * masses
    change = _cost(utility, together) - _cost(utility, joint)
    return int(staying[int(np.argmin(change))])


def _cost(utility: Utility, joint: Floats) -> Floats:
    weights = joint.sum(axis=1)
    costs: Floats = weights * utility.costs(joint / weights[:, None])
    return costs
