"""A table of which one column is replaced, and everything else kept character by character."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from liftlock.errors import FileError
from liftlock.files import Note, Sheet, read_records
from liftlock.storage import read_text

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(r"\r\n|\n|\r")


class Record(NamedTuple):
    """One row as it is written: the line it starts on, the cells between marks, the line's end."""

    line: int
    raw: list[str]
    end: str

    @property
    def blank(self) -> bool:
        """Whether the line is empty."""
        return self.raw == [""]


@dataclass(frozen=True)
class RawTable(Sheet):
    """A CSV file that can be written again with other cells in some columns."""

    records: list[Record]
    bom: bool

    @classmethod
    def read(cls, path: Path, note: Note) -> RawTable:
        """Read a file with a header and one row for each observation."""
        text = read_text(path)
        table = read_records(path, note, text)
        records = list(_records(text, table.mark))
        _check_same(table, records)
        return cls(**vars(table), records=records, bom=_starts_with_bom(path))

    def written(self, column: int, values: Sequence[str], dropped: int | None) -> bytes:
        """Return the file with other values in a column, and maybe without another column."""
        parts = []
        row = -1
        for record in self.records:
            cells = record.raw
            if record.line >= self.header_line and not record.blank:
                cells = list(cells)
                if row >= 0:
                    # As short as can be whatever stood there: quotation marks and blanks that were
                    # kept would tell what the value had been.
                    cells[column] = _cell(values[row], self.mark, alone=len(self.header) == 1)
                row += 1
                if dropped is not None:
                    del cells[dropped]
            parts.append(self.mark.join(cells) + record.end)
        return (_BOM if self.bom else b"") + "".join(parts).encode()


def _records(text: str, mark: str) -> Iterator[Record]:
    """Cut a text into rows and cells without changing a character."""
    cell = re.compile(rf'"(?:[^"]|"")*"|[^{re.escape(mark)}\r\n]*')
    place, line = 0, 1
    while place < len(text):
        found = _LINE_END.search(text, place)
        stop = found.start() if found else len(text)
        inside = 0
        row = text[place:stop]
        if '"' not in row:
            raw = row.split(mark)
        else:
            raw = []
            stop = place
            while True:
                match = cell.match(text, stop)
                assert match is not None  # an unquoted cell may be empty
                raw.append(match.group())
                stop = match.end()
                if text[stop : stop + 1] != mark:
                    break
                stop += 1
            found = _LINE_END.match(text, stop)
            inside = len(_LINE_END.findall(text, place, stop))
        end = found.group() if found else ""
        yield Record(line, raw, end)
        line += inside + 1
        # Never stuck: what is neither mark nor line end is found out by comparing the cells.
        place = max(stop + len(end), place + 1)


def _check_same(table: Sheet, records: list[Record]) -> None:
    """Make sure that what will be written again is what was read."""
    ours = [record for record in records if record.line >= table.header_line and not record.blank]
    read = [(table.header_line, table.header), *table.rows]
    for mine, (line, cells) in zip(ours, read, strict=False):
        same = mine.line == line and len(mine.raw) == len(cells)
        if not same or (mine.raw != cells and [_read(cell) for cell in mine.raw] != cells):
            raise FileError(
                "a row that cannot be written again as it is",
                where=table.where(line),
                value=table.mark.join(cells),
                remedy="put quotation marks around the whole cell, or leave them out",
            )
    assert len(ours) == len(read)


def _read(cell: str) -> str:
    if len(cell) > 1 and cell.startswith('"') and cell.endswith('"'):
        cell = cell[1:-1].replace('""', '"')
    return cell.strip()


def _cell(value: str, mark: str, *, alone: bool) -> str:
    special = any(sign in value for sign in (mark, '"', "\r", "\n"))
    if special or value != value.strip() or (alone and not value):
        return '"' + value.replace('"', '""') + '"'
    return value


def _starts_with_bom(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_BOM)) == _BOM
