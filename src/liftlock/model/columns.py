"""How the cells of a column become the inputs of a mechanism, before anything is random."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from liftlock.errors import CellError, FileError, InputError
from liftlock.model.alphabet import Alphabet, Label, label_to_json, plain_label
from liftlock.model.person import PersonRule

Missing = Literal["category", "keep", "refuse"]

Unseen = Literal["refuse", "map"]

MISSING: tuple[Missing, ...] = ("category", "keep", "refuse")

UNSEEN: tuple[Unseen, ...] = ("refuse", "map")


MISSING_LABEL = "(missing)"

OTHER_LABEL = "(other)"

KEPT = -1
"""The code of a cell that is missing and stays so."""

_MOST_TUPLES = (1 << 63) - 1
"""Tuples of given cells are numbered in 64 bits, whether they occur or not."""

_LISTED = 6


@dataclass(frozen=True)
class ColumnEncoding:
    """The rules of a column: what missing, rare and unknown values become, the bins of numbers.

    >>> code = ColumnEncoding("job", missing="(missing)", other="(other)", merged=("cook",))
    >>> read = CellReader(code, Alphabet.of(["clerk", "nurse", "(other)", "(missing)"]))
    >>> [read.index(cell) for cell in ("nurse", "cook", None, float("nan"))]
    [1, 2, 3, 3]
    """

    name: str = ""
    missing: Label | None = None
    """The input that a missing cell becomes, if it becomes one."""
    keeps_missing: bool = False
    """Whether missing cells are left as they are, outside of the mechanism."""
    spelled: tuple[str, ...] = ()
    """Texts that mean a missing cell, besides none at all."""
    other: Label | None = None
    """The input that merged values become, and with `unseen` "map" all that are not known."""
    merged: tuple[Label, ...] = ()
    """Values that were too rare for an input of their own."""
    unseen: Unseen = "refuse"
    edges: tuple[float, ...] = ()
    """For numbers: the ends of their cells, ascending; numbers outside count as the nearer cell."""
    bins: tuple[Label, ...] = ()
    """For numbers: the input of each cell."""
    secret: str | None = None
    """The column that must not be inferred; it does not belong beside what is released."""

    def __post_init__(self) -> None:
        if self.unseen not in UNSEEN:
            raise InputError("unknown policy for unseen values", value=self.unseen)
        if (self.unseen == "map" or self.merged) and self.other is None:
            raise InputError("no input for unseen or merged values")
        if self.missing is not None and self.keeps_missing:
            raise InputError("missing cells are an input, or kept, not both")
        if len(self.edges) != (len(self.bins) + 1 if self.bins else 0):
            raise InputError(f"{len(self.edges)} edges for {len(self.bins)} bins")
        if any(not low < high for low, high in zip(self.edges, self.edges[1:], strict=False)):
            raise InputError("the bin edges do not ascend", remedy="make the file again")

    @property
    def numeric(self) -> bool:
        """Whether values are numbers that are counted by cells."""
        return bool(self.bins)

    def cell_of(self, label: Label) -> Label | None:
        """Return what an output is written as: missing cells have no text."""
        return None if self.missing is not None and label == self.missing else label

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; what is not used is left out."""
        data: dict[str, Any] = {"name": self.name}
        if self.secret is not None:
            data["secret"] = self.secret
        if self.missing is not None:
            data["missing"] = label_to_json(self.missing)
        if self.keeps_missing:
            data["keeps_missing"] = True
        if self.spelled:
            data["spelled"] = list(self.spelled)
        if self.other is not None:
            data["other"] = label_to_json(self.other)
        if self.merged:
            data["merged"] = [label_to_json(label) for label in self.merged]
        data["unseen"] = self.unseen
        if self.bins:
            data["edges"] = list(self.edges)
            data["cells"] = [label_to_json(label) for label in self.bins]
        return data

    @classmethod
    def from_data(cls, data: Any) -> ColumnEncoding:
        """Read the JSON form."""
        if not isinstance(data, Mapping):
            raise FileError("the rules of a column are not an object", value=data)

        def listed(name: str) -> list[Any]:
            found = data.get(name, [])
            if not isinstance(found, list):
                raise FileError(f"{name} of a column is not a list", value=found)
            return found

        known = {
            "name",
            "secret",
            "missing",
            "keeps_missing",
            "spelled",
            "other",
            "merged",
            "unseen",
        }
        for key in data:
            if key not in known | {"edges", "cells"}:
                raise FileError("unknown rule of a column", value=key)
        missing, other = data.get("missing"), data.get("other")
        keeps = data.get("keeps_missing", False)
        if not isinstance(keeps, bool):
            raise FileError("keeps_missing of a column is not true or false", value=keeps)
        return cls(
            name=str(data.get("name", "")),
            missing=None if missing is None else plain_label(missing),
            keeps_missing=keeps,
            spelled=tuple(str(text) for text in listed("spelled")),
            other=None if other is None else plain_label(other),
            merged=tuple(plain_label(label) for label in listed("merged")),
            unseen=data.get("unseen", "refuse"),
            edges=tuple(float(edge) for edge in listed("edges")),
            bins=tuple(plain_label(label) for label in listed("cells")),
            secret=None if data.get("secret") is None else str(data["secret"]),
        )


