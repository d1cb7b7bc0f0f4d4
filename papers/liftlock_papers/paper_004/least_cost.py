"""The mechanism for profiles whose largest cost of eq. (8) is least.

A matrix for each profile can turn P_i into any D_i, so the search is over what is released alone:

    minimise max_y t(y)   subject to   |P_i(y) - D_i(y)| <= t(y),
                                       D_i(y) <= e^epsilon D_j(y) for every edge.
"""

from __future__ import annotations

import math

import numpy as np

import liftlock as ll
from liftlock_papers.points import Floats

_ROOM = 1e-9
"""What is left of the budget, so that rounding to integers does not break it."""
_LITTLE = 1e-4
"""How much the costs of the other values count: of all optima, those that keep them small."""


def least_cost(graph: ll.ProfileGraph, epsilon: str) -> ll.Mechanism:
    """Design and certify it.

    >>> chain = ll.ProfileGraph.bernoulli(["0.8", "0.9"])
    >>> least_cost(chain, "0.5").certificate.guarantee
    'profile(budget=0.5)'
    """
    released = _released(graph, math.exp(float(epsilon) * (1 - _ROOM)))
    blocks = _moved(graph.distributions, released)
    draft = ll.Draft.of(graph.pairs, graph.inputs, blocks.reshape(-1, len(graph.inputs)))
    return ll.lock(draft, ll.ProfilePrivacy(epsilon), graph)


def _released(graph: ll.ProfileGraph, ratio: float) -> Floats:
    """Return what each profile releases at the optimum: D, then t for each value, then the most."""
    from scipy.optimize import linprog

    distributions = graph.distributions
    profiles, values = distributions.shape
    places = np.arange(distributions.size).reshape(distributions.shape)
    width = distributions.size + values + 1
    rows: list[Floats] = []
    ends: list[float] = []

    def at_most(terms: dict[int, float], end: float) -> None:
        row = np.zeros(width)
        row[list(terms)] = list(terms.values())
        rows.append(row)
        ends.append(end)

    for y in range(values):
        own = distributions.size + y
        at_most({own: 1.0, width - 1: -1.0}, 0.0)
        for i in range(profiles):
            for sign in (1.0, -1.0):
                at_most({int(places[i, y]): sign, own: -1.0}, sign * float(distributions[i, y]))
        for first, second in graph.edges:
            for one, other in ((first, second), (second, first)):
                at_most({int(places[one, y]): 1.0, int(places[other, y]): -ratio}, 0.0)
    sums = np.zeros((profiles, width))
    for i in range(profiles):
        sums[i, places[i]] = 1.0
    goal = np.concatenate([np.zeros(distributions.size), np.full(values, _LITTLE), [1.0]])
    found = linprog(goal, np.array(rows), np.array(ends), sums, np.ones(profiles))
    if found.x is None:
        raise ll.LiftlockError(f"no solution was found: {found.message}")
    released: Floats = np.clip(found.x[: distributions.size].reshape(distributions.shape), 0.0, 1.0)
    return released


def _moved(distributions: Floats, released: Floats) -> Floats:
    """Return matrices that take each distribution to its output and move as little as they can.

    Values that are given less often send to those that are given more often, in proportion.
    """
    lost, gained = (
        np.maximum(distributions - released, 0.0),
        np.maximum(released - distributions, 0.0),
    )
    total = gained.sum(axis=1, keepdims=True)
    share = np.divide(
        lost, distributions, out=np.zeros_like(distributions), where=distributions > 0
    )
    target = np.divide(gained, total, out=np.zeros_like(distributions), where=total > 0)
    blocks: Floats = share[:, :, None] * target[:, None, :]
    kept = 1.0 - blocks.sum(axis=2)
    blocks[:, np.arange(distributions.shape[1]), np.arange(distributions.shape[1])] += kept
    return blocks
