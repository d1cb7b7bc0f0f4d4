"""From drafts to certified tables."""

from liftlock.designs.draft import Draft
from liftlock.designs.lock import Locked, lock

__all__ = ["Draft", "Locked", "lock"]