def spellings_of(cell: object) -> tuple[str, ...]:
    """Return how a cell may be written: a whole number also without the point of a float.

    >>> spellings_of(" cook "), spellings_of(3.0)
    (('cook',), ('3.0', '3'))
    """
    text = str(cell).strip()
    if isinstance(cell, float | Decimal) and math.isfinite(cell) and cell == int(cell):
        return text, str(int(cell))
    return (text,)


@dataclass(frozen=True)
class GivenEncoding:
    """The rules of columns that stay beside what is released, and that a mechanism may use.

    Their cells are known values, or missing, which is a value too; numbers of many values are
    known by their band. Several columns make a tuple.

    >>> region = GivenEncoding(
    ...     (ColumnEncoding("region", missing=MISSING_LABEL, other=OTHER_LABEL),),
    ...     (Alphabet.of(["north", "south", MISSING_LABEL, OTHER_LABEL]),),
    ...     merged=("south",),
    ... )
    >>> GivenEncoding.from_data(region.to_data()) == region
    True
    """

    columns: tuple[ColumnEncoding, ...]
    parts: tuple[Alphabet, ...]
    """What the cells of each column become."""
    merged: tuple[Label, ...] = ()
    """Given values that were too rare for a table of their own, and share that of the rest."""
    unseen: Unseen = "refuse"

    def __post_init__(self) -> None:
        if not self.columns or len(self.columns) != len(self.parts):
            raise InputError(
                "not as many alphabets as given columns",
                value=f"{len(self.parts)} for {len(self.columns)}",
            )
        if self.unseen not in UNSEEN:
            raise InputError("unknown policy for unseen values", value=self.unseen)
        for code, part in zip(self.columns, self.parts, strict=True):
            if code.missing not in part or code.other not in part:
                raise InputError(
                    "a given column without a missing or another value", value=code.name
                )
        if math.prod(map(len, self.parts)) > _MOST_TUPLES:
            raise InputError(
                "more combinations of given values than can be numbered",
                value=", ".join(self.names),
                remedy="name fewer given columns",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(code.name for code in self.columns)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        columns = [
            code.to_data() | {"labels": [label_to_json(label) for label in part.labels]}
            for code, part in zip(self.columns, self.parts, strict=True)
        ]
        data: dict[str, Any] = {"columns": columns, "unseen": self.unseen}
        if self.merged:
            data["merged"] = [label_to_json(label) for label in self.merged]
        return data

    @classmethod
    def from_data(cls, data: Any) -> GivenEncoding:
        """Read the JSON form."""
        listed = data.get("columns") if isinstance(data, Mapping) else None
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            raise FileError("the rules of given columns are not a list", value=data)
        columns, parts = [], []
        for each in listed:
            rules = dict(each)
            parts.append(Alphabet.of(plain_label(label) for label in rules.pop("labels", [])))
            columns.append(ColumnEncoding.from_data(rules))
        merged = data.get("merged", [])
        if not isinstance(merged, list):
            raise FileError("merged given values are not a list", value=merged)
        return cls(
            tuple(columns),
            tuple(parts),
            tuple(_label(label) for label in merged),
            data.get("unseen", "refuse"),
        )


@dataclass(frozen=True)
class TableEncoding:
    """The rules of all columns that a mechanism releases: one, or several as one value.

    Of one column the cells become the inputs themselves. Of several an input is a tuple, with a
    part for each column.

    >>> jobs, towns = ColumnEncoding("job"), ColumnEncoding("town")
    >>> both = TableEncoding(
    ...     (jobs, towns), (Alphabet.of(["cook", "nurse"]), Alphabet.of(["A", "B"]))
    ... )
    >>> all(
    ...     TableEncoding.from_data(each.to_data()) == each
    ...     for each in (both, TableEncoding((jobs,)))
    ... )
    True
    """

    columns: tuple[ColumnEncoding, ...]
    parts: tuple[Alphabet, ...] = ()
    """Of several columns: the inputs that the cells of each become."""
    points: tuple[tuple[float, ...], ...] = ()
    """For each column: the number that each of its cells is written as, if it has cells."""
    merged: tuple[tuple[tuple[Label, ...], tuple[Label, ...]], ...] = ()
    """Combinations that were too rare for an input of their own, and what they become."""
    given: GivenEncoding | None = None
    """The rules of columns that stay, and that the mechanism uses."""
    dropped: tuple[str, ...] = ()
    """Columns that were left out when the mechanism was made; so they are when it releases."""
    person: PersonRule | None = None
    """Whose each row is, if the promise is for all rows of a person together."""

    def __post_init__(self) -> None:
        if self.alone is not None:
            if self.parts or self.points or self.merged:
                raise InputError("combinations are of two columns or more", value=self.alone.name)
            return
        if not self.columns or len(self.columns) != len(self.parts):
            raise InputError(
                "not as many parts of an input as columns",
                value=f"{len(self.parts)} for {len(self.columns)}",
            )
        if any(code.keeps_missing for code in self.columns):
            raise InputError("missing cells of a group are inputs like others")
        numbers = self.points or ((),) * len(self.columns)
        if [len(each) for each in numbers] != [len(code.bins) for code in self.columns]:
            raise InputError("the number of values is not the number of bins")

    @classmethod
    def of(cls, names: Sequence[str], inputs: Alphabet) -> TableEncoding:
        """Take the cells of several columns for the parts of each input, as they are.

        >>> TableEncoding.of("xy", Alphabet.of([(0, 1), (0, 2)])).parts[1].labels
        (1, 2)
        """
        parts = [dict.fromkeys(cells) for cells in zip(*cast("Any", inputs.labels), strict=True)]
        return cls(tuple(map(ColumnEncoding, names)), tuple(map(Alphabet.of, parts)))

    @property
    def alone(self) -> ColumnEncoding | None:
        """The rules of the only column; None if there are several."""
        return self.columns[0] if len(self.columns) == 1 else None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(code.name for code in self.columns)

    @property
    def secret(self) -> str | None:
        """The column that must not be inferred from all of them."""
        return self.columns[0].secret

    def written_values(self, place: int) -> list[Any]:
        """Return what each part of a column is written as."""
        code = self.columns[place]
        numbers = dict(zip(code.bins, self.points[place] if code.bins else (), strict=True))
        return [code.cell_of(numbers.get(label, label)) for label in self.parts[place].labels]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form, a part of that of a mechanism."""
        beside: dict[str, Any] = {} if self.given is None else {"given": self.given.to_data()}
        if self.dropped:
            beside["dropped"] = list(self.dropped)
        if self.person is not None:
            beside["person"] = self.person.to_data()
        if self.alone is not None:
            return {"column": self.alone.to_data(), **beside}
        columns = []
        for place, (code, part) in enumerate(zip(self.columns, self.parts, strict=True)):
            data = code.to_data() | {"labels": [label_to_json(label) for label in part.labels]}
            if code.bins:
                data["points"] = list(self.points[place])
            columns.append(data)
        group: dict[str, Any] = {"columns": columns}
        if self.merged:
            group["merged"] = [label_to_json(pair) for pair in self.merged]
        return {"group": group, **beside}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> TableEncoding | None:
        """Read the JSON form; None if a mechanism was made for no column."""
        one, several = data.get("column"), data.get("group")
        given = None if "given" not in data else GivenEncoding.from_data(data["given"])
        left: Any = data.get("dropped", [])
        if not isinstance(left, list) or not all(isinstance(name, str) for name in left):
            raise FileError("the columns that are left out are not a list of names", value=left)
        whose = None if data.get("person") is None else PersonRule.from_data(data["person"])
        if several is None:
            alone = None if one is None else (ColumnEncoding.from_data(one),)
            if alone is None:
                return None
            return cls(alone, given=given, dropped=tuple(left), person=whose)
        if one is not None:
            raise FileError("the rules of one column and of several", value=one)
        listed = several.get("columns") if isinstance(several, Mapping) else None
        if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
            raise FileError("the rules of a group are not a list of columns", value=several)
        if len(listed) < 2:
            raise FileError("a group is of two columns or more", value=len(listed))
        columns, parts, points = [], [], []
        for each in listed:
            rules = dict(each)
            parts.append(Alphabet.of(plain_label(label) for label in rules.pop("labels", [])))
            points.append(
                tuple(
                    point if isinstance(point, int) else float(point)
                    for point in rules.pop("points", [])
                )
            )
            columns.append(ColumnEncoding.from_data(rules))
        merged = tuple(
            (_combination(one), _combination(other)) for one, other in several.get("merged", [])
        )
        numbers = tuple(points) if any(points) else ()
        return cls(tuple(columns), tuple(parts), numbers, merged, given, tuple(left), whose)


def _label(data: Any) -> Label:
    return tuple(_label(part) for part in data) if isinstance(data, list) else plain_label(data)


def _combination(data: Any) -> tuple[Label, ...]:
    return tuple(plain_label(label) for label in data)


PLAIN = TableEncoding((ColumnEncoding(),))
"""Every cell of a column is an input, and nothing else is accepted."""


@dataclass(frozen=True)
class CellReader:
    """Finds the input of a cell: equal to it, or written the same."""

    code: ColumnEncoding
    inputs: Alphabet

    @cached_property
    def _by_text(self) -> dict[str, int]:
        return {str(label): place for place, label in enumerate(self.inputs.labels)}

    @cached_property
    def _merged(self) -> frozenset[str]:
        return frozenset(str(label).strip() for label in self.code.merged)

    @cached_property
    def _strict(self) -> CellReader:
        """The same rules, but for unknown values, which it refuses."""
        return CellReader(replace(self.code, unseen="refuse"), self.inputs)

    @cached_property
    def _bin_places(self) -> Sequence[int]:
        return [self.inputs.index(label) for label in self.code.bins]

    def index(self, cell: object, row: int = 0) -> int:
        """Return the position of a cell's input; `KEPT` for a missing one that stays missing."""
        if self.is_missing(cell):
            if self.code.keeps_missing:
                return KEPT
            if self.code.missing is None:
                raise CellError(
                    "missing value",
                    row,
                    self._name,
                    remedy="fill it in, or have it known: --missing category or keep when the "
                    f"mechanism is made; a joint or prior that is given calls it {MISSING_LABEL}",
                )
            return self.inputs.index(self.code.missing)
        if self.code.bins:
            return self._bin_of(cell, row)
        place = self._equal(cell)
        if place is not None:
            return place
        texts = spellings_of(cell)
        for text in texts:
            if text in self._by_text:
                return self._by_text[text]
        other = self.code.other
        if other is not None and (self.code.unseen == "map" or not self._merged.isdisjoint(texts)):
            return self.inputs.index(other)
        shown = ", ".join(map(repr, self.inputs.labels[:_LISTED]))
        more = len(self.inputs) - _LISTED
        raise CellError(
            "the value is not an input of the mechanism",
            row,
            self._name,
            value=cell,
            remedy=f"its inputs are {shown}{f' and {more} more' if more > 0 else ''}"
            + (
                f"; --unseen map makes it {other!r}"
                if other is not None
                else "; design it with that value, or with --unseen map"
            ),
        )

    def is_unknown(self, cell: object) -> bool:
        """Tell whether a cell is accepted only because unknown values become something else."""
        if self.code.unseen != "map" or self.is_missing(cell):
            return False
        try:
            self._strict.index(cell)
        except CellError:
            return True
        return False

    def is_missing(self, cell: object) -> bool:
        """Tell whether nothing is in a cell; a text that is an input is never nothing."""
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return True
        if not isinstance(cell, str) or cell in self.inputs:
            return False
        return not cell.strip() or cell.strip() in self.code.spelled

    @property
    def _name(self) -> str:
        return self.code.name

    def _equal(self, cell: object) -> int | None:
        try:
            label = plain_label(cell)
        except InputError:
            return None
        if label not in self.inputs:
            return None
        place = self.inputs.index(label)
        # True equals 1, and is another value all the same.
        same = isinstance(self.inputs.labels[place], bool) == isinstance(label, bool)
        return place if same else None

    def _bin_of(self, cell: object, row: int) -> int:
        try:
            number = float(cell)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(cell, bool) or not math.isfinite(number):
            raise CellError(
                "not a number", row, self._name, value=cell, remedy="correct it or leave it empty"
            )
        return self._bin_places[int(np.searchsorted(self.code.edges[1:-1], number, side="right"))]
