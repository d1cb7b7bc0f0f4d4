"""What a mechanism leaks in the table that is about to be released, beside what was promised.

A promise speaks of one joint of secrets and values, or of one prior. The joint of another table may
have moved. It is counted, and what the mechanism leaks there is computed exactly. It differs from
the promise by chance alone, too: whether it is more than that is decided by bets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError, LiftlockError, NotCertified
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model import AnyUserPrior, Conditional, Joint, Prior, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.columns import KEPT, MISSING_LABEL
from liftlock.model.prior import sort_labels
from liftlock.model.structured import AnyChannel, SupportChannel
from liftlock.notions.certificate import Certificate
from liftlock.notions.guarantee import Guarantee
from liftlock.notions.lift import LeakRange, LiftRange, extreme_lifts
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.kept import hides_another, label_of_cell, labels_by_spelling
from liftlock.tables.people import count_people
from liftlock.tables.per_user import PerUserRandomiser
from liftlock.tables.protect.count import MOST_VALUES, group_rows, to_countable
from liftlock.tables.protect.leakage import conditional_of_counts
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
        else:
            wanted.append((each, column))
    told = tuple(dict.fromkeys(column for _, column in wanted))
    count = _Count(worker, told)
    rule = mechanism.person
    if rule is not None and rule.mode == "repeat" and told:
        # The rows of a person have one report in common: what they tell, they tell together.
        names = [name for name in (*map(str, worker.names), *told) if name is not None]
        numeric = {str(code.name): code.spelled for code in worker.codes if code.numeric}
        source = count_people(source, rule.column, names, numeric, watch).source()
    count.add_all(source, watch)
    leaks, empty = [], False
    for each, column in wanted:
        if column in count.closed:
            unchecked.append(f"{column!r} has more than {MOST_VALUES:,} values: not counted")
            continue
        if not any(code != KEPT for _, code in count.tallies[column]):
            empty = True
            continue
        try:
            leaks.append(_measure(mechanism, each, column, count))
        except LiftlockError as error:
            unchecked.append(f"{each.text}: not measured in this table ({error})")
    return TonightsLeaks(tuple(leaks), tuple(dict.fromkeys(unchecked)), empty)


def _which(promised: Guarantee) -> str:
    name = "" if promised.about is None else f" {promised.about!r}"
    return f"what the secret{name} of each row is"


@dataclass
class _Count:
    """How often each pair of a secret and an input occurs, for each column of secrets."""

    worker: ColumnRandomiser
    columns: tuple[str | None, ...]
    tallies: dict[str | None, Counter[tuple[Any, int]]] = field(default_factory=dict)
    closed: set[str | None] = field(default_factory=set)
    """Columns of too many values."""
    mapped: int = 0

    def add_all(self, source: TableSource, watch: Progress | None) -> None:
        self.tallies = {column: Counter() for column in self.columns}
        if not self.columns:
            return
        needs = [str(name) for name in self.worker.needs]
        names = [name for name in source.columns if name in {*needs, *self.columns}]
        for piece in source.batches(names, watch):
            cells = [piece.batch.column(name) for name in needs]
            with cell_errors_in(source, piece):
                codes = self.worker.inputs(cells)
                self.mapped += self.worker.count_unseen(cells)
            for column, tally in self.tallies.items():
                if column in self.closed:
                    continue
                told = codes if column is None else piece.batch.column(column)
                self._add(column, tally, told, codes)

    def _add(self, column: str | None, tally: Counter[Any], told: Any, codes: Any) -> None:
        import pyarrow as pa

        known = pa.array(codes) if column is None else to_countable(told, column)
        for (secret, code), number in group_rows([known, pa.array(codes)]):
            tally[secret, code] += number
        if column is not None and len({secret for secret, _ in tally}) > MOST_VALUES:
            self.closed.add(column)
            tally.clear()


def _measure(
    mechanism: Mechanism, promised: Guarantee, column: str | None, count: _Count
) -> TableLeak:
    tally = count.tallies[column]
    missing = sum(number for (_, code), number in tally.items() if code == KEPT)
    codes = {code for _, code in tally}
    if column is None:
        codes.discard(KEPT)
    channel, places = _channel_of(mechanism, codes)
    inputs, seen = channel.inputs, cast("AnyChannel", channel)
    context: Prior | Joint | Conditional
    counts: npt.NDArray[np.int64] | None = None
    unknown: dict[Label, int] = {}
    if column is None and mechanism.uses_given:
        # A value is the secret, whatever it stands beside.
        values = mechanism.input_values
        cells = Counter[tuple[Label, int]]()
        for (_, code), number in tally.items():
            if code != KEPT:
                cells[values[code], code] += number
        context, counts = _joint_of(cells, inputs, places)
    elif column is None:
        numbers = Counter[int]()
        for (_, code), number in tally.items():
            numbers[code] += number
        context = Prior(inputs, tuple(numbers[place] for place in places))
        counts = np.diag([numbers[place] for place in places]).astype(np.int64)
    else:
        known = labels_by_spelling(promised.context.secrets)
        cells = Counter()
        for (told, code), number in tally.items():
            secret, is_known = label_of_cell(told, known)
            cells[secret, code] += number
            if not is_known:
                unknown[secret] = unknown.get(secret, 0) + number
        context, counts = _joint_of(cells, inputs, places)
    if isinstance(promised.context, Conditional) and mechanism.uses_given:
        labels = mechanism.table.inputs.labels
        by_pair = Counter({(secret, labels[code]): n for (secret, code), n in cells.items()})
        context, counts = conditional_of_counts(promised.context, by_pair), None
        seen = mechanism.table.restrict(context.pairs.labels)
    notion = promised.notion
    certificate = notion.certify(seen, context, impossible="ignore")
    more, at_least = None, None
    if not certificate.holds and counts is not None:
        more, at_least = _test_chance(promised, channel, counts)
    return TableLeak(
        promised,
        column,
        sum(tally.values()),
        certificate,
        extreme_lifts(seen, context),
        "" if certificate.holds else notion.say_smallest(seen, context),
        more,
        at_least,
        unknown,
        missing,
        count.mapped,
    )


def _joint_of(
    cells: Counter[tuple[Label, int]], inputs: Alphabet, places: list[int]
) -> tuple[Joint, npt.NDArray[np.int64]]:
    labels = sort_labels({secret for secret, _ in cells})
    rows = [[cells[secret, place] for place in places] for secret in labels]
    return Joint.from_rows(Alphabet.of(labels), inputs, rows), np.array(rows)


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
    promised: Guarantee, channel: Table | SupportChannel, counts: npt.NDArray[np.int64]
) -> tuple[bool | None, LeakRange | None]:
    """Tell whether a population in which the promise is kept would hardly give such a table."""
    limits = promised.notion.lift_limits()
    if limits is None or not isinstance(channel, Table):
        return None, None
    if counts.size * len(channel.outputs) > _MOST_BETS:
        return None, None
    chances: Floats = channel.weights.astype(np.float64) / 2.0**channel.bits
    bets = Bets(counts, chances)
    lower, upper = (None if limit is None else float(limit) for limit in limits)
    return bets.alarm(lower, upper, ERROR_RATE), bets.at_least(ERROR_RATE)
