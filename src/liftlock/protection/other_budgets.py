"""What a stricter or a looser budget would have cost: designs around the chosen one."""

from __future__ import annotations

import time
from fractions import Fraction

from liftlock.contexts import Context
from liftlock.errors import LiftlockError
from liftlock.mechanism import Mechanism
from liftlock.notions.base import Notion
from liftlock.progress import Progress, Step
from liftlock.protection.choosing import choose
from liftlock.protection.result import Curve, CurvePoint
from liftlock.utility.registry import make_utility
from liftlock.utility.utility import Utility

SCALES = tuple(Fraction(scale) for scale in ("1/4", "1/2", "3/4", "3/2", "2", "4"))


def curve_around(
    made: Mechanism,
    context: Context,
    notion: Notion,
    *,
    utility: str | Utility | None = None,
    method: str | None = None,
    seconds: float = 10.0,
    watch: Progress | None = None,
) -> Curve | None:
    """Design at other budgets in the time given; None if there was time for none."""
    origin = made.origin
    if origin is None or origin.nothing is None or origin.truth is None:
        return None
    goal = make_utility(origin.utility if utility is None else utility, context.inputs)
    points = [CurvePoint(1.0, made.certificate.guarantee, origin.objective)]
    end = time.monotonic() + seconds
    for done, scale in enumerate(SCALES):
        left = end - time.monotonic()
        if left <= 0:
            break
        if watch is not None:
            watch(Step(f"designing at {float(scale):g} times the budget"))
        try:
            other = choose(
                context,
                notion.scaled(scale),
                utility=utility,
                method=method,
                seconds=left / (len(SCALES) - done),
            )
        except LiftlockError:
            continue
        if other.origin is not None:
            points.append(
                CurvePoint(float(scale), other.certificate.guarantee, other.origin.objective)
            )
    if len(points) < 2:
        return None
    ordered = tuple(sorted(points, key=lambda point: point.scale))
    return Curve(
        origin.title or origin.utility, goal.larger_is_better, ordered, origin.nothing, origin.truth
    )
