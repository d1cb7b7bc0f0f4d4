"""Compiled loops over packed reports; imported only when there are reports to count."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from liftlock.exact.compiled import compiled
from liftlock.model.structured.hashing_channel import FIELD_BITS, POLYNOMIAL

# One byte of eight bits as eight bytes of one bit each, so that one addition counts all of them.
_SPREAD = (
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    .view("<u8")
    .reshape(-1)
    .astype(np.uint64)
)
_ROWS_PER_BYTE = 255
_LOW_SYMBOLS = 256
_REPORTS_PER_WORD = (1 << 16) - 1


@compiled()
def _count_bits(
    packed: npt.NDArray[np.uint8], spread: npt.NDArray[np.uint64], counts: npt.NDArray[np.int64]
) -> None:
    rows, columns = packed.shape
    sums = np.zeros(columns, dtype=np.uint64)
    for start in range(0, rows, _ROWS_PER_BYTE):
        for row in range(start, min(start + _ROWS_PER_BYTE, rows)):
            for column in range(columns):
                sums[column] += spread[packed[row, column]]
        for column in range(columns):
            for bit in range(8):
                counts[8 * column + bit] += np.int64(
                    (sums[column] >> np.uint64(8 * bit)) & np.uint64(255)
                )
            sums[column] = 0


@compiled()
def _count_hashes(
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    width: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> None:
    symbols = len(counts)
    blocks = (symbols + _LOW_SYMBOLS - 1) // _LOW_SYMBOLS
    sums = np.zeros((blocks, _LOW_SYMBOLS), dtype=np.uint16)
    low = np.zeros(_LOW_SYMBOLS, dtype=np.uint16)
    high = np.zeros(blocks, dtype=np.uint16)
    for start in range(0, len(a), _REPORTS_PER_WORD):
        for report in range(start, min(start + _REPORTS_PER_WORD, len(a))):
            # Multiplication is linear over bits: products with x = 256 h + l are two table entries.
            shifted = a[report]
            size = 1
            while size < _LOW_SYMBOLS:
                for x in range(size):
                    low[size + x] = low[x] ^ np.uint16(shifted)
                shifted <<= 1
                if shifted >> FIELD_BITS:
                    shifted ^= POLYNOMIAL
                size *= 2
            high[0] = np.uint16(b[report])
            size = 1
            while size < blocks:
                for x in range(size, min(2 * size, blocks)):
                    high[x] = high[x - size] ^ np.uint16(shifted)
                shifted <<= 1
                if shifted >> FIELD_BITS:
                    shifted ^= POLYNOMIAL
                size *= 2
            begin = np.uint16(first[report])
            length = np.uint16(width[report])
            for block in range(blocks):
                base = high[block]
                row = sums[block]
                for x in range(_LOW_SYMBOLS):
                    # Wraps below `begin`, so one comparison tests both ends of the bucket.
                    row[x] += np.uint16(np.uint16((low[x] ^ base) - begin) < length)
        for symbol in range(symbols):
            counts[symbol] += np.int64(sums[symbol // _LOW_SYMBOLS, symbol % _LOW_SYMBOLS])
        sums[:] = 0


def count_bits(packed: npt.NDArray[np.uint8], counts: npt.NDArray[np.int64]) -> None:
    """Add to `counts` how often each bit of rows of bytes is 1, lowest bit of a byte first."""
    _count_bits(packed, _SPREAD, counts)


def count_hashes(
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    width: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
) -> None:
    """Add to `counts` how many reports put each symbol's hash a x + b into their bucket.

    A report's bucket is the `width` values from `first` on.
    """
    _count_hashes(a, b, first, width, counts)
