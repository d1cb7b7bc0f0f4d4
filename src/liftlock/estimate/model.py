"""A channel as estimators see it: what was counted, and which scores turn it into answers.

Models differ and estimators do not: `Dense` is a table of probabilities, `Encoding` counts which
symbols reports support, `PerUser` adds up what each report says by itself. Guarantees are exact;
estimates are statistics, and float64 is far more precise than they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.contexts import Prior
from liftlock.errors import NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats

_SHARE = 1e-2
"""The part of a uniform prior that is mixed in where a reference prior has zeros."""
_BIAS = 1e-6
"""The largest bias of one person's score, as a part of the range of f, that is passed over.

Where the reports do not determine the answer the bias is of the order of the range itself, and
rounding leaves far less in a channel that is only noisy, so that nothing near the limit is usual.
"""
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
_NAMED = 3
_CONDITION = 1e12
"""Above this, digits of an inverse by elimination are lost; singular values decide what is left."""
_GRAM_CONDITION = 1e9
"""The same for the Gram matrix, whose condition is the square of that of the channel."""
_RANK = 1e-12
"""Singular values below this part of the largest are rounding errors."""
_SMALL = 200
"""So many rows or columns take no time in a singular value decomposition."""


class Counted(Protocol):
    """What reports were added up to: an `Aggregate`, or sums over users."""

    @property
    def reports(self) -> int:
        """How many reports there are."""
        ...

    @property
    def total(self) -> float:
        """The sum of their weights: their number, without weights."""
        ...

    @property
    def offset(self) -> float:
        """The sum of their offsets."""
        ...


class Model(ABC):
    """What an estimator knows of a mechanism: how people's values become a statistic.

    A statistic of shape (..., k) stands for many sets of reports at once. Linear estimators add up
    scores of shape (k, t), for t answers.
    """

    inputs: Alphabet
    masses: Floats | None
    """The prior of each input, if one is known."""
    estimators: ClassVar[frozenset[str]]
    """The keys of the estimators that the statistic is enough for."""
    lack: ClassVar[str] = ""
    """What the others would need, and where to find it: for their refusal."""
    remedy: ClassVar[str] = ""

    def refuse(self, key: str) -> None:
        """Refuse an estimator that the statistic is not enough for."""
        if key not in self.estimators:
            raise NotDefined(f"the {key} estimate", self.lack, self.remedy)

    @abstractmethod
    def statistic(self, counted: Counted) -> Floats:
        """Return what was counted, shape (k,)."""

    @abstractmethod
    def total(self, statistic: Floats) -> Floats:
        """Return the sum of all weights, shape (..., 1)."""

    @abstractmethod
    def unbiased_scores(self, question: Question) -> Floats:
        """Return s with E[statistic @ s] = sum_i f(x_i) whatever the truth, or refuse."""

    @abstractmethod
    def posterior_scores(self, question: Question) -> Floats:
        """Return s with statistic @ s = sum_i E[f(X_i) | report i], or refuse."""

    def combine(self, statistic: Floats, scores: Floats) -> Floats:
        """Return statistic @ scores."""
        found: Floats = np.asarray(statistic, dtype=np.float64) @ scores
        return found


# --- a table of probabilities -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dense(Model):
    """The rows Q[x, y] = P(y | x) of a channel, and the masses of the prior if there is one.

    The statistic is the number of reports of each output, or the sum of their weights.

    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Dense.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> model.posteriors.round(4).tolist()
    [[0.9643, 0.0357], [0.75, 0.25]]
    """

    inputs: Alphabet
    outputs: Alphabet
    rows: Floats
    masses: Floats | None
    estimators: ClassVar[frozenset[str]] = frozenset(
        ("bayes", "unbiased", "likelihood", "consistent")
    )
    noun: ClassVar[str] = "values"
    """What the inputs are called."""
    unexplained: ClassVar[str] = "no prior explains these reports"
    """What is said of reports that no shares of the inputs make likely."""

    @classmethod
    def of(cls, channel: Channel, prior: Prior | None = None) -> Dense:
        """Read a channel and a prior on its inputs (in any order)."""
        masses = None if prior is None else prior.reordered(channel.inputs).floats()
        return cls(channel.inputs, channel.outputs, channel.floats(), masses)

    @property
    def symbols(self) -> int:
        """How many inputs there are."""
        return len(self.inputs)

    @cached_property
    def reference(self) -> Floats:
        """Masses that are all positive: the prior, or one near it, or a uniform one."""
        uniform = np.full(self.symbols, 1.0 / self.symbols)
        if self.masses is None:
            return uniform
        if self.masses.min() > 0:
            return self.masses
        mixed: Floats = (1.0 - _SHARE) * self.masses + _SHARE * uniform
        return mixed

    @cached_property
    def expected(self) -> Floats:
        """P(y) under the reference masses."""
        return self.mixture(self.reference)

    def mixture(self, masses: Floats) -> Floats:
        """Return P(y) when the inputs have these masses (or counts, for expected counts)."""
        found: Floats = masses @ self.rows
        return found

    @cached_property
    def inverse(self) -> Inverse:
        """The generalised inverse of the rows that is best under the reference masses."""
        return Inverse.of(self.rows, self.expected)

    @cached_property
    def posteriors(self) -> Floats:
        """P(x | y) under the prior, a row for each output; the prior itself where P(y) = 0."""
        assert self.masses is not None
        return self.beliefs(self.masses)

    def beliefs(self, masses: Floats) -> Floats:
        """Return P(x | y) under any masses, a row for each output."""
        joint = (self.rows * masses[:, None]).T
        totals = joint.sum(axis=1, keepdims=True)
        possible = totals > 0
        found: Floats = np.where(possible, joint / np.where(possible, totals, 1.0), masses)
        return found

    # --- statistics and scores ------------------------------------------------------------------

    def statistic(self, counted: Counted) -> Floats:
        """Return the sum of weights of each output."""
        assert isinstance(counted, Aggregate)
        return counted.amounts()

    def total(self, statistic: Floats) -> Floats:
        """Return the sum over all outputs."""
        found: Floats = statistic.sum(axis=-1, keepdims=True)
        return found

    def unbiased_scores(self, question: Question) -> Floats:
        """Return the scores that are right on average for every truth, with the least variance.

            minimise sum_y P(y) g(y)^2    subject to    sum_y Q[x, y] g(y) = f(x) for every x

        With as many outputs as inputs this is the inverse of the channel. P(y) is that of the prior
        if there is one: a wrong one costs precision and never makes a bias.

        Source: 001 eq. (41).
        """
        scores, misses = self._solved(question)
        if misses is not None:
            raise self._refusal(misses)
        return scores

    def identifies(self, question: Question) -> bool:
        """Whether the law of the reports determines the answer, so an unbiased estimate exists."""
        return self._solved(question)[1] is None

    def posterior_scores(self, question: Question) -> Floats:
        """Return g(y) = E[f(X) | y] = sum_x f(x) P(x) Q[x, y] / P(y).

        An output that the prior calls impossible counts with the prior mean.

        Source: 001 eq. (10), eq. (16), eq. (27), eq. (30).
        """
        if self.masses is None:
            raise no_prior()
        if question.is_histogram:
            return self.posteriors
        found: Floats = self.posteriors @ question.values
        return found

    def posterior_variances(self, question: Question) -> Floats:
        """Return Var(f(X) | y): a row for each output, a column for each answer.

        With independent people, the squared error of the Bayes estimate is sum_y n_y Var(f | y),
        and its mean is n times the loss of 001 eq. (14).

        Source: 001 Prop 2, eq. (14).
        """
        if self.masses is None:
            raise no_prior()
        if question.is_histogram:
            return self.posteriors * (1.0 - self.posteriors)
        # Centred first: a difference of large squares would lose its digits.
        centred = question.values - self.masses @ question.values
        means = self.posteriors @ centred
        found: Floats = np.maximum(self.posteriors @ centred**2 - means**2, 0.0)
        return found

    def value_variances(self, question: Question) -> Floats:
        """Return Var f(X) under the prior, for each answer."""
        assert self.masses is not None
        found: Floats = self.masses @ (question.values - self.masses @ question.values) ** 2
        return found

    def error_variances(
        self,
        scores: Floats,
        question: Question,  # noqa: ARG002 - a value that is asked for is known given the input
    ) -> Floats:
        """Return Var[g(Y) | x]: a row for each input, a column for each answer."""
        # Centred first: a difference of large squares would lose its digits.
        centred = scores - self.expected @ scores
        means = self.rows @ centred
        found: Floats = np.maximum(self.rows @ centred**2 - means**2, 0.0)
        return found

    def _solved(self, question: Question) -> tuple[Floats, Floats | None]:
        """Return scores, and the bias f - Q g of each input (None if it is as good as none)."""
        inverse = self.inverse.matrix
        values = question.values
        if question.is_histogram:
            middle = np.zeros(values.shape[1])
            reach = np.ones(values.shape[1])
            scores = inverse
        else:
            # A constant is always estimated by itself; without it the scores keep more digits.
            middle = (values.min(axis=0) + values.max(axis=0)) / 2
            reach = values.max(axis=0) - middle
            values = values - middle
            scores = inverse @ values
        for _ in range(2):
            misses = values - self.rows @ scores
            fog = self._fog(scores, reach)
            if (np.abs(misses) + fog <= _BIAS * reach).all():
                return scores + middle, None
            if not np.isfinite(scores).all() or (fog > _BIAS * reach).any():
                break
            scores = scores + inverse @ misses
        return scores + middle, misses

    def _fog(self, scores: Floats, reach: Floats) -> Floats:
        """Return how far the products Q g, and the probabilities as floats, may be off."""
        unit = _ROUNDING * np.sqrt(self.rows.shape[1])
        # Each row adds up to 1: most channels need no more than this.
        most: Floats = unit * np.abs(scores).max(axis=0)
        if (most <= _BIAS / 2 * reach).all():
            return most
        found: Floats = unit * (self.rows @ np.abs(scores))
        return found

    def _refusal(self, misses: Floats) -> NotDefined:
        """Name people whose reports look alike although their answers differ."""
        labels = self.inputs.labels
        # Rounded, so that of equals the first in the alphabet is named on every machine.
        misses = misses.round(9)
        column = misses[:, int(np.argmax(np.abs(misses).max(axis=0)))]
        twins = _twins(self.rows, column)
        if twins is not None:
            one, other = (repr(labels[place]) for place in twins)
            who = f"{self.noun} {one} and {other}, which give the same reports"
        elif not self.inverse.full:
            # The bias is orthogonal to all reports: its positive and its negative part are two
            # mixtures of people that nobody can tell apart.
            some = _several(
                [labels[x] for x in np.argsort(-column, kind="stable") if column[x] > _BIAS]
            )
            rest = _several(
                [labels[x] for x in np.argsort(column, kind="stable") if column[x] < -_BIAS]
            )
            who = f"this channel: people with {some} can report as people with {rest} do"
        else:
            who = "a channel whose reports hardly depend on the values"
        return NotDefined(
            "an unbiased estimate",
            who,
            "give a prior (prior=, --prior) and ask for bayes, or ask another question",
        )


def no_prior() -> NotDefined:
    """Return the refusal of posteriors where there is no prior."""
    return NotDefined(
        "the Bayes estimate",
        "reports without a prior",
        "give the prior, or ask for unbiased, which needs none",
    )


def _twins(rows: Floats, column: Floats) -> tuple[int, int] | None:
    """Return two inputs with the same row and a different bias, those of the largest bias."""
    _, group = np.unique(rows, axis=0, return_inverse=True)
    for x in np.argsort(-np.abs(column), kind="stable").tolist():
        others = np.flatnonzero((group == group[x]) & (np.abs(column - column[x]) > _BIAS))
        if len(others):
            return min(x, int(others[0])), max(x, int(others[0]))
    return None


def _several(labels: Sequence[Label]) -> str:
    shown = " or ".join(repr(label) for label in labels[:_NAMED])
    more = len(labels) - _NAMED
    return shown if more <= 0 else f"{shown} or {more} more"


# --- the inverse of a table -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Inverse:
    """A matrix H, a row for each output, with Q H = 1 if the reports determine all shares.

    Of all such matrices it is the one with the least sum_y P(y) H[y, x]^2, that is

        H = D^-1 Q^T (Q D^-1 Q^T)^-1,    D = diag(P(y)),

    with a pseudo-inverse in the place of the last factor if the rows of Q are not independent
    (`full` is then False): Q H is then the projection onto what the reports determine.

    >>> Inverse.of(np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5])).matrix.tolist()
    [[1.5, -0.5], [-0.5, 1.5]]
    """

    matrix: Floats
    full: bool

    @classmethod
    def of(cls, rows: Floats, masses: Floats) -> Inverse:
        """Invert the rows Q of a channel, for outputs with masses P(y)."""
        seen = masses > 0
        roots = np.sqrt(masses[seen])
        scaled = rows[:, seen] / roots
        symbols, outputs = scaled.shape
        inverse = None
        if outputs == symbols:
            inverse = _by_elimination(scaled)
        elif outputs > symbols:
            inverse = _by_gram(scaled)
            inverse = _by_triangle(scaled) if inverse is None else inverse
        full = inverse is not None
        if inverse is None:
            inverse, rank = _by_singular_values(scaled)
            full = rank == symbols
        matrix = np.zeros((len(masses), symbols))
        matrix[seen] = inverse / roots[:, None]
        return cls(matrix, full)


def _by_elimination(matrix: Floats) -> Floats | None:
    try:
        inverse: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    # Also false for what is not finite.
    return inverse if _norm(matrix) * _norm(inverse) < _CONDITION else None


def _by_gram(matrix: Floats) -> Floats | None:
    gram = matrix @ matrix.T
    inverted = _by_elimination(gram)
    if inverted is None or not _norm(gram) * _norm(inverted) < _GRAM_CONDITION:
        return None
    return _refined(matrix, matrix.T @ inverted)


def _by_triangle(matrix: Floats) -> Floats | None:
    """Invert through A^T = Q R, whose condition is that of the channel and not its square."""
    basis, triangle = np.linalg.qr(matrix.T)
    inverted = _by_elimination(triangle)
    return None if inverted is None else np.asarray(basis @ inverted.T, dtype=np.float64)


def _by_singular_values(matrix: Floats) -> tuple[Floats, int]:
    """Return the pseudo-inverse and the rank."""
    if min(matrix.shape) > _SMALL:
        # Eigenvalues of the Gram matrix are many times faster, and good enough where they leave no
        # doubt about the rank.
        wide = matrix.shape[1] >= matrix.shape[0]
        gram = matrix @ matrix.T if wide else matrix.T @ matrix
        values, vectors = np.linalg.eigh(gram)
        kept = values > values[-1] / _GRAM_CONDITION
        if (np.abs(values[~kept]) < 1e-13 * values[-1]).all():
            some = vectors[:, kept]
            inner = (some / values[kept]) @ some.T
            inverse = matrix.T @ inner if wide else inner @ matrix.T
            return _refined(matrix, inverse), int(kept.sum())
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > _RANK * values[0]
    found: Floats = (right[kept].T / values[kept]) @ left[:, kept].T
    return found, int(kept.sum())


def _refined(matrix: Floats, inverse: Floats) -> Floats:
    """Take one step of Newton's iteration, which squares the error and keeps the ranges."""
    found: Floats = 2.0 * inverse - inverse @ (matrix @ inverse)
    return found


def _norm(matrix: Floats) -> float:
    return float(np.abs(matrix).sum(axis=1).max())
