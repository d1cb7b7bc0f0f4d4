"""What a row that goes out tells: released cells y together with the kept cells k beside them.

By itself a released column may tell nothing and beside a kept one all: S = X xor K, Y = X. In the
table, with n rows, N of them with a secret s, N_k with the cells k, and T(k, s, y) the sum of
W(y|x) over the rows with k and s,

    P(s|k,y) / P(s)   = T(k, s, y) n / (T(k, y) N_s)           against the population,
    P(s|k,y) / P(s|k) = T(k, s, y) N_k / (T(k, y) N_ks)        beyond what k tells,
    P(s|k) / P(s)     = N_ks n / (N_k N_s)                     alone.

Floats say which of them are near the extremes; those are computed again in whole numbers.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock._runtime.progress import Progress, Step, ignore_progress
from liftlock.errors import extra, listed
from liftlock.exact import enclosure
from liftlock.exact.integers import Floats, Integers
from liftlock.mechanism import Mechanism
from liftlock.model.alphabet import Label
from liftlock.model.columns import MISSING_LABEL
from liftlock.notions.lift import LeakRange
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.protect.count import secret_label, to_countable
from liftlock.tables.protect.inspect import band_edges, parse_number
from liftlock.tables.protect.result import ProtectedColumn, RowLeak, RowWitness
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.transfer.bets import ERROR_RATE, Bets

if TYPE_CHECKING:
    import pyarrow as pa

with extra("statistics"):
    from scipy import sparse

Codes = npt.NDArray[np.int64]

MOST_CELLS = 300_000
"""So many different (kept cells, secret, input) are counted."""

MOST_OUTPUTS = 2_000
"""So many combinations of outputs of several released columns are looked at together."""

MOST_WORK = 100_000_000
"""Pairs of kept columns are looked at as far as rows times pairs stay below this."""

_MOST_BETS = 4_000_000
"""So many (secret, input, output) of kept cells are tested; those in more rows come first."""

_FEWEST = 30
"""Kept cells in fewer rows are not tested."""

_BITS = 31
"""Two numbers of so many bits are one of 64."""

_WORTH = 3.0
"""A lift within so many standard errors of 1 is never more than chance."""

_NEAR = 1e-9
"""More than the relative error of a lift in floats."""

_EVENTS = 5
"""Of fewer rows with a secret and an output there is no upper bound that is worth a test."""

_MOST_TIES = 1_000
"""So many of the largest are decided; if there are more, what they may add is added."""

_AT_ONCE = 1 << 23
"""So many floats are in the memory at once."""

_NOTHING = LeakRange(0.0, 0.0)
_UNBOUNDED = LeakRange(math.inf, math.inf)


# --- from cells to numbers ------------------------------------------------------------------------


class _Names:
    """Numbers for whatever is met, in the order in which it is met."""

    def __init__(self) -> None:
        self.known: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.known)

    def number(self, label: Any) -> int:
        return self.known.setdefault(label, len(self.known))

    def of_keys(self, keys: Codes) -> Codes:
        """Return the numbers of whole numbers."""
        different, places = np.unique(keys, return_inverse=True)
        codes = np.array([self.number(key) for key in different.tolist()], dtype=np.int64)
        return np.asarray(codes[places], dtype=np.int64)

    def of_column(self, cells: pa.Array, rename: Callable[[Any], Any]) -> Codes:
        """Return the numbers of cells by what they are called."""
        known = cells.dictionary_encode(null_encoding="encode")
        codes = [self.number(rename(value)) for value in known.dictionary.to_pylist()]
        places = known.indices.to_numpy(zero_copy_only=False)
        return np.asarray(np.array(codes, dtype=np.int64)[places], dtype=np.int64)

    @cached_property
    def labels(self) -> list[Any]:
        """What was met; only to be asked for at the end."""
        return list(self.known)


@dataclass
class _KeptReader:
    """Reads a kept column: its cells, or the bands that its numbers are in."""

    name: str
    edges: list[float] | None
    names: _Names = field(default_factory=_Names)

    def codes(self, batch: pa.RecordBatch) -> Codes:
        return self.names.of_column(to_countable(batch.column(self.name), self.name), self._rename)

    def _rename(self, value: Any) -> Any:
        number = None if self.edges is None else parse_number(value)
        if number is None or self.edges is None:
            return value
        at = min(bisect_left(self.edges, number), len(self.edges) - 1)
        return f"{self.edges[at - 1]:g} to {self.edges[at]:g}" if at else f"to {self.edges[0]:g}"


class _Tally:
    """How often whole numbers occur, batch after batch, until there are too many different ones."""

    def __init__(self) -> None:
        self.keys = self.counts = np.zeros(0, dtype=np.int64)
        self.closed = False

    def add(self, keys: Codes) -> None:
        if self.closed:
            return
        fresh, numbers = np.unique(keys, return_counts=True)
        self.keys, places = np.unique(np.concatenate([self.keys, fresh]), return_inverse=True)
        counts = np.zeros(len(self.keys), dtype=np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, numbers]))
        self.counts = counts
        if len(self.keys) > MOST_CELLS:
            self.close()

    def close(self) -> None:
        self.closed = True
        self.keys = self.counts = np.zeros(0, dtype=np.int64)


@dataclass
class _KeptSet:
    """Some kept columns, whose cells together are k."""

    readers: tuple[_KeptReader, ...]
    tallies: list[_Tally]
    """One for each secret, of (k, secret, input)."""
    steps: list[_Names] = field(default_factory=list)
    """Numbers for the cells of the first two columns, of these and the third, and so on."""

    def __post_init__(self) -> None:
        self.steps = [_Names() for _ in self.readers[1:]]

    def add(self, cells: Mapping[str, Codes], told: Sequence[Codes]) -> None:
        """Count one batch: `told` are the numbers of (secret, input) for each secret."""
        if all(tally.closed for tally in self.tallies):
            return
        codes = cells[self.readers[0].name]
        for reader, step in zip(self.readers[1:], self.steps, strict=True):
            codes = step.of_keys((codes << _BITS) | cells[reader.name])
            if len(step) > MOST_CELLS:
                for tally in self.tallies:
                    tally.close()
                self.steps = [_Names() for _ in self.steps]
                return
        for tally, each in zip(self.tallies, told, strict=True):
            tally.add((codes << _BITS) | each)

    def labels(self, code: int) -> tuple[Any, ...]:
        """Return the cells that a number stands for."""
        places: list[int] = []
        for step in reversed(self.steps):
            pair = step.labels[code]
            code = pair >> _BITS
            places.append(pair & ((1 << _BITS) - 1))
        places.append(code)
        return tuple(
            reader.names.labels[place]
            for reader, place in zip(self.readers, reversed(places), strict=True)
        )


# --- what is released -----------------------------------------------------------------------------


class _Channel:
    """What one mechanism does to a cell: the first row is for cells that stay missing."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.worker = ColumnRandomiser.of(mechanism)
        self.keeps = self.worker.codes[0].keeps_missing
        table = mechanism.table
        self.one = 1 << table.bits
        weights = np.zeros(
            (table.weights.shape[0] + 1, table.weights.shape[1] + self.keeps), object
        )
        weights[1:, : table.weights.shape[1]] = table.weights
        if self.keeps:
            weights[0, -1] = self.one
        self.weights: Integers = weights
        self.floats: Floats = (weights / self.one).astype(np.float64)
        self.inputs: list[Label] = [MISSING_LABEL, *table.inputs.labels]
        self.outputs: list[Label] = [*table.outputs.labels, *([MISSING_LABEL] * self.keeps)]
        if str(mechanism.context.kind) == "given":  # pairs of a group and a value
            pairs: list[Any] = list(table.inputs.labels)
            self.inputs[1:] = [value for _, value in pairs]

    @cached_property
    def possible(self) -> slice:
        """The rows of inputs."""
        return slice(0 if self.keeps else 1, None)

    def odds(self) -> Fraction | None:
        """Return the largest ratio of two probabilities of an output; None for infinity."""
        largest = Fraction(1)
        for column in self.weights[self.possible].T:
            least, most = int(min(column)), int(max(column))
            if most and not least:
                return None
            if most:
                largest = max(largest, Fraction(most, least))
        return largest


