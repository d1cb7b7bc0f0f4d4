"""Kosarak: clicks on the pages of a news portal, one row per session (FIMI)."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from liftlock import InputError
from liftlock_papers.data.folder import DataFolder, open_text

PAGES = 41_270
"""Pages in the whole file; the list of totals names only those with many clicks."""


@dataclass(frozen=True)
class Clicks:
    """How many clicks each page has, and how many pages there are in all."""

    totals: dict[int, int]
    """Of every page, or of those with `complete_from` clicks or more."""
    pages: int
    complete_from: int

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
    (path,) = folder.files("kosarak")
    return read_totals(path) if path.suffix == ".csv" else read_sessions(path)


def read_sessions(path: Path) -> Clicks:
    """Read the original format: a session per row, its pages separated by spaces."""
    totals: Counter[int] = Counter()
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            try:
                totals.update(map(int, line.split()))
            except ValueError:
                raise InputError(
                    "a row of Kosarak holds something that is no page number",
                    where=f"{path.name}, line {number}",
                    value=line.strip()[:40],
                ) from None
    return Clicks(dict(totals), len(totals), 1)


def read_totals(path: Path) -> Clicks:
    """Read a list of pages and clicks, largest first, of all pages above its last total."""
    with open_text(path) as file:
        rows = csv.DictReader(file)
        try:
            totals = {int(row["item"]): int(row["clicks"]) for row in rows}
        except (KeyError, TypeError, ValueError):
            raise InputError(
                "a list of totals needs the columns item and clicks", where=path.name
            ) from None
    return Clicks(totals, PAGES, min(totals.values()))
