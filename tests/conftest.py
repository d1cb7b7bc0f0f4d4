"""How tests run here: the same examples every time, no clock, and few searches for garbage."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "liftlock",
    deadline=None,
    derandomize=True,
    print_blob=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make check` asks for this one.
settings.register_profile("few", settings.get_profile("liftlock"), max_examples=10)
settings.load_profile("liftlock")
# That a test fails is all that is asked in tests/mutants.
settings.register_profile("unshrunk", phases=[Phase.explicit, Phase.generate])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "liftlock"))

# Fractions by the million make no cycles: looking for some every 700 objects takes 1 s in 20.
gc.set_threshold(50_000, 20, 20)


LONGEST = (
    "tests/unit/test_spark_cluster.py::test_on_a_cluster",
    "tests/unit/test_spark.py::test_in_one_session",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the tests that take longest before all others.

    They cannot be shared between workers: late in the run, all but one would wait for their end.
    """
    items.sort(key=lambda item: item.nodeid not in LONGEST)


def pytest_collection_finish() -> None:
    """Never search again what lives as long as the run: modules and thousands of tests."""
    gc.collect()
    gc.freeze()
