"""Where to look: the input and the set of outputs most likely to break a claim.

For two sources of outputs (an input against the rest of the prior, or against another input) the
ratio of the probabilities of a set of outputs is largest on sets that hold the outputs of largest
ratio. So the sets tried are the prefixes of the outputs in that order. What is found here is a
suspicion, never evidence: evidence comes from draws that had no part in the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.probe import intervals
from liftlock.probe.result import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from liftlock.exact.integers import Floats
    from liftlock.probe.intervals import Counts

Order: TypeAlias = npt.NDArray[np.int64]

MOST_CELLS = 4_000_000
"""The largest table of inputs times outputs that is counted."""

LEAST_SHARE = 0.125
"""Of the draws of a confirmation, each source gets at least about this share."""

_MOST_PAIR_CELLS = 20_000_000
_CHUNK_CELLS = 1_000_000
_DOUBT = 1.0
"""Standard errors taken off an estimate before the largest one is chosen: the luckiest of many
equal candidates should not beat a slightly smaller one that is better known."""

_WORST = -1e9
"""The score of an event that was not seen at all."""


@dataclass(frozen=True, slots=True)
class OutputCounts:
    """How often each input (row) gave each output (column), and how often it was tried."""

    counts: Counts
    trials: Counts

    def __add__(self, other: OutputCounts) -> OutputCounts:
        width = max(self.counts.shape[1], other.counts.shape[1])
        return OutputCounts(
            _widen(self.counts, width) + _widen(other.counts, width),
            self.trials + other.trials,
        )

    def widen(self, width: int) -> OutputCounts:
        """Return the same counts with columns for outputs that have not occurred."""
        return OutputCounts(_widen(self.counts, width), self.trials)


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """Estimated output probabilities of some sources (rows), and how well they are known.

    ``unit`` is the weight of a single count, ``missing`` the mass of which nothing is known (it may
    all lie in the event, or none of it).
    """

    value: Floats
    variance: Floats
    unit: Floats
    missing: Floats

    def rows(self, index: npt.NDArray[np.int64]) -> RateEstimate:
        """Return some of the sources."""
        return RateEstimate(
            self.value[index], self.variance[index], self.unit[index], self.missing[index]
        )


def estimate_inputs(tally: OutputCounts) -> RateEstimate:
    """Estimate q(y given x) for every input."""
    trials = np.maximum(tally.trials, 1).astype(np.float64)[:, None]
    unseen = (tally.trials == 0).astype(np.float64)
    return RateEstimate(tally.counts / trials, tally.counts / trials**2, 1 / trials[:, 0], unseen)


def estimate_rests(tally: OutputCounts, inputs: RateEstimate, prior: Floats) -> RateEstimate:
    """Estimate q(y given not x) for every input x, weighting the other inputs by the prior."""
    seen = tally.trials > 0
    weights = np.where(seen, prior, 0.0)
    others = np.maximum(1 - prior, 1e-300)
    mass = _leave_one_out(weights[:, None] * inputs.value) / others[:, None]
    variance = _leave_one_out((weights**2)[:, None] * inputs.variance) / (others**2)[:, None]
    unit = _leave_one_out((weights**2 * inputs.unit)[:, None])[:, 0] / others**2
    missing = _leave_one_out(np.where(seen, 0.0, prior)[:, None])[:, 0] / others
    return RateEstimate(mass, variance, np.maximum(unit, 1e-300), missing)


Sources: TypeAlias = tuple[RateEstimate, RateEstimate]
"""The top source of every comparison, and the bottom one."""


@dataclass(frozen=True, slots=True)
class ConfirmationPower:
    """How sharp the confirmation will be: its critical value, and the draws it will make.

    Without `draws` it will use as many records as the search did (two tables of equal size).
    """

    deviations: float
    draws: float | None = None

    def variance(self, top: Floats, bottom: Floats, known: Floats, fresh: bool) -> Floats:
        """Return the expected variance of the logarithm of the confirmed ratio."""
        if self.draws is None:
            # A fresh judgement saw one of the two tables, which is half of what will confirm.
            return known / 2 if fresh else known
        # The best division of the draws between the two sources gives this sum of roots.
        return (1 / np.sqrt(top) + 1 / np.sqrt(bottom)) ** 2 / self.draws


@dataclass(frozen=True, slots=True)
class CandidateEvent:
    """An input, what it is compared with (None: the rest of the prior), and a set of outputs.

    ``top`` and ``bottom`` are the estimated probabilities of the event under the two sources;
    ``score`` is the bound that a test of it may be expected to give.
    """

    side: Side
    symbol: int
    against: int | None
    event: Order
    score: float
    top: float
    bottom: float
    probability: float

    def leakage(self, ratio: float) -> float:
        """Turn a likelihood ratio of the two sources into nats of this side."""
        return float(leakage(self.side, ratio, self.probability))


def leakage(side: Side, ratio: npt.ArrayLike, probability: npt.ArrayLike) -> Floats:
    """Turn a likelihood ratio into nats of one side.

    With R = top / bottom and p = P(x): eps_upper = -ln(p + (1-p)/R) for x against the rest,
    eps_lower = ln(p + (1-p) R) for the rest against x, ldp = ln R.

    >>> [round(float(leakage(side, 3.0, 0.5)), 4) for side in ("eps_upper", "eps_lower", "ldp")]
    [0.4055, 0.6931, 1.0986]
    """
    value = np.asarray(ratio, dtype=np.float64)
    p = np.asarray(probability, dtype=np.float64)
    with np.errstate(divide="ignore"):
        if side == "eps_upper":
            return np.asarray(-np.log(p + (1 - p) / value))
        if side == "eps_lower":
            return np.asarray(np.log(p + (1 - p) * value))
        return np.asarray(np.log(value))


def largest_bounds(
    sides: Sequence[Side],
    trials: Counts,
    prior: Floats | None,
    alpha: float,
    *,
    sampled_from_prior: bool = False,
) -> dict[Side, float]:
    """Return, for each side, the largest bound to be expected of so many trials of each input.

    >>> found = largest_bounds(("ldp", "eps_upper"), np.array([9, 9]), np.array([0.5, 0.5]), 0.001)
    >>> {side: round(value, 2) for side, value in found.items()}
    {'ldp': 0.0, 'eps_upper': 0.0}
    >>> round(largest_bounds(("ldp",), np.array([900, 900]), None, 0.001)["ldp"], 2)
    4.87
    """
    found: dict[Side, float] = {}
    for side in sides:
        if side == "ldp":
            top, bottom, chance = trials, _largest_other(trials), np.zeros(len(trials))
            shares = (
                None if prior is None else prior / np.maximum(prior + _largest_other(prior), 1e-300)
            )
            above = below = chance
        else:
            assert prior is not None
            rows = (prior > 0) & (prior < 1)
            own, chance = trials[rows], prior[rows]
            others = trials[prior > 0].sum() - own
            unseen = np.where(trials == 0, prior, 0.0)
            missing = np.maximum(unseen.sum() - unseen[rows], 0.0) / (1 - chance)
            missing *= not sampled_from_prior  # then none is left out on purpose
            if side == "eps_upper":
                top, bottom, shares, above, below = own, others, chance, 0 * missing, missing
            else:
                top, bottom, shares, above, below = others, own, 1 - chance, missing, 0 * missing
        ratios = intervals.largest_ratio_lower(
            top,
            bottom,
            alpha,
            share=shares if sampled_from_prior else None,
            missing_top=above,
            missing_bottom=below,
        )
        found[side] = max(0.0, float(leakage(side, ratios, chance).max()))
    return found


def _largest_other(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return, for each entry, the largest of all others."""
    order = np.argsort(-values, kind="stable")
    others = np.full(len(values), values[order[0]])
    others[order[0]] = values[order[1]]
    return others


