"""Three profiles of four categories: how far off the frequency of each becomes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import liftlock as ll
from liftlock.utility import profile_errors
from liftlock_papers.paper_004.least_cost import least_cost
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

RESPONSE = "k-ary randomised response (LDP)"
CLUSTER = "k-ary response, calibrated on the graph"
SMOOTH = "smooth categorical, eq. (6)"
LEAST = "certified optimum for eq. (8)"
METHODS = {
    RESPONSE: "randomised-response",
    CLUSTER: "cluster",
    SMOOTH: "smooth-categorical",
}

_FULL = ("0.02", *(f"{step / 20:g}" for step in range(1, 31)))
_QUICK = ("0.02", "0.05", "0.3", "0.8", "1.2")


def graph() -> ll.ProfileGraph:
    """Return the paper's Categorical-Chain.

    Source: 004 Table 1.
    """
    table = {
        "P1": ("0.2", "0.3", "0.4", "0.1"),
        "P2": ("0.3", "0.3", "0.3", "0.1"),
        "P3": ("0.4", "0.4", "0.1", "0.1"),
    }
    return ll.ProfileGraph.chain(
        {name: dict(enumerate(masses, start=1)) for name, masses in table.items()}
    )


def category(number: int) -> str:
    """Return the name of the curve of a category.

    >>> category(3)
    'category 3'
    """
    return f"category {number}"


def informative(chain: ll.ProfileGraph) -> list[float]:
    """Return for each category the largest |ln P_i(y) / P_j(y)| of joined profiles, in nats.

    >>> [round(nats, 3) for nats in informative(graph())]
    [0.405, 0.288, 1.099, 0.0]
    """
    distributions = [chain.distribution(name).fractions for name in chain.profiles.labels]
    return [
        max(abs(math.log(one[y] / other[y])) for one, other in pairwise(distributions))
        for y in range(len(distributions[0]))
    ]


def categories(setting: Setting) -> Iterator[Point]:
    """Compute the costs of eq. (8) under every method."""
    chain = graph()
    panels = {RESPONSE: "b", SMOOTH: "c"}
    for epsilon in setting.each(setting.choose(full=_FULL, quick=_QUICK), "budgets"):
        budget = float(epsilon)
        found = ll.compare(chain, methods=list(METHODS.values()), epsilons=[epsilon])
        for name, method in METHODS.items():
            (point,) = found[method].points
            assert point.errors is not None
            costs, loss = point.errors.marginal, point.needed
            if name in panels:
                for number, cost in enumerate(costs, start=1):
                    yield Point(panels[name], category(number), budget, cost, None, loss, budget)
            yield Point("largest", name, budget, max(costs), None, loss, budget)
        made = least_cost(chain, epsilon)
        costs = profile_errors(made.table, chain).marginal
        loss = float(made.certificate.nats["profile"])
        for number, cost in enumerate(costs, start=1):
            yield Point("best", category(number), budget, cost, None, loss, budget)
        yield Point("largest", LEAST, budget, max(costs), None, loss, budget)
