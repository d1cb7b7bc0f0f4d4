"""Estimates from encodings, whose counts say how many reports support each symbol.

A report supports the true symbol with probability p and any other one with probability q, so that

    (support_k - n q) / (p - q)

is an unbiased count. A bit of a person has variance p (1 - p) or q (1 - q), whence, given how many
people n_k have symbol k,

    Var = (n_k p (1 - p) + (n - n_k) q (1 - q)) / (p - q)^2.

The bits of a unary encoding are independent given the value, so that variances of several symbols
add up. A hashed report supports symbols together, in ways that counts do not hold: several symbols
then have an estimate and no interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.answering import Asked
from liftlock.estimate.choosing import misfit
from liftlock.estimate.consistent import projected
from liftlock.estimate.fit import Drift, Fit, chi_square_tail
from liftlock.estimate.intervals import Spread
from liftlock.estimate.intervals.normal import solve
from liftlock.estimate.level import quantile
from liftlock.estimate.options import Options
from liftlock.estimate.question import Question
from liftlock.estimate.result import Estimate
from liftlock.estimate.support_intervals import MOST, spread_of_each
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel, UnaryChannel
from liftlock.prior import Prior

_ENOUGH = 5.0
"""With fewer expected supports than this the normal law is rough."""


@dataclass(frozen=True, eq=False)
class Supports:
    """An encoding, a question, and shares that say where variances are small.

    The estimate of a sum is c A + sum_k (f_k - c) n_k with A the sum of weights: unbiased for any
    c. A histogram has c = 0; for a sum, c is a mean of f, so that no variance is spent on what is
    known, the number of people.
    """

    channel: SupportChannel
    question: Question
    reference: Floats

    @classmethod
    def of(cls, channel: SupportChannel, question: Question, prior: Prior | None) -> Supports:
        """Refuse an encoding that says nothing."""
        if channel.hit == channel.miss:
            raise NotDefined(
                "an estimate",
                "reports that do not depend on the values (a budget of 0)",
                "release with a larger budget",
            )
        size = len(channel.inputs)
        shares = np.full(size, 1.0 / size)
        if prior is not None:
            shares = prior.reordered(channel.inputs).floats()
        return cls(channel, question, shares)

    @property
    def several(self) -> bool:
        """Whether an answer adds up more than one symbol."""
        return bool((np.count_nonzero(self.question.values, axis=0) > 1).any())

    @property
    def rates(self) -> tuple[float, float]:
        """The probabilities p and q."""
        return float(self.channel.hit), float(self.channel.miss)

    def middle(self) -> Floats:
        """Return c for each answer."""
        f = self.question.values
        if not self.several:
            return np.zeros(f.shape[1])
        weights = self.noise(self.reference, np.ones(()))
        found: Floats = weights @ f / weights.sum()
        return found

    def counts(self, support: Floats, total: float) -> Floats:
        """Return unbiased counts of all symbols, given the support and the number of reports."""
        p, q = self.rates
        found: Floats = (support - q * total) / (p - q)
        return found

    def noise(self, people: Floats, total: Floats) -> Floats:
        """Return the variance of the support of each symbol, over (p - q)^2, given the people."""
        p, q = self.rates
        found: Floats = (total * q * (1 - q) + people * (p - q) * (1 - p - q)) / (p - q) ** 2
        return found

    def values(self, aggregate: Aggregate) -> Floats:
        """Return the unbiased answers."""
        middle = self.middle()
        counts = self.counts(aggregate.amounts(), aggregate.total)
        found: Floats = middle * aggregate.total + counts @ (self.question.values - middle)
        return found

    def consistent(self, aggregate: Aggregate) -> Floats:
        """Return the answers from the nearest histogram that can be."""
        counts = self.counts(aggregate.amounts(), aggregate.total)
        found: Floats = projected(counts, np.array([aggregate.total])) @ self.question.values
        return found

    def variances(self, aggregate: Aggregate, about: str) -> Floats:
        """Return unbiased estimates of the variances, about the people or the population.

        A population adds the variance of f(X) itself, with the shares that the reports speak for.
        """
        parts = (self.question.values - self.middle()) ** 2
        squares, total = aggregate.squares(), aggregate.total_squares
        if about == "people":
            found: Floats = self.noise(self.counts(squares, total), np.array(total)) @ parts
            return found
        number = float(aggregate.reports)
        shares = projected(self.counts(aggregate.floats(), number) / number, np.ones(1))
        f = self.question.values - shares @ self.question.values
        drawn = self.noise(shares, np.ones(())) @ parts + shares @ f**2
        spread: Floats = total * drawn
        return spread

    def spread(self, aggregate: Aggregate, options: Options) -> Spread:
        """Return intervals: of any kind for one symbol, normal ones for many and for sums."""
        if options.interval == "none":
            return Spread(None, None, None, "none")
        single = self.question.counts and not self.several
        if single and len(self.question.names) <= MOST:
            places = [int(place) for place in np.argmax(self.question.values, axis=0)]
            return spread_of_each(self.channel, aggregate, places, options)
        if options.interval not in ("auto", "normal"):
            what = f"more than {MOST} symbols" if single else "a sum over symbols"
            raise NotDefined(
                f"an interval of kind {options.interval}",
                f"{what} of an encoding",
                "ask for normal, or for a survey of one symbol",
            )
        if self.several and not isinstance(self.channel, UnaryChannel):
            why = "hashed reports support symbols together, and counts do not say which: "
            return Spread(None, None, None, "none", (why + "no interval for several symbols",))
        values, variance = self.values(aggregate), self.variances(aggregate, options.about)
        slope, bend = np.zeros_like(values), 0.0
        if single and aggregate.weights is None:
            # The variance is that of a binomial count: known for each count it may be.
            p, q = self.rates
            slope = slope + (1 - p - q) / (p - q)
            if options.about == "population":
                rate = q + (p - q) * values / aggregate.reports
                variance = aggregate.reports * rate * (1 - rate) / (p - q) ** 2
                slope = (1 - 2 * rate) / (p - q)
                bend = 1.0 / aggregate.reports
        low, high = solve(quantile(options.level), variance, slope, bend)
        low, high = values + low, values + high
        if aggregate.weights is None:
            least, most = self.question.values.min(axis=0), self.question.values.max(axis=0)
            low, high = np.clip([low, high], aggregate.reports * least, aggregate.reports * most)
        return Spread(np.sqrt(np.maximum(variance, 0.0)), low, high, "normal", self._few(aggregate))

    def _few(self, aggregate: Aggregate) -> tuple[str, ...]:
        if aggregate.reports * min(self.rates[1], 1 - self.rates[0]) >= _ENOUGH:
            return ()
        return ("the normal law is rough for so few reports: the level is not kept",)


def estimate_support(
    channel: SupportChannel,
    aggregate: Aggregate,
    question: Question,
    prior: Prior | None,
    options: Options,
) -> Estimate:
    """Estimate from the counts of an encoding."""
    supports = Supports.of(channel, question, prior)
    key, why = options.method, "as asked"
    if key == "auto":
        key, why = (
            "unbiased",
            "counts of an encoding do not say what was supported together, which others need",
        )
    if key in ("bayes", "likelihood"):
        raise NotDefined(
            f"the {key} estimate",
            "counts of an encoding, which do not say what was supported together",
            "give the reports themselves for bayes, or ask for unbiased or consistent",
        )
    fit = None if prior is None else fit_of_support(channel, aggregate, prior)
    if key == "consistent":
        if aggregate.weights is not None and aggregate.weights.least < 0:
            raise NotDefined(
                "the consistent estimate", "negative weights", "ask for unbiased instead"
            )
        values = supports.consistent(aggregate)
        spread = _around(values, supports.spread(aggregate, options))
    else:
        values, spread = supports.values(aggregate), supports.spread(aggregate, options)
    warning = None if fit is None else misfit(fit, key)
    warnings = () if warning is None else (warning,)
    return Asked(question, aggregate, options).answered(key, why, values, spread, fit, warnings)


def _around(values: Floats, spread: Spread) -> Spread:
    """Widen the interval of the unbiased estimate until it holds the consistent one."""
    if spread.low is None or spread.high is None:
        return spread
    low, high = np.minimum(spread.low, values), np.maximum(spread.high, values)
    remark = "standard error and interval are those of the unbiased estimate"
    return Spread(spread.errors, low, high, spread.kind, (*spread.remarks, remark))


def fit_of_support(channel: SupportChannel, aggregate: Aggregate, prior: Prior) -> Fit:
    """Test whether the support of all symbols can come from people drawn from the prior.

    Symbol k is supported with probability mu_k = q + (p - q) P(k), and of two unary bits the
    covariance is -(p - q)^2 P(j) P(k): a chi-square law with a degree for each symbol. For hashing,
    and where normal laws are rough, each support is binomial, and the smallest of their p-values
    counts as many times as there are symbols.
    """
    p, q = float(channel.hit), float(channel.miss)
    masses = prior.reordered(channel.inputs).floats()
    number = aggregate.reports
    support = aggregate.floats()
    rates = q + (p - q) * masses
    gaps = support - number * rates
    scores = gaps / np.sqrt(number * rates * (1 - rates))
    found = (support / number - q) / (p - q) if p > q else None
    order = np.argsort(-np.abs(scores), kind="stable")
    drifts = tuple(
        Drift(
            channel.inputs.labels[k],
            float(masses[k]),
            None if found is None else float(found[k]),
            float(scores[k]),
        )
        for k in order.tolist()
    )
    if isinstance(channel, UnaryChannel) and number * min(rates.min(), 1 - rates.max()) >= _ENOUGH:
        tied = (p - q) * masses
        alone = rates * (1 - rates) + tied**2
        pull = float((tied * gaps / alone).sum())
        statistic = float((gaps**2 / alone).sum()) + pull**2 / (1 - float((tied**2 / alone).sum()))
        statistic /= number
        note = f"chi-square of the support of {len(masses)} symbols"
        return Fit(chi_square_tail(statistic, len(masses)), statistic, len(masses), drifts, note)
    from scipy.special import bdtr, bdtrc

    low = bdtr(support, number, rates)
    high = np.where(support > 0, bdtrc(np.maximum(support - 1, 0), number, rates), 1.0)
    each = np.minimum(1.0, 2 * np.minimum(low, high))
    note = f"the smallest of {len(each)} p-values, times their number"
    p_value = min(1.0, len(each) * float(each.min()))
    return Fit(p_value, float(np.abs(scores).max()), None, drifts, note)
