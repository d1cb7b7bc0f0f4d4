"""liftlock: context-aware local privacy that can be checked.

import liftlock as ll

prior = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
mechanism = ll.design(prior, ll.LIP("1"), utility="histogram")  # the certified optimum
reports = mechanism.release(answers)                            # operating-system entropy
print(ll.audit(mechanism.channel, prior).worst_case())
"""

import importlib
from typing import TYPE_CHECKING, Any

from liftlock import designs, line, notions, utility
from liftlock.accounting import Ledger
from liftlock.alphabet import Alphabet
from liftlock.channel import Channel, Table
from liftlock.contexts import (
    Ball,
    Context,
    Family,
    Intervals,
    Joint,
    PerUserPriors,
    Prior,
    ProfileGraph,
)
from liftlock.designs import Draft
from liftlock.designs.api import design, design_as_published, lock
from liftlock.designs.best_design import best
from liftlock.designs.comparison import compare
from liftlock.designs.plans import plan
from liftlock.errors import (
    InputError,
    LiftlockError,
    NotCertified,
    NotComposable,
    NotDefined,
    UnprotectedInput,
)
from liftlock.estimate import Aggregate, Estimate
from liftlock.exact.numbers import exact, measured
from liftlock.files import read_channel, read_column, read_joint, read_prior, read_priors
from liftlock.mechanism import Mechanism
from liftlock.notions import (
    ALIP,
    LDP,
    LIP,
    ApproximateLDP,
    ApproximateLIP,
    Audit,
    Certificate,
    ProfileAudit,
    ProfilePrivacy,
    audit,
    implied,
    lift_table,
)
from liftlock.progress import Progress, Step
from liftlock.sampling import release, simulate
from liftlock.transfer import transfer

if TYPE_CHECKING:
    from liftlock import probe
    from liftlock.tables.protect.api import protect

__version__ = "0.1.0"

__all__ = [
    "ALIP",
    "LDP",
    "LIP",
    "Aggregate",
    "Alphabet",
    "ApproximateLDP",
    "ApproximateLIP",
    "Audit",
    "Ball",
    "Certificate",
    "Channel",
    "Context",
    "Draft",
    "Estimate",
    "Family",
    "InputError",
    "Intervals",
    "Joint",
    "Ledger",
    "LiftlockError",
    "Mechanism",
    "NotCertified",
    "NotComposable",
    "NotDefined",
    "PerUserPriors",
    "Prior",
    "ProfileAudit",
    "ProfileGraph",
    "ProfilePrivacy",
    "Progress",
    "Step",
    "Table",
    "UnprotectedInput",
    "__version__",
    "audit",
    "best",
    "compare",
    "design",
    "design_as_published",
    "designs",
    "exact",
    "implied",
    "lift_table",
    "line",
    "lock",
    "measured",
    "notions",
    "plan",
    "probe",
    "protect",
    "read_channel",
    "read_column",
    "read_joint",
    "read_prior",
    "read_priors",
    "release",
    "simulate",
    "transfer",
    "utility",
]


def __getattr__(name: str) -> Any:
    # The statistical audit loads scipy, which takes as long as everything else together.
    if name == "probe":
        return importlib.import_module("liftlock.probe")
    # So do the libraries of data frames.
    if name == "protect":
        return importlib.import_module("liftlock.tables.protect.api").protect
    raise AttributeError(f"module 'liftlock' has no attribute {name!r}")
