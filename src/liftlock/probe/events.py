"""Where to look: the input and the set of outputs most likely to break a claim.

For two sources of outputs (an input against the rest of the prior, or against another input) the
ratio of the probabilities of a set of outputs is largest on sets that hold the outputs of largest
ratio. So the sets tried are the prefixes of the outputs in that order. What is found here is a
suspicion, never evidence: evidence comes from draws that had no part in the search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.probe.claims import Side

if TYPE_CHECKING:
    from liftlock.exact.integers import Floats
    from liftlock.probe.intervals import Counts

Order: TypeAlias = npt.NDArray[np.int64]

MOST_CELLS = 4_000_000
"""The largest table of inputs times outputs that is counted."""

_MOST_PAIR_CELLS = 20_000_000
_DOUBT = 1.0
"""Standard errors taken off an estimate before the largest one is chosen: the luckiest of many
equal candidates should not beat a slightly smaller one that is better known."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often each input (row) gave each output (column), and how often it was tried."""

    counts: Counts
    trials: Counts

    def __add__(self, other: Tally) -> Tally:
        width = max(self.counts.shape[1], other.counts.shape[1])
        return Tally(
            _widened(self.counts, width) + _widened(other.counts, width),
            self.trials + other.trials,
        )

    def widened(self, width: int) -> Tally:
        """Return the same counts with columns for outputs that have not occurred."""
        return Tally(_widened(self.counts, width), self.trials)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated output probabilities of some sources (rows), and how well they are known.

    ``unit`` is the weight of a single count, ``missing`` the mass of which nothing is known (it may
    all lie in the event, or none of it).
    """

    value: Floats
    variance: Floats
    unit: Floats
    missing: Floats

    def rows(self, index: npt.NDArray[np.int64]) -> Estimate:
        """Return some of the sources."""
        return Estimate(
            self.value[index], self.variance[index], self.unit[index], self.missing[index]
        )


def of_inputs(tally: Tally) -> Estimate:
    """Estimate q(y given x) for every input."""
    trials = np.maximum(tally.trials, 1).astype(np.float64)[:, None]
    unseen = (tally.trials == 0).astype(np.float64)
    return Estimate(tally.counts / trials, tally.counts / trials**2, 1 / trials[:, 0], unseen)


def of_rests(tally: Tally, prior: Floats) -> Estimate:
    """Estimate q(y given not x) for every input x, weighting the other inputs by the prior."""
    inputs = of_inputs(tally)
    seen = tally.trials > 0
    weights = np.where(seen, prior, 0.0)
    others = np.maximum(1 - prior, 1e-300)
    mass = _without(weights[:, None] * inputs.value) / others[:, None]
    variance = _without((weights**2)[:, None] * inputs.variance) / (others**2)[:, None]
    unit = _without((weights**2 * inputs.unit)[:, None])[:, 0] / others**2
    missing = _without(np.where(seen, 0.0, prior)[:, None])[:, 0] / others
    return Estimate(mass, variance, np.maximum(unit, 1e-300), missing)


@dataclass(frozen=True, slots=True)
class Horizon:
    """How precise the confirmation will be: by `draws` to come, or `gain` times the search data."""

    deviations: float
    draws: float | None = None
    gain: float = 1.0

    def variance(self, top: Floats, bottom: Floats, known: Floats) -> Floats:
        """Return the expected variance of the logarithm of the confirmed ratio."""
        if self.draws is None:
            return known / self.gain
        # The best division of the draws between the two sources gives this sum of roots.
        return (1 / np.sqrt(top) + 1 / np.sqrt(bottom)) ** 2 / self.draws


@dataclass(frozen=True, slots=True)
class Suspicion:
    """An input, what it is compared with (None: the rest of the prior), and a set of outputs."""

    side: Side
    symbol: int
    against: int | None
    event: Order
    score: float


def leakage(side: Side, ratio: npt.ArrayLike, probability: npt.ArrayLike) -> Floats:
    """Turn a likelihood ratio into nats of one side.

    With R = top / bottom and p = P(x): eps_upper = -ln(p + (1-p)/R) for x against the rest,
    eps_lower = ln(p + (1-p) R) for the rest against x, ldp = ln R.

    >>> leakage("eps_upper", 3.0, 0.5).round(4), leakage("eps_lower", 3.0, 0.5).round(4)
    (array(0.4055), array(0.6931))
    """
    value = np.asarray(ratio, dtype=np.float64)
    p = np.asarray(probability, dtype=np.float64)
    with np.errstate(divide="ignore"):
        if side == "eps_upper":
            return np.asarray(-np.log(p + (1 - p) / value))
        if side == "eps_lower":
            return np.asarray(np.log(p + (1 - p) * value))
        return np.asarray(np.log(value))


def point_estimate(side: Side, hits: Counts, trials: Counts, probability: float) -> float:
    """Estimate the leakage from hits and trials of the top and the bottom source, in this order.

    >>> point_estimate("ldp", np.array([30, 10]), np.array([100, 100]), 0.0) == math.log(3)
    True
    """
    if hits[0] == 0 or trials[1] == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        ratio = (hits[0] / trials[0]) / (hits[1] / trials[1])
    return max(0.0, float(leakage(side, ratio, probability)))


def ordered(top: Estimate, bottom: Estimate) -> Order:
    """Sort the outputs of every row by falling ratio; what was hardly seen counts as ratio small."""
    ratio = top.value / (bottom.value + bottom.unit[:, None])
    return np.argsort(-ratio, axis=1, kind="stable").astype(np.int64)


def prefix_scores(
    side: Side,
    order: Order,
    top: Estimate,
    bottom: Estimate,
    probability: Floats,
    horizon: Horizon,
) -> Floats:
    """Return, for every row and every prefix of its order, the bound that may be expected."""
    above = np.cumsum(np.take_along_axis(top.value, order, axis=1), axis=1)
    above_variance = np.cumsum(np.take_along_axis(top.variance, order, axis=1), axis=1)
    below = np.cumsum(np.take_along_axis(bottom.value, order, axis=1), axis=1)
    below_variance = np.cumsum(np.take_along_axis(bottom.variance, order, axis=1), axis=1)
    # One count that might as well have been there: an event never seen is not impossible.
    below += bottom.unit[:, None]
    below_variance += bottom.unit[:, None] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        known = above_variance / above**2 + below_variance / below**2
        spread = _DOUBT * np.sqrt(known) + horizon.deviations * np.sqrt(
            horizon.variance(above, below, known)
        )
        ratio = above / (below + bottom.missing[:, None]) * np.exp(-spread)
        score = leakage(side, ratio, probability[:, None])
    return np.where(above > 0, np.nan_to_num(score, nan=-np.inf, neginf=-np.inf), -np.inf)


@dataclass(frozen=True, slots=True)
class Halves:
    """Two independent tables: outputs are ordered on one and judged on the other, both ways.

    Judging an order on the data that made it would prefer long lists of outputs that one source
    happened to give and the other did not.
    """

    first: Tally
    second: Tally
    prior: Floats | None
    horizon: Horizon

    def shortlist(self, side: Side, most: int) -> list[Suspicion]:
        """Return the most suspicious candidates of one side, best first."""
        if side == "ldp":
            found = self._pairs(most)
        else:
            found = self._lifts(side)
        found.sort(key=lambda candidate: -candidate.score)
        return found[:most]

    def _lifts(self, side: Side) -> list[Suspicion]:
        prior = self.prior
        assert prior is not None
        allowed = np.flatnonzero((prior > 0) & (prior < 1))
        tables = []
        for tally in (self.first, self.second):
            inputs, rests = of_inputs(tally).rows(allowed), of_rests(tally, prior).rows(allowed)
            tables.append((inputs, rests) if side == "eps_upper" else (rests, inputs))
        return self._crossed(side, allowed, None, tables, prior[allowed])

    def _pairs(self, most: int) -> list[Suspicion]:
        first, second = of_inputs(self.first), of_inputs(self.second)
        size, width = first.value.shape
        found: list[Suspicion] = []
        for symbol in self._likely_tops(size, width):
            others = np.array([i for i in range(size) if i != symbol], dtype=np.int64)
            repeated = np.full(len(others), symbol, dtype=np.int64)
            tables = [
                (estimate.rows(repeated), estimate.rows(others)) for estimate in (first, second)
            ]
            chances = np.zeros(len(others))
            found += self._crossed("ldp", repeated, others, tables, chances, most)
        return found

    def _likely_tops(self, size: int, width: int) -> list[int]:
        if size * size * width <= _MOST_PAIR_CELLS:
            return list(range(size))
        # Too many pairs to try all: start from the inputs that stand out against the average.
        average = Halves(self.first, self.second, np.full(size, 1 / size), self.horizon)
        ranked = sorted(average._lifts("eps_upper"), key=lambda candidate: -candidate.score)
        return [c.symbol for c in ranked[: max(4, _MOST_PAIR_CELLS // (size * width))]]

    def _crossed(
        self,
        side: Side,
        symbols: npt.NDArray[np.int64],
        against: npt.NDArray[np.int64] | None,
        tables: list[tuple[Estimate, Estimate]],
        probability: Floats,
        most: int | None = None,
    ) -> list[Suspicion]:
        best = np.zeros((2, len(symbols)))
        lengths = np.zeros((2, len(symbols)), dtype=np.int64)
        orders = []
        for i, (maker, judge) in enumerate((tables, tables[::-1])):
            orders.append(ordered(*maker))
            scores = prefix_scores(side, orders[i], *judge, probability, self.horizon)
            lengths[i] = np.argmax(scores, axis=1)
            best[i] = np.take_along_axis(scores, lengths[i][:, None], axis=1)[:, 0]
        # The mean of the two judgements ranks the inputs; the better order gives the event.
        mean = np.maximum(best, -1e9).mean(axis=0)
        rows = np.argsort(-mean, kind="stable")[:most]
        found = []
        for row in rows.tolist():
            i = int(best[1, row] > best[0, row])
            found.append(
                Suspicion(
                    side,
                    int(symbols[row]),
                    None if against is None else int(against[row]),
                    orders[i][row, : lengths[i, row] + 1].copy(),
                    float(mean[row]),
                )
            )
        return found


def best_share(top: float, bottom: float) -> float:
    """Return the share of draws to spend on the top source, for the smallest variance.

    The logarithm of the ratio has variance 1/(n s p) + 1/(n (1-s) q): smallest at
    s / (1-s) = sqrt(q / p).
    """
    if top <= 0 or bottom <= 0:
        return 0.5
    share = 1 / (1 + math.sqrt(top / bottom))
    return min(max(share, 0.125), 0.875)


def _without(weighted: Floats) -> Floats:
    total: Floats = weighted.sum(axis=0, keepdims=True) - weighted
    return np.maximum(total, 0.0)


def _widened(counts: Counts, width: int) -> Counts:
    if counts.shape[1] == width:
        return counts
    return np.pad(counts, ((0, 0), (0, width - counts.shape[1])))
