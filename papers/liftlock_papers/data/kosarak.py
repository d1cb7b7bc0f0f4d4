"""Kosarak: clicks on the pages of a news portal, one row per session (FIMI)."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from liftlock import InputError
from liftlock_papers.data.folder import DataFolder, open_text, refused, refused_whole

KEY = "kosarak"
PAGES = 41_270
"""Pages in the whole file, by its description; a list of totals names only popular ones."""


@dataclass(frozen=True)
class Clicks:
    """How many clicks each page has, and how many pages there are in all."""

    totals: dict[int, int]
    """Of every page, or of those with `complete_from` clicks or more."""
    pages: int
    complete_from: int
    """1 where every page was counted."""

    def above(self, limit: int) -> int:
        """Return how many pages have more clicks than `limit`."""
        if limit < self.complete_from - 1:
            raise InputError(
                "the list of totals does not reach so low",
                value=limit,
                remedy=f"ask for {self.complete_from - 1} or more, or get kosarak.dat",
            )
        return sum(total > limit for total in self.totals.values())


def read_clicks(folder: DataFolder) -> Clicks:
    """Read kosarak.dat, or the list of totals of its popular pages."""
    (path,) = folder.files(KEY)
    return read_totals(path) if path.suffix == ".csv" else read_sessions(path)


def read_sessions(path: Path) -> Clicks:
    """Read the original format: a session per row, its pages separated by spaces."""
    totals: Counter[int] = Counter()
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            pages = line.split()
            wrong = next((page for page in pages if not _is_number(page)), None)
            if wrong is not None:
                raise refused("not the number of a page", path, number, wrong, KEY)
            totals.update(map(int, pages))
    if not totals:
        raise refused_whole("no sessions", path, KEY)
    return Clicks(dict(totals), len(totals), 1)


def read_totals(path: Path) -> Clicks:
    """Read a list of pages and clicks, of all pages with as many as the least of them or more."""
    totals: dict[int, int] = {}
    with open_text(path) as file:
        rows = csv.reader(file)
        if next(rows, None) != ["item", "clicks"]:
            raise refused_whole("the columns are item and clicks", path, KEY)
        for row in rows:
            if not row:
                continue
            if len(row) != 2 or not all(map(_is_number, row)) or int(row[0]) in totals:
                shown = ",".join(row)
                raise refused("not a page with its clicks", path, rows.line_num, shown, KEY)
            totals[int(row[0])] = int(row[1])
    if not totals:
        raise refused_whole("no pages", path, KEY)
    return Clicks(totals, PAGES, min(totals.values()))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()
