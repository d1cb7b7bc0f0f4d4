"""What every store of reports does, what it returns, and how it refuses.

A report is an id of 16 bytes and the index of an output. Whatever the database, a store keeps
three promises: what `submit` has answered is counted in every later `counts`, after whatever
failure; each id of a collection is counted once, by its first report; and once reports are folded,
no id stands beside its output.
"""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from liftlock.errors import InputError, LiftlockError

if TYPE_CHECKING:
    from liftlock.collect.wire import Batch

ID = 16
"""How many bytes the id of a report has."""
_CODES: dict[int, Literal["H", "I"]] = {2: "H", 4: "I"}

State = Literal["open", "closed"]


# --- records --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in one collection."""

    mechanisms: dict[str, tuple[int, ...]]
    """How often each output came, by the digest of the mechanism."""
    repeated: int = 0
    """Reports whose id had been counted already."""
    conflicts: int = 0
    """Repeated reports seen to say something else than the first (within one fold)."""
    revision: int = 0
    """How many folds have changed the collection."""

    @property
    def total(self) -> int:
        """How many reports were counted."""
        return sum(map(sum, self.mechanisms.values()))


@dataclass(frozen=True, slots=True)
class Record:
    """What a store knows of a collection besides its counts."""

    name: str
    state: State
    mechanisms: dict[str, int]
    """The number of outputs of each mechanism, by its digest."""
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the audit trail; like everything stored, no finer than a day."""

    day: str
    who: str
    what: str
    collection: str


# --- refusals -------------------------------------------------------------------------------------


class UnknownCollection(InputError):
    """No collection has this name."""

    def __init__(self, name: str) -> None:
        super().__init__("no such collection", value=name, remedy="check its name")


class Closed(InputError):
    """The collection takes no more reports."""

    def __init__(self, name: str) -> None:
        super().__init__("the collection is closed", value=name, remedy="send nothing more to it")


class OtherMechanism(InputError):
    """The collection does not use the mechanism; ``digests`` are those it does."""

    def __init__(self, digest: str, digests: tuple[str, ...]) -> None:
        self.digests = digests
        super().__init__(
            "a mechanism that the collection does not use",
            value=digest,
            remedy="fetch the collection's description again",
        )


class Malformed(InputError):
    """The bytes of a batch are not whole reports of the width that the mechanism needs."""


class OutOfRange(InputError):
    """A report names an output that the mechanism does not have."""


class MechanismsDiffer(InputError):
    """A collection that has reports was registered with other mechanisms."""


class StoreError(LiftlockError):
    """The store cannot do it now; nothing was stored."""


class Busy(StoreError):
    """More reports are waiting than the store lets wait; ``seconds`` says when to try again."""

    def __init__(self, seconds: int = 1) -> None:
        self.seconds = seconds
        super().__init__(f"too many reports are waiting; try again in {seconds} s")


class NotWritable(StoreError):
    """The disk or the database takes no writes: full, read-only, or failing."""


class Stopped(StoreError):
    """The store is being shut down, or was."""

    def __init__(self) -> None:
        super().__init__("the store is shut down; start the service again")


# --- the protocol ---------------------------------------------------------------------------------


class Store(Protocol):
    """Keeps reports until they are counted, and then only the counts.

    Everything but `submit` and `ready` waits for the disk: call it from a thread, not from an event
    loop.
    """

    def register(
        self,
        name: str,
        mechanisms: Mapping[str, tuple[int, bytes]],
        settings: Mapping[str, Any],
    ) -> None:
        """Make a collection, or state it again: digest -> (outputs, file).

        Its settings are replaced. Other mechanisms are refused once there are reports.
        """

    def submit(self, batch: Batch) -> asyncio.Future[None]:
        """Store a batch; the future is done when it is on disk, or has the refusal."""

    def store(self, batch: Batch) -> None:
        """Store a batch and wait until it is on disk."""

    def counts(self, name: str) -> Counts:
        """Return the counts of a collection, of everything that was answered before."""

    def history(self, name: str) -> dict[str, dict[str, tuple[int, ...]]]:
        """Return the counts by day (ISO) and digest."""

    def collections(self) -> dict[str, Record]:
        """Return what is known of each collection, by its name."""

    def mechanism(self, digest: str) -> bytes | None:
        """Return the file of a mechanism."""

    def close(self, name: str) -> None:
        """Take no more reports of a collection; repeatable."""

    def erase(self, name: str) -> None:
        """Remove everything of a collection."""

    def backup(self, path: str | Path) -> None:
        """Write a copy of the store to a new file."""

    def verify(self) -> list[str]:
        """Check the store, and return what is wrong with it, in words."""

    def shutdown(self) -> None:
        """Store what was accepted, fold it, and let go of the database; repeatable."""

    def add_token(self, name: str, role: str, hash: str) -> None:
        """Keep the hash of a token under a new name."""

    def find_token(self, hash: str) -> tuple[str, str] | None:
        """Return the name and the role of a token, by its hash."""

    def revoke_token(self, name: str) -> None:
        """Forget a token."""

    def tokens(self) -> dict[str, str]:
        """Return the role of each token, by its name."""

    def note(self, who: str, what: str, collection: str = "") -> None:
        """Add a line to the audit trail."""

    def trail(self) -> list[Entry]:
        """Return the audit trail, oldest first."""

    def ready(self) -> dict[str, Any]:
        """Say how it goes, without waiting: ``writable``, ``lag`` (s), ``queue``, ``unfolded``."""


# --- what every store checks ----------------------------------------------------------------------


def width_of(outputs: int) -> int:
    """Return how many bytes the index of an output takes.

    >>> [width_of(outputs) for outputs in (1, 256, 257, 65536, 65537)]
    [1, 1, 2, 2, 4]
    """
    return 1 if outputs <= 1 << 8 else 2 if outputs <= 1 << 16 else 4


def check_reports(batch: Batch, outputs: int) -> int:
    """Refuse a batch that is not of whole reports with outputs below `outputs`; count them."""
    width = width_of(outputs)
    size = ID + width
    if batch.width != width:
        raise Malformed(
            "outputs of another width",
            value=batch.width,
            remedy=f"{outputs:,} outputs take {width} bytes each",
        )
    number, over = divmod(len(batch.reports), size)
    if over or not number:
        raise Malformed(
            "not whole reports",
            value=len(batch.reports),
            remedy=f"each takes {size} bytes, and there must be one",
        )
    largest = _largest(batch.reports, width)
    if largest >= outputs:
        raise OutOfRange(
            "no such output", value=largest, remedy=f"the mechanism has outputs 0 to {outputs - 1}"
        )
    return number


def _largest(reports: bytes, width: int) -> int:
    """Return the largest output, without a step of Python for each report."""
    if width == 1:
        return max(reports[ID :: ID + 1])
    columns = bytearray(len(reports) // (ID + width) * width)
    for at in range(width):
        columns[at::width] = reports[ID + at :: ID + width]
    numbers = array(_CODES[width])
    numbers.frombytes(columns)
    if sys.byteorder == "big":
        numbers.byteswap()
    return max(numbers)