class _Released:
    """Columns that go out randomised, each independently: a channel on tuples of inputs."""

    def __init__(self, columns: Sequence[ProtectedColumn]) -> None:
        self.columns = columns
        self.channels = [_Channel(each.mechanism) for each in columns]
        self.names = _Names()
        """Of tuples of inputs."""
        self.tuples: list[tuple[int, ...]] = []

    @property
    def released(self) -> tuple[str, ...]:
        """The columns that are replaced."""
        return tuple(name for each in self.channels for name in each.worker.names)

    @property
    def needs(self) -> set[str]:
        """The columns that are read."""
        return {name for each in self.channels for name in each.worker.needs}

    def inputs(self, batch: pa.RecordBatch) -> list[Codes]:
        """Return the input of each row for each mechanism; 0 is a cell that stays missing."""
        return [
            each.worker.inputs([batch.column(name) for name in each.worker.needs]) + 1
            for each in self.channels
        ]

    def codes(self, inputs: Sequence[Codes]) -> Codes:
        """Return the numbers of tuples of inputs."""
        keys = np.zeros(len(inputs[0]), dtype=np.int64)
        for each, part in zip(self.channels, inputs, strict=True):
            keys = keys * len(each.inputs) + part
        return self.names.of_keys(keys)

    def _parts(self, number: int) -> list[int]:
        """Return the input of each mechanism in a tuple."""
        key, found = self.names.labels[number], []
        for each in reversed(self.channels):
            key, part = divmod(key, len(each.inputs))
            found.append(part)
        return found[::-1]

    def _zip(self, parts: Sequence[int]) -> Iterable[tuple[_Channel, int]]:
        return zip(self.channels, parts, strict=True)

    @cached_property
    def chances(self) -> Floats:
        """W(y|x) of tuples x in the order of their numbers."""
        rows = [
            reduce(
                np.kron, [each.floats[at] for each, at in zip(self.channels, parts, strict=True)]
            )
            for parts in map(self._parts, range(len(self.names)))
        ]
        return np.array(rows)

    def ends(self) -> tuple[Floats, Floats]:
        """Return the smallest and the largest W(y|x) of each output, over all tuples."""
        low = reduce(np.kron, [each.floats[each.possible].min(axis=0) for each in self.channels])
        top = reduce(np.kron, [each.floats[each.possible].max(axis=0) for each in self.channels])
        return low, top

    def weight(self, number: int, output: int) -> int:
        """Return W(y|x) in whole numbers, in proportion."""
        found = 1
        places = self._places(output)
        for each, at, y in zip(self.channels, self._parts(number), places, strict=True):
            found *= int(each.weights[at, y])
        return found

    def _places(self, output: int) -> list[int]:
        found = []
        for each in reversed(self.channels):
            output, place = divmod(output, len(each.outputs))
            found.append(place)
        return found[::-1]

    def outputs(self, output: int) -> tuple[Label, ...]:
        """Return what comes out, of each mechanism."""
        places = self._places(output)
        return tuple(each.outputs[at] for each, at in self._zip(places))

    def limit(self) -> float:
        """Return what no row can tell more than, whatever the table: the largest log-odds."""
        total = Fraction(1)
        for each in self.channels:
            odds = each.odds()
            if odds is None:
                return math.inf
            total *= odds
        return _nats(total)


