"""What several releases leak together, and what a mechanism leaks under another prior."""

from liftlock.accounting.accounts import Account, account
from liftlock.accounting.ledger import Ledger
from liftlock.accounting.ledger_account import LedgerAccount
from liftlock.accounting.release import Levels, Release
from liftlock.accounting.sequences import (
    SequenceAccount,
    chain,
    independent,
    independent_data,
    sequence,
)
from liftlock.accounting.spent import Spent
from liftlock.accounting.transfer_bounds import Bound
from liftlock.accounting.transfer_samples import transfer_from_samples
from liftlock.accounting.transferring import Transfer, transfer, transfer_within

__all__ = [
    "Account",
    "Bound",
    "Ledger",
    "LedgerAccount",
    "Levels",
    "Release",
    "SequenceAccount",
    "Spent",
    "Transfer",
    "account",
    "chain",
    "independent",
    "independent_data",
    "sequence",
    "transfer",
    "transfer_from_samples",
    "transfer_within",
]
