"""Every accountant: each bounds the joint leakage of several releases, or says why it cannot."""

from liftlock._runtime.registry import Registry
from liftlock.accounting.accountants.base import Accountant, PrivacyLoss
from liftlock.accounting.accountants.exact import ExactAccountant
from liftlock.accounting.accountants.pairwise import PairsAccountant, PairwiseAccountant
from liftlock.accounting.accountants.sums import DeltaSumAccountant, LdpSumAccountant
from liftlock.accounting.accountants.tight import PublishedAccountant, TightAccountant

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "DeltaSumAccountant",
    "ExactAccountant",
    "LdpSumAccountant",
    "PairsAccountant",
    "PairwiseAccountant",
    "PrivacyLoss",
    "PublishedAccountant",
    "TightAccountant",
]


def _fault(accountant: object) -> str:
    if isinstance(accountant, Accountant):
        missing = [name for name in ("name", "formula", "source") if not hasattr(accountant, name)]
        return f"it lacks {', '.join(missing)}" if missing else ""
    return "give an object of a class made from liftlock.accounting.accountants.Accountant"


ACCOUNTANTS: Registry[Accountant] = Registry(
    "accountant",
    "liftlock.accountants",
    (
        ExactAccountant(),
        PairsAccountant(),
        TightAccountant(),
        PairwiseAccountant(),
        LdpSumAccountant(),
        DeltaSumAccountant(),
        PublishedAccountant(),
    ),
    names=lambda accountant: [accountant.name],
    fault=_fault,
)
"""Every accountant by name; of equal bounds the first is taken, and none that is not `valid`."""
