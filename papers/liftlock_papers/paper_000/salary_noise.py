"""Gaussian noise for a number whose prior is a mixture of normal laws, as the paper calibrates it.

By instance, a value x gets the least deviation that would suffice for x if everybody's noise had
it. Otherwise all get that of the value that needs most, which is where the prior is thinnest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liftlock import ApproximateLIP, Draft, InputError, lock
from liftlock.designs.formulas import gaussian
from liftlock.line import GridPrior, Mixture
from liftlock_papers.points import Floats

_REACH = 6.0
"""Outputs go so many deviations beyond the numbers; the outermost cells take the rest."""


def published_deviations(
    law: Mixture, places: Floats, epsilon: float, deltas: Sequence[float], steps: int
) -> list[Floats]:
    """Return the published deviation of each place, for each delta.

    It is the least sigma at which both E-divergences between N(x, sigma^2) and the output, were
    everybody's noise N(0, sigma^2), are at most delta; read from a table of sigmas by straight
    lines in the logarithms.

    Source: 000 Cor 10, Remark 2.
    """
    size = float(np.sqrt(law.weights @ (np.square(law.means) + np.square(law.deviations))))
    sigmas = size * np.geomspace(0.02, 100.0, steps)
    needs = np.array(
        [
            gaussian.mixture_delta(places, law.weights, law.means, law.deviations, sigma, epsilon)
            for sigma in sigmas.tolist()
        ]
    )
    return [_least(sigmas, needs, delta) for delta in deltas]


def _least(sigmas: Floats, needs: Floats, delta: float) -> Floats:
    """Return where each column falls to delta for good."""
    over = needs > delta
    if over[-1].any() or not over[0].all():
        raise InputError(
            "the table of deviations does not go far enough", value=delta, remedy="widen it"
        )
    last = len(over) - 1 - over[::-1].argmax(axis=0)
    columns = np.arange(needs.shape[1])
    logs, heights = np.log(sigmas), np.log(np.maximum(needs, 1e-300))
    high, low = heights[last, columns], heights[last + 1, columns]
    part = (high - np.log(delta)) / (high - low)
    found: Floats = np.exp(logs[last] + part * (logs[last + 1] - logs[last]))
    return found


def true_delta(prior: GridPrior, sigmas: Floats, epsilon: str, outputs: int) -> float:
    """Return the exact delta of noise of these deviations, with the output that they truly give.

    What is added to the numbers of the cells is cut into outputs, which can only hide: the delta
    of the noise itself is at least this. It is that of 000 Def 5.
    """
    from scipy.special import ndtr

    points = prior.points
    ends = (points - _REACH * sigmas).min(), (points + _REACH * sigmas).max()
    edges = np.linspace(*ends, outputs + 1)[1:-1]
    inner = ndtr((edges - points[:, None]) / sigmas[:, None])
    column = np.ones((len(points), 1))
    matrix = np.diff(np.concatenate([0.0 * column, inner, column], axis=1), axis=1)
    draft = Draft.of(prior.inputs, range(outputs), matrix)
    # Any channel keeps a delta of 1; what it needs is what is measured on the way.
    made = lock(draft, ApproximateLIP(epsilon, "1", "def5"), prior)
    return float(made.certificate.claims[0].measured)
