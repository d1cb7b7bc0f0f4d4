"""k-ary randomised response: tell the truth, or name any other symbol with equal probability."""

from __future__ import annotations

import numpy as np

from liftlock._solver.problem import ldp_budget
from liftlock.context import Context
from liftlock.designs.base import LIFT_NOTIONS, PRIOR_KINDS, Design, Draft
from liftlock.notions.base import Notion
from liftlock.utility.utility import Utility

WIDER = "it is LDP with the smaller budget, which implies the notion under every prior"
"""What to say of an LDP mechanism that serves for a lift notion."""


def k_rr(context: Context, notion: Notion, *, utility: Utility | None = None) -> Draft:  # noqa: ARG001
    """Say the truth with probability E / (E + k - 1), any other symbol with 1 / (E + k - 1).

    E = e^epsilon, k symbols. The prior plays no part. A factor E between the likelihoods of any two
    symbols keeps every lift between 1/E and E whatever the prior, and by data processing the
    same holds for any secret behind X; so it serves for lift notions too, with the smaller of
    their budgets. It is a baseline and not the best LDP mechanism for most utilities.

    Source: 000 section V; 001 section V, without its claim to be optimal.

    >>> from liftlock.notions.ldp import LDP
    >>> from liftlock.prior import Prior
    >>> k_rr(Prior.uniform("abc"), LDP("ln 2")).matrix.round(4)[0].tolist()
    [0.5, 0.25, 0.25]
    """
    size = len(context.inputs)
    other = 1.0 / float(ldp_budget(notion).exp())
    matrix = np.full((size, size), other)
    np.fill_diagonal(matrix, 1.0)
    matrix /= 1.0 + (size - 1) * other
    remarks = [f"the truth is told with probability {matrix[0, 0]:.6g}"]
    if notion.ratio_limit is None:
        remarks.append(WIDER)
    return Draft.of(context.inputs, context.inputs, matrix, method=DESIGN.key, remarks=remarks)


DESIGN = Design(
    key="k-rr",
    make=k_rr,
    says="k-ary randomised response: the truth, or any other symbol with equal probability",
    promises="nothing beyond LDP; a baseline that is good for few symbols or large budgets",
    source="000 section V; 001 section V",
    notions=("ldp", *LIFT_NOTIONS),
    contexts=PRIOR_KINDS,
    prior_free=True,
)