def point_estimate(side: Side, top: float, bottom: float, probability: float) -> float:
    """Estimate the leakage from the observed rates of an event under the two sources.

    >>> round(point_estimate("ldp", 0.3, 0.1, 0.0), 6), point_estimate("ldp", 0.3, 0.0, 0.0)
    (1.098612, inf)
    """
    if top == 0:
        return 0.0
    ratio = math.inf if bottom == 0 else top / bottom
    return max(0.0, float(leakage(side, ratio, probability)))


def order_outputs(top: RateEstimate, bottom: RateEstimate) -> Order:
    """Sort the outputs of every row by falling ratio, those hardly seen near the end."""
    ratio = top.value / (bottom.value + bottom.unit[:, None])
    return np.argsort(-ratio, axis=1, kind="stable").astype(np.int64)


def prefix_scores(
    side: Side,
    order: Order,
    sources: Sources,
    probability: Floats,
    power: ConfirmationPower,
    *,
    fresh: bool,
) -> Floats:
    """Return, for every row and every prefix of its order, the bound that may be expected.

    Standard errors are taken off. If the estimates are not `fresh` (they made the order
    themselves), every output of a prefix may be there by luck, so their errors add up instead of
    cancelling: that makes long lists of rare outputs worthless.
    """
    # Every row in its order: an index of places in the flat tables serves all four of them.
    places = order + np.arange(0, order.size, order.shape[1])[:, None]
    top, bottom = sources
    top_variance, bottom_variance = top.variance.take(places), bottom.variance.take(places)
    above, above_error = _prefix_sums(top.value.take(places), top_variance)
    below, below_error = _prefix_sums(bottom.value.take(places), bottom_variance)
    top_unit, bottom_unit = top.unit[:, None], bottom.unit[:, None]
    # One count that might as well have been there: an event never seen is not impossible.
    below = below + bottom_unit
    below_error = np.hypot(below_error, bottom_unit)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        known = (above_error / above) ** 2 + (below_error / below) ** 2
        doubt = known
        if not fresh:
            doubt = (_summed_errors(top_variance, top_unit) / above) ** 2
            doubt += (_summed_errors(bottom_variance, bottom_unit) / below) ** 2
        spread = _DOUBT * np.sqrt(doubt) + power.deviations * np.sqrt(
            power.variance(above, below, known, fresh)
        )
        ratio = above / (below + bottom.missing[:, None]) * np.exp(-spread)
        score = leakage(side, ratio, probability[:, None])
    return np.where(above > 0, np.fmax(score, _WORST), _WORST)


