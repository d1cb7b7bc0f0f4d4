"""liftlock: context-aware local privacy that can be checked.

import liftlock as ll

prior = ll.Prior.from_counts({"none": 700, "cold": 200, "flu": 100})
mechanism = ll.design(prior, ll.LIP("1"), utility="frequencies")  # for counting answers
reports = mechanism.release(answers)                            # operating-system entropy
print(ll.audit(mechanism.channel, prior).worst_case())
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liftlock import designs, notions, probe, utility
    from liftlock._runtime.progress import Progress, Step
    from liftlock.accounting import Ledger
    from liftlock.collect.survey import Survey
    from liftlock.designs import Draft
    from liftlock.designs.api import best, design, design_as_published, lock
    from liftlock.designs.comparison import compare
    from liftlock.designs.plan import plan
    from liftlock.errors import (
        InputError,
        LiftlockError,
        NotCertified,
        NotComposable,
        NotDefined,
        UnprotectedInput,
    )
    from liftlock.estimate import Aggregate, Estimate, combine
    from liftlock.exact.numbers import exact, measured
    from liftlock.files import read_channel, read_column, read_joint, read_prior, read_priors
    from liftlock.mechanism import Mechanism
    from liftlock.model import (
        Ball,
        Conditional,
        Context,
        Family,
        Intervals,
        Joint,
        PerUserPriors,
        Prior,
        ProfileGraph,
        continuous,
    )
    from liftlock.model.alphabet import Alphabet
    from liftlock.model.channel import Channel, Table
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
        implications,
        lift_table,
    )
    from liftlock.notions.audit import audit
    from liftlock.sampling.release import release, simulate
    from liftlock.tables.protect.api import protect
    from liftlock.transfer import transfer

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
    "Conditional",
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
    "Survey",
    "Table",
    "UnprotectedInput",
    "__version__",
    "audit",
    "best",
    "combine",
    "compare",
    "continuous",
    "design",
    "design_as_published",
    "designs",
    "exact",
    "implications",
    "lift_table",
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

_NAMES = {
    "liftlock.accounting": ["Ledger"],
    "liftlock.collect.survey": ["Survey"],
    "liftlock.model.alphabet": ["Alphabet"],
    "liftlock.model.channel": ["Channel", "Table"],
    "liftlock.model": [
        *("Ball", "Conditional", "Context", "Family", "Intervals", "Joint", "PerUserPriors"),
        *("Prior", "ProfileGraph"),
    ],
    "liftlock.designs": ["Draft"],
    "liftlock.designs.api": ["best", "design", "design_as_published", "lock"],
    "liftlock.designs.comparison": ["compare"],
    "liftlock.designs.plan": ["plan"],
    "liftlock.errors": [
        *("InputError", "LiftlockError", "NotCertified", "NotComposable", "NotDefined"),
        "UnprotectedInput",
    ],
    "liftlock.estimate": ["Aggregate", "Estimate", "combine"],
    "liftlock.exact.numbers": ["exact", "measured"],
    "liftlock.files": ["read_channel", "read_column", "read_joint", "read_prior", "read_priors"],
    "liftlock.mechanism": ["Mechanism"],
    "liftlock.notions": [
        *("ALIP", "LDP", "LIP", "ApproximateLDP", "ApproximateLIP", "Audit", "Certificate"),
        *("ProfileAudit", "ProfilePrivacy", "implications", "lift_table"),
    ],
    "liftlock.notions.audit": ["audit"],
    "liftlock._runtime.progress": ["Progress", "Step"],
    "liftlock.sampling.release": ["release", "simulate"],
    "liftlock.tables.protect.api": ["protect"],
    "liftlock.transfer": ["transfer"],
}
"""Where each name is defined: it is imported from there when it is first used."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "continuous":
        value = import_module("liftlock.model.continuous")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif not name.startswith("_") and find_spec(f"liftlock.{name}") is not None:
        value = import_module(f"liftlock.{name}")
    else:
        raise AttributeError(f"module 'liftlock' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """A package that goes on to offer a name of its own when a room of the same name is imported.

    `ll.exact` and `ll.transfer` are functions; importing their packages would replace them.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
