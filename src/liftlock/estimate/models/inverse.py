"""Which scores of a table of probabilities are unbiased: its inverse with the least variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Label

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

    rows: Floats
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
            inverse = _invert_by_elimination(scaled)
        elif outputs > symbols:
            inverse = _invert_by_gram(scaled)
            inverse = _invert_by_qr(scaled) if inverse is None else inverse
        full = inverse is not None
        if inverse is None:
            inverse, rank = _invert_by_svd(scaled)
            full = rank == symbols
        matrix = np.zeros((len(masses), symbols))
        matrix[seen] = inverse / roots[:, None]
        return cls(rows, matrix, full)

    def solve(self, question: Question) -> tuple[Floats, Floats | None]:
        """Return scores, and the bias f - Q g of each input (None if it is as good as none)."""
        values = question.values
        if question.is_histogram:
            middle = np.zeros(values.shape[1])
            reach = np.ones(values.shape[1])
            scores = self.matrix
        else:
            # A constant is always estimated by itself; without it the scores keep more digits.
            middle = (values.min(axis=0) + values.max(axis=0)) / 2
            reach = values.max(axis=0) - middle
            values = values - middle
            scores = self.matrix @ values
        for _ in range(2):
            misses = values - self.rows @ scores
            fog = self._rounding_error(scores, reach)
            if (np.abs(misses) + fog <= _BIAS * reach).all():
                return scores + middle, None
            if not np.isfinite(scores).all() or (fog > _BIAS * reach).any():
                break
            scores = scores + self.matrix @ misses
        return scores + middle, misses

    def _rounding_error(self, scores: Floats, reach: Floats) -> Floats:
        """Return how far the products Q g, and the probabilities as floats, may be off."""
        unit = _ROUNDING * np.sqrt(self.rows.shape[1])
        # Each row adds up to 1: most channels need no more than this.
        most: Floats = unit * np.abs(scores).max(axis=0)
        if (most <= _BIAS / 2 * reach).all():
            return most
        found: Floats = unit * (self.rows @ np.abs(scores))
        return found

    def describe_confusion(self, misses: Floats, labels: Sequence[Label], noun: str) -> str:
        """Name people whose reports look alike although their answers differ."""
        # Rounded, so that of equals the first in the alphabet is named on every machine.
        misses = misses.round(9)
        column = misses[:, int(np.argmax(np.abs(misses).max(axis=0)))]
        twins = _indistinguishable_pair(self.rows, column)
        if twins is not None:
            one, other = (repr(labels[place]) for place in twins)
            return f"{noun} {one} and {other}, which give the same reports"
        if self.full:
            return "a channel whose reports hardly depend on the values"
        # The bias is orthogonal to all reports: its positive and its negative part are two mixtures
        # of people that nobody can tell apart.
        some, rest = (
            _list_labels([labels[x] for x in np.argsort(-part, kind="stable") if part[x] > _BIAS])
            for part in (column, -column)
        )
        return f"this channel: people with {some} can report as people with {rest} do"


def _indistinguishable_pair(rows: Floats, column: Floats) -> tuple[int, int] | None:
    """Return two inputs with the same row and a different bias, those of the largest bias."""
    _, group = np.unique(rows, axis=0, return_inverse=True)
    for x in np.argsort(-np.abs(column), kind="stable").tolist():
        others = np.flatnonzero((group == group[x]) & (np.abs(column - column[x]) > _BIAS))
        if len(others):
            return min(x, int(others[0])), max(x, int(others[0]))
    return None


def _list_labels(labels: Sequence[Label]) -> str:
    shown = " or ".join(repr(label) for label in labels[:_NAMED])
    more = len(labels) - _NAMED
    return shown if more <= 0 else f"{shown} or {more} more"


def _invert_by_elimination(matrix: Floats) -> Floats | None:
    try:
        inverse: Floats = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    # Also false for what is not finite.
    return inverse if _norm(matrix) * _norm(inverse) < _CONDITION else None


def _invert_by_gram(matrix: Floats) -> Floats | None:
    gram = matrix @ matrix.T
    inverted = _invert_by_elimination(gram)
    if inverted is None or not _norm(gram) * _norm(inverted) < _GRAM_CONDITION:
        return None
    return _refine_inverse(matrix, matrix.T @ inverted)


def _invert_by_qr(matrix: Floats) -> Floats | None:
    """Invert through A^T = Q R, whose condition is that of the channel and not its square."""
    basis, triangle = np.linalg.qr(matrix.T)
    inverted = _invert_by_elimination(triangle)
    return None if inverted is None else np.asarray(basis @ inverted.T, dtype=np.float64)


def _invert_by_svd(matrix: Floats) -> tuple[Floats, int]:
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
            return _refine_inverse(matrix, inverse), int(kept.sum())
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = values > _RANK * values[0]
    found: Floats = (right[kept].T / values[kept]) @ left[:, kept].T
    return found, int(kept.sum())


def _refine_inverse(matrix: Floats, inverse: Floats) -> Floats:
    """Take one step of Newton's iteration, which squares the error and keeps the ranges."""
    found: Floats = 2.0 * inverse - inverse @ (matrix @ inverse)
    return found


def _norm(matrix: Floats) -> float:
    return float(np.abs(matrix).sum(axis=1).max())
