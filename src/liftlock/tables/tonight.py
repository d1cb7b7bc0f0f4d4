"""What a mechanism leaks in the table that is about to be released, beside what was promised.

A promise speaks of one joint of secrets and values, or of one prior. The joint of another table may
have moved. It is counted, and what the mechanism leaks there is computed exactly. It differs from
the promise by chance alone, too: whether it is more than that is decided by bets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError, LiftlockError, NotCertified
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model import AnyUserPrior, Conditional, Joint, Prior, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.columns import KEPT, MISSING_LABEL, GivenEncoding
from liftlock.model.conditional import REST
from liftlock.model.prior import sort_labels
from liftlock.model.structured import SupportChannel
from liftlock.notions.certificate import Certificate
from liftlock.notions.guarantee import Guarantee
from liftlock.notions.lift import LeakRange, LiftRange, extreme_lifts
from liftlock.tables.cells import CellEncoder
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.kept import hides_another, label_of_cell, labels_by_spelling
from liftlock.tables.people import count_people
from liftlock.tables.per_user import PerUserRandomiser
from liftlock.tables.protect.count import MOST_VALUES, group_rows, to_countable
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.transfer.bets import ERROR_RATE, Bets

_MOST_BETS = 50_000_000
"""So many (secret, input, output) are tested against chance."""

_KEPT_LABEL = ("kept", MISSING_LABEL)


@dataclass(frozen=True)
class TableLeak:
    """What a mechanism leaks in one table, where it is to keep one guarantee."""

    promised: Guarantee
    secret: str | None
    """The column of the secret; None if it is the value itself."""
    given: tuple[str, ...]
    """The columns beside which it is promised, for each of their values."""
    rows: int
    certificate: Certificate
    """The same guarantee under the table's own joint: kept, or refused."""
    lifts: LiftRange
    smallest: str
    """The smallest budget that is kept there; empty if none is."""
    more_than_chance: bool | None = None
    """Whether chance explains that more is leaked than promised: None if that was not tested."""
    at_least: LeakRange | None = None
    """What is leaked at least in the population that the rows are drawn from."""
    unknown: Mapping[Label, int] = field(default_factory=dict)
    """Secrets that the promise does not know, and how many rows each has."""
    missing: int = 0
    """How many cells stay missing: beside a secret they are a value of their own, else outside."""
    mapped: int = 0
    """How many cells have a value that is not known, and become another."""

    @property
    def holds(self) -> bool:
        """Whether the promise is kept in this table."""
        return self.certificate.holds

    def refusal(self) -> NotCertified:
        """Return the error that says what is not kept."""
        remark = (
            f"in this table of {self.rows:,} rows, {self.describe_chance()}; nothing was released"
        )
        return NotCertified(self.certificate, self.smallest, self.promised.about or "", remark)

    def describe_chance(self) -> str:
        """Say whether chance explains that more is leaked than promised."""
        if self.more_than_chance is None or self.at_least is None:
            return "whether chance explains it was not tested"
        rate = f"error rate {100 * ERROR_RATE:g} %"
        if not self.more_than_chance:
            return f"no more than chance explains ({rate})"
        lower, upper = self.at_least
        return (
            "more than chance explains: of the people the rows were drawn from, beliefs fall by at "
            f"least {lower:g} and rise by at least {upper:g} nats ({rate})"
        )


@dataclass(frozen=True)
class TonightsLeaks:
    """All that a mechanism leaks in the table to be released, by itself."""

    leaks: tuple[TableLeak, ...]
    unchecked: tuple[str, ...] = ()
    """What could not be measured, and why."""
    empty: bool = False
    """Whether there is no value that anything could be told about."""

    def require_kept(self) -> None:
        """Refuse a table in which a promise is not kept, or in which that cannot be measured."""
        for leak in self.leaks:
            if not leak.holds:
                raise leak.refusal()
        if self.unchecked or not (self.leaks or self.empty):
            raise InputError(
                "what the mechanism leaks in this table cannot be checked",
                value="; ".join(self.unchecked) or None,
                remedy="leave out --check (check= in Python)",
            )


