"""The optimal random response of the papers (ORR, AORR): the optimum for mutual information."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from liftlock._solver.problem import Step
from liftlock._solver.strategies import AUTO
from liftlock.context import Context
from liftlock.designs.base import LIFT_NOTIONS, Design, Draft
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.notions.base import Notion
from liftlock.progress import Progress
from liftlock.utility.mutual_information import MutualInformation
from liftlock.utility.utility import Utility


def optimal_response(
    context: Context,
    notion: Notion,
    *,
    utility: Utility | None = None,
    gap: float = 1e-6,
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
    >>> from liftlock.prior import Prior
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
        return replace(found, method=DESIGN.key)
    # The proof speaks of mutual information, and says nothing of another utility.
    remark = f"made for mutual information, not for {utility.name}: method optimal would be better"
    return replace(found, method=DESIGN.key, optimality=None, remarks=(*found.remarks, remark))


DESIGN = Design(
    key="optimal-response",
    make=optimal_response,
    says="the papers' optimal random response: the most mutual information that the notion allows",
    promises="optimal for mutual information within the certified gap",
    source="002 eq. (12)",
    notions=(*LIFT_NOTIONS, "ldp"),
    contexts=("prior", "joint"),
    options={
        "gap": "the relative gap to prove before stopping (1e-6)",
        "seconds": "stop after so many seconds with the best mechanism so far",
        "how": "auto, generation or enumeration (list every vertex, as in the papers)",
    },
)
