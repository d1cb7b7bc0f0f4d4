"""What a symmetric binary channel leaks in four notions, by the exact audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import liftlock as ll
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

PRIORS: Mapping[str, int] = {"a": 50, "b": 20}
"""P_X(1) in percent, for each panel."""
NOTIONS: Mapping[str, str] = {
    "LDP": "ldp",
    "LIP": "lip",
    "MIL": "maximal_leakage",
    "MIP": "mutual_information",
}


def leakages(setting: Setting) -> Iterator[Point]:
    """Compute the figure: the leakage in each notion against the probability q of a flip."""
    steps = setting.choose(full=200, quick=40)
    for step in setting.each(range(steps + 1), "channels"):
        flip = Fraction(step, steps)
        rows = {0: {0: 1 - flip, 1: flip}, 1: {0: flip, 1: 1 - flip}}
        channel = ll.Channel.from_rows(rows)
        for panel, percent in PRIORS.items():
            audit = ll.audit(channel, ll.Prior.from_counts({0: 100 - percent, 1: percent}))
            for curve, key in NOTIONS.items():
                yield Point(panel, curve, float(flip), float(audit[key].value))
