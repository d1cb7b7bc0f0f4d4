"""Who may do what: bearer tokens of operators, and write tokens of those who report."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from liftlock.collect.problems import Problem
from liftlock.collect.wire import ID, TAG
from liftlock.errors import FileError

if TYPE_CHECKING:
    from liftlock.collect.store import Store

ROLES = {
    "owner": "everything: surveys, closing, erasing, tokens, backups",
    "analyst": "estimates, counts, history and export",
    "auditor": "the trail and the check of the store",
}
"""What each role may do."""


OWN = "operator"
"""What whoever holds the token of the server itself is called in the trail; nobody else is."""


@dataclass(frozen=True)
class Operator:
    """Somebody who showed a token."""

    name: str
    role: str


def hash_token(token: str) -> str:
    """Return what is stored of a token; it is random, so it needs no salt."""
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def new_token() -> str:
    """Draw a token of 256 bits.

    >>> len(new_token())
    46
    """
    return f"ll_{secrets.token_urlsafe(32)}"


class Access:
    """Operators by their tokens; only hashes are stored."""

    def __init__(self, store: Store, own: str) -> None:
        self._store = store
        self._own = hash_token(own)

    def operator(self, authorization: str | None) -> Operator:
        """Return whose token it is; raises Problem."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            told = hash_token(token.strip())
            if hmac.compare_digest(told, self._own):
                return Operator(OWN, "owner")
            found = self._store.find_token(told)
            if found is not None:
                return Operator(*found)
        raise Problem(
            "unauthorised", headers={"www-authenticate": 'Bearer realm="liftlock collect"'}
        )

    def require(self, authorization: str | None, roles: tuple[str, ...]) -> Operator:
        """Return an operator with one of the roles, an owner or another; raises Problem."""
        found = self.operator(authorization)
        if found.role != "owner" and found.role not in roles:
            raise Problem("forbidden", f"the token is of an {found.role}", roles=["owner", *roles])
        return found


class WriteTokens:
    """One-time tokens for reports: the id of the report is the nonce that the server signed.

    A token is an id and its tag, HMAC-SHA256 over the collection and the id. As the first report
    of an id wins, a token is good for one report without a table of used ones.

    >>> tokens = WriteTokens(bytes(32))
    >>> ((one, tag),) = tokens.issue("health.flu", 1)
    >>> tokens.valid("health.flu", [one], tag), tokens.valid("health.age", [one], tag)
    ([True], [False])
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def issue(self, collection: str, number: int) -> Iterator[tuple[bytes, bytes]]:
        """Draw ids, and sign them."""
        for _ in range(number):
            name = secrets.token_bytes(ID)
            yield name, self._tag(collection, name)

    def valid(self, collection: str, ids: list[bytes], tags: bytes) -> list[bool]:
        """Tell of each id whether its tag is right."""
        return [
            hmac.compare_digest(self._tag(collection, name), tags[at * TAG : (at + 1) * TAG])
            for at, name in enumerate(ids)
        ]

    def _tag(self, collection: str, name: bytes) -> bytes:
        told = b"liftlock write token 1\0" + collection.encode() + b"\0" + name
        return hmac.digest(self._key, told, "sha256")[:TAG]


def read_key(path: Path) -> bytes:
    """Read the key of write tokens, or make it: 32 bytes, for nobody else to read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        key = path.read_bytes()
        if len(key) != 32:
            raise FileError(
                "not a key of 32 bytes", where=str(path), remedy="restore it from the backup"
            ) from None
        return key
    except OSError as error:
        raise FileError("cannot make a key", where=str(path), value=error.strerror) from None
    key = secrets.token_bytes(32)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    return key
