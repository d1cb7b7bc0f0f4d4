"""Intervals with rational ends that certainly contain a real number, and exp, log, powers on them.

Everything is integer arithmetic on fixed-point numbers with the error counted in units of the last
place, so an enclosure is a theorem, not a rounding mode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from liftlock.errors import NumberError

BITS = 128
"""Working precision of an enclosure when nothing else is asked for."""

_GUARD = 24
_MOST_EXPONENT = 1_000_000
_ALMOST_ZERO = Fraction(1, 1 << 4096)
_ABOVE_LN2 = Fraction(69314718056, 10**11)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A closed interval [lower, upper] that contains the value; upper None means +infinity.

    >>> half = Enclosure.of(Fraction(1, 2))
    >>> half.is_exact, float(half), str(half)
    (True, 0.5, '0.5')
    """

    lower: Fraction
    upper: Fraction | None

    def __post_init__(self) -> None:
        ends: tuple[object, object] = self.lower, self.upper
        if any(isinstance(end, float) for end in ends):
            raise NumberError(
                "a float is not an exact end of an enclosure",
                value=(self.lower, self.upper),
                remedy="give fractions, on the safe side of what was rounded",
            )
        if self.upper is not None and self.upper < self.lower:
            raise NumberError("enclosure upside down", value=(self.lower, self.upper))

    @classmethod
    def of(cls, value: Fraction | int) -> Enclosure:
        """Enclose a rational number by itself."""
        number = Fraction(value)
        return cls(number, number)

    @classmethod
    def infinity(cls) -> Enclosure:
        """Return the value +infinity (lower end 0 is not meaningful then)."""
        return cls(Fraction(0), None)

    @property
    def is_infinite(self) -> bool:
        """Whether the value is +infinity."""
        return self.upper is None

    @property
    def is_exact(self) -> bool:
        """Whether both ends agree, so the value is known exactly."""
        return self.upper is not None and self.lower == self.upper

    @property
    def width(self) -> Fraction:
        """Upper end minus lower end (0 for infinity, which is exact)."""
        return Fraction(0) if self.upper is None else self.upper - self.lower

    @property
    def safe(self) -> Fraction | None:
        """The upper end: what may be promised as a bound. None is +infinity."""
        return self.upper

    def __float__(self) -> float:
        """Return the nearest float of the middle; +inf for infinity or what no float holds."""
        if self.upper is None:
            return math.inf
        return nearest_float((self.lower + self.upper) / 2)

    def __str__(self) -> str:
        return "inf" if self.upper is None else f"{float(self):.6g}"

    def __add__(self, other: Enclosure) -> Enclosure:
        if self.upper is None or other.upper is None:
            return Enclosure.infinity()
        return Enclosure(self.lower + other.lower, self.upper + other.upper)

    def scaled(self, factor: Fraction | int) -> Enclosure:
        """Multiply by an exact number of either sign."""
        if self.upper is None:
            return self
        ends = (self.lower * factor, self.upper * factor)
        return Enclosure(min(ends), max(ends))

    def shifted(self, offset: Fraction | int) -> Enclosure:
        """Add an exact number."""
        if self.upper is None:
            return self
        return Enclosure(self.lower + offset, self.upper + offset)

    def times(self, other: Enclosure) -> Enclosure:
        """Multiply two enclosures of numbers that are 0 or more."""
        if self.upper is None or other.upper is None:
            return Enclosure.infinity()
        return Enclosure(self.lower * other.lower, self.upper * other.upper)

    def maximum(self, other: Enclosure) -> Enclosure:
        """Enclose the larger of two enclosed numbers (which of them it is may stay open)."""
        if self.upper is None or other.upper is None:
            return Enclosure.infinity()
        return Enclosure(max(self.lower, other.lower), max(self.upper, other.upper))

    def rounded(self, bits: int = BITS) -> Enclosure:
        """Widen to ends with short denominators (keeps long sums cheap)."""
        if self.upper is None:
            return self
        scale = 1 << bits
        low = math.floor(self.lower * scale)
        high = math.ceil(self.upper * scale)
        return Enclosure(Fraction(low, scale), Fraction(high, scale))


def nearest_float(value: Fraction) -> float:
    """Round to float64; beyond its range to +-infinity, where Python's own float() gives up.

    >>> nearest_float(Fraction(1, 3)), nearest_float(Fraction(10) ** 400)
    (0.3333333333333333, inf)
    """
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def exp(value: Fraction | int, bits: int = BITS) -> Enclosure:
    """Enclose e^value with relative width below 2^-bits.

    >>> e = exp(1)
    >>> float(e.lower) == float(e.upper) == math.e
    True
    >>> exp(0).is_exact
    True
    """
    return _exp(Fraction(value), bits)


def log(value: Fraction | int, bits: int = BITS) -> Enclosure:
    """Enclose the natural logarithm of a positive rational with absolute width below 2^-bits.

    >>> two = log(2)
    >>> float(two) == math.log(2), two.width < Fraction(1, 2**BITS)
    (True, True)
    """
    return _log(Fraction(value), bits)


def log_of(value: Enclosure, bits: int = BITS) -> Enclosure:
    """Enclose the logarithm of an enclosed positive number."""
    if value.upper is None:
        return value
    return Enclosure(log(value.lower, bits).lower, _end(log(value.upper, bits)))


def exp_of(value: Enclosure, bits: int = BITS) -> Enclosure:
    """Enclose e to the power of an enclosed number."""
    if value.upper is None:
        return value
    return Enclosure(exp(value.lower, bits).lower, _end(exp(value.upper, bits)))


