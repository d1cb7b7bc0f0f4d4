"""The papers' randomised response, exactly as published, with the guarantee it truly gives."""

from __future__ import annotations

import numpy as np

from liftlock._solver.problem import Problem
from liftlock.context import Context, representative
from liftlock.designs.base import Design, Draft
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure, log_of
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lip import ALIP, LIP
from liftlock.utility.utility import Utility


def published_response(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,  # noqa: ARG001
) -> Draft:
    """Keep X with probability 1 - e^-epsilon, else draw afresh from the prior.

        q(y | x) = P(y) / e^epsilon  for y != x,   q(x | x) = 1 - (1 - P(x)) / e^epsilon

    The papers call it optimal under epsilon-LIP. It is, when P_min >= 1/(e^epsilon + 1). Otherwise
    it is not even private at that level: the lift of the rarest symbol at its own output is above
    e^epsilon. `true_guarantee` says what it does give; `safe_response` is the honest form.

    Source: 000 eq. (19); 001 Thm 2, Thm 3, Thm 5.

    >>> from liftlock.prior import Prior
    >>> rare = Prior.from_probabilities({"a": "0.1", "b": "0.2", "c": "0.7"})
    >>> draft = published_response(rare, LIP("1"))
    >>> draft.matrix.round(4)[0].tolist()
    [0.6689, 0.0736, 0.2575]
    >>> draft.remarks[-1]
    'it truly gives alip(lower=1, upper=1.9004770979), not lip(1)'
    """
    problem = Problem.of(context, notion)
    keep = 1.0 - problem.lower
    matrix = keep * np.eye(len(problem.masses)) + problem.lower * problem.masses
    remarks = [f"the value is kept with probability {keep:.6g}, else drawn from the prior"]
    true = true_guarantee(context, notion)
    if true != notion:
        remarks.append(f"it truly gives {true}, not {notion}")
    return Draft.of(problem.inputs, problem.inputs, matrix, method=DESIGN.key, remarks=remarks)


def true_guarantee(context: Context, notion: Notion) -> Notion:
    """Return what the published response truly guarantees for an epsilon-LIP budget.

    That is epsilon-LIP if P_min >= 1/(e^epsilon + 1), and otherwise (lower, upper)-ALIP with

        lower = epsilon,   upper = ln((e^epsilon - 1 + P_min) / P_min) - epsilon,

    rounded up at the tenth decimal. Both are tight.

    >>> from liftlock.prior import Prior
    >>> print(true_guarantee(Prior.uniform("abcd"), LIP("1")))
    alip(lower=1, upper=1.0634553551)
    >>> print(true_guarantee(Prior.uniform("abcd"), LIP("ln 3")))
    lip(ln 3)
    """
    limits = notion.lift_limits()
    if notion.name != LIP.key or limits is None or limits.upper is None:
        raise NotDefined(
            "the published response", f"the notion {notion.name}", "it is made for lip"
        )
    least = min(p for p in representative(context).fractions if p)
    # The largest lift is e^-epsilon (1 + (e^epsilon - 1) / P_min): exact ends, since it rises
    # with e^epsilon.
    epsilon = limits.upper
    exponential = epsilon.exp()
    assert exponential.upper is not None
    low, high = ((1 + (end - 1) / least) / end for end in (exponential.lower, exponential.upper))
    if epsilon.allows(high):
        return notion
    return ALIP(lower=epsilon, upper=safe_text(log_of(Enclosure(low, high))))


DESIGN = Design(
    key="response",
    make=published_response,
    says="the papers' randomised response for a fixed prior, exactly as published",
    promises="epsilon-LIP (and then optimal) only when P_min >= 1/(1 + e^epsilon)",
    source="000 eq. (19); 001 Thm 2, Thm 3, Thm 5",
    notions=("lip",),
    contexts=("prior",),
    needs="for comparison; lock refuses it where it breaks the budget",
    keeps=False,
)
