"""Every accountant: each bounds the joint leakage of several releases, or says why it cannot."""

from liftlock.accounting.accountants.base import Accountant, PrivacyLoss
from liftlock.accounting.accountants.exact import Exact
from liftlock.accounting.accountants.pairwise import Pairs, Pairwise
from liftlock.accounting.accountants.sums import DeltaSum, LdpSum
from liftlock.accounting.accountants.tight import Published, Tight
from liftlock.registry import Registry

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "DeltaSum",
    "Exact",
    "LdpSum",
    "Pairs",
    "Pairwise",
    "PrivacyLoss",
    "Published",
    "Tight",
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
        Exact(),
        Pairs(),
        Tight(),
        Pairwise(),
        LdpSum(),
        DeltaSum(),
        Published(),
    ),
    names=lambda accountant: [accountant.name],
    fault=_fault,
)
"""Every accountant by name; of equal bounds the first is taken, and none that is not `valid`."""
