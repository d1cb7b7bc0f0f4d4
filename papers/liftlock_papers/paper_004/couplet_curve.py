"""How often a bit is flipped for two joined profiles, by how far their parameters are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import liftlock as ll
from liftlock.utility import profile_errors

_GAPS = 51


@dataclass(frozen=True, eq=False)
class Couplet:
    """How often a bit is flipped for two profiles whose parameters are so far apart."""

    epsilon: float
    method: str
    gaps: npt.NDArray[np.float64]
    flips: npt.NDArray[np.float64]

    @property
    def warner(self) -> float:
        """The flipping probability of randomised response, 1 / (1 + e^epsilon)."""
        return 1.0 / (1.0 + math.exp(self.epsilon))


def couplet_curve(
    epsilon: Any,
    gaps: Iterable[Any] | None = None,
    *,
    lowest: Any = None,
    method: str = "smooth-one-bit",
) -> Couplet:
    """Design for two joined profiles of one bit, for every difference of their parameters.

    The parameters lie evenly about 1/2, or start at `lowest`; without gaps they go from 0 to 1, or
    as far as `lowest` lets them. The certified flipping probability is the larger of the two.

    Source: 004 Fig. 2a.

    >>> curve = couplet_curve("1", ["0", "0.5", "1"], method="cluster")
    >>> curve.flips.round(4).tolist(), round(curve.warner, 4)
    ([0.0, 0.0379, 0.2689], 0.2689)
    """
    notion = ll.ProfilePrivacy(epsilon)
    start = None if lowest is None else ll.exact(lowest, name="lowest")
    furthest = Fraction(1) if start is None else 1 - start
    given = (
        [furthest * place / (_GAPS - 1) for place in range(_GAPS)]
        if gaps is None
        else [ll.exact(gap, name="gap") for gap in gaps]
    )
    flips = []
    for gap in given:
        if not 0 <= gap <= furthest:
            raise ll.InputError(
                "a difference that no two parameters have",
                value=str(gap),
                remedy=f"use 0 to {furthest}",
            )
        low = (1 - gap) / 2 if start is None else start
        pair = ll.ProfileGraph.bernoulli({"lower": low, "upper": low + gap})
        made = ll.design(pair, notion, method=method)
        flips.append(profile_errors(made.table, pair).largest)
    return Couplet(
        float(notion.bound()), method, np.array([float(gap) for gap in given]), np.array(flips)
    )
