"""The profiles of Table 1, and how far neighbours are apart in each category."""

from __future__ import annotations

import math
from collections.abc import Iterator

import liftlock as ll
from liftlock_papers.paper_004.categories import graph
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

APART = 5
"""The place of the largest ratio over all categories."""


def edge_name(one: object, other: object) -> str:
    """Return the name of a pair of profiles."""
    return f"{one} and {other}"


def compute(setting: Setting) -> Iterator[Point]:  # noqa: ARG001
    """Compute both panels; the first and the last profile are not joined."""
    chain = graph()
    names = chain.profiles.labels
    for name in names:
        masses = chain.distribution(name).fractions
        for number, mass in enumerate(masses, start=1):
            yield Point("profiles", str(name), number, float(mass))
    unchanged = ll.Channel.identity(chain.inputs.labels)
    for first, second in ((names[0], names[1]), (names[1], names[2]), (names[0], names[2])):
        curve = edge_name(first, second)
        one, other = chain.distribution(first).fractions, chain.distribution(second).fractions
        for number, (left, right) in enumerate(zip(one, other, strict=True), start=1):
            yield Point("ratios", curve, number, abs(math.log(left / right)))
        loss = ll.audit(unchanged, chain.with_edges([(first, second)])).loss
        yield Point("ratios", curve, APART, float(loss))
