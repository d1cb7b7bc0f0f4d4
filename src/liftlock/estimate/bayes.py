"""The Bayes estimate: each report counts with the posterior mean of what its person has."""

from __future__ import annotations

import numpy as np

from liftlock.errors import NotDefined
from liftlock.estimate.estimator import Linear
from liftlock.estimate.model import Model
from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats


def bayes(model: Model, question: Question) -> Linear:
    """Return the estimator with the least mean squared error if the prior is true.

        g(y) = E[f(X) | y] = sum_x f(x) P(x) Q[x, y] / P(y)

    People are independent, so the best estimate of a sum is the sum of the best estimates. An
    output that the prior calls impossible counts with the prior mean.

    Source: 001 eq. (10), eq. (16), eq. (27), eq. (30).

    >>> from liftlock.channel import Channel
    >>> from liftlock.prior import Prior
    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Model.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> bayes(model, Question.survey(coin.inputs, [1])).scores.ravel().round(4).tolist()
    [0.0357, 0.25]
    """
    if model.masses is None:
        raise no_prior()
    if question.of == "histogram":
        return Linear("bayes", model, question, model.posteriors)
    return Linear("bayes", model, question, model.posteriors @ question.values)


def posterior_variances(model: Model, question: Question) -> Floats:
    """Return Var(f(X) | y): a row for each output, a column for each answer.

    With independent people, the squared error of the Bayes estimate is sum_y n_y Var(f | y), and
    its mean is n times the loss of 001 eq. (14).

    Source: 001 Prop 2, eq. (14).
    """
    if model.masses is None:
        raise no_prior()
    if question.of == "histogram":
        return model.posteriors * (1.0 - model.posteriors)
    # Centred first: a difference of large squares would lose its digits.
    centred = question.values - model.masses @ question.values
    means = model.posteriors @ centred
    found: Floats = np.maximum(model.posteriors @ centred**2 - means**2, 0.0)
    return found


def no_prior() -> NotDefined:
    """Return the refusal of posteriors where there is no prior."""
    return NotDefined(
        "the Bayes estimate",
        "reports without a prior",
        "give the prior, or ask for unbiased, which needs none",
    )
