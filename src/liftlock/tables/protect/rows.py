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
from typing import TYPE_CHECKING, Any, NamedTuple

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
from liftlock.tables.protect.inspect import (
    as_written,
    band_edges,
    number_text,
    parse_number,
)
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

MOST_TUPLES = 5_000
"""So many combinations of values of several released columns are looked at together."""

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

_MOST_INPUTS = 1 << 62
"""So many combinations of inputs have numbers."""

_WORTH = 4.0
"""About so many standard errors are chance: a guess, to know where to look."""

_MOST_LOOKS = 32
"""Kept cells in which a lower bound is looked for, on either side."""

_NEAR = 1e-9
"""More than the relative error of a lift in floats."""

_EVENTS = 5
"""Of fewer rows with a secret and an output there is no upper bound that is worth a test."""

_MOST_NATS = 16.0
"""Above it a bound is none."""

_MOST_TIES = 1_000
"""So many of the largest are decided; if there are more, what they may add is added."""

_AT_ONCE = 1 << 19
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


class _Band(NamedTuple):
    """Numbers up to an edge, from the one before."""

    place: int


@dataclass
class _KeptReader:
    """Reads a kept column: its cells, or the bands that its numbers are in."""

    name: str
    edges: list[float] | None
    names: _Names = field(default_factory=_Names)

    def codes(self, batch: pa.RecordBatch) -> Codes:
        cells = to_countable(batch.column(self.name), self.name, written=True)
        return self.names.of_column(cells, self._rename)

    def _rename(self, value: Any) -> Any:
        number = None if self.edges is None else parse_number(value)
        if number is None or self.edges is None:
            return value
        return _Band(min(bisect_left(self.edges, number), len(self.edges) - 1))

    def label(self, code: int) -> Any:
        """Return the cell that a number stands for, or the band in words."""
        found = self.names.labels[code]
        if not isinstance(found, _Band) or self.edges is None:
            return found
        last = f"to {number_text(self.edges[found.place])}"
        return f"{number_text(self.edges[found.place - 1])} {last}" if found.place else last


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
            reader.label(place)
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
    def outputs_in_all(self) -> int:
        """How many combinations of outputs there are."""
        return math.prod(len(each.outputs) for each in self.channels)

    @property
    def inputs_in_all(self) -> int:
        """How many combinations of inputs there are, met or not."""
        return math.prod(len(each.inputs) for each in self.channels)

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

    def decide(
        self, exactly: Callable[[int, int], Fraction], alike: Callable[[int, int], object]
    ) -> tuple[Fraction, int, int]:
        """Return the largest ratio, with its (k, s) and output; equal cells are decided once."""
        different = {alike(group, output): (group, output) for _, group, output in self.near}
        places = list(different.values())
        ratio, *place = max((exactly(*at), *at) for at in places[:_MOST_TIES])
        if len(places) > _MOST_TIES:
            ratio *= 1 + 2 * Fraction(_NEAR)
        return ratio, place[0], place[1]


