"""Graphs of profiles from end to end: designing, what a mechanism is worth, composing releases."""

from liftlock.profiles.comparing import ProfileRow, compare_profiles
from liftlock.profiles.curves import couplet_curve, sweep
from liftlock.profiles.designing import design_profiles
from liftlock.profiles.examples import example
from liftlock.profiles.worth import Worth, worth

__all__ = [
    "ProfileRow",
    "Worth",
    "compare_profiles",
    "couplet_curve",
    "design_profiles",
    "example",
    "sweep",
    "worth",
]
