"""Folding: from reports in the order they came to ids and counts, which nothing ties together.

The ids come out sorted, each once, and the counts say how often an output came. What is needed to
tell the counts of the ids that turn out to be known already exists in memory only, for one fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from liftlock.collect.store.protocol import ID


@dataclass(frozen=True, slots=True)
class Row:
    """Reports as they wait: of one mechanism, accepted on one day, in the order they came."""

    mechanism: int
    day: str
    width: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Sifted:
    """The reports of one collection: each id once, with what its first report said."""

    ids: bytes
    """Every id once, sorted, 16 bytes each."""
    groups: tuple[tuple[int, str], ...]
    """The mechanisms and days that occur."""
    group: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]
    repeated: int
    conflicts: int

    @property
    def number(self) -> int:
        """How many different ids there are."""
        return len(self.output)

    def count(self, known: Sequence[int] = ()) -> list[tuple[int, str, int, int]]:
        """Count (mechanism, day, output, n), without the ids at some places.

        >>> rows = [Row(7, "2026-11-19", 1, bytes(16) + b"\\x02" + b"\\x01" * 16 + b"\\x02")]
        >>> sift(rows).count(), sift(rows).count(known=[1])
        ([(7, '2026-11-19', 2, 2)], [(7, '2026-11-19', 2, 1)])
        """
        new = np.ones(self.number, dtype=bool)
        new[list(known)] = False
        width = int(self.output.max(initial=0)) + 1
        found, times = np.unique(self.group[new] * width + self.output[new], return_counts=True)
        return [
            (*self.groups[pair // width], pair % width, number)
            for pair, number in zip(found.tolist(), times.tolist(), strict=True)
        ]


def sift(rows: Iterable[Row]) -> Sifted:
    """Take the first report of each id, in the order of the rows and within them."""
    numbers: dict[tuple[int, str], int] = {}
    alike: dict[tuple[int, int], list[tuple[int, bytes]]] = {}
    for at, row in enumerate(rows):
        number = numbers.setdefault((row.mechanism, row.day), len(numbers))
        alike.setdefault((number, row.width), []).append((at, row.body))
    parts = [_Part.of(number, width, found) for (number, width), found in alike.items()]
    high = np.concatenate([part.ids[:, 0] for part in parts])
    low = np.concatenate([part.ids[:, 1] for part in parts])
    place = np.concatenate([part.place for part in parts])
    order = _order(high, low, place)
    high, low = high[order], low[order]
    group = np.concatenate([part.group for part in parts])[order]
    output = np.concatenate([part.output for part in parts])[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    leader = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    mechanism = np.array([mechanism for mechanism, _ in numbers])
    differs = (output != output[leader]) | (mechanism[group] != mechanism[group[leader]])
    ids = np.empty((int(first.sum()), 2), dtype=">u8")
    ids[:, 0], ids[:, 1] = high[first], low[first]
    return Sifted(
        ids.tobytes(),
        tuple(numbers),
        group[first],
        output[first],
        int(len(order) - first.sum()),
        int(differs.sum()),
    )


def _order(
    high: npt.NDArray[np.uint64], low: npt.NDArray[np.uint64], place: npt.NDArray[np.int64]
) -> npt.NDArray[np.intp]:
    """Return the order by id, then by row, then within the row.

    Half an id nearly always tells: where it does not, those that share it are put in order. That
    is many times faster than to sort by everything.
    """
    order = np.argsort(high)
    alike = high[order[1:]] == high[order[:-1]]
    if alike.any():
        shared = np.flatnonzero(np.append(alike, False) | np.insert(alike, 0, False))
        some = np.sort(order[shared])
        order[shared] = some[np.lexsort((place[some], low[some], high[some]))]
    return order


@dataclass(frozen=True, slots=True)
class _Part:
    """The reports of one mechanism and day."""

    ids: npt.NDArray[np.uint64]
    place: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]

    @classmethod
    def of(cls, group: int, width: int, found: Sequence[tuple[int, bytes]]) -> _Part:
        form = np.dtype([("id", ">u8", 2), ("output", f"<u{width}")])
        assert form.itemsize == ID + width
        reports = np.frombuffer(b"".join(body for _, body in found), dtype=form)
        sizes = [len(body) // form.itemsize for _, body in found]
        return cls(
            reports["id"].astype(np.uint64),
            np.repeat(np.array([place for place, _ in found], dtype=np.int64), sizes),
            np.full(len(reports), group, dtype=np.int64),
            reports["output"].astype(np.int64),
        )
