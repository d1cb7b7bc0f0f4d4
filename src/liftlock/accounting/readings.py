"""What releases are read as: of the same value, of different ones, or of independent ones.

The leakages differ. Five releases of one value tell more of it each time. Five values that nobody
knows the connection of may be one and the same, or worse: a release about one may tell of all. Of
independent values each keeps its own leakage, and what is told of all at once is the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from liftlock.accounting.accountants.base import QUANTITIES, PrivacyLoss, sides
from liftlock.accounting.accountants.tight import lower_bound, upper_bound
from liftlock.accounting.release import LeakageLevels, multiply_ratios, smallest_ratio
from liftlock.notions.measurement import Measurement

ReadingKind = Literal["same", "different", "independent"]
READINGS: tuple[ReadingKind, ...] = get_args(ReadingKind)


@dataclass(frozen=True)
class Reading:
    """What several releases are read as, and whether somebody said so.

    >>> print(Reading("different", 5))
    5 different values, whatever they have in common
    """

    kind: ReadingKind
    values: int = 1
    told: bool = True

    def __str__(self) -> str:
        if self.kind == "same":
            return "the same value"
        independent = self.kind == "independent"
        shared = "assumed independent" if independent else "whatever they have in common"
        return f"{self.values:,} different values, {shared}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"kind": self.kind, "values": self.values, "told": self.told, "text": str(self)}


SAME = Reading("same")


def combine_values(
    each: Sequence[LeakageLevels], kind: ReadingKind, *, lifts: bool = True, exact: bool = False
) -> PrivacyLoss:
    """Bound the leakage about different values at once, from the levels of each.

    If nothing is known of how they hang together, the least probability of a tuple may be 0:

        eps <= min_j eps_j + sum_{k != j} omega_k

    with omega_k the level of LDP of all releases of value k: of the data, not of a secret behind
    them, which may be shared in any way. It holds for every single value too, as its lifts are
    means of those of tuples. Lifts of independent values multiply, so their levels add up. Without
    `lifts` only LDP is said; `exact` says that every level is attained.

    Source: 000 Cor 5 (tight form, P_min = 0; independent data).

    >>> flip = LeakageLevels(Fraction(2), Fraction(3, 2), Fraction(3), Fraction(3))
    >>> print(combine_values([flip, flip], "different")["eps_lower"].ratio)
    6
    >>> print(combine_values([flip, flip], "independent")["eps_lower"].ratio)
    4
    """
    ratios = [levels.ldp for levels in each]
    product = multiply_ratios((ratio, 1) for ratio in ratios)
    measurements = {"ldp": Measurement.of_ratio("ldp", product, None)}
    independent = kind == "independent"
    if lifts and independent:
        lower = multiply_ratios((levels.lower, 1) for levels in each)
        upper = multiply_ratios((levels.upper, 1) for levels in each)
        measurements |= sides(lower, upper)
    elif lifts:
        falls, rises = [], []
        for j, levels in enumerate(each):
            others = multiply_ratios((ratio, int(k != j)) for k, ratio in enumerate(ratios))
            falls.append(lower_bound(Fraction(0), levels.lower, others))
            rises.append(upper_bound(Fraction(0), levels.upper, others))
        measurements |= sides(smallest_ratio(falls), smallest_ratio(rises))
    return PrivacyLoss(
        "independent" if independent else "together",
        {name: measurements[name] for name in QUANTITIES if name in measurements},
        exact and independent,
        "lifts of independent data multiply: sums of eps_lower, of eps_upper, of LDP"
        if independent
        else "min over items j: eps_j + sum of the other omegas, whatever the data have in common",
        f"000 Cor 5 ({'independent data' if independent else 'tight form'})",
        "that the values are independent"
        if independent
        else "nothing of how the items hang together",
    )
