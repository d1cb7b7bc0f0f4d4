"""What several releases leak together: accountants, sequences of data, and a ledger of releases."""

from liftlock.accounting.account import Account, account
from liftlock.accounting.release import Levels, Release
from liftlock.accounting.spent import Spent

__all__ = ["Account", "Levels", "Release", "Spent", "account"]
