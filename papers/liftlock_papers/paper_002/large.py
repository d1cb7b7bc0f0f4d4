"""Points of Figure 10: joints of 200 symbols and 15 secrets, which the paper leaves to heuristics.

The optimum is computed as well: by generating columns it takes seconds, to a proven gap.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from liftlock import ALIP, Draft, Joint
from liftlock.designs import lock, optimal_response, subset_merging, subset_response
from liftlock_papers.paper_002.joints import joints_of
from liftlock_papers.paper_002.promises import Promise
from liftlock_papers.paper_002.sweeps import HAIR, Outcome
from liftlock_papers.paper_002.tradeoff import LOWER, TIME, UPPER, UTILITY
from liftlock_papers.points import Point
from liftlock_papers.setting import Setting

MERGING, RESPONSE, OPTIMUM = (
    "subset merging, repaired",
    "SRR, repaired",
    "certified optimum (AORR)",
)
GAP = 1e-3
"""How near to the optimum is near enough, relative to H(X)."""
EVEN = Promise("alip", "0.5")


def compute(setting: Setting) -> Iterator[Point]:
    """Yield all three mechanisms; the optimum at whole budgets only."""
    (joint,) = joints_of(setting, "large", 1)
    every = tuple(f"{quarters / 4:g}" for quarters in range(4, 33))
    whole = tuple(f"{number}" for number in range(1, 9))
    some = ("1", "2", "4")
    for name, budgets in (
        (MERGING, setting.choose(full=every, quick=some)),
        (RESPONSE, setting.choose(full=every, quick=some)),
        (OPTIMUM, setting.choose(full=whole, quick=some)),
    ):
        for epsilon in setting.each(budgets, name):
            yield from _points(name, joint, epsilon)


def _points(name: str, joint: Joint, epsilon: str) -> Iterator[Point]:
    lower, upper = EVEN.sides(epsilon)
    notion = ALIP(lower=lower, upper=upper)
    tighter = ALIP(lower=lower * (1 - HAIR), upper=upper * (1 - HAIR))
    start = time.process_time()
    draft = _make(name, joint, notion if name == MERGING else tighter)
    seconds = time.process_time() - start
    found = Outcome.of(lock(draft, notion, joint).channel, joint)
    x = float(epsilon)
    yield Point(UTILITY, name, x, found.information, None, EVEN.needed(found.leak), x)
    yield Point(LOWER, name, x, found.leak.lower, None, found.leak.lower, float(lower))
    yield Point(UPPER, name, x, found.leak.upper, None, found.leak.upper, float(upper))
    yield Point(TIME, name, x, seconds)


def _make(name: str, joint: Joint, notion: ALIP) -> Draft:
    if name == MERGING:
        return subset_merging(joint, notion)
    if name == RESPONSE:
        return subset_response(joint, notion)
    return optimal_response(joint, notion, how="generation", gap=GAP)
