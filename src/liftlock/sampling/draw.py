"""Drawing many reports at once: `liftlock.exact.alias.decode`, applied to whole blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.alias import WORD_BITS, AliasTable

if TYPE_CHECKING:
    from liftlock.sampling.bits import RandomBits

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""Positions in an alphabet, of any integer type."""

BLOCK = 1 << 14
"""Reports per block: few enough for the four buffers to stay in a core's own cache."""


def draw(table: AliasTable, codes: Codes, bits: RandomBits, out: Codes | None = None) -> Codes:
    """Draw one output for each input code, one 64-bit word each, in order.

    ``out`` receives the reports if it is given; it has the type `report_type` names. A code that
    is not a row of the table is refused, and then no report of the whole call is left behind.

    >>> from liftlock.sampling.bits import SimulationBits
    >>> table = AliasTable.build(np.array([[12, 4], [0, 16]]), bits=4)
    >>> draw(table, np.array([1, 1, 1]), SimulationBits(7))
    array([1, 1, 1], dtype=uint8)
    """
    check_codes(codes)
    reports = np.empty(len(codes), dtype=report_type(table)) if out is None else out
    _check_out(reports, codes, table)
    try:
        _draw_blocks(table, codes, bits, reports)
    except BaseException:
        # Whoever tries again reports on the same people a second time, so the first must not stay.
        reports[:] = 0
        raise
    return reports


def report_type(table: AliasTable) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the smallest unsigned integer type that holds every output.

    >>> report_type(AliasTable.build(np.full((1, 256), 1), bits=8))
    dtype('uint8')
    """
    return np.min_scalar_type(table.outputs - 1)


def _draw_blocks(table: AliasTable, codes: Codes, bits: RandomBits, reports: Codes) -> None:
    cells = table.packed.reshape(-1)
    unused = np.uint64(WORD_BITS - table.bits)
    bin_bits = np.uint64(table.bin_bits)
    bin_mask = np.uint64((1 << table.bin_bits) - 1)
    sign = np.int64(63)
    buffers = np.empty((4, min(BLOCK, len(codes))), dtype=np.uint64)
    for start in range(0, len(codes), BLOCK):
        stop = min(start + BLOCK, len(codes))
        words, bins, index, cell = buffers[:, : stop - start]
        # Copied before they are checked: a caller's other thread cannot change them in between.
        # Negative codes become huge ones, so one comparison catches both.
        np.copyto(index, codes[start:stop], casting="unsafe")
        if index.max() >= table.rows:
            raise code_error(codes, start + int(np.argmax(index >= table.rows)), table.rows)
        bits.fill(words)

        np.right_shift(words, unused, out=words)
        np.bitwise_and(words, bin_mask, out=bins)
        np.left_shift(index, bin_bits, out=index)
        np.bitwise_or(index, bins, out=index)
        # Every index is in range by now; "clip" only spares numpy a copy of the output.
        np.take(cells, index.view(np.int64), out=cell, mode="clip")
        alias = np.bitwise_and(cell, bin_mask, out=index)
        threshold = np.bitwise_xor(cell, alias, out=cell)
        # position < threshold, with bins still in the low bits on the left and zeros on the right.
        # Both are below 2^63, so the sign of the difference answers it, for all words in the same
        # time; spread over the word it selects bin or alias.
        own = np.subtract(words, threshold, out=words).view(np.int64)
        np.right_shift(own, sign, out=own)
        np.bitwise_xor(bins, alias, out=bins)
        np.bitwise_and(bins, words, out=bins)
        np.bitwise_xor(bins, alias, out=bins)
        np.copyto(reports[start:stop], bins, casting="unsafe")


def check_codes(codes: Codes) -> None:
    """Refuse anything but a column of whole numbers."""
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InputError(
            "codes are not a column of whole numbers",
            value=f"{codes.ndim} dimensions of {codes.dtype}",
            remedy="encode the labels with the channel's input alphabet",
        )


def _check_out(reports: Codes, codes: Codes, table: AliasTable) -> None:
    if reports.shape != codes.shape or reports.dtype != report_type(table):
        raise InputError(
            "out does not fit the reports",
            value=f"shape {reports.shape} of {reports.dtype}",
            remedy=f"it must have shape {codes.shape} and type {report_type(table)}",
        )
    if np.may_share_memory(reports, codes):
        raise InputError(
            "out overlaps the codes", remedy="give it separate memory, or leave it out"
        )


def code_error(codes: Codes, place: int, rows: int) -> InputError:
    """Return the refusal of a code that is no position in the input alphabet."""
    return InputError(
        "code outside the input alphabet",
        where=f"index {place}",
        value=int(codes[place]),
        remedy=f"codes are 0 to {rows - 1}; nothing was released",
    )
