"""What several releases leak together, and what a mechanism leaks under another prior."""

from liftlock.accounting.transfer import Transfer, transfer, transfer_within
from liftlock.accounting.transfer_bounds import Bound
from liftlock.accounting.transfer_samples import transfer_from_samples

__all__ = ["Bound", "Transfer", "transfer", "transfer_from_samples", "transfer_within"]
