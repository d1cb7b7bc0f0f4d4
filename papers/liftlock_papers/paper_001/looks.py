"""How the curves of paper 001 look, alike in all its figures."""

from __future__ import annotations

from liftlock_papers.figure import Curve
from liftlock_papers.paper_001.names import (
    MERGED,
    NOTHING,
    OPTIMUM,
    OPTIMUM_HALF,
    PUBLISHED,
    PUBLISHED_HALF,
    RESPONSE,
    STAIRCASE,
    UNARY,
    UNAWARE,
)

ERROR = "√(mean squared error / N)"
BUDGET = "ε that is asked for (nats)"
PROTECTION = (
    "Curves at one ε do not protect alike: LIP at ε is LDP of up to 2ε, LDP at ε leaks less than ε "
    "in LIP, LIP at ε/2 is LDP of up to ε; Fig. 5 says what each leaks."
)
"""What the axis of budgets does not say."""

LOOKS = {
    UNAWARE: Curve(UNAWARE, "purple", "dotted", marker="^"),
    UNARY: Curve(UNARY, "gold", "dashdot", marker="v"),
    RESPONSE: Curve(RESPONSE, "grey", marker="s"),
    STAIRCASE: Curve(STAIRCASE, "grey", "dashed"),
    MERGED: Curve(MERGED, "grey", "dashdot"),
    PUBLISHED: Curve(PUBLISHED, "orange", width=2.4),
    PUBLISHED_HALF: Curve(PUBLISHED_HALF, "orange", "dashed", width=2.4),
    OPTIMUM: Curve(OPTIMUM, "blue", marker="o"),
    OPTIMUM_HALF: Curve(OPTIMUM_HALF, "blue", "dashed"),
    NOTHING: Curve(NOTHING, "teal", "dotted"),
}


def looks(*names: str) -> tuple[Curve, ...]:
    """Return the looks of these curves."""
    return tuple(LOOKS[name] for name in names)