def power(base: Enclosure, exponent: Fraction, bits: int = BITS) -> Enclosure:
    """Enclose base^exponent for a base of 0 or more and an exponent above 0.

    The relative width is below 2^-bits beyond that of the base; a power below e^-1000000 is
    enclosed by 0 and 2^-4096 instead.

    >>> power(Enclosure.of(8), Fraction(1, 3)).lower <= 2 <= power(
    ...     Enclosure.of(8), Fraction(1, 3)
    ... ).upper
    True
    """
    if exponent <= 0:
        raise NumberError("exponent must be positive", value=exponent)
    if base.upper is None:
        return base
    if exponent.denominator == 1 and exponent.numerator <= 64:
        n = exponent.numerator
        return Enclosure(base.lower**n, base.upper**n)
    return Enclosure(
        _power(base.lower, exponent, bits).lower, _end(_power(base.upper, exponent, bits))
    )


def _power(base: Fraction, exponent: Fraction, bits: int) -> Enclosure:
    if base < 0:
        raise NumberError("power of a negative number", value=base)
    if base == 0 or base == 1:
        return Enclosure.of(base)
    magnitude = abs(_binary_exponent(base)) + 2
    work = bits + math.ceil(exponent * magnitude).bit_length() + 4
    logarithm = log(base, work).scaled(exponent)
    if _end(logarithm) < -_MOST_EXPONENT:
        return Enclosure(Fraction(0), _ALMOST_ZERO)
    return exp_of(logarithm, work)


def _end(value: Enclosure) -> Fraction:
    if value.upper is None:  # pragma: no cover - exp and log of finite numbers are finite
        raise NumberError("unexpected infinity")
    return value.upper


@lru_cache(maxsize=4096)
def _exp(value: Fraction, bits: int) -> Enclosure:
    if value == 0:
        return Enclosure.of(1)
    if abs(value) > _MOST_EXPONENT + 1:  # one more: powers reach this far with both ends
        raise NumberError(
            "exponent too large", value=str(value)[:40], remedy="use a budget below a million"
        )
    if value < 0:
        positive = _exp(-value, bits + 1)
        return Enclosure(1 / _end(positive), 1 / positive.lower)
    # e^v = 2^k * e^r with r = v - k ln 2 in [0, 1): Taylor on r / 2^halvings, squared back.
    halvings = 8
    work = bits + _GUARD + halvings + value.numerator.bit_length()
    one = 1 << work
    k = int(value / _ABOVE_LN2)  # never above v / ln 2, so r >= 0
    ln2 = _log2_fixed(work)  # at most 2 units below ln 2 * 2^work
    fixed = (value.numerator << work) // value.denominator  # floor: 1 unit below at most
    remainder = (fixed - k * ln2) >> halvings
    slack = k + 3  # more units than the reduced argument can be off: (2k + 1) / 2^halvings + 1
    term = one
    total = one
    index = 1
    steps = 0
    while term:
        term = (term * remainder >> work) // index
        total += term
        index += 1
        steps += 1
    # Each step loses < 2 units (and what it lost shrinks afterwards); the tail is < 1 unit more.
    low = total - 2 * slack - 1
    high = total + 2 * slack + 3 * steps + 3
    for _ in range(halvings):
        low = low * low >> work
        high = (high * high >> work) + 1
    return Enclosure(_times_power_of_2(low, k - work), _times_power_of_2(high, k - work))


def _times_power_of_2(value: int, shift: int) -> Fraction:
    # Cancel the powers of 2 here: the general gcd takes seconds on a million bits.
    return Fraction(value << shift) if shift >= 0 else Fraction(value, 1 << -shift)


@lru_cache(maxsize=64)
def _log2_fixed(work: int) -> int:
    """Return ln 2 * 2^work from 2 atanh(1/3), at most 2 units too small."""
    extra = 16 + work.bit_length()  # the series loses up to 3 units in each of work / 3 steps
    return _atanh_fixed(1, 3, work + extra)[0] >> (extra - 1)


def _atanh_fixed(numerator: int, denominator: int, work: int) -> tuple[int, int]:
    """Return (t, err): atanh(n/d) * 2^work lies in [t, t + err], for 0 <= n/d <= 1/2.

    The argument is cut to the working precision first, so that long fractions cost no more than
    short ones. Everything is rounded down: the argument and its powers are too small by less than
    3 units each, their quotients by one more.
    """
    power_ = (numerator << work) // denominator
    square = power_ * power_ >> work
    total = 0
    index = 1
    steps = 0
    while power_:
        total += power_ // index
        power_ = power_ * square >> work
        index += 2
        steps += 1
    return total, 4 * steps + 6


def _binary_exponent(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


@lru_cache(maxsize=65536)
def _log(value: Fraction, bits: int) -> Enclosure:
    if value <= 0:
        raise NumberError("logarithm of a number that is not positive", value=value)
    if value == 1:
        return Enclosure.of(0)
    exponent = _binary_exponent(value)
    a = value.numerator << max(-exponent, 0)
    b = value.denominator << max(exponent, 0)  # value = a/b * 2^exponent, a/b in (1/2, 2)
    if 3 * a > 4 * b:
        b <<= 1
        exponent += 1
    elif 3 * a < 2 * b:
        a <<= 1
        exponent -= 1
    work = bits + _GUARD + abs(exponent).bit_length()
    # ln(a/b) = 2 atanh((a-b)/(a+b)), |argument| <= 1/5
    series, error = _atanh_fixed(abs(a - b), a + b, work)
    low, high = 2 * series, 2 * (series + error)
    if a < b:
        low, high = -high, -low
    ln2 = _log2_fixed(work)
    shift = exponent * ln2
    slack = 2 * abs(exponent) + 1
    scale = 1 << work
    return Enclosure(Fraction(low + shift - slack, scale), Fraction(high + shift + slack, scale))
