"""How long something takes: the best of several rounds, as machines are noisy."""

from __future__ import annotations

import time
from collections.abc import Callable

ROUNDS = 3


def best_of(task: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the seconds of the fastest of several calls."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best
