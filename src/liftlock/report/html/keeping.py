"""How much of a column its mechanism keeps, in float64: for information, not part of a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass

from liftlock.alphabet import Label
from liftlock.channel import Table
from liftlock.context import representative
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.report.html.figures import percent
from liftlock.report.html.leak import numbers_of
from liftlock.utility.mutual_information import entropy


@dataclass(frozen=True, eq=False)
class Kept:
    """The channel and the masses of its inputs, in float64."""

    channel: Table
    masses: Floats
    matrix: Floats

    @classmethod
    def of(cls, made: Mechanism) -> Kept | None:
        """Take them from a mechanism; None if it has no table."""
        if not isinstance(made.channel, Table):
            return None
        prior = representative(made.context).reordered(made.channel.inputs)
        return cls(made.channel, prior.floats(), made.channel.floats())

    @property
    def inputs(self) -> tuple[Label, ...]:
        """The true values."""
        return self.channel.inputs.labels

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The values that may be released."""
        return self.channel.outputs.labels

    def information(self) -> tuple[float, float]:
        """Return I(X; Y) and H(X), in nats."""
        joint = self.masses[:, None] * self.matrix
        shares = joint.sum(axis=0)
        whole = float(entropy(self.masses))
        kept = whole + float(entropy(shares)) - float(entropy(joint.ravel()))
        return min(max(kept, 0.0), whole), whole

    def true_share(self) -> float | None:
        """Return the probability that the true value is released; None if outputs are others."""
        places = [
            (x, label) for x, label in enumerate(self.inputs) if label in self.channel.outputs
        ]
        if not places:
            return None
        found = self.channel.outputs
        return math.fsum(self.masses[x] * self.matrix[x, found.index(label)] for x, label in places)

    def unchanged(self) -> bool:
        """Tell whether every value is released as it is."""
        return self.inputs == self.outputs and bool((self.matrix.diagonal() == 1.0).all())

    def guessed(self) -> tuple[float, float]:
        """Return how often the best guess of X is right, having seen the output and without."""
        joint = self.masses[:, None] * self.matrix
        return float(joint.max(axis=0).sum()), float(self.masses.max())


def headline(made: Mechanism) -> str:
    """Say in a few words what is kept; empty if it is not known."""
    kept = Kept.of(made)
    if kept is None:
        return ""
    part, whole = kept.information()
    words = f"{percent(part / whole if whole else 1.0)} of the information about it is kept"
    true = kept.true_share()
    if true is not None and numbers_of(kept.channel.outputs) is None:
        words += f"; {percent(true)} of the released values are the true ones"
    return words
