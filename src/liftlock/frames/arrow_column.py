"""Arrow arrays in, private Arrow arrays out: the one way that files, frames and Spark all take."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.column_code import KEPT, PLAIN, CellReader, ColumnCode, texts_of
from liftlock.errors import CellError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate, numbers_each
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.profile_graph import ProfileGraph
from liftlock.sampling.release import release_codes
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from liftlock.mechanism import Mechanism

Codes = Any


@dataclass(frozen=True)
class ArrowColumn:
    """A mechanism at work on Arrow arrays.

    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> column = ArrowColumn(made)
    >>> reports = column.released(pa.array(["yes", "no", "no"]))
    >>> reports.type, set(reports.to_pylist()) <= {"no", "yes"}
    (DataType(string), True)
    """

    mechanism: Mechanism
    unseen: str | None = None
    """Another policy for unseen values than the mechanism's own."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanism.context, ProfileGraph):
            raise NotDefined(
                "releasing a column",
                self.mechanism.context.describe(),
                "it needs the profile of each row: use liftlock profiles release",
            )

    # --- what is said about the column ----------------------------------------------------------

    @cached_property
    def code(self) -> ColumnCode:
        """The rules of the column."""
        code = self.mechanism.column or PLAIN
        if self.unseen is None or self.unseen == code.unseen:
            return code
        if self.unseen == "map" and code.other is None:
            raise InputError(
                "the mechanism has no input that unseen values could become",
                remedy="make it with --unseen map, or leave them out",
            )
        return replace(code, unseen=self.unseen)  # type: ignore[arg-type]

    @cached_property
    def _reader(self) -> CellReader:
        return CellReader(self.code, self.mechanism.channel.inputs)

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers that are counted by cells."""
        return isinstance(self.mechanism.context, GridPrior) or self.code.numeric

    @property
    def may_be_none(self) -> bool:
        """Whether an output is written as a missing cell."""
        return not isinstance(self.mechanism.channel, SupportChannel) and None in self._written

    # --- from cells to inputs -------------------------------------------------------------------

    def codes(self, cells: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
        """Return the input of each cell, or `KEPT`; the first that is not usable is named."""
        column = whole_array(cells)
        if self.numeric:
            return self._cells_of_numbers(column)
        known = _encoded(column)
        places = self._places(known)
        codes: npt.NDArray[Any] = places[_filled(known.indices, len(known.dictionary))]
        return codes

    def _places(self, known: pa.DictionaryArray) -> npt.NDArray[Any]:
        """Return the input of each entry of a dictionary, and last that of a missing cell."""
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=_code_type(len(self._reader.inputs)))
        for at, entry in enumerate([*entries, None]):
            try:
                places[at] = self._reader.index(entry)
            except CellError as refusal:
                # A dictionary may list what does not occur.
                row = _first(known.indices, at if at < len(entries) else None)
                if row is not None:
                    raise CellError(
                        refusal.what,
                        row,
                        refusal.column,
                        value=refusal.value,
                        remedy=refusal.remedy,
                    ) from None
        return places

    def _cells_of_numbers(self, column: pa.Array) -> npt.NDArray[Any]:
        numbers = numbers_of_column(column, self._reader)
        missing = np.isnan(numbers)
        context = self.mechanism.context
        if isinstance(context, GridPrior):
            edges = np.array(context.grid.edges[1:-1])
            labels = context.labels
        else:
            edges = np.array(self.code.edges[1:-1])
            labels = self.code.cells
        inputs = self.mechanism.channel.inputs
        places = np.array([inputs.index(label) for label in labels], dtype=_code_type(len(inputs)))
        codes: npt.NDArray[Any] = places[np.searchsorted(edges, numbers, side="right")]
        if missing.any():
            codes[missing] = self._reader.index(None, int(np.argmax(missing)))
        return codes

    # --- from outputs to cells ------------------------------------------------------------------

    def released_type(self, before: pa.DataType) -> pa.DataType:
        """Return the type of the column once it is released: as before where outputs fit it."""
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            width = release_codes(channel, np.zeros(1, dtype=np.intp)).shape[1]
            return pa.binary(width)
        if isinstance(before, pa.BaseExtensionType):
            before = before.storage_type
        holds_others = pa.types.is_dictionary(before) or pa.types.is_run_end_encoded(before)
        inner = before.value_type if holds_others else before
        cells = self._written
        if pa.types.is_null(inner) or _typed(cells, inner) is None:
            natural = pa.infer_type([cell for cell in cells if cell is not None] or [""])
            inner = pa.string() if _typed(cells, natural) is None else natural
        if not pa.types.is_dictionary(before):
            return inner
        if pa.types.is_string_view(inner):
            inner = pa.large_string()
        # The order of categories is that of the values before, and outputs have their own.
        return pa.dictionary(_index_type(before.index_type, len(cells)), inner)

    @cached_property
    def _written(self) -> list[Any]:
        """What each output is written as."""
        outputs = self.mechanism.table.outputs
        if isinstance(self.mechanism.context, GridPrior):
            points: list[Any] = points_of(outputs, "release").tolist()
            return points
        cells = [self.code.cell_of(label) for label in outputs.labels]
        kinds = {type(cell) for cell in cells if cell is not None}
        if kinds <= {int, float} or kinds == {bool}:
            return cells
        return [None if cell is None else _text(cell) for cell in cells]

    def decoded(self, outputs: Codes, before: pa.DataType, kept: Codes | None = None) -> pa.Array:
        """Return outputs as cells; `kept` marks those that stay missing."""
        kind = self.released_type(before)
        if isinstance(self.mechanism.channel, SupportChannel):
            packed = pa.FixedSizeBinaryArray.from_buffers(
                kind, len(outputs), [None, pa.py_buffer(np.ascontiguousarray(outputs))]
            )
            return packed if kept is None else pc.if_else(pa.array(kept), None, packed)
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
        cells = self._written
        named = [cell for cell in cells if cell is not None]
        places = np.full(len(cells), -1, dtype=_code_type(len(cells)))
        places[[at for at, cell in enumerate(cells) if cell is not None]] = np.arange(len(named))
        # Arrow cannot look views up in a dictionary.
        made = _typed(named, pa.large_string() if pa.types.is_string_view(inner) else inner)
        assert made is not None
        return made, places

    # --- the whole way --------------------------------------------------------------------------

    def drawn(self, cells: pa.Array | pa.ChunkedArray) -> tuple[Codes, Codes | None]:
        """Randomise cells with the operating system's entropy; say which ones stay missing."""
        codes = self.codes(cells)
        kept = codes == KEPT if self.code.keeps_missing else None
        if kept is not None:
            codes = np.where(kept, 0, codes)
        return release_codes(self.mechanism.channel, codes), kept

    def released(self, cells: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Randomise cells with the operating system's entropy."""
        outputs, kept = self.drawn(cells)
        return self.decoded(outputs, cells.type, kept)

    def counted(self, reports: pa.Array | pa.ChunkedArray, **numbers: Any) -> Aggregate:
        """Count a column of reports, as `released` writes them; `numbers` are weights and offsets.

        Where the mechanism keeps missing cells missing, these are nobody's reports, and their
        weights are not counted either. No reports at all give an aggregate of none.
        """
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            column = whole_array(reports, text=False)
            codes = _packed(column, channel, self.code)
            kept = column.is_null().to_numpy(zero_copy_only=False)
        else:
            codes = self._reports(whole_array(reports))
            kept = codes == KEPT
        each = {
            name: None if given is None else numbers_each(given, len(codes), name[:-1])
            for name, given in numbers.items()
        }
        if kept.any():
            codes = codes[~kept]
            each = {name: found if found is None else found[~kept] for name, found in each.items()}
        if not len(codes):
            return Aggregate.none(channel)
        if isinstance(channel, SupportChannel):
            return self.mechanism.aggregate(codes, **each)
        return Aggregate.of_codes(channel, codes, **each)

    def _reports(self, column: pa.Array) -> npt.NDArray[Any]:
        known = _encoded(column)
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=np.intp)
        for at, entry in enumerate([*entries, None]):
            place = self._output(entry)
            if place is None:
                row = _first(known.indices, at if at < len(entries) else None)
                if row is not None:
                    raise self._no_output(row, entry)
                place = 0
            places[at] = place
        codes: npt.NDArray[Any] = places[_filled(known.indices, len(entries))]
        return codes

    def _output(self, report: Any) -> int | None:
        """Return which output a report is: written the same, or the same number."""
        by_text, by_number, nothing = self._outputs
        if isinstance(report, str) and report in by_text:
            return by_text[report]
        if self._reader.is_missing(report):
            return KEPT if self.code.keeps_missing else nothing
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
        return by_number.get(report)

    @cached_property
    def _outputs(self) -> tuple[dict[str, int], dict[Any, int], int | None]:
        """The outputs by text, by number, and the one that is written as a missing cell."""
        written = self._written
        by_text: dict[str, int] = {}
        for at, cell in enumerate(written):
            if cell is not None and by_text.setdefault(_text(cell), at) != at:
                raise InputError(
                    "two outputs are written the same",
                    value=cell,
                    remedy="their reports cannot be told apart: count them by name, with "
                    "mechanism.aggregate",
                )
        by_number = {
            cell: at
            for at, cell in enumerate(written)
            if isinstance(cell, int | float) and not isinstance(cell, bool)
        }
        nothing = next((at for at, cell in enumerate(written) if cell is None), None)
        return by_text, by_number, nothing

    def _no_output(self, row: int, report: object) -> CellError:
        by_text = self._outputs[0]
        listed = ", ".join(list(by_text)[:6])
        return CellError(
            "a report that is no output of the mechanism",
            row,
            self.code.name,
            value=report,
            remedy=f"outputs are {listed}{' ...' if len(by_text) > 6 else ''}; nothing was counted",
        )


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


