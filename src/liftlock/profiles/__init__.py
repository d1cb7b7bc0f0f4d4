"""Releases of a graph of profiles together: what they lose, and which observations were sent."""

from liftlock.profiles.composition import Composition, compose
from liftlock.profiles.ledger import ProfileLedger

__all__ = ["Composition", "ProfileLedger", "compose"]
