"""The safe response with one prior for each user, for a million users in one pass.

The prior of a user is a row of masses, made integers p(x) that sum to 2^32 by `arc_counts`. Her
keep probability is T / 2^32 with the T of `liftlock.forms.safe_law`, from her own smallest positive
count. A report takes one word::

    word   = the next word
    y      = the user's own value             if word div 2^32 < T
             the symbol that holds the point  word mod 2^32  otherwise, where symbol x holds p(x)
             points, in the order of the columns

The two halves of a word are independent, so P(y | x) is (T 2^32 [x = y] + (2^32 - T) p(y)) / 2^64,
exactly. A user with a single possible value reports it, and there is nothing to protect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.forms.safe_law import SafeLaw
from liftlock.notions.base import Notion
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import Codes, check_codes
from liftlock.sampling.own_priors import (
    MOST_USERS,
    Blocks,
    checked_people,
    checked_table,
    counted_blocks,
    refuse_impossible,
)

if TYPE_CHECKING:
    from typing import SupportsIndex


def safe_law(notion: Notion) -> SafeLaw:
    """Return the integers of the safe response for a notion.

    >>> from liftlock.notions.lip import LIP
    >>> law = safe_law(LIP("1"))
    >>> LIP("1").epsilon.allows(law.largest), LIP("1").epsilon.allows(1 / law.smallest)
    (True, True)
    """
    known = isinstance(notion, Notion)  # whatever is given by hand
    limits = notion.lift_limits() if known else None
    if limits is not None and limits.lower is not None and limits.upper is not None:
        return SafeLaw.of(limits.lower, limits.upper)
    raise InputError(
        "the safe response of users is for lip and alip",
        value=str(notion),
        remedy="give one of these",
    )


def release_safe(masses: npt.NDArray[Any], codes: Codes, notion: Notion) -> Codes:
    """Return one private report for each user, each under a prior of their own.

    `masses` has a row for each user and a column for each symbol, `codes` the column of each user's
    value; a report is a column too. A value whose mass is 0 is refused.

    >>> from liftlock.notions.lip import LIP
    >>> priors = np.array([[0.4, 0.6], [0.0, 1.0]])
    >>> set(release_safe(priors, np.array([0, 1]), LIP("1")).tolist()) <= {0, 1}
    True
    """
    return _drawn(masses, codes, safe_law(notion), OperatingSystemBits())


def simulate_safe(
    masses: npt.NDArray[Any], codes: Codes, notion: Notion, *, seed: SupportsIndex | str
) -> Codes:
    """Return what `release_safe` could have returned, reproducibly. For experiments only."""
    return _drawn(masses, codes, safe_law(notion), SimulationBits(seed))


def safe_posterior(masses: npt.NDArray[Any], reports: Codes, notion: Notion) -> Floats:
    """Return P(x | y) for each user: (1 - t) P(x), and t more for the symbol that was reported.

    >>> from liftlock.notions.lip import LIP
    >>> priors = np.array([[0.25, 0.75]])
    >>> safe_posterior(priors, np.array([0]), LIP("ln 2")).round(4).tolist()
    [[0.5, 0.5]]
    """
    law = safe_law(notion)
    rows = checked_table(masses)
    people = checked_reports(reports, *rows.shape)
    found = np.empty(rows.shape)
    for first, counts in counted_blocks(rows):
        some = slice(first, first + len(counts))
        fill_posteriors(law, first, counts, people[some], found[some])
    return found


def fill_posteriors(
    law: SafeLaw,
    first: int,
    counts: npt.NDArray[np.int64],
    reports: npt.NDArray[np.int64],
    found: Floats,
) -> None:
    """Fill in P(x | y) for a block of users; refuse a report that a user's prior excludes."""
    from liftlock.sampling.safe_kernels import posteriors

    wrong = posteriors(counts, reports, *kernel_numbers(law), found)
    if wrong >= 0:
        raise refuse_report(first + wrong, int(reports[wrong]))


def kernel_numbers(law: SafeLaw) -> tuple[int, np.uint64, int]:
    """Return what the compiled loops need to know of a law; the gain may take all 64 bits."""
    return law.most, np.uint64(law.gain), law.enough


def checked_reports(reports: Codes, users: int, symbols: int) -> npt.NDArray[np.int64]:
    """Return a copy of reports, all of them columns, one for each prior."""
    check_codes(reports)
    copied = reports.astype(np.int64)
    if len(copied) != users:
        raise InputError(
            f"{len(copied)} reports for {users} priors", remedy="give one prior to each report"
        )
    wrong = (copied < 0) | (copied >= symbols)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InputError(
            "report outside the output alphabet",
            where=f"report {place + 1}",
            value=int(reports[place]),
            remedy=f"reports are 0 to {symbols - 1}; nothing was counted",
        )
    return copied


def refuse_report(place: int, code: int) -> InputError:
    """Return the refusal of a report that the user's own prior makes impossible."""
    return InputError(
        "a report that the user's own prior can never give",
        where=f"report {place + 1}",
        value=code,
        remedy="give the priors of the release, in its order; nothing was counted",
    )


def _drawn(masses: npt.NDArray[Any], codes: Codes, law: SafeLaw, bits: RandomBits) -> Codes:
    users, symbols = checked_table(masses).shape
    people = checked_people(codes, users, symbols)
    reports = np.empty(users, dtype=np.min_scalar_type(symbols - 1))
    draw_kept(law, counted_blocks(masses), people, bits, reports)
    return reports


def draw_kept(
    law: SafeLaw,
    blocks: Blocks,
    people: npt.NDArray[np.int64],
    bits: RandomBits,
    reports: Codes,
) -> None:
    """Fill in the reports of all users of the blocks; refuse a value of probability 0."""
    from liftlock.sampling.safe_kernels import kept

    words = np.empty(MOST_USERS, dtype=np.uint64)
    drawn = np.empty(MOST_USERS, dtype=np.int64)
    for first, counts in blocks:
        some = slice(first, first + len(counts))
        fresh, fitted = words[: len(counts)], drawn[: len(counts)]
        bits.fill(fresh)
        wrong = kept(counts, people[some], fresh, *kernel_numbers(law), fitted)
        if wrong >= 0:
            raise refuse_impossible(first + wrong, int(people[first + wrong]))
        np.copyto(reports[some], fitted, casting="unsafe")
