"""What is released under each profile has the law that was audited.

Every test has a false-alarm rate below one in a million: a chi-squared statistic of at most 11
degrees of freedom, or a share that is off by six standard deviations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from liftlock.designing.api import design
from liftlock.notions.profile import OutputLaws
from liftlock.profile_examples import example
from liftlock.profile_graph import ProfileGraph

PEOPLE = 120_000
ALARM = 1e-7


@pytest.mark.parametrize("method", ["smooth-categorical", "shared-categorical", "cluster"])
def test_released_values_follow_the_audited_law(method: str) -> None:
    graph = example("categorical-chain")
    mechanism = design(graph, "0.5", method=method)
    laws = OutputLaws.of(mechanism.channel, graph).floats
    chosen = np.random.default_rng(11)
    for place, name in enumerate(graph.profiles.labels):
        people = chosen.choice(np.array(graph.inputs.labels), size=PEOPLE, p=graph.laws[place])
        released = np.asarray(mechanism.release(people, name))
        labels: list[Any] = list(mechanism.table.outputs.labels)
        counts = np.array([(released == label).sum() for label in labels])
        expected = PEOPLE * laws[place]
        statistic = float(((counts - expected) ** 2 / expected).sum())
        assert statistic < chi2.isf(ALARM, len(labels) - 1)


def test_the_adversary_gains_no_more_than_the_budget() -> None:
    """The best test of one profile against its neighbour, on released values."""
    graph = ProfileGraph.bernoulli({"a": "0.1", "b": "0.9"})
    mechanism = design(graph, "1")
    chosen = np.random.default_rng(5)
    share = {}
    for name in ("a", "b"):
        people = (chosen.random(PEOPLE) < float(graph.law(name)[1])).astype(int)
        share[name] = np.mean(np.asarray(mechanism.release(people, name)) == 1)
    slack = 6 * math.sqrt(0.25 / PEOPLE)
    assert share["b"] - slack <= math.e * (share["a"] + slack)
    assert (1 - share["a"]) - slack <= math.e * (1 - share["b"] + slack)
    # And no less: the optimum sits on the boundary.
    assert share["b"] / share["a"] == pytest.approx(math.e, rel=0.05)
