"""Graphs of profiles from end to end: designing, what a mechanism is worth, composing releases."""

from liftlock.profiles.comparing import ProfileRow, compare_profiles
from liftlock.profiles.composition import Composition, compose
from liftlock.profiles.curves import Sweep, couplet_curve, sweep
from liftlock.profiles.designing import design_profiles
from liftlock.profiles.examples import EXAMPLES, example, workstation
from liftlock.profiles.ledger import ProfileLedger
from liftlock.profiles.worth import Worth, worth

__all__ = [
    "EXAMPLES",
    "Composition",
    "ProfileLedger",
    "ProfileRow",
    "Sweep",
    "Worth",
    "compare_profiles",
    "compose",
    "couplet_curve",
    "design_profiles",
    "example",
    "sweep",
    "workstation",
    "worth",
]
