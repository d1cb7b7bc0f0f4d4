"""Designs propose drafts; `lock` turns a draft into a certified table."""

from liftlock._solver.optimality import Optimality
from liftlock._solver.problem import Problem, supported
from liftlock.designs.base import Design, Draft, FormDraft
from liftlock.designs.catalogue import DESIGNS, designs_for
from liftlock.designs.lock import Locked, LockedForm, lock
from liftlock.designs.mechanisms.arc import arc
from liftlock.designs.mechanisms.binary import binary
from liftlock.designs.mechanisms.centralised import (
    centralised,
    centralised_error,
    survey,
    survey_of,
)
from liftlock.designs.mechanisms.cluster import cluster
from liftlock.designs.mechanisms.hashing import hashing
from liftlock.designs.mechanisms.k_rr import k_rr
from liftlock.designs.mechanisms.optimal import optimal
from liftlock.designs.mechanisms.optimal_response import optimal_response
from liftlock.designs.mechanisms.outage import outage
from liftlock.designs.mechanisms.published_response import published_response
from liftlock.designs.mechanisms.quantile_blocks import quantile_blocks
from liftlock.designs.mechanisms.random_sampling import random_sampling
from liftlock.designs.mechanisms.randomised_response import randomised_response
from liftlock.designs.mechanisms.safe_response import safe_response
from liftlock.designs.mechanisms.shared_categorical import shared_categorical
from liftlock.designs.mechanisms.single_bit import single_bit
from liftlock.designs.mechanisms.smooth_categorical import smooth_categorical
from liftlock.designs.mechanisms.smooth_one_bit import smooth_one_bit
from liftlock.designs.mechanisms.staircase import staircase
from liftlock.designs.mechanisms.subset_merging import subset_merging
from liftlock.designs.mechanisms.subset_response import subset_response
from liftlock.designs.mechanisms.subset_selection import subset_selection
from liftlock.designs.mechanisms.unary_encoding import oue, sue
from liftlock.designs.mechanisms.watchdog import watchdog
from liftlock.designs.noise.gaussian import gaussian, instance_gaussian
from liftlock.designs.noise.laplace import bounded_laplace, instance_laplace, laplace

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
    "bounded_laplace",
    "centralised",
    "centralised_error",
    "cluster",
    "designs_for",
    "gaussian",
    "hashing",
    "instance_gaussian",
    "instance_laplace",
    "k_rr",
    "laplace",
    "lock",
    "optimal",
    "optimal_response",
    "oue",
    "outage",
    "published_response",
    "quantile_blocks",
    "random_sampling",
    "randomised_response",
    "safe_response",
    "shared_categorical",
    "single_bit",
    "smooth_categorical",
    "smooth_one_bit",
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
