"""Arrow arrays in, private Arrow arrays out: the one way that files, frames and Spark all take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.column_code import KEPT, PLAIN, ColumnCode
from liftlock.contexts import ProfileGraph
from liftlock.errors import CellError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.weights import numbers_each
from liftlock.forms import SupportChannel, UserChannel
from liftlock.frames.arrow_cells import CellCodes, encoded, filled, first_row, whole_array
from liftlock.frames.packed_reports import packed, packed_type, unpacked
from liftlock.frames.written_cells import Codes, WrittenCells
from liftlock.line.grid import GridPrior
from liftlock.sampling.release import release_codes
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from liftlock.mechanism import Mechanism

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
                remedy="release them together: liftlock release, or liftlock.frames.release "
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
