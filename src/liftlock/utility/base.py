"""What a mechanism is good for, as a cost of what an output leaves unknown.

Nearly every utility here is the mean over outputs y of a *concave* cost c(v_y) of the posterior
v_y = P(X | y). Concave means that seeing more never costs more, and that an optimal mechanism can
be made of extreme posteriors only: the reason why one solver serves all of them. The variance of
an unbiased histogram (`Precision`) is a function of all outputs together, and of extreme posteriors
all the same.

A shape says what a solver may use of a cost beyond its being concave. Symbols may be exchanged in a
`symmetric` one, and those of probability 0 left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Protocol

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.exact.rounding import rounding
from liftlock.model.alphabet import Alphabet


class TermKind(IntEnum):
    """The function of one probability that a separable cost adds up."""

    ENTROPY = 0
    """h(v) = -v ln v."""
    SQUARE = 1
    """h(v) = -v^2, with the constant 1."""


@dataclass(frozen=True)
class Separable:
    """c(v) = constant + sum_x h(v_x)."""

    kind: TermKind
    symmetric: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class Variance:
    """c(v) = sum_x t_x^2 v_x - (sum_x t_x v_x)^2, the variance of numbers t."""

    points: Floats
    symmetric: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class Linear:
    """c(v) = min_z sum_x v_x d(x, z): the least of linear functions, one for each reproduction z.

    >>> Linear().matrix(2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    losses: Floats | None = None
    """d(x, z), rows inputs; None is d(x, z) = 1[x != z] for any alphabet."""
    reproductions: Alphabet | None = None
    """The names of the columns; None are the inputs."""

    @property
    def symmetric(self) -> bool:
        """Whether symbols may be exchanged, and those of probability 0 left out."""
        return self.losses is None

    def matrix(self, symbols: int) -> Floats:
        """Return d(x, z) for a number of symbols."""
        return 1.0 - np.eye(symbols) if self.losses is None else self.losses

    def names(self, inputs: Alphabet) -> Alphabet:
        """Return the names of the reproductions."""
        return inputs if self.reproductions is None else self.reproductions


@dataclass(frozen=True)
class Concave:
    """Any concave cost: nothing else is known of it."""

    symmetric: ClassVar[bool] = False


@dataclass(frozen=True)
class Precision:
    """No mean over outputs: how well all of them together determine the probabilities of X.

    With lifts l_y(x) = P(y | x) / P(y), J = sum_y P(y) l_y l_y' is what one report says of them,
    and unbiased estimates have the variances (J^-1)_xx - P(x)^2: the cost is their sum, or the
    largest of them.
    """

    worst: bool = False
    symmetric: ClassVar[bool] = False


Shape = Separable | Variance | Linear | Concave | Precision


_POINTS = 256
"""Values that are looked at together."""


class Utility(Protocol):
    """A concave cost of posteriors, and how people read it; with the usual answers."""

    @property
    def name(self) -> str:
        """The key, such as ``histogram``."""
        ...

    @property
    def title(self) -> str:
        """What the number is, such as ``mutual information (nats)``."""
        ...

    @property
    def larger_is_better(self) -> bool:
        """Whether the number people read grows as the cost falls."""
        return False

    @property
    def numeric(self) -> bool:
        """Whether it sees the numbers of symbols only, so that near ones cost nearly the same."""
        return False

    @property
    def shape(self) -> Shape:
        """What a solver may use of the cost beyond its being concave."""
        return Concave()

    def costs(self, posteriors: Floats) -> Floats:
        """Return c(v) of each row v of a (k, n) array."""
        ...

    def slopes(self, posteriors: Floats) -> Floats:
        """Return a supergradient of c at each row: c(w) <= c(v) + slope . (w - v) for all w."""
        ...

    def cost_of(self, channel: Floats, masses: Floats) -> float:
        """Return the cost of a channel (rows inputs): the mean of that of its posteriors."""
        joint = (np.asarray(channel) * np.asarray(masses)[:, None]).T
        weights = joint.sum(axis=1)
        keep = weights > 0
        posteriors = joint[keep] / weights[keep, None]
        return float(dot(weights[keep], self.costs(posteriors)))

    def floor_of(self, channel: Floats, masses: Floats) -> float:
        """Return the cost of a channel less what rounding may have added to it."""
        cost = self.cost_of(channel, masses)
        return cost - float(cost_error(self, cost, *np.shape(channel)))

    def cost_of_truth(self, masses: Floats) -> float:
        """Return the cost when the value itself is released."""
        count = len(masses)
        costs = np.empty(count)
        for first in range(0, count, _POINTS):  # not all at once: millions would not fit
            rows = np.arange(first, min(first + _POINTS, count))
            points = np.zeros((len(rows), count))
            points[rows - first, rows] = 1.0
            costs[rows] = self.costs(points)
        return float(dot(masses, costs))

    def objective(self, cost: float, masses: Floats) -> float:  # noqa: ARG002
        """Turn a mean cost into the number people read, for a prior: itself, unless said."""
        return cost


def restrict(utility: Utility, places: Sequence[int], symbols: int) -> Utility:
    """Return the same utility when only the symbols at some places of `symbols` are left.

    A utility that looks at posteriors alone stays as it is; one that knows its symbols has a method
    `restrict(places)`.
    """
    if len(places) == symbols:
        return utility
    narrow = getattr(utility, "restrict", None)
    if narrow is None:
        return utility
    found: Utility = narrow(places)
    return found


def mean_cost(utility: Utility, channel: Floats, masses: Floats) -> float:
    """Return the expected cost of a channel (rows inputs) under a prior: sum_y P(y) c(v_y).

    >>> from liftlock.utility.symmetric import Guess
    >>> mean_cost(Guess(), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([0.5, 0.5]))
    0.25
    """
    return utility.cost_of(channel, masses)


def value(utility: Utility, channel: Floats, masses: Floats) -> float:
    """Return the utility of a channel as people read it."""
    return utility.objective(mean_cost(utility, channel, masses), masses)


def cost_error(utility: Utility, cost: Any, symbols: int, outputs: int = 1) -> Any:
    """Return how far a mean cost (or each of several) may be off, computed in floats as it is here.

    No utility subtracts what could cancel: with losses of 0 or more it is sums of positive terms,
    and the error is relative to the cost itself. Of somebody's own cost nothing is known but that.
    """
    size = np.abs(cost)
    match utility.shape:
        case Linear(losses=losses) if losses is not None and losses.min() < 0:
            size = size + np.abs(losses).max()
        case _:
            pass
    return rounding(4 * symbols + outputs) * size


def cost_of_no_release(utility: Utility, masses: Floats) -> float:
    """Return the mean cost when nothing is released: that of the prior."""
    return float(utility.costs(np.asarray(masses)[None, :])[0])


def cost_of_no_noise(utility: Utility, masses: Floats) -> float:
    """Return the mean cost when the value itself is released: no mechanism costs less."""
    return utility.cost_of_truth(masses)


def value_of_no_release(utility: Utility, masses: Floats) -> float:
    """Return the utility when nothing is released: what the prior alone gives."""
    return utility.objective(cost_of_no_release(utility, masses), masses)


def value_of_no_noise(utility: Utility, masses: Floats) -> float:
    """Return the utility when the value itself is released."""
    return utility.objective(cost_of_no_noise(utility, masses), masses)
