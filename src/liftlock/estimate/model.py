"""A channel and a prior as floats: what estimates are computed from.

Guarantees are exact; estimates are statistics, and float64 is far more precise than they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from liftlock.alphabet import Alphabet
from liftlock.channel import Channel
from liftlock.estimate.inverse import Inverse
from liftlock.exact.integers import Floats
from liftlock.prior import Prior

_SHARE = 1e-2
"""The part of a uniform prior that is mixed in where a reference prior has zeros."""


@dataclass(frozen=True, eq=False)
class Model:
    """The rows Q[x, y] = P(y | x) of a channel, and the masses of the prior if there is one.

    >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> model = Model.of(coin, Prior.from_counts({0: 9, 1: 1}))
    >>> model.posteriors.round(4).tolist()
    [[0.9643, 0.0357], [0.75, 0.25]]
    """

    inputs: Alphabet
    outputs: Alphabet
    rows: Floats
    masses: Floats | None

    @classmethod
    def of(cls, channel: Channel, prior: Prior | None = None) -> Model:
        """Read a channel and a prior on its inputs (in any order)."""
        masses = None if prior is None else prior.reordered(channel.inputs).floats()
        return cls(channel.inputs, channel.outputs, channel.floats(), masses)

    @property
    def symbols(self) -> int:
        """How many inputs there are."""
        return len(self.inputs)

    @cached_property
    def reference(self) -> Floats:
        """Masses that are all positive: the prior, or one near it, or a uniform one."""
        uniform = np.full(self.symbols, 1.0 / self.symbols)
        if self.masses is None:
            return uniform
        if self.masses.min() > 0:
            return self.masses
        mixed: Floats = (1.0 - _SHARE) * self.masses + _SHARE * uniform
        return mixed

    @cached_property
    def expected(self) -> Floats:
        """P(y) under the reference masses."""
        return self.mixture(self.reference)

    def mixture(self, masses: Floats) -> Floats:
        """Return P(y) when the inputs have these masses (or counts, for expected counts)."""
        found: Floats = masses @ self.rows
        return found

    @cached_property
    def inverse(self) -> Inverse:
        """The generalised inverse of the rows that is best under the reference masses."""
        return Inverse.of(self.rows, self.expected)

    @cached_property
    def posteriors(self) -> Floats:
        """P(x | y) under the prior, a row for each output; the prior itself where P(y) = 0."""
        assert self.masses is not None
        return self.beliefs(self.masses)

    def beliefs(self, masses: Floats) -> Floats:
        """Return P(x | y) under any masses, a row for each output."""
        joint = (self.rows * masses[:, None]).T
        totals = joint.sum(axis=1, keepdims=True)
        possible = totals > 0
        found: Floats = np.where(possible, joint / np.where(possible, totals, 1.0), masses)
        return found
