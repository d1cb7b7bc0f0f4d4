"""Ids kept as salted hashes, so that a file names nobody.

It is no secret-keeping device: whoever holds the file can test whether an id that he knows is in
it. Ids are compared by how they look (`skeleton`), without blanks around them: "1" and "01" are two
ids, 1 and 1.0 are one. Files that were written before compare their text with composed characters
(NFC).
"""

from __future__ import annotations

import hmac
import secrets
import unicodedata

from liftlock.accounting.skeleton import id_skeleton

SALT_BYTES = 16
_DIGEST_BYTES = 16
"""Two ids of 2^40 collide with a chance below 2^-48, and a collision only counts a release more."""

_MISSING = frozenset({"", "None", "nan", "NaN", "<NA>", "NaT"})
"""What stands for no id: the texts of None and of the missing values of numpy and pandas."""


def id_text(identity: object) -> str:
    """Return the text by which somebody or something is known.

    >>> id_text(" 7 ") == id_text(7), id_text("07") == id_text(7)
    (True, False)
    """
    return unicodedata.normalize("NFC", str(identity)).strip()


def id_look(identity: object) -> str:
    """Return how an id looks.

    >>> id_look(7.0) == id_look(7) == id_look("7.0"), id_look(1e16)
    (True, '10000000000000000')
    """
    if isinstance(identity, float) and identity.is_integer():
        identity = int(identity)
    return id_skeleton(id_text(identity))


def is_missing(identity: object) -> bool:
    """Tell whether an id is none: blank, None or NaN."""
    return id_text(identity) in _MISSING


def new_salt() -> bytes:
    """Return a fresh salt."""
    return secrets.token_bytes(SALT_BYTES)


def salted_hash(salt: bytes, identity: object, *, as_written: bool = False) -> str:
    """Return the salted hash of how an id looks, or of its text as it is written.

    >>> salted_hash(bytes(16), "ann") == salted_hash(bytes(16), " \\uff41nn ")
    True
    """
    text = id_text(identity) if as_written else id_look(identity)
    return hmac.digest(salt, text.encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES].hex()