def measure_table(
    source: TableSource,
    worker: ColumnRandomiser | PerUserRandomiser,
    secrets: Sequence[str | None],
    watch: Progress | None = None,
) -> TonightsLeaks:
    """Count the joint of a table in one pass, and measure what the mechanism leaks there.

    `secrets` are the columns of the secrets that are not the value itself, in the order of the
    guarantees; None is one that is not in the table.
    """
    mechanism = worker.mechanism
    if isinstance(worker, PerUserRandomiser) or isinstance(
        mechanism.context, ProfileGraph | AnyUserPrior
    ):
        return TonightsLeaks(())
    beside = _Given.of(mechanism)
    columns = iter(secrets)
    wanted: list[tuple[Guarantee, str | None]] = []
    unchecked: list[str] = []
    for each in mechanism.guarantees:
        hides = hides_another(mechanism, each)
        column = next(columns, None) if hides else None
        if hides and column is None:
            unchecked.append(
                f"the table does not say {_which(each)}: whether its joint is still that of the "
                "promise was not checked"
            )
        elif isinstance(each.context, Conditional) and not beside.is_there(source):
            unchecked.append(f"{each.text}: not measured, the table does not say what is given")
        else:
            wanted.append((each, column))
    told = tuple(dict.fromkeys(column for _, column in wanted))
    if not beside.is_there(source):
        beside = _Given()
    rule = mechanism.person
    if rule is not None and rule.mode == "repeat" and told:
        # The rows of a person have one report in common: what they tell, they tell together.
        worker = ColumnRandomiser(mechanism, worker.unseen, worker.names)
        names = [str(name) for name in (*worker.needs, *told, *beside.names) if name is not None]
        numeric = {str(code.name): code.spelled for code in worker.codes if code.numeric}
        people = count_people(source, rule.column, list(dict.fromkeys(names)), numeric, watch)
        source = people.source()
    count = _Count(worker, told, beside)
    count.add_all(source, watch)
    leaks: list[TableLeak] = []
    empty = False
    for each, column in wanted:
        if column in count.closed:
            unchecked.append(f"{column!r} has more than {MOST_VALUES:,} values: not counted")
            continue
        try:
            leak = _measure(mechanism, each, column, count)
        except LiftlockError as error:
            unchecked.append(f"{each.text}: not measured in this table ({error})")
            continue
        empty |= leak is None
        leaks += [] if leak is None else [leak]
    return TonightsLeaks(tuple(leaks), tuple(dict.fromkeys(unchecked)), empty)


def _which(promised: Guarantee) -> str:
    name = "" if promised.about is None else f" {promised.about!r}"
    return f"what the secret{name} of each row is"


