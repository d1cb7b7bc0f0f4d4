"""Upper bounds on what several releases of the same data leak, from what each leaks alone.

Write l_j for the lift of one release j, R for the product of the largest likelihood ratios of all
others, and let y be all outputs together. Given the data the releases are independent, so

    1 / lift(x, y) = (1 / l_j(x, y_j)) E[ratio of the others, x' against x | y_j],

where x' = x contributes P(x) exactly, and every other x' at most its share times R and at least
its share divided by R:

    P(x) + (1/l_j - P(x)) / R  <=  1 / lift(x, y)  <=  P(x) + (1/l_j - P(x)) R.

Both ends are worst at P(x) = P_min, and any release may play the part of j. For a secret S behind
X the same two lines hold with P(s) and the lift of S, as long as R compares the data X, since the
releases are independent given X and not given S. For sequences of different data they hold with
the joint prior, whose P_min may be 0.

A level that is infinite or not known (None) makes a bound infinite, never smaller.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock.accounting.pair_ratios import PairRatios, pair_ratios
from liftlock.accounting.product import exact_ldp
from liftlock.accounting.release import (
    Levels,
    Ratio,
    Release,
    common_inputs,
    smallest_mass,
)
from liftlock.accounting.spent import Spent, less_of, sides
from liftlock.alphabet import Alphabet
from liftlock.channel import Channel
from liftlock.context import Context, Joint, PriorSet
from liftlock.errors import NotDefined
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import sum_of
from liftlock.notions.reading import Reading
from liftlock.prior import Prior

MOST_PAIRS = 10_000
"""More pairs of inputs than this are not summed one by one."""

_FINE = 256
"""Sets of priors take columns of integers: weights are rounded, safely, by less than 2^-256."""


@dataclass(frozen=True)
class Composed:
    """Levels of several releases, equal ones once with how often they were made."""

    smallest: Fraction
    each: tuple[tuple[Levels, int], ...]

    @classmethod
    def of(cls, releases: Sequence[Release], context: Context | None) -> Composed:
        """Measure every release by itself."""
        times = Counter(release.fingerprint for release in releases)
        first = {release.fingerprint: release for release in releases}
        each = tuple((first[name].levels(context), number) for name, number in times.items())
        return cls(smallest_mass(context), each)

    def spread_of_others(self, place: int) -> Ratio:
        """Return the product of the ratios of all releases but one of this kind."""
        return product_of(
            (levels.spread, times - (k == place)) for k, (levels, times) in enumerate(self.each)
        )

    @property
    def spread(self) -> Ratio:
        """The product of the ratios of all releases."""
        return product_of((levels.spread, times) for levels, times in self.each)

    @property
    def ldp(self) -> Ratio:
        """The product of the ratios of all inputs, also of those that never occur."""
        return product_of((levels.ldp, times) for levels, times in self.each)

    def sum_of(self, name: str, place: int | None = None, side: str = "") -> Enclosure:
        """Add up levels in nats, where one release of a kind counts by another level."""
        found = Enclosure.of(0)
        for k, (levels, times) in enumerate(self.each):
            if k == place:
                found, times = found + levels.log(side), times - 1
            if times:
                found = found + levels.log(name).scaled(Fraction(times))
        return found

    def sums_of_sides(self) -> dict[str, Enclosure]:
        """Return min_j eps_j + sum of the other omegas: the tight bound, if only a sum is left."""
        if self.smallest and sum(times for _, times in self.each) > 1:
            return {}
        found = {}
        for side in ("lower", "upper"):
            sums = [self.sum_of("spread", j, side) for j in range(len(self.each))]
            finite = [each for each in sums if each.upper is not None]
            if finite:
                found[f"eps_{side}"] = min(finite, key=lambda each: each.upper or 0)
        return found


def product_of(parts: Iterable[tuple[Ratio, int]]) -> Ratio:
    """Multiply ratios, each to its power; None is infinite.

    >>> product_of([(Fraction(2), 3), (None, 0)]), product_of([(None, 1)])
    (Fraction(8, 1), None)
    """
    found = Fraction(1)
    for ratio, times in parts:
        if not times:
            continue
        if ratio is None:
            return None
        found *= ratio**times
    return found


def lower_bound(smallest: Fraction, lower: Ratio, others: Ratio) -> Ratio:
    """Bound 1/lift by P_min + (1/min-lift - P_min) R."""
    if lower is None or (others is None and lower > smallest):
        return None
    return smallest + (lower - smallest) * (others or 0)


def upper_bound(smallest: Fraction, upper: Ratio, others: Ratio) -> Ratio:
    """Bound the lift by 1 / (P_min + (1/max-lift - P_min) / R)."""
    inverse = Fraction(0) if upper is None else 1 / upper
    left = max(inverse - smallest, Fraction(0))
    least = smallest + (left / others if others is not None else 0)
    return 1 / least if least else None


def tight(releases: Sequence[Release], context: Context) -> Spent:
    """Bound by one release's lifts and the ratios of all others, the best choice of the one.

        eps_lower = min_j  ln(P_min + (e^eps_lower_j - P_min) exp(sum_{k != j} omega_k))
        eps_upper = min_j -ln(P_min + (e^-eps_upper_j - P_min) exp(-sum_{k != j} omega_k))

    omega_k is the level of LDP of release k if its channel is known, else what its lifts imply. One
    release alone costs what it costs.

    Source: 000 Thm 4, Cor 4, Cor 5 (tight form); math composition.

    >>> from liftlock.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = tight([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(found["eps_lower"].ratio), str(found["eps_upper"].ratio)
    ('5', '9/5')
    """
    composed = Composed.of(releases, context)
    p = composed.smallest
    lower = least_of(
        lower_bound(p, levels.lower, composed.spread_of_others(j))
        for j, (levels, _) in enumerate(composed.each)
    )
    upper = least_of(
        upper_bound(p, levels.upper, composed.spread_of_others(j))
        for j, (levels, _) in enumerate(composed.each)
    )
    return Spent(
        "tight",
        sides(lower, upper, nats=composed.sums_of_sides()),
        False,
        "min over j: P_min + (e^eps_j - P_min) exp(sum of the other omegas)",
        "000 Thm 4 (tight form)",
        f"the levels of {len(releases):,} releases",
    )


def ldp_sum(releases: Sequence[Release], context: Context | None) -> Spent:
    """Add up the levels of LDP, and convert once.

        eps_lower = ln(P_min + E (1 - P_min)),  eps_upper = -ln(P_min + (1 - P_min) / E)

    Source: 000 Thm 1 (converse), section III.B.

    >>> from liftlock.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = ldp_sum([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(found["ldp"].ratio), str(found["eps_lower"].ratio)
    ('9', '5')
    """
    composed = Composed.of(releases, context)
    readings = {"ldp": less_of(Reading.of_ratio("ldp", composed.ldp, None), composed.sum_of("ldp"))}
    if context is not None:
        p, spread = composed.smallest, composed.spread
        lower = lower_bound(p, Fraction(1), spread)
        upper = upper_bound(p, Fraction(1), spread)
        readings |= sides(lower, upper)
    return Spent(
        "ldp-sum",
        readings,
        False,
        "E = exp(sum of LDP levels), then P_min + E (1 - P_min) and its mirror",
        "000 Thm 1 (converse)",
        f"the levels of {len(releases):,} releases",
    )


def pairwise(releases: Sequence[Release], context: Context) -> Spent:
    """Bound by the ratios of every pair of inputs, each weighted with its probability.

        lift(x, y) <= 1 / sum_x' P(x') / R(x, x'),    1 / lift(x, y) <= sum_x' P(x') R(x', x)

    with R(x, x') the product over all releases of max_y q(y | x) / q(y | x'). It is never worse
    than `ldp_sum`. For a secret the bounds of the data behind it are averaged.

    Source: math composition (pairwise ratios).

    >>> from liftlock.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> str(pairwise([Release.of(bit)] * 2, Prior.uniform([0, 1]))["eps_lower"].ratio)
    '5'
    """
    inputs = common_inputs(releases)
    size = len(inputs)
    if size * size > MOST_PAIRS:
        raise NotDefined(
            "the sum over pairs", f"{size:,} inputs", f"it is for at most {MOST_PAIRS:,} pairs"
        )
    times = Counter(release.fingerprint for release in releases)
    each: dict[str, PairRatios] = {}
    for release in releases:
        if release.channel is None:
            raise NotDefined(
                "the sum over pairs",
                "a release of which only the levels are known",
                "the other bounds are used",
            )
        if release.fingerprint not in each:
            each[release.fingerprint] = pair_ratios(release.channel, inputs)

    def ratio(x: int, other: int) -> Ratio:
        return product_of((found.at(x, other), times[name]) for name, found in each.items())

    table = [[ratio(x, other) for other in range(size)] for x in range(size)]
    lower, upper = _weighted(table, inputs_of(context, inputs))
    return Spent(
        "pairwise",
        sides(lower, upper),
        False,
        "lift <= 1 / sum_x' P(x') / R(x, x') and its mirror",
        "math composition (pairwise ratios)",
        f"{size * size:,} pairs of inputs",
    )


def inputs_of(context: Context, inputs: Alphabet) -> Context:
    """Return the context with its inputs in the order of the channels."""
    reorder = getattr(context, "reordered", None)
    if reorder is None:
        raise NotDefined(
            "an account", context.describe(), "give a prior, a joint or a set of priors"
        )
    aligned: Context = reorder(inputs)
    return aligned


def _weighted(table: list[list[Ratio]], aligned: Context) -> tuple[Ratio, Ratio]:
    """Return the largest sum_x' P(x') R(x', x), and of 1 / sum_x' P(x') / R(x, x')."""
    size = len(table)
    if isinstance(aligned, PriorSet):
        rows = [int(x) for x in np.flatnonzero(aligned.possible)]
        lower = most_of(_set_sum(aligned, [table[o][x] for o in range(size)], rows) for x in rows)
        upper = most_of(_set_inverse(aligned, table[x], rows) for x in rows)
        return lower, upper
    prior = aligned if isinstance(aligned, Prior) else getattr(aligned, "prior", None)
    assert isinstance(prior, Prior)
    masses = prior.fractions
    rows = [x for x, mass in enumerate(masses) if mass]
    down = {x: _mean([(masses[o], table[o][x]) for o in rows]) for x in rows}
    up = {x: _inverse_mean([(masses[o], table[x][o]) for o in rows]) for x in rows}
    if not isinstance(aligned, Joint):
        return most_of(down.values()), most_of(up.values())
    # lift(s, y) is the mean of lift(x, y) over the data of s.
    lowers, uppers = [], []
    for row in aligned.counts:
        total = sum(row)
        if not total:
            continue
        shares = [(Fraction(row[x], total), x) for x in rows if row[x]]
        least = sum_of(share / bound for share, x in shares if (bound := down[x]) is not None)
        lowers.append(1 / least if least else None)
        uppers.append(_mean([(share, up[x]) for share, x in shares]))
    return most_of(lowers), most_of(uppers)


def _mean(parts: list[tuple[Fraction, Ratio]]) -> Ratio:
    if any(ratio is None for _, ratio in parts):
        return None
    return sum_of(mass * ratio for mass, ratio in parts if ratio is not None)


def _inverse_mean(parts: list[tuple[Fraction, Ratio]]) -> Ratio:
    least = sum_of(mass / ratio for mass, ratio in parts if ratio is not None)
    return 1 / least if least else None


def _scale(ratios: list[Ratio]) -> int:
    """Return a denominator so fine that weights are rounded by less than 2^-_FINE of themselves."""
    return 1 << (_FINE + max(math.ceil(r).bit_length() for r in ratios if r is not None))


def _set_sum(priors: PriorSet, ratios: list[Ratio], rows: list[int]) -> Ratio:
    if any(ratios[x] is None for x in rows):
        return None  # each of these symbols has some mass under some prior of the set
    scale = _scale(ratios)
    column = np.zeros(len(ratios), dtype=object)
    for x in rows:
        column[x] = math.ceil((ratios[x] or 0) * scale)
    return priors.mass_range(column)[1] / scale


def _set_inverse(priors: PriorSet, ratios: list[Ratio], rows: list[int]) -> Ratio:
    scale = _scale(ratios)
    column = np.zeros(len(ratios), dtype=object)
    for x in rows:
        ratio = ratios[x]
        column[x] = 0 if ratio is None else math.floor(scale / ratio)
    least = priors.mass_range(column)[0] / scale
    return 1 / least if least else None


def published(releases: Sequence[Release], context: Context) -> Spent:
    """Compute the bound as it was published, to compare: valid, but never below the others.

        ln(P_min + exp(sum_k min{2 eps_k, ln((e^eps_k - 1 + P_min) / P_min)}) (1 - P_min))

    Source: 000 Thm 4, Cor 5, eq. (11).

    >>> fair = Prior.uniform([0, 1])
    >>> from liftlock.notions.lip import LIP
    >>> once = published([Release.promised(LIP("ln 2"), fair)], fair)
    >>> str(once["lip"].ratio)
    '2'
    """
    if not isinstance(context, Prior):
        raise NotDefined("000 Thm 4", context.describe(), "it is for one prior")
    composed = Composed.of(releases, context)
    p = composed.smallest
    omegas = []
    for levels, times in composed.each:
        larger = most_of([levels.lower, levels.upper])
        omega = None if larger is None else min(larger**2, (larger - 1 + p) / p)
        omegas.append((omega, times))
    bound = lower_bound(p, Fraction(1), product_of(omegas))
    reading = Reading.of_ratio("lip", bound, None)
    formula = "P_min + exp(sum of omegas) (1 - P_min)"
    return Spent("published", {"lip": reading}, False, formula, "000 Thm 4", valid=False)


def pairs_ldp(releases: Sequence[Release], context: Context | None) -> Spent:
    """Measure the LDP of all releases together without their product: ratios of a pair multiply.

    Exact, except for a secret behind the data, which it bounds.

    Source: 000 section III.B, Def 1.
    """
    found = exact_ldp(releases)
    if not found:
        raise NotDefined(
            "the ratio of every pair",
            "a release of which only the levels are known",
            "the sum of the levels of LDP is used",
        )
    size = len(releases[0].inputs)
    # Hashing may have no report that tells a pair apart: then its ratio is a bound.
    channels = [release.channel for release in releases]
    attained = all(isinstance(c, Channel) or (c is not None and c.every_set) for c in channels)
    return Spent(
        "pairs",
        found,
        attained and not isinstance(context, Joint),
        "max over pairs of inputs of the product of their largest ratios",
        "000 Def 1, section III.B",
        f"{size * size:,} pairs of inputs",
    )


def least_of(ratios: Iterable[Ratio]) -> Ratio:
    """Return the smallest ratio; None only if all are infinite."""
    finite = [ratio for ratio in ratios if ratio is not None]
    return min(finite) if finite else None


def most_of(ratios: Iterable[Ratio]) -> Ratio:
    """Return the largest ratio; None if any is infinite."""
    found = list(ratios)
    finite = [ratio for ratio in found if ratio is not None]
    return max(finite) if len(finite) == len(found) else None
