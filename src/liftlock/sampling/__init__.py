"""Sampling: random bits, drawing in bulk, releasing and simulating."""

from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import draw, report_type
from liftlock.sampling.encode import draw_reports
from liftlock.sampling.release import release, release_codes, simulate, simulate_codes

__all__ = [
    "OperatingSystemBits",
    "RandomBits",
    "SimulationBits",
    "draw",
    "draw_reports",
    "release",
    "release_codes",
    "report_type",
    "simulate",
    "simulate_codes",
]
