"""A black box with a known distribution: draws from the rows of a float matrix, by alias tables."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class TableBox:
    """A vectorised mechanism: input codes in, output codes out."""

    def __init__(self, rows: npt.ArrayLike, seed: int) -> None:
        self.rows: Floats = np.asarray(rows, dtype=np.float64)
        self.generator = np.random.default_rng(seed)
        self.calls: list[int] = []
        self.width = self.rows.shape[1]
        self._cut, self._alias = _alias_tables(self.rows.tobytes(), self.rows.shape)

    def __call__(self, codes: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        self.calls.append(len(codes))
        position = self.generator.random(len(codes)) * self.width
        column = position.astype(np.int64)
        place = codes * self.width + column
        keep = position - column < self._cut.take(place)
        drawn: npt.NDArray[Any] = np.where(keep, column, self._alias.take(place))
        return drawn


@functools.cache
def _alias_tables(content: bytes, shape: tuple[int, int]) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the tables of all rows; hundreds of boxes that differ by their seed share them."""
    rows = np.frombuffer(content).reshape(shape)
    width = shape[1]
    cut, alias = np.ones(shape), np.tile(np.arange(width), (shape[0], 1))
    for row in range(shape[0]):
        level = rows[row] / rows[row].sum() * width
        poor = [i for i in range(width) if level[i] < 1]
        rich = [i for i in range(width) if level[i] >= 1]
        while poor and rich:
            taker, giver = poor.pop(), rich.pop()
            cut[row, taker], alias[row, taker] = level[taker], giver
            level[giver] -= 1 - level[taker]
            (poor if level[giver] < 1 else rich).append(giver)
    return cut, alias


def randomised_response(size: int, epsilon: float) -> Floats:
    """Return k-ary randomised response: e^epsilon on the diagonal, before scaling."""
    rows = np.ones((size, size))
    np.fill_diagonal(rows, math.exp(epsilon))
    scaled: Floats = rows / rows.sum(axis=1, keepdims=True)
    return scaled


def random_channel(inputs: int, outputs: int, spread: float, seed: int) -> Floats:
    """Return rows of random weights e^u, u uniform within +-spread, scaled."""
    generator = np.random.default_rng(seed)
    rows = np.exp(generator.uniform(-spread, spread, (inputs, outputs)))
    scaled: Floats = rows / rows.sum(axis=1, keepdims=True)
    return scaled


def truth(rows: Floats, prior: Floats) -> dict[str, float]:
    """Return the true leakage of every side in nats, from the definitions."""
    possible = prior > 0
    lifts = rows[possible] / (prior @ rows)
    ratios = rows.max(axis=0) / rows.min(axis=0)
    upper, lower = math.log(lifts.max()), -math.log(lifts.min())
    return {
        "eps_upper": max(upper, 0.0),
        "eps_lower": max(lower, 0.0),
        "lip": max(upper, lower, 0.0),
        "ldp": max(math.log(ratios.max()), 0.0),
    }
