"""Confidence sets for unknown probabilities, from counts: proved at every sample size.

Two kinds: an interval for every symbol (Clopper-Pearson, all of them at once), and a ball of total
variation around the frequencies. A float only proposes an end of an interval; that the chance of
being wrong is small enough is proved with enclosures, and the end moves outward until it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from liftlock.errors import CountError, NumberError, extra
from liftlock.exact import enclosure
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.numbers import exact_probability
from liftlock.exact.rounding import root_above, upper_end

RadiusForm = Literal["000", "sets"]
"""How a radius is proved: as in 000 Cor 7, or by counting the sets of symbols."""

_WORK = 96
_NEGLIGIBLE = 1 << (_WORK - 64)
_SMALL = 256
_STIRLING = (
    Fraction(1, 12),
    Fraction(-1, 360),
    Fraction(1, 1260),
    Fraction(-1, 1680),
    Fraction(1, 1188),
    Fraction(-691, 360360),
    Fraction(1, 156),
)
_PI = Enclosure(
    Fraction("3.14159265358979323846264338327950288419716939937510"),
    Fraction("3.14159265358979323846264338327950288419716939937511"),
)
_LEAST_LOG = Fraction(-900_000)
_DIGITS = 3


def read_confidence(value: object) -> Fraction:
    """Read a confidence such as 0.99 and return beta, the probability of being wrong.

    >>> read_confidence("99 %")
    Fraction(1, 100)
    """
    confidence = exact_probability(value, name="confidence")
    if confidence == 1:
        raise NumberError(
            "a sample cannot give certainty",
            value=value,
            remedy="give a confidence below 1, such as 0.99; only LDP holds for all priors with "
            "certainty",
        )
    if 2 * confidence < 1:
        raise NumberError(
            "confidence below one half",
            value=value,
            remedy="give the probability of being right, such as 0.99",
        )
    return 1 - confidence


# --- intervals ------------------------------------------------------------------------------------


def simultaneous_intervals(
    counts: Sequence[int], beta: Fraction
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return lower and upper ends that hold for every symbol at once, except with probability beta.

    Each of the 2 m ends (lower and upper, m symbols) is wrong with probability at most
    beta / (2 m). Of two symbols one decides the other, so that each of 2 ends has beta / 2. An end
    keeps its share also where the count is 0 or everything: one that took its neighbour's share
    there would be wrong too often.

    Source: math Clopper-Pearson intervals, and Bonferroni's inequality.

    >>> low, high = simultaneous_intervals([90, 10], Fraction(1, 100))
    >>> [f"{float(a):.4g} to {float(b):.4g}" for a, b in zip(low, high)]
    ['0.798 to 0.9618', '0.03819 to 0.202']
    >>> simultaneous_intervals([50], Fraction(1, 100))
    ((Fraction(1, 1),), (Fraction(1, 1),))
    """
    trials = sum(counts)
    if trials < 1:
        raise CountError("all counts are 0", remedy="give at least one observation")
    if len(counts) == 1:
        return (Fraction(1),), (Fraction(1),)
    ends = 2 if len(counts) == 2 else 2 * len(counts)
    alpha = beta / ends
    found = {count: proportion_interval(count, trials, alpha) for count in set(counts)}
    return tuple(found[count][0] for count in counts), tuple(found[count][1] for count in counts)


def proportion_interval(hits: int, trials: int, alpha: Fraction) -> tuple[Fraction, Fraction]:
    """Return an interval for a probability, each end wrong with probability at most alpha.

    The lower end p has P(Binomial(trials, p) >= hits) <= alpha, proved; it is 0 without hits. The
    upper end mirrors it. Both are decimals, rounded outward by at most a few thousandths of the
    distance to the frequency and of themselves.

    >>> proportion_interval(0, 10, Fraction(1, 20)), proportion_interval(10, 10, Fraction(1, 20))
    ((Fraction(0, 1), Fraction(2589, 10000)), (Fraction(7411, 10000), Fraction(1, 1)))
    """
    if not 0 <= hits <= trials or trials < 1:
        raise CountError("more hits than trials", value=f"{hits} of {trials}")
    if not 0 < alpha <= Fraction(1, 2):
        raise NumberError("alpha outside 0 to 1/2", value=str(alpha))
    return _lower_end(hits, trials, alpha, mirrored=False), 1 - _lower_end(
        trials - hits, trials, alpha, mirrored=True
    )


@lru_cache(maxsize=65536)
def _lower_end(hits: int, trials: int, alpha: Fraction, *, mirrored: bool) -> Fraction:
    """Return a lower end; a mirrored one is 1 minus an upper end, so its short form is that one's.

    Nothing about the proof depends on the proposal or on the rounding.
    """
    if hits == 0:
        return Fraction(0)
    with extra("statistics"):
        from scipy import special

    # Where a sum of few terms is wanted, 1 - p keeps the digits that p has lost.
    if mirrored:
        upper = float(special.betainccinv(trials - hits + 1, hits, float(alpha)))
        value, apart = 1 - Fraction(upper), Fraction(upper) - Fraction(trials - hits, trials)
        least = min(upper, 1 - upper)
    else:
        lower = float(special.betaincinv(hits, trials - hits + 1, float(alpha)))
        value, apart = Fraction(lower), Fraction(hits, trials) - Fraction(lower)
        least = min(lower, 1 - lower)
    if least <= 0 or apart <= 0:
        return Fraction(0)
    step = Fraction(10) ** (math.floor(math.log10(min(least, float(apart)))) - _DIGITS)
    end = math.floor(value / step) * step
    while end > 0 and tail_above(hits, trials, end) > alpha:
        end -= step
        step *= 2
    return max(end, Fraction(0))


