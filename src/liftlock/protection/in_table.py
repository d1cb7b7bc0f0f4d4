"""A mechanism that was made for a given prior or joint, measured under the table's own."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from liftlock.alphabet import Alphabet
from liftlock.contexts import Joint, Prior
from liftlock.contexts.prior import sorted_labels
from liftlock.frames.arrow_column import ArrowColumn
from liftlock.mechanism import Mechanism
from liftlock.notions.lift import extremes
from liftlock.progress import Progress
from liftlock.protection.combined import count_tuples
from liftlock.protection.learning import Source, placed
from liftlock.protection.result import InTable

_FEWEST = 2


def measured_in_table(
    source: Source, made: Mechanism, column: str, secret: str | None, watch: Progress | None = None
) -> InTable | None:
    """Count the table by the mechanism's own inputs, and measure exactly what it leaks there.

    None if the secret is not in the table, or always the same.
    """
    if secret is not None and secret not in source.columns:
        return None
    work = ArrowColumn(made)
    tally: Counter[tuple[Any, ...]] = Counter()
    mapped = 0
    names = [name for name in source.columns if name in (column, secret)]
    for piece in source.batches(names, watch):
        cells = piece.batch.column(column)
        with placed(source, piece):
            codes = work.codes(cells)
            mapped += work.mapped(cells)
        count_tuples(piece, [codes], [secret], [tally])
    counts = {(told, code): number for (told, code), number in tally.items() if code >= 0}
    places = sorted({code for _, code in counts})
    if len(places) < _FEWEST:
        return InTable(0.0, 0.0, True, mapped)
    labels = [made.table.inputs.labels[place] for place in places]
    channel = made.table.restricted(labels)
    context: Prior | Joint
    if secret is None:
        context = Prior(Alphabet.of(labels), tuple(counts[None, place] for place in places))
    else:
        told = sorted_labels({label for label, _ in counts})
        rows = [[counts.get((label, place), 0) for place in places] for label in told]
        context = Joint.from_rows(Alphabet.of(told), Alphabet.of(labels), rows)
    found = extremes(channel, context)
    least, most = found.smallest.lift, found.largest.lift
    holds = made.notion.certify(channel, context).holds
    lower = math.inf if not least else -math.log(least)
    return InTable(max(lower, 0.0), math.inf if most is None else math.log(most), holds, mapped)
