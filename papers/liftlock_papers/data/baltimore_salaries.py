"""Salaries of Baltimore's employees as the city publishes them, with or without names.

The column of gross pay is found by its name, wherever it stands; money may have a dollar sign and
commas. Pay that is not stated is counted, not guessed.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from liftlock_papers.data.folder import DataFolder, open_text, refused, refused_whole

GROSS = ("gross", "grosspay")
"""What the city has called the column, without spaces, underscores and capitals."""
KEY = "baltimore_salaries"
_MONEY = re.compile(r"\$?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?")


@dataclass(frozen=True, eq=False)
class Salaries:
    """Gross pay in dollars, and how many rows do not state one."""

    gross: npt.NDArray[np.float64]
    missing: int


def read_salaries(folder: DataFolder) -> Salaries:
    """Return the gross pay of fiscal year 2019."""
    (path,) = folder.files(KEY)
    return salaries_of(path)


def salaries_of(path: Path) -> Salaries:
    """Read one file of salaries."""
    gross, missing = [], 0
    with open_text(path) as file:
        rows = csv.reader(file)
        header = next(rows, [])
        place = _gross_column(header, path)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                what = f"a row has {len(header)} fields, as the header"
                raise refused(what, path, rows.line_num, len(row), KEY)
            cell = row[place].strip()
            if not cell:
                missing += 1
            elif _MONEY.fullmatch(cell):
                gross.append(float(cell.removeprefix("$").replace(",", "")))
            else:
                raise refused("not an amount of money", path, rows.line_num, cell, KEY)
    if not gross:
        raise refused_whole("no salaries", path, KEY)
    return Salaries(np.array(gross), missing)


def _gross_column(header: list[str], path: Path) -> int:
    names = [name.strip().lower().replace(" ", "").replace("_", "") for name in header]
    found = [place for place, name in enumerate(names) if name in GROSS]
    if len(found) != 1:
        what = f"there is one column GROSS, here are {len(found)}"
        raise refused(what, path, 1, ",".join(header)[:80], KEY)
    return found[0]
