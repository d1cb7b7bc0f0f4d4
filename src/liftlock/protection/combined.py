"""What several released columns tell together about one secret: more than each alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from liftlock.accounting.account import account
from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Table
from liftlock.column_code import KEPT, MISSING_LABEL
from liftlock.contexts import Joint
from liftlock.contexts.prior import sorted_labels
from liftlock.errors import LiftlockError
from liftlock.frames.arrow_column import ArrowColumn
from liftlock.frames.table_file import Piece
from liftlock.mechanism import Mechanism
from liftlock.progress import Progress
from liftlock.protection.learning import Source, countable, grouped, placed
from liftlock.protection.result import CombinedLeak
from liftlock.protection.rules import secret_label

MOST_TUPLES = 5_000
"""More combinations of values than this are not accounted for exactly."""


@dataclass(frozen=True)
class Released:
    """A column and the mechanism that releases it."""

    name: str
    mechanism: Mechanism


def combined_leaks(
    source: Source,
    released: Sequence[Released],
    secrets: Sequence[str | None],
    watch: Progress | None = None,
) -> tuple[list[CombinedLeak], list[str]]:
    """Account for all released columns under each secret; say which could not be accounted for.

    The secret None is the value of the column itself, one for each such column. The joint of a
    secret and all columns is counted in the table; given a row, the columns are randomised
    independently, so their leakage is that of a product channel on tuples of values.
    """
    if len(released) < 2:
        return [], []
    columns = [ArrowColumn(each.mechanism) for each in released]
    told = sorted({secret for secret in secrets if secret is not None and secret in source.columns})
    own = [at for at, secret in enumerate(secrets) if secret is None]
    tallies: list[Counter[tuple[Any, ...]]] = [Counter() for _ in told]
    tuples: Counter[tuple[int, ...]] = Counter()
    wanted = {each.name for each in released} | set(told)
    names = [name for name in source.columns if name in wanted]
    for piece in source.batches(names, watch):
        with placed(source, piece):
            codes = [
                column.codes(piece.batch.column(each.name))
                for column, each in zip(columns, released, strict=True)
            ]
        count_tuples(piece, codes, told, tallies)
        if own:
            count_tuples(piece, codes, [None], [tuples])
        if max((len(tally) for tally in (*tallies, tuples)), default=0) > MOST_TUPLES:
            many = f"more than {MOST_TUPLES:,} combinations of values"
            return [], [f"{many}: what the columns tell together was not accounted for"]
    found: list[CombinedLeak] = []
    missed = [
        f"the table has no column {secret!r}: what the columns tell together about it is not known"
        for secret in dict.fromkeys(secrets)
        if secret is not None and secret not in told
    ]
    names_of = tuple(each.name for each in released)
    for secret, tally in zip(told, tallies, strict=True):
        _add(found, missed, secret, names_of, released, tally)
    for at in own:
        tally = Counter({(key[1 + at], *key[1:]): count for key, count in tuples.items()})
        labels = [*released[at].mechanism.channel.inputs.labels, MISSING_LABEL]
        named = Counter({(labels[key[0]], *key[1:]): count for key, count in tally.items()})
        _add(found, missed, released[at].name, names_of, released, named)
    return found, missed


def count_tuples(
    piece: Piece,
    codes: Sequence[Any],
    secrets: Sequence[str | None],
    tallies: Sequence[Counter[tuple[Any, ...]]],
) -> None:
    """Add the tuples (secret, code, code, ...) of one batch."""
    arrays = [pa.array(each) for each in codes]
    for secret, tally in zip(secrets, tallies, strict=True):
        if secret is None:
            told = pa.nulls(piece.batch.num_rows, pa.string())
        else:
            told = countable(piece.batch.column(secret), secret)
        for (first, *key), number in grouped([told, *arrays]):
            tally[None if secret is None else secret_label(first), *key] += number


def _add(
    found: list[CombinedLeak],
    missed: list[str],
    secret: str,
    names: tuple[str, ...],
    released: Sequence[Released],
    tally: Counter[tuple[Any, ...]],
) -> None:
    try:
        joint, channels = product_setting([each.mechanism for each in released], tally)
        found.append(CombinedLeak(secret, names, account(channels, joint)))
    except LiftlockError as error:
        missed.append(f"together about {secret!r}: not accounted for ({error})")


def product_setting(
    mechanisms: Sequence[Mechanism], tally: Counter[tuple[Any, ...]]
) -> tuple[Joint, list[Table]]:
    """Return the joint of a secret and tuples of inputs, and each channel as one on tuples.

    Keys of the tally are the secret, then the input of each mechanism by its place; `KEPT` is a
    cell that comes out missing.
    """
    keys = sorted({key[1:] for key in tally})
    inputs = Alphabet.of(keys)
    secrets = Alphabet.of(sorted_labels({key[0] for key in tally}))
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
