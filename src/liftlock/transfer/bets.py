"""Bets: what a fixed channel leaks about the people whom the rows of a table are draws of.

Rows (s, x) are independent draws from an unknown joint P, of which only the counts N are known; the
channel W is fixed. With w = W(y|x), p = P(s) and R a limit, the lift P(s|y) / P(s) is at most R if

    E[w (R p - B)] >= 0,    B = 1 where the row has the secret s, else 0.

A gambler who doubts it starts with 1, and wins or loses a share of the capital with each row:

    M(p) = product over rows of 1 + h Z,    Z = sign (w (R p - B) + k (B - p)),

with the stake h and the slope k fixed before the rows are seen. E[B] = p, so if the other side is
right the capital has mean 1 or less, and is 1 / error or more with probability at most the error
(Markov), at every number of rows. p is not known but lies in an interval, on which ln M is
concave: its ends decide. The same coins for every machine send a fifth of the rows, at random and
whatever they say, to set the stakes; the others bet.

*At most* needs no share of the error for each secret and output: to be wrong, the bet of the one
with the largest lift must have been won. *At least* is the mean over all of them of the capitals.
With h and k fixed, M rises or falls with R, so that the largest limit that is lost is found by
halving.

Source: math Theorem 4 (bets), Theorem 2 (intersection-union).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.exact.integers import Floats
from liftlock.notions.lift import LeakRange
from liftlock.probe.coins import Coins
from liftlock.probe.intervals import proportion_lower, proportion_upper

ERROR_RATE = 0.01
"""In how many of all tables chance may pass for more, unless told otherwise."""

Side: TypeAlias = Literal["lower", "upper"]

_FOR_STAKES = 0.2
"""The share of the rows that set the stakes."""

_FOR_SECRETS = 0.1
"""The share of the error that the intervals of P(s) may use."""

_STEPS_PER_NAT = 1000
_MOST_STEPS = 1 << 14
"""Bounds are multiples of a thousandth of a nat; above 16 nats there is none."""

_LEFT = 0.5
"""What a row leaves of the capital at least, where P(s) is near what the first rows say."""

_HOPE = 0.5
"""Bets are placed where the first rows show so much of what would decide them."""

_NEAR = 3.0
"""So many standard errors from what the first rows say are near."""

_TRIED = np.concatenate([[0.0], 16.0 * 0.5 ** np.linspace(12, 0, 97)])
"""Limits in nats that stakes may be set for."""

_MOST_AT_ONCE = 1 << 21
"""So many numbers are in the memory at once."""

_FLAT = 2
"""Tables have so many dimensions."""

_TINY = 1e-300
"""What keeps a division from one by 0."""

_ROUNDING = 1e-9
"""More than the relative error of a sum of logarithms in floats, and the error of its terms."""


class LeakBounds(NamedTuple):
    """Confidence bounds of a leakage."""

    at_least: LeakRange
    """Both sides hold at once but for the error rate: what chance does not explain."""
    at_most: LeakRange
    """Each side holds but for the error rate; infinity where rows are too few for a bound."""


@dataclass(frozen=True, eq=False)
class Bets:
    """Bets on what a channel leaks, from the counts of secrets and inputs.

    `counts` are of (secret, input), or of (part of the table, secret, input), where P(s) is that of
    the part and all parts count together. `chances` are W(y|x) for (input, output), and `ends` the
    smallest and the largest W(y|x) of each output over all inputs that may occur, if these are more
    than the ones that are counted. A secret without rows has no upper bound. Rows must be
    independent: one for each person. Parts that are left out after a look at the table still count
    for lower bounds: `parts` is how many there were.

    >>> rows = np.array([[4000, 1000], [1000, 4000]])
    >>> found = Bets(rows, np.eye(2)).bounds()
    >>> found.at_least, found.at_most  # truly ln 2.5 = 0.916, ln 1.6 = 0.470
    (LeakRange(eps_lower=0.829, eps_upper=0.439), LeakRange(eps_lower=1.013, eps_upper=0.505))
    """

    counts: npt.NDArray[np.int64]
    chances: Floats
    ends: tuple[Floats, Floats] | None = None
    seed: int = 0
    parts: int | None = None

    # --- what is asked ---------------------------------------------------------------------------

    def bounds(self, error: float = ERROR_RATE) -> LeakBounds:
        """Return lower and upper confidence bounds of both sides of the leakage."""
        return LeakBounds(self.at_least(error), self.at_most(error))

    def at_least(self, error: float = ERROR_RATE) -> LeakRange:
        """Return lower bounds of how far beliefs fall and rise, wrong together with the error."""
        return LeakRange(*(self._at_least(side, error / 2) for side in _SIDES))

    def at_most(self, error: float = ERROR_RATE) -> LeakRange:
        """Return upper bounds of how far beliefs fall and rise, each wrong with the error."""
        return LeakRange(*(self._at_most(side, error) for side in _SIDES))

    def bounded(self, error: float = ERROR_RATE) -> npt.NDArray[np.bool_]:
        """Tell of each part of the table whether it has rows enough for upper bounds."""
        parts, secrets, _ = self._tables.shape
        found = np.ones(parts, dtype=bool)
        needed = -math.log((1 - _FOR_SECRETS) * error)
        for side in _SIDES:
            bet = self._place_bets(side, error, None, against=False)
            capitals = self._capitals(bet, _MOST_STEPS / _STEPS_PER_NAT)
            decided = np.concatenate([*capitals, np.zeros(0)]) >= needed
            found[np.unique(bet.group[~decided] // secrets)] = False
        return found

    def certify(self, lower: float | None, upper: float | None, error: float = ERROR_RATE) -> bool:
        """Tell whether the leakage is within limits in nats; None is no limit.

        Of channels that leak more, at most the error rate is certified.
        """
        return all(
            self._certified(self._place_bets(side, error, limit, against=False), limit)
            for side, limit in _limited(lower, upper)
        )

    def alarm(self, lower: float | None, upper: float | None, error: float = ERROR_RATE) -> bool:
        """Tell whether the leakage is beyond limits in nats; None is no limit.

        Of channels that leak no more than that, at most the error rate raises it.
        """
        sides = _limited(lower, upper)
        return any(
            self._alarmed(self._place_bets(side, error / len(sides), limit, against=True), limit)
            for side, limit in sides
        )

    def _at_least(self, side: Side, error: float) -> float:
        bet = self._place_bets(side, error, None, against=True)
        if not self._alarmed(bet, 0.0):
            return 0.0
        lost, won = 0, _MOST_STEPS
        while won - lost > 1:
            middle = (lost + won) // 2
            if self._alarmed(bet, middle / _STEPS_PER_NAT):
                lost = middle
            else:
                won = middle
        return lost / _STEPS_PER_NAT

    def _at_most(self, side: Side, error: float) -> float:
        bet = self._place_bets(side, error, None, against=False)
        if not self._certified(bet, _MOST_STEPS / _STEPS_PER_NAT):
            return math.inf
        low, high = -1, _MOST_STEPS
        while high - low > 1:
            middle = (low + high) // 2
            if self._certified(bet, middle / _STEPS_PER_NAT):
                high = middle
            else:
                low = middle
        return high / _STEPS_PER_NAT

    def _certified(self, bet: _Bets, limit: float) -> bool:
        """Tell whether all bets that one lift is beyond the limit are lost, each by itself."""
        needed = -math.log((1 - _FOR_SECRETS) * bet.error)
        return all(bool((capital >= needed).all()) for capital in self._capitals(bet, limit))

    def _alarmed(self, bet: _Bets, limit: float) -> bool:
        """Tell whether the mean bet that all lifts are within the limit is lost."""
        needed = -math.log((1 - _FOR_SECRETS) * bet.error) + math.log(self._bets)
        total = -math.inf
        for capital in self._capitals(bet, limit):
            total = np.logaddexp(total, np.logaddexp.reduce(capital))
        return bool(total >= needed)

    # --- setting the stakes, with the first rows -------------------------------------------------

    @cached_property
    def _used(self) -> npt.NDArray[np.bool_]:
        """Which outputs can come out."""
        return np.asarray(self._ends[1] > 0)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        if self.ends is not None:
            return self.ends
        return self.chances.min(axis=0), self.chances.max(axis=0)

    @cached_property
    def _weights(self) -> Floats:
        """The share w for (input, output); the largest of an output is 1."""
        return np.asarray(self.chances[:, self._used] / self._ends[1][self._used])

    @cached_property
    def _least(self) -> Floats:
        """The smallest w of each output."""
        return np.asarray((self._ends[0] / np.maximum(self._ends[1], _TINY))[self._used])

    @cached_property
    def _first(self) -> npt.NDArray[np.int64]:
        """The counts of the rows that set the stakes."""
        coins = Coins(self.seed)
        coins.see(self._tables)
        return np.asarray(coins.toss().binomial(self._tables, _FOR_STAKES), dtype=np.int64)

    @cached_property
    def _tables(self) -> npt.NDArray[np.int64]:
        """The counts of (part, secret, input)."""
        return self.counts if self.counts.ndim > _FLAT else self.counts[None]

    @cached_property
    def _bets(self) -> int:
        """How many bets there are on one side, those on parts that were left out included."""
        parts, secrets, _ = self._tables.shape
        return max(1, int(self.parts or parts) * int(secrets) * len(self._least))

    @cached_property
    def _stakes(self) -> _Stakes:
        return _Stakes.of(self._first, self._weights)

    def _place_bets(self, side: Side, error: float, limit: float | None, *, against: bool) -> _Bets:
        """Set stakes for a limit, or each for the one at which it would just be decided.

        Against lifts within the limit only those bets are placed that the first rows recommend.
        """
        known = self._stakes
        betting = (self._tables - self._first).sum(axis=(1, 2))
        sign = 1.0 if (side == "upper") != against else -1.0
        chance = error / self._bets if against else error
        enough = np.sqrt(-2 * math.log((1 - _FOR_SECRETS) * chance) / np.maximum(betting, 1))
        enough = np.repeat(enough, self._tables.shape[1])[:, None]
        placed = np.ones(known.both.shape, dtype=bool)
        if limit is not None:
            ratio = np.full(known.both.shape, math.exp(limit if side == "upper" else -limit))
        else:
            ratio = known.ratio(side, sign * enough, last=against)
            if against:
                placed = known.decided(1.0, _HOPE * sign * enough)
        group, output = np.nonzero(placed)
        parts, secrets, _ = self._tables.shape
        share = _FOR_SECRETS * error / 2 / ((self.parts or parts) * secrets if against else 1)
        told = self._tables.sum(axis=2)
        total, told = np.repeat(told.sum(axis=1), secrets), told.reshape(-1)
        ends = (
            proportion_lower(told, total, share)[group],
            proportion_upper(told, total, share)[group],
        )
        slope = (ratio * known.mean)[placed]
        bets = _Bets(side, error, sign, np.zeros_like(slope), slope, ends, group, output)
        near = tuple(end[group, 0] for end in known.near())
        worst = np.min(self._corners(bets, ratio[placed], near), axis=0)
        most = np.where(worst < 0, (1 - _LEFT) / np.maximum(-worst, _TINY), np.inf)
        stake = np.minimum((enough / known.spread(ratio))[placed], most)
        return replace(bets, stake=stake)

    def _corners(
        self, bets: _Bets, ratio: Floats | float, secret: tuple[Floats, ...]
    ) -> list[Floats]:
        """Return Z at all ends of w, p and B, of which it is a multilinear function."""
        least = self._least[bets.output]
        return [
            bets.sign * (w * (ratio * p - told) + bets.slope * (told - p))
            for w in (least, np.ones_like(least))
            for p in secret
            for told in (0.0, 1.0)
        ]

    # --- betting, with the others ----------------------------------------------------------------

    @cached_property
    def _later(self) -> tuple[Floats, Floats]:
        """How many of the rows that bet have the secret and an input, and only the input."""
        later = self._tables - self._first
        others = (later.sum(axis=1, keepdims=True) - later).reshape(-1, later.shape[2])
        return later.reshape(others.shape).astype(float), others.astype(float)

    def _capitals(self, bets: _Bets, limit: float) -> Iterator[Floats]:
        """Yield ln M at the worst P(s), rounded down, of some bets at a time."""
        ratio = math.exp(limit if bets.side == "upper" else -limit)
        corners = self._corners(bets, ratio, bets.secret)
        possible = 1 + bets.stake * np.min(corners, axis=0) > _ROUNDING
        later, others = self._later
        every = self._weights.T  # output, input
        step = max(1, _MOST_AT_ONCE // max(1, every.shape[1]))
        for start in range(0, len(bets.stake), step):
            part = slice(start, start + step)
            stake = np.where(possible[part], bets.sign * bets.stake[part], 0.0)[:, None]
            group, slope = bets.group[part], bets.slope[part, None]
            w, told, untold = every[bets.output[part]], later[group], others[group]
            worst = np.full(len(group), np.inf)
            for end in bets.secret:
                p = end[part, None]
                without = stake * p * (w * ratio - slope)
                terms = told * np.log1p(without + stake * (slope - w))
                terms_without = untold * np.log1p(without)
                size = np.abs(terms).sum(axis=1) + np.abs(terms_without).sum(axis=1)
                total = terms.sum(axis=1) + terms_without.sum(axis=1)
                worst = np.minimum(worst, total - _ROUNDING * (1 + size))
            yield np.where(possible[part], worst, -np.inf)


@dataclass(frozen=True, eq=False)
class _Bets:
    """Bets on a (part and secret) and an output each: that a limit is kept, or that it is not."""

    side: Side
    error: float
    sign: float
    stake: Floats
    slope: Floats
    secret: tuple[Floats, Floats]
    """The ends of the interval of P(s)."""
    group: npt.NDArray[np.intp]
    """Of which part and secret."""
    output: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Stakes:
    """What the first rows say, and one more: somebody who is like everybody else."""

    rows: Floats
    p: Floats
    """P(s) for each part and secret."""
    mean: Floats
    """E[w] for each of them and each output, in the part."""
    square: Floats
    """E[w^2]."""
    both: Floats
    """E[w B]."""
    both_square: Floats
    """E[w^2 B]."""

    @classmethod
    def of(cls, first: npt.NDArray[np.int64], w: Floats) -> _Stakes:
        """Take means over the first rows of each part."""
        secrets, inputs = first.shape[1:]
        rows = np.repeat(first.sum(axis=(1, 2)), secrets)[:, None].astype(float)
        of_input = (np.repeat(first.sum(axis=1), secrets, axis=0) + 1 / inputs) / (rows + 1)
        told = first.reshape(-1, inputs)
        p = (told.sum(axis=1, keepdims=True) + 0.5) / (rows + 1)
        mean, square = of_input @ w, of_input @ w**2
        both = (told @ w + p * mean) / (rows + 1)
        return cls(rows, p, mean, square, both, (told @ w**2 + p * square) / (rows + 1))

    def spread(self, ratio: Floats | float) -> Floats:
        """Return the standard deviation of Z with k = R E[w]."""
        p, mean, slope = self.p, self.mean, ratio * self.mean
        alone = (ratio * p) ** 2 * (self.square - mean**2)
        mixed = self.both_square - self.both * (mean + slope) + p * mean * slope
        told = self.both_square - 2 * self.both * slope + p * slope**2
        least = 1e-12 * mean * p + _TINY
        found: Floats = np.sqrt(np.maximum(alone - 2 * ratio * p * mixed + told, least))
        return found

    def decided(self, ratio: Floats | float, enough: Floats) -> npt.NDArray[np.bool_]:
        """Tell where Z is above 0 by so many standard deviations (below it, if negative)."""
        z = np.sign(enough) * (self.mean * ratio * self.p - self.both)
        return np.asarray(z >= np.abs(enough) * self.spread(ratio))

    def ratio(self, side: Side, enough: Floats, *, last: bool) -> Floats:
        """Return the first limit R at which a bet would be decided, or the last one."""
        limits = np.exp(_TRIED if side == "upper" else -_TRIED)
        found = np.full(self.both.shape, limits[0] if last else limits[-1])
        step = max(1, _MOST_AT_ONCE // max(1, self.both.size))
        limits = limits if last else limits[::-1]
        for start in range(0, len(limits), step):
            tried = limits[start : start + step, None, None]
            decided = self.decided(tried, enough)
            place = len(tried) - 1 - decided[::-1].argmax(axis=0)
            found = np.where(decided.any(axis=0), tried[place, 0, 0], found)
        return found

    def near(self) -> tuple[Floats, Floats]:
        """Return between which ends P(s) may well be."""
        p, error = self.p, _NEAR * np.sqrt(self.p * (1 - self.p) / np.maximum(self.rows, 1))
        low = np.maximum(np.minimum(p / 2, p - error), 0.0)
        return low, np.minimum(np.maximum(1.5 * p, p + error), 1.0)


_SIDES: tuple[Side, Side] = ("lower", "upper")


def _limited(lower: float | None, upper: float | None) -> list[tuple[Side, float]]:
    """Return the sides that have a limit."""
    return [
        (side, limit)
        for side, limit in zip(_SIDES, (lower, upper), strict=True)
        if limit is not None and math.isfinite(limit)
    ]