def _encoded(column: pa.Array) -> pa.DictionaryArray:
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
    known = _encoded(column)
    entries = known.dictionary.to_pylist()
    found = np.full(len(entries) + 1, np.nan)
    for at, cell in enumerate(entries):
        if reader.is_missing(cell):
            continue
        found[at] = _number(cell)
        if np.isnan(found[at]) and (place := _first(known.indices, at)) is not None:
            raise CellError(
                "not a number",
                place,
                reader.code.name,
                value=cell,
                remedy="correct it or leave it empty",
            )
    read: Floats = found[_filled(known.indices, len(entries))]
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


def _packed(column: pa.Array, channel: SupportChannel, code: ColumnCode) -> npt.NDArray[np.uint8]:
    """Return the packed reports of an encoding: bytes, or their hexadecimal digits."""
    width = release_codes(channel, np.zeros(1, dtype=np.intp)).shape[1]
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if column.type == pa.binary(width) and len(column) and not column.null_count:
        packed = np.frombuffer(column.buffers()[1], dtype=np.uint8)
        return packed[column.offset * width :][: len(column) * width].reshape(-1, width)
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


def _filled(indices: pa.Array, last: int) -> npt.NDArray[Any]:
    """Return indices of a dictionary, `last` where there is none."""
    if indices.null_count and indices.type.bit_width < 32:
        indices = indices.cast(pa.int32())  # `last` may be one too many for few bits
    filled: npt.NDArray[Any] = pc.fill_null(indices, last).to_numpy(zero_copy_only=False)
    return filled


def _first(indices: pa.Array, entry: int | None) -> int | None:
    """Return the first row that has an entry of the dictionary, or none at all."""
    where = pc.is_null(indices) if entry is None else pc.equal(indices, entry)
    row = pc.index(where, True).as_py()
    return None if row < 0 else int(row)


def _typed(cells: list[Any], kind: pa.DataType) -> pa.Array | None:
    """Return cells in a type; None if it does not hold all of them as they are.

    Texts of dates and numbers are read, if they would be written the same again.
    """
    texts = [None if cell is None else _text(cell) for cell in cells]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.array(texts, type=kind)
    refusals = (ValueError, TypeError, NotImplementedError, OverflowError)
    try:
        made = pa.array(cells, type=kind)
        if made.to_pylist() == cells:
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


def _code_type(number: int) -> Any:
    return np.int8 if number < 127 else np.int16 if number < 32_000 else np.int64
