"""Columns that stay as they are, and the order of rows: what they tell about a secret."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.errors import InputError
from liftlock.tables.formats.base import TableSource
from liftlock.tables.protect.chance import Crossing, RarePools
from liftlock.tables.protect.count import (
    MOST_VALUES,
    group_rows,
    to_countable,
)
from liftlock.tables.protect.result import KeptColumn
from liftlock.transfer.bets import ERROR_RATE

LOOKED_AT = 1_000_000
"""Kept columns are looked at in so many rows, the first ones."""


_MOST_PAIRS = 20_000

_MOST_SKIPPED = 0.5
"""A column is not measured if its values are too rare to be told from chance in more rows."""


@dataclass(frozen=True)
class OtherColumns:
    """What was seen of the columns that stay: leaks of secrets, and columns of identities."""

    leaks: tuple[KeptColumn, ...]
    identities: tuple[str, ...]
    """Columns in which nearly every row has a value of its own."""
    unknown: tuple[str, ...] = ()
    """Columns of too many or too rare values, or of lists and structures: not measured."""
    ordered: tuple[str, ...] = ()
    """Secrets and replaced columns by which the rows are sorted or grouped."""
    values: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)
    """Of each column that can be looked at beside others: how often its values occur."""
    skipped: Mapping[str, float] = field(default_factory=dict)
    """The share of rows in which the values of a column are too rare to be judged."""


def inspect_other_columns(
    source: TableSource,
    kept: Sequence[str],
    secrets: Sequence[str],
    replaced: Sequence[str],
    *,
    allowed: Sequence[str] = (),
) -> OtherColumns:
    """Refuse copies of replaced columns and of secrets; measure what the others tell.

    A secret may be a replaced column: its own values. Many different numbers are measured in bands
    and, unless nearly all differ, one by one; each way has half of the error. Of a column that is
    independent of a secret anything is measured in at most 1 of 100 tables. `allowed` are columns
    that may stay whatever they tell. A source whose rows come in no order says so by an attribute
    `unordered`.
    """
    others = [name for name in kept if name not in replaced]
    targets = list(dict.fromkeys((*secrets, *replaced)))
    pairs = {(name, target): _ColumnPair(name, target) for name in others for target in targets}
    sizes = {name: _ColumnValues(name) for name in others}
    orders = [] if getattr(source, "unordered", False) else [RowOrder(name) for name in targets]
    wanted = {*others, *targets}
    rows = 0
    names = [name for name in source.columns if name in wanted]
    for piece in as_written(source).batches(names):
        for pair in pairs.values():
            pair.add(piece.batch)
        for order in orders:
            order.add(piece.batch)
        for values in sizes.values():
            values.add(piece.batch)
        rows += piece.batch.num_rows
        if rows >= LOOKED_AT:
            break
    leaks: list[KeptColumn] = []
    skipped: dict[str, float] = {}
    identities, unknown = [], []
    for name in others:
        for target in targets:
            if name not in allowed and pairs[name, target].is_copy():
                raise _copy_error(name, target, is_secret=target not in replaced)
        if any(pairs[name, target].is_identity() for target in targets):
            identities.append(name)
        not_measured = False
        for secret in secrets:
            pair = pairs[name, secret]
            ways = pair.measurable_counts(is_identity=name in identities)
            if not ways:
                not_measured |= name not in identities
                continue
            error = ERROR_RATE / len(ways)
            found = [_measure_column(name, secret, Crossing(each, error)) for each in ways]
            leaks.append(reduce(_larger, (leak for leak, _ in found)))
            share = found[0][1]
            not_measured |= share > _MOST_SKIPPED
            skipped[name] = max(share, skipped.get(name, 0.0))
        if not_measured:
            unknown.append(name)
    ordered = tuple(order.column for order in orders if order.reveals_values())
    usable = {
        name: each.sizes
        for name, each in sizes.items()
        if each.usable(is_identity=name in identities)
    }
    return OtherColumns(tuple(leaks), tuple(identities), tuple(unknown), ordered, usable, skipped)


def as_written(source: TableSource) -> TableSource:
    """Return the table with cells as they go out if they stay, where they are read otherwise."""
    written: TableSource = getattr(source, "as_written", source)
    return written


def _larger(one: KeptColumn, other: KeptColumn) -> KeptColumn:
    """Return what a column tells in one way of looking at it or another, whichever is more."""
    return replace(
        one,
        eps_lower=max(one.eps_lower, other.eps_lower),
        eps_upper=max(one.eps_upper, other.eps_upper),
        pooled=max(one, other, key=lambda leak: max(leak.eps_lower, leak.eps_upper)).pooled,
    )


def _measure_column(name: str, secret: str, seen: Crossing) -> tuple[KeptColumn, float]:
    """Return what a column tells, and the share of rows whose values are too rare to say.

    Values are judged one by one, and the rare ones together; each way has half of the error.
    """
    if not seen.rare:
        return KeptColumn(name, secret, len(seen.values), *measure_leak(seen)), 0.0
    seen = replace(seen, error=seen.error / 2)
    pools = RarePools.of(seen)
    alone, together = measure_leak(seen), measure_leak(pools)
    lower, upper = (max(sides) for sides in zip(alone, together, strict=True))
    larger = any(one > other for one, other in zip(together, alone, strict=True))
    pooled = pools.judged if larger else 0.0
    return KeptColumn(name, secret, len(seen.values), lower, upper, pooled), pools.skipped


@dataclass
class _ColumnValues:
    """How often the values of a column occur, counted until there are too many of them."""

    name: str
    sizes: Counter[Any] = field(default_factory=Counter)
    closed: bool = False
    nested: bool = False

    def add(self, batch: pa.RecordBatch) -> None:
        """Count one batch."""
        if self.closed:
            return
        try:
            cells = to_countable(batch.column(self.name), self.name, written=True)
        except InputError:  # lists and structures are not looked into
            self.closed = self.nested = True
            return
        for (value,), number in group_rows([cells]):
            self.sizes[value] += number
        self.closed = len(self.sizes) > _MOST_PAIRS

    def usable(self, *, is_identity: bool) -> bool:
        """Tell whether rows can be grouped by it: by numbers in bands, or not too many values."""
        if self.nested:
            return False
        return not (self.closed or is_identity) or band_edges(self.sizes) is not None


@dataclass
class _ColumnPair:
    """A column that stays beside one that does not, counted until there are too many pairs."""

    name: str
    target: str
    counts: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    """Of (cell of the target, cell that stays)."""
    rows: int = 0
    closed: bool = False

    def add(self, batch: pa.RecordBatch) -> None:
        """Count one batch."""
        if self.closed:
            return
        try:
            theirs = to_countable(batch.column(self.target), self.target)
            ours = to_countable(batch.column(self.name), self.name, written=True)
        except InputError:  # lists and structures are not looked into
            self.closed = True
            return
        for (told, cell), number in group_rows([theirs, ours]):
            self.counts[None if told == "" else told, cell] += number
        self.rows += batch.num_rows
        self.closed = len(self.counts) > _MOST_PAIRS

    def measurable_counts(self, *, is_identity: bool) -> list[Mapping[tuple[Any, Any], int]]:
        """Return the counts with numbers of many values in bands, and of single ones if possible.

        None at all if they say nothing.
        """
        counts: Mapping[tuple[Any, Any], int] = self.counts
        told = merge_into_bands({(ours, theirs): count for (theirs, ours), count in counts.items()})
        if told is not None:
            counts = {(theirs, ours): count for (ours, theirs), count in told.items()}
        # What was counted until there were too many pairs is as good as the first rows are.
        closed = self.closed and (told is None or not counts)
        single = [] if closed or is_identity else [counts]
        banded = merge_into_bands(counts)
        return single if banded is None else [banded, *single]

    def is_identity(self) -> bool:
        """Tell whether nearly every row has a value of its own."""
        return 0 < self.rows < 2 * len({value for _, value in self.counts})

    def is_copy(self) -> bool:
        """Tell whether the column that stays is the other one, perhaps under other names."""
        pairs = {(theirs, _stripped(ours)) for theirs, ours in self.counts}
        if all(a == b or _alike(a) == _alike(b) for a, b in pairs):
            return any(theirs is not None for theirs, _ in pairs)
        forward: dict[Any, Any] = {}
        backward: dict[Any, Any] = {}
        for theirs, ours in pairs:
            if forward.setdefault(ours, theirs) != theirs:
                return False
            if backward.setdefault(theirs, ours) != ours:
                return False
        if len(forward) < 2:
            return False
        # Where all values differ, any two columns go one to one: only the values themselves tell.
        return 2 * len(forward) <= self.rows


def _stripped(cell: object) -> object:
    return cell.strip() if isinstance(cell, str) else None if cell == -math.inf else cell


def _alike(cell: object) -> object:
    """Return what a cell is compared by: upper and lower case tell a reader the same."""
    return None if cell is None or cell == "" else str(cell).casefold()


def measure_leak(crossing: Crossing | RarePools) -> tuple[float, float]:
    """Return how far values of a column lower and raise the probability of a secret, in nats.

    Only cells that are more than chance count. The numbers are those of the table.

    >>> measure_leak(Crossing({("ill", "a"): 40, ("well", "a"): 40, ("well", "b"): 80}))
    (inf, 0.6931471805599453)
    """
    lower = upper = 0.0
    for _, _, both, expected in crossing.stand_out():
        if both > expected:
            upper = max(upper, math.log(both / expected))
        else:
            lower = max(lower, math.log(expected / both) if both else math.inf)
    return lower, upper


def _copy_error(name: str, target: str, *, is_secret: bool) -> InputError:
    what = "the secret" if is_secret else "the protected column"
    return InputError(
        f"the kept column {name!r} determines {what} {target!r}",
        remedy=f"drop it from the output (--drop {quote_name(name)}), or keep it on purpose "
        f"(--keep {quote_name(name)})",
    )


def quote_name(name: str) -> str:
    """Return a column as it is written on a command line."""
    return name if name.replace("-", "").replace("_", "").isalnum() else f'"{name}"'


BANDS = 20

MANY = 50
"""Numbers of more different values than this are looked at in bands."""


def band_edges(sizes: Mapping[Any, int]) -> list[float] | None:
    """Return the largest number of each band; None unless these are many different numbers.

    >>> band_edges({str(number): 1 for number in range(200)})[:2]
    [9.0, 19.0]
    """
    numbers = Counter[float]()
    for value, count in sizes.items():
        number = parse_number(value)
        if number is not None:
            numbers[number] += count
    total = numbers.total()
    if len(numbers) <= MANY or 2 * total < sum(sizes.values()):
        return None
    last: dict[int, float] = {}
    before = 0
    for number in sorted(numbers):
        last[BANDS * before // total] = number
        before += numbers[number]
    return list(last.values())


def number_text(number: float) -> str:
    """Write a number as no other is written: bands are told apart by their ends.

    >>> number_text(22.0), number_text(147.7), number_text(1700000000001.0)
    ('22', '147.7', '1700000000001')
    """
    return repr(number).removesuffix(".0")


def merge_into_bands(counts: Mapping[tuple[Any, Any], int]) -> Counter[tuple[Any, Any]] | None:
    """Join the second of each pair to bands; None unless it is one of many different numbers.

    What is no number, such as a missing cell, stays as it is.

    >>> joined = merge_into_bands({("a", str(number)): 1 for number in range(200)})
    >>> sorted(joined.items())[:2]
    [(('a', 0), 10), (('a', 1), 10)]
    """
    sizes = Counter[Any]()
    for (_, value), count in counts.items():
        sizes[value] += count
    edges = band_edges(sizes)
    if edges is None:
        return None
    found = Counter[tuple[Any, Any]]()
    for (told, value), count in counts.items():
        number = parse_number(value)
        found[told, value if number is None else bisect_left(edges, number)] += count
    return found


def parse_number(value: Any) -> float | None:
    """Return the number that a cell is, if it is one.

    >>> parse_number(" 1.50"), parse_number("none"), parse_number(True)
    (1.5, None, None)
    """
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


_ENOUGH_STEPS = 30
"""In fewer rows, order may be chance."""

_ORDER_CHANCE = 6.0
"""So many standard errors fewer changes from row to row than in a random order are no chance."""

_MOST = 0.9
"""So large a share of steps in one direction makes numbers sorted."""


@dataclass
class RowOrder:
    """How often a column changes from one row to the next, batch after batch.

    >>> grouped, mixed = RowOrder("sex"), RowOrder("sex")
    >>> grouped.add(pa.record_batch({"sex": ["f"] * 50 + ["m"] * 50}))
    >>> mixed.add(pa.record_batch({"sex": ["f", "m", "m", "f"] * 25}))
    >>> grouped.reveals_values(), mixed.reveals_values()
    (True, False)
    """

    column: str
    sizes: Counter[Any] = field(default_factory=Counter)
    steps: int = 0
    changes: int = 0
    ups: int = 0
    downs: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the rows of one batch."""
        try:
            cells = to_countable(batch.column(self.column), self.column)
        except InputError:
            return
        known = cells.dictionary_encode(null_encoding="encode")
        codes = known.indices.to_numpy(zero_copy_only=False)
        self.steps += max(len(codes) - 1, 0)
        self.changes += int((codes[1:] != codes[:-1]).sum())
        if len(self.sizes) <= MOST_VALUES:
            sizes = np.bincount(codes, minlength=len(known.dictionary)).tolist()
            self.sizes.update(dict(zip(known.dictionary.to_pylist(), sizes, strict=True)))
        try:
            numbers = pc.drop_null(cells).cast(pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return  # texts, in which neighbours that are equal are enough to look for
        steps = np.diff(numbers.to_numpy(zero_copy_only=False))
        self.ups += int((steps > 0).sum())
        self.downs += int((steps < 0).sum())

    def reveals_values(self) -> bool:
        """Tell whether equal values are next to each other, or numbers ascend or descend."""
        rows = sum(self.sizes.values())
        if rows < _ENOUGH_STEPS or not self.steps:
            return False
        moves = self.ups + self.downs
        if moves >= _ENOUGH_STEPS and max(self.ups, self.downs) >= _MOST * moves:
            return True
        same = sum((size / rows) ** 2 for size in self.sizes.values())
        expected = self.steps * (1 - same)
        error = math.sqrt(self.steps * same * (1 - same))
        return 2 * self.changes < expected and expected - self.changes > _ORDER_CHANCE * error
