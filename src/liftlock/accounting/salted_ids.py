"""Ids kept as salted hashes, so that a file names nobody.

It is no secret-keeping device: whoever holds the file can test whether an id that he knows is in
it. Ids are compared as text, without blanks around it and with composed characters (NFC): "1" and
"01" are two ids, and so are 1 and 1.0.
"""

from __future__ import annotations

import hmac
import secrets
import unicodedata

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


def is_missing(identity: object) -> bool:
    """Tell whether an id is none: blank, None or NaN."""
    return id_text(identity) in _MISSING


def new_salt() -> bytes:
    """Return a fresh salt."""
    return secrets.token_bytes(SALT_BYTES)


def salted_hash(salt: bytes, identity: object) -> str:
    """Return the salted hash of an id, of its `id_text`.

    >>> salted_hash(bytes(16), "ann") == salted_hash(bytes(16), " ann ")
    True
    """
    text = id_text(identity).encode("utf-8", "surrogatepass")
    return hmac.digest(salt, text, "sha256")[:_DIGEST_BYTES].hex()
