"""A prior for each user, as integers that sum to 2^32: what the mechanisms of users protect.

The prior of a user is a row of masses, or of counts. It becomes integers by a rule that everybody
can repeat: each positive mass is rounded down to a multiple of 2^-32 of the sum, to at least one,
and what is missing or too much goes to the largest of the row. Counts that sum to 2^32 stay as
they are. The guarantees are about these integers, exactly.

Of a set of priors the mechanisms need the fewest and the most points that it can give a symbol. The
ends of intervals and of balls are rounded outwards, so that the guarantee is about all priors that
were named, not only about those near their integers; a prior of a family is rounded by the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError
from liftlock.model import PerUserPriors
from liftlock.model.per_user import POINTS, SUM_TOLERANCE, Table, check_mass_table, users_per_block

Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UserBlock:
    """Users who share a distribution, and their integer priors; the next block overwrites them."""

    places: slice | npt.NDArray[np.int64]
    """Where these users stand among all."""
    counts: Counts
    ends: tuple[Counts, Counts] | None = None
    """For sets of priors: the fewest and the most points of each symbol."""
    level: int = 0
    """Which of the distributions of the channel they share."""

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
        for start, counts in integer_blocks(rows, first):
            stop = start + len(counts)
            ends = set_bounds(priors, start, rows[start - first : stop - first], counts)
            block = UserBlock(slice(start, stop), counts, ends)
            if levels is None:
                yield block
                continue
            own = levels[start:stop]
            for level in np.unique(own).tolist():
                yield block.of_level(level, np.flatnonzero(own == level))


def integer_blocks(masses: npt.NDArray[Any], first: int = 0) -> Iterator[tuple[int, Counts]]:
    """Give the integers of users block by block, in one buffer; `first` is the first user's place.

    >>> [(first, counts.tolist()) for first, counts in integer_blocks(np.array([[1, 3]]))]
    [(0, [[1073741824, 3221225472]])]
    """
    from liftlock.model.structured.per_user_kernels import round_masses

    rows = check_mass_table(masses)
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
        wrong = round_masses(copied, tolerance, part)
        if wrong >= 0:
            raise _row_error(copied[wrong], first + start + wrong, tolerance)
        yield first + start, part


def prior_counts(masses: npt.NDArray[Any]) -> Counts:
    """Turn rows of masses, or of counts, into integers that sum to 2^32: the priors protected.

    Counts that sum to 2^32 stay as they are. Otherwise each positive mass is rounded down, to at
    least 1, and what is missing or too much goes to the largest of the row.

    >>> prior_counts(np.array([[0.25, 0.75, 0.0]])).tolist()
    [[1073741824, 3221225472, 0]]
    """
    counts = np.empty(check_mass_table(masses).shape, dtype=np.int64)
    for start, part in integer_blocks(masses):
        counts[start : start + len(part)] = part
    return counts


def set_bounds(
    priors: PerUserPriors, start: int, rows: Table, counts: Counts
) -> tuple[Counts, Counts] | None:
    """Return the fewest and the most points of each symbol for some users; None for one prior."""
    stop = start + len(counts)
    if priors.radius is not None:
        fewest, most = _enclose_masses(rows)
        low = np.minimum(counts, fewest) - priors.radius
        return np.maximum(low, 0), np.minimum(np.maximum(counts, most) + priors.radius, POINTS)
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


def _enclose_masses(rows: Table) -> tuple[Counts, Counts]:
    """Return integers around 2^32 m / sum(m) for the masses m of each row, whatever floats round.

    With n symbols the sum of a row is off by less than n 2^-53 of itself; what came before (64-bit
    counts, smoothing) and the quotient are off by as much again and a few units.
    """
    masses = rows.astype(np.float64)
    points = masses / masses.sum(axis=1, keepdims=True) * float(POINTS)
    error = (masses.shape[1] + 8) * 2.0**-52
    low, high = np.floor(points * (1.0 - error)), np.ceil(points * (1.0 + error))
    return low.astype(np.int64), high.astype(np.int64)


def family_counts(priors: PerUserPriors, start: int, stop: int) -> Counts:
    """Return the priors of the families of some users as integers, (users, priors, symbols)."""
    assert priors.members is not None
    some = priors.members[start:stop]
    flat = np.empty((some.shape[0] * some.shape[1], some.shape[2]), dtype=np.int64)
    for first, part in integer_blocks(some.reshape(flat.shape)):
        flat[first : first + len(part)] = part
    return flat.reshape(some.shape)


def _row_error(row: npt.NDArray[np.float64], user: int, tolerance: float) -> CountError:
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
