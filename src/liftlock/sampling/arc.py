"""The arc mechanism with one prior for each user, for a million users in one pass.

The prior of a user is a row of masses, made integers by `arc_counts`. The guarantee is about these
integers, exactly, and holds whatever they are; they are within one 2^-32 of the masses for each
symbol but the likeliest, which takes up the rest.

A report is the start u of a window on a circle of 2^32 points (`liftlock.forms.arc_law`)::

    word   = the next word, r = word * n div 2^64 for an arc of n points, drawn again if
             word * n mod 2^64 < 2^64 mod n            (r is then uniform on 0 .. n - 1, exactly)
    T      = first point of the arc + r
    unit   = the next word div 4                        62 bits
    u      = T - k  if unit is the k-th place inside the window, T + 1 + k  if the k-th outside
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.forms.arc_law import ArcLaw
from liftlock.notions.base import Notion
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import Codes
from liftlock.sampling.own_priors import (
    MOST_USERS,
    Blocks,
    checked_people,
    checked_table,
    counted_blocks,
    prior_counts,
    refuse_impossible,
)

if TYPE_CHECKING:
    from typing import SupportsIndex


def arc_law(notion: Notion) -> ArcLaw:
    """Return the integers of the arc mechanism for a notion.

    >>> from liftlock.notions.lip import LIP
    >>> law = arc_law(LIP("1"))
    >>> LIP("1").epsilon.allows(law.largest), LIP("1").epsilon.allows(1 / law.smallest)
    (True, True)
    """
    known = isinstance(notion, Notion)  # whatever is given by hand
    limits = notion.lift_limits() if known else None
    if limits is not None and limits.lower is not None and limits.upper is not None:
        return ArcLaw.of(limits.lower, limits.upper)
    raise InputError(
        "the arc mechanism is for lip and alip", value=str(notion), remedy="give one of these"
    )


def arc_counts(masses: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Turn rows of masses, or of counts, into integers that sum to 2^32: the priors protected.

    Counts that sum to 2^32 stay as they are. Otherwise each positive mass is rounded down, to at
    least 1, and what is missing or too much goes to the largest of the row.

    >>> arc_counts(np.array([[0.25, 0.75, 0.0]])).tolist()
    [[1073741824, 3221225472, 0]]
    """
    return prior_counts(masses)


def release_arc(masses: npt.NDArray[Any], codes: Codes, notion: Notion) -> npt.NDArray[np.uint32]:
    """Return one private report for each user, each under a prior of their own.

    `masses` has a row for each user and a column for each symbol, `codes` the column of each user's
    value. A value whose mass is 0 is refused: no prior protects what it calls impossible.

    >>> from liftlock.notions.lip import LIP
    >>> priors = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    >>> release_arc(priors, np.array([2, 0]), LIP("1")).dtype
    dtype('uint32')
    """
    return _drawn(masses, codes, arc_law(notion), OperatingSystemBits())


def simulate_arc(
    masses: npt.NDArray[Any], codes: Codes, notion: Notion, *, seed: SupportsIndex | str
) -> npt.NDArray[np.uint32]:
    """Return what `release_arc` could have returned, reproducibly. For experiments only."""
    return _drawn(masses, codes, arc_law(notion), SimulationBits(seed))


def arc_posterior(
    masses: npt.NDArray[Any], reports: npt.NDArray[np.uint32], notion: Notion
) -> Floats:
    """Return P(x | u) for each user: the prior times L + (U - L) (share of the arc in the window).

    >>> from liftlock.notions.lip import LIP
    >>> priors = np.array([[0.25, 0.75]])
    >>> arc_posterior(priors, np.array([0], dtype=np.uint32), LIP("ln 2")).round(4).tolist()
    [[0.5, 0.5]]
    """
    from liftlock.sampling.arc_kernels import posteriors

    law = arc_law(notion)
    counts = arc_counts(masses)
    if reports.shape != (len(counts),) or reports.dtype != np.uint32:
        raise InputError(
            "reports do not fit the priors",
            value=f"shape {reports.shape} of {reports.dtype}",
            remedy=f"give {len(counts)} numbers of 32 bits (uint32)",
        )
    found = np.empty(counts.shape, dtype=np.float64)
    posteriors(counts, reports, law.width, law.extra, law.low, law.high, law.unit, found)
    return found


def _drawn(
    masses: npt.NDArray[Any], codes: Codes, law: ArcLaw, bits: RandomBits
) -> npt.NDArray[np.uint32]:
    users, symbols = checked_table(masses).shape
    people = checked_people(codes, users, symbols)
    reports = np.empty(users, dtype=np.uint32)
    draw_windows(law, counted_blocks(masses), people, bits, reports)
    return reports


def draw_windows(
    law: ArcLaw,
    blocks: Blocks,
    people: npt.NDArray[np.int64],
    bits: RandomBits,
    reports: npt.NDArray[np.uint32],
) -> None:
    """Fill in the reports of all users of the blocks; refuse a value that has no points."""
    from liftlock.sampling.arc_kernels import windows

    words = np.empty(2 * MOST_USERS, dtype=np.uint64)
    for first, counts in blocks:
        some = slice(first, first + len(counts))
        pending = np.arange(len(counts))
        while len(pending):
            fresh = words[: 2 * len(pending)]
            bits.fill(fresh)
            settled = windows(
                counts, people[some], pending, fresh, law.low, law.high, law.width, law.extra,
                reports[some],
            )  # fmt: skip
            if settled < 0:
                place = first - settled - 1
                raise refuse_impossible(place, int(people[place]))
            pending = pending[: len(pending) - settled]
