"""How tests run here: the same examples every time, no clock, and few searches for garbage."""

from __future__ import annotations

import gc

from hypothesis import HealthCheck, settings

settings.register_profile(
    "liftlock",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("liftlock")

# Fractions by the million make no cycles: looking for some every 700 objects takes 1 s in 20.
gc.set_threshold(50_000, 20, 20)


def pytest_collection_finish() -> None:
    """Never search again what lives as long as the run: modules and thousands of tests."""
    gc.collect()
    gc.freeze()
