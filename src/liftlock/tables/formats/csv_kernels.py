"""Compiled loops over the bytes of CSV files; imported only when one is read.

They know RFC 4180 as Python's `csv` reads it: a cell whose first character is a quotation mark
ends with the next one that is not doubled, any other cell with the next mark or line end; lines
end with LF, CRLF or CR, and a line without a character is no row. Bytes are enough for that: in
UTF-8 no byte of a longer character looks like one of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import extra

with extra("tables"):
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

from liftlock.exact.compiled import compiled

Bytes = npt.NDArray[np.uint8]

Places = npt.NDArray[np.int64]


FINE, RAGGED, AFTER_QUOTE, UNCLOSED = 0, 1, 2, 3
"""What `scan` found: nothing wrong, too few or many cells, text after a closing quotation mark,
a quotation mark that is never closed."""


KEEP, REPLACE, DROP_WITH_MARK_BEFORE, DROP_WITH_MARK_BEHIND, KEEP_VISIBLE = 0, 1, 2, 3, 4
"""What `assemble` does with a cell. `KEEP_VISIBLE` writes an empty cell as two quotation marks."""


_QUOTE, _LF, _CR = 34, 10, 13


def _copy_bytes(_context: Any, out: Any, _at: Any, source: Any, _start: Any, _length: Any) -> Any:
    """Copy bytes with the processor's own copy: a loop takes four times as long for some dozens."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        target = context.make_array(signature.args[0])(context, builder, given[0]).data
        origin = context.make_array(signature.args[2])(context, builder, given[2]).data
        target, origin = builder.gep(target, [given[1]]), builder.gep(origin, [given[3]])
        cgutils.raw_memcpy(builder, target, origin, given[4], 1)  # type: ignore[no-untyped-call, unused-ignore]
        return context.get_dummy_value()

    place = types.intp
    return types.void(out, place, source, place, place), generate


_copy: Any = intrinsic(_copy_bytes)


@compiled()
def scan(
    buffer: Bytes,
    start: int,
    final: bool,
    kinds: Bytes,
    width: int,
    wanted: Places,
    starts: Places,
    stops: Places,
) -> tuple[int, int, int, int, int]:
    """Find the rows from `start` on, and where the cells of the wanted columns are.

    `kinds` is 1 for the mark and 2 for line ends; ``wanted[column]`` is the place of a column in
    `starts` and `stops` (one row for each row of the table), or -1. A `width` of -1 takes one row
    of any width. Returns the rows, the place behind the last whole one, and what was wrong: a
    status, where its row starts, its number of cells.
    """
    end = len(buffer)
    most = len(starts)
    rows = 0
    at = start
    done = start
    while rows < most and at < end:
        byte = buffer[at]
        if kinds[byte] == 2:
            if byte == _CR:
                if at + 1 < end:
                    at += 1 if buffer[at + 1] == _LF else 0
                elif not final:
                    break
            at += 1
            done = at
            continue
        first = at
        column = 0
        whole = True
        while True:
            begin = at
            if at < end and buffer[at] == _QUOTE:
                at += 1
                closed = False
                while at < end:
                    if buffer[at] != _QUOTE:
                        at += 1
                    elif at + 1 < end and buffer[at + 1] == _QUOTE:
                        at += 2
                    else:
                        closed = True
                        at += 1
                        break
                if not closed or (at >= end and not final):
                    if final:
                        return rows, done, UNCLOSED, first, column + 1
                    whole = False
                    break
                if at < end and kinds[buffer[at]] == 0:
                    return rows, done, AFTER_QUOTE, first, column + 1
            else:
                while at < end and kinds[buffer[at]] == 0:
                    at += 1
                if at >= end and not final:
                    whole = False
                    break
            if column < width:
                slot = wanted[column]
                if slot >= 0:
                    starts[rows, slot] = begin
                    stops[rows, slot] = at
            column += 1
            if at >= end or kinds[buffer[at]] == 2:
                break
            at += 1
        if not whole:
            break
        if at < end:
            if buffer[at] == _CR:
                if at + 1 < end:
                    at += 1 if buffer[at + 1] == _LF else 0
                elif not final:
                    break
            at += 1
        if width >= 0 and column != width:
            return rows, done, RAGGED, first, column
        rows += 1
        done = at
    return rows, done, FINE, -1, 0


@compiled()
def _whitespace_length(buffer: Bytes, at: int, stop: int) -> int:
    """Return the bytes of the white space that starts here, as `str.strip` knows it; 0 if none."""
    byte = buffer[at]
    if byte == 32 or (9 <= byte <= 13) or (28 <= byte <= 31):
        return 1
    if byte == 0xC2 and at + 1 < stop:
        return 2 if buffer[at + 1] == 0x85 or buffer[at + 1] == 0xA0 else 0
    if 0xE1 <= byte <= 0xE3 and at + 2 < stop:
        second, third = buffer[at + 1], buffer[at + 2]
        if byte == 0xE1:
            return 3 if second == 0x9A and third == 0x80 else 0
        if byte == 0xE3:
            return 3 if second == 0x80 and third == 0x80 else 0
        if second == 0x80:
            special = third == 0xA8 or third == 0xA9 or third == 0xAF
            return 3 if 0x80 <= third <= 0x8A or special else 0
        if second == 0x81 and third == 0x9F:
            return 3
    return 0


