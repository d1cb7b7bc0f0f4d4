"""Users with priors of their own: releasing, auditing, and estimating from their reports."""

from liftlock.local.aggregate import LocalAggregate
from liftlock.local.audit import LocalAudit
from liftlock.local.mechanism import LocalMechanism
from liftlock.local.priors import LocalPriors

__all__ = ["LocalAggregate", "LocalAudit", "LocalMechanism", "LocalPriors"]
