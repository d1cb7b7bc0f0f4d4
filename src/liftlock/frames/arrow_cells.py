"""Arrow arrays as inputs of a mechanism: every cell becomes a position among its labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.alphabet import Alphabet
from liftlock.column_code import CellReader, ColumnCode
from liftlock.errors import CellError, InputError
from liftlock.exact.integers import Floats

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class CellCodes:
    """The cells of a column read by its rules.

    >>> read = CellCodes(ColumnCode("job", missing="(none)"), Alphabet.of(["cook", "(none)"]))
    >>> read.codes(pa.array(["cook", None, "cook"])).tolist()
    [0, 1, 0]
    """

    code: ColumnCode
    inputs: Alphabet

    @cached_property
    def reader(self) -> CellReader:
        """What finds the input of one cell."""
        return CellReader(self.code, self.inputs)

    def codes(self, cells: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
        """Return the input of each cell, or `KEPT`; the first that is not usable is named."""
        column = whole_array(cells)
        if self.code.numeric:
            return self._of_numbers(column)
        known = encoded(column)
        places = self._places(known)
        codes: npt.NDArray[Any] = places[filled(known.indices, len(known.dictionary))]
        return codes

    def mapped(self, cells: pa.Array | pa.ChunkedArray) -> int:
        """Return how many cells are not known, and become the input for such."""
        if self.code.unseen != "map" or self.code.numeric:
            return 0
        known = encoded(whole_array(cells))
        unknown = [self.reader.is_unknown(entry) for entry in known.dictionary.to_pylist()]
        found = np.array([*unknown, False])[filled(known.indices, len(unknown))]
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

    def _of_numbers(self, column: pa.Array) -> npt.NDArray[Any]:
        numbers = numbers_of_column(column, self.reader)
        missing = np.isnan(numbers)
        places = np.array(
            [self.inputs.index(label) for label in self.code.cells],
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
                "a column of bytes that are no text", value=str(kind), remedy="give text"
            ) from None
    return column


def encoded(column: pa.Array) -> pa.DictionaryArray:
    """Return a column as a dictionary with plain indices, null ones for missing cells."""
    if pa.types.is_nested(column.type) and not pa.types.is_dictionary(column.type):
        raise InputError(
            "a column of lists or structures",
            value=str(column.type),
            remedy="give a column of texts, numbers or truth values",
        )
    known = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return known if isinstance(known, pa.DictionaryArray) else known.combine_chunks()


def numbers_of_column(column: pa.Array, reader: CellReader) -> Floats:
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
    known = encoded(column)
    entries = known.dictionary.to_pylist()
    found = np.full(len(entries) + 1, np.nan)
    for at, cell in enumerate(entries):
        if reader.is_missing(cell):
            continue
        found[at] = _number(cell)
        if np.isnan(found[at]) and (place := first_row(known.indices, at)) is not None:
            raise CellError(
                "not a number",
                place,
                reader.code.name,
                value=cell,
                remedy="correct it or leave it empty",
            )
    read: Floats = found[filled(known.indices, len(entries))]
    return read


def _number(cell: object) -> float:
    """Return the finite number that a cell is written as, or not a number."""
    if isinstance(cell, bool) or "_" in str(cell):
        return np.nan
    try:
        number = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return np.nan
    return number if np.isfinite(number) else np.nan


def filled(indices: pa.Array, last: int) -> npt.NDArray[Any]:
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
