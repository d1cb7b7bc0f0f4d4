"""Reading channels, priors, joints and sets of priors from CSV and JSON, exactly."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.context import Context, Family, Intervals, Joint, PriorSet, context_from_data
from liftlock.errors import FileError, InputError, NotCertified, UnprotectedInput
from liftlock.exact.integers import Floats, as_integers, sum_of
from liftlock.exact.numbers import exact
from liftlock.forms import AnyChannel, any_channel_from_data
from liftlock.mechanism import Mechanism
from liftlock.prior import Prior
from liftlock.storage import MOST_DIGITS, OURS, located, parse_json, read_text, shaped
from liftlock.utility.distortion import Distortion

NEAR_ONE = Fraction(1, 10**9)
"""Sums this close to 1 are normalised exactly (and it is said); others are refused."""

MOST_CELLS = 4_000_000
"""Tables with more cells are refused: an exact audit of them takes hours and gigabytes."""

MOST_PAIRS = 20_000_000
MOST_NUMBERS = 20_000_000

MOST_LOSS = 1e12
"""Larger losses would drown the differences between the smaller ones."""

_KEPT_DIGITS = 36
_SHORT_BITS = 4096
_MOST_EXPONENT = 400
_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?", re.ASCII)
_OURS_OR_CSV = re.compile(OURS.pattern + rb"|\A(?:\xef\xbb\xbf)?\s*[^\s{\[\xef]")
"""What a large file of a channel begins with, which may be a CSV."""
MARKS = ((";", "semicolons"), ("\t", "tabs"), ("|", "bars"))
Note = Callable[[str], None]


def silent(_: str) -> None:
    """Take a note, and say nothing."""


# --- sheets ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """A CSV file: the header, and the rows with their line numbers."""

    path: Path
    header: list[str]
    header_line: int
    rows: list[tuple[int, list[str]]]

    def where(self, line: int, column: int | None = None) -> str:
        """Name a place in the file."""
        if column is None:
            return f"{self.path}, line {line}"
        return f"{self.path}, line {line}, column {column + 1} ({self.header[column]!r})"


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file with a header; every row must be as wide as the header."""
    return parse_sheet(path, read_text(path))


