"""When a search stops: at a gap that is small enough, or at a limit of work."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

from liftlock._runtime import progress

Ending = Literal["", "work", "clock", "interrupt", "stuck", "search"]
"""What ended a search before the gap that was asked for; empty if nothing did."""


@dataclass(frozen=True, kw_only=True)
class SearchStep(progress.Step):
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

PASS = 40
"""Operations that sorting an entry of an array, and adding it up, is counted as."""

GRACE = 1.0
"""Seconds beyond a limit before the clock on the wall ends a search: libraries are loaded too."""

MOMENT = 0.25
"""Seconds, or seconds' worth of work, between two reports, or two looks at the clock."""

SEARCHING = 0.7
"""Of a limited time so much is for searching, the rest for proving."""


class SetupTimedOut(Exception):
    """The limit of a clock was met while a search was being set up."""


@dataclass
class Clock:
    """When to stop: a gap that is small enough, or a limit of work.

    A limit of seconds is one of work, counted in operations that are the same on every machine, so
    that the result is the same too. A machine that does fewer than `SPEED` a second is stopped by
    the clock on the wall, and `ended` says so. Compiling is no work: see `pause`.
    """

    gap: float = 1e-6
    seconds: float | None = None
    watch: progress.Progress | None = None
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
        return math.inf if self.seconds is None else self.seconds + GRACE - self.elapsed

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

    @property
    def searching(self) -> bool:
        """Whether work is left that is for searching, not for proving."""
        return self.left > (1.0 - SEARCHING) * (self.seconds or 0.0)

    def spend(self, operations: float) -> None:
        """Count work that was done."""
        self.work += operations

    def check(self, operations: float = 0.0) -> None:
        """End what has no result yet, if no time is left, or less than what comes next will take.

        >>> Clock(seconds=1.0).check(3 * SPEED)
        Traceback (most recent call last):
        liftlock._runtime.clock.SetupTimedOut
        """
        left = self.left
        if left > 0 and left * SPEED >= operations:
            return
        self.ended = self.ended or "work"
        raise SetupTimedOut

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

    def report_stage(self, stage: str) -> None:
        """Tell whoever watches that something begins, before there is anything to show for it."""
        if self.watch is not None:
            self.watch(SearchStep(stage=stage, seconds=self.elapsed))
