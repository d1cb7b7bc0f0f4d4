"""The friendly face of design: from a context and a notion to a certified mechanism."""

from __future__ import annotations

from typing import Any

from liftlock.context import Context
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.draft import Draft
from liftlock.designs.lock import Locked, representative
from liftlock.designs.lock import lock as lock_channel
from liftlock.designs.problem import supported
from liftlock.designs.registry import check_fits, find_design
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.mechanism import Mechanism, Origin
from liftlock.notions.ldp import LDP
from liftlock.notions.notion import Notion
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility, mean_cost


def design(
    context: Context,
    notion: Notion,
    *,
    utility: str | Utility = "mutual-information",
    method: str = "optimal",
    bits: int = DEFAULT_BITS,
    **options: Any,
) -> Mechanism:
    """Design a mechanism for a context, prove it, and say how good it is.

    Inputs that cannot occur are left out, and a remark says so. What the method proposes is locked:
    rounded to integers and audited exactly, so a mechanism that is returned keeps the notion.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.prior import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> mechanism = design(prior, LIP("1"), utility="histogram", method="safe-response")
    >>> mechanism.certificate.holds, round(mechanism.origin.objective, 4)
    (True, 0.4432)
    """
    entry = find_design(method, DESIGNS)
    check_fits(entry, context, notion)
    dropped: tuple[Any, ...] = ()
    if not isinstance(notion, LDP):
        context, dropped = supported(context)
    goal = make_utility(utility, context.inputs)
    draft = entry.make(context, notion, utility=goal, **options)
    locked = lock_channel(draft, notion, context, bits=bits)
    remarks = draft.remarks
    if dropped:
        shown = ", ".join(repr(label) for label in dropped[:5])
        more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
        remarks += (f"left out because they never occur: {shown}{more}",)
    return Mechanism(
        locked.channel,
        locked.certificate,
        context,
        _origin(entry.key, goal, draft, locked, context, remarks),
    )


def _origin(
    method: str,
    goal: Utility,
    draft: Draft,
    locked: Locked,
    context: Context,
    remarks: tuple[str, ...],
) -> Origin:
    masses = representative(context).floats()
    cost = mean_cost(goal, locked.channel.floats(), masses)
    bound = gap = None
    if draft.optimality is not None:
        proved = draft.optimality
        bound = goal.shown(proved.bound, masses)
        gap = max(cost - proved.bound, 0.0) / proved.reference if proved.reference > 0 else 0.0
    return Origin(method, goal.name, goal.shown(cost, masses), bound, gap, remarks)
