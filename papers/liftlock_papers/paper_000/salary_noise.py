"""Gaussian noise for a number whose prior is a normal mixture, as the paper calibrates it.

By instance, a value x gets the least deviation that would suffice for x if everybody's noise had
it. Otherwise all get that of the value that needs most, which is where the prior is thinnest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liftlock import InputError
from liftlock.model.continuous import Mixture
from liftlock_papers.formulas.gaussian import mixture_delta
from liftlock_papers.points import Floats

_REACH = 6.0
"""Outputs go so many deviations beyond the numbers; the outermost cells take the rest."""
_AT_ONCE = 2048
_ASKED = 257


def published_deviations(
    distribution: Mixture, places: Floats, epsilon: float, deltas: Sequence[float], steps: int
) -> list[Floats]:
    """Return the published deviation of each place, for each delta.

    It is the least sigma at which both E-divergences between N(x, sigma^2) and the output, were
    everybody's noise N(0, sigma^2), are at most delta; read from a table of sigmas by straight
    lines in the logarithms.

    Source: 000 Cor 10, Remark 2.
    """
    size = float(
        np.sqrt(
            distribution.weights
            @ (np.square(distribution.means) + np.square(distribution.deviations))
        )
    )
    sigmas = size * np.geomspace(0.02, 100.0, steps)
    needs = np.array(
        [
            mixture_delta(
                places,
                distribution.weights,
                distribution.means,
                distribution.deviations,
                sigma,
                epsilon,
            )
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


def sufficient(
    distribution: Mixture, place: float, epsilon: float, delta: float, near: float
) -> float:
    """Return the published deviation of one place to nine digits, given it roughly.

    Source: 000 Cor 10, Remark 2.
    """
    at = np.array([place])
    low, high = 0.5 * near, 2.0 * near
    while high - low > 1e-9 * high:
        sigma = 0.5 * (low + high)
        need = mixture_delta(
            at, distribution.weights, distribution.means, distribution.deviations, sigma, epsilon
        )
        low, high = (sigma, high) if float(need[0]) > delta else (low, sigma)
    return high


def true_delta(people: Floats, sigmas: Floats, epsilon: float, outputs: int) -> float:
    """Return the delta of noise of these deviations, with the output that they truly give.

    Everybody is as likely as anybody else, and nobody is moved. Only the outputs are cut into
    cells, which can but hide, and of the people every so many is asked, with the first and the
    last: the delta of the noise itself is at least this. It is that of 000 Def 5.
    """
    order = np.argsort(people, kind="stable")
    numbers, widths = people[order], sigmas[order]
    ends = (numbers - _REACH * widths).min(), (numbers + _REACH * widths).max()
    edges = np.linspace(*ends, outputs + 1)[1:-1]
    total = np.zeros(outputs)
    for start in range(0, len(numbers), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        total += _rows(numbers[some], widths[some], edges).sum(axis=0)
    output, ratio = total / len(numbers), float(np.exp(epsilon))
    asked = np.unique(np.linspace(0, len(numbers) - 1, _ASKED).astype(np.int64))
    rows = _rows(numbers[asked], widths[asked], edges)
    up = np.maximum(rows - ratio * output, 0.0).sum(axis=1) / ratio
    down = np.maximum(output - ratio * rows, 0.0).sum(axis=1)
    return float(max(up.max(), down.max()))


def _rows(numbers: Floats, sigmas: Floats, edges: Floats) -> Floats:
    """Return the probability of each output, for each number."""
    from scipy.special import ndtr

    inner = ndtr((edges - numbers[:, None]) / sigmas[:, None])
    column = np.ones((len(numbers), 1))
    rows: Floats = np.diff(np.concatenate([0.0 * column, inner, column], axis=1), axis=1)
    return rows
