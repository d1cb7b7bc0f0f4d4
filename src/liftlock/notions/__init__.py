"""Privacy notions: a class for each, with the same verbs.

``LIP.measure(channel, context)`` returns a `Measurement` (the leakage with its witness); an
instance is a guarantee, ``LIP("1")``, with ``certify(channel, context)``, which returns a
`Certificate`, and says what it limits, implies and promises.
"""

from liftlock.notions.approximate import ApproximateLDP, ApproximateLIP, DeltaCurve
from liftlock.notions.audit import Audit, ProfileAudit, audit
from liftlock.notions.base import DeltaLimit, LiftLimits, Notion
from liftlock.notions.breach import NoBreach, find_breaches
from liftlock.notions.certificate import Certificate, Claim
from liftlock.notions.crowd_mass import CrowdMass
from liftlock.notions.guarantee import Guarantee
from liftlock.notions.identifiability import Identifiability
from liftlock.notions.information import (
    Arimoto,
    Chi2,
    MaximalLeakage,
    MutualInformation,
    Sibson,
    TotalVariation,
)
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import LiftTable, lift_range, lift_table, worst_case
from liftlock.notions.lip import ALIP, LIP, MaxLift, MinLift
from liftlock.notions.measurement import Measurement, Witness
from liftlock.notions.per_output import (
    AlphaLift,
    AlphaLiftInverse,
    Chi2Lift,
    Chi2LiftInverse,
    L1Lift,
    L1LiftInverse,
)
from liftlock.notions.profile import ProfilePrivacy
from liftlock.notions.registry import REGISTRY, make_notion, parse_claim
from liftlock.notions.relations import implications

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "REGISTRY",
    "AlphaLift",
    "AlphaLiftInverse",
    "ApproximateLDP",
    "ApproximateLIP",
    "Arimoto",
    "Audit",
    "Certificate",
    "Chi2",
    "Chi2Lift",
    "Chi2LiftInverse",
    "Claim",
    "CrowdMass",
    "DeltaCurve",
    "DeltaLimit",
    "Guarantee",
    "Identifiability",
    "L1Lift",
    "L1LiftInverse",
    "LiftLimits",
    "LiftTable",
    "MaxLift",
    "MaximalLeakage",
    "Measurement",
    "MinLift",
    "MutualInformation",
    "NoBreach",
    "Notion",
    "ProfileAudit",
    "ProfilePrivacy",
    "Sibson",
    "TotalVariation",
    "Witness",
    "audit",
    "find_breaches",
    "implications",
    "lift_range",
    "lift_table",
    "make_notion",
    "parse_claim",
    "worst_case",
]
