"""The range of answers that the reports allow, whatever the truth.

Where the reports do not determine an answer, an interval around one number promises too much. But
they do bound the answer. If a share p_x of the n people has the value x, output y is expected
n (p Q)_y times, so its count bounds (p Q)_y by a confidence interval. The range of an answer
n f . p runs from the least to the largest that any shares p inside all of these intervals give: two
linear programmes.

The intervals of the outputs are those of Clopper and Pearson, for all outputs at once; hence the
ranges of all answers hold at once too. About a population a count is binomial. About the people it
is a sum of n independent events with probabilities of their own; as long as a tail of the binomial
with the same mean holds less than a quarter, that of the sum holds no more (Hoeffding 1956).
Questions about values that are read through profiles add what values vary about the means of their
profiles, n people by at most (largest - least) sqrt(n ln(2 t / beta) / 2) for t answers (Hoeffding
1963); each of the two steps has half of the error. Bounds are computed from the prices of the
programmes, so a solver's tolerance can widen a range and never shorten it.

Source: math Clopper-Pearson intervals through a channel, by linear programmes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import extra
from liftlock.estimate.intervals.base import (
    Interval,
    IntervalEstimate,
    IntervalRequest,
    Kind,
    weight_obstacle,
)
from liftlock.exact.integers import Floats
from liftlock.model.confidence import simultaneous_intervals

_MOST_WORK = 1 << 24
"""So many cells of the channel, times the answers: a second or so."""
_LARGEST_ERROR = Fraction(1, 4)
"""Lower levels are raised to 3/4: a heavier tail of a sum is not bounded by the binomial's."""


class Range(Interval):
    """The least and the largest answer of any shares that explain the reports."""

    key: ClassVar[Kind] = "range"
    title: ClassVar[str] = "a range"

    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return what stands in the way: weights, or too large a channel."""
        if request.model.rows.size * len(request.question.names) > _MOST_WORK:
            return "so many inputs, outputs and answers", "ask for one value at a time"
        return weight_obstacle(request)

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the ranges; none where no shares explain the reports."""
        question, error = request.question, 1 - Fraction(request.level)
        error, drift = min(error, _LARGEST_ERROR), np.zeros(len(question.names))
        if question.behind is not None and request.about == "people":
            error /= 2
            reach = question.most - question.least
            log = math.log(2 * len(drift) / float(error))
            drift = reach * math.sqrt(float(request.tally.reports[0]) * log / 2) * (1 + 1e-12)
        found = answer_ranges(request.model.rows, question.values, request.counts, error)
        if found is None:
            return IntervalEstimate.none(f"no range: {request.model.unexplained}")
        least, most = request.model.possible_range(question, request.tally)
        low, high = np.maximum(found[0] - drift, least), np.minimum(found[1] + drift, most)
        spread = IntervalEstimate(None, low, high, self.key, together=len(low) > 1)
        if not request.posterior:
            spread = spread.widened_to(np.clip(request.values, least, most))
        return spread.with_remarks("more reports need not make the range shorter")


def answer_ranges(
    rows: Floats, values: Floats, counts: npt.NDArray[np.int64], error: Fraction
) -> tuple[Floats, Floats] | None:
    """Return the least and the largest n f . p over all shares p that explain the counts.

    `rows` are P(y | x), `values` has a column f for each answer; None if no shares explain them.

    >>> rows = np.array([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]])
    >>> found = answer_ranges(rows, np.eye(3), np.array([500, 500]), Fraction(1, 20))
    >>> [end.round().tolist() for end in found]
    [[0.0, 0.0, 0.0], [563.0, 563.0, 1000.0]]
    """
    with extra("solver"):
        from scipy.sparse import csc_matrix

    from liftlock.exact.linear_programme import LinearProgramme, Solver

    reports = int(counts.sum())
    ends = simultaneous_intervals(counts.tolist(), error)
    lower, upper = (np.array([float(end) for end in side]) for side in ends)
    programme = LinearProgramme()
    shares = programme.add_variables(np.zeros(len(rows)))
    programme.add_rows(
        [(shares, csc_matrix(rows.T))], np.nextafter(lower, -1.0), np.nextafter(upper, 2.0)
    )
    programme.add_rows([(shares, csc_matrix(np.ones((1, len(rows)))))], 1.0, 1.0)
    solver = Solver(programme)
    found = np.empty((2, values.shape[1]))
    for place, f in enumerate(values.T):
        for side, sign in enumerate((1.0, -1.0)):
            solver.set_costs(sign * f)
            bound = solver.solve().bound
            if bound == np.inf:
                return None
            found[side, place] = sign * bound * reports
    return found[0], found[1]
