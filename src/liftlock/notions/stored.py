"""Whether a certificate that was stored says what the audit finds now."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from liftlock.errors import FileError, InputError
from liftlock.exact.numbers import exact
from liftlock.notions.certificate import Certificate

MAKE_AGAIN = "the file was changed after it was certified; make it again with lock"


def check_stored(stored: Any, certificate: Certificate) -> None:
    """Refuse a certificate whose claims are not the ones the audit has just made."""
    fresh = certificate.to_data()
    claims = stored.get("claims")
    same = (
        stored.get("holds") is True
        and stored.get("unprotected") == fresh["unprotected"]
        and isinstance(claims, list)
        and len(claims) == len(fresh["claims"])
        and all(_same_claim(old, new) for old, new in zip(claims, fresh["claims"], strict=True))
    )
    if not same:
        raise FileError(
            "the certificate does not say what the audit finds",
            value=certificate.guarantee,
            remedy=MAKE_AGAIN,
        )


def _same_claim(old: Any, new: Any) -> bool:
    if not isinstance(old, dict):
        return False
    if any(old.get(key) != new[key] for key in ("quantity", "relation", "holds")):
        return False
    return all(_same_number(old.get(key), new[key]) for key in ("measured", "bound"))


def _same_number(old: Any, new: Any) -> bool:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return bool(old == new)
    if all(old.get(key) == new.get(key) for key in ("exact", "between")):
        return True
    # Overlap is enough: another release may enclose the same number more narrowly.
    left, right = _ends(old), _ends(new)
    return bool(left and right and left[0] <= right[1] and right[0] <= left[1])


def _ends(data: Any) -> tuple[Fraction, Fraction] | None:
    """Return the ends of an enclosure as `enclosure_to_json` wrote it."""
    if not isinstance(data, dict):
        return None
    ends = data.get("between", [data.get("exact")] * 2)
    if not isinstance(ends, list) or len(ends) != 2:
        return None
    try:
        return exact(ends[0]), exact(ends[1])
    except InputError:
        return None
