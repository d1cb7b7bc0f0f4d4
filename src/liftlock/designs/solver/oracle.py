"""What column generation asks of a set of posteriors: vertices, and proofs that none is better.

A mechanism is a convex decomposition of P_X into posteriors v of a polytope Pi (those that the
notion allows), and its cost is the mean of a concave c(v):

    minimise sum_k beta_k c(v_k)   subject to   sum_k beta_k v_k = P_X,  v_k in Pi.

Since the weights sum to 1, every y gives a lower bound of the optimum,

    y . P_X + min over v in Pi of (c(v) - y . v),

so whoever can bound that minimum from below can prove how good a mechanism is.

Source: 002 eq. (12), eq. (25).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from liftlock.exact.integers import Floats


@dataclass(frozen=True)
class Priced:
    """What a proof found: a lower bound of min (c(v) - y . v), and vertices met on the way."""

    bound: float
    columns: Floats
    """Posteriors, one for each row; may have no rows."""


@dataclass(frozen=True)
class Progress:
    """Where a search stands, for whoever watches."""

    stage: str
    cost: float
    bound: float
    gap: float
    columns: int
    seconds: float


@dataclass
class Clock:
    """When to stop: a time limit, or a gap that is small enough."""

    gap: float = 1e-6
    seconds: float | None = None
    watch: Callable[[Progress], None] | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds that are left; infinite without a limit."""
        return float("inf") if self.seconds is None else self.seconds - self.elapsed

    def tell(self, stage: str) -> None:
        """Tell whoever watches that something begins, before there is anything to show for it."""
        if self.watch is not None:
            self.watch(Progress(stage, math.inf, -math.inf, math.inf, 0, self.elapsed))


class Oracle(Protocol):
    """A polytope of posteriors with a concave cost.

    Columns are posteriors v >= 0 with sum 1, one for each *row* of an array; what is returned lies
    in the polytope to 1e-11 and should be vertices (the solver costs them itself).

    An oracle may have two attributes more: `known_bound`, a lower bound of the optimum that it
    knows without any search, and `wild_prices`, true if the first prices must be boxed.
    """

    def start(self) -> Floats:
        """Return some vertices that contain the prior in their convex hull, if that is cheap."""
        ...

    def search(self, duals: Floats, columns: Floats, clock: Clock) -> Floats:
        """Return vertices with c(v) - duals . v as low as heuristics find, best first.

        `columns` are those in use in the master problem, good places to start from.
        """
        ...

    def prove(self, duals: Floats, goal: float, clock: Clock) -> Priced:
        """Return a safe lower bound of min (c(v) - duals . v); may stop as soon as it is >= goal.

        Stops when the clock has run out, with the bound proved so far, and may stop early when it
        has met vertices below the goal: then the search is worth going on.
        """
        ...
