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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from liftlock._solver.optimality import Ending
from liftlock.exact.integers import Floats
from liftlock.progress import Progress, Step


@dataclass(frozen=True)
class Priced:
    """What a proof found: a lower bound of min (c(v) - y . v), and vertices met on the way."""

    bound: float
    columns: Floats
    """Posteriors, one for each row; may have no rows."""


@dataclass(frozen=True, kw_only=True)
class SearchStep(Step):
    """Where a search stands, for whoever watches.

    >>> print(SearchStep(stage="search", gap=0.1, bound=0.4, columns=1234, seconds=7.2))
    search, gap 0.1, bound 0.4, 1,234 candidates, 7 s
    """

    cost: float = math.inf
    bound: float = -math.inf
    gap: float = math.inf
    columns: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        if not self.columns:
            return self.stage
        return (
            f"{self.stage}, gap {self.gap:.2g}, bound {self.bound:.6g}, "
            f"{self.columns:,} candidates, {self.seconds:.0f} s"
        )

    def scaled(self, unit: float) -> SearchStep:
        """Return the step with its costs in another unit."""
        return replace(self, cost=unit * self.cost, bound=unit * self.bound)


SPEED = 7e7
"""Operations a second that every machine is trusted to do: what `seconds` means in work.

An idle core of a server of 2023 does three times as many.
"""


class TimeUp(Exception):
    """The limit of a clock was met while a search was being set up."""


_GRACE = 1.0
"""Seconds beyond the limit before the clock on the wall ends a search: libraries are loaded too."""


@dataclass
class Clock:
    """When to stop: a gap that is small enough, or a limit of work.

    A limit of seconds is one of work, counted in operations that are the same on every machine, so
    that the result is the same too. A machine that does fewer than `SPEED` a second is stopped by
    the clock on the wall, and `ended` says so. Compiling is no work: see `pause`.
    """

    gap: float = 1e-6
    seconds: float | None = None
    watch: Progress | None = None
    started: float = field(default_factory=time.monotonic)
    work: float = 0.0
    """Operations done so far."""
    ended: Ending = ""
    """Which of the limits was met, `work` or `clock`."""
    paused: ClassVar[float] = 0.0
    """Seconds that all clocks of this process stood still."""

    @property
    def elapsed(self) -> float:
        """Seconds since the start, for people; what is decided is decided by `spent`."""
        return time.monotonic() - self.started

    @property
    def spent(self) -> float:
        """The work done so far, in seconds at the speed that every machine is trusted with."""
        return self.work / SPEED

    @property
    def wall(self) -> float:
        """Seconds until the clock on the wall ends the search; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds + _GRACE - self.elapsed

    @property
    def left(self) -> float:
        """Seconds' worth of work that are left; infinite without a limit."""
        if self.seconds is None:
            return math.inf
        if self.ended == "clock" or self.wall <= 0:
            self.ended = "clock"
            return 0.0
        left = self.seconds - self.spent
        if left > 0:
            return left
        self.ended = "work"
        return 0.0

    def spend(self, operations: float) -> None:
        """Count work that was done."""
        self.work += operations

    def check(self, operations: float = 0.0) -> None:
        """End what has no result yet, if no time is left, or less than what comes next will take.

        >>> Clock(seconds=1.0).check(3 * SPEED)
        Traceback (most recent call last):
        liftlock._solver.oracle.TimeUp
        """
        left = self.left
        if left > 0 and left * SPEED >= operations:
            return
        self.ended = self.ended or "work"
        raise TimeUp

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock, while code that is needed is compiled."""
        begun = time.monotonic()
        try:
            yield
        finally:
            taken = time.monotonic() - begun
            self.started += taken
            Clock.paused += taken

    def part(self, share: float, *, gap: float | None = None) -> Clock:
        """Return a clock for a part of the search, with a share of the work that is left.

        Give what it did back to this one, with `spend(part.work)`.
        """
        limit = None if self.seconds is None else share * self.left
        return Clock(self.gap if gap is None else gap, limit, self.watch)

    def tell(self, stage: str) -> None:
        """Tell whoever watches that something begins, before there is anything to show for it."""
        if self.watch is not None:
            self.watch(SearchStep(stage=stage, seconds=self.elapsed))


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
