"""The audit's own random numbers, which must share nothing with those of what it audits."""

from __future__ import annotations

import secrets

import numpy as np

_APART = 0x70726F6265
"""A simulated mechanism may well be seeded with the same small number as its audit. Two equal
streams would make the coins of the test depend on the outputs tested, so ours is set apart."""


def fresh_seed() -> int:
    """Return a seed from the operating system."""
    return secrets.randbits(128)


def own_generator(seed: int) -> np.random.Generator:
    """Return a generator that differs from ``np.random.default_rng(seed)``.

    >>> own_generator(7).random() == np.random.default_rng(7).random()
    False
    >>> own_generator(7).random() == own_generator(7).random()
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_APART,)))
