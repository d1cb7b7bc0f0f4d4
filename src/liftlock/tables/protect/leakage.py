"""What released columns leak: together, and in the table itself."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress
from liftlock.accounting.account import account
from liftlock.errors import LiftlockError
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Joint, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.columns import KEPT, MISSING_LABEL
from liftlock.model.conditional import REST
from liftlock.model.prior import sort_labels
from liftlock.notions.lift import extreme_lifts
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.protect.count import count_tuples
from liftlock.tables.protect.result import (
    CombinedLeak,
    EmpiricalLeakage,
    ProtectedColumn,
)
from liftlock.tables.randomiser import ColumnRandomiser
from liftlock.transfer.bets import Bets

MOST_TUPLES = 5_000
"""More combinations of values than this are not accounted for exactly."""

Secrets = str | None | Sequence[str | None]
"""The secret of a column, or several; None is the value of the column itself."""


@dataclass(frozen=True)
class CountedTuples:
    """How often the inputs of several mechanisms occur together, and with each secret.

    Given a row, the columns are randomised independently, so what they leak together is what the
    product channel leaks on tuples of inputs.
    """

    names: tuple[str, ...]
    inputs: tuple[Alphabet, ...]
    """The inputs of each mechanism, by whose places tuples are counted."""
    tallies: Mapping[str, Counter[tuple[Any, ...]]]
    """For each secret: how often it occurs with each tuple."""
    own: tuple[int, ...]
    """The columns that are protected themselves."""
    tuples: Counter[tuple[int, ...]]
    missed: tuple[str, ...] = ()
    """Why the joint leakage is not known, about all of them or some."""

    @classmethod
    def of(
        cls,
        source: TableSource,
        names: Sequence[str],
        mechanisms: Sequence[Mechanism],
        secrets: Sequence[Secrets],
        watch: Progress | None = None,
    ) -> CountedTuples:
        """Count a table for the secrets of each column; None is the value of the column itself."""
        columns = [
            ColumnRandomiser(each, None, (name,))
            for each, name in zip(mechanisms, names, strict=True)
        ]
        inputs = tuple(each.channel.inputs for each in mechanisms)
        lists = [(some,) if some is None or isinstance(some, str) else some for some in secrets]
        named = dict.fromkeys(each for some in lists for each in some if each is not None)
        told = sorted(each for each in named if each in source.columns)
        own = tuple(at for at, some in enumerate(lists) if None in some)
        tallies: list[Counter[tuple[Any, ...]]] = [Counter() for _ in told]
        tuples: Counter[tuple[int, ...]] = Counter()
        wanted = {name for column in columns for name in column.needs} | {*told}
        for piece in source.batches([name for name in source.columns if name in wanted], watch):
            with cell_errors_in(source, piece):
                codes = [
                    column.inputs([piece.batch.column(name) for name in column.needs])
                    for column in columns
                ]
            count_tuples(piece, codes, told, tallies)
            if own:
                count_tuples(piece, codes, [None], [tuples])
            if max((len(tally) for tally in (*tallies, tuples)), default=0) > MOST_TUPLES:
                many = f"more than {MOST_TUPLES:,} combinations of values"
                missed = f"{many}: the joint leakage of the columns was not accounted for"
                return cls(tuple(names), inputs, {}, (), Counter(), (missed,))
        unknown = tuple(
            f"the table has no column {secret!r}: the joint leakage about it is unknown"
            for secret in named
            if secret not in told
        )
        by_secret = dict(zip(told, tallies, strict=True))
        return cls(tuple(names), inputs, by_secret, own, tuples, unknown)

    def leaks(self, mechanisms: Sequence[Mechanism]) -> tuple[list[CombinedLeak], list[str]]:
        """Account for these mechanisms under each secret; say which could not be accounted for."""
        found: list[CombinedLeak] = []
        missed = list(self.missed)
        tallies = list(self.tallies.items())
        for at in self.own:
            labels = [*mechanisms[at].input_values, MISSING_LABEL]
            named: Counter[tuple[Any, ...]] = Counter()
            for key, count in self.tuples.items():
                named[labels[key[1 + at]], *key[1:]] += count
            tallies.append((self.names[at], named))
        for secret, tally in tallies:
            try:
                joint, channels = product_context(mechanisms, tally)
                found.append(CombinedLeak(secret, self.names, account(channels, joint)))
            except LiftlockError as error:
                missed.append(f"joint leakage about {secret!r}: not accounted for ({error})")
        return found, missed


def combined_leaks(
    source: TableSource,
    released: Sequence[ProtectedColumn],
    secrets: Sequence[Secrets],
    watch: Progress | None = None,
) -> tuple[list[CombinedLeak], list[str]]:
    """Account for all released columns under each secret; say which could not be accounted for."""
    if len(released) < 2:
        return [], []
    mechanisms = [each.mechanism for each in released]
    names = [each.name for each in released]
    return CountedTuples.of(source, names, mechanisms, secrets, watch).leaks(mechanisms)


def product_context(
    mechanisms: Sequence[Mechanism], tally: Counter[tuple[Any, ...]]
) -> tuple[Joint, list[Table]]:
    """Return the joint of a secret and tuples of inputs, and each channel as one on tuples.

    Keys of the tally are the secret, then the input of each mechanism by its place; `KEPT` is a
    cell that comes out missing.
    """
    keys = sorted({key[1:] for key in tally})
    inputs = Alphabet.of(keys)
    secrets = Alphabet.of(sort_labels({key[0] for key in tally}))
    rows = [[tally.get((secret, *key), 0) for key in keys] for secret in secrets.labels]
    channels = []
    for at, mechanism in enumerate(mechanisms):
        table = mechanism.table
        places = [key[at] for key in keys]
        labels: list[Label] = list(table.outputs.labels)
        weights = table.weights[np.maximum(places, 0)]
        if KEPT in places:
            gone = np.array(places) == KEPT
            weights = np.concatenate([weights, np.zeros_like(weights[:, :1])], axis=1)
            weights[gone] = 0
            weights[gone, -1] = 1 << table.bits
            labels.append(("kept", MISSING_LABEL))
        channels.append(Table.of(inputs, Alphabet.of(labels), weights, bits=table.bits))
    return Joint.from_rows(secrets, inputs, rows), channels


_FEWEST = 2


def empirical_leakage(
    source: TableSource,
    made: Mechanism,
    secret: str | None,
    watch: Progress | None = None,
) -> EmpiricalLeakage | None:
    """Count the table by the mechanism's own inputs, and measure exactly what it leaks there.

    None if the secret is not in the table, or always the same.
    """
    if secret is not None and secret not in source.columns:
        return None
    tally: Counter[tuple[Any, ...]] = Counter()
    mapped = 0
    work = ColumnRandomiser.of(made)
    names = [name for name in source.columns if name in (*work.needs, secret)]
    for piece in source.batches(names, watch):
        cells = [piece.batch.column(name) for name in work.needs]
        with cell_errors_in(source, piece):
            codes = work.inputs(cells)
            mapped += work.count_unseen(cells)
        count_tuples(piece, [codes], [secret], [tally])
    counts = {(told, code): number for (told, code), number in tally.items() if code >= 0}
    places = sorted({code for _, code in counts})
    if len(places) < _FEWEST:
        return EmpiricalLeakage(0.0, 0.0, True, mapped)
    labels = [made.table.inputs.labels[place] for place in places]
    channel = made.table.restrict(labels)
    context: Prior | Joint | Conditional
    rows: list[list[int]] | None = None
    if isinstance(made.context, Conditional) and made.uses_given:
        named = Counter(
            {(told, made.table.inputs.labels[at]): n for (told, at), n in counts.items()}
        )
        context = conditional_of_counts(made.context, named)
        channel = made.table.restrict(context.pairs.labels)
    elif secret is None:
        context = Prior(Alphabet.of(labels), tuple(counts[None, place] for place in places))
        rows = np.diag([counts[None, place] for place in places]).tolist()
    else:
        told = sort_labels({label for label, _ in counts})
        rows = [[counts.get((label, place), 0) for place in places] for label in told]
        context = Joint.from_rows(Alphabet.of(told), Alphabet.of(labels), rows)
    found = extreme_lifts(channel, context)
    least, most = found.smallest.lift, found.largest.lift
    holds = made.notion.certify(channel, context, impossible="ignore").holds
    lower = math.inf if not least else -math.log(least)
    upper = math.inf if most is None else math.log(most)
    certain = None if holds or rows is None else Bets(np.array(rows), channel.floats()).at_least()
    return EmpiricalLeakage(max(lower, 0.0), upper, holds, mapped, certain)


def conditional_of_counts(
    context: Conditional, counts: Mapping[tuple[Label, Label], int]
) -> Conditional:
    """Return what the table says given each listed value; of the rest LDP speaks."""
    pairs = dict(zip(context.pairs.labels, context.pair_list, strict=True))
    cells: dict[Label, Counter[tuple[Label, Label]]] = {}
    for (told, pair), rows in counts.items():
        group, x = pairs[pair]
        if rows and not (context.rest and group == REST):
            cells.setdefault(group, Counter())[told, x] += rows
    known: dict[Label, Joint | Prior] = {}
    for group, own in cells.items():
        values = Alphabet.of(x for x in context.values.labels if any(v == x for _, v in own))
        secrets = sort_labels({s for s, _ in own})
        rows_of = [[own[s, x] for x in values.labels] for s in secrets]
        known[group] = (
            Prior(values, tuple(rows_of[0]))
            if context.hidden is None
            else Joint.from_rows(Alphabet.of(secrets), values, rows_of)
        )
    return Conditional.of(known, groups={group: group for group in known})
