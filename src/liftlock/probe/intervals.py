"""Confidence bounds that hold at every sample size: proportions, ratios and weighted sums of them.

Nothing here is an approximation by a normal distribution. Every bound is one-sided and is wrong
with probability at most alpha, whatever the true probabilities are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import extra

with extra("statistics"):
    from scipy import special

if TYPE_CHECKING:
    from liftlock.exact.integers import Floats

Counts: TypeAlias = npt.NDArray[np.int64]

_OUTWARD = 1e-12
"""Beta quantiles are computed to about 1e-13; each bound moves outward by more."""

_SPARE = 4.0
"""Standard deviations kept in reserve, so that a thinned sample almost never runs out."""


def proportion_lower(hits: npt.ArrayLike, trials: npt.ArrayLike, alpha: float) -> Floats:
    """Return the Clopper-Pearson lower bounds of binomial probabilities.

    The bound is the p at which P(Binomial(trials, p) >= hits) = alpha; 0 if there are no hits.

    >>> proportion_lower([0, 5, 10], 10, 0.05).round(4).tolist()
    [0.0, 0.2224, 0.7411]
    """
    k, n = _counts(hits, trials)
    inside = k > 0
    first = np.where(inside, k, 1.0)
    second = np.where(inside, n - k + 1.0, 1.0)
    quantile: Floats = np.asarray(special.betaincinv(first, second, alpha), dtype=np.float64)
    return np.where(inside, quantile * (1 - _OUTWARD), 0.0)


def proportion_upper(hits: npt.ArrayLike, trials: npt.ArrayLike, alpha: float) -> Floats:
    """Return the Clopper-Pearson upper bounds of binomial probabilities.

    The bound is the p at which P(Binomial(trials, p) <= hits) = alpha; 1 if every trial hit.

    >>> proportion_upper([0, 5, 10], 10, 0.05).round(4).tolist()
    [0.2589, 0.7776, 1.0]
    """
    k, n = _counts(hits, trials)
    inside = k < n
    first = np.where(inside, k + 1.0, 1.0)
    second = np.where(inside, n - k, 1.0)
    quantile: Floats = np.asarray(special.betainccinv(first, second, alpha), dtype=np.float64)
    return np.where(inside, np.minimum(quantile * (1 + _OUTWARD), 1.0), 1.0)


def ratio_lower_by_share(
    hits_top: npt.ArrayLike, hits_bottom: npt.ArrayLike, share: npt.ArrayLike, alpha: float
) -> Floats:
    """Return lower bounds of p_top / p_bottom when a coin chose the source of every draw.

    Each draw came from the top source with probability `share`, else from the bottom one. Among
    the draws that hit, the number from the top source is then exactly binomial, with

        rho = share p_top / (share p_top + (1 - share) p_bottom),

    so one Clopper-Pearson bound of rho is a bound of the ratio: no error has to be divided
    between numerator and denominator. Sharp for rare events.

    >>> ratio_lower_by_share([3000, 9], [1000, 0], [0.5, 0.75], 0.001).round(3).tolist()
    [2.681, 0.289]
    """
    top, chance = np.asarray(hits_top, dtype=np.float64), np.asarray(share, dtype=np.float64)
    rho = proportion_lower(top, top + np.asarray(hits_bottom, dtype=np.float64), alpha)
    with np.errstate(divide="ignore"):
        return np.asarray(rho / (1.0 - rho) * (1.0 - chance) / chance)


def ratio_lower_by_bounds(
    hits_top: float, trials_top: float, hits_bottom: float, trials_bottom: float, alpha: float
) -> float:
    """Return a lower bound of p_top / p_bottom from a bound of each, at alpha / 2.

    Sharper than `ratio_lower_by_share` when the event is common (it uses the misses too).

    >>> round(ratio_lower_by_bounds(3000, 4000, 1000, 4000, 0.001), 3)
    2.661
    """
    top = float(proportion_lower(hits_top, trials_top, alpha / 2))
    bottom = float(proportion_upper(hits_bottom, trials_bottom, alpha / 2))
    return top / bottom


_SHARES = np.arange(0.1, 0.95, 0.1)


def largest_ratio_lower(
    trials_top: npt.ArrayLike,
    trials_bottom: npt.ArrayLike,
    alpha: float,
    *,
    share: npt.ArrayLike | None = None,
    missing_top: npt.ArrayLike = 0.0,
    missing_bottom: npt.ArrayLike = 0.0,
) -> Floats:
    """Return the largest bounds of p_top / p_bottom to be expected of so many trials.

    They come from an event in all trials of the top source and in none of the bottom one: from a
    bound of each, from coins of a given `share`, or from the part of the trials that coins of other
    shares choose. Masses of a source that were not tried at all say nothing: they may be outside
    the event above, and inside below.

    >>> largest_ratio_lower([1, 10, 1000], [1, 10, 1000], 0.001).round(2).tolist()
    [0.0, 1.0, 144.27]
    >>> float(largest_ratio_lower(1000, 1000, 0.001, missing_bottom=0.5).round(2))
    1.97
    """
    top, bottom = _counts(trials_top, trials_bottom)
    lost, unknown = np.asarray(missing_top), np.asarray(missing_bottom)
    below = unknown + (1 - unknown) * proportion_upper(0, bottom, alpha / 2)
    best = (1 - lost) * proportion_lower(top, top, alpha / 2) / below
    hits: list[tuple[Any, Floats]] = [] if share is None else [(share, top)]
    hits += [(s, np.minimum(top, bottom * s / (1 - s))) for s in _SHARES.tolist()]
    for coin, most in hits:
        by_coin = ratio_lower_by_share(most, 0, coin, alpha)
        best = np.maximum(best, np.where(lost + unknown > 0, 0.0, by_coin))
    return best


def thinned_size(weights: Floats, trials: Counts) -> int:
    """Return how many draws in the proportions `weights` recorded trials can almost surely supply.

    A sample of N such draws takes about N w_x of the n_x trials of x; N is the largest number with
    N w_x + 4 sqrt(N w_x) <= n_x for every x. One input alone is not random: N = n_x.

    >>> thinned_size(np.array([0.5, 0.5]), np.array([1000, 4000]))
    1762
    """
    needed = weights > 0
    if needed.sum() == 1:
        return int(trials[needed][0])
    return int(thinned_sizes(weights[needed], trials[needed]))


def thinned_sizes(weights: Floats, trials: Counts) -> Floats:
    """Return `thinned_size` for every row of weights, none of which is 0.

    >>> thinned_sizes(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([1000, 4000])).tolist()
    [1762.0, 3525.0]
    """
    half = _SPARE / 2
    root = np.sqrt(half * half + trials) - half
    sizes: Floats = np.floor(np.min(root * root / weights, axis=-1))
    return sizes


def thinned_hits(
    weights: Floats,
    hits: npt.NDArray[Any],
    trials: Counts,
    size: int,
    generator: np.random.Generator | None,
) -> npt.NDArray[Any] | None:
    """Turn trials made in any proportions into `size` draws in the proportions `weights`.

    Numbers of draws are multinomial, and each takes a random subset of the trials of its input, so
    a hit among the draws has probability sum_x w_x q_x exactly. None when an input has too few.
    Without a generator the expected hits are returned, for a forecast.

    >>> kept = thinned_hits(
    ...     np.array([0.5, 0.5]),
    ...     np.array([0, 400]),
    ...     np.array([100, 400]),
    ...     80,
    ...     np.random.default_rng(7),
    ... )
    >>> int(kept[0]), 20 < int(kept[1]) < 60
    (0, True)
    """
    if generator is None:
        expected: Floats = size * weights / weights.sum() * hits / np.maximum(trials, 1)
        return expected
    taken = generator.multinomial(size, weights / weights.sum())
    if np.any(taken > trials):
        return None
    drawn: Counts = generator.hypergeometric(hits, trials - hits, taken).astype(np.int64)
    return drawn


def weighted_sum_upper(
    weights: Floats,
    hits: npt.NDArray[Any],
    trials: Counts,
    alpha: float,
    *,
    generator: np.random.Generator | None,
    apart: npt.NDArray[np.bool_] | None = None,
) -> float:
    """Return an upper bound of sum_x w_x q_x from independent binomial hits of each q_x.

    The inputs in `apart` (those with few trials for their weight) get a Clopper-Pearson bound
    each; an input without trials counts as q_x = 1. All others are thinned to one binomial sample.
    `apart` may depend on anything but the hits. Without a generator the result is a forecast.

    >>> value = weighted_sum_upper(
    ...     np.array([0.5, 0.5]),
    ...     np.array([100, 300]),
    ...     np.array([1000, 1000]),
    ...     0.001,
    ...     generator=np.random.default_rng(7),
    ... )
    >>> 0.2 < value < 0.26
    True
    """
    alone, pooled = _parts(weights, trials, apart)
    seen = alone & (trials > 0)
    separate = int(seen.sum())
    level = alpha / 2 if pooled.any() and separate else alpha
    total = float(weights[alone & ~seen].sum())
    if separate:
        bounds = proportion_upper(hits[seen], trials[seen], level / separate)
        total += float(weights[seen] @ bounds)
    if pooled.any():
        total += _pooled(weights, hits, trials, pooled, level, generator, upper=True)
    return total


def weighted_sum_lower(
    weights: Floats,
    hits: npt.NDArray[Any],
    trials: Counts,
    alpha: float,
    *,
    generator: np.random.Generator | None,
    apart: npt.NDArray[np.bool_] | None = None,
) -> float:
    """Return a lower bound of sum_x w_x q_x from independent binomial hits of each q_x.

    The inputs in `apart` count as q_x = 0, which costs no error probability.

    >>> value = weighted_sum_lower(
    ...     np.array([0.5, 0.5]),
    ...     np.array([100, 300]),
    ...     np.array([1000, 1000]),
    ...     0.001,
    ...     generator=np.random.default_rng(7),
    ... )
    >>> 0.15 < value < 0.2
    True
    """
    _, pooled = _parts(weights, trials, apart)
    if not pooled.any():
        return 0.0
    return _pooled(weights, hits, trials, pooled, alpha, generator, upper=False)


def _pooled(
    weights: Floats,
    hits: npt.NDArray[Any],
    trials: Counts,
    pooled: npt.NDArray[np.bool_],
    alpha: float,
    generator: np.random.Generator | None,
    *,
    upper: bool,
) -> float:
    shares, mass = weights[pooled], float(weights[pooled].sum())
    size = thinned_size(shares / mass, trials[pooled])
    drawn = thinned_hits(shares, hits[pooled], trials[pooled], size, generator)
    if drawn is None:
        # An input ran out by chance. Drawing again would favour some samples: say nothing instead.
        return mass if upper else 0.0
    bound = proportion_upper if upper else proportion_lower
    return mass * float(bound(drawn.sum(), size, alpha))


def _parts(
    weights: Floats, trials: Counts, apart: npt.NDArray[np.bool_] | None
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    needed = weights > 0
    alone = (trials == 0) if apart is None else (apart | (trials == 0))
    return needed & alone, needed & ~alone


def _counts(hits: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    return np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
