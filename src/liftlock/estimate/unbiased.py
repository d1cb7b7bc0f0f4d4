"""The unbiased estimate: right on average whatever people have, with no prior to believe in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liftlock.alphabet import Label
from liftlock.errors import NotDefined
from liftlock.estimate.estimator import Linear
from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats

_BIAS = 1e-6
"""The largest bias of one person's score, as a part of the range of f, that is passed over.

Where the reports do not determine the answer the bias is of the order of the range itself, and
rounding leaves far less in a channel that is only noisy, so that nothing near the limit is usual.
"""
_ROUNDING = 4 * float(np.finfo(np.float64).eps)
_NAMED = 3


def unbiased(model: Model, question: Question) -> Linear:
    """Return the estimator that is right on average for every truth, with the least variance.

        minimise sum_y P(y) g(y)^2    subject to    sum_y Q[x, y] g(y) = f(x) for every x

    With as many outputs as inputs this is the inverse of the channel. P(y) is that of the prior if
    there is one: a wrong one costs precision and never makes a bias. For randomised response with
    the flip probability p it is (reports of 1 - n p) / (1 - 2 p).

    Source: 001 eq. (41).

    >>> from liftlock.channel import Channel
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> one = unbiased(Model.of(coin), Question.survey(coin.inputs, [1]))
    >>> one.scores.ravel().tolist(), one.values(np.array([60.0, 40.0])).tolist()
    ([-0.5, 1.5], [30.0])
    """
    scores, misses = _solved(model, question)
    if misses is not None:
        raise _refusal(model, misses)
    return Linear("unbiased", model, question, scores)


def identifiable(model: Model, question: Question) -> bool:
    """Whether the law of the reports determines the answer, so that an unbiased estimate exists."""
    return _solved(model, question)[1] is None


def _solved(model: Model, question: Question) -> tuple[Floats, Floats | None]:
    """Return scores, and the bias f - Q g of each input (None if it is as good as none)."""
    inverse = model.inverse.matrix
    values = question.values
    if question.of == "histogram":
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
        misses = values - model.rows @ scores
        fog = _fog(model, scores, reach)
        if (np.abs(misses) + fog <= _BIAS * reach).all():
            return scores + middle, None
        if not np.isfinite(scores).all() or (fog > _BIAS * reach).any():
            break
        scores = scores + inverse @ misses
    return scores + middle, misses


def _fog(model: Model, scores: Floats, reach: Floats) -> Floats:
    """Return how far the products Q g, and the probabilities as floats, may be off."""
    unit = _ROUNDING * np.sqrt(model.rows.shape[1])
    # Each row adds up to 1: most channels need no more than this.
    most: Floats = unit * np.abs(scores).max(axis=0)
    if (most <= _BIAS / 2 * reach).all():
        return most
    found: Floats = unit * (model.rows @ np.abs(scores))
    return found


def _refusal(model: Model, misses: Floats) -> NotDefined:
    """Name people whose reports look alike although their answers differ."""
    labels = model.inputs.labels
    # Rounded, so that of equals the first in the alphabet is named on every machine.
    misses = misses.round(9)
    column = misses[:, int(np.argmax(np.abs(misses).max(axis=0)))]
    twins = _twins(model.rows, column)
    if twins is not None:
        who = f"values {labels[twins[0]]!r} and {labels[twins[1]]!r}, which give the same reports"
    elif not model.inverse.full:
        # The bias is orthogonal to all reports: its positive and its negative part are two mixtures
        # of people that nobody can tell apart.
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