class _RowMeasure:
    """What the rows of one set of kept columns tell about one secret."""

    def __init__(self, cells: _Cells, released: _Released, error: float) -> None:
        self.cells, self.released = cells, released
        self.chances = released.chances
        self.error = error
        self.beyond = _Extreme(), _Extreme()
        self.population = _Extreme(), _Extreme()
        self.ruled_out: tuple[int, int] | None = None
        """A (k, s) and an output that rules s out, though k does not."""
        self.zero = len(cells.of_group) < len(cells.of_kept) * cells.secrets
        """Whether a secret is ruled out by k alone."""
        kept = len(cells.of_kept)
        self.likely_beyond = np.zeros((2, kept))
        """About what chance leaves of both sides for each k, to know where to look."""
        self.likely = np.zeros((2, kept))
        """The same against the population."""
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
            ratio = np.divide(told, p * total[at], out=np.zeros_like(told), where=there)
            extremes[1].see(ratio, groups.start)
            inverse = np.divide(1.0, ratio, out=np.zeros_like(told), where=ratio > 0)
            extremes[0].see(inverse, groups.start)
        zeros = np.argwhere(there & (told == 0))
        if len(zeros) and self.ruled_out is None:
            self.ruled_out = int(zeros[0, 0]) + int(groups.start), int(zeros[0, 1])
        for found, p in ((self.likely_beyond, share), (self.likely, base)):
            error = _WORTH * np.sqrt(p * (1 - p) * spread[at])
            expected = np.where(there, p * total[at], np.inf)
            falls = np.divide(expected, told + error, out=np.zeros_like(told), where=there)
            rises = np.where(there, (told - error) / expected, 0.0)
            for side, each in enumerate((falls, rises)):
                found[side, first:last] = np.maximum.reduceat(each.max(axis=1), firsts)
        whole = np.diff(cells.group_of_kept[first : last + 1]) == cells.secrets
        # A secret that no row with k has is no (k, s): it may have three or so.
        rare = cells.of_secret[cells.of_secret > 0].min() * cells.of_kept[first:last] / cells.rows
        absent = np.where(whole, 0.0, rare / 3)
        self.likely[0, first:last] = np.maximum(self.likely[0, first:last], absent)
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

    def _alike(self, group: int, output: int) -> object:
        """Return what the ratios of a (k, s) and an output depend on, up to the order of cells."""
        cells, secret = self.cells, self.cells.secret[self.cells.first_of_group[group]]
        span = cells.span(int(cells.kept_of_group[group]))
        if (cells.secret[span] == secret).all():
            return int(secret)  # all rows with k have the secret, whatever the output
        parts = cells.secret[span], cells.input[span], cells.count[span]
        return int(secret), output, tuple(part.tobytes() for part in parts)

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
            extreme.decide(ratio, self._alike)
            for extreme, ratio in zip(
                self.beyond, (lambda *at: 1 / self._beyond(*at), self._beyond), strict=True
            )
        )
        beyond = LeakRange(math.inf if self.ruled_out else _nats(down), _nats(up))
        lower, upper = (
            extreme.decide(ratio, self._alike)[0]
            for extreme, ratio in zip(
                self.population,
                (lambda *at: 1 / self._population(*at), self._population),
                strict=True,
            )
        )
        population = LeakRange(
            math.inf if self.ruled_out or self.zero else _nats(lower), _nats(upper)
        )
        worst = at_down if beyond.eps_lower > beyond.eps_upper else at_up
        return population, beyond, self.ruled_out or (worst[0], worst[1])

    def alone(self) -> LeakRange:
        """Return what k tells by itself."""
        cells = self.cells
        of_kept = cells.of_kept[cells.kept_of_group]
        of_secret = cells.of_secret[cells.secret[cells.first_of_group]]
        ratio = cells.of_group / of_kept / (of_secret / cells.rows)

        def decide(near: npt.NDArray[np.bool_]) -> list[Fraction]:
            parts = np.stack([cells.of_group[near], of_kept[near], of_secret[near]], axis=1)
            return [
                Fraction(both * cells.rows, kept * secret)
                for both, kept, secret in np.unique(parts, axis=0).tolist()
            ]

        most = max(decide(ratio >= ratio.max() * (1 - _NEAR)))
        least = min(decide(ratio <= ratio.min() * (1 + _NEAR)))
        return LeakRange(math.inf if self.zero else _nats(1 / least), _nats(most))

    # --- of the people ---------------------------------------------------------------------------

    @cached_property
    def _tested(self) -> npt.NDArray[np.bool_]:
        """Which k are in enough rows for a test."""
        return np.asarray(self.cells.of_kept >= _FEWEST)

    def _table(self, kept: Codes) -> tuple[Codes, Floats]:
        """Return the counts of (k, secret, input) of some k, and W(y|x) of their inputs."""
        cells = self.cells
        spans = [cells.span(at) for at in kept.tolist()]
        rows = np.concatenate([np.arange(span.start, span.stop) for span in spans])
        part = np.repeat(np.arange(len(kept)), [span.stop - span.start for span in spans])
        inputs, place = np.unique(cells.input[rows], return_inverse=True)
        secrets = np.flatnonzero(cells.of_secret)
        counts = np.zeros((len(kept), len(secrets), len(inputs)), dtype=np.int64)
        counts[part, np.searchsorted(secrets, cells.secret[rows]), place] = cells.count[rows]
        return counts, self.chances[inputs]

    def _where_to_look(self, likely: Floats) -> Codes:
        """Return the k where most is to be found, of those that are tested."""
        most = max(1, min(_MOST_LOOKS, _MOST_BETS // (self.cells.secrets * self.chances.size)))
        sides = [np.where(self._tested, side, 0.0) for side in likely]
        best = [np.argsort(-side, kind="stable")[:most] for side in sides]
        return np.unique(
            np.concatenate([at[side[at] > 1] for at, side in zip(best, sides, strict=True)])
        )

    def at_least(self) -> tuple[LeakRange, LeakRange]:
        """Return lower bounds of both ratios, against the population first.

        All k that are tested share the error, also those where there is nothing to be found.
        """
        cells, (low, top), error = self.cells, self.released.ends(), self.error / 2
        found = [_NOTHING, _NOTHING]
        parts = int(self._tested.sum())
        beyond = self._where_to_look(self.likely_beyond)
        if len(beyond):
            counts, chances = self._table(beyond)
            found[1] = Bets(counts, chances, (low, top), parts=parts).at_least(error)
        against = self._where_to_look(self.likely)
        if len(against):
            counts, chances = self._table(against)
            everybody = cells.of_secret[cells.of_secret > 0]
            others = (everybody - counts.sum(axis=2))[:, :, None]
            counts = np.concatenate([counts, others], axis=2)
            chances = np.concatenate([chances, np.zeros_like(chances[:1])])
            found[0] = Bets(counts, chances, (0 * low, top), parts=parts).at_least(error)
        return found[0], found[1]

    def at_most(self) -> tuple[LeakRange, float]:
        """Return upper bounds beyond k, and the share of rows that have none.

        To be wrong, the bound of the k that tells most must be: the error is not shared.
        """
        limit = self.released.limit()
        if limit <= _MOST_NATS:
            always, unbounded = LeakRange(limit, limit), 0.0
        else:
            always, unbounded = _UNBOUNDED, 1.0
        most = max(1, _MOST_BETS // (self.cells.secrets * self.chances.size))
        kept = np.flatnonzero(self.bounded & self._tested)[:most]
        if not len(kept):
            return always, unbounded
        counts, chances = self._table(kept)
        bets = Bets(counts, chances, self.released.ends())
        if len(kept) == len(self.bounded):
            found = bets.at_most(ERROR_RATE)
            if max(found) < math.inf:
                return LeakRange(*(min(limit, side) for side in found)), 0.0
        if unbounded:
            rows = self.cells.of_kept[kept][bets.bounded(ERROR_RATE)].sum()
            unbounded = 1 - int(rows) / self.cells.rows
        return always, unbounded


# --- all of it ------------------------------------------------------------------------------------


@dataclass
class _Secret:
    """A secret: a column, or the values of one that is released."""

    name: str
    column: str | None
    own: int = 0
    """Of which mechanism it is the input, if it is no column."""
    part: int | None = None
    """Which part of that input, if it is one of several columns."""
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
        if self.part is not None:
            tuples: list[Any] = labels
            labels = [each[self.part] if isinstance(each, tuple) else each for each in tuples]
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
    watch: Progress = ignore_progress,
) -> tuple[list[RowLeak], list[str]]:
    """Measure what rows tell about each secret; say what was not looked at.

    `columns` go out randomised, and `kept` as they are: of each, how often values occur, in the
    first rows at least. Each kept column is looked at, all of them, and pairs as far as there is
    work left. If released columns have too many combinations, each is looked at by itself. All
    lower bounds hold at once, but for the error rate; each upper bound holds but for that rate.
    """
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
                "combinations of three or more kept columns, other than all of them together"
            )
    look = _Look(source, columns, kept, sets, pairs, rows, watch)
    try:
        leaks, more = look.measure(_Released(columns))
    except _TooManyTuples:
        names = [name for each in columns for name in ColumnRandomiser.of(each.mechanism).names]
        missed.append(
            f"{listed(names)} together beside kept columns: too many combinations of values; each "
            "is measured by itself"
        )
        leaks, more = [], []
        for each in columns:
            found_of, missed_of = look.measure(_Released([each]), len(columns))
            leaks += found_of
            more += missed_of
    return leaks, list(dict.fromkeys([*missed, *more]))


class _TooManyTuples(Exception):
    """Several released columns have more combinations of values than are looked at."""


@dataclass(frozen=True)
class _Look:
    """What is to be looked at in a table."""

    source: TableSource
    columns: Sequence[ProtectedColumn]
    kept: Mapping[str, Mapping[Any, int]]
    sets: Sequence[tuple[str, ...]]
    pairs: Sequence[tuple[str, ...]]
    rows: int
    watch: Progress

    def measure(self, released: _Released, groups: int = 1) -> tuple[list[RowLeak], list[str]]:
        """Measure what these columns tell beside kept ones, one of so many groups of columns."""
        secrets = _secrets(self.source, released, self.columns)
        looks = self._count(released, secrets)
        many = len(secrets) * groups * (2 if self.pairs else 1)
        shares = [ERROR_RATE / many / len(self.sets)] * len(self.sets)
        shares += [ERROR_RATE / many / max(len(self.pairs), 1)] * len(self.pairs)
        found: list[RowLeak] = []
        missed: list[str] = []
        for at, (look, share) in enumerate(zip(looks, shares, strict=True)):
            self.watch(Step("measuring what rows tell", at, len(looks)))
            for secret, tally in zip(secrets, look.tallies, strict=True):
                if tally.closed:
                    names = listed([reader.name for reader in look.readers])
                    missed.append(
                        f"{names} beside {listed(released.released)}: more than {MOST_CELLS:,} "
                        "combinations of values"
                    )
                    continue
                measure = _RowMeasure(_Cells.of(tally, secret.pairs), released, share)
                found.append(_row_leak(measure, look, secret))
                if measure.cells.rows < self.rows:
                    missed.append(
                        f"rows that were not among the {measure.cells.rows:,} in which kept "
                        "columns are looked at"
                    )
        return found, missed

    def _count(self, released: _Released, secrets: Sequence[_Secret]) -> list[_KeptSet]:
        """Count all sets of kept columns in one pass."""
        if len(released.columns) > 1 and (
            released.outputs_in_all > MOST_OUTPUTS or released.inputs_in_all >= _MOST_INPUTS
        ):
            raise _TooManyTuples
        readers = {name: _KeptReader(name, band_edges(sizes)) for name, sizes in self.kept.items()}
        looks = [
            _KeptSet(tuple(readers[name] for name in names), [_Tally() for _ in secrets])
            for names in (*self.sets, *self.pairs)
        ]
        wanted = {*readers, *released.needs, *(each.column for each in secrets)}
        names = [name for name in self.source.columns if name in wanted]
        for piece in as_written(self.source).batches(names, self.watch):
            with cell_errors_in(self.source, piece):
                inputs = released.inputs(piece.batch)
            codes = released.codes(inputs)
            if len(released.columns) > 1 and len(released.names) > MOST_TUPLES:
                raise _TooManyTuples
            hidden = [each.codes(piece.batch, inputs, released.channels) for each in secrets]
            told = [
                each.pairs.of_keys((secret << _BITS) | codes)
                for each, secret in zip(secrets, hidden, strict=True)
            ]
            cells = {name: reader.codes(piece.batch) for name, reader in readers.items()}
            for look in looks:
                look.add(cells, told)
        return looks


def _secrets(
    source: TableSource, released: _Released, columns: Sequence[ProtectedColumn]
) -> list[_Secret]:
    """Return what must not be inferred: the secrets of all columns, and own values of these."""
    told = dict.fromkeys(name for each in columns for name in _hidden(each) if name is not None)
    found = [_Secret(name, name) for name in told if name in source.columns]
    for at, (each, channel) in enumerate(zip(released.columns, released.channels, strict=True)):
        if None not in _hidden(each) or each.name in told:
            continue
        found.append(_Secret(each.name, None, at))
        if len(channel.worker.names) > 1:
            names = enumerate(channel.worker.names)
            found += [_Secret(str(name), None, at, part) for part, name in names]
    return found


def _hidden(column: ProtectedColumn) -> set[str | None]:
    """Return the secrets that a column promises something about; None is its own value."""
    first, *others = column.mechanism.guarantees
    return {column.secret if first.about is None else first.about} | {each.about for each in others}


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
