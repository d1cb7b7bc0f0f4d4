"""Encodings, whose counts say how many reports support each symbol.

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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import NotDefined, extra
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.fit import ENOUGH, chi_square_tail, sort_drifts
from liftlock.estimate.models.base import (
    CountedReports,
    Error,
    Model,
    no_prior_error,
    variances_of,
)
from liftlock.estimate.models.dense import Dense, bound_above, line_above
from liftlock.estimate.models.per_user import PerUser, PosteriorSums
from liftlock.estimate.question import About, Question
from liftlock.estimate.result import NOT_KEPT, GoodnessOfFit
from liftlock.exact.integers import Floats
from liftlock.model import Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.structured import Reports, SupportChannel, UnaryChannel

if TYPE_CHECKING:
    from liftlock.estimate.estimators import Linear

_MOST_SYMBOLS = 64
"""With more symbols, the interval of each one by itself would take too long."""
_CELLS = 1 << 22
"""So many pairs of report and symbol are unpacked at once."""


@dataclass(frozen=True, eq=False)
class Encoding(Model):
    """Counts of supported symbols: a report supports its own with probability p, others with q.

    The statistic has the unbiased count of each symbol, and the number of reports (or, with
    weights, sums of weights).

    >>> from liftlock.exact.budget import Budget
    >>> model = Encoding(UnaryChannel.of(["a", "b"], own=3, other=1, bits=2))
    >>> model.unbiased_scores(Question.survey(model.inputs, ["b"])).ravel().tolist()
    [0.0, 1.0, 0.0]
    """

    channel: SupportChannel
    masses: Floats | None = None
    estimators: ClassVar[frozenset[str]] = frozenset(("unbiased", "consistent"))
    complementary: ClassVar[bool] = False
    lack: ClassVar[str] = "counts of an encoding, which do not say what was supported together"
    remedy: ClassVar[str] = (
        "give the reports themselves for bayes, or ask for unbiased or consistent"
    )

    @classmethod
    def of(cls, channel: SupportChannel, prior: Prior | None = None) -> Encoding:
        """Read an encoding and a prior on its inputs (in any order)."""
        return cls(channel, None if prior is None else prior.reordered(channel.inputs).floats())

    @property
    def inputs(self) -> Alphabet:  # type: ignore[override]
        """The symbols."""
        return self.channel.inputs

    @property
    def rates(self) -> tuple[float, float]:
        """The probabilities p and q."""
        return float(self.channel.hit), float(self.channel.miss)

    @property
    def independent(self) -> bool:
        """Whether the bits of a report are independent given the value."""
        return isinstance(self.channel, UnaryChannel)

    @property
    def reference(self) -> Floats:
        """The prior, or a uniform one: where variances are to be small."""
        size = len(self.inputs)
        return np.full(size, 1.0 / size) if self.masses is None else self.masses

    # --- statistics and scores ------------------------------------------------------------------

    def statistic(self, counted: Aggregate) -> Floats:
        """Return the unbiased counts of all symbols, and the number of reports."""
        return np.append(self.counts(counted.amounts(), counted.total), counted.total)

    def total(self, statistic: Floats) -> Floats:
        """Return the number of reports."""
        return statistic[..., -1:]

    def combine(self, statistic: Floats, scores: Floats) -> Floats:
        """Return statistic @ scores, with the constant added last."""
        counts, total = statistic[..., :-1], statistic[..., -1:]
        found: Floats = scores[-1] * total + counts @ scores[:-1]
        return found

    def unbiased_scores(self, question: Question) -> Floats:
        """Return f - c for each symbol, and c for each report.

        The estimate of a sum is c A + sum_k (f_k - c) n_k with A the sum of weights: unbiased for
        any c. A count of one symbol has c = 0; for a sum, c is a mean of f, so that no variance is
        spent on what is known, the number of people.
        """
        if self.channel.hit == self.channel.miss:
            raise NotDefined(
                "an estimate",
                "reports that do not depend on the values (a budget of 0)",
                "release with a larger budget",
            )
        middle = self._middle(question)
        return np.vstack([question.values - middle, middle])

    def _middle(self, question: Question) -> Floats:
        f = question.values
        if not question.adds_several:
            return np.zeros(f.shape[1])
        weights = self.noise(self.reference, np.ones(()))
        found: Floats = weights @ f / weights.sum()
        return found

    def counts(self, support: Floats, total: float) -> Floats:
        """Return unbiased counts of all symbols, given the support and the number of reports."""
        p, q = self.rates
        if p == q:
            return np.full_like(support, np.nan)
        found: Floats = (support - q * total) / (p - q)
        return found

    # --- errors ---------------------------------------------------------------------------------

    def tally(self, counted: Aggregate) -> Aggregate:
        """Return the counts as they are."""
        return counted

    def noise(self, people: Floats, total: Floats) -> Floats:
        """Return the variance of the support of each symbol, over (p - q)^2, given the people."""
        p, q = self.rates
        found: Floats = (total * q * (1 - q) + people * (p - q) * (1 - p - q)) / (p - q) ** 2
        return found

    def prior_means(self, question: Question, tally: Aggregate) -> Floats:
        """Return what the prior expects of each answer."""
        if self.masses is None:
            raise no_prior_error("an assisted interval", "exact or normal")
        found: Floats = tally.total * (self.masses @ question.values)
        return found

    def unbiased_error(self, estimator: Linear[Any], tally: Aggregate, about: About) -> Error:
        """Return a bound of the variance of sums over symbols, whatever the truth is.

        A person with the symbol x adds the variance of all her bits, sum_k c_k^2 q (1 - q) / (p -
        q)^2 + c_x^2 (1 - p - q) / (p - q): for one symbol, that of a binomial count.
        """
        question = estimator.question
        if question.adds_several and not self.independent:
            why = "hashed reports support symbols together, and counts do not say which: "
            return Error((), remarks=(why + "no interval for several symbols",))
        p, q = self.rates
        parts = estimator.scores[:-1]
        middle = (question.values.min(axis=0) + question.values.max(axis=0)) / 2
        f = question.values - middle
        bits = q * (1 - q) / (p - q) ** 2 * (parts**2).sum(axis=0)
        target = bits + parts**2 * (1 - p - q) / (p - q)
        if about == "population":
            target = target + f**2
        ahead = estimator.values(self.statistic(tally)) - tally.total * middle
        line = line_above(f, target, self.reference)
        unit = np.sqrt(tally.total_squares / tally.reports)
        # Ratios of third moment and variance of a bit, which is 1 with probability q or p.
        ratios = np.concatenate([(1 - 2 * q) * parts, (1 - 2 * p) * parts]) / (p - q)
        drawn = 3 * np.ptp(f, axis=0) if about == "population" else 0.0
        if tally.signed:
            ratios = np.concatenate([ratios, -ratios])
        skew = unit * ((-ratios).max(axis=0) + drawn), unit * (ratios.max(axis=0) + drawn)
        step = unit / (p - q) if question.is_single else 0.0
        return Error((bound_above(line, ahead, target, tally, about),), skew, step)

    def possible_range(self, question: Question, tally: Aggregate) -> tuple[Floats, Floats] | None:
        """Return the least and the largest sum; with weights it may be anything."""
        if tally.weights is not None:
            return None
        return tally.reports * question.least, tally.reports * question.most

    def normality_remarks(
        self, estimator: Linear[Any], tally: Aggregate, errors: Floats
    ) -> tuple[str, ...]:
        """Say that there are too few reports for the normal distribution."""
        del estimator, errors
        p, q = self.rates
        if tally.reports * min(q, 1 - p) >= ENOUGH:
            return ()
        return (f"the normal approximation is rough for so few reports: {NOT_KEPT}",)

    def no_interval_error(self, kind: str, question: Question) -> NotDefined:
        """Return the refusal of a kind of interval for many symbols."""
        what = f"more than {_MOST_SYMBOLS} symbols" if question.is_single else "a sum over symbols"
        return NotDefined(
            f"an interval of kind {kind}",
            f"{what} of an encoding",
            "ask for normal, or for a survey of one symbol",
        )

    def by_symbol(
        self, question: Question, aggregate: Aggregate
    ) -> list[tuple[Model, Question, Aggregate]]:
        """Return surveys of single symbols: a table of two values has every kind of interval."""
        if not question.is_single or len(question.names) > _MOST_SYMBOLS:
            return []
        places = np.argmax(question.values, axis=0).tolist()
        return [self.binary_survey(aggregate, place) for place in places]

    def binary_survey(self, aggregate: Aggregate, place: int) -> tuple[Model, Question, Aggregate]:
        """Return the survey of one symbol: supported or not, a report is an answer of two values.

        Given whether a person has the symbol, her report supports it with probability p or q, and
        people are independent: a channel from two values to two outputs.
        """
        p, q = self.rates
        label = self.inputs.labels[place]
        values = Alphabet.of([f"not {label}", label])
        rows = np.array([[1 - q, q], [1 - p, p]])
        masses = None
        if self.masses is not None:
            masses = np.array([1.0 - self.masses[place], self.masses[place]])
        model = Dense(values, Alphabet.of(["not supported", "supported"]), rows, masses)
        inside, weights = aggregate.counts[place], aggregate.weights
        if weights is not None:
            a, b = weights.sums[place], weights.squares[place]
            weights = replace(
                weights, sums=(weights.total - a, a), squares=(weights.total_squares - b, b)
            )
        counts = (aggregate.reports - inside, inside)
        two = Aggregate(aggregate.channel, counts, aggregate.reports, weights)
        return model, Question.survey(values, [label]), two

    def expected_errors(self, question: Question, method: str, about: About) -> Floats:
        """Return what one person adds to the squared error of each answer, under the prior."""
        del method
        assert self.masses is not None
        if question.adds_several and not self.independent:
            raise NotDefined(
                "the expected error of a sum over several symbols",
                f"{self.channel.form} encoding, whose supports depend on each other",
                "ask for the histogram, or use a unary encoding or a table",
            )
        scores = self.unbiased_scores(question)[:-1]
        noise: Floats = self.noise(self.reference, np.ones(())) @ scores**2
        return noise if about == "people" else noise + variances_of(self.masses, question.values)

    # --- tests, and the reports themselves --------------------------------------------------------

    def fit(self, question: Question, counted: Aggregate) -> GoodnessOfFit | None:
        """Test the support of all symbols against the prior."""
        del question
        return None if self.masses is None else support_fit(self, counted)

    def read_posteriors(
        self, reports: Any, weights: Any, aggregate: Aggregate, question: Question
    ) -> tuple[Model, CountedReports] | None:
        """Add up the posteriors of the reports one by one."""
        if self.masses is None:
            return None
        packed = self.channel.check_reports(np.asarray(reports))
        fit = support_fit(self, aggregate)
        return PerUser(self.inputs), posterior_sums(self, packed, question, aggregate, fit, weights)


def support_fit(model: Encoding, aggregate: Aggregate) -> GoodnessOfFit:
    """Test whether the support of all symbols can come from people drawn from the prior.

    Symbol k is supported with probability mu_k = q + (p - q) P(k), and of two unary bits the
    covariance is -(p - q)^2 P(j) P(k): a chi-square distribution with a degree for each symbol. For
    hashing, and where normal distributions are rough, each support is binomial, and the smallest of
    their p-values counts as many times as there are symbols.
    """
    p, q = model.rates
    masses = model.masses
    assert masses is not None
    number = aggregate.reports
    support = aggregate.floats()
    rates = q + (p - q) * masses
    gaps = support - number * rates
    scores = gaps / np.sqrt(number * rates * (1 - rates))
    found = (support / number - q) / (p - q) if p > q else None
    drifts = sort_drifts(model.inputs, masses, found, scores)
    if model.independent and number * min(rates.min(), 1 - rates.max()) >= ENOUGH:
        tied = (p - q) * masses
        alone = rates * (1 - rates) + tied**2
        pull = float((tied * gaps / alone).sum())
        statistic = float((gaps**2 / alone).sum()) + pull**2 / (1 - float((tied**2 / alone).sum()))
        statistic /= number
        note = f"chi-square of the support of {len(masses)} symbols"
        return GoodnessOfFit(
            chi_square_tail(statistic, len(masses)), statistic, len(masses), drifts, note
        )
    with extra("statistics"):
        from scipy.special import bdtr, bdtrc

    low = bdtr(support, number, rates)
    high = np.where(support > 0, bdtrc(np.maximum(support - 1, 0), number, rates), 1.0)
    each = np.minimum(1.0, 2 * np.minimum(low, high))
    note = f"the smallest of {len(each)} p-values, times their number"
    p_value = min(1.0, len(each) * float(each.min()))
    return GoodnessOfFit(p_value, float(np.abs(scores).max()), None, drifts, note)


# --- the reports themselves ---------------------------------------------------------------------


def posterior_sums(
    model: Encoding,
    reports: Reports,
    question: Question,
    aggregate: Aggregate,
    fit: GoodnessOfFit,
    weights: npt.ArrayLike | None = None,
) -> PosteriorSums:
    """Add up E[f(X) | report] and Var(f(X) | report) over all reports, with weights a_i and a_i^2.

    A report that supports the set A of symbols has posteriors P(x) a / D inside A and P(x) b / D
    outside, with the likelihoods in the proportion a : b and D = b + (a - b) P(A). Sums over people
    need P(A) of each report only, so that reports are read in blocks.

    Source: 001 eq. (10), eq. (14), eq. (27).
    """
    channel, masses = model.channel, model.masses
    assert masses is not None
    size = len(masses)
    # Only their proportion matters, and integers of many bits leave the range of floats.
    inside = 1.0
    outside = channel.levels[1] / channel.levels[0]
    scale = (
        np.ones(len(reports))
        if weights is None
        else np.broadcast_to(np.asarray(weights, dtype=np.float64), (len(reports),))
    )
    values, variances = np.zeros(question.values.shape[1]), np.zeros(question.values.shape[1])
    step = max(1, _CELLS // size)
    centre = masses @ question.values
    f = question.values - centre
    for start in range(0, len(reports), step):
        some = slice(start, start + step)
        sets = channel.support_matrix(reports[some]).astype(np.float64)
        each = outside + (inside - outside) * (sets @ masses)
        a = scale[some]
        if question.is_histogram:
            # P(x | report) is one of two numbers: its sums need no matrix of posteriors.
            mean = masses * _sum_support(a / each, sets, outside, inside)
            square = masses * _sum_support(a**2 / each, sets, outside, inside)
            values += mean
            variances += square - masses**2 * _sum_support(
                (a / each) ** 2, sets, outside**2, inside**2
            )
        else:
            means = outside * (masses @ f) + (inside - outside) * (sets @ (masses[:, None] * f))
            means /= each[:, None]
            seconds = outside * (masses @ f**2) + (inside - outside) * (
                sets @ (masses[:, None] * f**2)
            )
            seconds /= each[:, None]
            values += a @ means + a.sum() * centre
            variances += a**2 @ np.maximum(seconds - means**2, 0.0)
    return PosteriorSums(
        aggregate.reports,
        aggregate.total,
        aggregate.offset,
        values,
        np.maximum(variances, 0.0),
        aggregate.weights is not None,
        fit,
    )


def _sum_support(amounts: Floats, sets: Floats, outside: float, inside: float) -> Floats:
    """Return for each symbol sum_i amount_i (inside if supported, else outside)."""
    found: Floats = outside * amounts.sum() + (inside - outside) * (amounts @ sets)
    return found
