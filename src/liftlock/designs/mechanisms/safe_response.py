"""The safe response: keep the value with the largest probability that truly keeps the budget."""

from __future__ import annotations

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.context import Context
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility


def safe_response(context: Context, notion: Notion, *, utility: Utility | None = None) -> Draft:  # noqa: ARG001
    """Keep X with probability t, else draw afresh from the prior, with the largest safe t.

    The lifts are 1 - t off the diagonal and 1 - t + t / P(x) on it, so

        t = min(1 - L, (U - 1) P_min / (1 - P_min))

    for lifts in [L, U]. With a single symbol there is nothing to protect, and t = 1.

    Source: 000 eq. (19) with the limit it lacks; 000 Prop. 2 at delta = 0.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> rare = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    >>> safe_response(rare, LIP("1")).matrix.round(4)[0].tolist()
    [0.2718, 0.1618, 0.5664]
    """
    problem = Problem.of(context, notion)
    masses = problem.masses
    least = masses.min()
    keep = 1.0
    if least < 1:
        keep = min(1.0 - problem.lower, (problem.upper - 1.0) * least / (1.0 - least), 1.0)
    matrix = keep * np.eye(len(masses)) + (1.0 - keep) * masses
    return Draft.of(
        problem.inputs,
        problem.inputs,
        matrix,
        method=DESIGN.key,
        remarks=[f"the value is kept with probability {keep:.6g}, else drawn from the prior"],
    )


DESIGN = Design(
    key="safe-response",
    make=safe_response,
    says="keep the value, else draw from the prior; the largest keep-probability that is safe",
    promises="closed form; optimal for every utility exactly when P_min >= 1/(1 + e^epsilon)",
    source="000 eq. (19) corrected; 000 Prop. 2 at delta 0",
    notions=LIFT_NOTIONS,
    contexts=("prior",),
)
