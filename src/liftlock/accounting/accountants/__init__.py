"""Every accountant: each bounds the joint leakage of several releases, or says why it cannot."""

from collections.abc import Mapping

from liftlock.accounting.accountants.base import Accountant, PrivacyLoss
from liftlock.accounting.accountants.exact import Exact
from liftlock.accounting.accountants.pairwise import Pairs, Pairwise
from liftlock.accounting.accountants.sums import DeltaSum, LdpSum
from liftlock.accounting.accountants.tight import Published, Tight

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

ACCOUNTANTS: Mapping[str, Accountant] = {
    each.name: each
    for each in (Exact(), Pairs(), Tight(), Pairwise(), LdpSum(), DeltaSum(), Published())
}
"""Every accountant by name; of equal bounds the first is taken. The last is never taken."""
