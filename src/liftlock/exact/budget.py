"""A privacy budget: the number e^epsilon, compared exactly with rational ratios."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from liftlock.errors import NumberError
from liftlock.exact import enclosure
from liftlock.exact.enclosure import BITS, Enclosure
from liftlock.exact.fingerprint import fraction_text
from liftlock.exact.numbers import exact

_LN = re.compile(r"^(?:ln|log)\s*\(?\s*([^()\s]+)\s*\)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget epsilon, given as a rational number of nats or as ``"ln 3"``.

    Comparing a rational ratio with e^epsilon is always decided: for a rational epsilon other than
    0, e^epsilon is irrational (Lindemann), so a fine enough enclosure separates the two.

    >>> one = Budget.of("1")
    >>> one.allows(Fraction("2.718281828459045")), one.allows(Fraction("2.718281828459046"))
    (True, False)
    >>> Budget.of("ln 3").allows(Fraction(3)), str(Budget.of("ln 3"))
    (True, 'ln 3')
    """

    epsilon: Fraction | None
    ratio: Fraction | None

    @classmethod
    def of(cls, value: object, *, name: str = "epsilon") -> Budget:
        """Read a budget: any exact number of nats, or the text ``ln RATIO``."""
        if isinstance(value, Budget):
            return value
        if isinstance(value, str):
            match = _LN.match(value.strip())
            if match:
                return cls.from_ratio(exact(match.group(1), name=name), name=name)
        epsilon = exact(value, name=name)
        if epsilon < 0:
            raise NumberError(f"{name} is negative", value=value, remedy="give 0 or more")
        return cls(epsilon, None)

    @classmethod
    def from_ratio(cls, ratio: Fraction, *, name: str = "epsilon") -> Budget:
        """Make the budget ln(ratio), for a rational ratio of at least 1."""
        if ratio < 1:
            raise NumberError(
                f"{name} is the logarithm of a number below 1",
                value=str(ratio),
                remedy="give 0 or more",
            )
        return cls(None, ratio)

    def exp(self, bits: int = BITS) -> Enclosure:
        """Enclose e^epsilon."""
        if self.ratio is not None:
            return Enclosure.of(self.ratio)
        return enclosure.exp(self._epsilon, bits)

    def nats(self, bits: int = BITS) -> Enclosure:
        """Enclose epsilon itself."""
        if self.ratio is not None:
            return enclosure.log(self.ratio, bits)
        return Enclosure.of(self._epsilon)

    def allows(self, ratio: Fraction | None) -> bool:
        """Tell whether ratio <= e^epsilon, exactly; None stands for an infinite ratio."""
        if ratio is None:
            return False
        if self.ratio is not None:
            return ratio <= self.ratio
        if ratio <= 1:
            return True
        bits = BITS
        while True:
            value = self.exp(bits)
            if ratio <= value.lower:
                return True
            if value.upper is not None and ratio > value.upper:
                return False
            bits *= 2

    def allows_power(self, ratio: Fraction | None, times: int) -> bool:
        """Tell whether ratio^times <= e^epsilon, exactly.

        >>> Budget.of("ln 9").allows_power(Fraction(3), 2)
        True
        """
        if ratio is None:
            return False
        if ratio <= 1:
            return True
        upper = enclosure.log(ratio).upper
        if upper is not None and times * upper <= self.nats().lower:
            return True
        # A power of many digits is only made where an enclosure does not decide.
        return self.allows(ratio**times)

    @property
    def _epsilon(self) -> Fraction:
        assert self.epsilon is not None
        return self.epsilon

    def __float__(self) -> float:
        return float(self.nats())

    def __str__(self) -> str:
        if self.ratio is not None:
            return f"ln {fraction_text(self.ratio)}"
        return decimal_text(self._epsilon)


def decimal_text(value: Fraction) -> str:
    """Write a rational as a terminating decimal when it is one, else as a fraction.

    >>> decimal_text(Fraction(7, 10)), decimal_text(Fraction(1, 3))
    ('0.7', '1/3')
    """
    rest = value.denominator
    digits = 0
    while rest % 10 == 0:
        rest //= 10
        digits += 1
    twos = fives = 0
    while rest % 2 == 0:
        rest //= 2
        twos += 1
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    digits += max(twos, fives)
    if rest != 1 or digits > 18:
        return fraction_text(value)
    sign = "-" if value < 0 else ""
    whole, part = divmod(abs(value.numerator) * 10**digits // value.denominator, 10**digits)
    if digits == 0:
        return f"{sign}{whole}"
    return f"{sign}{whole}." + str(part).rjust(digits, "0")
