"""Maximum likelihood: the shares of values that make the reports most probable, with a proof.

The log-likelihood l(s) = sum_y n_y log lambda_y, lambda = s Q, is concave in the shares s. With
d_x = (1/n) sum_y n_y Q[x, y] / lambda_y, its slope towards "everybody has x" is n (d_x - 1), so

    l(best) - l(s) <= n (max_x d_x - 1):

the largest d_x proves how far any s is from the best. The iteration stops on that proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.model import Model
from liftlock.estimate.newton import newton_step
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats

GAP = 1e-6
"""Wanted of l(best) - l(s): shares then are within 0.0015 standard errors of the best ones."""
GAP_OF_MANY = 1e-4
"""The same for many counts at once, which are there to be spread out."""
_ROUNDING = 5e-12
"""What rounding leaves of the proof for each report."""
_CYCLES = 40
"""After so many accelerated steps of EM, Newton steps go on."""
_NEWTON = 60
_WAIT = 8
"""Newton steps that prove no more: so many in a row are enough."""
_ROUNDS = 4
_CYCLES_BETWEEN = 150
_STIR = 1e-7
"""Where Newton steps get stuck: rounds of EM, its steps, and the even share that it begins with."""
_SMALL = 256
"""With more symbols, many counts at once are left to EM, and take so many of its steps."""
_CYCLES_OF_MANY = 100


class Maximum(NamedTuple):
    """Shares (..., m) near the maximum, the proved gap of the log-likelihood (...), and steps."""

    shares: Floats
    gaps: Floats
    steps: int


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Estimates from the most likely shares: n sum_x s_x f(x), never negative, adding up to n.

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> answer = Likelihood(Model.of(coin), Question.histogram(coin.inputs))
    >>> answer.values(np.array([60.0, 40.0])).round(3).tolist()
    [70.0, 30.0]
    >>> answer.values(np.array([9.0, 1.0])).round(3).tolist()  # unbiased would say 13 and -3
    [10.0, 0.0]
    """

    model: Model
    question: Question
    key: str = "likelihood"
    found: dict[bytes, Maximum] = field(default_factory=dict, repr=False)

    def values(self, counts: Floats) -> Floats:
        """Return the answers (..., t) to counts (..., k)."""
        numbers = np.asarray(counts, dtype=np.float64)
        shares = self.maximum(numbers).shares
        found: Floats = numbers.sum(axis=-1, keepdims=True) * shares @ self.question.values
        return found

    def maximum(self, counts: Floats) -> Maximum:
        """Return the most likely shares, with the proof of how near they are."""
        if np.ndim(counts) > 1:
            return most_likely(self.model.rows, counts, self.model.reference)
        known = np.ascontiguousarray(counts, dtype=np.float64).tobytes()
        if known not in self.found:
            self.found[known] = most_likely(self.model.rows, counts, self.model.reference)
        return self.found[known]

    def unique(self, counts: Floats, shares: Floats) -> bool:
        """Whether no other answer is as likely: the reports seen tell the possible symbols apart.

        Other shares with the same likelihood live on symbols with d_x = 1 and give the reports
        that were seen the same probabilities.
        """
        seen = counts > 0
        if seen.all() and self.model.inverse.full:
            return True
        mixed = shares @ self.model.rows[:, seen]
        slopes = self.model.rows[:, seen] @ (counts[seen] / mixed) / counts.sum()
        tight = (shares > 0) | (slopes > 1 - 1e-6)
        rows = self.model.rows[np.ix_(tight, seen)] / np.sqrt(mixed)
        wanted = self.question.values[tight]
        solution = np.linalg.lstsq(rows, wanted, rcond=1e-12)[0]
        reach = np.abs(wanted).max(axis=0)
        return bool((np.abs(rows @ solution - wanted) <= 1e-6 * np.maximum(reach, 1e-300)).all())


