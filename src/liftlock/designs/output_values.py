"""Output values: the number that an output of a numeric mechanism stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from liftlock.designs.base import Draft
from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.grid import GridPrior, number_labels
from liftlock.utility.base import Utility
from liftlock.utility.mean import posterior_means, posterior_medians

_RARE = 1e-6
"""Outputs that occur less often than this are a solver's residue, and worth nothing."""

_FEW_DIGITS = 1e-3
"""Readings are rounded to this share of the typical distance between neighbours."""


def label_by_value(draft: Draft, prior: GridPrior, utility: Utility) -> Draft:
    """Label each output with the number it stands for, in ascending order.

    That number is the posterior mean; for absolute errors the posterior median. Outputs with the
    same number are joined when the utility cannot tell them apart, as it then loses nothing; so
    are those that hardly ever occur, with the one that reads most alike.
    """
    masses, points = prior.floats(), prior.points
    numeric = utility.numeric
    read = posterior_medians if utility.name == "absolute" else posterior_means
    # An output that never occurs has no posterior to be read.
    matrix = draft.matrix[:, dot(masses, draft.matrix) > 0]
    numbers = read(matrix, masses, points)
    if numeric:
        matrix = _without_rare(matrix, dot(masses, matrix), numbers)
        numbers = read(matrix, masses, points)
    order = np.argsort(numbers, kind="stable")
    matrix, numbers = matrix[:, order], numbers[order]
    step = _FEW_DIGITS * float(np.ptp(points))
    labels, coordinates = number_labels(numbers.tolist(), step)
    starts = np.flatnonzero(np.concatenate([[True], np.diff(labels) > 0]))
    if len(starts) < len(labels) and numeric:
        matrix = np.add.reduceat(matrix, starts, axis=1)
        labels = [labels[i] for i in starts]
        coordinates = [coordinates[i] for i in starts]
        starts = np.arange(len(labels))
    names: list[float | str] = list(labels)
    if len(starts) < len(labels):
        # Outputs that read alike but say different things keep apart.
        for place in range(1, len(labels)):
            if labels[place] == labels[place - 1]:
                names[place] = f"{labels[place]!r} ({place})"
    return replace(draft, outputs=Alphabet.of(names, coordinates), matrix=matrix.copy())


def _without_rare(matrix: Floats, totals: Floats, numbers: Floats) -> Floats:
    """Join outputs that hardly ever occur with those that read most alike."""
    common = np.flatnonzero(totals >= _RARE)
    if len(common) in (0, len(totals)):
        return matrix
    nearest = np.abs(numbers[:, None] - numbers[common]).argmin(axis=1)
    # Of several that read the same the first takes all.
    used, place = np.unique(nearest, return_inverse=True)
    joined = np.zeros((len(matrix), len(used)))
    np.add.at(joined.T, place, matrix.T)
    return joined
