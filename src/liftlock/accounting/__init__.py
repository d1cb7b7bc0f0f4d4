"""What several releases leak together: accounts, ledgers, and the accountants behind them."""

from liftlock.accounting.account import Account, account
from liftlock.accounting.accountants import ACCOUNTANTS, Accountant, PrivacyLoss
from liftlock.accounting.composition import Composition, compose
from liftlock.accounting.ledger import Ledger
from liftlock.accounting.ledger_account import LedgerAccount
from liftlock.accounting.ledger_entry import LedgerEntry
from liftlock.accounting.release import LeakageLevels, Release
from liftlock.accounting.sequences import (
    SequenceAccount,
    account_independent,
    account_sequence,
    markov_chain,
    product_prior,
)

__all__ = [
    "ACCOUNTANTS",
    "Account",
    "Accountant",
    "Composition",
    "LeakageLevels",
    "Ledger",
    "LedgerAccount",
    "LedgerEntry",
    "PrivacyLoss",
    "Release",
    "SequenceAccount",
    "account",
    "account_independent",
    "account_sequence",
    "compose",
    "markov_chain",
    "product_prior",
]
