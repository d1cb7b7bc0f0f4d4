"""Compiled loops that turn random words into packed reports; imported only when reports are drawn.

`liftlock.sampling.encode` says what they compute.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled
from liftlock.model.structured.hashing_channel import FIELD_BITS, POLYNOMIAL

Words = npt.NDArray[np.uint64]


@compiled()
def unary_reports(
    words: Words,
    codes: npt.NDArray[np.int64],
    planes: npt.NDArray[np.bool_],
    own: np.uint64,
    unused: np.uint64,
    symbols: int,
    reports: Words,
) -> tuple[int, int]:
    """Draw reports while a whole one is sure to fit the words; return reports and words used."""
    groups = reports.shape[1]
    most = groups * len(planes) + 1
    used = 0
    every = ~np.uint64(0)
    tail = every >> np.uint64(64 * groups - symbols)
    # Eight planes decide most groups; without an exit they run over all groups at once.
    first = min(8, len(planes))
    open_lanes = np.empty(groups, dtype=np.uint64)
    for person in range(len(codes)):
        if used + most > len(words):
            return person, used
        ones = reports[person]
        ones[:] = np.uint64(0)
        open_lanes[:] = every
        for plane in range(first):
            fresh = words[used : used + groups]
            if planes[plane]:
                for group in range(groups):
                    ones[group] |= open_lanes[group] & ~fresh[group]
                    open_lanes[group] &= fresh[group]
            else:
                for group in range(groups):
                    open_lanes[group] &= ~fresh[group]
            used += groups
        for group in range(groups):
            undecided = open_lanes[group]
            for plane in range(first, len(planes)):
                if undecided == 0:
                    break
                word = words[used]
                used += 1
                if planes[plane]:
                    ones[group] |= undecided & ~word
                    undecided &= word
                else:
                    undecided &= ~word
        truth = np.uint64((words[used] >> unused) < own)
        used += 1
        place = codes[person]
        lane = np.uint64(place & 63)
        group = place >> 6
        cleared = reports[person, group] & ~(np.uint64(1) << lane)
        reports[person, group] = cleared | (truth << lane)
        reports[person, groups - 1] &= tail
    return len(codes), used


@compiled()
def hashed_reports(
    words: Words,
    codes: npt.NDArray[np.int64],
    buckets: int,
    other: np.uint64,
    unused: np.uint64,
    reports: npt.NDArray[np.uint8],
) -> None:
    """Draw one report for each code, two words each."""
    limit = np.uint64(buckets - 1) * other
    for person in range(len(codes)):
        seed = words[2 * person]
        a = np.int64(seed & np.uint64(0xFFFF))
        value = np.int64((seed >> np.uint64(16)) & np.uint64(0xFFFF))
        for byte in range(4):
            reports[person, byte] = np.uint8((seed >> np.uint64(8 * byte)) & np.uint64(255))
        rest = codes[person]
        while rest:
            value ^= a * (rest & 1)
            a <<= 1
            if a >> FIELD_BITS:
                a ^= POLYNOMIAL
            rest >>= 1
        number = (value * buckets) >> FIELD_BITS
        unit = words[2 * person + 1] >> unused
        if unit < limit:
            picked = np.int64(unit // other)
            number = picked + np.int64(picked >= number)
        reports[person, 4] = np.uint8(number & 255)
        if reports.shape[1] > 5:
            reports[person, 5] = np.uint8(number >> 8)
