"""Graphs of profiles from end to end: designing, comparing, composing releases."""

from liftlock.profiles.comparing import ProfileRow, compare_profiles
from liftlock.profiles.curves import Sweep, couplet_curve, sweep
from liftlock.profiles.designing import design_profiles
from liftlock.profiles.examples import EXAMPLES, example, workstation

__all__ = [
    "EXAMPLES",
    "ProfileRow",
    "Sweep",
    "compare_profiles",
    "couplet_curve",
    "design_profiles",
    "example",
    "sweep",
    "workstation",
]