@compiled()
def _trim(buffer: Bytes, start: int, stop: int) -> tuple[int, int]:
    """Return where a text starts and stops without white space around it."""
    if start == stop or (32 < buffer[start] < 128 and 32 < buffer[stop - 1] < 128):
        return start, stop
    while start < stop:
        blank = _whitespace_length(buffer, start, stop)
        if blank == 0:
            break
        start += blank
    while start < stop:
        back = stop - 1
        while back > start and buffer[back] & 0xC0 == 0x80:
            back -= 1
        if _whitespace_length(buffer, back, stop) != stop - back:
            break
        stop = back
    return start, stop


@compiled()
def measure(
    buffer: Bytes,
    starts: Places,
    stops: Places,
    strip: bool,
    begins: Places,
    doubled: npt.NDArray[np.bool_],
    offsets: npt.NDArray[np.int32],
    valid: npt.NDArray[np.bool_],
) -> int:
    """Find the texts of a column's cells: where each begins, and how long all before it are.

    With `strip` white space around a text goes, and an empty text is missing; otherwise only a
    cell without a character is missing. Returns how many are missing.
    """
    total = 0
    missing = 0
    offsets[0] = 0
    for row in range(len(starts)):
        start, stop = starts[row], stops[row]
        bare = start == stop
        quotes = 0
        if stop - start >= 2 and buffer[start] == _QUOTE:
            start += 1
            stop -= 1
            for at in range(start, stop):
                quotes += buffer[at] == _QUOTE
        if strip:
            start, stop = _trim(buffer, start, stop)
            bare = start == stop
        begins[row] = start
        doubled[row] = quotes > 0
        total += stop - start - quotes // 2
        offsets[row + 1] = total
        valid[row] = not bare
        missing += bare
    return missing


@compiled()
def gather(
    buffer: Bytes,
    begins: Places,
    doubled: npt.NDArray[np.bool_],
    offsets: npt.NDArray[np.int32],
    texts: Bytes,
) -> None:
    """Copy the texts that `measure` found, doubled quotation marks as one."""
    for row in range(len(begins)):
        source = begins[row]
        if doubled[row]:
            for at in range(offsets[row], offsets[row + 1]):
                texts[at] = buffer[source]
                source += 2 if buffer[source] == _QUOTE else 1
        else:
            _copy(texts, offsets[row], buffer, source, offsets[row + 1] - offsets[row])


@compiled()
def needs_quotes(texts: Bytes, offsets: Any, kinds: Bytes) -> bool:
    """Tell whether a text must stand between quotation marks: it has one, a mark or a line end in
    it, or white space around it."""
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        for at in range(start, stop):
            if kinds[texts[at]] != 0 or texts[at] == _QUOTE:
                return True
        if stop > start:
            inner = _trim(texts, start, stop)
            if inner[1] - inner[0] != stop - start:
                return True
    return False


@compiled()
def assemble(
    buffer: Bytes,
    start: int,
    stop: int,
    starts: Places,
    stops: Places,
    deeds: npt.NDArray[np.int64],
    texts: Bytes,
    text_starts: Places,
    text_stops: Places,
    out: Bytes,
) -> int:
    """Copy the bytes from `start` to `stop` with other cells; return how many bytes that makes.

    ``deeds[slot]`` says what happens to the cell in ``starts[:, slot]``, the slots being in the
    order of the columns. The cell that replaces it is ``texts[text_starts[row, slot] :
    text_stops[row, slot]]``.
    """
    at = start
    end = 0
    for row in range(len(starts)):
        for slot in range(len(deeds)):
            deed = deeds[slot]
            if deed == KEEP:
                continue
            cell, behind = starts[row, slot], stops[row, slot]
            if deed == KEEP_VISIBLE and cell < behind:
                continue
            upto = cell - 1 if deed == DROP_WITH_MARK_BEFORE else cell
            length = max(upto - at, 0)
            _copy(out, end, buffer, at, length)
            end += length
            at = behind + 1 if deed == DROP_WITH_MARK_BEHIND else behind
            if deed == REPLACE:
                source = text_starts[row, slot]
                length = text_stops[row, slot] - source
                _copy(out, end, texts, source, length)
                end += length
            elif deed == KEEP_VISIBLE:
                out[end] = _QUOTE
                out[end + 1] = _QUOTE
                end += 2
    _copy(out, end, buffer, at, stop - at)
    return end + stop - at


@compiled()
def count_line_ends(buffer: Bytes, stop: int) -> int:
    """Count the line ends (LF, CRLF, CR) before a place; a CR last of all counts already."""
    found = 0
    for at in range(stop):
        byte = buffer[at]
        if byte == _CR or (byte == _LF and (at == 0 or buffer[at - 1] != _CR)):
            found += 1
    return found
