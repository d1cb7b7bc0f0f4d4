"""Which of the two honest kinds is taken, and how a prior shortens it without being believed.

Exact intervals hold whatever the truth, with no approximation. Where the chance of a marked report
differs much among people who are not counted, they are wide, and normal ones, whose variance is
bounded for every truth, are shorter. The choice is made by the channel, the prior and the number of
reports alone: a choice that looked at the reports would break the level.

Assisted intervals are either of them with tails that are not equal (`Tails`).
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from liftlock.estimate.intervals.base import Interval, IntervalEstimate, IntervalRequest, Kind
from liftlock.estimate.intervals.exact import Exact, MarkedReports
from liftlock.estimate.intervals.normal import Normal

FEW = 50
"""So few reports are no case for the normal distribution."""
ENOUGH = 400.0
"""A count of marked reports whose variance is at least this is normal, whatever the truth."""
MOST_WORK = 100_000
"""The number of answers times the standard deviation of a count, of exact intervals: a second."""


def choose_kind(request: IntervalRequest) -> Interval:
    """Return the kind that keeps its level whatever the truth, and is shorter by design."""
    exact, normal = Exact(), Normal()
    if "exact" not in request.model.intervals or exact.obstacle(request) is not None:
        return normal
    if request.posterior:
        return exact
    reports = float(request.tally.reports[0])
    marked = MarkedReports.of(request.linear)
    if marked.alike and request.linear.in_steps.all():
        # Nothing is lost by counting marked reports: only time speaks against it.
        chances = np.concatenate([marked.own, marked.other])
        noise = reports * chances * (1 - chances)
        work = len(request.question.names) * np.sqrt(noise.max())
        return normal if work > MOST_WORK and noise.min() >= ENOUGH else exact
    expected = reports * request.model.expected
    typical = replace(request, tally=type(request.tally).plain(expected), statistic=expected)
    spread = normal.raw_interval(typical)
    assert spread.low is not None
    assert spread.high is not None
    z = NormalDist().inv_cdf(1 - request.one_error / 2)
    widths = marked.width(reports, request.model.reference @ request.question.values, z)
    shorter = (spread.high - spread.low).sum() < widths.sum()
    return normal if shorter and reports >= FEW else exact


class Assisted(Interval):
    """The exact or the normal interval, with more of its error where the prior sees no truth.

    It holds whatever the truth, and nothing is assumed: the prior moves the tails only.
    """

    key: ClassVar[Kind] = "assisted"
    title: ClassVar[str] = "an assisted interval"

    def obstacle(self, request: IntervalRequest) -> tuple[str, str] | None:
        """Return what stands in the way: an estimate that believes the prior."""
        if request.posterior:
            return "the Bayes estimate", "ask for unbiased, or for exact"
        return None

    def make(self, request: IntervalRequest) -> IntervalEstimate:
        """Return the intervals, and what the prior has to do with them."""
        found = choose_kind(request).make(replace(request, assisted=True))
        tails = "the prior only decides which of the two tails may be heavier"
        # Normal ones of few people do not keep their level, and say so.
        told = tails if found.remarks else f"assisted intervals hold whatever the truth: {tails}"
        return replace(found, kind="assisted").with_remarks(told)
