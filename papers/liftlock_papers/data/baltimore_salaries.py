"""Salaries of Baltimore's employees as the city publishes them, with or without names.

The column of gross pay is found by its name, wherever it stands; money may have a dollar sign and
commas. Pay that is not stated is counted, not guessed.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from liftlock import InputError
from liftlock_papers.data.folder import DataFolder, open_text

GROSS = ("gross", "grosspay")
"""What the city has called the column, without spaces, underscores and capitals."""
_REMEDY = "give the CSV file of Open Baltimore, with a column GROSS"


@dataclass(frozen=True, eq=False)
class Salaries:
    """Gross pay in dollars, and how many rows do not state one."""

    gross: npt.NDArray[np.float64]
    missing: int


def read_salaries(folder: DataFolder) -> Salaries:
    """Return the gross pay of fiscal year 2019."""
    (path,) = folder.files("baltimore_salaries")
    return salaries_of(path)


def salaries_of(path: Path) -> Salaries:
    """Read one file of salaries."""
    gross, missing = [], 0
    with open_text(path) as file:
        rows = csv.reader(file)
        place = _gross_column(next(rows, []), path)
        for row in rows:
            if not row:
                continue
            where = f"{path.name}, line {rows.line_num}"
            if len(row) <= place:
                raise InputError("a row without gross pay", where=where, remedy=_REMEDY)
            cell = row[place].strip()
            if cell:
                gross.append(_dollars(cell, where))
            else:
                missing += 1
    if not gross:
        raise InputError("no salaries", where=path.name, remedy=_REMEDY)
    return Salaries(np.array(gross), missing)


def _gross_column(header: list[str], path: Path) -> int:
    names = [
        name.removeprefix("\ufeff").strip().lower().replace(" ", "").replace("_", "")
        for name in header
    ]
    found = [place for place, name in enumerate(names) if name in GROSS]
    if len(found) != 1:
        raise InputError(
            f"{len(found)} columns of gross pay",
            where=path.name,
            value=",".join(header)[:80],
            remedy=_REMEDY,
        )
    return found[0]


def _dollars(cell: str, where: str) -> float:
    try:
        amount = float(cell.removeprefix("$").replace(",", ""))
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise InputError("not an amount of money", where=where, value=cell, remedy=_REMEDY)
    return amount
