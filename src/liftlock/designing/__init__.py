"""From a context and a guarantee to certified mechanisms: design, compare and plan."""

from liftlock.designing.api import best, design, design_as_published
from liftlock.designing.comparison import Comparison, Curve, Point, asymmetric, compare
from liftlock.designing.plans import Plan, plan
from liftlock.designing.yardstick import (
    ProfileYardstick,
    Yardstick,
    profile_yardsticks,
    yardsticks,
)

__all__ = [
    "Comparison",
    "Curve",
    "Plan",
    "Point",
    "ProfileYardstick",
    "Yardstick",
    "asymmetric",
    "best",
    "compare",
    "design",
    "design_as_published",
    "plan",
    "profile_yardsticks",
    "yardsticks",
]
