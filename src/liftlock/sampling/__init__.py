"""Sampling: random bits, drawing in bulk, releasing and simulating."""

from liftlock.sampling.arc import arc_counts, arc_law, arc_posterior, release_arc, simulate_arc
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import draw, report_type
from liftlock.sampling.encode import draw_reports
from liftlock.sampling.release import release, release_codes, simulate, simulate_codes

__all__ = [
    "OperatingSystemBits",
    "RandomBits",
    "SimulationBits",
    "arc_counts",
    "arc_law",
    "arc_posterior",
    "draw",
    "draw_reports",
    "release",
    "release_arc",
    "release_codes",
    "report_type",
    "simulate",
    "simulate_arc",
    "simulate_codes",
]
