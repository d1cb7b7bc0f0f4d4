"""Designs propose drafts; `lock` turns a draft into a certified table."""

from liftlock.designs.arc import arc
from liftlock.designs.binary import binary
from liftlock.designs.catalogue import DESIGNS
from liftlock.designs.centralised import centralised, centralised_error, survey, survey_of
from liftlock.designs.draft import Draft, FormDraft, Optimality
from liftlock.designs.hashing import hashing
from liftlock.designs.k_rr import k_rr
from liftlock.designs.lock import Locked, LockedForm, lock
from liftlock.designs.optimal import optimal
from liftlock.designs.optimal_response import optimal_response
from liftlock.designs.problem import Problem, supported
from liftlock.designs.published_response import published_response
from liftlock.designs.registry import Design
from liftlock.designs.safe_response import safe_response
from liftlock.designs.staircase import staircase
from liftlock.designs.subset_merging import subset_merging
from liftlock.designs.subset_response import subset_response
from liftlock.designs.subset_selection import subset_selection
from liftlock.designs.unary_encoding import oue, sue
from liftlock.designs.watchdog import watchdog

__all__ = [
    "DESIGNS",
    "Design",
    "Draft",
    "FormDraft",
    "Locked",
    "LockedForm",
    "Optimality",
    "Problem",
    "arc",
    "binary",
    "centralised",
    "centralised_error",
    "hashing",
    "k_rr",
    "lock",
    "optimal",
    "optimal_response",
    "oue",
    "published_response",
    "safe_response",
    "staircase",
    "subset_merging",
    "subset_response",
    "subset_selection",
    "sue",
    "supported",
    "survey",
    "survey_of",
    "watchdog",
]
