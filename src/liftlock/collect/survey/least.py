"""Which parts of a collection are shown, so that no difference tells of fewer reports than `least`.

The total is shown too. So what is left out, which is the total less what is shown, has to have as
many reports as well: otherwise the smallest part that could be shown is left out with it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from liftlock.collect.survey.collection import Collection

Part = TypeVar("Part", bound=Hashable)


def shown_parts(totals: Mapping[Part, int], least: int, left_out: int = 0) -> frozenset[Part]:
    """Return the parts of a total that are shown, besides what is left out of it anyway.

    >>> (
    ...     sorted(shown_parts({"a": 3, "b": 60, "c": 70}, 50)),
    ...     sorted(shown_parts({"a": 30, "b": 60, "c": 30}, 50)),
    ... )
    (['c'], ['b'])
    """
    few = {part for part, number in totals.items() if 0 < number < least}
    left_out += sum(totals[part] for part in few)
    for part in sorted(totals, key=lambda each: totals[each]):
        if not 0 < left_out < least:
            break
        if totals[part] and part not in few:
            few.add(part)
            left_out += totals[part]
    return frozenset(totals.keys() - few)


def shown_mechanisms(collection: Collection, counts: Mapping[str, Sequence[int]]) -> frozenset[str]:
    """Return the mechanisms whose counts are shown: of each group that is, and its levels."""
    groups: dict[str | None, dict[str, int]] = {}
    for digest, each in collection.mechanisms.items():
        groups.setdefault(each.group, {})[digest] = sum(counts.get(digest, ()))
    least = collection.least
    kept = shown_parts({group: sum(levels.values()) for group, levels in groups.items()}, least)
    return frozenset(digest for group in kept for digest in shown_parts(groups[group], least))


def shown_days(
    collection: Collection, history: Mapping[str, Mapping[str, Sequence[int]]]
) -> dict[str, frozenset[str]]:
    """Return the days that are shown, each with the mechanisms whose counts of that day are."""
    least = collection.least
    if least <= 1:
        return {day: frozenset(row) for day, row in sorted(history.items())}
    totals = {day: sum(map(sum, row.values())) for day, row in history.items()}
    counts: dict[str, list[int]] = {}
    for row in history.values():
        for digest, numbers in row.items():
            counts.setdefault(digest, []).append(sum(numbers))
    known = {digest: sum(counts.get(digest, ())) for digest in shown_mechanisms(collection, counts)}
    days = sorted(shown_parts(totals, least))
    cells = {
        (day, digest): sum(row)
        for day in days
        for digest, row in history[day].items()
        if digest in known
    }
    before = -1
    while before != len(cells):
        before = len(cells)
        cells = _enough(cells, known, least, of=1)
        cells = _enough(cells, totals, least, of=0)
    found: dict[str, set[str]] = {day: set() for day in days}
    for day, digest in cells:
        found[day].add(digest)
    return {day: frozenset(digests) for day, digests in found.items()}


Cells = dict[tuple[str, str], int]


def _enough(cells: Cells, totals: Mapping[str, int], least: int, of: int) -> Cells:
    """Keep so many reports by day and mechanism as each total, `of` days or of mechanisms, lets."""
    parts: dict[str, Cells] = {}
    for cell, number in cells.items():
        parts.setdefault(cell[of], {})[cell] = number
    return {
        cell: own[cell]
        for name, own in parts.items()
        for cell in shown_parts(own, least, totals[name] - sum(own.values()))
    }