@dataclass(frozen=True)
class _Given:
    """Reads the given columns of a mechanism, whether it uses them or not."""

    rules: GivenEncoding | None = None

    @classmethod
    def of(cls, mechanism: Mechanism) -> _Given:
        return cls(None if mechanism.encoding is None else mechanism.encoding.given)

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.rules is None else self.rules.names

    def is_there(self, source: TableSource) -> bool:
        return bool(self.names) and all(name in source.columns for name in self.names)

    @cached_property
    def _cells(self) -> list[CellEncoder]:
        if self.rules is None:
            return []
        codes = [replace(code, unseen="map") for code in self.rules.columns]
        return [CellEncoder(code, part) for code, part in zip(codes, self.rules.parts, strict=True)]

    def keys(self, batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
        """Return a number for the given cells of each row."""
        keys = np.zeros(batch.num_rows, dtype=np.int64)
        for name, read in zip(self.names, self._cells, strict=True):
            keys = keys * len(read.inputs) + read.codes(batch.column(name))
        return keys

    def label(self, key: int) -> Label:
        """Return the given value that a number stands for."""
        labels: list[Label] = []
        for read in reversed(self._cells):
            key, place = divmod(key, len(read.inputs))
            labels.append(read.inputs.labels[place])
        return labels[0] if len(labels) == 1 else tuple(reversed(labels))


@dataclass
class _Count:
    """How often a secret, an input and a given value occur together, for each column of secrets."""

    worker: ColumnRandomiser
    columns: tuple[str | None, ...]
    beside: _Given
    tallies: dict[str | None, Counter[tuple[Any, int, int]]] = field(default_factory=dict)
    closed: set[str | None] = field(default_factory=set)
    """Columns of too many values."""
    mapped: int = 0

    def add_all(self, source: TableSource, watch: Progress | None) -> None:
        self.tallies = {column: Counter() for column in self.columns}
        if not self.columns:
            return
        needs = [str(name) for name in self.worker.needs]
        wanted = {*needs, *self.columns, *self.beside.names}
        for piece in source.batches([name for name in source.columns if name in wanted], watch):
            cells = [piece.batch.column(name) for name in needs]
            with cell_errors_in(source, piece):
                codes = self.worker.inputs(cells)
                self.mapped += self.worker.count_unseen(cells)
                keys = self.beside.keys(piece.batch)
            for column, tally in self.tallies.items():
                if column not in self.closed:
                    told = None if column is None else piece.batch.column(column)
                    self._add(column, tally, told, codes, keys)

    def _add(
        self,
        column: str | None,
        tally: Counter[tuple[Any, int, int]],
        told: pa.Array | None,
        codes: npt.NDArray[Any],
        keys: npt.NDArray[np.int64],
    ) -> None:
        known = pa.array(codes) if column is None else to_countable(told, column)
        for (secret, code, key), number in group_rows([known, pa.array(codes), pa.array(keys)]):
            tally[secret, code, key] += number
        if column is not None and len({secret for secret, _, _ in tally}) > MOST_VALUES:
            self.closed.add(column)
            tally.clear()


Cells = Counter[tuple[Any, int]]
"""How often each secret occurs with each input."""


def _measure(
    mechanism: Mechanism, promised: Guarantee, column: str | None, count: _Count
) -> TableLeak | None:
    """Measure what is leaked about one secret, for each value of what is given; None: nothing."""
    groups: dict[int, Cells] = {}
    unknown: dict[Label, int] = {}
    missing = rows = 0
    given = isinstance(promised.context, Conditional)
    known = labels_by_spelling(promised.context.secrets)
    for (told, code, key), number in count.tallies[column].items():
        rows += number
        missing += number * (code == KEPT)
        if column is None and code == KEPT:
            continue
        # A value is the secret, whatever it stands beside.
        secret: Label = mechanism.input_values[code] if column is None else told
        if column is not None:
            secret, is_known = label_of_cell(told, known)
            if not is_known:
                unknown[secret] = unknown.get(secret, 0) + number
        groups.setdefault(key if given else 0, Counter())[secret, code] += number
    if given:
        groups = {key: cells for key, cells in groups.items() if _is_listed(promised, count, key)}
    if not groups:
        return None
    parts = {
        count.beside.label(key) if given else None: _Part.of(
            mechanism, cells, of_values=column is None
        )
        for key, cells in sorted(groups.items())
    }
    channel, context = _side_by_side(parts) if given else (parts[None].channel, parts[None].context)
    notion = promised.notion
    certificate = notion.certify(channel, context, impossible="ignore")
    more, at_least = None, None
    if not certificate.holds:
        more, at_least = _test_chance(mechanism, promised, list(parts.values()))
    return TableLeak(
        promised,
        column,
        count.beside.names if given else (),
        rows,
        certificate,
        extreme_lifts(channel, context),
        "" if certificate.holds else notion.say_smallest(channel, context),
        more,
        at_least,
        unknown,
        missing,
        count.mapped,
    )


def _is_listed(promised: Guarantee, count: _Count, key: int) -> bool:
    """Tell whether the promise rests on what is known of a given value: of the rest LDP speaks."""
    context = promised.context
    assert isinstance(context, Conditional)
    label = count.beside.label(key)
    return not context.rest or (label in context.given and label != REST)


@dataclass(frozen=True)
class _Part:
    """Some rows of the table, and the channel for the values that they have."""

    secrets: tuple[Label, ...]
    channel: Table | SupportChannel
    values: tuple[Label, ...]
    """What the inputs of the channel are, whatever they stand beside."""
    counts: npt.NDArray[np.int64]
    """How many rows have each secret and input."""
    of_values: bool
    """Whether the value itself is the secret."""

    @classmethod
    def of(cls, mechanism: Mechanism, cells: Cells, *, of_values: bool) -> _Part:
        channel, codes = _channel_of(mechanism, {code for _, code in cells})
        named = mechanism.input_values
        values = tuple(_KEPT_LABEL if code == KEPT else named[code] for code in codes)
        # The same value beside two given ones is two inputs of one secret.
        of_values = of_values and len(set(values)) == len(values)
        secrets = values if of_values else tuple(sort_labels({secret for secret, _ in cells}))
        counts = [[cells[secret, code] for code in codes] for secret in secrets]
        return cls(secrets, channel, values, np.array(counts, dtype=np.int64), of_values)

    @property
    def context(self) -> Prior | Joint:
        """The joint of secrets and inputs; of a value that is the secret its prior."""
        return self.known(self.channel.inputs)

    def known(self, inputs: Alphabet) -> Prior | Joint:
        """Return the joint of these rows, with inputs under other names."""
        if self.of_values:
            return Prior(inputs, tuple(self.counts.sum(axis=0).tolist()))
        return Joint.from_rows(Alphabet.of(self.secrets), inputs, self.counts.tolist())


def _side_by_side(parts: Mapping[Label, _Part]) -> tuple[Table, Conditional]:
    """Return one channel on pairs (given value, value), and what is known given each."""
    known = {k: part.known(Alphabet.of(part.values)) for k, part in parts.items()}
    context = Conditional.of(known, groups={k: k for k in known})
    rows: dict[tuple[Label, Label], npt.NDArray[Any]] = {}
    tables = {k: part.channel for k, part in parts.items() if isinstance(part.channel, Table)}
    # Where a cell stays missing, its table has one output more than others.
    outputs = max((table.outputs for table in tables.values()), key=len)
    for k, table in tables.items():
        wide = np.pad(table.weights, ((0, 0), (0, len(outputs) - len(table.outputs))))
        rows |= {(k, x): row for x, row in zip(parts[k].values, wide, strict=True)}
    weights = np.array([rows[pair] for pair in context.pair_list])
    bits = next(iter(tables.values())).bits
    return Table.of(context.pairs, outputs, weights, bits=bits), context


def _channel_of(mechanism: Mechanism, codes: set[int]) -> tuple[Table | SupportChannel, list[int]]:
    """Return the channel for the inputs that occur, and the code of each of its inputs.

    A cell that stays missing is an input, and an output, of its own.
    """
    channel = mechanism.channel
    if isinstance(channel, SupportChannel):
        return channel, list(range(len(channel.inputs)))
    table = mechanism.table
    places = sorted(codes - {KEPT})
    inputs = [table.inputs.labels[place] for place in places]
    outputs, weights = list(table.outputs.labels), table.weights[places]
    if KEPT in codes:
        weights = np.pad(weights, ((0, 1), (0, 1)))
        weights[-1, -1] = 1 << table.bits
        inputs, outputs, places = [*inputs, _KEPT_LABEL], [*outputs, _KEPT_LABEL], [*places, KEPT]
    made = Table.of(Alphabet.of(inputs), Alphabet.of(outputs), weights, bits=table.bits)
    return made, places


def _test_chance(
    mechanism: Mechanism, promised: Guarantee, parts: Sequence[_Part]
) -> tuple[bool | None, LeakRange | None]:
    """Tell whether a population in which the promise is kept would hardly give such a table.

    The rows of each given value are draws of their own, and have an equal share of the error.
    """
    limits = promised.notion.lift_limits()
    tables = [(part.counts, part.channel) for part in parts if isinstance(part.channel, Table)]
    size = sum(counts.size * len(table.outputs) for counts, table in tables)
    if limits is None or len(tables) < len(parts) or size > _MOST_BETS:
        return None, None
    lower, upper = (None if limit is None else float(limit) for limit in limits)
    alarm, least = False, LeakRange(0.0, 0.0)
    for counts, table in tables:
        chances: Floats = table.weights.astype(np.float64) / 2.0**table.bits
        bets = Bets(counts, chances, _ends(mechanism, table))
        alarm = bets.alarm(lower, upper, ERROR_RATE / len(tables)) or alarm
        own = bets.at_least(ERROR_RATE / len(tables))
        least = LeakRange(max(least.eps_lower, own.eps_lower), max(least.eps_upper, own.eps_upper))
    return alarm, least


def _ends(mechanism: Mechanism, table: Table) -> tuple[Floats, Floats]:
    """Return the smallest and the largest chance of each output, for values without rows too.

    The population may have them: what is only rare must not pass for more than was promised.
    """
    every: Floats = mechanism.table.weights.astype(np.float64) / 2.0**mechanism.table.bits
    low, high = every.min(axis=0), every.max(axis=0)
    if mechanism.encoding is not None and mechanism.encoding.columns[0].keeps_missing:
        low = np.zeros_like(low)
    kept = len(table.outputs) - len(low)
    return np.pad(low, (0, kept)), np.pad(high, (0, kept), constant_values=1.0)