def _nats(ratio: Fraction | None) -> float:
    """Return the logarithm of a ratio, rounded up; None is infinity."""
    if ratio is None:
        return math.inf
    upper = enclosure.log(ratio).upper
    assert upper is not None
    found = float(upper)
    return max(0.0, found if Fraction(found) >= upper else math.nextafter(found, math.inf))


# --- measuring ------------------------------------------------------------------------------------


@dataclass
class _Cells:
    """The counted (k, s, x), sorted, with the rows of each k and of each (k, s)."""

    kept: Codes
    secret: Codes
    input: Codes
    count: Codes

    @classmethod
    def of(cls, tally: _Tally, pairs: _Names) -> _Cells:
        """Take the keys apart; `pairs` are the numbers of (secret, input)."""
        told = np.array(pairs.labels, dtype=np.int64)[tally.keys & ((1 << _BITS) - 1)]
        kept, secret, value = tally.keys >> _BITS, told >> _BITS, told & ((1 << _BITS) - 1)
        order = np.lexsort((value, secret, kept))
        return cls(kept[order], secret[order], value[order], tally.counts[order])

    @cached_property
    def rows(self) -> int:
        return int(self.count.sum())

    @cached_property
    def of_secret(self) -> Codes:
        return np.bincount(self.secret, self.count).astype(np.int64)

    @cached_property
    def secrets(self) -> int:
        """How many secrets there are."""
        return int((self.of_secret > 0).sum())

    @cached_property
    def first_of_kept(self) -> Codes:
        """Where each k begins among the cells."""
        return np.flatnonzero(np.diff(self.kept, prepend=-1))

    @cached_property
    def first_of_group(self) -> Codes:
        """Where each (k, s) begins among the cells."""
        changes = (np.diff(self.kept, prepend=-1) != 0) | (np.diff(self.secret, prepend=-1) != 0)
        return np.flatnonzero(changes)

    @cached_property
    def of_kept(self) -> Codes:
        """The rows of each k."""
        return np.add.reduceat(self.count, self.first_of_kept)

    @cached_property
    def of_group(self) -> Codes:
        """The rows of each (k, s)."""
        return np.add.reduceat(self.count, self.first_of_group)

    @cached_property
    def kept_of_group(self) -> Codes:
        """Which k each (k, s) belongs to."""
        return np.searchsorted(self.first_of_kept, self.first_of_group, side="right") - 1

    @cached_property
    def group_of_kept(self) -> Codes:
        """Where each k begins among the (k, s), and the end."""
        firsts = np.searchsorted(self.first_of_group, self.first_of_kept)
        return np.append(firsts, len(self.first_of_group))

    def span(self, kept: int) -> slice:
        """Return the cells of one k."""
        firsts = self.first_of_kept
        return slice(firsts[kept], firsts[kept + 1] if kept + 1 < len(firsts) else len(self.kept))


