"""Numbers that the text of paper 002 states: I(X; Y) / H(X) at lambda = 0.5.

The random joints of the paper are not those of this package, so a mean over 1000 of them may differ
in the second decimal; a quick run has few joints. The Adult numbers are read off a curve.
"""

from __future__ import annotations

from liftlock_papers.figure import Stated
from liftlock_papers.paper_002.tradeoff import UTILITY

COMPLETE = "λ = 0.5, as published"
SUBSETS = "λ = 0.5, repaired"
OPTIMUM = "λ = 0.5, certified optimum"
_RANDOM, _ADULT = 0.03, 0.012


def _stated(curve: str, x: float, number: float, tolerance: float, where: str, what: str) -> Stated:
    return Stated(UTILITY, curve, x, number, tolerance, where, what)


_WATCHDOG = "the utility of the watchdog at λ = 0.5, ε = 2"
_COMPLETE = "the utility of complete merging at λ = 0.5, ε = 1"
_SUBSETS = "the utility of subset merging at λ = 0.5, ε = 1"
_OPTIMUM = "the utility of AORR at λ = 0.5, ε = 2"

WATCHDOG_RANDOM = (
    _stated(COMPLETE, 1, 0.17, _RANDOM, "section 4.2", _COMPLETE),
    _stated(COMPLETE, 2, 0.52, _RANDOM, "section 3.1.3", _WATCHDOG),
)
WATCHDOG_ADULT = (
    _stated(COMPLETE, 1, 0.28, _ADULT, "section 4.2", _COMPLETE),
    _stated(COMPLETE, 2, 0.73, _ADULT, "section 3.1.3", _WATCHDOG),
)
OPTIMUM_RANDOM = (_stated(OPTIMUM, 2, 0.94, 0.01, "section 3.1.3", _OPTIMUM),)
OPTIMUM_ADULT = (_stated(OPTIMUM, 2, 0.96, 0.01, "section 3.1.3", _OPTIMUM),)
SUBSETS_RANDOM = (_stated(SUBSETS, 1, 0.73, 0.02, "section 4.2", _SUBSETS),)
SUBSETS_ADULT = (_stated(SUBSETS, 1, 0.73, _ADULT, "section 4.2", _SUBSETS),)


def _range(subsets: Stated, complete: Stated) -> tuple[float, float]:
    """Return between which percentages the gain lies if both numbers are rounded to two digits."""
    least = (subsets.number - 0.005) / (complete.number + 0.005)
    most = (subsets.number + 0.005) / (complete.number - 0.005)
    return 100 * (least - 1), 100 * (most - 1)


GAIN_RANDOM = _range(SUBSETS_RANDOM[0], WATCHDOG_RANDOM[0])
GAIN_ADULT = _range(SUBSETS_ADULT[0], WATCHDOG_ADULT[0])
