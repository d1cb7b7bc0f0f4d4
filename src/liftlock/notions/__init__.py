"""Privacy notions: one module each, with the same verbs.

Every module has ``measure(channel, context)``, which returns a `Reading` (the leakage with its
witness), and a class whose instances are guarantees (``LIP("1")``) with ``certify(channel,
context)``, which returns a `Certificate`.
"""

from liftlock.notions.alip import ALIP
from liftlock.notions.alpha_lift import AlphaLift, AlphaLiftInverse
from liftlock.notions.approximate_ldp import ApproximateLDP
from liftlock.notions.approximate_lip import ApproximateLIP, DeltaCurve
from liftlock.notions.arimoto import Arimoto
from liftlock.notions.audit import Audit, ProfileAudit, audit
from liftlock.notions.breach import breaches
from liftlock.notions.certificate import Certificate, Claim
from liftlock.notions.chi2 import Chi2
from liftlock.notions.chi2_lift import Chi2Lift, Chi2LiftInverse
from liftlock.notions.identifiability import Identifiability
from liftlock.notions.l1_lift import L1Lift, L1LiftInverse
from liftlock.notions.ldp import LDP
from liftlock.notions.lift import LiftTable, lift_table
from liftlock.notions.lip import LIP
from liftlock.notions.maximal_leakage import MaximalLeakage
from liftlock.notions.mutual_information import MutualInformation
from liftlock.notions.notion import Notion
from liftlock.notions.profile import ProfilePrivacy
from liftlock.notions.reading import Reading, Witness
from liftlock.notions.relations import implied
from liftlock.notions.sibson import Sibson
from liftlock.notions.total_variation import TotalVariation

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
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
    "DeltaCurve",
    "Identifiability",
    "L1Lift",
    "L1LiftInverse",
    "LiftTable",
    "MaximalLeakage",
    "MutualInformation",
    "Notion",
    "ProfileAudit",
    "ProfilePrivacy",
    "Reading",
    "Sibson",
    "TotalVariation",
    "Witness",
    "audit",
    "breaches",
    "implied",
    "lift_table",
]
