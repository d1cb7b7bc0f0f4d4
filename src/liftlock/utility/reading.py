"""The number that an output is read as: the one that is least off, squared or absolute."""

from __future__ import annotations

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.exact.reproducible import dot


def posterior_means(matrix: Floats, masses: Floats, points: Floats) -> Floats:
    """Return E[X | Y = y] for each output: the reading with the least squared error."""
    joint = matrix * masses[:, None]
    means: Floats = (dot(points, joint)) / joint.sum(axis=0)
    return means


def posterior_medians(matrix: Floats, masses: Floats, points: Floats) -> Floats:
    """Return the median of X given each output: the reading with the least absolute error."""
    order = np.argsort(points, kind="stable")
    rising = np.cumsum((matrix * masses[:, None])[order], axis=0)
    half = 0.5 * rising[-1]
    places = (rising < half).sum(axis=0)
    medians: Floats = points[order][np.minimum(places, len(points) - 1)]
    return medians
