"""The best mechanism that can be certified in a given time."""

from __future__ import annotations

import time
from typing import Any

from liftlock._solver.clock import Clock
from liftlock.contexts import Context
from liftlock.designs.api import design
from liftlock.designs.base import Design
from liftlock.designs.best_design import best_of
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.goal import read_goal
from liftlock.errors import LiftlockError, NotDefined
from liftlock.forms import SupportChannel
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.progress import Progress, Step, silent
from liftlock.utility.utility import Utility

SECONDS = 60.0
"""How long is searched unless told otherwise."""

_FOR_THE_OPTIMUM = 0.75
"""The share of the work that the search for the optimum may take before others are tried."""


def choose(
    context: Context,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = SECONDS,
    watch: Progress | None = None,
) -> Mechanism:
    """Design with one method, or with all that fit until the time is up, and take the best.

    The optimum comes first: once it is proved, nothing else can be better. If time runs out
    before, its best mechanism so far competes with those of all other methods. Methods that report
    sets of values are left out: a column has one value in each cell.

    >>> from liftlock.notions.lip import LIP
    >>> from liftlock.contexts import Prior
    >>> made = choose(Prior.from_counts({"none": 7, "cold": 2, "flu": 1}), LIP("1"))
    >>> made.origin.method, made.certificate.holds
    ('optimal', True)
    """
    tell = silent if watch is None else watch
    if method is not None and method != "auto":
        made = _made(method, context, notion, utility, seconds, tell)
        if isinstance(made.channel, SupportChannel):
            raise NotDefined(
                f"the method {method}",
                "a column of a table",
                "it reports sets of values: choose another method",
            )
        return made
    end = time.monotonic() + seconds - Clock.paused
    found: list[Mechanism] = []
    refused: list[LiftlockError] = []
    best: Design = DESIGNS["optimal"]
    fitting = [
        entry
        for entry in DESIGNS.values()
        if entry.keeps and context.kind in entry.contexts and notion.name in entry.notions
    ]
    others = [entry for entry in fitting if entry is not best and not entry.on_request]
    # Fixed shares, so that what is chosen does not depend on how fast the machine is.
    searching = sum(entry.accepts("seconds") for entry in others)
    each = (1.0 - _FOR_THE_OPTIMUM) * seconds / max(searching, 1)
    for entry in (*(e for e in fitting if e is best), *others):
        if found and time.monotonic() > end + Clock.paused:
            continue
        limit = _FOR_THE_OPTIMUM * seconds if entry is best else each
        try:
            made = _made(entry.key, context, notion, utility, max(1.0, limit), tell)
        except LiftlockError as error:
            refused.append(error)
            continue
        if isinstance(made.channel, SupportChannel):
            continue
        found.append(made)
        if entry is best and _proved(made):
            return made
    if not found:
        if refused:
            raise refused[0]
        raise NotDefined(
            "protecting a column",
            f"the notion {notion.name} for {context.describe()}",
            f"ask for {', '.join(best.notions)}",
        )
    return best_of(found, read_goal(context, utility), "methods in the time given")


def _made(
    key: str,
    context: Context,
    notion: Notion,
    utility: str | Utility | None,
    seconds: float,
    tell: Progress,
) -> Mechanism:
    tell(Step(f"designing ({key})"))
    entry = DESIGNS.get(key)
    options: dict[str, Any] = {}
    if entry is not None and entry.accepts("seconds"):
        options["seconds"] = seconds
    if entry is not None and entry.accepts("watch"):
        options["watch"] = lambda step: tell(Step(f"designing ({key}): {step}"))
    return design(context, notion, utility=utility, method=key, **options)


def _proved(made: Mechanism) -> bool:
    """Tell whether nothing better than this is left to be found, up to the gap of the search."""
    origin = made.origin
    return origin is not None and origin.gap is not None and origin.gap <= 1e-5
