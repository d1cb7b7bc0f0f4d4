"""What outputs tell about secrets, in the form that pictures need: numbers of float64, in bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet, Label
from liftlock.context import Joint
from liftlock.exact.integers import Floats
from liftlock.forms import SupportChannel
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.notions.lift import lift_table
from liftlock.prior import Prior
from liftlock.report.amounts import amount

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
