"""The best of all designs that fit, where no optimum is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from liftlock.contexts import AnyUserPrior, Context, PerUserPriors
from liftlock.designs.base import option_names
from liftlock.designs.catalogue import designs_for
from liftlock.designs.goal import AnyUtility, Goal, Weights, read_goal
from liftlock.designs.per_user import design_users
from liftlock.designs.request import DesignRequest, cut, read_notion
from liftlock.errors import InputError, LiftlockError, NotCertified, NotDefined
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.line.grid import LinePrior
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.progress import Progress, Step


def best(
    context: Context | LinePrior,
    notion: Notion | object,
    *,
    utility: AnyUtility | None = None,
    loss: Any = None,
    weights: Weights = None,
    bits: int = DEFAULT_BITS,
    cells: int | None = None,
    spacing: str | None = None,
    watch: Progress | None = None,
    **options: Any,
) -> Mechanism:
    """Make every mechanism that fits, and return the best of those that could be certified.

    Options go to those methods that take them. A remark says how the others did. A mechanism that
    keeps epsilon outright keeps it with any delta, so where a delta is allowed the optimum without
    one is tried as well. `outage`, which gives the value itself away now and then, has to be named.

    >>> from liftlock.notions.approximate import ApproximateLIP
    >>> from liftlock.contexts import Prior
    >>> prior = Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
    >>> best(prior, ApproximateLIP("1", "0.05")).certificate.guarantee
    'lip_ediv(epsilon=1, delta=0.05)'
    """
    context = cut(context, cells, spacing)
    if isinstance(context, PerUserPriors | AnyUserPrior):
        return design_users(context, notion, utility=utility, **options)
    notion = read_notion(notion, context.kind)
    pure = None if notion.delta_limit() is None else notion.without_delta
    of_kind = designs_for(context.kind)
    entries = [
        entry
        for entry in of_kind.values()
        if entry.keeps
        and not entry.on_request
        and entry.fits(context)
        and (notion.name in entry.notions or (pure is not None and entry.key == "optimal"))
    ]
    known = {name for entry in entries for name in option_names(entry)}
    for name in options:
        if name not in known:
            raise InputError(
                "no applicable method has this option",
                value=name,
                remedy=f"their options are {', '.join(sorted(known)) or 'none'}",
            )
    aim: dict[str, Any] = {"utility": utility, "loss": loss, "weights": weights}
    found: list[Mechanism] = []
    refused: list[LiftlockError] = []
    for entry in entries:
        if watch is not None:
            watch(Step(f"trying {entry.key}"))
        chosen = {name: value for name, value in options.items() if entry.accepts(name)}
        asked = notion if notion.name in entry.notions or pure is None else pure
        try:
            made = DesignRequest.of(entry, context, asked, chosen, **aim).make(bits)
            found.append(made if asked is notion else _relaxed(made, notion))
        except LiftlockError as error:
            refused.append(error)
    if not found:
        if refused:
            raise refused[0]
        raise NotDefined(
            "designing",
            f"the notion {notion.name} for {context.describe()}",
            f"design for {', '.join(next(iter(of_kind.values())).notions)}",
        )
    return best_of(found, read_goal(context, **aim), "that could be certified")


def best_of(found: Iterable[Mechanism], goal: Goal, which: str) -> Mechanism:
    """Return the mechanism that is best for a goal; a remark says how the others did."""
    made = [(each, each.origin) for each in found if each.origin is not None]
    made.sort(key=lambda pair: pair[1].objective, reverse=goal.utility.larger_is_better)
    (chosen, origin), *others = made
    if not others:
        return chosen
    told = ", ".join(f"{other.method} {other.objective:.6g}" for _, other in others)
    said = f"the best of {len(made)} {which}; others: {told}"
    return replace(chosen, origin=replace(origin, remarks=(*origin.remarks, said)))


def _relaxed(made: Mechanism, notion: Notion) -> Mechanism:
    """Certify a mechanism for a weaker notion than it was designed for."""
    certificate = notion.certify(made.channel, made.context)
    if not certificate.holds or made.origin is None:
        raise NotCertified(certificate, notion.smallest(made.channel, made.context))
    said = f"it keeps {made.notion} as well: delta is not used"
    # The bound is that of the stronger notion; a mechanism that uses delta might be better.
    origin = replace(
        made.origin, bound=None, gap=None, warning="", remarks=(*made.origin.remarks, said)
    )
    return replace(made, certificate=certificate, origin=origin)
