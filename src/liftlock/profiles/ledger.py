"""A ledger of observations that were released: each may be released once.

What was released is kept as salted hashes of the observations' ids, so the ledger names nobody. It
is no secret-keeping device: whoever holds it can test whether an id that he knows is in it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from liftlock.channel import check_format
from liftlock.errors import FileError, InputError, NotComposable
from liftlock.mechanism import Mechanism
from liftlock.profiles.composition import refusal
from liftlock.storage import check_writable, located, read_json, shaped, written_atomically

FORMAT = "liftlock.profile-ledger"
VERSION = 1

_SALT_BYTES = 16
_DIGEST_BYTES = 16
"""Two ids of 2^40 collide with a chance below 2^-48, and a collision only refuses a release."""


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
    >>> from liftlock.profiles.designing import design_profiles
    >>> flip = design_profiles(ProfileGraph.bernoulli(["0.9", "1"]), "1", method="cluster")
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
        return cls(secrets.token_bytes(_SALT_BYTES))

    def digest(self, observation: object) -> str:
        """Return the salted hash of the id of an observation."""
        mac = hmac.new(self.salt, str(observation).encode("utf-8", "surrogatepass"), hashlib.sha256)
        return mac.digest()[:_DIGEST_BYTES].hex()

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

        `place` says where the id of a number (from 0) comes from, such as ``data.csv, line 7``.
        """
        seen: dict[str, int] = {}
        for number, observation in enumerate(observations):
            digest = self.digest(observation)
            if str(observation) and digest not in self._places and digest not in seen:
                seen[digest] = number
                continue
            where = f"number {number + 1}" if place is None else place(number)
            if not str(observation):
                raise InputError(
                    "an observation without an id",
                    where=where,
                    remedy="give every observation an id of its own",
                )
            what = f"{observation!r} at {where}"
            if digest in seen:
                raise self._refused(f"{what} is given twice", mechanism)
            before = self.entries[self._places[digest]]
            what += " was released before"
            if before.mechanism != mechanism.channel.fingerprint:
                what += f" (by mechanism {before.mechanism[:16]}, {before.guarantee})"
            raise self._refused(what, mechanism)
        entry = Entry(mechanism.channel.fingerprint, mechanism.certificate.guarantee, tuple(seen))
        return ProfileLedger(self.salt, (*self.entries, entry))

    @staticmethod
    def _refused(what: str, mechanism: Mechanism) -> NotComposable:
        reason = refusal([mechanism, mechanism])
        return NotComposable(f"{what}: {reason}", reason.together)

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
        if len(salt) < _SALT_BYTES:
            raise FileError(
                "a ledger without its salt",
                value=len(salt),
                remedy="restore the ledger: without the salt its hashes say nothing",
            )
        return cls(salt, entries)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ledger onto the disk; an interrupted write leaves the old one whole."""
        place = Path(path)
        with written_atomically(place) as fresh, fresh.open("w", encoding="utf-8") as stream:
            stream.write(json.dumps(self.to_data(), indent=1) + "\n")
            stream.flush()
            # What it lists is released next: it must not be lost if the power fails then.
            os.fsync(stream.fileno())

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
        place = Path(path)
        check_writable(place)
        lock = place.with_name(f".{place.name}.lock")
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise FileError(
                "the ledger is in use by another release",
                where=str(place),
                remedy=f"wait for it; if none is running, delete {lock}",
            ) from None
        except OSError as error:
            raise FileError(
                "cannot write",
                where=str(lock),
                value=error.strerror,
                remedy="keep the ledger in a folder that you may write to",
            ) from None
        try:
            yield cls.load(place) if place.exists() else cls.new()
        finally:
            lock.unlink(missing_ok=True)
