"""The Bayes estimate: against sums over everything that people can have and report."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from liftlock import Channel, Prior
from liftlock.errors import NotDefined
from liftlock.estimate import Question
from liftlock.estimate.estimators import Bayes
from liftlock.estimate.models import Dense
from liftlock.estimate.question import ask
from tests.unit.estimate.worlds import ILL, ILL_PRIOR, WIDE, WIDE_PRIOR


@pytest.mark.parametrize(
    ("channel", "prior", "question"),
    [
        (ILL, ILL_PRIOR, ask(ILL.inputs, "survey", ["cold", "flu"])),
        (WIDE, WIDE_PRIOR, ask(WIDE.inputs, "sum")),
        (WIDE, WIDE_PRIOR, ask(WIDE.inputs, "histogram")),
    ],
)
def test_posterior_mean_and_variance_of_the_sum(
    channel: Channel, prior: Prior, question: Question
) -> None:
    """Given two reports, the sum over both people has this mean and this variance."""
    model = Dense.of(channel, prior)
    scores = Bayes(model, question)
    spread = model.posterior_variances(question)
    values = [[Fraction(float(v)) for v in row] for row in question.values]
    for ys in itertools.product(range(len(channel.outputs)), repeat=2):
        joint = {}
        for xs in itertools.product(range(len(channel.inputs)), repeat=2):
            joint[xs] = math.prod(
                prior[channel.inputs.labels[x]]
                * channel.probability(channel.inputs.labels[x], channel.outputs.labels[y])
                for x, y in zip(xs, ys, strict=True)
            )
        total = sum(joint.values())
        for t in range(len(question.names)):
            sums = {xs: sum(values[x][t] for x in xs) for xs in joint}
            mean = sum(joint[xs] * sums[xs] for xs in joint) / total
            second = sum(joint[xs] * sums[xs] ** 2 for xs in joint) / total
            counts = np.bincount(ys, minlength=len(channel.outputs)).astype(float)
            assert scores.values(counts)[t] == pytest.approx(float(mean), abs=1e-12)
            assert (counts @ spread)[t] == pytest.approx(float(second - mean**2), abs=1e-12)


def test_an_output_that_the_prior_calls_impossible_counts_as_the_prior() -> None:
    channel = Channel.from_rows({0: {"l": 1, "r": 0}, 1: {"l": "1/2", "r": "1/2"}})
    model = Dense.of(channel, Prior.from_counts({0: 1, 1: 0}))
    assert Bayes(model, Question.histogram(channel.inputs)).scores.tolist() == [[1, 0], [1, 0]]


def test_no_prior() -> None:
    with pytest.raises(NotDefined, match="without a prior; give the prior, or ask for unbiased"):
        Bayes(Dense.of(ILL), Question.histogram(ILL.inputs))
    with pytest.raises(NotDefined, match="without a prior"):
        Dense.of(ILL).posterior_variances(Question.histogram(ILL.inputs))
