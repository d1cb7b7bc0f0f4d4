"""Student Performance as UCI publishes it: a header, semicolons, and quotes where they please.

Some copies quote words alone, others also G1 and G2; both are read alike.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from liftlock_papers.data.folder import DataFolder, open_text, refused, refused_whole

FINAL = "G3"
HIGHEST = 20
"""Grades go from 0 to 20."""
KEY = "student_performance"


@dataclass(frozen=True, eq=False)
class Students:
    """A row for each student: what is known of them, and their final grade."""

    attributes: dict[str, tuple[str, ...]]
    """The columns but for the final grade, as text, in the order of the file."""
    grades: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.grades)

    def features(self, names: Sequence[str] | None = None) -> npt.NDArray[np.float64]:
        """Return attributes as numbers of mean 0 and deviation 1; words as one column for each.

        A word of two values is one column, and a column in which all are the same is left out.
        """
        parts = [self._columns(name) for name in (names or self.attributes)]
        table = np.concatenate(parts, axis=1)
        spread = table.std(axis=0)
        table, spread = table[:, spread > 0], spread[spread > 0]
        return np.asarray((table - table.mean(axis=0)) / spread, dtype=np.float64)

    def _columns(self, name: str) -> npt.NDArray[np.float64]:
        cells = self.attributes[name]
        try:
            return np.array([[float(cell)] for cell in cells])
        except ValueError:
            words = sorted(set(cells))[1:]
            return np.array([[float(cell == word) for word in words] for cell in cells])


def read_students(folder: DataFolder) -> Students:
    """Return the students of the Mathematics file."""
    (path,) = folder.files(KEY)
    return students_of(path)


def students_of(path: Path) -> Students:
    """Read one file of students."""
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=";")
        header = [name.strip() for name in next(rows, [])]
        if FINAL not in header or len(set(header)) != len(header):
            shown = ";".join(header)[:60]
            raise refused(f"different columns, one of them {FINAL}", path, 1, shown, KEY)
        table = []
        for row in rows:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if len(cells) != len(header):
                what = f"a row has {len(header)} fields"
                raise refused(what, path, rows.line_num, len(cells), KEY)
            grade = cells[header.index(FINAL)]
            if not (grade.isascii() and grade.isdecimal() and int(grade) <= HIGHEST):
                what = f"a final grade is 0 to {HIGHEST}"
                raise refused(what, path, rows.line_num, grade, KEY)
            table.append(cells)
    if not table:
        raise refused_whole("no students", path, KEY)
    columns = dict(zip(header, zip(*table, strict=True), strict=True))
    grades = np.array([int(cell) for cell in columns.pop(FINAL)], dtype=np.int64)
    return Students(columns, grades)
