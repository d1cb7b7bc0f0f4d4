"""One canonical byte string per value, so that equal things have equal fingerprints."""

from __future__ import annotations

import hashlib
import json
from typing import Any

JAVASCRIPT_SAFE = 1 << 53
"""Integers up to this size survive a JSON reader that uses floating point."""


def fingerprint(data: Any) -> str:
    """Return the sha256 of the canonical JSON form (sorted keys, no blanks, UTF-8).

    >>> fingerprint({"b": 1, "a": [2]}) == fingerprint({"a": [2], "b": 1})
    True
    """
    return hashlib.sha256(canonical_bytes(data)).hexdigest()


def canonical_bytes(data: Any) -> bytes:
    """Return the canonical JSON form as bytes.

    >>> canonical_bytes({"b": 1, "a": ["é"]}).decode()
    '{"a":["é"],"b":1}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


def integer_to_json(value: int) -> int | str:
    """Write an integer as a JSON number when every reader keeps it exact, else as text."""
    return int(value) if abs(value) <= JAVASCRIPT_SAFE else str(int(value))
