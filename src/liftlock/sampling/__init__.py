"""Sampling: random bits, drawing in bulk, releasing and simulating."""

from liftlock.sampling.arc import arc_counts, arc_law, arc_posterior, release_arc, simulate_arc
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import draw, report_type
from liftlock.sampling.encode import draw_reports
from liftlock.sampling.own_priors import prior_counts
from liftlock.sampling.release import release, release_codes, simulate, simulate_codes
from liftlock.sampling.safe import release_safe, safe_law, safe_posterior, simulate_safe

__all__ = [
    "OperatingSystemBits",
    "RandomBits",
    "SimulationBits",
    "arc_counts",
    "arc_law",
    "arc_posterior",
    "draw",
    "draw_reports",
    "prior_counts",
    "release",
    "release_arc",
    "release_codes",
    "release_safe",
    "report_type",
    "safe_law",
    "safe_posterior",
    "simulate",
    "simulate_arc",
    "simulate_codes",
    "simulate_safe",
]
