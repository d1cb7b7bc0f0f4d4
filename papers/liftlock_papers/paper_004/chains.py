"""Chains of profiles of one bit: what each releases as the budget grows, and what that loses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import liftlock as ll
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

SIZES = (6, 21)
RESPONSE = "randomised response (LDP)"
CLUSTER = "one bit cluster"
SMOOTH = "smooth one bit, eq. (5)"
CATEGORICAL = "smooth categorical, eq. (6)"
METHODS = {
    RESPONSE: "randomised-response",
    CLUSTER: "cluster",
    SMOOTH: "smooth-one-bit",
    CATEGORICAL: "smooth-categorical",
}
ROWS = {"ldp": RESPONSE, "ours": SMOOTH}
BUDGET = "the budget"
MARK = 0.2

_FULL = ("0.01", *(f"{step / 50:g}" for step in range(1, 51)))
_QUICK = ("0.01", "0.1", "0.2", "0.5", "1")


def profile(parameter: float) -> str:
    """Return the name of the curve of a profile.

    >>> profile(0.05), profile(1.0)
    ('p = 0.05', 'p = 1')
    """
    return f"p = {parameter:g}"


def chain(size: int) -> ll.ProfileGraph:
    """Return the paper's Bernoulli-Chain: parameters evenly spaced from 0 to 1.

    >>> chain(6).profiles.labels
    ('0', '1/5', '2/5', '3/5', '4/5', '1')
    """
    return ll.ProfileGraph.bernoulli([Fraction(place, size - 1) for place in range(size)])


def compute(setting: Setting) -> Iterator[Point]:
    """Compute every panel."""
    budgets = setting.choose(full=_FULL, quick=_QUICK)
    for size in setting.each(SIZES, "chains"):
        graph = chain(size)
        methods = list(METHODS.values())
        found = ll.compare(graph, methods=methods, epsilons=budgets, progress=setting.report)
        parameters = [
            float(graph.distribution(name).fractions[1]) for name in graph.profiles.labels
        ]
        for name, method in METHODS.items():
            for point in found[method].points:
                assert point.errors is not None
                x, ones, loss = point.epsilon, point.errors.released[:, 1], point.needed
                spread = float(ones[-1] - ones[0])
                yield Point(f"spread-{size}", name, x, spread, None, loss, x)
                yield Point(f"loss-{size}", name, x, loss, None, loss, x)
                for panel in (key for key, drawn in ROWS.items() if drawn == name):
                    for parameter, one in zip(parameters, ones, strict=True):
                        curve = profile(parameter)
                        yield Point(f"{panel}-{size}", curve, x, one, None, loss, x)
        for epsilon in budgets:
            yield Point(f"loss-{size}", BUDGET, float(epsilon), float(epsilon))
