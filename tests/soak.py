"""Tests with a long form: `make soak` runs that, and `make test` the short one."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("LIFTLOCK_SOAK"))
"""Whether the long forms are asked for; such a test has the mark ``soak``."""


def sized(short: int, long: int) -> int:
    """Return how often, or for how many seconds, something is done in this run."""
    return long if LONG else short
