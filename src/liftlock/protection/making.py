"""From what was learned of a column to the mechanism that releases it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from liftlock.contexts import Context, Joint
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.progress import Progress
from liftlock.protection.choosing import SECONDS, choose
from liftlock.protection.rules import Learned
from liftlock.protection.shaping import with_missing, with_numbers, without_missing
from liftlock.utility.utility import Utility


@dataclass(frozen=True)
class Made:
    """A mechanism with the rules of its column, and the design inside of it."""

    mechanism: Mechanism
    core: Mechanism
    """As it was designed: without cells that stay missing, and before outputs were named."""
    context: Context
    notion: Notion
    """What the core was designed for: what missing cells leave of the budget."""
    utility: str | Utility | None


def make_mechanism(
    learned: Learned,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = SECONDS,
    watch: Progress | None = None,
) -> Made:
    """Design for a column, prove the whole, and give it the rules of the column.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.protection.rules import learn_labels
    >>> jobs = learn_labels("job", {(None, "nurse"): 6, (None, "cook"): 3, (None, None): 1})
    >>> made = make_mechanism(jobs, LIP("1")).mechanism
    >>> made.certificate.guarantee, made.column.missing
    ('lip(epsilon=1)', '(missing)')
    """
    context: Context = learned.context
    asked = notion
    if learned.fixed is not None:
        assert isinstance(learned.context, Joint)
        context, asked = without_missing(learned.context, learned.fixed, notion)
    if utility is None and learned.code.numeric and learned.context.inputs.coordinates is not None:
        utility = "mean"
    core = choose(context, asked, utility=utility, method=method, seconds=seconds, watch=watch)
    whole = core
    if learned.fixed is not None:
        assert isinstance(learned.context, Joint)
        whole = with_missing(core, learned.context, learned.fixed, notion)
    if learned.code.numeric:
        whole = with_numbers(whole, learned.code, np.array(learned.points))
    return Made(replace(whole, column=learned.code), core, context, asked, utility)
