"""Reports of encodings as an Arrow array of packed bytes, or of their hexadecimal digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.column_code import ColumnCode
from liftlock.errors import CellError
from liftlock.forms import SupportChannel

if TYPE_CHECKING:
    import numpy.typing as npt


def packed_type(channel: SupportChannel) -> pa.DataType:
    """Return the type of packed reports: bytes, the same number for each."""
    return pa.binary(channel.report_bytes)


def packed(reports: npt.NDArray[Any], kind: pa.DataType, kept: Any = None) -> pa.Array:
    """Return reports as bytes; `kept` marks those that stay missing."""
    found = pa.FixedSizeBinaryArray.from_buffers(
        kind, len(reports), [None, pa.py_buffer(np.ascontiguousarray(reports))]
    )
    return found if kept is None else pc.if_else(pa.array(kept), None, found)


def unpacked(column: pa.Array, channel: SupportChannel, code: ColumnCode) -> npt.NDArray[np.uint8]:
    """Return the packed reports of an encoding: bytes, or their hexadecimal digits."""
    width = channel.report_bytes
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == pa.binary(width) and len(column) and not column.null_count:
        found = np.frombuffer(column.buffers()[1], dtype=np.uint8)
        return found[column.offset * width :][: len(column) * width].reshape(-1, width)
    rows = np.zeros((len(column), width), dtype=np.uint8)
    for row, cell in enumerate(column.to_pylist()):
        if cell is None and code.keeps_missing:
            continue
        try:
            raw = bytes.fromhex(cell) if isinstance(cell, str) else cell
        except ValueError:
            raw = b""
        if not isinstance(raw, bytes) or len(raw) != width:
            raise CellError(
                "a report that is no output of the mechanism",
                row,
                code.name,
                value=cell,
                remedy=f"reports are {width} bytes, in text {2 * width} hexadecimal digits",
            )
        rows[row] = np.frombuffer(raw, dtype=np.uint8)
    return rows
