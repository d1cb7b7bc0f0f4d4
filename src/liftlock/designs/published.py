"""What a published formula truly guarantees, where that is less than it was published for."""

from __future__ import annotations

from liftlock.contexts import Context
from liftlock.errors import InputError
from liftlock.forms import AnyChannel
from liftlock.notions.base import Notion, safe_text
from liftlock.notions.lift import extremes
from liftlock.notions.lip import lift_notion


def true_guarantee(channel: AnyChannel, asked: Notion, context: Context) -> tuple[Notion, str]:
    """Return the smallest guarantee of the kind asked for that a channel keeps, and say it.

    Lifts that fall to 0 leave no lower budget: then only the rise of beliefs is bounded.
    """
    attained = asked.attained(channel, context)
    if attained is not None:
        return attained, _said(asked, attained)
    if asked.ratio_limit is not None:
        raise _no_guarantee("an output that some secret never gives reveals it", asked)
    found = extremes(channel, context)
    lower, upper = found.eps_lower().value, found.eps_upper().value
    if upper.is_infinite:
        raise _no_guarantee("a belief can rise without bound", asked)
    if lower.is_infinite:
        risen = lift_notion(upper=safe_text(upper))
        return risen, _said(asked, risen) + "; an output rules some secret out altogether"
    true = lift_notion(lower=safe_text(lower), upper=safe_text(upper))
    return true, _said(asked, true)


def _said(asked: Notion, true: Notion) -> str:
    return f"as published: asked for {asked}, its true guarantee is {true}"


def _no_guarantee(why: str, asked: Notion) -> InputError:
    return InputError(
        f"the published mechanism keeps no finite budget: {why}",
        value=str(asked),
        remedy="choose a method that keeps its budget",
    )
