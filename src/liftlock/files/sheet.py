"""The one reader of small CSV files: a header, rows with their lines, and exact numbers."""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from liftlock._runtime.storage import MOST_DIGITS, read_text
from liftlock.errors import FileError, InputError, listed
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label

MOST_CELLS = 4_000_000
"""Tables with more cells are refused: an exact audit of them takes hours and gigabytes."""

MOST_RECORDS = 20_000_000
"""Tables with more rows, one for each person, are not read into memory."""

NEAR_ONE = Fraction(1, 10**9)
"""Sums this close to 1 are normalised exactly (and it is said); others on request."""

DIVIDED = "divided by their sum"
"""How every note ends, or goes on, that numbers were normalised."""

NORMALISE = "divide by their sum (--normalise, normalise=True in Python)"
"""The remedy for numbers of another sum than 1."""

DELIMITERS = ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"))
MISSING = ("refuse", "drop")
"""What may be done with empty cells."""

_MOST_EXPONENT = 400
_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?", re.ASCII)
_DROP = '--missing drop, missing="drop" in Python'

Note: TypeAlias = Callable[[str], None]
Row: TypeAlias = tuple[int, list[str]]
"""The line that a row starts on, and its cells."""


def ignore_note(_: str) -> None:
    """Take a note, and say nothing."""


@dataclass(frozen=True)
class Sheet:
    """A CSV file: the header, and the rows with their line numbers."""

    path: Path
    header: list[str]
    header_line: int
    rows: list[Row]
    mark: str
    """What separates cells."""

    def where(self, line: int, column: int | None = None) -> str:
        """Name a place in the file."""
        if column is None:
            return f"{self.path}, line {line}"
        return f"{self.path}, line {line}, column {column + 1} ({self.header[column]!r})"

    def where_in(self, row: int, column: int) -> str:
        """Name a place by the number of its row."""
        return self.where(self.rows[row][0], column)

    def column(self, name: str) -> int:
        """Return which column has a name."""
        if self.header.count(name) == 1:
            return self.header.index(name)
        what, remedy = "no such column", f"it has {', '.join(self.header)}"
        if name in self.header:
            what, remedy = "column name given twice", "give each column a different name"
        raise FileError(what, where=self.where(self.header_line), value=name, remedy=remedy)

    def columns(self, wanted: Mapping[str, str]) -> list[int]:
        """Return the columns that hold some things, which are all different."""
        places = [self.column(name) for name in wanted.values()]
        for thing, name in wanted.items():
            others = [other for other in wanted if other != thing and wanted[other] == name]
            if others:
                raise FileError(
                    f"one column for {thing} and {others[0]}",
                    where=self.where(self.header_line),
                    value=name,
                    remedy="name different columns",
                )
        return places

    def no_rows_error(self, held: str) -> FileError:
        """Refuse a file that is nothing but a header."""
        return FileError(
            "no rows below the header",
            where=self.where(self.header_line),
            value=self.mark.join(self.header),
            remedy=f"the first line names the columns, the others hold {held}",
        )

    # --- cells ----------------------------------------------------------------------------------

    def row_labels(self, width: int = 1) -> Alphabet:
        """Return the labels of the rows, which must be different from one another.

        A label is the first cell of its row, or a tuple of the first few. The parts of tuples are
        numbers where all cells of the column are.
        """
        columns = list(zip(*(cells[:width] for _, cells in self.rows), strict=True))
        labels: list[Any] = list(columns[0])
        if width > 1:
            labels = list(zip(*map(_numbers_or_texts, columns), strict=True))
        seen: dict[Any, int] = {}
        for label, (line, cells) in zip(labels, self.rows, strict=True):
            if not all(cells[:width]):
                raise FileError(
                    "row without a label",
                    where=self.where(line),
                    value=",".join(cells),
                    remedy="the first cell of every row is its label"
                    if width == 1
                    else f"the first {width} cells of every row are its label",
                )
            if label in seen:
                raise FileError(
                    "label given twice",
                    where=f"{self.path}, lines {seen[label]} and {line}",
                    value=label,
                    remedy="labels must be different from one another",
                )
            seen[label] = line
        return Alphabet.of(seen)

    def find_label(
        self,
        line: int,
        column: int,
        cells: Sequence[str],
        texts: Mapping[str, Label],
        what: str = "profile",
    ) -> Label:
        """Return the label that a cell names, of those that are known by their text."""
        if cells[column] in texts:
            return texts[cells[column]]
        raise FileError(
            f"unknown {what}" if cells[column] else f"no {what}",
            where=self.where(line, column),
            value=cells[column],
            remedy=f"use one of {listed(list(texts.values()), 8)}",
        )

    def number(self, line: int, column: int, text: str, name: str = "number") -> Fraction:
        """Read a number of 0 or more, exactly."""
        found = _parse_decimal(text)
        if found is not None:
            integer, places = found
            return Fraction(integer, 10**places) if places > 0 else Fraction(integer * 10**-places)
        where = self.where(line, column)
        if not text:
            raise FileError(
                f"{name} is missing", where=where, value=text, remedy="write 0 if it is zero"
            )
        if len(text) > MOST_DIGITS:
            raise FileError(
                f"{name} of {len(text):,} characters", where=where, value=text, remedy="shorten it"
            )
        try:
            value = exact(text, name=name)
        except InputError as error:
            raise FileError(error.what, where=where, value=text, remedy=error.remedy) from None
        if value < 0:
            raise FileError(
                f"{name} is negative", where=where, value=text, remedy=f"a {name} is 0 or more"
            )
        return value

    def numbers(self, name: str = "number", start: int = 1) -> list[list[Fraction]]:
        """Read the cells of every row behind its label, exactly."""
        return [
            [
                self.number(line, place, text, name)
                for place, text in enumerate(cells[start:], start)
            ]
            for line, cells in self.rows
        ]

    def integers(
        self, line: int, cells: Sequence[str], start: int = 1, name: str = "probability"
    ) -> tuple[list[int], int]:
        """Return a row of numbers, from the column `start` on, as integers over one denominator."""
        decimals = [_parse_decimal(cell) for cell in cells[start:]]
        plain = [found for found in decimals if found is not None]
        if len(plain) == len(decimals):
            most = max(0, *(places for _, places in plain))
            return [integer * 10 ** (most - places) for integer, places in plain], 10**most
        numbers = [
            self.number(line, column, cell, name)
            for column, cell in enumerate(cells[start:], start=start)
        ]
        scale = math.lcm(*(number.denominator for number in numbers))
        return [int(number * scale) for number in numbers], scale


