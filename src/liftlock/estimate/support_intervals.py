"""Intervals of one symbol of an encoding: supported or not, a report is an answer of two values.

Given whether a person has the symbol, her report supports it with probability p or q, and people
are independent. So the count of one symbol is a survey by a channel from two values to two outputs,
for which every kind of interval is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.estimate import intervals
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.intervals import Spread
from liftlock.estimate.model import Model
from liftlock.estimate.options import Options
from liftlock.estimate.question import Question
from liftlock.estimate.unbiased import unbiased
from liftlock.forms import SupportChannel

MOST = 64
"""With more symbols, each one by itself would take too long."""
_TOLD = 3


def spread_of_each(
    channel: SupportChannel, aggregate: Aggregate, places: list[int], options: Options
) -> Spread:
    """Return the intervals of the symbols at these places, each by itself."""
    found = [_one(channel, aggregate, place, options) for place in places]
    kinds = {spread.kind for spread in found}
    kind = kinds.pop() if len(kinds) == 1 else "normal"
    told = list(dict.fromkeys(remark for spread in found for remark in spread.remarks))
    more = len(told) - _TOLD
    remarks = (*told[:_TOLD], f"and {more} more like these") if more > 0 else tuple(told)
    errors, low, high = (
        np.array([part[0] if part is not None else np.nan for part in parts])
        for parts in zip(*((s.errors, s.low, s.high) for s in found), strict=True)
    )
    return Spread(errors, low, high, kind, remarks)


def _one(channel: SupportChannel, aggregate: Aggregate, place: int, options: Options) -> Spread:
    p, q = float(channel.hit), float(channel.miss)
    label = channel.inputs.labels[place]
    values = Alphabet.of([f"not {label}", label])
    rows = np.array([[1 - q, q], [1 - p, p]])
    model = Model(values, Alphabet.of(["not supported", "supported"]), rows, None)
    estimator = unbiased(model, Question.survey(values, [label]))
    return intervals.make(
        options.interval,
        estimator,
        _of_two(aggregate, place),
        level=options.level,
        about=options.about,
        seed=options.seed,
    )


def _of_two(aggregate: Aggregate, place: int) -> Aggregate:
    """Return the counts of reports that do not support a symbol, and of those that do."""
    inside = aggregate.counts[place]
    weights = aggregate.weights
    if weights is not None:
        a, b = weights.sums[place], weights.squares[place]
        weights = replace(
            weights, sums=(weights.total - a, a), squares=(weights.total_squares - b, b)
        )
    counts = (aggregate.reports - inside, inside)
    return Aggregate(aggregate.channel, counts, aggregate.reports, weights)
