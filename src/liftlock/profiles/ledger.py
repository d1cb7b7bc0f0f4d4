"""A ledger of observations that were released: each may be released once.

What was released is kept as salted hashes of the observations' ids, so the ledger names nobody. It
is no secret-keeping device: whoever holds it can test whether an id that he knows is in it.

Ids are compared as text, without blanks around it and with composed characters (NFC): "1" and "01"
are two observations, and so are 1 and 1.0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from liftlock.errors import FileError, InputError, NotComposable
from liftlock.file_lock import check_one_name, kept_alone
from liftlock.mechanism import Mechanism
from liftlock.profiles.composition import NO_RULE, ONCE, refusal
from liftlock.salted_ids import SALT_BYTES, id_text, is_missing, new_salt, salted
from liftlock.storage import (
    check_format,
    located,
    read_json,
    shaped,
    write_durably,
)

FORMAT = "liftlock.profile-ledger"
VERSION = 1


@dataclass(frozen=True)
class Entry:
    """One release: the mechanism's fingerprint, its guarantee, and the hashes of the ids."""

    mechanism: str
    guarantee: str
    digests: tuple[str, ...]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "mechanism": self.mechanism,
            "guarantee": self.guarantee,
            "digests": list(self.digests),
        }


@dataclass(frozen=True)
class ProfileLedger:
    """Which observations were released, by salted hashes; entries are only ever added.

    Source: 004 Obs 13.

    >>> from liftlock.profile_graph import ProfileGraph
    >>> from liftlock.designing import design
    >>> flip = design(ProfileGraph.bernoulli(["0.9", "1"]), "1", method="cluster")
    >>> ledger = ProfileLedger.new().with_release(flip, ["row 1", "row 2"])
    >>> "row 2" in ledger, "row 3" in ledger, len(ledger)
    (True, False, 2)
    >>> ledger.with_release(flip, ["row 2"])
    Traceback (most recent call last):
    liftlock.errors.NotComposable: 'row 2' at number 1 was released before: ... 3.5252 nats ...
    """

    salt: bytes
    entries: tuple[Entry, ...] = ()

    @classmethod
    def new(cls) -> ProfileLedger:
        """Return an empty ledger with a salt of its own."""
        return cls(new_salt())

    def digest(self, observation: object) -> str:
        """Return the salted hash of the id of an observation, of its `id_text`."""
        return salted(self.salt, observation)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {
            digest: place for place, entry in enumerate(self.entries) for digest in entry.digests
        }

    def __contains__(self, observation: object) -> bool:
        return self.digest(observation) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def with_release(
        self,
        mechanism: Mechanism,
        observations: Iterable[object],
        place: Callable[[int], str] | None = None,
    ) -> ProfileLedger:
        """Return the ledger with one more release, or refuse an observation that is in it already.

        Ids are compared as text (`id_text`), and one that is blank, None or NaN is refused.
        `place` says where the id of a number (from 0) comes from, such as ``data.csv, line 7``.
        """
        seen: dict[str, int] = {}
        for number, observation in enumerate(observations):
            digest = self.digest(observation)
            missing = is_missing(observation)
            if not missing and digest not in self._places and digest not in seen:
                seen[digest] = number
                continue
            where = f"number {number + 1}" if place is None else place(number)
            if missing:
                raise InputError(
                    "an observation without an id",
                    where=where,
                    value=id_text(observation) or None,
                    remedy="give every observation an id of its own",
                )
            what = f"{observation!r} at {where}"
            if digest in seen:
                raise _refused(f"{what} is given twice", mechanism)
            before = self.entries[self._places[digest]]
            raise _refused(f"{what} was released before", mechanism, before)
        entry = Entry(mechanism.channel.fingerprint, mechanism.certificate.guarantee, tuple(seen))
        return ProfileLedger(self.salt, (*self.entries, entry))

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "salt": self.salt.hex(),
            "releases": [entry.to_data() for entry in self.entries],
        }

    @classmethod
    def from_data(cls, data: Any) -> ProfileLedger:
        """Read the JSON form."""
        check_format(data, FORMAT, VERSION)
        with shaped():
            salt = bytes.fromhex(data["salt"])
            entries = tuple(
                Entry(
                    str(entry["mechanism"]),
                    str(entry["guarantee"]),
                    tuple(bytes.fromhex(digest).hex() for digest in entry["digests"]),
                )
                for entry in data["releases"]
            )
        if len(salt) < SALT_BYTES:
            raise FileError(
                "a ledger without its salt",
                value=len(salt),
                remedy="restore the ledger: without the salt its hashes say nothing",
            )
        return cls(salt, entries)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger onto the disk; an interrupted write leaves the old one whole.

        Entries are only ever added: a file that holds others is not replaced.
        """
        place = Path(path)
        check_one_name(place)
        if place.exists():
            stored = ProfileLedger.load(place)
            kept = self.entries[: len(stored.entries)]
            if (stored.salt, stored.entries) != (self.salt, kept):
                raise FileError(
                    "the file holds a release that this ledger lacks",
                    where=str(place),
                    remedy="record in it: with ProfileLedger.opened(path) as ledger",
                )
        # What it lists is released next: it must not be lost if the power fails then.
        write_durably(place, json.dumps(self.to_data(), indent=1) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProfileLedger:
        """Read a ledger that exists."""
        place = Path(path)
        data = read_json(place)
        with located(place):
            return cls.from_data(data)

    @classmethod
    @contextmanager
    def opened(cls, path: str | os.PathLike[str]) -> Iterator[ProfileLedger]:
        """Read a ledger, or begin one, and keep others from using it until it is saved.

        Two releases at the same time could each find that the other's observations are new.
        """
        with kept_alone(Path(path)) as place:
            yield cls.load(place) if place.exists() else cls.new()


def _refused(what: str, mechanism: Mechanism, before: Entry | None = None) -> NotComposable:
    """Refuse a second release; what both lose is known only if they are by the same mechanism."""
    now = mechanism.channel.fingerprint, mechanism.certificate.guarantee
    if before is None or (before.mechanism, before.guarantee) == now:
        reason = refusal([mechanism, mechanism])
        return NotComposable(f"{what}: {reason}", reason.together)
    return NotComposable(
        f"{what} by mechanism {before.mechanism[:16]}, {before.guarantee}, which differs from "
        f"{now[0][:16]}, {now[1]}: {NO_RULE}, and what the two lose together is not known; {ONCE}"
    )
