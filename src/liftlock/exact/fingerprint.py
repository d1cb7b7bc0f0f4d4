"""One canonical byte string per value, so that equal things have equal fingerprints."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Any

from liftlock._runtime.storage import JAVASCRIPT_SAFE

_SHORT_BITS = 2000


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


def integer_text(value: int) -> str:
    """Write an integer in decimal; str() refuses those of more than 4300 digits.

    >>> integer_text(-12), len(integer_text(10**5000))
    ('-12', 5001)
    """
    if value < 0:
        return "-" + integer_text(-value)
    if value.bit_length() <= _SHORT_BITS:
        return str(value)
    digits = value.bit_length() * 3 // 20  # about half of them
    high, low = divmod(value, 10**digits)
    return integer_text(high) + integer_text(low).rjust(digits, "0")


def fraction_text(value: Fraction) -> str:
    """Write a fraction of any length exactly.

    >>> fraction_text(Fraction(-1, 3)), fraction_text(Fraction(4))
    ('-1/3', '4')
    """
    if value.denominator == 1:
        return integer_text(value.numerator)
    return f"{integer_text(value.numerator)}/{integer_text(value.denominator)}"


def integer_to_json(value: int) -> int | str:
    """Write an integer as a JSON number when every reader keeps it exact, else as text."""
    return int(value) if abs(value) <= JAVASCRIPT_SAFE else integer_text(int(value))
