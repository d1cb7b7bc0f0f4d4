"""A mechanism is made for the frequencies of a sample, and used under the true prior.

There are two symbols, so a sample is one number: how often the first was seen. Its distribution is
binomial, and everything here is computed for every count, not simulated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import liftlock as ll
from liftlock.transfer import transfer_from_samples
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

FIRST = "0.3"
"""P_X(0)."""
BETA = 0.01
BUDGETS = {"a": "0.5", "b": "1"}
BUDGET = "1"
"""For the panels c and d."""
LEAST, MOST = 50, 100_000
FEW = (10, 14, 20, 30)
"""Samples in which a symbol may well be missing: for the bounds alone."""
MADE = (
    "response (19) for the sample",
    "optimum for the sample",
    "optimum for 99 % intervals",
    "ε-LDP",
)
"""How mechanisms are made from a sample."""


def transferring(setting: Setting) -> Iterator[Point]:
    """Compute the figure: bounds (a, b), discrepancy (c), and true leakage (d) against n."""
    steps = setting.choose(full=34, quick=5)
    sizes = [int(n) for n in np.unique(np.geomspace(LEAST, MOST, steps).round())]
    for size in setting.each([*FEW, *sizes], "sample sizes"):
        for panel, budget in BUDGETS.items():
            yield from _bounds(panel, size, budget)
        if size < LEAST:
            continue
        yield from _discrepancies(size)
        yield from _leakages(size, setting.choose(full=15, quick=3))


def _bounds(panel: str, size: int, budget: str) -> Iterator[Point]:
    """Compare the terms of 000 eq. (12) for the typical sample, which has the true frequencies."""
    epsilon, p = float(budget), float(FIRST)
    seen = typical(size)
    share = seen / size
    eta = deviation(size, min(share, p))
    rarest = math.log1p(math.expm1(epsilon) / share)
    yield Point(panel, "ε + η, Cor 7", size, epsilon + eta)
    yield Point(panel, "2ε", size, 2 * epsilon)
    yield Point(panel, "rarest symbol", size, rarest)
    yield Point(panel, "least of eq. (12)", size, min(epsilon + eta, 2 * epsilon, rarest))
    radius = distance(size)
    usable = math.inf if radius >= share else math.log1p(radius / (share - radius))
    yield Point(panel, "ε + η without the true P", size, epsilon + usable)
    made = _optimum(seen, size, budget)
    found = transfer_from_samples(made, {0: seen, 1: size - seen}, confidence=f"{1 - BETA:g}")
    worst = found.bound("worst case", "intervals")
    yield Point(panel, "exact worst case, 99 % intervals", size, float(worst.value))
    yield Point(panel, "true leakage", size, _leakage(made))


def _discrepancies(size: int) -> Iterator[Point]:
    """Compare 000 eq. (14) with what the response of eq. (19) does, over all samples."""
    p, ratio = float(FIRST), math.exp(float(BUDGET))
    counts, chances = samples(size)
    shares = counts / size
    inside = central(chances)
    gaps = _gaps(response_flips(shares, ratio), shares, p)
    likely = shares[inside]
    optimal = _gaps(optimum_flips(likely, ratio), likely, p)
    middle = float(np.interp(0.5, *_distribution(gaps, chances)))
    yield Point("c", "η, Cor 7", size, deviation(size, p))
    yield Point("c", "response (19), 99 % of samples", size, float(gaps[inside].max()))
    yield Point("c", "response (19), median sample", size, middle)
    yield Point("c", "optimum, 99 % of samples", size, float(optimal.max()))


def _gaps(flips: Flips, shares: Floats, p: float) -> Floats:
    """Return how much leakages under the frequencies and under the true prior differ."""
    gaps: Floats = np.abs(leakage(flips, shares) - leakage(flips, p))
    return gaps


def _leakages(size: int, most: int) -> Iterator[Point]:
    """Compare what mechanisms made from the sample leak under the true prior, at worst.

    The worst sample is found by the closed form where there is one, else among some of them; what
    its mechanism leaks is the exact audit.
    """
    p, ratio = float(FIRST), math.exp(float(BUDGET))
    counts, chances = samples(size)
    likely = counts[central(chances)]
    some = likely[np.linspace(0, len(likely) - 1, min(most, len(likely))).astype(int)]
    shares = likely / size
    worst = {
        "response (19) for the sample": likely[[_worst(response_flips(shares, ratio), p)]],
        "optimum for the sample": likely[[_worst(optimum_flips(shares, ratio), p)]],
        "optimum for 99 % intervals": some,
        "ε-LDP": likely[:1],
    }
    for curve, chosen in worst.items():
        found = max(_leakage(_made(curve, int(count), size)) for count in chosen)
        yield Point("d", curve, size, found, leakage=found, budget=float(BUDGET))


def _worst(flips: Flips, p: float) -> int:
    return int(leakage(flips, p).argmax())


def _made(how: str, count: int, size: int) -> ll.Mechanism:
    """Return the mechanism that is made from one sample."""
    if how == "response (19) for the sample":
        return ll.design_as_published(_seen(count, size), ll.LIP(BUDGET), method="response")
    if how == "optimum for the sample":
        return _optimum(count, size, BUDGET)
    if how == "ε-LDP":
        return ll.design(_truth(), ll.LDP(BUDGET), method="binary")
    near = ll.Intervals.from_counts({0: count, 1: size - count}, confidence=f"{1 - BETA:g}")
    return ll.design(near, ll.LIP(BUDGET), method="binary")


def typical(size: int) -> int:
    """Return how often the first symbol is seen in the sample that is most like the prior."""
    return round(float(FIRST) * size)


def distance(size: int) -> float:
    """Return the total variation of 000 Cor 7, sqrt((2/n)(|X| - ln beta)) / 2.

    >>> round(distance(1000), 5)
    0.05747
    """
    return 0.5 * math.sqrt(2.0 / size * (2.0 - math.log(BETA)))


def deviation(size: int, rarest: float) -> float:
    """Return eta = ln(1 + distance / c), 000 Cor 7; infinite if a symbol was not seen."""
    return math.inf if rarest <= 0 else math.log1p(distance(size) / rarest)


class Flips(NamedTuple):
    """Channels of two symbols, by the probability of a wrong answer for each."""

    first: Floats
    second: Floats


def response_flips(shares: Floats, ratio: float) -> Flips:
    """Return the response of eq. (19) made for P(0) = share, for many shares."""
    return Flips((1.0 - shares) / ratio, shares / ratio)


def optimum_flips(shares: Floats, ratio: float) -> Flips:
    """Return the optimum for P(0) = share: posteriors of 0 as far apart as epsilon-LIP allows.

    They are L = max(p/E, 1 - E (1 - p)) and U = min(E p, 1 - (1 - p)/E), and the answer 0 has the
    probability (p - L) / (U - L).

    >>> flips = optimum_flips(np.array([0.9]), math.e)
    >>> round(flips.first.item(), 6), round(flips.second.item(), 6)
    (0.217595, 0.268941)
    """
    others = 1.0 - shares
    low = np.maximum(shares / ratio, 1.0 - ratio * others)
    high = np.minimum(ratio * shares, 1.0 - others / ratio)
    answer = (shares - low) / (high - low)
    return Flips((1.0 - answer) * low / shares, answer * (1.0 - high) / others)


def leakage(flips: Flips, p: float | Floats) -> Floats:
    """Return the largest |ln lift| of each channel, where P(0) = p is true.

    >>> leakage(response_flips(np.array([0.5, 0.3]), 3.0), 0.5).round(6).tolist()
    [1.098612, 1.466337]
    """
    rows = np.stack([1.0 - flips.first, flips.first, flips.second, 1.0 - flips.second])
    first = p * rows[0] + (1.0 - p) * rows[2]
    output = np.stack([first, 1.0 - first, first, 1.0 - first])
    with np.errstate(divide="ignore", invalid="ignore"):
        lifts = np.abs(np.log(rows / output))
    # An output that never occurs tells nothing.
    worst: Floats = np.where(output > 0, lifts, 0.0).max(axis=0)
    return worst


def samples(size: int) -> tuple[Floats, Floats]:
    """Return how often the first symbol may be seen, and with what probability."""
    from scipy.special import gammaln, xlogy

    p = float(FIRST)
    middle, reach = p * size, 8.0 * math.sqrt(p * (1 - p) * size) + 8.0
    counts = np.arange(max(0.0, math.floor(middle - reach)), min(size, middle + reach) + 1)
    others = size - counts
    logs = gammaln(size + 1) - gammaln(counts + 1) - gammaln(others + 1)
    chances: Floats = np.exp(logs + xlogy(counts, p) + xlogy(others, 1 - p))
    return counts, chances


def central(chances: Floats) -> slice:
    """Return where the central 1 - beta of the samples are."""
    below = np.cumsum(chances)
    low, high = np.searchsorted(below, [BETA / 2, 1 - BETA / 2])
    return slice(int(low), int(high) + 1)


def _distribution(values: Floats, chances: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(values)
    return np.cumsum(chances[order]), values[order]


def _truth() -> ll.Prior:
    return ll.Prior.from_probabilities({0: FIRST, 1: f"{1 - float(FIRST):g}"})


def _seen(count: int, size: int) -> ll.Prior:
    return ll.Prior.from_counts({0: count, 1: size - count})


def _optimum(count: int, size: int, budget: str) -> ll.Mechanism:
    return ll.design(_seen(count, size), ll.LIP(budget), method="binary")


def _leakage(made: ll.Mechanism) -> float:
    return float(ll.audit(made.channel, _truth())["lip"].value)
