"""Cells of Arrow arrays to inputs of a mechanism, and its outputs to cells again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.errors import CellError, InputError
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Alphabet
from liftlock.model.columns import CellReader, ColumnEncoding, spellings_of
from liftlock.model.structured import SupportChannel


@dataclass(frozen=True)
class CellEncoder:
    """The cells of a column read by its rules.

    >>> read = CellEncoder(ColumnEncoding("job", missing="(none)"), Alphabet.of(["cook", "(none)"]))
    >>> read.codes(pa.array(["cook", None, "cook"])).tolist()
    [0, 1, 0]
    """

    code: ColumnEncoding
    inputs: Alphabet

    @cached_property
    def reader(self) -> CellReader:
        """What finds the input of one cell."""
        return CellReader(self.code, self.inputs)

    def codes(self, cells: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
        """Return the input of each cell, or `KEPT`; the first that is not usable is named."""
        column = whole_array(cells)
        if self.code.numeric:
            return self._encode_numbers(column)
        known = encode_as_dictionary(column)
        places = self._places(known)
        codes: npt.NDArray[Any] = places[fill_missing(known.indices, len(known.dictionary))]
        return codes

    def count_unseen(self, cells: pa.Array | pa.ChunkedArray) -> int:
        """Return how many cells are not known, and become the input for such."""
        if self.code.unseen != "map" or self.code.numeric:
            return 0
        known = encode_as_dictionary(whole_array(cells))
        unknown = [self.reader.is_unknown(entry) for entry in known.dictionary.to_pylist()]
        found = np.array([*unknown, False])[fill_missing(known.indices, len(unknown))]
        return int(found.sum())

    def _places(self, known: pa.DictionaryArray) -> npt.NDArray[Any]:
        """Return the input of each entry of a dictionary, and last that of a missing cell."""
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=code_type(len(self.inputs)))
        for at, entry in enumerate([*entries, None]):
            try:
                places[at] = self.reader.index(entry)
            except CellError as refusal:
                # A dictionary may list what does not occur.
                row = first_row(known.indices, at if at < len(entries) else None)
                if row is not None:
                    raise refusal.at(row, refusal.column) from None
        return places

    def _encode_numbers(self, column: pa.Array) -> npt.NDArray[Any]:
        numbers = column_to_floats(column, self.reader)
        missing = np.isnan(numbers)
        places = np.array(
            [self.inputs.index(label) for label in self.code.bins],
            dtype=code_type(len(self.inputs)),
        )
        edges = np.array(self.code.edges[1:-1])
        codes: npt.NDArray[Any] = places[np.searchsorted(edges, numbers, side="right")]
        if missing.any():
            codes[missing] = self.reader.index(None, int(np.argmax(missing)))
        return codes


def whole_array(cells: pa.Array | pa.ChunkedArray, *, text: bool = True) -> pa.Array:
    """Return one array; Arrow's other ways to hold texts and runs become the plain ones."""
    column = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if isinstance(column, pa.ChunkedArray):  # what no one array can hold
        column = pa.concat_arrays(column.chunks)
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        column = pc.run_end_decode(column)
    if pa.types.is_dictionary(column.type):
        entries = whole_array(column.dictionary, text=text)
        if entries.type == column.type.value_type:
            return column
        return pa.DictionaryArray.from_arrays(column.indices, entries)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    if pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    if text and (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        try:
            column = column.cast(pa.large_string())
        except pa.ArrowInvalid:
            raise InputError(
                "the column holds bytes that are not valid UTF-8",
                value=str(kind),
                remedy="decode it first",
            ) from None
    return column


def encode_as_dictionary(column: pa.Array) -> pa.DictionaryArray:
    """Return a column as a dictionary with plain indices, null ones for missing cells."""
    if pa.types.is_nested(column.type) and not pa.types.is_dictionary(column.type):
        raise InputError(
            "the column holds lists or structs",
            value=str(column.type),
            remedy="give a column of text, numbers or booleans",
        )
    known = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return known if isinstance(known, pa.DictionaryArray) else known.combine_chunks()


def column_to_floats(column: pa.Array, reader: CellReader) -> Floats:
    """Return the numbers of a column, not a number where a cell is missing."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        endless = np.isinf(numbers)
        if endless.any():
            row = int(np.argmax(endless))
            raise CellError(
                "not a finite number",
                row,
                reader.code.name,
                value=float(numbers[row]),
                remedy="correct it or leave it empty",
            )
        return numbers
    known = encode_as_dictionary(column)
    entries = known.dictionary.to_pylist()
    found = np.full(len(entries) + 1, np.nan)
    for at, cell in enumerate(entries):
        if reader.is_missing(cell):
            continue
        found[at] = _parse_number(cell)
        if np.isnan(found[at]) and (place := first_row(known.indices, at)) is not None:
            raise CellError(
                "not a number",
                place,
                reader.code.name,
                value=cell,
                remedy="correct it or leave it empty",
            )
    read: Floats = found[fill_missing(known.indices, len(entries))]
    return read


def _parse_number(cell: object) -> float:
    """Return the finite number that a cell is written as, or not a number."""
    if isinstance(cell, bool) or "_" in str(cell):
        return np.nan
    try:
        number = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return np.nan
    return number if np.isfinite(number) else np.nan


def fill_missing(indices: pa.Array, last: int) -> npt.NDArray[Any]:
    """Return indices of a dictionary, `last` where there is none."""
    if indices.null_count and indices.type.bit_width < 32:
        indices = indices.cast(pa.int32())  # `last` may be one too many for few bits
    filled: npt.NDArray[Any] = pc.fill_null(indices, last).to_numpy(zero_copy_only=False)
    return filled


def first_row(indices: pa.Array, entry: int | None) -> int | None:
    """Return the first row that has an entry of the dictionary, or none at all."""
    where = pc.is_null(indices) if entry is None else pc.equal(indices, entry)
    row = pc.index(where, True).as_py()
    return None if row < 0 else int(row)


def code_type(number: int) -> Any:
    """Return the smallest type that holds so many codes, and `KEPT`."""
    return np.int8 if number < 127 else np.int16 if number < 32_000 else np.int64


Codes = Any


@dataclass(frozen=True)
class CellDecoder:
    """What each output is written as; None is a missing cell.

    >>> CellDecoder.of(["cook", None]).decode_outputs(np.array([1, 0]), pa.string()).to_pylist()
    [None, 'cook']
    """

    cells: tuple[Any, ...]

    @classmethod
    def of(cls, cells: list[Any]) -> CellDecoder:
        """Take cells of one type; those of several are all written as text."""
        kinds = {type(cell) for cell in cells if cell is not None}
        if kinds <= {int, float} or kinds == {bool}:
            return cls(tuple(cells))
        return cls(tuple(None if cell is None else _text(cell) for cell in cells))

    def released_type(self, before: pa.DataType) -> pa.DataType:
        """Return the type of the column once it is released: as before where outputs fit it."""
        if isinstance(before, pa.BaseExtensionType):
            before = before.storage_type
        holds_others = pa.types.is_dictionary(before) or pa.types.is_run_end_encoded(before)
        inner = before.value_type if holds_others else before
        cells = list(self.cells)
        if pa.types.is_null(inner) or _cast_exactly(cells, inner) is None:
            natural = pa.infer_type([cell for cell in cells if cell is not None] or [""])
            inner = pa.string() if _cast_exactly(cells, natural) is None else natural
        if not pa.types.is_dictionary(before):
            return inner
        if pa.types.is_string_view(inner):
            inner = pa.large_string()
        # The order of categories is that of the values before, and outputs have their own.
        return pa.dictionary(_index_type(before.index_type, len(cells)), inner)

    def decode_outputs(
        self, outputs: Codes, before: pa.DataType, kept: Codes | None = None
    ) -> pa.Array:
        """Return outputs as cells; `kept` marks those that stay missing."""
        kind = self.released_type(before)
        named, places = self._dictionary(kind)
        codes = places[outputs]
        missing = codes < 0
        if kept is not None:
            missing |= kept
        mask = missing if missing.any() else None
        found = pa.DictionaryArray.from_arrays(pa.array(codes, mask=mask), named)
        if pa.types.is_dictionary(kind):
            return found.cast(kind)
        plain = found.dictionary_decode()
        return plain if plain.type == kind else plain.cast(kind)

    def _dictionary(self, kind: pa.DataType) -> tuple[pa.Array, npt.NDArray[Any]]:
        """Return the cells of all outputs, and which one belongs to each output, -1 for none."""
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        cells = self.cells
        named = [cell for cell in cells if cell is not None]
        places = np.full(len(cells), -1, dtype=code_type(len(cells)))
        places[[at for at, cell in enumerate(cells) if cell is not None]] = np.arange(len(named))
        # Arrow cannot look views up in a dictionary.
        made = _cast_exactly(named, pa.large_string() if pa.types.is_string_view(inner) else inner)
        assert made is not None
        return made, places

    def output(self, report: Any) -> int | None:
        """Return which output a report is: written the same, or the same number."""
        by_text = self.by_text
        if isinstance(report, str) and report in by_text:
            return by_text[report]
        for text in spellings_of(report):
            if text in by_text:
                return by_text[text]
        if isinstance(report, str):
            try:
                report = float(report)
            except ValueError:
                return None
        if isinstance(report, bool) or not isinstance(report, Hashable):
            return None  # True equals 1, and is another value all the same
        return self._by_number.get(report)

    @property
    def missing_output(self) -> int | None:
        """The output that is written as a missing cell."""
        return next((at for at, cell in enumerate(self.cells) if cell is None), None)

    @cached_property
    def by_text(self) -> dict[str, int]:
        """The outputs by what they are written as, in text."""
        found: dict[str, int] = {}
        for at, cell in enumerate(self.cells):
            if cell is not None and found.setdefault(_text(cell), at) != at:
                raise InputError(
                    "two outputs have the same text",
                    value=cell,
                    remedy="count the reports by label, with mechanism.aggregate",
                )
        return found

    @cached_property
    def _by_number(self) -> dict[Any, int]:
        return {
            cell: at
            for at, cell in enumerate(self.cells)
            if isinstance(cell, int | float) and not isinstance(cell, bool)
        }


def _cast_exactly(cells: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
    """Return cells in a type; None if it does not hold all of them as they are.

    Texts of dates and numbers are read, if they would be written the same again.
    """
    texts = [None if cell is None else _text(cell) for cell in cells]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.array(texts, type=kind)
    refusals = (ValueError, TypeError, NotImplementedError, OverflowError)
    try:
        made = pa.array(cells, type=kind)
        if made.to_pylist() == list(cells):
            return made
    except refusals:
        pass
    try:
        made = pa.array(texts, type=pa.string()).cast(kind)
        again = [None if cell is None else str(cell) for cell in made.to_pylist()]
    except refusals:
        return None
    return made if again == texts else None


def _index_type(before: pa.DataType, entries: int) -> pa.DataType:
    """Return the type of a dictionary's indices: as before, unless there are too many entries."""
    room = before.bit_width - (0 if pa.types.is_unsigned_integer(before) else 1)
    return before if entries <= 1 << room else pa.int32()


def _text(cell: object) -> str:
    return cell if isinstance(cell, str) else str(cell)


def packed_type(channel: SupportChannel) -> pa.DataType:
    """Return the type of packed reports: bytes, the same number for each."""
    return pa.binary(channel.report_bytes)


def pack_reports(reports: npt.NDArray[Any], kind: pa.DataType, kept: Any = None) -> pa.Array:
    """Return reports as bytes; `kept` marks those that stay missing."""
    found = pa.FixedSizeBinaryArray.from_buffers(
        kind, len(reports), [None, pa.py_buffer(np.ascontiguousarray(reports))]
    )
    return found if kept is None else pc.if_else(pa.array(kept), None, found)


def unpack_reports(
    column: pa.Array, channel: SupportChannel, code: ColumnEncoding
) -> npt.NDArray[np.uint8]:
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
                "the report is not an output of the mechanism",
                row,
                code.name,
                value=cell,
                remedy=f"give reports of {width} bytes, or {2 * width} hexadecimal digits as text",
            )
        rows[row] = np.frombuffer(raw, dtype=np.uint8)
    return rows
