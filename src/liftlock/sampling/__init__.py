"""Sampling: random bits, drawing in bulk, releasing and simulating."""

from liftlock.model.structured import prior_counts
from liftlock.sampling.bits import OperatingSystemBits, RandomBits, SimulationBits
from liftlock.sampling.draw import draw, report_type
from liftlock.sampling.encode import draw_reports
from liftlock.sampling.per_user import release_users, simulate_users, user_posteriors
from liftlock.sampling.release import release, release_codes, simulate, simulate_codes

__all__ = [
    "OperatingSystemBits",
    "RandomBits",
    "SimulationBits",
    "draw",
    "draw_reports",
    "prior_counts",
    "release",
    "release_codes",
    "release_users",
    "report_type",
    "simulate",
    "simulate_codes",
    "simulate_users",
    "user_posteriors",
]
