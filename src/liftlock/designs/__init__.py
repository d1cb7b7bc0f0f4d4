"""Designs propose drafts; `lock` turns a draft into a certified table."""

from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.draft import Draft, Optimality
from liftlock.designs.lock import Locked, lock
from liftlock.designs.optimal import optimal
from liftlock.designs.problem import Problem, supported
from liftlock.designs.registry import Design
from liftlock.designs.safe_response import safe_response

__all__ = [
    "DESIGNS",
    "Design",
    "Draft",
    "Locked",
    "Optimality",
    "Problem",
    "lock",
    "optimal",
    "safe_response",
    "supported",
]
