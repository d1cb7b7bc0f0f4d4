"""A prior for each user, as integers that sum to 2^32: what the mechanisms of users protect.

The prior of a user is a row of masses, or of counts. It becomes integers by a rule that everybody
can repeat: each positive mass is rounded down to a multiple of 2^-32 of the sum, to at least one,
and what is missing or too much goes to the largest of the row. Counts that sum to 2^32 stay as
they are. The guarantees are about these integers, exactly.

Of a set of priors the mechanisms need the fewest and the most points that it can give a symbol. The
ends of intervals are rounded outwards, so that the guarantee is about all priors within them; each
prior of a family is rounded by the rule; a distance is rounded up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError
from liftlock.per_user import (
    POINTS,
    SUM_TOLERANCE,
    PerUserPriors,
    checked_table,
    users_per_block,
)

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UserBlock:
    """Some users who share a law, and their priors as integers; the next block overwrites them."""

    places: slice | npt.NDArray[np.int64]
    """Where these users stand among all."""
    counts: Counts
    ends: tuple[Counts, Counts] | None = None
    """For sets of priors: the fewest and the most points of each symbol."""
    level: int = 0
    """Which of the laws of the channel they share."""

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def lowest(self) -> Counts:
        """The fewest points of each symbol."""
        return self.counts if self.ends is None else self.ends[0]

    @property
    def highest(self) -> Counts:
        """The most points of each symbol."""
        return self.counts if self.ends is None else self.ends[1]

    def user(self, row: int) -> int:
        """Return the place of a user among all, from 0."""
        if isinstance(self.places, slice):
            return int(self.places.start) + row
        return int(self.places[row])

    def of_level(self, level: int, rows: npt.NDArray[np.int64]) -> UserBlock:
        """Return some of the users, those of one level."""
        first = self.user(0)
        ends = None if self.ends is None else (self.ends[0][rows], self.ends[1][rows])
        return UserBlock(first + rows, self.counts[rows], ends, level)


def user_blocks(
    priors: PerUserPriors, levels: npt.NDArray[np.int64] | None = None
) -> Iterator[UserBlock]:
    """Give all users block by block, those of one level together; `levels` has that of each."""
    for first, rows in priors.blocks():
        for start, counts in counted_blocks(rows, first):
            stop = start + len(counts)
            block = UserBlock(slice(start, stop), counts, set_ends(priors, start, counts))
            if levels is None:
                yield block
                continue
            own = levels[start:stop]
            for level in np.unique(own).tolist():
                yield block.of_level(level, np.flatnonzero(own == level))


def counted_blocks(masses: npt.NDArray[Any], first: int = 0) -> Iterator[tuple[int, Counts]]:
    """Give the integers of users block by block, in one buffer; `first` is the first user's place.

    >>> [(first, counts.tolist()) for first, counts in counted_blocks(np.array([[1, 3]]))]
    [(0, [[1073741824, 3221225472]])]
    """
    from liftlock.forms.per_user_kernels import counted

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


def prior_counts(masses: npt.NDArray[Any]) -> Counts:
    """Turn rows of masses, or of counts, into integers that sum to 2^32: the priors protected.

    Counts that sum to 2^32 stay as they are. Otherwise each positive mass is rounded down, to at
    least 1, and what is missing or too much goes to the largest of the row.

    >>> prior_counts(np.array([[0.25, 0.75, 0.0]])).tolist()
    [[1073741824, 3221225472, 0]]
    """
    counts = np.empty(checked_table(masses).shape, dtype=np.int64)
    for start, part in counted_blocks(masses):
        counts[start : start + len(part)] = part
    return counts


def set_ends(priors: PerUserPriors, start: int, counts: Counts) -> tuple[Counts, Counts] | None:
    """Return the fewest and the most points of each symbol for some users; None for one prior."""
    stop = start + len(counts)
    if priors.radius is not None:
        fewest = np.maximum(counts - priors.radius, 0)
        return fewest, np.minimum(counts + priors.radius, POINTS)
    if priors.members is not None:
        inside = family_counts(priors, start, stop)
        return inside.min(axis=1), inside.max(axis=1)
    if priors.ends is None:
        return None
    # Scaling by a power of two is exact, and so are floor and ceiling.
    low = np.floor(priors.ends[0][start:stop] * float(POINTS)).astype(np.int64)
    high = np.ceil(priors.ends[1][start:stop] * float(POINTS)).astype(np.int64)
    # The other symbols leave a symbol no less than this, and no more than that.
    least = POINTS - (high.sum(axis=1, keepdims=True) - high)
    most = POINTS - (low.sum(axis=1, keepdims=True) - low)
    return np.maximum(low, least), np.minimum(high, most)


def family_counts(priors: PerUserPriors, start: int, stop: int) -> Counts:
    """Return the priors of the families of some users as integers, (users, priors, symbols)."""
    assert priors.members is not None
    some = priors.members[start:stop]
    flat = np.empty((some.shape[0] * some.shape[1], some.shape[2]), dtype=np.int64)
    for first, part in counted_blocks(some.reshape(flat.shape)):
        flat[first : first + len(part)] = part
    return flat.reshape(some.shape)


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
