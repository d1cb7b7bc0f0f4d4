"""What a report shows of a mechanism, in float64: for information, not part of a proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.designs.goal import read_goal
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import round_rows
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Joint, Prior, representative
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Table
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.structured import SupportChannel
from liftlock.notions.lift import lift_table
from liftlock.report.format import amount
from liftlock.utility.symmetric import entropy

MOST_ORDERED = 24
"""More secrets than this, if they are numbers, are shown in bands of neighbours."""
_BANDS = 16

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Leak:
    """The beliefs in each secret before and after each output."""

    secrets: tuple[Label, ...]
    prior: Floats
    outputs: tuple[Label, ...]
    lifts: Floats
    """P(s | y) / P(s), a row for each secret and a column for each output."""
    banded: int = 0
    """How many secrets were joined to bands; 0 if none were."""

    @classmethod
    def of(cls, made: Mechanism) -> Leak | None:
        """Take the lifts of a mechanism; None where they are not one table."""
        if isinstance(made.channel, SupportChannel):
            return None
        if not isinstance(made.context, Prior | Joint):
            return None
        found = lift_table(made.channel, made.context)
        prior = np.array([float(mass) for mass in found.secret_masses])
        lifts = np.array(found.floats(), dtype=np.float64)
        secrets = found.secrets
        points = numbers_of(secrets)
        if points is None or len(secrets) <= MOST_ORDERED:
            return cls(secrets.labels, prior, found.outputs.labels, lifts)
        order = np.argsort(points, kind="stable")
        bands = _bands(prior[order])
        masses = np.array([prior[order[band]].sum() for band in bands])
        joined = np.array(
            [
                (prior[order[band], None] * lifts[order[band]]).sum(axis=0) / mass
                for band, mass in zip(bands, masses, strict=True)
            ]
        )
        names = _band_names(made, secrets, points, [order[band] for band in bands])
        return cls(tuple(names), masses, found.outputs.labels, joined, len(secrets))

    @property
    def logs(self) -> Floats:
        """The logarithms of the lifts; minus infinity for what is ruled out."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.lifts)
        return logs

    def most_extreme(self, rows: int, columns: int) -> tuple[Places, Places]:
        """Return the places of the secrets and outputs with the largest and smallest lifts.

        Rises and falls count alike, each in parts of the largest, so that both are among them.
        """
        logs = self.logs
        finite = np.where(np.isfinite(logs), logs, 0.0)
        up, down = max(float(finite.max()), 1e-300), max(-float(finite.min()), 1e-300)
        apart = np.where(logs > 0, logs / up, -logs / down)
        return _largest(apart.max(axis=1), rows), _largest(apart.max(axis=0), columns)

    def highest(self) -> Places:
        """Return the output at which the belief in each secret is highest."""
        places: Places = self.lifts.argmax(axis=1)
        return places

    def lowest(self) -> Places:
        """Return the output at which the belief in each secret is lowest."""
        places: Places = self.lifts.argmin(axis=1)
        return places


def numbers_of(alphabet: Alphabet) -> Floats | None:
    """Return the numbers that symbols stand for; None if they are names.

    >>> numbers_of(Alphabet.of([3, 1])), numbers_of(Alphabet.of(["3", "1"]))
    (array([3., 1.]), None)
    """
    if alphabet.coordinates is not None:
        return np.array([float(point) for point in alphabet.coordinates])
    labels = alphabet.labels
    if any(isinstance(label, bool) or not isinstance(label, int | float) for label in labels):
        return None
    return np.array([float(label) for label in labels if isinstance(label, int | float)])


def _largest(values: Floats, number: int) -> Places:
    """Return the places of the largest values, in the order in which they stand."""
    return np.sort(np.argsort(-values, kind="stable")[:number])


def _bands(masses: Floats) -> list[Places]:
    """Cut neighbours into bands of about equal mass."""
    rising = np.cumsum(masses) - masses / 2
    codes = np.minimum((rising / masses.sum() * _BANDS).astype(np.intp), _BANDS - 1)
    return [np.flatnonzero(codes == band) for band in np.unique(codes)]


def _band_names(
    made: Mechanism, secrets: Alphabet, points: Floats, bands: Sequence[Places]
) -> list[str]:
    context = made.context
    if isinstance(context, GridPrior) and secrets.labels == context.inputs.labels:
        edges = context.grid.edges
        ends = [(edges[int(band.min())], edges[int(band.max()) + 1]) for band in bands]
    else:
        ends = [(float(points[band].min()), float(points[band].max())) for band in bands]
    return [f"{amount(low, 5)} to {amount(high, 5)}" for low, high in ends]


@dataclass(frozen=True, eq=False)
class Kept:
    """The channel and the masses of its inputs, in float64."""

    channel: Table
    masses: Floats
    matrix: Floats
    given: tuple[float, float] | None = None
    """I(X; Y | K) and H(X | K) in nats, where the mechanism uses a given value K."""

    @classmethod
    def of(cls, made: Mechanism) -> Kept | None:
        """Take them from a mechanism; None if it has no table."""
        if not isinstance(made.channel, Table):
            return None
        if isinstance(made.context, Conditional) and made.uses_given:
            return cls._of_given(made, made.context)
        prior = representative(made.context).reordered(made.channel.inputs)
        return cls(made.channel, prior.floats(), made.channel.floats())

    @classmethod
    def _of_given(cls, made: Mechanism, context: Conditional) -> Kept:
        """Mix the tables of all given values, as whoever does not see them does."""
        table, prior = made.table, context.prior
        shares = context.whole.prior.reordered(table.inputs).floats()
        joint = np.zeros((len(prior.labels), len(table.outputs)))
        rows = table.floats()
        for (_, x), pair in zip(context.pair_list, context.pairs.labels, strict=True):
            at = table.inputs.index(pair)
            joint[prior.alphabet.index(x)] += shares[at] * rows[at]
        sums = joint.sum(axis=1, keepdims=True)
        matrix = np.where(sums > 0, joint / np.where(sums > 0, sums, 1.0), 1.0 / joint.shape[1])
        mixed = Table.of(prior.alphabet, table.outputs, round_rows(matrix, table.bits), table.bits)
        goal = read_goal(context, "mutual-information")
        part = goal.measure(table, made.notion, None).objective
        return cls(mixed, prior.floats(), matrix, (part, goal.ends[1]))

    @property
    def inputs(self) -> tuple[Label, ...]:
        """The true values."""
        return self.channel.inputs.labels

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The values that may be released."""
        return self.channel.outputs.labels

    def information(self) -> tuple[float, float]:
        """Return I(X; Y) and H(X) in nats; for whoever knows it both given the given value."""
        if self.given is not None:
            return self.given
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


def output_counts(made: Mechanism, counts: Mapping[Any, int]) -> tuple[tuple[int, ...], int]:
    """Return how often each output was released, and how many cells stayed outside.

    A missing cell is written for the output that stands for one.
    """
    outputs = made.table.outputs
    texts = {str(label): place for place, label in enumerate(outputs.labels)}
    code = None if made.encoding is None else made.encoding.alone
    missing = None if code is None else code.missing
    found = [0] * len(outputs)
    outside = 0
    for label, number in counts.items():
        if label is not None and label in outputs:
            found[outputs.index(label)] += number
        elif label is None and missing is not None and missing in outputs:
            found[outputs.index(missing)] += number
        elif label is not None and str(label) in texts:
            found[texts[str(label)]] += number
        else:
            outside += number
    return tuple(found), outside