def _numbers_or_texts(cells: Sequence[str]) -> list[Label]:
    """Return cells as numbers if all are, whole ones as integers; else as they are."""
    try:
        numbers = [exact(cell) for cell in cells]
        return [int(n) if n.denominator == 1 else float(n) for n in numbers]
    except (InputError, OverflowError):
        return list(cells)


def wrong_sum_error(what: str, where: str, total: Fraction, remedy: str) -> FileError:
    """Refuse numbers that do not sum to 1; the sum may lie beyond the floats."""
    if abs(total - 100) <= 100 * NEAR_ONE:
        remedy = "write percentages with their sign, like 70%"
    text = sum_text(total)
    return FileError(what, where=where, value=text if " " in text else float(text), remedy=remedy)


def sum_text(total: Fraction) -> str:
    """Write a sum with the digits that make it another one than 1.

    >>> sum_text(Fraction("0.9999")), sum_text(1 + Fraction(1, 10**14)), sum_text(Fraction(10**400))
    ('0.9999', '1 to within 1e-14', 'more than 1e308')
    """
    try:
        text = f"{float(total):.12g}"
    except OverflowError:
        return "more than 1e308"
    return f"1 to within {float(abs(total - 1)):.2g}" if text == "1" and total != 1 else text


def _parse_decimal(text: str) -> tuple[int, int] | None:
    """Read a plain decimal of 0 or more as integer * 10^-places; None for anything else."""
    match = _DECIMAL.fullmatch(text)
    if match is None or len(text) > MOST_DIGITS:
        return None
    whole, part, exponent = match.groups()
    if not whole and not part:
        return None
    places = len(part)
    if exponent is not None:
        power = int(exponent)
        if abs(power) > _MOST_EXPONENT:
            return None
        places -= power
    return int(whole + part), places


