"""Graphs of profiles from end to end: designing, what a mechanism is worth, composing releases."""

from liftlock.profiles.designing import design_profiles
from liftlock.profiles.worth import Worth, worth

__all__ = ["Worth", "design_profiles", "worth"]