def most_likely(rows: Floats, counts: Floats, start: Floats, gap: float | None = None) -> Maximum:
    """Maximise sum_y n_y log (s Q)_y over shares s, for counts (k,) or many of them (B, k).

    Steps of expectation and maximisation, s_x <- s_x d_x, extrapolated where that is likelier
    (SQUAREM), then Newton steps with the symbols that matter. The likelihood never falls. If the
    wanted gap is not reached, the gap that is returned is still proved.
    """
    numbers = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    totals = numbers.sum(axis=1)
    if (numbers < 0).any() or not (totals > 0).all():
        raise NotDefined(
            "the maximum of likelihood",
            "sums of weights that are negative or all 0",
            "ask for unbiased or bayes, which take weights of both signs",
        )
    many = len(numbers) > 1
    wanted = (GAP_OF_MANY if many else GAP) if gap is None else gap
    limits = np.maximum(wanted / totals, _ROUNDING)
    parts = numbers / totals[:, None]
    shares = np.tile(start / start.sum(), (len(parts), 1))
    polished = not many or rows.shape[0] <= _SMALL
    shares, slack, steps = _accelerated(
        rows, parts, shares, limits, _CYCLES if polished else _CYCLES_OF_MANY
    )
    if polished:
        # One Newton step even where EM has done: it sets shares to 0 that EM only brings near.
        for i in np.flatnonzero(slack > limits) if many else (0,):
            shares[i], slack[i], more = _polished(rows, parts[i], shares[i], limits[i])
            steps += more
    gaps = totals * np.maximum(slack, 0.0)
    return (
        Maximum(shares, gaps, steps) if np.ndim(counts) > 1 else Maximum(shares[0], gaps[0], steps)
    )


def _accelerated(
    rows: Floats, parts: Floats, shares: Floats, limits: Floats, cycles: int
) -> tuple[Floats, Floats, int]:
    """Take extrapolated steps of EM; return shares, max d - 1 of each, and the number of steps."""
    slack = np.full(len(parts), np.inf)
    left = np.arange(len(parts))
    steps = 0
    for _ in range(cycles):
        part, old = parts[left], shares[left]
        slopes = _slopes(rows, part, old @ rows)
        slack[left] = slopes.max(axis=1) - 1.0
        going = slack[left] > limits[left]
        if not going.any():
            break
        left, part, old, slopes = left[going], part[going], old[going], slopes[going]
        once = old * slopes
        twice = once * _slopes(rows, part, once @ rows)
        first, second = once - old, twice - 2.0 * once + old
        size = np.linalg.norm(second, axis=1)
        stretch = np.maximum(np.linalg.norm(first, axis=1) / np.maximum(size, 1e-300), 1.0)
        far = np.minimum(stretch, 1e6)[:, None]
        leap = old + 2.0 * far * first + far**2 * second
        # A share of 0 would stay 0 for ever.
        leap = np.maximum(leap, 0.01 * twice)
        leap /= leap.sum(axis=1, keepdims=True)
        better = _levels(part, leap @ rows) > _levels(part, twice @ rows)
        shares[left] = np.where(better[:, None], leap, twice / twice.sum(axis=1, keepdims=True))
        steps += 2
    return shares, slack, steps


def _polished(
    rows: Floats, part: Floats, shares: Floats, limit: float
) -> tuple[Floats, float, int]:
    """Take Newton steps, and between them more of EM where they get stuck."""
    shares, slack, steps = _newton(rows, part, shares, limit)
    for _ in range(_ROUNDS):
        if slack <= limit:
            break
        # EM never brings back a share of 0.
        start = (1.0 - _STIR) * shares + _STIR / len(shares)
        many, _, more = _accelerated(
            rows, part[None], start[None], np.array([limit]), _CYCLES_BETWEEN
        )
        found, left, last = _newton(rows, part, many[0], limit)
        steps += more + last
        if left < slack:
            shares, slack = found, left
    return shares, slack, steps


def _newton(rows: Floats, part: Floats, shares: Floats, limit: float) -> tuple[Floats, float, int]:
    """Take Newton steps on one vector of shares; return it, max d - 1, and the number of steps."""
    seen = part > 0
    rows, part = rows[:, seen], part[seen]
    slack = float((rows @ (part / (shares @ rows))).max()) - 1.0
    best, waited = slack, 0
    for step in range(_NEWTON):
        if slack <= limit and step > 0:
            return shares, slack, step
        found = newton_step(rows, part, shares)
        if found is None:
            return shares, slack, step
        left = float((rows @ (part / (found @ rows))).max()) - 1.0
        if slack <= limit < left:
            return shares, slack, step
        shares, slack = found, left
        best, waited = (slack, 0) if slack < 0.9 * best else (best, waited + 1)
        if waited >= _WAIT:
            break
    return shares, slack, _NEWTON


def _slopes(rows: Floats, parts: Floats, mixed: Floats) -> Floats:
    """Return d_x = sum_y (n_y / n) Q[x, y] / lambda_y."""
    ratios = np.divide(parts, mixed, out=np.zeros_like(mixed), where=parts > 0)
    found: Floats = ratios @ rows.T
    return found


def _levels(parts: Floats, mixed: Floats) -> Floats:
    """Return the log-likelihood per report; minus infinity where a report would be impossible."""
    with np.errstate(divide="ignore"):
        logs = np.log(mixed, out=np.zeros_like(mixed), where=parts > 0)
    found: Floats = (parts * logs).sum(axis=1)
    return found
