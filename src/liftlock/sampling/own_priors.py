"""A prior for each user, as integers that sum to 2^32: what the mechanisms of users protect.

The prior of a user is a row of masses, or of counts. It becomes integers by a rule that everybody
can repeat: each positive mass is rounded down to a multiple of 2^-32 of the sum, to at least one,
and what is missing or too much goes to the largest of the row. Counts that sum to 2^32 stay as
they are. The guarantees are about these integers, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError
from liftlock.sampling.draw import Codes, check_codes, refuse_code

POINTS = 1 << 32

SUM_TOLERANCE = 1e-6
"""Masses of a user may be off 1 by what float64 or float32 leaves."""

MOST_SYMBOLS = 1 << 15
"""With more symbols, those that are rounded up could take more than the likeliest has."""

MOST_USERS = 1 << 10
"""Users per block at most: few enough for their integers to stay in a core's own cache."""
_CELLS = 1 << 20

Counts: TypeAlias = npt.NDArray[np.int64]
Blocks: TypeAlias = Iterator[tuple[int, Counts]]
"""The place of the first user of a block, and the integers of its users. The block is overwritten
by the next one."""


def counted_blocks(masses: npt.NDArray[Any], first: int = 0) -> Blocks:
    """Give the integers of users block by block, in one buffer; `first` is the first user's place.

    >>> [(first, counts.tolist()) for first, counts in counted_blocks(np.array([[1, 3]]))]
    [(0, [[1073741824, 3221225472]])]
    """
    from liftlock.sampling.own_priors_kernels import counted

    rows = checked_table(masses)
    tolerance = np.inf if rows.dtype.kind in "iu" else SUM_TOLERANCE
    size = min(users_per_block(rows.shape[1]), max(len(rows), 1))
    counts = np.empty((size, rows.shape[1]), dtype=np.int64)
    floats = np.empty(counts.shape)
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        part = counts[: len(some)]
        if some.dtype == np.float64 and some.flags.c_contiguous:
            copied = some
        else:
            copied = floats[: len(some)]
            np.copyto(copied, some, casting="unsafe")
        wrong = counted(copied, tolerance, part)
        if wrong >= 0:
            raise _refusal(copied[wrong], first + start + wrong, tolerance)
        yield first + start, part


def users_per_block(symbols: int) -> int:
    """Return how many users a block has at most: a power of two, fewer if they take much memory.

    >>> users_per_block(21), users_per_block(1 << 15)
    (1024, 32)
    """
    return min(MOST_USERS, 1 << (_CELLS // symbols).bit_length() - 1)


def prior_counts(masses: npt.NDArray[Any]) -> Counts:
    """Return the integers of all users at once."""
    counts = np.empty(checked_table(masses).shape, dtype=np.int64)
    for start, part in counted_blocks(masses):
        counts[start : start + len(part)] = part
    return counts


def checked_table(masses: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Refuse what is no table of numbers, before any row is looked at."""
    rows = np.asarray(masses)
    if rows.ndim != 2 or rows.shape[1] == 0 or rows.dtype.kind not in "iuf":
        raise CountError(
            "priors are not a table of numbers",
            value=f"shape {rows.shape} of {rows.dtype}",
            remedy="give a row for each user and a column for each symbol",
        )
    if rows.shape[1] > MOST_SYMBOLS:
        raise CountError(
            f"{rows.shape[1]:,} symbols", remedy=f"merge them into at most {MOST_SYMBOLS:,}"
        )
    return rows


def checked_people(codes: Codes, users: int, symbols: int) -> npt.NDArray[np.int64]:
    """Return a copy of the codes of users' values, all of them in range, one for each prior."""
    check_codes(codes)
    # Copied before they are checked: a caller's other thread cannot change them in between.
    people = codes.astype(np.int64)
    if len(people) != users:
        raise InputError(
            f"{len(people)} values for {users} priors", remedy="give one prior to each user"
        )
    wrong = (people < 0) | (people >= symbols)
    if wrong.any():
        raise refuse_code(codes, int(np.argmax(wrong)), symbols)
    return people


def refuse_impossible(place: int, code: int) -> CountError:
    """Return the refusal of a value that the user's own prior calls impossible."""
    return CountError(
        "the user's own prior gives the value probability 0",
        where=f"user {place + 1}",
        value=code,
        remedy="smooth the prior; nothing was released",
    )


def _refusal(row: npt.NDArray[np.float64], user: int, tolerance: float) -> CountError:
    bad = ~np.isfinite(row) | (row < 0)
    if bad.any():
        symbol = int(np.argmax(bad))
        return CountError(
            "mass is not a number of 0 or more",
            where=f"user {user + 1}, symbol {symbol + 1}",
            value=float(row[symbol]),
        )
    return CountError(
        "a user without any count" if tolerance == np.inf else "masses of a user do not sum to 1",
        where=f"user {user + 1}",
        value=float(row.sum()),
        remedy="give probabilities, or whole numbers as counts",
    )