def parse_sheet(path: Path, text: str, mark: str = ",") -> Sheet:
    """Read the text of a CSV file, its cells separated by a mark; see `read_sheet`."""
    rows: list[tuple[int, list[str]]] = []
    lines = sheet_lines(path, text, mark=mark)
    header_line, header = first_line(path, lines)
    most = max(1, MOST_CELLS // (len(header) - 1))
    for line, cells in lines:
        if len(rows) >= most:
            raise FileError(
                f"more than {MOST_CELLS:,} cells",
                where=f"{path}, line {line}",
                remedy="merge rare symbols first",
            )
        rows.append((line, cells))
    if not rows:
        raise FileError(
            "no rows below the header",
            where=f"{path}, line {header_line}",
            value=",".join(header),
            remedy="the first line names the columns, the others hold the data",
        )
    return Sheet(path, header, header_line, rows)


def sheet_lines(
    path: Path, text: str, *, records: bool = False, mark: str = ","
) -> Iterator[tuple[int, list[str]]]:
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
                raise _ragged(path, line, cells, header, mark)
            yield line, cells
    except csv.Error as error:
        raise FileError(
            "not valid CSV",
            where=f"{path}, line {start}",
            value=str(error),
            remedy="is a quotation mark missing?",
        ) from None


def first_line(path: Path, lines: Iterator[tuple[int, list[str]]]) -> tuple[int, list[str]]:
    """Take the header off the lines of a file."""
    found = next(lines, None)
    if found is None:
        raise FileError(
            "only empty cells", where=str(path), remedy="check that it is the right file"
        )
    return found


def _ragged(path: Path, line: int, cells: list[str], header: list[str], mark: str) -> FileError:
    remedy = "use one comma between cells and a point before decimals"
    found = _separator(cells[0]) if len(cells) == 1 else None
    if mark != ",":
        remedy = "separate the cells of every line as those of the header"
    elif found is not None:
        remedy = f"it has {found}: separate cells by commas"
    return FileError(
        f"{len(cells)} cell{'s' * (len(cells) != 1)}, but the header has {len(header)}",
        where=f"{path}, line {line}",
        value=mark.join(cells),
        remedy=remedy,
    )


def mark_of(text: str) -> str:
    """Return what separates the cells of a table: a comma, unless the header has none of them."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    found = [mark for mark in ";\t" if mark in header]
    return found[0] if len(found) == 1 and "," not in header else ","


def _separator(text: str) -> str | None:
    return next((name for mark, name in MARKS if mark in text), None)


def _check_header(path: Path, line: int, header: list[str], *, records: bool = False) -> None:
    if len(header) == 1:
        found = _separator(header[0])
        if found is not None:
            raise FileError(
                f"cells separated by {found}",
                where=f"{path}, line {line}",
                value=header[0],
                remedy="separate them by commas",
            )
        if records:
            return
        raise FileError(
            "only one column",
            where=f"{path}, line {line}",
            value=header[0],
            remedy="separate cells by commas: the first column holds labels, the others numbers",
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


def row_labels(sheet: Sheet) -> Alphabet:
    """Return the first cells of the rows, which must be different from one another."""
    seen: dict[str, int] = {}
    for line, cells in sheet.rows:
        if not cells[0]:
            raise FileError(
                "row without a label",
                where=sheet.where(line),
                value=",".join(cells),
                remedy="the first cell of every row is its label",
            )
        if cells[0] in seen:
            raise FileError(
                "label given twice",
                where=f"{sheet.path}, lines {seen[cells[0]]} and {line}",
                value=cells[0],
                remedy="labels must be different from one another",
            )
        seen[cells[0]] = line
    return Alphabet.of(seen)


# --- numbers --------------------------------------------------------------------------------


def _decimal(text: str) -> tuple[int, int] | None:
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


def cell_number(sheet: Sheet, line: int, column: int, text: str, name: str = "number") -> Fraction:
    """Read a number of 0 or more, exactly."""
    found = _decimal(text)
    if found is not None:
        integer, places = found
        return Fraction(integer, 10**places) if places > 0 else Fraction(integer * 10**-places)
    where = sheet.where(line, column)
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


def row_integers(
    sheet: Sheet, line: int, cells: Sequence[str], start: int = 1, name: str = "probability"
) -> tuple[list[int], int]:
    """Return a row of numbers, from the column `start` on, as integers over one denominator."""
    decimals = [_decimal(cell) for cell in cells]
    if all(found is not None for found in decimals):
        plain = [found for found in decimals if found is not None]
        most = max(0, *(places for _, places in plain))
        return [integer * 10 ** (most - places) for integer, places in plain], 10**most
    numbers = [
        cell_number(sheet, line, column, cell, name)
        for column, cell in enumerate(cells, start=start)
    ]
    scale = math.lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers], scale


def shown_sum(value: Fraction) -> float | str:
    """Write a sum for people; it may lie beyond the floats."""
    try:
        return float(f"{float(value):.12g}")
    except OverflowError:
        return "more than 1e308"


# --- channels -------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadChannel:
    """A channel from a file, with the context stored beside it, if there is one.

    `corner` is the first cell of a CSV, which names the inputs (and is a label if the header is
    missing); `unprotected` is what the certificate of a mechanism lists as not protected.
    """

    channel: AnyChannel
    context: Context | None
    corner: str = ""
    unprotected: tuple[Label, ...] = ()


def read_channel(path: str | Path, note: Note = silent) -> ReadChannel:
    """Read a mechanism or channel file (JSON) or a matrix of probabilities (CSV).

    In a CSV the first column holds the inputs, the header the outputs; decimals are read exactly.
    Rows within 1e-9 of 1 are normalised exactly, and `note` is told.
    """
    place = Path(path)
    text = read_text(place, begins=_OURS_OR_CSV)
    if not is_json(place, text):
        return channel_from_sheet(parse_sheet(place, text), note)
    data = parse_json(text, place)
    with located(place), shaped():
        if isinstance(data, dict) and data.get("format") == Mechanism.FORMAT:
            mechanism = _mechanism_from_data(data)
            listed = mechanism.certificate.unprotected
            return ReadChannel(mechanism.channel, mechanism.context, unprotected=listed)
        return ReadChannel(any_channel_from_data(data), None)


def read_mechanism(path: str | Path) -> Mechanism:
    """Read a mechanism file, and prove its guarantee again."""
    place = Path(path)
    text = read_text(place, begins=OURS)
    if not is_json(place, text):
        raise FileError(
            "not a mechanism file",
            where=str(place),
            remedy="give the JSON that liftlock design, lock or profiles design has written",
        )
    data = parse_json(text, place)
    with located(place), shaped():
        return _mechanism_from_data(data)


def _mechanism_from_data(data: Any) -> Mechanism:
    try:
        return Mechanism.from_data(data)
    except (NotCertified, UnprotectedInput) as refusal:
        raise FileError(
            "mechanism without the guarantee it claims",
            value=str(refusal),
            remedy="the file was changed; make it again with lock",
        ) from None


def channel_from_sheet(
    sheet: Sheet, note: Note, inputs: Alphabet | None = None, start: int = 1
) -> ReadChannel:
    """Read a matrix of probabilities, which begins in the column `start`, exactly.

    Without `inputs` the first column names them.
    """
    inputs = row_labels(sheet) if inputs is None else inputs
    outputs = Alphabet.of(sheet.header[start:])
    rows: list[list[int]] = []
    scales: list[int] = []
    for line, cells in sheet.rows:
        integers, scale = row_integers(sheet, line, cells[start:], start)
        rows.append(integers)
        scales.append(scale)
    shares = [Fraction(sum(row), scale) for row, scale in zip(rows, scales, strict=True)]
    for position, share in enumerate(shares):
        if abs(share - 1) > NEAR_ONE:
            raise _wrong_sum(sheet, position, inputs.labels[position], share, rows, scales)
    off = [position for position, share in enumerate(shares) if share != 1]
    totals = [sum(row) for row in rows]
    if off:
        worst = max(off, key=lambda position: abs(shares[position] - 1))
        how = "were divided by their sum"
        if math.lcm(*totals).bit_length() > _SHORT_BITS:
            rows, totals = _on_one_grid(rows, scales)
            how += f", to {_KEPT_DIGITS} digits"
        note(
            f"{len(off)} of {len(rows)} rows of {sheet.path} did not sum to 1 exactly and {how} "
            f"(largest gap {float(abs(shares[worst] - 1)):.2g}, input {inputs.labels[worst]!r})"
        )
    weights = as_integers(np.array(rows, dtype=object))
    return ReadChannel(
        Channel(inputs, outputs, weights, tuple(totals)), None, corner=sheet.header[0]
    )


def _on_one_grid(rows: list[list[int]], scales: list[int]) -> tuple[list[list[int]], list[int]]:
    """Normalise rows over one common total, every probability to 36 digits or more.

    Exact quotients would give every row a denominator of its own, whose common multiple grows with
    the number of rows until the audit no longer ends; the digits left out here lie below those
    that a computed matrix has. No probability becomes zero.
    """
    scale = math.lcm(*scales)
    scaled = [
        [weight * (scale // own) for weight in row] for row, own in zip(rows, scales, strict=True)
    ]
    least = min(weight for row in scaled for weight in row if weight)
    grid = scale * 10 ** max(0, _KEPT_DIGITS + 1 - len(str(least)))
    for row in scaled:
        total = sum(row)
        row[:] = [weight * grid // total for weight in row]
        row[row.index(max(row))] += grid - sum(row)
    return scaled, [grid] * len(scaled)


def _wrong_sum(
    sheet: Sheet,
    position: int,
    label: Label,
    share: Fraction,
    rows: list[list[int]],
    scales: list[int],
) -> FileError:
    """Say that a row does not sum to 1, and guess why."""
    line, _ = sheet.rows[position]
    remedy = "correct the probabilities (within 1e-9 they are normalised)"
    columns = [
        sum_of(Fraction(row[column], scale) for row, scale in zip(rows, scales, strict=True))
        for column in range(len(rows[0]))
        if len(rows) * len(rows[0]) <= 10_000
    ]
    if columns and all(abs(total - 1) <= NEAR_ONE for total in columns):
        remedy = "the columns sum to 1, so exchange rows and columns: one row for each input"
    elif abs(share - 100) <= 100 * NEAR_ONE:
        remedy = "write percentages with their sign, like 70%"
    elif share > 1 and scales[position] == 1:
        remedy = "these look like counts: divide every row by its sum"
    return FileError(
        "row does not sum to 1",
        where=f"{sheet.where(line)}, input {label!r}",
        value=shown_sum(share),
        remedy=remedy,
    )


# --- priors and joints ----------------------------------------------------------------------


def read_prior(path: str | Path, note: Note = silent) -> Prior:
    """Read a prior: CSV ``label,count`` or ``label,probability``, or JSON.

    JSON is ``{"counts": {label: n}}``, ``{"probabilities": {label: p}}``, ``{label: number}``,
    ``{"labels": [...], "counts": [...]}`` or a stored prior.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        return _prior_from_json(place, parse_json(text, place), note)
    name, pairs = _prior_sheet(place, text)
    if name == "count":
        with located(place):
            return Prior.from_counts(pairs)
    return _from_probabilities(place, pairs, note)


def read_counts(path: str | Path) -> list[tuple[Any, Fraction]]:
    """Read how often each label was seen: CSV ``label,count``, or JSON ``{"counts": {label: n}}``.

    Probabilities are refused, and so is a stored prior, which does not say whom it was counted on.
    """
    place = Path(path)
    text = read_text(place)
    remedy = "give how often each label was seen, as label,count"
    if is_json(place, text):
        data = parse_json(text, place)
        found = None if isinstance(data, dict) and "kind" in data else _written_prior(data)
        if found is None:
            raise FileError("JSON does not hold counts", where=str(place), remedy=remedy)
        name, items = found
        with located(place):
            pairs = [(label, exact(value, name=f"{name} of {label!r}")) for label, value in items]
    else:
        name, pairs = _prior_sheet(place, text)
    if name == "probability":
        raise FileError(
            "probabilities do not say how many observations they rest on",
            where=str(place),
            remedy=remedy,
        )
    return pairs


def _prior_sheet(place: Path, text: str) -> tuple[str, list[tuple[Label, Fraction]]]:
    """Return what the numbers of a sheet are, and the pairs of label and number."""
    sheet = parse_sheet(place, text)
    kind = sheet.header[1].lower()
    if len(sheet.header) != 2 or kind not in {"count", "counts", "probability", "probabilities"}:
        raise FileError(
            "header is not label,count or label,probability",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy="write one of these on the first line, then one label on each line; of a table "
            "of people name the column of numbers (--column, read_column in Python)",
        )
    name = "count" if kind.startswith("count") else "probability"
    labels = row_labels(sheet)
    numbers = [cell_number(sheet, line, 1, cells[1], name) for line, cells in sheet.rows]
    return name, list(zip(labels.labels, numbers, strict=True))


def _from_probabilities(
    place: Path, pairs: Sequence[tuple[Any, Fraction]], note: Note, what: str = "probabilities"
) -> Prior:
    total = sum((value for _, value in pairs), Fraction(0))
    if abs(total - 1) > NEAR_ONE:
        remedy = "correct them (within 1e-9 they are normalised), or give counts"
        if abs(total - 100) <= 100 * NEAR_ONE:
            remedy = "write percentages with their sign, like 70%, or name the column count"
        raise FileError(
            f"{what} do not sum to 1", where=str(place), value=shown_sum(total), remedy=remedy
        )
    if total != 1:
        note(
            f"{what} in {place} summed to 1 only within {float(abs(total - 1)):.2g} and were "
            "divided by their sum"
        )
    with located(place):
        return Prior.from_probabilities(pairs, normalise=True)


def _prior_from_json(place: Path, data: Any, note: Note) -> Prior:
    if isinstance(data, dict) and "kind" in data:
        context = _stored_context(place, data)
        if not isinstance(context, Prior):
            raise FileError(
                "not a prior",
                where=str(place),
                value=data["kind"],
                remedy=f"give it as {'--joint' if isinstance(context, Joint) else '--family'}",
            )
        return context
    found = _written_prior(data)
    if found is None:
        raise FileError(
            "JSON does not hold a prior",
            where=str(place),
            remedy='write {"counts": {"label": 7}} or {"probabilities": {"label": 0.7}}',
        )
    kind, items = found
    with located(place):
        pairs = [(label, exact(value, name=f"{kind} of {label!r}")) for label, value in items]
        if kind == "number":
            # A bare table of labels: whole numbers are counts, anything else probabilities.
            whole = all(value.denominator == 1 for _, value in pairs)
            kind = "count" if whole else "probability"
        if kind == "count":
            return Prior.from_counts(pairs)
    return _from_probabilities(place, pairs, note)


def _written_prior(data: Any) -> tuple[str, list[tuple[Any, Any]]] | None:
    """Return what the numbers are, and the pairs of label and number."""
    if not isinstance(data, dict):
        return None
    for kind, key in (("count", "counts"), ("probability", "probabilities")):
        values, labels = data.get(key), data.get("labels")
        if isinstance(values, dict):
            return kind, list(values.items())
        if isinstance(values, list) and isinstance(labels, list) and len(values) == len(labels):
            return kind, list(zip(labels, values, strict=True))
    if data and all(isinstance(v, int | str) and not isinstance(v, bool) for v in data.values()):
        return "number", list(data.items())
    return None


def _stored_context(place: Path, data: Any) -> Context:
    with located(place), shaped():
        return context_from_data(data)


def read_loss(path: str | Path, inputs: Alphabet) -> Distortion:
    """Read a loss: a CSV whose rows are the inputs and whose columns are reproductions of them."""
    place = Path(path)
    sheet = parse_sheet(place, read_text(place))
    rows: dict[Label, list[float]] = {}
    for label, (line, cells) in zip(row_labels(sheet).labels, sheet.rows, strict=True):
        rows[label] = [_loss(sheet, line, column, cells[column]) for column in range(1, len(cells))]
    missing = [label for label in inputs.labels if str(label) not in rows]
    extra = set(rows) - {str(label) for label in inputs.labels}
    if missing or extra:
        raise FileError(
            "rows that are not the inputs" if extra else "no row for an input",
            where=str(place),
            value=sorted(map(str, extra))[:5] or missing[:5],
            remedy="give the loss one row for each input",
        )
    losses = [rows[str(label)] for label in inputs.labels]
    return Distortion.of(losses, _like(sheet.header[1:], inputs))


def _loss(sheet: Sheet, line: int, column: int, cell: str) -> float:
    value = cell_number(sheet, line, column, cell, "loss")
    if value > MOST_LOSS:
        raise FileError(
            f"loss above {MOST_LOSS:g}",
            where=sheet.where(line, column),
            value=cell,
            remedy="measure it in a larger unit",
        )
    return float(value)


def _like(names: Sequence[str], inputs: Alphabet) -> Alphabet:
    """Take the labels of the inputs where a name is the text of one (a CSV knows only text)."""
    known = {str(label): label for label in inputs.labels}
    return Alphabet.of(known.get(name, name) for name in names)


def read_joint(path: str | Path) -> Joint:
    """Read a joint: a CSV contingency table (rows secrets, columns inputs), or JSON."""
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        context = _stored_context(place, parse_json(text, place))
        if not isinstance(context, Joint):
            raise FileError(
                "not a joint",
                where=str(place),
                value=context.describe(),
                remedy='its "kind" must be "joint"',
            )
        return context
    sheet = parse_sheet(place, text)
    if len(sheet.header) < 3:
        raise FileError(
            "a joint with only one input",
            where=str(place),
            value=",".join(sheet.header),
            remedy="its columns are inputs and its rows secrets; a prior is given as --prior",
        )
    secrets = row_labels(sheet)
    inputs = Alphabet.of(sheet.header[1:])
    numbers = [
        [
            cell_number(sheet, line, column, cells[column], "count")
            for column in range(1, len(cells))
        ]
        for line, cells in sheet.rows
    ]
    with located(place):
        return Joint.from_rows(secrets, inputs, numbers)


def read_priors(path: str | Path, note: Note = silent) -> PriorSet:
    """Read a set of priors.

    CSV: ``label`` and one column for each prior (counts, or probabilities), or
    ``label,lower,upper`` for intervals. JSON: a stored family, intervals or ball.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        context = _stored_context(place, parse_json(text, place))
        if isinstance(context, Prior):
            return Family.of([context])
        if not isinstance(context, PriorSet):
            raise FileError(
                "not a set of priors",
                where=str(place),
                value=context.describe(),
                remedy="give it as --joint",
            )
        return context
    sheet = parse_sheet(place, text)
    labels = row_labels(sheet)
    columns = [
        [cell_number(sheet, line, column, cells[column]) for line, cells in sheet.rows]
        for column in range(1, len(sheet.header))
    ]
    if [name.lower() for name in sheet.header[1:]] == ["lower", "upper"]:
        ends = dict(zip(labels.labels, zip(*columns, strict=True), strict=True))
        with located(place):
            return Intervals.of(ends)
    priors = []
    for name, column in zip(sheet.header[1:], columns, strict=True):
        pairs = list(zip(labels.labels, column, strict=True))
        if all(value.denominator == 1 for value in column):
            with located(f"{place}, column {name!r}"):
                priors.append(Prior.from_counts(pairs))
        else:
            priors.append(_from_probabilities(place, pairs, note, f"probabilities of {name!r}"))
    return Family.of(priors)


def label_place(path: Path, label: Label, *, in_header: bool = False) -> str:
    """Say where in a file a label stands, as well as can be found; used to word an error."""
    try:
        text = read_text(path)
        if is_json(path, text):
            return str(path)
        sheet = parse_sheet(path, text)
    except FileError:
        return str(path)
    if in_header:
        if str(label) in sheet.header[1:]:
            return sheet.where(sheet.header_line, sheet.header.index(str(label), 1))
        return str(path)
    lines = [line for line, cells in sheet.rows if cells[0] == str(label)]
    return sheet.where(lines[0]) if lines else str(path)


# --- columns of numbers -------------------------------------------------------------------------


def read_column(
    path: str | Path, column: str, *, missing: str = "refuse", note: Note = silent
) -> Floats:
    """Read a column of numbers from a CSV with a header and one row for each person.

    Empty cells are refused, or with ``missing="drop"`` left out. Cells may be separated by
    semicolons or tabs throughout. `note` is told of both.
    """
    place = Path(path)
    text = read_text(place)
    if missing not in MISSING:
        raise InputError(
            "unknown way with missing values",
            value=missing,
            remedy=f"use {' or '.join(MISSING)}",
        )
    if is_json(place, text):
        raise FileError(
            "JSON is not a table with columns",
            where=str(place),
            value=column,
            remedy="give a CSV with a header, or leave out the column",
        )
    mark = mark_of(text)
    lines = sheet_lines(place, text, records=True, mark=mark)
    line, header = first_line(place, lines)
    if mark != ",":
        note(f"the cells of {place} are separated by {dict(MARKS)[mark]}, and were read so")
    if column not in header:
        raise FileError(
            "no such column",
            where=f"{place}, line {line}",
            value=column,
            remedy=f"it has {', '.join(header)}",
        )
    at = header.index(column)
    numbers: list[float] = []
    empty: list[int] = []
    for line, cells in lines:
        if len(numbers) >= MOST_NUMBERS:
            raise FileError(
                f"more than {MOST_NUMBERS:,} rows",
                where=f"{place}, line {line}",
                remedy="take a random part of them",
            )
        if cells[at]:
            numbers.append(_real(place, line, at, header, cells[at]))
        else:
            empty.append(line)
    if not numbers:
        raise FileError(
            "no numbers below the header",
            where=f"{place}, line {line}",
            value=column,
            remedy="the first line names the columns, the others hold one person each",
        )
    if empty:
        said = f"{len(empty):,} of {len(empty) + len(numbers):,} rows have no {column}"
        if missing == "refuse":
            raise FileError(
                said,
                where=f"{place}, line {empty[0]}",
                remedy=f"leave them out ({_DROP}), or fill them in",
            )
        note(f"{said}, and were left out")
    return np.array(numbers)


MISSING = ("refuse", "drop")
"""What may be done with empty cells."""

_DROP = '--missing drop, missing="drop" in Python'


def _real(place: Path, line: int, at: int, header: list[str], text: str) -> float:
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
        where=f"{place}, line {line}, column {at + 1} ({header[at]!r})",
        value=text,
        remedy=remedy,
    )


# --- recorded pairs -------------------------------------------------------------------------


def read_pairs(
    path: str | Path, columns: tuple[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Read input-output pairs: two columns of a CSV, by name or the first two."""
    place = Path(path)
    lines = sheet_lines(place, read_text(place))
    line, header = first_line(place, lines)
    first, second = (0, 1) if columns is None else _find_columns(place, line, header, columns)
    inputs: list[str] = []
    outputs: list[str] = []
    kept: dict[str, str] = {}
    for line, cells in lines:
        if len(inputs) >= MOST_PAIRS:
            raise FileError(
                f"more than {MOST_PAIRS:,} pairs",
                where=f"{place}, line {line}",
                remedy="audit a random part of them",
            )
        for column, values in ((first, inputs), (second, outputs)):
            cell = cells[column]
            if not cell:
                raise FileError(
                    f"{('input', 'output')[column == second]} is missing",
                    where=f"{place}, line {line}, column {column + 1} ({header[column]!r})",
                    value=",".join(cells),
                    remedy="drop the line, or give the missing value a name",
                )
            # One copy of every label: millions of pairs have few different ones.
            values.append(kept.setdefault(cell, cell))
    if not inputs:
        raise FileError(
            "no rows below the header",
            where=f"{place}, line {line}",
            value=",".join(header),
            remedy="the first line names the columns, the others hold the pairs",
        )
    return inputs, outputs


def record_place(path: Path, position: int, columns: tuple[str, str] | None = None) -> str:
    """Say on which line and in which column the input of a pair stands; used to word an error."""
    lines = sheet_lines(path, read_text(path))
    _, header = first_line(path, lines)
    column = 0 if columns is None else header.index(columns[0])
    for number, (line, _) in enumerate(lines):
        if number == position:
            return f"{path}, line {line}, column {column + 1} ({header[column]!r})"
    return str(path)


def _find_columns(
    place: Path, line: int, header: list[str], columns: tuple[str, str]
) -> tuple[int, int]:
    for name in columns:
        if name not in header:
            raise FileError(
                "no such column",
                where=f"{place}, line {line}",
                value=name,
                remedy=f"it has {', '.join(header)}",
            )
    if columns[0] == columns[1]:
        raise FileError(
            "one column for inputs and outputs",
            where=f"{place}, line {line}",
            value=columns[0],
            remedy="name two columns",
        )
    return header.index(columns[0]), header.index(columns[1])


def is_json(path: Path, text: str) -> bool:
    """Tell whether a file holds JSON, by its name or its first character."""
    return path.suffix.lower() == ".json" or text.lstrip()[:1] in {"{", "["}
