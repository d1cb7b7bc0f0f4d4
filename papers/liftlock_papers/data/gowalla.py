"""Gowalla: check-ins of the users of a social network, with time and place (SNAP)."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from liftlock_papers.data.folder import DataFolder, open_text, refused, refused_whole

KEY = "gowalla"
Cell = tuple[int, int]


@dataclass(frozen=True)
class CheckIns:
    """Where the users of Gowalla were last, and how often they were where before."""

    last: dict[Cell, int]
    """Users by the district of their last check-in."""
    past: dict[Cell, int]
    """Earlier check-ins by district, of all users."""
    users: int
    left_out: int
    """Check-ins whose coordinates lie nowhere on earth."""


def read_check_ins(folder: DataFolder, districts: int = 36) -> CheckIns:
    """Read check-ins, and put them into districts of equal degrees, so many each way."""
    (path,) = folder.files(KEY)
    latest: dict[str, tuple[str, Cell]] = {}
    past: Counter[Cell] = Counter()
    left_out = 0
    for user, time, latitude, longitude in _rows(path):
        cell = district(latitude, longitude, districts)
        if cell is None:
            left_out += 1
            continue
        known = latest.get(user)
        # Of equal times the first in the file counts, which is written newest first.
        if known is None or time > known[0]:
            latest[user] = (time, cell)
            if known is not None:
                past[known[1]] += 1
        else:
            past[cell] += 1
    if not past:
        raise refused_whole("no user with an earlier check-in", path, KEY)
    last = Counter(cell for _, cell in latest.values())
    return CheckIns(dict(last), dict(past), len(latest), left_out)


def district(latitude: float, longitude: float, districts: int) -> Cell | None:
    """Return row, from the south, and column, from the west; None if it is nowhere on earth.

    >>> district(-90.0, -180.0, 36), district(30.2359, -97.7951, 36), district(90.0, 180.0, 36)
    ((0, 0), (24, 8), (35, 35))
    """
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    row = math.floor((latitude + 90) / 180 * districts)
    column = math.floor((longitude + 180) / 360 * districts)
    return min(row, districts - 1), min(column, districts - 1)


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def _rows(path: Path) -> Iterator[tuple[str, str, float, float]]:
    """Go through user, time, latitude, longitude; times are ISO 8601 in UTC, so they sort."""
    tabs = ".txt" in path.suffixes
    with open_text(path) as file:
        if tabs:
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        else:
            rows = csv.reader(file)
            if next(rows, None) != ["user", "time", "lat", "lon"]:
                raise refused_whole("the columns are user, time, lat, lon", path, KEY)
        for row in rows:
            if not row:
                continue
            whole = len(row) == (5 if tabs else 4) and _TIME.fullmatch(row[1]) is not None
            if not whole or not (_is_number(row[2]) and _is_number(row[3])):
                raise refused(
                    "a check-in has a user, a time (UTC), a latitude and a longitude",
                    path,
                    rows.line_num,
                    " ".join(row),
                    KEY,
                )
            yield row[0], row[1], float(row[2]), float(row[3])


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", text) is not None
