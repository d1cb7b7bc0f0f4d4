"""The mechanism for profiles whose largest cost of eq. (8) is least.

A matrix for each profile can turn P_i into any D_i, so the search is over what is released alone:

    minimise t   subject to   |P_i(y) - D_i(y)| <= t,   D_i(y) <= e^epsilon D_j(y) for every edge.
"""

from __future__ import annotations

import math

import numpy as np

import liftlock as ll
from liftlock_papers.points import Floats

_ROOM = 1e-9
"""What is left of the budget, so that rounding to integers does not break it."""


def least_cost(graph: ll.ProfileGraph, epsilon: str) -> ll.Mechanism:
    """Design and certify it.

    >>> from liftlock.profiles import example
    >>> least_cost(example("categorical-chain"), "0.5").certificate.guarantee
    'profile(budget=0.5)'
    """
    released = _released(graph, math.exp(float(epsilon) * (1 - _ROOM)))
    blocks = _moved(graph.laws, released)
    draft = ll.Draft.of(graph.pairs, graph.inputs, blocks.reshape(-1, len(graph.inputs)))
    return ll.lock(draft, ll.ProfilePrivacy(epsilon), graph)


def _released(graph: ll.ProfileGraph, ratio: float) -> Floats:
    """Return what each profile releases at the optimum."""
    from scipy.optimize import linprog

    laws = graph.laws
    profiles, values = laws.shape
    places = np.arange(laws.size).reshape(laws.shape)
    rows: list[Floats] = []
    ends: list[float] = []
    for sign in (1.0, -1.0):
        for place, mass in zip(places.ravel(), laws.ravel(), strict=True):
            row = np.zeros(laws.size + 1)
            row[place], row[-1] = sign, -1.0
            rows.append(row)
            ends.append(float(sign * mass))
    for first, second in graph.edges:
        for one, other in ((first, second), (second, first)):
            for y in range(values):
                row = np.zeros(laws.size + 1)
                row[places[one, y]], row[places[other, y]] = 1.0, -ratio
                rows.append(row)
                ends.append(0.0)
    sums = np.zeros((profiles, laws.size + 1))
    for i in range(profiles):
        sums[i, places[i]] = 1.0
    goal = np.append(np.zeros(laws.size), 1.0)
    found = linprog(goal, np.array(rows), np.array(ends), sums, np.ones(profiles))
    if found.x is None:
        raise ll.LiftlockError(f"no solution was found: {found.message}")
    released: Floats = np.clip(found.x[:-1].reshape(laws.shape), 0.0, 1.0)
    return released


def _moved(laws: Floats, released: Floats) -> Floats:
    """Return matrices that take each law to what is released and move no more than they must.

    Values that are given less often send to those that are given more often, in proportion.
    """
    lost, gained = np.maximum(laws - released, 0.0), np.maximum(released - laws, 0.0)
    total = gained.sum(axis=1, keepdims=True)
    share = np.divide(lost, laws, out=np.zeros_like(laws), where=laws > 0)
    target = np.divide(gained, total, out=np.zeros_like(laws), where=total > 0)
    blocks: Floats = share[:, :, None] * target[:, None, :]
    kept = 1.0 - blocks.sum(axis=2)
    blocks[:, np.arange(laws.shape[1]), np.arange(laws.shape[1])] += kept
    return blocks