def _prefix_sums(value: Floats, variance: Floats) -> tuple[Floats, Floats]:
    return value.cumsum(axis=1), np.sqrt(variance.cumsum(axis=1))


def _summed_errors(variance: Floats, unit: Floats) -> Floats:
    return np.sqrt(variance + unit**2).cumsum(axis=1)


@dataclass(frozen=True)
class Search:
    """Two independent tables of what was seen so far, and where they point.

    Outputs are put in order on one table and judged on the other, both ways; and also ordered
    and judged on all counts at once, with the caution that `prefix_scores` then takes. The first
    is better for many rare outputs, the second for few common ones.
    """

    first: OutputCounts
    second: OutputCounts
    prior: Floats | None
    power: ConfirmationPower

    def find_candidates(
        self, side: Side, most: int, among: Sequence[CandidateEvent] | None = None
    ) -> list[CandidateEvent]:
        """Return the most suspicious candidates of one side, best first."""
        found = self._pairs(most, among) if side == "ldp" else self._lifts(side, most, among)
        found.sort(key=lambda candidate: -candidate.score)
        return found[:most]

    @cached_property
    def _tables(self) -> tuple[OutputCounts, OutputCounts, OutputCounts]:
        return self.first, self.second, self.first + self.second

    @cached_property
    def _inputs(self) -> list[RateEstimate]:
        return [estimate_inputs(tally) for tally in self._tables]

    @cached_property
    def _rests(self) -> list[RateEstimate]:
        assert self.prior is not None
        return [
            estimate_rests(tally, inputs, self.prior)
            for tally, inputs in zip(self._tables, self._inputs, strict=True)
        ]

    def _lifts(
        self, side: Side, most: int, among: Sequence[CandidateEvent] | None
    ) -> list[CandidateEvent]:
        prior = self.prior
        assert prior is not None
        rows = np.flatnonzero((prior > 0) & (prior < 1))
        if among is not None:
            rows = np.array(sorted({candidate.symbol for candidate in among}), dtype=np.int64)
        tables: list[Sources] = []
        for inputs, rests in zip(self._inputs, self._rests, strict=True):
            if len(rows) < len(prior):
                inputs, rests = inputs.rows(rows), rests.rows(rows)
            tables.append((inputs, rests) if side == "eps_upper" else (rests, inputs))
        return self._rank_candidates(side, rows, None, tables, prior[rows], most)

    def _pairs(self, most: int, among: Sequence[CandidateEvent] | None) -> list[CandidateEvent]:
        estimates = self._inputs
        size, width = estimates[0].value.shape
        if among is None:
            tops = np.array(self._likely_tops(size, width), dtype=np.int64)
            others = np.arange(size - 1)
            # Every other input: those from the top's own place on are one place further.
            bottoms = (others + (others >= tops[:, None])).ravel()
            tops = np.repeat(tops, size - 1)
        else:
            tops = np.array([candidate.symbol for candidate in among], dtype=np.int64)
            bottoms = np.array([candidate.against for candidate in among], dtype=np.int64)
        found: list[CandidateEvent] = []
        step = max(1, _CHUNK_CELLS // width)
        for start in range(0, len(tops), step):
            first, second = tops[start : start + step], bottoms[start : start + step]
            tables = [(estimate.rows(first), estimate.rows(second)) for estimate in estimates]
            found += self._rank_candidates("ldp", first, second, tables, np.zeros(len(first)), most)
        return found

    def _likely_tops(self, size: int, width: int) -> list[int]:
        if size * size * width <= _MOST_PAIR_CELLS:
            return list(range(size))
        # Too many pairs to try all: start from the inputs that stand out against the average.
        average = Search(self.first, self.second, np.full(size, 1 / size), self.power)
        number = max(4, _MOST_PAIR_CELLS // (size * width))
        return [candidate.symbol for candidate in average.find_candidates("eps_upper", number)]

    def _rank_candidates(
        self,
        side: Side,
        symbols: npt.NDArray[np.int64],
        against: npt.NDArray[np.int64] | None,
        tables: list[Sources],
        probability: Floats,
        most: int,
    ) -> list[CandidateEvent]:
        first, second, both = tables
        orders, best, lengths = [], [], []
        for maker, judge in ((first, second), (second, first), (both, both)):
            order = order_outputs(*maker)
            scores = prefix_scores(
                side, order, judge, probability, self.power, fresh=maker is not judge
            )
            orders.append(order)
            lengths.append(np.argmax(scores, axis=1))
            best.append(scores.max(axis=1))
        crossed = (best[0] + best[1]) / 2
        ranks = np.maximum(crossed, best[2])
        found = []
        for row in np.argsort(-ranks, kind="stable")[:most].tolist():
            if best[2][row] >= crossed[row]:
                way = 2
            else:
                way = int(best[1][row] > best[0][row])
            event = orders[way][row, : int(lengths[way][row]) + 1].copy()
            top, bottom = (
                float(max(source.value[row, event].sum(), source.unit[row])) for source in both
            )
            found.append(
                CandidateEvent(
                    side=side,
                    symbol=int(symbols[row]),
                    against=None if against is None else int(against[row]),
                    event=event,
                    score=float(ranks[row]),
                    top=min(top, 1.0),
                    bottom=min(bottom, 1.0),
                    probability=float(probability[row]),
                )
            )
        return found


def optimal_share(top: float, bottom: float) -> float:
    """Return the share of draws to spend on the top source, for the smallest variance.

    The logarithm of the ratio has variance 1/(n s p) + 1/(n (1-s) q): smallest at
    s / (1-s) = sqrt(q / p).
    """
    if top <= 0 or bottom <= 0:
        return 0.5
    share = 1 / (1 + math.sqrt(top / bottom))
    return min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)


def _leave_one_out(weighted: Floats) -> Floats:
    total: Floats = weighted.sum(axis=0, keepdims=True) - weighted
    return np.maximum(total, 0.0)


def _widen(counts: Counts, width: int) -> Counts:
    if counts.shape[1] == width:
        return counts
    return np.pad(counts, ((0, 0), (0, width - counts.shape[1])))