# --- whole sheets -------------------------------------------------------------------------------


def is_json(path: Path, text: str) -> bool:
    """Tell whether a file holds JSON, by its name or its first character."""
    return path.suffix.lower() == ".json" or text.lstrip()[:1] in {"{", "["}


def read_sheet(path: Path, text: str | None = None, *, any_mark: bool = False) -> Sheet:
    """Read a CSV file with a header; every row must be as wide as the header.

    Cells are separated by commas; with `any_mark` also by semicolons or tabs throughout.
    """
    text = read_text(path) if text is None else text
    mark = find_delimiter(text) if any_mark else ","
    lines = _lines(path, text, mark)
    head = _head(path, lines, mark)
    most = max(1, MOST_CELLS // (len(head.header) - 1))
    for line, cells in lines:
        if len(head.rows) >= most:
            raise FileError(
                f"more than {MOST_CELLS:,} cells",
                where=head.where(line),
                remedy="merge rare symbols first",
            )
        head.rows.append((line, cells))
    if not head.rows:
        raise head.no_rows_error("the data")
    return head


def split_row(text: str, mark: str = ",") -> list[str]:
    """Return the cells of the first row of a text, without blanks around them.

    >>> split_row('job, "pay, in EUR"\\n')
    ['job', '"pay', 'in EUR"']
    >>> split_row('job,"pay, in EUR"\\n')
    ['job', 'pay, in EUR']
    """
    return [
        cell.strip() for cell in next(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    ]


def find_delimiter(text: str) -> str:
    """Return what separates the cells of a table: a comma, unless the header has none of them."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    found = [mark for mark in ";\t" if mark in header]
    return found[0] if len(found) == 1 and "," not in header else ","


def _head(path: Path, lines: Iterator[Row], mark: str) -> Sheet:
    """Take the header off the lines of a file."""
    line, header = next(lines, (0, None))
    if header is None:
        raise FileError(
            "only empty cells", where=str(path), remedy="check that it is the right file"
        )
    return Sheet(path, header, line, [], mark)


def _lines(path: Path, text: str, mark: str, *, records: bool = False) -> Iterator[Row]:
    """Give the header, then the rows, each with the line it starts on; blank lines are skipped.

    In a file of records one column is enough, and a row of empty cells is a record all the same.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=mark)
    header: list[str] | None = None
    start = 1
    try:
        for row in reader:
            line, start = start, reader.line_num + 1
            cells = [cell.strip() for cell in row]
            if not cells or not (any(cells) or (records and header is not None)):
                continue
            if header is None:
                header = cells
                _check_header(path, line, header, records=records)
            elif len(cells) != len(header):
                raise _ragged_row_error(path, line, cells, header, mark)
            yield line, cells
    except csv.Error as error:
        raise FileError(
            "not valid CSV",
            where=f"{path}, line {start}",
            value=str(error),
            remedy="check for a missing quotation mark",
        ) from None


def _ragged_row_error(
    path: Path, line: int, cells: list[str], header: list[str], mark: str
) -> FileError:
    remedy = "use one comma between cells and a point before decimals"
    found = _separator(cells[0]) if len(cells) == 1 else None
    if mark != ",":
        remedy = "separate the cells of every line as those of the header"
    elif found is not None:
        remedy = f"separate cells by commas: it has {found}"
    return FileError(
        f"{len(cells)} cell{'s' * (len(cells) != 1)}, but the header has {len(header)}",
        where=f"{path}, line {line}",
        value=mark.join(cells),
        remedy=remedy,
    )


def _separator(text: str) -> str | None:
    return next((name for mark, name in DELIMITERS if mark in text), None)


def _check_header(path: Path, line: int, header: list[str], *, records: bool) -> None:
    if len(header) == 1:
        found = _separator(header[0])
        if found is None and records:
            return
        raise FileError(
            "only one column" if found is None else f"cells separated by {found}",
            where=f"{path}, line {line}",
            value=header[0],
            remedy="separate cells by commas: the first column holds labels, the others numbers"
            if found is None
            else "separate them by commas",
        )
    seen: dict[str, int] = {}
    for column, name in enumerate(header[1:], start=2):
        if not name:
            raise FileError(
                "column without a name",
                where=f"{path}, line {line}, column {column}",
                value=",".join(header),
                remedy="name every column on the first line",
            )
        if name in seen:
            raise FileError(
                "column name given twice",
                where=f"{path}, line {line}, columns {seen[name]} and {column}",
                value=name,
                remedy="the first line is a header, whose names are different from one another",
            )
        seen[name] = column


def label_location(path: Path, label: Label, *, in_header: bool = False) -> str:
    """Say where in a file a label stands, as well as can be found; used to word an error."""
    try:
        text = read_text(path)
        if is_json(path, text):
            return str(path)
        sheet = read_sheet(path, text)
    except FileError:
        return str(path)
    if in_header:
        if str(label) in sheet.header[1:]:
            return sheet.where(sheet.header_line, sheet.header.index(str(label), 1))
        return str(path)
    lines = [line for line, cells in sheet.rows if cells[0] == str(label)]
    return sheet.where(lines[0]) if lines else str(path)


# --- one row for each person, report or observation -----------------------------------------------


def open_records(path: Path, note: Note = ignore_note) -> tuple[Sheet, Iterator[Row]]:
    """Give the header of a table and its rows, one for each person, report or observation.

    Cells may be separated by semicolons or tabs throughout, and `note` is told.
    """
    text = read_text(path)
    if is_json(path, text):
        raise FileError(
            "JSON is not a table with columns", where=str(path), remedy="give a CSV with a header"
        )
    mark = find_delimiter(text)
    lines = _lines(path, text, mark, records=True)
    head = _head(path, lines, mark)
    if mark != ",":
        note(f"the cells of {path} are separated by {dict(DELIMITERS)[mark]}, and were read so")
    return head, lines


def read_records(path: Path, note: Note = ignore_note, each: str = "observation") -> Sheet:
    """Read such a table as a whole."""
    head, lines = open_records(path, note)
    rows = list(lines)
    if not rows:
        raise head.no_rows_error(f"one {each} each")
    return replace(head, rows=rows)


def _cells(
    head: Sheet, lines: Iterable[Row], places: Sequence[int], things: Collection[str]
) -> Iterator[Row]:
    """Give the cells of some columns, none of them empty."""
    none = True
    for line, cells in _limit_rows(head, lines):
        none = False
        for at, thing in zip(places, things, strict=True):
            if not cells[at]:
                raise FileError(
                    f"{thing} is missing",
                    where=head.where(line, at),
                    value=head.mark.join(cells),
                    remedy="drop the line, or name the missing value",
                )
        # One copy of every label: millions of rows have few different ones.
        yield line, [sys.intern(cells[at]) for at in places]
    if none:
        raise head.no_rows_error("one observation each")


def _limit_rows(head: Sheet, lines: Iterable[Row]) -> Iterator[Row]:
    """Refuse more rows than memory is for."""
    for number, (line, cells) in enumerate(lines):
        if number >= MOST_RECORDS:
            raise FileError(
                f"more than {MOST_RECORDS:,} rows",
                where=head.where(line),
                remedy="take a random sample of them",
            )
        yield line, cells


def read_column(
    path: str | Path, column: str, *, missing: str = "refuse", note: Note = ignore_note
) -> Floats:
    """Read a column of numbers from a CSV with a header and one row for each person.

    Empty cells are refused, or with ``missing="drop"`` left out. Cells may be separated by
    semicolons or tabs throughout. `note` is told of both.
    """
    if missing not in MISSING:
        raise InputError(
            "unknown treatment of missing values",
            value=missing,
            remedy=f"use {' or '.join(MISSING)}",
        )
    head, lines = open_records(Path(path), note)
    at = head.column(column)
    numbers: list[float] = []
    empty: list[int] = []
    for line, cells in _limit_rows(head, lines):
        if cells[at]:
            numbers.append(_read_float(head, line, at, cells[at]))
        else:
            empty.append(line)
    if not numbers:
        raise FileError(
            "no numbers below the header",
            where=head.where(head.header_line),
            value=column,
            remedy="the first line names the columns, the others hold one person each",
        )
    if empty:
        said = f"{len(empty):,} of {len(empty) + len(numbers):,} rows have no {column}"
        if missing == "refuse":
            raise FileError(
                said,
                where=head.where(empty[0]),
                remedy=f"leave them out ({_DROP}), or fill them in",
            )
        note(f"{said}, and were left out")
    return np.array(numbers)


def _read_float(head: Sheet, line: int, at: int, text: str) -> float:
    """Read a finite number of either sign."""
    try:
        number = float(text) if "_" not in text else None
    except ValueError:
        number = None
    if number is not None and math.isfinite(number):
        return number
    remedy = "numbers have a point before decimals and no other marks, like 52000.50"
    if number is not None or not any(sign.isdigit() for sign in text):
        remedy = f"correct it, or empty the cell and leave it out ({_DROP})"
    raise FileError(
        "not a number" if number is None else "not a finite number",
        where=head.where(line, at),
        value=text,
        remedy=remedy,
    )


def read_pairs(
    path: str | Path, columns: tuple[str, str] | None = None, note: Note = ignore_note
) -> tuple[list[str], list[str]]:
    """Read input-output pairs: two columns of a CSV, by name.

    Unnamed, they are the columns ``input`` and ``output``, or the only two, inputs first.
    """
    head, lines = open_records(Path(path), note)
    places = _pair_columns(head, columns)
    inputs: list[str] = []
    outputs: list[str] = []
    for _, (given, released) in _cells(head, lines, places, ("input", "output")):
        inputs.append(given)
        outputs.append(released)
    return inputs, outputs


def record_location(path: Path, position: int, columns: tuple[str, str] | None = None) -> str:
    """Say on which line and in which column the input of a pair stands; used to word an error."""
    head, lines = open_records(path)
    column = _pair_columns(head, columns)[0]
    for number, (line, _) in enumerate(lines):
        if number == position:
            return head.where(line, column)
    return str(path)


def _pair_columns(head: Sheet, columns: tuple[str, str] | None) -> list[int]:
    if columns is not None:
        return head.columns({"inputs": columns[0], "outputs": columns[1]})
    if len(head.header) < 2:
        raise FileError(
            "only one column",
            where=head.where(head.header_line),
            value=head.header[0],
            remedy="separate cells by commas: one column holds inputs, another outputs",
        )
    spelled = [name.strip().casefold() for name in head.header]
    if spelled.count("input") == spelled.count("output") == 1:
        return [spelled.index("input"), spelled.index("output")]
    if len(head.header) > 2:
        raise FileError(
            f"{len(head.header)} columns, and none of them says which are input and output",
            where=head.where(head.header_line),
            value=", ".join(head.header[:6]),
            remedy="name the two (--columns INPUT,OUTPUT)",
        )
    return [0, 1]


@dataclass(frozen=True)
class Observations:
    """Columns of a table with one row for each observation."""

    profiles: list[str]
    values: list[str]
    groups: dict[str, str] | None = None
    """The group of each profile, if a column names it."""


def read_observations(
    path: str | Path,
    profile_column: str,
    column: str,
    group_column: str | None = None,
    note: Note = ignore_note,
) -> Observations:
    """Read the profile and the value of each observation, and the group of each profile.

    Cells may be separated by semicolons or tabs throughout; `note` is told. No cell may be empty.
    """
    head, lines = open_records(Path(path), note)
    wanted = {"profile": profile_column, "value": column}
    if group_column is not None:
        wanted["group"] = group_column
    places = head.columns(wanted)
    found = Observations([], [], None if group_column is None else {})
    for line, cells in _cells(head, lines, places, wanted):
        found.profiles.append(cells[0])
        found.values.append(cells[1])
        if found.groups is not None:
            first = found.groups.setdefault(cells[0], cells[2])
            if first != cells[2]:
                raise FileError(
                    f"profile {cells[0]!r} is in two groups",
                    where=head.where(line, places[2]),
                    value=f"{first} and {cells[2]}",
                    remedy="every row of a profile names the same group",
                )
    return found
