"""Numbers that paper 004 states: the entries of its table."""

from __future__ import annotations

from liftlock_papers.figure import Stated

_PRINTED = {
    "P1": (0.2, 0.3, 0.4, 0.1),
    "P2": (0.3, 0.3, 0.3, 0.1),
    "P3": (0.4, 0.4, 0.1, 0.1),
}

TABLE1: tuple[Stated, ...] = tuple(
    Stated(
        "profiles", name, place, mass, 0.0, "Table 1", f"the probability of {place} under {name}"
    )
    for name, masses in _PRINTED.items()
    for place, mass in enumerate(masses, start=1)
)
