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
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet
from liftlock.contexts import Prior
from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.model import Counted, Dense, Model
from liftlock.estimate.per_user import PosteriorSums
from liftlock.estimate.question import Question
from liftlock.estimate.result import Fit
from liftlock.exact.integers import Floats
from liftlock.forms import Reports, SupportChannel, UnaryChannel

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

    def statistic(self, counted: Counted) -> Floats:
        """Return the unbiased counts of all symbols, and the number of reports."""
        assert isinstance(counted, Aggregate)
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

    def posterior_scores(self, question: Question) -> Floats:
        """Refuse: counts do not say what was supported together."""
        del question
        raise NotDefined("the bayes estimate", self.lack, self.remedy)

    def _middle(self, question: Question) -> Floats:
        f = question.values
        if not sums_symbols(question):
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

    # --- variances ------------------------------------------------------------------------------

    def noise(self, people: Floats, total: Floats) -> Floats:
        """Return the variance of the support of each symbol, over (p - q)^2, given the people."""
        p, q = self.rates
        found: Floats = (total * q * (1 - q) + people * (p - q) * (1 - p - q)) / (p - q) ** 2
        return found

    def noise_per_person(self, question: Question) -> Floats:
        """Return what a person adds to the squared error of each answer, on average."""
        scores = self.unbiased_scores(question)[:-1]
        found: Floats = self.noise(self.reference, np.ones(())) @ scores**2
        return found

    def two_valued(self, aggregate: Aggregate, place: int) -> tuple[Dense, Question, Aggregate]:
        """Return the survey of one symbol: supported or not, a report is an answer of two values.

        Given whether a person has the symbol, her report supports it with probability p or q, and
        people are independent: a channel from two values to two outputs.
        """
        p, q = self.rates
        label = self.inputs.labels[place]
        values = Alphabet.of([f"not {label}", label])
        rows = np.array([[1 - q, q], [1 - p, p]])
        model = Dense(values, Alphabet.of(["not supported", "supported"]), rows, None)
        inside, weights = aggregate.counts[place], aggregate.weights
        if weights is not None:
            a, b = weights.sums[place], weights.squares[place]
            weights = replace(
                weights, sums=(weights.total - a, a), squares=(weights.total_squares - b, b)
            )
        counts = (aggregate.reports - inside, inside)
        two = Aggregate(aggregate.channel, counts, aggregate.reports, weights)
        return model, Question.survey(values, [label]), two


def sums_symbols(question: Question) -> bool:
    """Tell whether an answer adds up more than one symbol."""
    return bool((np.count_nonzero(question.values, axis=0) > 1).any())


# --- the reports themselves ---------------------------------------------------------------------


def posterior_sums(
    model: Encoding,
    reports: Reports,
    question: Question,
    aggregate: Aggregate,
    fit: Fit,
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
        sets = channel.supported(reports[some]).astype(np.float64)
        each = outside + (inside - outside) * (sets @ masses)
        a = scale[some]
        if question.is_histogram:
            # P(x | report) is one of two numbers: its sums need no matrix of posteriors.
            mean = masses * _added(a / each, sets, outside, inside)
            square = masses * _added(a**2 / each, sets, outside, inside)
            values += mean
            variances += square - masses**2 * _added((a / each) ** 2, sets, outside**2, inside**2)
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
        (model, aggregate),
    )


def _added(amounts: Floats, sets: Floats, outside: float, inside: float) -> Floats:
    """Return for each symbol sum_i amount_i (inside if supported, else outside)."""
    found: Floats = outside * amounts.sum() + (inside - outside) * (amounts @ sets)
    return found