class _Extreme:
    """The largest ratio, found in floats and decided in whole numbers."""

    def __init__(self) -> None:
        self.best = 0.0
        self.near: list[tuple[float, int, int]] = []

    def see(self, ratios: Floats, first: int) -> None:
        """Look at ratios of (k, s) from the first one on, and outputs."""
        top = float(ratios.max(initial=0.0))
        if top < self.best * (1 - _NEAR):
            return
        self.best = max(self.best, top)
        groups, outputs = np.nonzero(ratios >= self.best * (1 - _NEAR))
        found = ratios[groups, outputs].tolist()
        self.near += zip(found, (groups + first).tolist(), outputs.tolist(), strict=True)
        self.near = [each for each in self.near if each[0] >= self.best * (1 - _NEAR)]

    def decide(self, exactly: Callable[[int, int], Fraction]) -> tuple[Fraction, int, int]:
        """Return the largest ratio, with its (k, s) and output."""
        found = max(
            (exactly(group, output), group, output) for _, group, output in self.near[:_MOST_TIES]
        )
        if len(self.near) > _MOST_TIES:
            return found[0] * (1 + 2 * Fraction(_NEAR)), *found[1:]
        return found


class _RowMeasure:
    """What the rows of one set of kept columns tell about one secret."""

    def __init__(self, cells: _Cells, released: _Released, error: float) -> None:
        self.cells, self.released = cells, released
        self.chances = released.chances
        self.error = error
        self.beyond = _Extreme(), _Extreme()
        self.population = _Extreme(), _Extreme()
        self.zero_beyond = False
        self.zero = len(cells.of_group) < len(cells.of_kept) * cells.secrets
        """Whether a secret is ruled out by k alone, or by k and y."""
        kept = len(cells.of_kept)
        self.moves = np.zeros(kept, dtype=bool)
        """For which k a ratio beyond what k tells may be more than chance."""
        self.differs = np.zeros(kept, dtype=bool)
        """For which k one against the population may be."""
        self.bounded = np.zeros(kept, dtype=bool)
        """For which k there may be an upper bound."""
        ends, step = cells.group_of_kept, max(1, _AT_ONCE // self.chances.shape[1])
        first = 0
        while first < kept:
            last = int(np.searchsorted(ends, ends[first] + step, side="right")) - 1
            last = min(max(last, first + 1), kept)
            self._look_at(first, last)
            first = last

    def _look_at(self, first: int, last: int) -> None:
        """Find the extremes of the k from the first to before the last."""
        cells = self.cells
        groups = slice(cells.group_of_kept[first], cells.group_of_kept[last])
        begin = cells.first_of_kept[first]
        end = cells.first_of_kept[last] if last < len(cells.of_kept) else len(cells.kept)
        rows = np.searchsorted(cells.first_of_group, np.arange(begin, end), side="right") - 1
        shape = groups.stop - groups.start, self.chances.shape[0]
        place = (rows - groups.start, cells.input[begin:end])
        counts = sparse.csr_array((cells.count[begin:end].astype(float), place), shape=shape)
        told, square = counts @ self.chances, counts @ self.chances**2
        firsts = cells.group_of_kept[first:last] - groups.start
        at = cells.kept_of_group[groups] - first
        total = np.add.reduceat(told, firsts, axis=0)
        spread = np.add.reduceat(square, firsts, axis=0)
        there = total[at] > 0
        of_kept = cells.of_kept[first:last][:, None]
        of_group = cells.of_group[groups][:, None]
        of_secret = cells.of_secret[cells.secret[cells.first_of_group[groups]]][:, None]
        share, base = of_group / of_kept[at], of_secret / cells.rows
        for extremes, p in ((self.beyond, share), (self.population, base)):
            ratio = np.divide(told, p * total[at], out=np.ones_like(told), where=there)
            extremes[1].see(ratio, groups.start)
            inverse = np.divide(1.0, ratio, out=np.zeros_like(told), where=ratio > 0)
            extremes[0].see(inverse, groups.start)
        self.zero_beyond |= bool((there & (told == 0)).any())
        self.zero |= self.zero_beyond
        for found, p in ((self.moves, share), (self.differs, base)):
            error = np.sqrt(p * (1 - p) * spread[at])
            apart = (np.abs(told - p * total[at]) > _WORTH * error).any(axis=1) & (p < 1)[:, 0]
            found[first:last] = np.logical_or.reduceat(apart, firsts)
        whole = np.diff(cells.group_of_kept[first : last + 1]) == cells.secrets
        self.differs[first:last] |= ~whole
        enough = (told >= _EVENTS * self.released.ends()[1]).all(axis=1)
        self.bounded[first:last] = whole & np.logical_and.reduceat(enough, firsts)

    # --- in the table ----------------------------------------------------------------------------

    def _exact_parts(self, group: int, output: int) -> tuple[int, int]:
        """Return T(k, s, y) and T(k, y) in whole numbers, in proportion."""
        cells, told, total = self.cells, 0, 0
        secret = cells.secret[cells.first_of_group[group]]
        span = cells.span(int(cells.kept_of_group[group]))
        for s, x, count in zip(
            cells.secret[span].tolist(),
            cells.input[span].tolist(),
            cells.count[span].tolist(),
            strict=True,
        ):
            mass = count * self.released.weight(x, output)
            total += mass
            told += mass if s == secret else 0
        return told, total

    def _beyond(self, group: int, output: int) -> Fraction:
        told, total = self._exact_parts(group, output)
        cells = self.cells
        of_kept = int(cells.of_kept[cells.kept_of_group[group]])
        return Fraction(told * of_kept, total * int(cells.of_group[group]))

    def _population(self, group: int, output: int) -> Fraction:
        told, total = self._exact_parts(group, output)
        cells = self.cells
        of_secret = int(cells.of_secret[cells.secret[cells.first_of_group[group]]])
        return Fraction(told * cells.rows, total * of_secret)

    def in_table(self) -> tuple[LeakRange, LeakRange, tuple[int, int]]:
        """Return both ratios, and the (k, s) and output of the larger side beyond k."""
        (down, *at_down), (up, *at_up) = (
            extreme.decide(ratio)
            for extreme, ratio in zip(
                self.beyond, (lambda *at: 1 / self._beyond(*at), self._beyond), strict=True
            )
        )
        beyond = LeakRange(math.inf if self.zero_beyond else _nats(down), _nats(up))
        lower, upper = (
            extreme.decide(ratio)[0]
            for extreme, ratio in zip(
                self.population,
                (lambda *at: 1 / self._population(*at), self._population),
                strict=True,
            )
        )
        population = LeakRange(math.inf if self.zero else _nats(lower), _nats(upper))
        worst = at_down if beyond.eps_lower > beyond.eps_upper else at_up
        return population, beyond, (worst[0], worst[1])

    def alone(self) -> LeakRange:
        """Return what k tells by itself."""
        cells = self.cells
        of_kept = cells.of_kept[cells.kept_of_group]
        of_secret = cells.of_secret[cells.secret[cells.first_of_group]]
        ratio = (cells.of_group / of_kept) / (of_secret / cells.rows)

        def exactly(group: int) -> Fraction:
            return Fraction(
                int(cells.of_group[group]) * cells.rows, int(of_kept[group]) * int(of_secret[group])
            )

        top, bottom = _Extreme(), _Extreme()
        top.see(ratio[:, None], 0)
        bottom.see(1 / ratio[:, None], 0)
        most, _, _ = top.decide(lambda group, _: exactly(group))
        least, _, _ = bottom.decide(lambda group, _: 1 / exactly(group))
        absent = len(cells.of_group) < len(cells.of_kept) * cells.secrets
        return LeakRange(math.inf if absent else _nats(least), _nats(most))

    # --- of the people ---------------------------------------------------------------------------

    @cached_property
    def _tested(self) -> Codes:
        """The k in enough rows for a test, those in more rows first."""
        most = max(1, _MOST_BETS // (self.cells.secrets * self.chances.size))
        order = np.argsort(-self.cells.of_kept, kind="stable")[:most]
        return order[self.cells.of_kept[order] >= _FEWEST]

    def _table(self, kept: int) -> tuple[Codes, Codes]:
        """Return the counts of (secret, input) of a k, and which inputs these are."""
        cells, span = self.cells, self.cells.span(kept)
        inputs, place = np.unique(cells.input[span], return_inverse=True)
        secrets = np.flatnonzero(cells.of_secret)
        counts = np.zeros((len(secrets), len(inputs)), dtype=np.int64)
        counts[np.searchsorted(secrets, cells.secret[span]), place] = cells.count[span]
        return counts, inputs

    def at_least(self) -> tuple[LeakRange, LeakRange]:
        """Return lower bounds of both ratios, against the population first.

        Every k that is tested has the same share of the error.
        """
        cells, ends = self.cells, self.released.ends()
        found = [_NOTHING, _NOTHING]
        error = self.error / 2 / max(len(self._tested), 1)
        everybody = cells.of_secret[cells.of_secret > 0]
        for kept in self._tested.tolist():
            if not (self.moves[kept] or self.differs[kept]):
                continue
            counts, inputs = self._table(kept)
            chances = self.chances[inputs]
            if self.moves[kept]:
                found[1] = _larger(found[1], Bets(counts, chances, ends).at_least(error))
            if self.differs[kept]:
                others = (everybody - counts.sum(axis=1))[:, None]
                wide = np.concatenate([chances, np.zeros((1, chances.shape[1]))])
                bets = Bets(np.concatenate([counts, others], axis=1), wide, (0 * ends[0], ends[1]))
                found[0] = _larger(found[0], bets.at_least(error))
        return found[0], found[1]

    def at_most(self) -> tuple[LeakRange, float]:
        """Return upper bounds beyond k, and the share of rows that have none.

        To be wrong, the bound of the k that tells most must be: the error is not shared.
        """
        limit = self.released.limit()
        always = LeakRange(limit, limit)
        if not math.isinf(limit) and not self.bounded.any():
            return always, 0.0
        found, bounded = _NOTHING, 0
        for kept in self._tested.tolist():
            if not self.bounded[kept]:
                continue
            counts, inputs = self._table(kept)
            most = Bets(counts, self.chances[inputs], self.released.ends()).at_most(ERROR_RATE)
            if max(most) < math.inf:
                bounded += int(self.cells.of_kept[kept])
            found = _larger(found, most)
        if bounded < self.cells.rows:
            return always, 0.0 if limit < math.inf else 1 - bounded / self.cells.rows
        return LeakRange(min(limit, found.eps_lower), min(limit, found.eps_upper)), 0.0


def _larger(one: LeakRange, other: LeakRange) -> LeakRange:
    return LeakRange(max(one.eps_lower, other.eps_lower), max(one.eps_upper, other.eps_upper))


# --- all of it ------------------------------------------------------------------------------------


@dataclass
class _Secret:
    """A secret: a column, or the values of one that is released."""

    name: str
    column: str | None
    own: int = 0
    """Of which mechanism it is the input, if it is no column."""
    names: _Names = field(default_factory=_Names)
    pairs: _Names = field(default_factory=_Names)
    """Numbers for (secret, tuple of inputs)."""

    def codes(
        self, batch: pa.RecordBatch, inputs: Sequence[Codes], channels: Sequence[_Channel]
    ) -> Codes:
        if self.column is not None:
            return self.names.of_column(
                to_countable(batch.column(self.column), self.column), secret_label
            )
        labels = channels[self.own].inputs
        different, places = np.unique(inputs[self.own], return_inverse=True)
        codes = np.array(
            [self.names.number(labels[at]) for at in different.tolist()], dtype=np.int64
        )
        return np.asarray(codes[places], dtype=np.int64)


def row_leaks(
    source: TableSource,
    columns: Sequence[ProtectedColumn],
    kept: Mapping[str, Mapping[Any, int]],
    rows: int,
    *,
    together: bool = True,
    watch: Progress = ignore_progress,
) -> tuple[list[RowLeak], list[str]]:
    """Measure what rows tell about each secret; say what was not looked at.

    `columns` go out randomised, and `kept` as they are: of each, how often values occur, in the
    first rows at least. Each kept column is looked at, all of them, and pairs as far as there is
    work left. Without `together` each released column is looked at by itself. All lower bounds
    hold at once, but for the error rate; each upper bound holds but for the error rate.
    """
    groups = [_Released(columns)] if together else [_Released([each]) for each in columns]
    found: list[RowLeak] = []
    missed: list[str] = []
    if not columns or not kept:
        return found, missed
    names = list(kept)
    sets: list[tuple[str, ...]] = [(name,) for name in names]
    pairs = list(combinations(names, 2)) if len(names) > 2 else []
    if len(names) > 1:
        sets.append(tuple(names))
    if len(names) > 2:
        affordable = max(0, MOST_WORK // max(rows, 1) - len(sets))
        if affordable < len(pairs):
            missed.append(
                f"{len(pairs) - affordable:,} of {len(pairs):,} pairs of kept columns: more work "
                f"than is done for {rows:,} rows"
            )
        pairs = pairs[:affordable]
        if len(names) > 3:
            missed.append(
                "three and more kept columns together, except for all of them: only each, pairs "
                "and all are measured"
            )
    for group in groups:
        leaks, more = _measure_group(source, group, columns, kept, sets, pairs, len(groups), watch)
        found += leaks
        missed += more
    return found, list(dict.fromkeys(missed))


def _measure_group(
    source: TableSource,
    released: _Released,
    columns: Sequence[ProtectedColumn],
    kept: Mapping[str, Mapping[Any, int]],
    sets: Sequence[tuple[str, ...]],
    pairs: Sequence[tuple[str, ...]],
    groups: int,
    watch: Progress,
) -> tuple[list[RowLeak], list[str]]:
    secrets = _secrets(source, released, columns)
    readers = {name: _KeptReader(name, band_edges(sizes)) for name, sizes in kept.items()}
    every = [*sets, *pairs]
    shares = [ERROR_RATE / (2 if pairs else 1) / len(sets)] * len(sets)
    shares += [ERROR_RATE / 2 / max(len(pairs), 1)] * len(pairs)
    looks = [
        _KeptSet(tuple(readers[name] for name in names), [_Tally() for _ in secrets])
        for names in every
    ]
    wanted = {*readers, *released.needs, *(each.column for each in secrets)}
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with cell_errors_in(source, piece):
            inputs = released.inputs(piece.batch)
        codes = released.codes(inputs)
        told = [
            each.pairs.of_keys(
                (each.codes(piece.batch, inputs, released.channels) << _BITS) | codes
            )
            for each in secrets
        ]
        cells = {name: reader.codes(piece.batch) for name, reader in readers.items()}
        for look in looks:
            look.add(cells, told)
    found: list[RowLeak] = []
    missed: list[str] = []
    for at, (look, share) in enumerate(zip(looks, shares, strict=True)):
        watch(Step("measuring what rows tell", at, len(looks)))
        for secret, tally in zip(secrets, look.tallies, strict=True):
            names = tuple(reader.name for reader in look.readers)
            if tally.closed:
                missed.append(
                    f"{listed(names)} beside {listed(released.released)}: more than "
                    f"{MOST_CELLS:,} combinations of values"
                )
                continue
            cells_of = _Cells.of(tally, secret.pairs)
            measure = _RowMeasure(cells_of, released, share / len(secrets) / groups)
            found.append(_row_leak(measure, look, secret))
    return found, missed


def _secrets(
    source: TableSource, released: _Released, columns: Sequence[ProtectedColumn]
) -> list[_Secret]:
    """Return what must not be inferred: the secrets of all columns, and own values of these."""
    told = dict.fromkeys(each.secret for each in columns if each.secret is not None)
    found = [_Secret(name, name) for name in told if name in source.columns]
    for at, each in enumerate(released.columns):
        if each.secret is None:
            found.append(_Secret(each.name, None, at))
    return found


def _row_leak(measure: _RowMeasure, look: _KeptSet, secret: _Secret) -> RowLeak:
    population, beyond, (group, output) = measure.in_table()
    population_at_least, at_least = measure.at_least()
    at_most, unbounded = measure.at_most()
    cells = measure.cells
    first = cells.first_of_group[group]
    return RowLeak(
        secret=secret.name,
        released=measure.released.released,
        kept=tuple(reader.name for reader in look.readers),
        population=population,
        beyond=beyond,
        alone=measure.alone(),
        at_least=at_least,
        at_most=at_most,
        population_at_least=population_at_least,
        values=len(cells.of_kept),
        unbounded_share=unbounded,
        banded=tuple(reader.name for reader in look.readers if reader.edges is not None),
        witness=RowWitness(
            secret.names.labels[int(cells.secret[first])],
            look.labels(int(cells.kept[first])),
            measure.released.outputs(output),
        ),
    )
