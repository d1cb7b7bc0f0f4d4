"""Codes of outputs: an array of floats is numbered as the same list is, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from liftlock.probe.outputs import MISSING, OutputCodes

NUMBERS = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, 2.25, -7.0])


@pytest.mark.parametrize("kind", ["f8", "f4", "f2"])
def test_floats_are_numbered_as_they_are_first_seen(kind: str) -> None:
    generator = np.random.default_rng(3)
    for _ in range(100):
        whole, single = OutputCodes(most=50), OutputCodes(most=50)
        for learn in (True, False, True):
            drawn = generator.choice(NUMBERS, generator.integers(1, 12)).astype(kind)
            codes = whole.encode(drawn, learn=learn)
            assert codes.tolist() == single.encode(drawn.tolist(), learn=learn).tolist()
            assert list(map(repr, whole.labels)) == list(map(repr, single.labels))


def test_not_a_number_is_one_output() -> None:
    codes = OutputCodes(most=5)
    assert codes.encode(np.array([np.nan, 1.0, np.nan]), learn=True).tolist() == [0, 1, 0]
    assert codes.labels == (MISSING, 1.0)
