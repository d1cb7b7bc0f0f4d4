"""Two joined profiles of one bit: how often it is flipped, against how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import liftlock as ll
from liftlock.utility import profile_errors
from liftlock_papers.formulas import profiles as formulas
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

BUDGETS = ("0.5", "1", "2")
PLACES: Mapping[str, Fraction | None] = {
    "a-middle": None,
    "a-high": Fraction(4, 5),
}
"""Where the lower parameter is: such that both lie evenly about 1/2, or fixed."""

PRINTED_BUDGETS = BUDGETS[:2]
"""Those for which one flip for both profiles is shown as well."""

OURS, LDP = "smooth one bit", "LDP, 1/(1 + e^ε)"
ONE, PRINTED = "one flip for both, eq. (4)", "eq. (7) as printed"

_STEPS, _FEW = 50, 5
_PRINTED_STEPS = 10


def of(rule: str, epsilon: str) -> str:
    """Return the name of a curve for one budget."""
    return f"{rule}, ε = {epsilon}"


def couplets(setting: Setting) -> Iterator[Point]:
    """Compute the flipping probabilities of the mechanism, of the baseline and of eq. (7)."""
    steps = setting.choose(full=_STEPS, quick=_FEW)
    for panel, lowest in setting.each(list(PLACES.items()), "differences"):
        furthest = 1 if lowest is None else 1 - lowest
        for epsilon in BUDGETS:
            for step in range(steps + 1):
                gap = furthest * Fraction(step, steps)
                yield _flip(panel, OURS, epsilon, lowest, gap)
                yield Point(panel, of(LDP, epsilon), float(gap), formulas.warner(float(epsilon)))
        for epsilon in PRINTED_BUDGETS:
            for step in range(steps + 1):
                yield _flip(panel, ONE, epsilon, lowest, furthest * Fraction(step, steps))
            for step in range(_PRINTED_STEPS + 1):
                yield _printed(panel, epsilon, lowest, furthest * Fraction(step, _PRINTED_STEPS))


def pair(lowest: Fraction | None, gap: Fraction) -> ll.ProfileGraph:
    """Return two joined profiles whose parameters differ by a gap.

    >>> [
    ...     str(distribution)
    ...     for distribution in pair(None, Fraction(1, 2)).distribution("upper").fractions
    ... ]
    ['1/4', '3/4']
    """
    low = (1 - gap) / 2 if lowest is None else lowest
    return ll.ProfileGraph.bernoulli({"lower": low, "upper": low + gap})


def _flip(panel: str, rule: str, epsilon: str, lowest: Fraction | None, gap: Fraction) -> Point:
    """Return the largest flipping probability of a certified mechanism."""
    graph = pair(lowest, gap)
    method = "smooth-one-bit" if rule == OURS else "single-bit"
    made = ll.design(graph, epsilon, method=method)
    flip = profile_errors(made.table, graph).largest
    loss = float(made.certificate.nats["profile"])
    return Point(panel, of(rule, epsilon), float(gap), flip, None, loss, float(epsilon))


def _printed(panel: str, epsilon: str, lowest: Fraction | None, gap: Fraction) -> Point:
    """Return the published bound; it is audited if it is a probability at all."""
    graph, budget = pair(lowest, gap), float(epsilon)
    low, high = (float(graph.distribution(name).fractions[1]) for name in ("lower", "upper"))
    flip = formulas.published_bound(low, high, budget)
    if flip > 1:
        return Point(panel, of(PRINTED, epsilon), float(gap), flip)
    keep = 1 - Fraction(flip)
    rows = {0: {0: keep, 1: 1 - keep}, 1: {0: 1 - keep, 1: keep}}
    loss = float(ll.audit(ll.Channel.from_rows(rows), graph).loss)
    return Point(panel, of(PRINTED, epsilon), float(gap), flip, None, loss, budget)
