"""Arrow arrays in, private Arrow arrays out: the one way that files, frames and Spark all take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Label
from liftlock.contexts import ProfileGraph
from liftlock.contexts.columns import KEPT, PLAIN, CellReader, ColumnCode, GroupCode
from liftlock.errors import CellError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate, numbers_each
from liftlock.forms import SupportChannel, UserChannel
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.sampling.release import release_codes
from liftlock.tables.cells import (
    CellCodes,
    Codes,
    WrittenCells,
    encoded,
    filled,
    first_row,
    packed,
    packed_type,
    unpacked,
    whole_array,
)
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED = 6


@dataclass(frozen=True)
class ArrowColumn:
    """A mechanism at work on Arrow arrays.

    >>> import pyarrow as pa
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
        if isinstance(self.mechanism.channel, UserChannel):
            raise NotDefined(
                "releasing a column by itself",
                self.mechanism.context.describe(),
                "each row needs a prior of its own: use liftlock protect --local-priors, or in "
                "Python mechanism.release(values, priors)",
            )
        group = self.mechanism.group
        if group is not None:
            raise InputError(
                "a mechanism for several columns at once",
                value=", ".join(group.names),
                remedy="release them together: liftlock release, or liftlock.tables.release "
                "without a column",
            )

    # --- what is said about the column ----------------------------------------------------------

    @cached_property
    def code(self) -> ColumnCode:
        """The rules of the column."""
        code = self.mechanism.column or PLAIN
        context = self.mechanism.context
        if isinstance(context, GridPrior):
            code = replace(code, edges=context.grid.edges, cells=context.labels)
        if self.unseen is None or self.unseen == code.unseen:
            return code
        if self.unseen == "map" and code.other is None:
            raise InputError(
                "the mechanism has no input that unseen values could become",
                remedy="make it with --unseen map, or leave them out",
            )
        return replace(code, unseen=self.unseen)  # type: ignore[arg-type]

    @cached_property
    def _cells(self) -> CellCodes:
        return CellCodes(self.code, self.mechanism.channel.inputs)

    @cached_property
    def _written(self) -> WrittenCells:
        outputs = self.mechanism.table.outputs
        if isinstance(self.mechanism.context, GridPrior):
            return WrittenCells.of(points_of(outputs, "release").tolist())
        return WrittenCells.of([self.code.cell_of(label) for label in outputs.labels])

    @property
    def may_be_none(self) -> bool:
        """Whether an output is written as a missing cell."""
        is_table = not isinstance(self.mechanism.channel, SupportChannel)
        return is_table and self._written.nothing is not None

    # --- from cells to reports ------------------------------------------------------------------

    def _refuse_profiles(self) -> None:
        if isinstance(self.mechanism.context, ProfileGraph):
            raise NotDefined(
                "releasing a column",
                self.mechanism.context.describe(),
                "it needs the profile of each row: use liftlock profiles release",
            )

    def codes(self, cells: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
        """Return the input of each cell, or `KEPT`; the first that is not usable is named."""
        self._refuse_profiles()
        return self._cells.codes(cells)

    def mapped(self, cells: pa.Array | pa.ChunkedArray) -> int:
        """Return how many cells are not known, and become the input for such."""
        return self._cells.mapped(cells)

    def released_type(self, before: pa.DataType) -> pa.DataType:
        """Return the type of the column once it is released: as before where outputs fit it."""
        self._refuse_profiles()
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            return packed_type(channel)
        return self._written.released_type(before)

    def decoded(self, outputs: Codes, before: pa.DataType, kept: Codes | None = None) -> pa.Array:
        """Return outputs as cells; `kept` marks those that stay missing."""
        if isinstance(self.mechanism.channel, SupportChannel):
            return packed(outputs, self.released_type(before), kept)
        return self._written.decoded(outputs, before, kept)

    def drawn(self, cells: pa.Array | pa.ChunkedArray) -> tuple[Codes, Codes | None]:
        """Randomise cells with the operating system's entropy; say which ones stay missing."""
        codes = self.codes(cells)
        kept = codes == KEPT if self.code.keeps_missing else None
        if kept is not None:
            codes = np.where(kept, 0, codes)
        channel = self.mechanism.channel
        table = channel if isinstance(channel, SupportChannel) else self.mechanism.table
        return release_codes(table, codes), kept

    def released(self, cells: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Randomise cells with the operating system's entropy."""
        outputs, kept = self.drawn(cells)
        return self.decoded(outputs, cells.type, kept)

    # --- from reports to counts -----------------------------------------------------------------

    def counted(self, reports: pa.Array | pa.ChunkedArray, **numbers: Any) -> Aggregate:
        """Count a column of reports, as `released` writes them; `numbers` are weights and offsets.

        Where the mechanism keeps missing cells missing, these are nobody's reports, and their
        weights are not counted either. No reports at all give an aggregate of none.
        """
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            column = whole_array(reports, text=False)
            codes = unpacked(column, channel, self.code)
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
            return Aggregate.of(channel, codes, **each)
        return Aggregate.of_codes(self.mechanism.table, codes, **each)

    def _reports(self, column: pa.Array) -> npt.NDArray[Any]:
        known = encoded(column)
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=np.intp)
        for at, entry in enumerate([*entries, None]):
            place = self._output(entry)
            if place is None:
                row = first_row(known.indices, at if at < len(entries) else None)
                if row is not None:
                    raise self._no_output(row, entry)
                place = 0
            places[at] = place
        codes: npt.NDArray[Any] = places[filled(known.indices, len(entries))]
        return codes

    def _output(self, report: Any) -> int | None:
        """Return which output a report is."""
        if isinstance(report, str) and report in self._written.by_text:
            return self._written.output(report)
        if self._cells.reader.is_missing(report):
            return KEPT if self.code.keeps_missing else self._written.nothing
        return self._written.output(report)

    def _no_output(self, row: int, report: object) -> CellError:
        texts = list(self._written.by_text)
        listed = ", ".join(texts[:_LISTED])
        return CellError(
            "a report that is no output of the mechanism",
            row,
            self.code.name,
            value=report,
            remedy=f"outputs are {listed}{' ...' if len(texts) > _LISTED else ''}; nothing was "
            "counted",
        )


MOST_TUPLES = 10_000_000
"""As many combinations of cells can be looked up, whether they occur or not."""


@dataclass(frozen=True)
class ArrowGroup:
    """A mechanism for several columns at work on Arrow arrays, one for each column."""

    mechanism: Mechanism
    unseen: str | None = None
    """Another policy for unseen values and combinations than the mechanism's own."""

    def __post_init__(self) -> None:
        if self._tuples > MOST_TUPLES:
            raise InputError(
                f"more than {MOST_TUPLES:,} combinations of values",
                value=", ".join(self.names),
                remedy="merge rare values, or use fewer cells of numbers",
            )

    @cached_property
    def group(self) -> GroupCode:
        """The rules of the columns."""
        group = self.mechanism.group
        if group is None:
            raise InputError("a mechanism for one column, not for several")
        if self.unseen is None:
            return group
        if self.unseen == "map" and any(code.other is None for code in group.columns):
            raise InputError(
                "the mechanism has no input that unseen values could become",
                remedy="make it with --unseen map, or leave them out",
            )
        codes = tuple(replace(code, unseen=self.unseen) for code in group.columns)  # type: ignore[arg-type]
        return replace(group, columns=codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.group.names

    @property
    def _tuples(self) -> int:
        """How many combinations of parts there are, whether they occur or not."""
        return math.prod(len(part) for part in self.group.parts)

    # --- from cells to reports ------------------------------------------------------------------

    def codes(self, columns: Sequence[pa.Array]) -> npt.NDArray[Any]:
        """Return the input of each row; the first that is not usable is named."""
        parts = [
            CellCodes(code, part).codes(cells)
            for code, part, cells in zip(self.group.columns, self.group.parts, columns, strict=True)
        ]
        places: npt.NDArray[Any] = self._inputs[self._keys(parts)]
        unknown = places < 0
        if unknown.any():
            if any(code.unseen == "refuse" for code in self.group.columns):
                row = int(np.argmax(unknown))
                raise CellError(
                    "a combination of values that the mechanism does not know",
                    row,
                    self.names[0],
                    value=tuple(
                        part.labels[int(each[row])]
                        for part, each in zip(self.group.parts, parts, strict=True)
                    ),
                    remedy="design it with that combination, or with --unseen map",
                )
            places = np.where(unknown, self._likeliest, places)
        return places

    def _keys(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
        """Number all combinations of parts, whether they occur or not."""
        keys = np.zeros(len(parts[0]), dtype=np.int64)
        for each, part in zip(parts, self.group.parts, strict=True):
            keys = keys * len(part) + each
        return keys

    def _key(self, label: Label) -> int:
        assert isinstance(label, tuple)
        key = 0
        # An output may have a number behind its parts, which tells it from others.
        for each, part in zip(label, self.group.parts, strict=False):
            key = key * len(part) + part.index(each)
        return key

    @cached_property
    def _inputs(self) -> npt.NDArray[np.int64]:
        """The input of each combination, -1 for those that are none."""
        places = np.full(self._tuples, -1, dtype=np.int64)
        for place, label in enumerate(self.mechanism.channel.inputs.labels):
            places[self._key(label)] = place
        for rare, kept in self.group.merged:
            places[self._key(rare)] = self.mechanism.channel.inputs.index(kept)
        return places

    @cached_property
    def _likeliest(self) -> int:
        prior = self.mechanism.known_prior
        assert prior is not None
        label = prior.labels[int(np.argmax(prior.floats()))]
        return self.mechanism.channel.inputs.index(label)

    @cached_property
    def _written(self) -> list[WrittenCells]:
        return [WrittenCells.of(self.group.written(at)) for at in range(len(self.names))]

    @cached_property
    def _parts(self) -> list[npt.NDArray[np.int64]]:
        """For each column: which part each output has."""
        labels = self.mechanism.table.outputs.labels
        found = []
        for at, part in enumerate(self.group.parts):
            found.append(np.array([part.index(label[at]) for label in labels]))  # type: ignore[index]
        return found

    def released_types(self, before: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Return the types of the columns once they are released."""
        return [
            written.released_type(kind) for written, kind in zip(self._written, before, strict=True)
        ]

    def drawn(self, columns: Sequence[pa.Array]) -> Codes:
        """Randomise rows with the operating system's entropy."""
        return release_codes(self.mechanism.table, self.codes(columns))

    def decoded(self, outputs: Codes, before: Sequence[pa.DataType]) -> list[pa.Array]:
        """Return outputs as cells, an array for each column."""
        return [
            written.decoded(part[outputs], kind)
            for written, part, kind in zip(self._written, self._parts, before, strict=True)
        ]

    def released(self, columns: Sequence[pa.Array]) -> list[pa.Array]:
        """Randomise rows with the operating system's entropy."""
        return self.decoded(self.drawn(columns), [cells.type for cells in columns])

    def may_be_none(self, place: int) -> bool:
        """Whether a column may be released as a missing cell."""
        return self._written[place].nothing is not None

    # --- from reports to counts -----------------------------------------------------------------

    def counted(self, columns: Sequence[pa.Array], **numbers: Any) -> Aggregate:
        """Count rows of reports, as `released` writes them; `numbers` are weights and offsets."""
        parts = [self._reports(at, whole_array(cells)) for at, cells in enumerate(columns)]
        places = self._outputs[self._keys(parts)]
        unknown = places < 0
        if unknown.any():
            row = int(np.argmax(unknown))
            raise CellError(
                "a report that is no output of the mechanism",
                row,
                self.names[0],
                value=tuple(whole_array(cells)[row].as_py() for cells in columns),
                remedy="the columns do not go together so; nothing was counted",
            )
        if not len(places):
            return Aggregate.none(self.mechanism.channel)
        return Aggregate.of_codes(self.mechanism.table, places, **numbers)

    @cached_property
    def _outputs(self) -> npt.NDArray[np.int64]:
        places = np.full(self._tuples, -1, dtype=np.int64)
        for place, label in enumerate(self.mechanism.table.outputs.labels):
            key = self._key(label)
            if places[key] >= 0:
                raise InputError(
                    "two outputs are written the same",
                    value=label,
                    remedy="their reports cannot be told apart: count them by name, with "
                    "mechanism.aggregate",
                )
            places[key] = place
        return places

    def _reports(self, place: int, column: pa.Array) -> npt.NDArray[Any]:
        """Return the part that each report of a column is."""
        code, part = self.group.columns[place], self.group.parts[place]
        written, reader = self._written[place], CellReader(code, part)
        known = encoded(column)
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=np.int64)
        for at, entry in enumerate([*entries, None]):
            empty = reader.is_missing(entry)
            found = written.nothing if empty else written.output(entry)
            if found is None:
                row = first_row(known.indices, at if at < len(entries) else None)
                if row is not None:
                    raise CellError(
                        "a report that is no output of the mechanism",
                        row,
                        code.name,
                        value=entry,
                        remedy="check that it is the right column; nothing was counted",
                    )
                found = 0
            places[at] = found
        reports: npt.NDArray[Any] = places[filled(known.indices, len(entries))]
        return reports
