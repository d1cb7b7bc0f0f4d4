"""Arrow arrays in, private Arrow arrays out: the one way that files, frames and Spark all take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from liftlock.errors import CellError, InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.weights import numbers_each
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.columns import (
    KEPT,
    PLAIN,
    ColumnEncoding,
    GivenEncoding,
    TableEncoding,
)
from liftlock.model.conditional import REST
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.structured import SupportChannel, UserChannel
from liftlock.sampling.release import release_codes
from liftlock.tables.cells import (
    CellDecoder,
    CellEncoder,
    Codes,
    encode_as_dictionary,
    fill_missing,
    first_row,
    pack_reports,
    packed_type,
    unpack_reports,
    whole_array,
)
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    import pyarrow as pa

MOST_COMBINATIONS = 10_000_000
"""As many combinations of cells can be looked up, whether they occur or not."""

_LISTED = 6


@dataclass(frozen=True)
class ColumnRandomiser:
    """A mechanism at work on Arrow arrays: one for each column that it releases.

    A column is a group of one. Its cells are the inputs and outputs themselves; of several columns
    the combinations of cells are, and only then combinations are looked up.

    >>> import pyarrow as pa
    >>> from liftlock import LIP, Prior, design
    >>> made = design(Prior.from_counts({"no": 3, "yes": 1}), LIP("1"), method="safe-response")
    >>> (reports,) = ColumnRandomiser(made).release([pa.array(["yes", "no", "no"])])
    >>> reports.type, set(reports.to_pylist()) <= {"no", "yes"}
    (DataType(string), True)
    """

    mechanism: Mechanism
    unseen: str | None = None
    """Another policy for unseen values and combinations than the mechanism's own."""
    names: tuple[Any, ...] = ()
    """Other names of the columns than the mechanism's own."""

    def __post_init__(self) -> None:
        if isinstance(self.mechanism.channel, UserChannel):
            raise NotDefined(
                "releasing a column by itself",
                self.mechanism.context.describe(),
                "the mechanism uses per-user priors: use liftlock release --local-priors, or in "
                "Python mechanism.release(values, priors)",
            )
        if self.mechanism.uses_given and self.encoding.given is None:
            raise NotDefined(
                "releasing a column by itself",
                self.mechanism.context.describe(),
                "the mechanism uses a given value of each row and names no column for it: make it "
                "with --given, or in Python mechanism.release(values, given)",
            )
        used = [] if self.given is None else [n for n in self.given.names if n in self.names]
        if used:
            raise InputError(
                "a column is both given and released",
                value=used[0],
                remedy="name the column that the mechanism was made for",
            )
        if self._combinations > MOST_COMBINATIONS:
            raise InputError(
                f"more than {MOST_COMBINATIONS:,} combinations of values",
                value=", ".join(code.name for code in self.codes),
                remedy="merge rare values, or use fewer bins for numbers",
            )

    @classmethod
    def of(
        cls, mechanism: Mechanism, columns: Any = None, unseen: str | None = None
    ) -> ColumnRandomiser:
        """Take the columns that are named, or those that the mechanism was made for."""
        if not isinstance(mechanism, Mechanism):
            raise InputError(
                "not a mechanism for columns",
                value=type(mechanism).__name__,
                remedy="give one that design(...), lock(...) or Mechanism.load(...) made",
            )
        own = (mechanism.encoding or PLAIN).names
        if columns is None and own == ("",):
            raise InputError("no column", remedy="name one: the mechanism does not name its column")
        if len(own) == 1:
            return cls(mechanism, unseen, own if columns is None else (columns,))
        given: Any = own if columns is None else columns
        if isinstance(given, str) or len(given) != len(own):
            raise InputError(
                "a mechanism for several columns at once",
                value=", ".join(own),
                remedy="leave the column out, or name one per input, in this order",
            )
        return cls(mechanism, unseen, tuple(given))

    # --- what is said about the columns ----------------------------------------------------------

    @property
    def needs(self) -> tuple[Any, ...]:
        """The columns that are read: those that are replaced, then those that are given."""
        return self.names if self.given is None else (*self.names, *self.given.names)

    @property
    def given(self) -> GivenEncoding | None:
        """The rules of columns that stay as they are, and that the mechanism uses."""
        return self.encoding.given if self.mechanism.uses_given else None

    @property
    def hides(self) -> tuple[Any, ...]:
        """The columns that do not belong beside what is released: secrets that are columns."""
        return self.mechanism.secrets

    @property
    def encoding(self) -> TableEncoding:
        """How cells, or combinations of them, are inputs."""
        return self.mechanism.encoding or PLAIN

    @property
    def _alone(self) -> bool:
        """Whether cells are the inputs themselves, and no combinations are looked up."""
        return self.encoding.alone is not None

    @cached_property
    def codes(self) -> tuple[ColumnEncoding, ...]:
        """The rules of each column."""
        codes = (self._own,) if self._alone else self.encoding.columns
        if self.names:
            pairs = zip(codes, self.names, strict=True)
            codes = tuple(replace(code, name=str(name)) for code, name in pairs)
        if self.unseen is None or all(self.unseen == code.unseen for code in codes):
            return codes
        if self.unseen == "map" and any(code.other is None for code in codes):
            raise InputError(
                "the mechanism has no input for unseen values",
                remedy="design it with --unseen map, or leave them out",
            )
        return tuple(replace(code, unseen=self.unseen) for code in codes)  # type: ignore[arg-type]

    @property
    def _own(self) -> ColumnEncoding:
        code = self.encoding.columns[0]
        context = self.mechanism.context
        if isinstance(context, GridPrior):
            return replace(code, edges=context.grid.edges, bins=context.labels)
        return code

    @property
    def _parts(self) -> tuple[Alphabet, ...]:
        """What the cells of each column become: of one column the inputs of the mechanism."""
        return (self._symbols,) if self._alone else self.encoding.parts

    @property
    def _symbols(self) -> Alphabet:
        """The inputs of the mechanism, or where it uses given values what is paired with these."""
        context = self.mechanism.context
        if isinstance(context, Conditional) and self.given is not None:
            return context.values
        return self.mechanism.channel.inputs

    @cached_property
    def _cells(self) -> list[CellEncoder]:
        return [CellEncoder(code, part) for code, part in zip(self.codes, self._parts, strict=True)]

    @cached_property
    def _written(self) -> list[CellDecoder]:
        """What the outputs of each column are written as; of several columns their parts."""
        if not self._alone:
            return [
                CellDecoder.of(self.encoding.written_values(at)) for at in range(len(self._parts))
            ]
        outputs = self.mechanism.table.outputs
        if isinstance(self.mechanism.context, GridPrior):
            points = points_of(outputs, "release").tolist()
            pairs = zip(outputs.labels, points, strict=True)
            # Whole numbers are written without a point.
            return [CellDecoder.of([int(p) if type(name) is int else p for name, p in pairs])]
        return [CellDecoder.of([self.codes[0].cell_of(label) for label in outputs.labels])]

    def may_be_none(self, place: int = 0) -> bool:
        """Tell whether an output of a column is written as a missing cell."""
        packs = isinstance(self.mechanism.channel, SupportChannel)
        return not packs and self._written[place].missing_output is not None

    def may_be_missing(self, place: int) -> bool:
        """Tell whether a column may have missing cells once it is released."""
        return self.codes[place].keeps_missing or self.may_be_none(place)

    # --- from cells to reports ------------------------------------------------------------------

    def inputs(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> npt.NDArray[Any]:
        """Return the input of each row, or `KEPT`; the first that is not usable is named."""
        self._check_profiles()
        own = len(self._cells)
        places = self._input_places(columns[:own])
        return places if self.given is None else self._beside(places, columns[own:])

    def _input_places(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> npt.NDArray[Any]:
        """Return the place of each row's value among `_symbols`, or `KEPT`."""
        parts = [read.codes(cells) for read, cells in zip(self._cells, columns, strict=True)]
        if self._alone:
            return parts[0]
        places: npt.NDArray[Any] = self._input_of_key[self._keys(parts)]
        unknown = places < 0
        if unknown.any():
            if any(code.unseen == "refuse" for code in self.codes):
                row = int(np.argmax(unknown))
                raise CellError(
                    "the combination of values is not an input of the mechanism",
                    row,
                    self.codes[0].name,
                    value=tuple(
                        part.labels[int(each[row])]
                        for part, each in zip(self._parts, parts, strict=True)
                    ),
                    remedy="design it with that combination, or with --unseen map",
                )
            places = np.where(unknown, self._likeliest, places)
        return places

    def count_unseen(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> int:
        """Return how many cells are not known, and become the input for such."""
        columns = columns[: len(self._cells)]
        return sum(
            read.count_unseen(cells) for read, cells in zip(self._cells, columns, strict=True)
        )

    def released_types(self, before: Sequence[pa.DataType]) -> list[pa.DataType]:
        """Return the types of the columns once they are released: as before where outputs fit."""
        self._check_profiles()
        self._check_people()
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            return [packed_type(channel)]
        return [
            written.released_type(kind) for written, kind in zip(self._written, before, strict=True)
        ]

    def draw_outputs(
        self, columns: Sequence[pa.Array | pa.ChunkedArray]
    ) -> tuple[Codes, Codes | None]:
        """Randomise rows with the operating system's entropy; say which ones stay missing."""
        self._check_people()
        codes = self.inputs(columns)
        kept = codes == KEPT if self.codes[0].keeps_missing else None
        if kept is not None:
            codes = np.where(kept, 0, codes)
        channel = self.mechanism.channel
        table = channel if isinstance(channel, SupportChannel) else self.mechanism.table
        return release_codes(table, codes), kept

    def decode_outputs(
        self, outputs: Codes, before: Sequence[pa.DataType], kept: Codes | None = None
    ) -> list[pa.Array]:
        """Return outputs as cells, an array for each column; `kept` marks what stays missing."""
        if isinstance(self.mechanism.channel, SupportChannel):
            return [pack_reports(outputs, kind, kept) for kind in self.released_types(before)]
        if self._alone:
            return [self._written[0].decode_outputs(outputs, before[0], kept)]
        return [
            written.decode_outputs(part[outputs], kind)
            for written, part, kind in zip(self._written, self._output_parts, before, strict=True)
        ]

    def release(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[pa.Array]:
        """Randomise rows with the operating system's entropy."""
        outputs, kept = self.draw_outputs(columns)
        return self.decode_outputs(outputs, [cells.type for cells in columns], kept)

    def _check_profiles(self) -> None:
        """Refuse profiles, which `liftlock.tables.profiles` knows how to look at."""
        if isinstance(self.mechanism.context, ProfileGraph):
            raise NotDefined(
                "releasing a column by itself",
                self.mechanism.context.describe(),
                "the mechanism uses the profile of each row: use liftlock release "
                "--profile-column, or in Python "
                "liftlock.tables.release(frame, mechanism, column, profiles=...)",
            )

    def _check_people(self) -> None:
        """Refuse rows of people, which `liftlock.tables.people` knows how to count."""
        if self.mechanism.person is not None:
            raise NotDefined(
                "releasing rows one by one",
                f"a mechanism that was made for all rows of one {self.mechanism.person.column!r}",
                "use liftlock release, or in Python liftlock.tables.release(frame, mechanism)",
            )

    # --- from reports to counts -----------------------------------------------------------------

    def count_reports(
        self, columns: Sequence[pa.Array | pa.ChunkedArray], **numbers: Any
    ) -> Aggregate:
        """Count rows of reports, as `release` writes them; `numbers` are weights and offsets.

        Where the mechanism keeps missing cells missing, these are nobody's reports, and their
        weights are not counted either. No reports at all give an aggregate of none.
        """
        channel = self.mechanism.channel
        if isinstance(channel, SupportChannel):
            column = whole_array(columns[0], text=False)
            codes = unpack_reports(column, channel, self.codes[0])
            kept = column.is_null().to_numpy(zero_copy_only=False)
        else:
            own = len(self._written)
            codes = self._outputs([whole_array(cells) for cells in columns[:own]])
            kept = codes == KEPT
            if self.given is not None:
                codes = self._with_groups(np.where(kept, 0, codes), kept, columns[own:])
        each = {
            name: None if given is None else numbers_each(given, len(codes), name[:-1])
            for name, given in numbers.items()
        }
        if kept.any():
            codes = codes[~kept]
            each = {name: found if found is None else found[~kept] for name, found in each.items()}
        if not len(codes):
            return Aggregate.empty(self.mechanism.reported)
        if isinstance(channel, SupportChannel):
            return Aggregate.of(channel, codes, **each)
        reported = self.mechanism.reported
        assert isinstance(reported, Channel)
        return Aggregate.of_codes(reported, codes, **each)

    def _with_groups(
        self,
        codes: npt.NDArray[Any],
        kept: npt.NDArray[Any],
        columns: Sequence[pa.Array | pa.ChunkedArray],
    ) -> npt.NDArray[Any]:
        """Return which pair of a group and an output each report is."""
        found: npt.NDArray[Any] = self._report_of_pair[self.groups(columns), codes]
        wrong = (found < 0) & ~kept
        if wrong.any():
            row = int(np.argmax(wrong))
            raise CellError(
                "the report is no output of the mechanism beside this given value",
                row,
                self.codes[0].name,
                value=self.mechanism.table.outputs.labels[int(codes[row])],
                remedy="check that the given columns are as they were; nothing was counted",
            )
        return found

    @cached_property
    def _report_of_pair(self) -> npt.NDArray[np.int64]:
        """The place of each group and output among what is counted; -1 for what cannot be."""
        context, outputs = self.mechanism.context, self.mechanism.table.outputs
        reported = self.mechanism.reported
        assert isinstance(context, Conditional)
        assert isinstance(reported, Channel)
        places = np.full((len(context.names), len(outputs)), -1, dtype=np.int64)
        first = {name: at for at, name in enumerate(context.names)}
        for place, (group, y) in enumerate(cast("Any", reported.outputs.labels)):
            places[first[group], outputs.index(y)] = place
        return places

    def _outputs(self, columns: Sequence[pa.Array]) -> npt.NDArray[Any]:
        """Return which output each row of reports is, or `KEPT`."""
        parts = [self._reports(at, column) for at, column in enumerate(columns)]
        if self._alone:
            return parts[0]
        places: npt.NDArray[Any] = self._output_of_key[self._keys(parts)]
        unknown = places < 0
        if unknown.any():
            row = int(np.argmax(unknown))
            raise CellError(
                "the report is not an output of the mechanism",
                row,
                self.codes[0].name,
                value=tuple(column[row].as_py() for column in columns),
                remedy="check the order of the columns; nothing was counted",
            )
        return places

    def _reports(self, at: int, column: pa.Array) -> npt.NDArray[Any]:
        """Return which output, or part of one, each report of a column is."""
        known = encode_as_dictionary(column)
        entries = known.dictionary.to_pylist()
        places = np.zeros(len(entries) + 1, dtype=np.intp)
        for entry_at, entry in enumerate([*entries, None]):
            place = self._report(at, entry)
            if place is None:
                row = first_row(known.indices, entry_at if entry_at < len(entries) else None)
                if row is not None:
                    raise self._no_output(at, row, entry)
                place = 0
            places[entry_at] = place
        codes: npt.NDArray[Any] = places[fill_missing(known.indices, len(entries))]
        return codes

    def _report(self, at: int, report: Any) -> int | None:
        written = self._written[at]
        if isinstance(report, str) and report in written.by_text:
            return written.output(report)
        if self._cells[at].reader.is_missing(report):
            return KEPT if self.codes[at].keeps_missing else written.missing_output
        return written.output(report)

    def _no_output(self, at: int, row: int, report: object) -> CellError:
        texts = list(self._written[at].by_text)
        listed = ", ".join(texts[:_LISTED])
        return CellError(
            "the report is not an output of the mechanism",
            row,
            self.codes[at].name,
            value=report,
            remedy=f"outputs are {listed}{' ...' if len(texts) > _LISTED else ''}; nothing was "
            "counted",
        )

    # --- columns that are given -----------------------------------------------------------------

    def groups(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> npt.NDArray[np.int64]:
        """Return the group of each row by its given columns; the first that has none is named."""
        given = self.given
        assert given is not None
        keys = self._given_keys(columns)
        known, found, other = self._group_of_key
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        places: npt.NDArray[np.int64] = np.where(known[at] == keys, found[at], other)
        unknown = places < 0
        if unknown.any():
            row = int(np.argmax(unknown))
            cells = tuple(whole_array(cells)[row].as_py() for cells in columns)
            raise CellError(
                "the mechanism knows nothing of this given value",
                row,
                ", ".join(given.names),
                value=cells if len(cells) > 1 else cells[0],
                remedy="release it with --unseen map, or design it with that value"
                if self._rest is not None
                else "design it with that value, or with --unseen map",
            )
        return places

    def _given_keys(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> npt.NDArray[np.int64]:
        """Number the combinations of the cells of given columns, whether they occur or not."""
        keys: npt.NDArray[np.int64] | None = None
        for read, cells in zip(self._given_cells, columns, strict=True):
            codes = read.codes(cells).astype(np.int64)
            keys = codes if keys is None else keys * len(read.inputs) + codes
        assert keys is not None
        return keys

    @cached_property
    def _given_cells(self) -> list[CellEncoder]:
        assert self.given is not None
        # What is not known is told by its combination, not cell by cell.
        codes = [replace(code, unseen="map") for code in self.given.columns]
        return [CellEncoder(code, part) for code, part in zip(codes, self.given.parts, strict=True)]

    @property
    def _rest(self) -> int | None:
        """The group of the rest, if there is one."""
        context = self.mechanism.context
        assert isinstance(context, Conditional)
        return len(context.names) - 1 if context.rest else None

    @cached_property
    def _group_of_key(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], int]:
        """Combinations that are known, ascending, the group of each, and that of all others.

        The group -1 is for those that are refused.
        """
        context, given = self.mechanism.context, self.given
        assert isinstance(context, Conditional)
        assert given is not None
        unseen = given.unseen if self.unseen is None else self.unseen
        if unseen == "map" and self._rest is None:
            raise InputError(
                "the mechanism has no table for unseen given values",
                remedy="design it with --unseen map, or leave them out",
            )
        rest = -1 if self._rest is None else self._rest
        first = {name: at for at, name in enumerate(context.names)}
        groups = {-1: -1}  # no row has this number: there is one even if nothing is known
        groups |= {
            self._given_key(label): first[context.group_of(label)]
            for label in context.given.labels
            if not (context.rest and label == REST)
        }
        groups |= {self._given_key(label): rest for label in given.merged}
        keys = sorted(groups)
        return (
            np.array(keys, dtype=np.int64),
            np.array([groups[key] for key in keys], dtype=np.int64),
            rest if unseen == "map" else -1,
        )

    def _given_key(self, label: Label) -> int:
        assert self.given is not None
        cells = label if len(self.given.parts) > 1 else (label,)
        if not isinstance(cells, tuple) or len(cells) != len(self.given.parts):
            raise InputError(
                "a given value does not fit the given columns",
                value=label,
                remedy="restore the file of the mechanism, or make it again",
            )
        key = 0
        for each, part in zip(cells, self.given.parts, strict=True):
            key = key * len(part) + part.index(each)
        return key

    def _beside(
        self, values: npt.NDArray[Any], columns: Sequence[pa.Array | pa.ChunkedArray]
    ) -> npt.NDArray[Any]:
        """Return the input of each row: its value in the table of its group."""
        groups = self.groups(columns)
        kept = values == KEPT
        places: npt.NDArray[Any] = self._input_of_pair[groups, np.where(kept, 0, values)]
        unknown = (places < 0) & ~kept
        if unknown.any():
            assert self.given is not None
            row = int(np.argmax(unknown))
            raise CellError(
                "the value never occurred beside this given value",
                row,
                self.codes[0].name,
                value=(
                    self._symbols.labels[int(values[row])],
                    *(whole_array(cells)[row].as_py() for cells in columns),
                ),
                remedy="design it with that combination, or with --unseen map",
            )
        places[kept] = KEPT
        return places

    @cached_property
    def _input_of_pair(self) -> npt.NDArray[np.int64]:
        """The input of each group and value; -1 for those that are refused.

        With the policy to map, a value that never occurred in a group is answered as by the rest.
        """
        context, inputs = self.mechanism.context, self.mechanism.channel.inputs
        assert isinstance(context, Conditional)
        assert self.given is not None
        unseen = self.given.unseen if self.unseen is None else self.unseen
        places = np.full((len(context.names), len(context.values)), -1, dtype=np.int64)
        first = {name: at for at, name in enumerate(context.names)}
        for group, x in context.pair_list:
            places[first[group], context.values.index(x)] = inputs.index((group, x))
        if unseen == "map" and self._rest is not None:
            places = np.where(places < 0, places[self._rest], places)
        return places

    # --- combinations of the cells of several columns -------------------------------------------

    @property
    def _combinations(self) -> int:
        """How many combinations of parts there are, whether they occur or not."""
        return 0 if self._alone else math.prod(len(part) for part in self._parts)

    def _keys(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
        """Number all combinations of parts, whether they occur or not."""
        keys = np.zeros(len(parts[0]), dtype=np.int64)
        for each, part in zip(parts, self._parts, strict=True):
            keys = keys * len(part) + each
        return keys

    def _key(self, label: Label) -> int:
        assert isinstance(label, tuple)
        key = 0
        # An output may have a number behind its parts, which tells it from others.
        for each, part in zip(label, self._parts, strict=False):
            key = key * len(part) + part.index(each)
        return key

    @cached_property
    def _input_of_key(self) -> npt.NDArray[np.int64]:
        """The input of each combination, -1 for those that are none."""
        places = np.full(self._combinations, -1, dtype=np.int64)
        for place, label in enumerate(self._symbols.labels):
            places[self._key(label)] = place
        for rare, kept in self.encoding.merged:
            places[self._key(rare)] = self._symbols.index(kept)
        return places

    @cached_property
    def _likeliest(self) -> int:
        prior = self.mechanism.known_prior
        assert prior is not None
        label = prior.labels[int(np.argmax(prior.floats()))]
        return self._symbols.index(label)

    @cached_property
    def _output_of_key(self) -> npt.NDArray[np.int64]:
        """The output of each combination, -1 for those that are none."""
        places = np.full(self._combinations, -1, dtype=np.int64)
        for place, label in enumerate(self.mechanism.table.outputs.labels):
            key = self._key(label)
            if places[key] >= 0:
                raise InputError(
                    "two outputs have the same text",
                    value=label,
                    remedy="count the reports by label, with mechanism.aggregate",
                )
            places[key] = place
        return places

    @cached_property
    def _output_parts(self) -> list[npt.NDArray[np.int64]]:
        """For each column: which part each output has."""
        labels = self.mechanism.table.outputs.labels
        return [
            np.array([part.index(label[at]) for label in labels])  # type: ignore[index]
            for at, part in enumerate(self._parts)
        ]
