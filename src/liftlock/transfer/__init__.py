"""What a mechanism that was made for one prior leaks under another.

`liftlock.transfer` is the function, as `ll.design` and `ll.audit` are: the package is its room, and
is imported from (``from liftlock.transfer import transfer_within``).
"""

from liftlock.transfer.bounds import TransferBound
from liftlock.transfer.exact import Transfer, transfer, transfer_within
from liftlock.transfer.samples import transfer_from_samples

__all__ = [
    "Transfer",
    "TransferBound",
    "transfer",
    "transfer_from_samples",
    "transfer_within",
]
