"""Small channels and priors that the tests of estimates share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock import Alphabet, Channel, Prior
from liftlock.estimate import Aggregate
from liftlock.estimate.estimators import Linear
from liftlock.estimate.intervals import IntervalEstimate, IntervalRequest
from liftlock.estimate.intervals.normal import Normal
from liftlock.estimate.models import Dense, OutputSums
from liftlock.estimate.question import About

ILL = Channel.from_rows(
    {
        "none": {"none": "8/10", "cold": "1/10", "flu": "1/10"},
        "cold": {"none": "2/10", "cold": "7/10", "flu": "1/10"},
        "flu": {"none": "2/10", "cold": "1/10", "flu": "7/10"},
    }
)
ILL_PRIOR = Prior.from_counts({"none": 7, "cold": 2, "flu": 1})
WIDE = Channel.from_rows(
    {
        1: {"a": "4/10", "b": "3/10", "c": "2/10", "d": "1/10"},
        2: {"a": "1/10", "b": "3/10", "c": "2/10", "d": "4/10"},
        4: {"a": "2/10", "b": "1/10", "c": "6/10", "d": "1/10"},
    }
)
WIDE_PRIOR = Prior.from_counts({1: 5, 2: 3, 4: 2})
NARROW = Channel.from_rows(
    {
        "a": {"l": "3/4", "r": "1/4"},
        "b": {"l": "1/2", "r": "1/2"},
        "c": {"l": "1/4", "r": "3/4"},
    }
)
"""Three symbols and two outputs: b looks like half a and half c."""
TWINS = Channel.from_rows(
    {
        "a": {"l": "3/4", "r": "1/4"},
        "b": {"l": "3/4", "r": "1/4"},
        "c": {"l": "1/4", "r": "3/4"},
    }
)


def response(size: int, budget: float) -> npt.NDArray[np.float64]:
    """Return the rows of randomised response on so many symbols."""
    odds = math.exp(budget)
    rows = np.full((size, size), 1 / (odds + size - 1))
    np.fill_diagonal(rows, odds / (odds + size - 1))
    return rows


def model_of(rows: npt.NDArray[np.float64], masses: npt.NDArray[np.float64] | None = None) -> Dense:
    """Return a model of rows that need not be exact."""
    return Dense(Alphabet.of(range(len(rows))), Alphabet.of(range(rows.shape[1])), rows, masses)


def counted(channel: Channel, counts: Any) -> Aggregate:
    """Return an aggregate with these counts of outputs."""
    codes = np.repeat(np.arange(len(channel.outputs)), np.asarray(counts, dtype=np.intp))
    return Aggregate.of_codes(channel, codes)


def report_vectors(channel: Channel, people: tuple[Any, ...]) -> Iterator[tuple[Any, Fraction]]:
    """Yield what these people can report, as counts of outputs, with the exact probability."""
    for ys in itertools.product(range(len(channel.outputs)), repeat=len(people)):
        chance = math.prod(
            (
                channel.probability(x, channel.outputs.labels[y])
                for x, y in zip(people, ys, strict=True)
            ),
            start=Fraction(1),
        )
        yield np.bincount(ys, minlength=len(channel.outputs)).astype(np.float64), chance


def normal_spread(
    estimator: Linear[Dense],
    tally: OutputSums,
    level: float,
    about: About = "people",
    *,
    assisted: bool = False,
) -> IntervalEstimate:
    """Return the normal intervals of many sets of reports at once, without remarks on them."""
    return Normal().raw_interval(
        IntervalRequest(estimator, tally.amounts, tally, level, about, assisted=assisted)
    )
