"""Two profiles of one bit: how often it must be flipped, the published bound, and two releases.

With E = e^epsilon and p <= q the two chances of a 1, flipping with probability a <= 1/2 keeps the
two outputs within a factor E as soon as

    a >= d / (2d + E - 1),   d = max{0, q - E p, (1 - p) - E (1 - q)}
"""

from __future__ import annotations

import math

from liftlock import InputError

_MOST = 700.0
"""Beyond so many nats a float cannot hold e^epsilon, and no flip is large enough to matter."""


def flip_probability(p: float, q: float, epsilon: float) -> float:
    """Return the least flipping probability that makes two profiles of one bit indistinguishable.

    It is 0 when they are so already, and at most 1 / (1 + E), which p = 0 and q = 1 need.

    Source: 004 eq. (4), Alg 1.

    >>> round(flip_probability(0.8, 0.9, 0.5), 5), flip_probability(0.9, 0.95, 1)
    (0.04886, 0.0)
    """
    _check(p, q)
    low, high, ratio = min(p, q), max(p, q), _ratio(epsilon)
    excess = max(0.0, high - ratio * low, (1 - low) - ratio * (1 - high))
    return excess / (2 * excess + ratio - 1) if excess else 0.0


def warner(epsilon: float) -> float:
    """Return the flipping probability of randomised response, 1 / (1 + E).

    >>> round(warner(math.log(3)), 12)
    0.25
    """
    return 1.0 / (1.0 + _ratio(epsilon))


def published_bound(p: float, q: float, epsilon: float) -> float:
    """Return the published bound of the flipping probability, as printed.

        max{0, (q - E p) / (2 (q - E p) - (1 - E)),
               (p - E q + E - 1) / (2 (p - E q) + E - 1)}

    It is only an upper bound, and often void: where a numerator is negative its denominator may be
    so too, and the quotient is then above 1/2, above 1, or infinite although no flip is needed.

    Source: 004 eq. (7), eq. (35).

    >>> round(published_bound(0.8, 0.9, 0.5), 3), round(published_bound(0.9, 0.95, 1), 3)
    (2.214, 1.174)
    """
    _check(p, q)
    low, high, ratio = min(p, q), max(p, q), _ratio(epsilon)
    first = high - ratio * low
    second = low - ratio * high
    return max(
        0.0,
        _quotient(first, 2 * first - (1 - ratio)),
        _quotient(second + ratio - 1, 2 * second + ratio - 1),
    )


def twice(p: float, q: float, flip: float) -> float:
    """Return the loss in nats of releasing the same bit twice, each time flipped afresh.

    The two outputs (s, t) have the distribution p f(1, s) f(1, t) + (1 - p) f(0, s) f(0, t): they
    are not independent given the profile, so losses do not add up. Two bits drawn afresh would lose
    twice the loss of one.

    Source: 004 Obs 13.

    >>> once = flip_probability(0.9, 1, 1)
    >>> round(twice(0.9, 1, once), 4)  # more than twice the budget of 1
    3.5252
    """
    _check(p, q)
    _check(flip, flip)
    keep = 1.0 - flip
    one, other = (
        (
            chance * keep**2 + (1.0 - chance) * flip**2,
            flip * keep,
            chance * flip**2 + (1.0 - chance) * keep**2,
        )
        for chance in (float(p), float(q))
    )
    return max(_loss(a, b) for a, b in zip(one, other, strict=True))


def _loss(one: float, other: float) -> float:
    if one == other:
        return 0.0
    if not one or not other:
        return math.inf
    return abs(math.log(one) - math.log(other))


def _quotient(above: float, below: float) -> float:
    return above / below if below else math.inf


def _ratio(epsilon: float) -> float:
    if not epsilon >= 0:
        raise InputError("a budget below 0", value=epsilon, remedy="give 0 or more nats")
    return math.exp(min(float(epsilon), _MOST))


def _check(p: float, q: float) -> None:
    for value in (p, q):
        if not 0 <= value <= 1:
            raise InputError("not a probability", value=value, remedy="give a number from 0 to 1")
