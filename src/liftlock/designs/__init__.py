"""From a context and a guarantee to certified mechanisms: design, compare and plan.

Designs propose drafts; `lock` turns a draft into a certified channel.
"""

from liftlock._solver.problem import Optimality, Problem, restrict_to_support
from liftlock.designs.api import best, design, design_as_published, usual_method
from liftlock.designs.base import Design, Draft, StructuredDraft
from liftlock.designs.baselines import (
    Baseline,
    ProfileBaseline,
    measure_baselines,
    measure_profile_baselines,
)
from liftlock.designs.catalogue import DESIGNS, designs_for, find_design
from liftlock.designs.comparison import Comparison, Curve, Point, asymmetric, compare
from liftlock.designs.count import CountMechanism, PublishedCount
from liftlock.designs.lock import LockedChannel, lock
from liftlock.designs.mechanisms.arc import arc
from liftlock.designs.mechanisms.categorical import shared_categorical, smooth_categorical
from liftlock.designs.mechanisms.centralised import (
    centralised,
    centralised_error,
    survey,
    survey_of,
)
from liftlock.designs.mechanisms.optimal import binary, optimal, optimal_response, staircase
from liftlock.designs.mechanisms.outage import outage
from liftlock.designs.mechanisms.prior_free import hashing, k_rr, subset_selection
from liftlock.designs.mechanisms.profile_response import cluster, randomised_response, single_bit
from liftlock.designs.mechanisms.quantile_blocks import quantile_blocks
from liftlock.designs.mechanisms.random_response import (
    published_response,
    random_sampling,
    safe_response,
)
from liftlock.designs.mechanisms.smooth_one_bit import smooth_one_bit
from liftlock.designs.mechanisms.subset_response import subset_response
from liftlock.designs.mechanisms.unary_encoding import oue, sue
from liftlock.designs.mechanisms.watchdog import subset_merging, watchdog
from liftlock.designs.noise.gaussian import gaussian, instance_gaussian
from liftlock.designs.noise.laplace import bounded_laplace, instance_laplace, laplace
from liftlock.designs.plan import Plan, plan

__all__ = [
    "DESIGNS",
    "Baseline",
    "Comparison",
    "CountMechanism",
    "Curve",
    "Design",
    "Draft",
    "LockedChannel",
    "Optimality",
    "Plan",
    "Point",
    "Problem",
    "ProfileBaseline",
    "PublishedCount",
    "StructuredDraft",
    "arc",
    "asymmetric",
    "best",
    "binary",
    "bounded_laplace",
    "centralised",
    "centralised_error",
    "cluster",
    "compare",
    "design",
    "design_as_published",
    "designs_for",
    "find_design",
    "gaussian",
    "hashing",
    "instance_gaussian",
    "instance_laplace",
    "k_rr",
    "laplace",
    "lock",
    "measure_baselines",
    "measure_profile_baselines",
    "optimal",
    "optimal_response",
    "oue",
    "outage",
    "plan",
    "published_response",
    "quantile_blocks",
    "random_sampling",
    "randomised_response",
    "restrict_to_support",
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
    "survey",
    "survey_of",
    "usual_method",
    "watchdog",
]
