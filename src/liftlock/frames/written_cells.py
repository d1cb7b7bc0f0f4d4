"""Outputs of a mechanism as cells of an Arrow array, in the column's own type where they fit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from liftlock.column_code import texts_of
from liftlock.errors import InputError
from liftlock.frames.arrow_cells import code_type

if TYPE_CHECKING:
    import numpy.typing as npt

Codes = Any


@dataclass(frozen=True)
class WrittenCells:
    """What each output is written as; None is a missing cell.

    >>> WrittenCells.of(["cook", None]).decoded(np.array([1, 0]), pa.string()).to_pylist()
    [None, 'cook']
    """

    cells: tuple[Any, ...]

    @classmethod
    def of(cls, cells: list[Any]) -> WrittenCells:
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
        if pa.types.is_null(inner) or _typed(cells, inner) is None:
            natural = pa.infer_type([cell for cell in cells if cell is not None] or [""])
            inner = pa.string() if _typed(cells, natural) is None else natural
        if not pa.types.is_dictionary(before):
            return inner
        if pa.types.is_string_view(inner):
            inner = pa.large_string()
        # The order of categories is that of the values before, and outputs have their own.
        return pa.dictionary(_index_type(before.index_type, len(cells)), inner)

    def decoded(self, outputs: Codes, before: pa.DataType, kept: Codes | None = None) -> pa.Array:
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
        made = _typed(named, pa.large_string() if pa.types.is_string_view(inner) else inner)
        assert made is not None
        return made, places

    def output(self, report: Any) -> int | None:
        """Return which output a report is: written the same, or the same number."""
        by_text = self.by_text
        if isinstance(report, str) and report in by_text:
            return by_text[report]
        for text in texts_of(report):
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
    def nothing(self) -> int | None:
        """The output that is written as a missing cell."""
        return next((at for at, cell in enumerate(self.cells) if cell is None), None)

    @cached_property
    def by_text(self) -> dict[str, int]:
        """The outputs by what they are written as, in text."""
        found: dict[str, int] = {}
        for at, cell in enumerate(self.cells):
            if cell is not None and found.setdefault(_text(cell), at) != at:
                raise InputError(
                    "two outputs are written the same",
                    value=cell,
                    remedy="their reports cannot be told apart: count them by name, with "
                    "mechanism.aggregate",
                )
        return found

    @cached_property
    def _by_number(self) -> dict[Any, int]:
        return {
            cell: at
            for at, cell in enumerate(self.cells)
            if isinstance(cell, int | float) and not isinstance(cell, bool)
        }


def _typed(cells: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
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
