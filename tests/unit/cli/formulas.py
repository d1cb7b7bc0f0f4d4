"""Every measure of the JSON output once more, from its definition, in floating point.

Nothing of liftlock is used. `joint` is P(s, x), `matrix` is P(y | x); under a prior the secret is
the input, so the joint is diagonal.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def measures(
    joint: Floats,
    matrix: Floats,
    *,
    alpha: float | None = None,
    at_epsilon: float | None = None,
) -> dict[str, float]:
    """Return every measure under its stable key; infinite ones as inf."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _Measures(joint, matrix)
        values = found.plain()
        if alpha is not None:
            values |= found.of_order(alpha)
        if at_epsilon is not None:
            values |= found.deltas(math.exp(at_epsilon))
    return {key: float(value) for key, value in values.items()}


class _Measures:
    def __init__(self, joint: Floats, matrix: Floats) -> None:
        joint = joint / joint.sum()
        occurs = joint.sum(axis=1) > 0
        joint = joint[occurs]
        self.prior = joint.sum(axis=1)
        self.given = joint @ matrix / self.prior[:, None]  # P(y | s)
        self.output = self.prior @ self.given
        seen = self.output > 0
        self.given, self.output = self.given[:, seen], self.output[seen]
        self.lift = self.given / self.output

    def plain(self) -> dict[str, Any]:
        p, q, lam, lift = self.prior, self.given, self.output, self.lift
        pairs = p[:, None] * q  # P(s, y)
        independent = np.outer(p, lam)
        posterior = pairs / lam
        up, down = math.log(lift.max()), -np.log(lift.min())
        return {
            "lip": max(up, down),
            "eps_lower": down,
            "eps_upper": up,
            "ldp": np.log((q.max(axis=0) / q.min(axis=0)).max()),
            "identifiability": np.log((posterior.max(axis=0) / posterior.min(axis=0)).max()),
            "mutual_information": np.where(pairs > 0, pairs * np.log(lift), 0.0).sum(),
            "maximal_leakage": math.log(q.max(axis=0).sum()),
            "total_variation": np.abs(pairs - independent).sum() / 2,
            "chi2": ((pairs - independent) ** 2 / independent).sum(),
            "l1_lift": (p @ np.abs(lift - 1)).max(),
            "chi2_lift": (p @ (lift - 1) ** 2).max(),
            "l1_lift_inverse": (p @ np.abs(1 / lift - 1)).max(),
            "chi2_lift_inverse": (p @ (1 / lift - 1) ** 2).max(),
        }

    def of_order(self, alpha: float) -> dict[str, Any]:
        p, q, lift = self.prior, self.given, self.lift
        if math.isinf(alpha):
            return {
                "alpha_lift": lift.max(),
                "alpha_lift_inverse": (1 / lift).max(),
                "sibson": math.log(q.max(axis=0).sum()),
                "arimoto": math.log((p[:, None] * q).max(axis=0).sum() / p.max()),
            }
        lifts = {
            "alpha_lift": ((p @ lift**alpha) ** (1 / alpha)).max(),
            "alpha_lift_inverse": ((p @ lift**-alpha) ** (1 / alpha)).max(),
        }
        if alpha == 1:
            shannon = self.plain()["mutual_information"]
            return lifts | {"sibson": shannon, "arimoto": shannon}

        def sibson(weights: Floats) -> float:
            norms = ((weights[:, None] * q**alpha).sum(axis=0)) ** (1 / alpha)
            return alpha / (alpha - 1) * math.log(norms.sum())

        tilted = p**alpha / (p**alpha).sum()
        return lifts | {"sibson": sibson(p), "arimoto": sibson(tilted)}

    def deltas(self, ratio: float) -> dict[str, Any]:
        up = np.maximum(self.given - ratio * self.output, 0).sum(axis=1)
        down = np.maximum(self.output - ratio * self.given, 0).sum(axis=1)
        return {
            "delta_def5": max((up / ratio).max(), down.max()),
            "delta_ediv": max(up.max(), down.max()),
            "delta_joint": max((self.prior * up).max(), (self.prior * down).max()),
            "delta_ldp": max(
                np.maximum(a - ratio * b, 0).sum() for a in self.given for b in self.given
            ),
        }
