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

from liftlock import InputError
from liftlock_papers.data.folder import DataFolder, open_text

FINAL = "G3"
HIGHEST = 20
"""Grades go from 0 to 20."""
_REMEDY = "give student-mat.csv as UCI publishes it"


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
    (path,) = folder.files("student_performance")
    return students_of(path)


def students_of(path: Path) -> Students:
    """Read one file of students."""
    with open_text(path) as file:
        rows = csv.reader(file, delimiter=";")
        header = [name.strip().removeprefix("\ufeff") for name in next(rows, [])]
        if FINAL not in header:
            raise InputError(
                f"no column {FINAL}", where=path.name, value=";".join(header)[:60], remedy=_REMEDY
            )
        table = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise InputError(
                    f"a row has {len(header)} fields",
                    where=f"{path.name}, line {rows.line_num}",
                    value=len(row),
                    remedy=_REMEDY,
                )
            table.append([cell.strip() for cell in row])
            _check_grade(table[-1][header.index(FINAL)], f"{path.name}, line {rows.line_num}")
    if not table:
        raise InputError("no students", where=path.name, remedy=_REMEDY)
    columns = dict(zip(header, zip(*table, strict=True), strict=True))
    grades = np.array([int(cell) for cell in columns.pop(FINAL)], dtype=np.int64)
    return Students(columns, grades)


def _check_grade(cell: str, where: str) -> None:
    if not (cell.isdecimal() and int(cell) <= HIGHEST):
        raise InputError(
            "not a final grade", where=where, value=cell, remedy=f"grades are 0 to {HIGHEST}"
        )
