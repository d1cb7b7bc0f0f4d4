"""The Bayes estimate of an encoding, from the reports themselves.

A report that supports the set A of symbols has posteriors P(x) a / D inside A and P(x) b / D
outside, with the likelihoods in the proportion a : b and D = b + (a - b) P(A). Sums over people
need P(A) of each report only, so that reports are read in blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from liftlock.estimate.question import Question
from liftlock.exact.integers import Floats
from liftlock.forms import Reports, SupportChannel
from liftlock.prior import Prior

_CELLS = 1 << 22
"""So many pairs of report and symbol are unpacked at once."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior means and variances of the answers."""

    values: Floats
    variances: Floats


def posterior_of(
    channel: SupportChannel,
    reports: Reports,
    question: Question,
    prior: Prior,
    weights: npt.ArrayLike | None = None,
) -> Posterior:
    """Add up E[f(X) | report] and Var(f(X) | report) over all reports, with weights a_i and a_i^2.

    Source: 001 eq. (10), eq. (14), eq. (27).
    """
    masses = prior.reordered(channel.inputs).floats()
    size = len(masses)
    # Only their proportion matters, and integers of many bits leave the range of floats.
    inside = 1.0
    outside = channel.levels[1] / channel.levels[0]
    scale = (
        np.ones(len(reports))
        if weights is None
        else np.broadcast_to(np.asarray(weights, dtype=np.float64), (len(reports),))
    )
    values, variances = np.zeros(question.values.shape[1]), np.zeros(question.values.shape[1])
    step = max(1, _CELLS // size)
    centre = masses @ question.values
    f = question.values - centre
    for start in range(0, len(reports), step):
        some = slice(start, start + step)
        sets = channel.supported(reports[some]).astype(np.float64)
        each = outside + (inside - outside) * (sets @ masses)
        a = scale[some]
        if question.of == "histogram":
            # P(x | report) is one of two numbers: its sums need no matrix of posteriors.
            mean = masses * _added(a / each, sets, outside, inside)
            square = masses * _added(a**2 / each, sets, outside, inside)
            values += mean
            variances += square - masses**2 * _added((a / each) ** 2, sets, outside**2, inside**2)
        else:
            means = outside * (masses @ f) + (inside - outside) * (sets @ (masses[:, None] * f))
            means /= each[:, None]
            seconds = outside * (masses @ f**2) + (inside - outside) * (
                sets @ (masses[:, None] * f**2)
            )
            seconds /= each[:, None]
            values += a @ means + a.sum() * centre
            variances += a**2 @ np.maximum(seconds - means**2, 0.0)
    return Posterior(values, np.maximum(variances, 0.0))


def _added(amounts: Floats, sets: Floats, outside: float, inside: float) -> Floats:
    """Return for each symbol sum_i amount_i (inside if supported, else outside)."""
    found: Floats = outside * amounts.sum() + (inside - outside) * (amounts @ sets)
    return found
