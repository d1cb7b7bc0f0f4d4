"""Reading channels, priors, joints and sets of priors from CSV and JSON, exactly."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.channel import Channel, channel_from_data
from liftlock.context import Context, Family, Intervals, Joint, PriorSet, context_from_data
from liftlock.errors import FileError, InputError
from liftlock.exact.integers import as_integers
from liftlock.exact.numbers import exact
from liftlock.mechanism import FORMAT as MECHANISM
from liftlock.mechanism import Mechanism, read_json, read_text
from liftlock.prior import Prior

NEAR_ONE = Fraction(1, 10**9)
"""Sums this close to 1 are normalised exactly (and it is said); others are refused."""

MOST_CELLS = 4_000_000

_PLAIN = re.compile(r"^\d*\.?\d*$")
Note = Callable[[str], None]
T = TypeVar("T")


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True)
class Sheet:
    """A CSV file: the header, and the rows with their line numbers."""

    path: Path
    header: list[str]
    rows: list[tuple[int, list[str]]]

    def where(self, line: int, column: int | None = None) -> str:
        """Name a place in the file."""
        if column is None:
            return f"{self.path}, line {line}"
        return f"{self.path}, line {line}, column {column + 1} ({self.header[column]!r})"


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file with a header; every row must be as wide as the header."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text), strict=True)
    header: list[str] | None = None
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if header is None:
                header = cells
                _check_header(path, header)
            elif len(cells) != len(header):
                raise FileError(
                    f"{len(cells)} cells, but the header has {len(header)}",
                    where=f"{path}, line {reader.line_num}",
                    remedy="use one comma between cells and a point before decimals",
                )
            else:
                rows.append((reader.line_num, cells))
                if len(rows) * len(header) > MOST_CELLS:
                    raise FileError(
                        f"more than {MOST_CELLS:,} cells",
                        where=f"{path}, line {reader.line_num}",
                        remedy="merge rare symbols first",
                    )
    except csv.Error as error:
        raise FileError(
            "not valid CSV", where=f"{path}, line {reader.line_num}", value=str(error)
        ) from None
    if header is None or not rows:
        raise FileError("no rows below the header", where=str(path))
    return Sheet(path, header, rows)


def _check_header(path: Path, header: list[str]) -> None:
    if len(header) == 1:
        for mark, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
            if mark in header[0]:
                raise FileError(
                    f"cells separated by {name}",
                    where=f"{path}, line 1",
                    remedy="separate them by commas",
                )
        raise FileError(
            "only one column",
            where=f"{path}, line 1",
            value=header[0],
            remedy="the first column holds labels, the others numbers",
        )
    seen: dict[str, int] = {}
    for column, name in enumerate(header[1:], start=2):
        if not name:
            raise FileError("column without a name", where=f"{path}, line 1, column {column}")
        if name in seen:
            raise FileError(
                "column name given twice",
                where=f"{path}, line 1, columns {seen[name]} and {column}",
                value=name,
                remedy="names must be different from one another",
            )
        seen[name] = column


def _labels(sheet: Sheet) -> Alphabet:
    seen: dict[str, int] = {}
    for line, cells in sheet.rows:
        if not cells[0]:
            raise FileError("row without a label", where=sheet.where(line))
        if cells[0] in seen:
            raise FileError(
                "label given twice",
                where=f"{sheet.path}, lines {seen[cells[0]]} and {line}",
                value=cells[0],
                remedy="labels must be different from one another",
            )
        seen[cells[0]] = line
    return Alphabet.of(seen)


def _number(sheet: Sheet, line: int, column: int, text: str) -> Fraction:
    try:
        value = exact(text)
    except InputError as error:
        raise FileError(
            error.what, where=sheet.where(line, column), value=text, remedy=error.remedy
        ) from None
    if value < 0:
        raise FileError(
            "negative number",
            where=sheet.where(line, column),
            value=text,
            remedy="counts and probabilities are 0 or more",
        )
    return value


def _row_integers(sheet: Sheet, line: int, cells: Sequence[str]) -> tuple[list[int], int]:
    """Return the row as integers over one denominator."""
    if all(_PLAIN.match(cell) and cell not in {"", "."} for cell in cells):
        places = [len(cell) - cell.index(".") - 1 if "." in cell else 0 for cell in cells]
        most = max(places)
        return [
            int(cell.replace(".", "")) * 10 ** (most - place)
            for cell, place in zip(cells, places, strict=True)
        ], 10**most
    numbers = [_number(sheet, line, i + 1, cell) for i, cell in enumerate(cells)]
    scale = int(np.lcm.reduce(np.array([n.denominator for n in numbers], dtype=object)))
    return [int(n * scale) for n in numbers], scale


# --- channels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadChannel:
    """A channel from a file, with the context stored beside it, if there is one."""

    channel: Channel
    context: Context | None


def read_channel(path: str | Path, note: Note = _silent) -> ReadChannel:
    """Read a mechanism or channel file (JSON) or a matrix of probabilities (CSV).

    In a CSV the first column holds the inputs, the header the outputs; decimals are read exactly.
    Rows within 1e-9 of 1 are normalised exactly, and `note` is told.
    """
    place = Path(path)
    if _is_json(place):
        data = read_json(place)
        if isinstance(data, dict) and data.get("format") == MECHANISM:
            mechanism = Mechanism.from_data(data)
            return ReadChannel(mechanism.channel, mechanism.context)
        return ReadChannel(channel_from_data(data), None)
    sheet = read_sheet(place)
    inputs = _labels(sheet)
    outputs = Alphabet.of(sheet.header[1:])
    rows: list[list[int]] = []
    totals: list[int] = []
    off: list[tuple[str, Fraction]] = []
    for line, cells in sheet.rows:
        integers, scale = _row_integers(sheet, line, cells[1:])
        total = sum(integers)
        share = Fraction(total, scale)
        if abs(share - 1) > NEAR_ONE:
            raise FileError(
                "row does not sum to 1",
                where=f"{sheet.where(line)}, input {cells[0]!r}",
                value=f"{float(share):.12g}",
                remedy="correct the probabilities (within 1e-9 they are normalised)",
            )
        if share != 1:
            off.append((cells[0], share))
        rows.append(integers)
        totals.append(total)
    if off:
        label, share = max(off, key=lambda item: abs(item[1] - 1))
        note(
            f"{len(off)} of {len(rows)} rows did not sum to 1 exactly and were divided by their "
            f"sum (largest gap {float(abs(share - 1)):.2g}, input {label!r})"
        )
    weights = as_integers(np.array(rows, dtype=object))
    return ReadChannel(Channel(inputs, outputs, weights, tuple(totals)), None)


# --- priors and joints ----------------------------------------------------------------------


def read_prior(path: str | Path, note: Note = _silent) -> Prior:
    """Read a prior: CSV ``label,count`` or ``label,probability``, or JSON.

    JSON is ``{"counts": {label: n}}``, ``{"probabilities": {label: p}}`` or a stored prior.
    """
    place = Path(path)
    if _is_json(place):
        return _prior_from_json(place, read_json(place), note)
    sheet = read_sheet(place)
    kind = sheet.header[1].lower()
    if len(sheet.header) != 2 or kind not in {"count", "counts", "probability", "probabilities"}:
        raise FileError(
            "header is not label,count or label,probability",
            where=f"{place}, line 1",
            value=",".join(sheet.header),
            remedy="name the second column count or probability",
        )
    labels = _labels(sheet)
    numbers = [_number(sheet, line, 1, cells[1]) for line, cells in sheet.rows]
    pairs = list(zip(labels.labels, numbers, strict=True))
    if kind.startswith("count"):
        return _located(place, lambda: Prior.from_counts(pairs))
    return _from_probabilities(place, pairs, note)


def _from_probabilities(
    place: Path, pairs: Sequence[tuple[Any, Fraction]], note: Note, what: str = "probabilities"
) -> Prior:
    total = sum((value for _, value in pairs), Fraction(0))
    if abs(total - 1) > NEAR_ONE:
        raise FileError(
            f"{what} do not sum to 1",
            where=str(place),
            value=f"{float(total):.12g}",
            remedy="correct them (within 1e-9 they are normalised), or give counts",
        )
    if total != 1:
        note(
            f"{what} in {place} summed to 1 only within {float(abs(total - 1)):.2g} and were "
            "divided by their sum"
        )
    return _located(place, lambda: Prior.from_probabilities(pairs, normalise=True))


def _prior_from_json(place: Path, data: Any, note: Note) -> Prior:
    if isinstance(data, dict) and "kind" in data:
        context = _located(place, lambda: context_from_data(data))
        if not isinstance(context, Prior):
            raise FileError(
                "not a prior", where=str(place), value=data["kind"], remedy="give it as --family"
            )
        return context
    if isinstance(data, dict) and isinstance(data.get("counts"), dict):
        counts = data["counts"]
        return _located(place, lambda: Prior.from_counts(counts))
    if isinstance(data, dict) and isinstance(data.get("probabilities"), dict):
        found = data["probabilities"]
        pairs = _located(place, lambda: [(label, exact(value)) for label, value in found.items()])
        return _from_probabilities(place, pairs, note)
    raise FileError(
        "JSON does not hold a prior",
        where=str(place),
        remedy='write {"counts": {"label": 7}} or {"probabilities": {"label": 0.7}}',
    )


def read_joint(path: str | Path) -> Joint:
    """Read a joint: a CSV contingency table (rows secrets, columns inputs), or JSON."""
    place = Path(path)
    if _is_json(place):
        context = _located(place, lambda: context_from_data(read_json(place)))
        if not isinstance(context, Joint):
            raise FileError("not a joint", where=str(place), remedy='its "kind" must be "joint"')
        return context
    sheet = read_sheet(place)
    secrets = _labels(sheet)
    inputs = Alphabet.of(sheet.header[1:])
    numbers = [
        [_number(sheet, line, i + 1, cell) for i, cell in enumerate(cells[1:])]
        for line, cells in sheet.rows
    ]
    return _located(place, lambda: Joint.from_rows(secrets, inputs, numbers))


def read_priors(path: str | Path, note: Note = _silent) -> PriorSet:
    """Read a set of priors.

    CSV: ``label`` and one column for each prior (counts, or probabilities), or
    ``label,lower,upper`` for intervals. JSON: a stored family, intervals or ball.
    """
    place = Path(path)
    if _is_json(place):
        context = _located(place, lambda: context_from_data(read_json(place)))
        if isinstance(context, Prior):
            return Family.of([context])
        if not isinstance(context, PriorSet):
            raise FileError("not a set of priors", where=str(place))
        return context
    sheet = read_sheet(place)
    labels = _labels(sheet)
    columns = [
        [_number(sheet, line, column, cells[column]) for line, cells in sheet.rows]
        for column in range(1, len(sheet.header))
    ]
    if [name.lower() for name in sheet.header[1:]] == ["lower", "upper"]:
        ends = dict(zip(labels.labels, zip(*columns, strict=True), strict=True))
        return _located(place, lambda: Intervals.of(ends))
    priors = []
    for name, column in zip(sheet.header[1:], columns, strict=True):
        pairs = list(zip(labels.labels, column, strict=True))
        if all(value.denominator == 1 for value in column):
            priors.append(_located(place, partial(Prior.from_counts, pairs)))
        else:
            priors.append(_from_probabilities(place, pairs, note, f"probabilities of {name!r}"))
    return Family.of(priors)


def read_pairs(
    path: str | Path, columns: tuple[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Read input-output pairs: two columns of a CSV, by name or the first two."""
    sheet = read_sheet(Path(path))
    if columns is None:
        first, second = 0, 1
    else:
        for name in columns:
            if name not in sheet.header:
                raise FileError(
                    "no such column",
                    where=f"{path}, line 1",
                    value=name,
                    remedy=f"it has {', '.join(sheet.header)}",
                )
        first, second = sheet.header.index(columns[0]), sheet.header.index(columns[1])
    inputs = [cells[first] for _, cells in sheet.rows]
    outputs = [cells[second] for _, cells in sheet.rows]
    return inputs, outputs


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _located(place: Path, make: Callable[[], T]) -> T:
    """Run a constructor and name the file in whatever it refuses."""
    try:
        return make()
    except FileError:
        raise
    except InputError as error:
        where = f"{place}, {error.where}" if error.where else str(place)
        raise FileError(error.what, where=where, value=error.value, remedy=error.remedy) from None
