"""Several columns that are one value: tuples of cells in, private tuples of cells out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.alphabet import Label
from liftlock.column_code import CellReader, GroupCode
from liftlock.errors import CellError, InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.frames.arrow_cells import CellCodes, encoded, filled, first_row, whole_array
from liftlock.frames.written_cells import Codes, WrittenCells
from liftlock.sampling.release import release_codes

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from liftlock.mechanism import Mechanism

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
