"""What a black box is claimed to satisfy: upper limits in nats, one for each side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from liftlock.errors import InputError, NumberError
from liftlock.exact.budget import Budget
from liftlock.exact.numbers import exact

Side: TypeAlias = Literal["eps_upper", "eps_lower", "ldp"]

SIDES: tuple[Side, ...] = ("eps_upper", "eps_lower", "ldp")


@dataclass(frozen=True, slots=True)
class Claims:
    """The claimed limits: e^-eps_lower <= lift <= e^eps_upper, likelihood ratios <= e^ldp.

    None means that nothing is claimed of that side.

    >>> Claims.of(lip="1/2")
    Claims(eps_upper=0.5, eps_lower=0.5, ldp=None)
    >>> Claims.of(ldp="ln 3").ldp == math.log(3)
    True
    """

    eps_upper: float | None = None
    eps_lower: float | None = None
    ldp: float | None = None

    @classmethod
    def of(
        cls,
        *,
        lip: object = None,
        eps_lower: object = None,
        eps_upper: object = None,
        ldp: object = None,
    ) -> Claims:
        """Read the claims as they are given by a user; ``lip`` stands for both sides at once."""
        if lip is not None and (eps_lower is not None or eps_upper is not None):
            raise InputError(
                "lip claimed together with eps_lower or eps_upper",
                value=lip,
                remedy="lip=e means eps_lower=e and eps_upper=e: give one or the other",
            )
        both = _limit(lip, "lip")
        return cls(
            eps_upper=_limit(eps_upper, "eps_upper") if lip is None else both,
            eps_lower=_limit(eps_lower, "eps_lower") if lip is None else both,
            ldp=_limit(ldp, "ldp"),
        )

    def limit(self, side: Side) -> float | None:
        """Return the claim of one side."""
        value: float | None = getattr(self, side)
        return value

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that something is claimed of."""
        return tuple(side for side in SIDES if self.limit(side) is not None)


def read_confidence(value: object) -> float:
    """Read a confidence level strictly between 0 and 1.

    >>> read_confidence("99.9 %")
    0.999
    """
    number = float(value) if isinstance(value, float) else float(exact(value, name="confidence"))
    if not 0 < number < 1:
        raise NumberError(
            "confidence outside 0 to 1", value=value, remedy="give a number such as 0.999"
        )
    return number


def _limit(value: object, name: str) -> float | None:
    if value is None:
        return None
    # A claim may well be computed (math.log(3)), so floats are taken as they are; the bounds that
    # it is compared with are lowered by far more than the rounding of one float.
    number = float(value) if isinstance(value, float) else float(Budget.of(value, name=name))
    if not math.isfinite(number):
        raise NumberError(f"{name} is not finite", value=value, remedy="give a number of nats")
    if number < 0:
        raise NumberError(f"{name} is negative", value=value, remedy="budgets are 0 or more")
    return number