def tail_above(hits: int, trials: int, p: Fraction) -> Fraction:
    """Bound P(Binomial(trials, p) >= hits) from above, closely if it is below one half.

    The first term comes from enclosed factorials. The others follow by their ratios
    (n - j) p / ((j + 1) (1 - p)), which fall: at most a few thousand steps, in blocks over which
    the first ratio bounds the others, whatever the number of trials.

    >>> float(tail_above(3, 10, Fraction(1, 10)))  # 1 - .9^10 - 10 .1 .9^9 - 45 .01 .9^8
    0.0701908264
    """
    if hits <= 0 or p >= 1:
        return Fraction(1)
    if p <= 0:
        return Fraction(0)
    odds_top, odds_bottom = p.numerator, p.denominator - p.numerator
    if (trials - hits) * odds_top >= (hits + 1) * odds_bottom:
        return Fraction(1)  # the terms rise at first: nothing that a confidence bound asks for
    deviation = math.isqrt(hits * (trials - hits) // trials)
    block = max(1, deviation // 512)
    one = 1 << _WORK
    term = one
    total = 0
    j = hits
    while True:
        top, bottom = (trials - j) * odds_top, (j + 1) * odds_bottom
        if term < _NEGLIGIBLE or top == 0:
            # All that follows is below a geometric series with this ratio.
            total += _divide_up(term * bottom, bottom - top)
            break
        if block == 1:
            total += term
            term = _divide_up(term * top, bottom)
            j += 1
            continue
        ratio = _divide_up(top << _WORK, bottom)
        # A convex sum is below the mean of its ends times their number.
        last = _round_power_up(ratio, block - 1)
        total += _divide_up(term * block * (one + last), 2 * one)
        term = _divide_up(term * _divide_up(last * ratio, one), one)
        j += block
        if j > trials:
            break
    return min(_first_term(hits, trials, p) * Fraction(total, one), Fraction(1))


def _divide_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def _round_power_up(ratio: int, exponent: int) -> int:
    """Return ratio^exponent in fixed point, rounded up."""
    result, base = 1 << _WORK, ratio
    while exponent:
        if exponent & 1:
            result = _divide_up(result * base, 1 << _WORK)
        base = _divide_up(base * base, 1 << _WORK)
        exponent >>= 1
    return result


def _first_term(hits: int, trials: int, p: Fraction) -> Fraction:
    """Bound P(Binomial(trials, p) = hits) from above."""
    misses = trials - hits
    ways = upper_end(log_factorial(trials)) - (
        log_factorial(hits).lower + log_factorial(misses).lower
    )
    logarithm = (
        ways
        + hits * upper_end(enclosure.log(p))
        + (misses * upper_end(enclosure.log(1 - p)) if misses else 0)
    )
    return upper_end(enclosure.exp(max(logarithm, _LEAST_LOG)))


@lru_cache(maxsize=4096)
def log_factorial(number: int) -> Enclosure:
    """Enclose ln(number!): a product of small numbers, for others Stirling's series.

    Its partial sums lie on either side of the truth by turns.

    >>> float(log_factorial(3)) == math.log(6), log_factorial(1000).width < Fraction(1, 10**30)
    (True, True)
    """
    if number <= _SMALL:
        return enclosure.log(math.factorial(number))
    plain = enclosure.log(number).scaled(Fraction(2 * number + 1, 2)).shifted(-number)
    half_log = enclosure.log_of(_PI.scaled(2)).scaled(Fraction(1, 2))
    below = sum(
        (c / Fraction(number) ** (2 * i + 1) for i, c in enumerate(_STIRLING[:-1])), Fraction(0)
    )
    above = below + _STIRLING[-1] / Fraction(number) ** (2 * len(_STIRLING) - 1)
    return plain + half_log + Enclosure(below, above)


# --- a ball ---------------------------------------------------------------------------------------


def variation_radius(
    trials: int, symbols: int, beta: Fraction, *, form: RadiusForm = "sets"
) -> Fraction:
    """Return how far the frequencies may be from the truth in total variation, but for beta.

    ``000`` is the published sqrt((2/n) (m - ln beta)) / 2. ``sets`` is smaller: each of the
    2^m - 2 sets of symbols, none and all left out, is more frequent than it should be by more
    than d with probability at most exp(-2 n d^2) (Hoeffding), so

        d = sqrt((ln(2^m - 2) - ln beta) / (2 n)).

    The result is a decimal, rounded up; it is 1 where nothing can be said.

    Source: 000 Cor 7; math Hoeffding's inequality for every set of symbols.

    >>> [
    ...     round(float(variation_radius(1000, 2, Fraction(1, 100), form=form)), 4)
    ...     for form in ("000", "sets")
    ... ]
    [0.0575, 0.0515]
    """
    if trials < 1:
        raise CountError("all counts are 0", remedy="give at least one observation")
    if symbols < 2:
        return Fraction(0)
    if form == "000":
        exponent = symbols - enclosure.log(beta).lower
    else:
        exponent = upper_end(enclosure.log((2**symbols - 2) / beta))
    radius = root_above(exponent / (2 * trials))
    if radius >= 1:
        return Fraction(1)
    step = Fraction(10) ** (math.floor(math.log10(radius)) - _DIGITS - 2)
    return min(math.ceil(radius / step) * step, Fraction(1))
