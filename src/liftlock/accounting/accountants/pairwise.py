"""Accountants by pairs of inputs, each by its largest ratio R(x, x') = max_y q(y | x) / q(y | x').

Releases are independent given the input, so the ratios of a pair multiply: this is all that LDP
needs of several releases, and no table of all their outputs is ever made. Floats find the output,
integers decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.accounting.accountants.base import (
    Accountant,
    LiftContext,
    PrivacyLoss,
    first_without_channel,
    joint_label,
    require_lifts,
    sides,
)
from liftlock.accounting.release import (
    Ratio,
    Release,
    common_inputs,
    largest_ratio,
    multiply_ratios,
)
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats, Integers, as_integers, sum_fractions
from liftlock.model import Context, Joint, Prior, PriorSet
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense
from liftlock.notions.measurement import Measurement, Witness

MOST_TRIPLES = 2_000_000_000
"""More pairs of inputs times outputs than this are not compared."""
MOST_WIDE_TRIPLES = 2_000_000
"""The same for integers of more than 52 bits, which only Python can compare."""

MOST_PAIRS = 10_000
"""More pairs of inputs than this are not summed one by one."""

_NARROW_BITS = 52
_NEAR = 1e-14
"""Ratios of floats that differ by less, relatively, are compared as integers."""
_ALIKE = 8
_FINE = 256
"""Sets of priors take columns of integers: weights are rounded, safely, by less than 2^-256."""


@dataclass(frozen=True)
class PairRatios:
    """R(x, x') = tops[x, x'] / bottoms[x, x'], infinite where the bottom is 0.

    An encoding has the same ratio for every two inputs: `alike`, instead of a table.

    >>> from liftlock.model.channel import Channel
    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/2", 1: "1/2"}})
    >>> ratios = pair_ratios(bit)
    >>> str(ratios.at(0, 1)), str(ratios.at(1, 0)), ratios.at(1, 1)
    ('3/2', '2', Fraction(1, 1))
    """

    inputs: Alphabet
    tops: Integers
    bottoms: Integers
    outputs: tuple[Label, ...] = ()
    where: npt.NDArray[np.intp] | None = None
    """The output of each ratio; None for an encoding, which has too many."""
    alike: Fraction | None = None

    def output(self, x: int, other: int) -> Label:
        """Return the output at which a ratio is attained."""
        if self.where is None:
            return "a report that supports only the first"
        return self.outputs[int(self.where[x, other])]

    def at(self, x: int, other: int) -> Fraction | None:
        """Return one ratio by indices; None is infinite."""
        if self.alike is not None:
            return Fraction(1) if x == other else self.alike
        if not self.bottoms[x, other]:
            return None
        return Fraction(int(self.tops[x, other]), int(self.bottoms[x, other]))

    def logs(self) -> Floats:
        """Return the logarithm of every ratio in float64."""
        if self.alike is not None:
            size = len(self.inputs)
            level = math.log(self.alike.numerator) - math.log(self.alike.denominator)
            return np.where(np.eye(size, dtype=np.bool_), 0.0, level)
        with np.errstate(divide="ignore"):
            if self.tops.dtype == object:
                pairs = zip(self.tops.flat, self.bottoms.flat, strict=True)
                flat = [math.log(a) - math.log(b) if b else math.inf for a, b in pairs]
                return np.array(flat).reshape(self.tops.shape)
            found: Floats = np.log(self.tops) - np.log(self.bottoms)
            return found

    def select(self, inputs: Alphabet, places: npt.NDArray[np.intp]) -> PairRatios:
        """Return the ratios of some inputs, in their order."""
        if self.alike is not None:
            return replace(self, inputs=inputs)
        at = np.ix_(places, places)
        where = None if self.where is None else self.where[at]
        return PairRatios(inputs, self.tops[at], self.bottoms[at], self.outputs, where)


def pair_ratios(channel: AnyChannel, inputs: Alphabet | None = None) -> PairRatios:
    """Return the largest ratio of every pair of inputs, exactly.

    `inputs` may name some of the channel's inputs, in another order.
    """
    found = _pair_ratios(channel)
    if inputs is None or inputs.labels == found.inputs.labels:
        return found
    places = np.array([found.inputs.index(label) for label in inputs.labels], dtype=np.intp)
    return found.select(inputs, places)


@lru_cache(maxsize=_ALIKE)
def _pair_ratios(channel: AnyChannel) -> PairRatios:
    size = len(channel.inputs)
    if isinstance(channel, SupportChannel):
        none: Integers = np.zeros((0, 0), dtype=np.int64)
        return PairRatios(channel.inputs, none, none, alike=Fraction(*channel.levels))
    table = to_dense(channel)
    weights = table.weights
    if len(set(table.totals)) > 1:
        factors = np.array(table.row_factors, dtype=object)[:, None]
        weights = as_integers(weights.astype(object) * factors)
    narrow = weights.dtype != object and int(weights.max()).bit_length() <= _NARROW_BITS
    most = MOST_TRIPLES if narrow else MOST_WIDE_TRIPLES
    triples = size * size * len(table.outputs)
    if triples > most:
        raise NotDefined(
            "the ratio of every pair of inputs",
            f"{size:,} inputs and {len(table.outputs):,} outputs",
            f"it is for at most {most:,} pairs times outputs; the sum of the levels of LDP is used",
        )
    if narrow:
        with np.errstate(divide="ignore"):
            inverses: Floats = 1.0 / weights.astype(np.float64)
        found = [_narrow_row(weights, inverses, x) for x in range(size)]
    else:
        found = [np.array(_wide_row(weights, x)) for x in range(size)]
    across = np.arange(size)
    where = np.array(found, dtype=np.intp).reshape(size, size)
    tops = np.take_along_axis(weights, where, axis=1)
    bottoms = np.array([weights[across, outputs] for outputs in where])
    return PairRatios(channel.inputs, tops, bottoms, table.outputs.labels, where)


def _narrow_row(weights: Integers, inverses: Floats, x: int) -> npt.NDArray[np.intp]:
    """Return, for every other input, the output of the largest ratio."""
    mine, theirs = weights[x], weights
    used = np.arange(len(mine))
    if not mine.all():
        used = np.flatnonzero(mine)
        mine, theirs, inverses = mine[used], weights[:, used], inverses[:, used]
    ratios = inverses * mine
    best: npt.NDArray[np.intp] = ratios.argmax(axis=1)
    top = ratios[np.arange(len(ratios)), best]
    near = ratios >= (top * (1 - _NEAR))[:, None]
    crowded = np.flatnonzero((np.count_nonzero(near, axis=1) > 1) & np.isfinite(top))
    while len(crowded):
        # a b' - a' b is below 2^104 * 2^-45 for near ratios: what int64 keeps of it is exact.
        chosen = best[crowded]
        a, b = mine[chosen][:, None], theirs[crowded, chosen][:, None]
        gains = np.where(near[crowded], mine[None, :] * b - a * theirs[crowded], 0)
        better = (gains > 0).any(axis=1)
        crowded, gains = crowded[better], gains[better]
        scale = theirs[crowded].astype(np.float64) * b[better]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(gains > 0, gains / scale, -1.0)
        best[crowded] = share.argmax(axis=1)
    found: npt.NDArray[np.intp] = used[best]
    return found


def _wide_row(weights: Integers, x: int) -> list[int]:
    row = [int(weight) for weight in weights[x]]
    found = []
    for theirs in weights:
        best = -1
        for y, (mine, other) in enumerate(zip(row, theirs, strict=True)):
            if mine and (best < 0 or mine * int(theirs[best]) > row[best] * int(other)):
                best = y
        found.append(best)
    return found


@dataclass(frozen=True)
class WorstPair:
    """The largest product of ratios, None if infinite, and the pair it belongs to."""

    ratio: Fraction | None
    more: int
    less: int


def worst_pair(each: Sequence[tuple[PairRatios, int]]) -> WorstPair:
    """Return the largest product of the ratios of a pair, each to its multiplicity, exactly."""
    found = [ratios.logs() for ratios, _ in each]
    logs: Floats = np.zeros(found[0].shape)
    for part, (_, times) in zip(found, each, strict=True):
        logs += times * part
    if np.isinf(logs).any():
        more, less = (int(i) for i in np.argwhere(np.isinf(logs))[0])
        return WorstPair(None, more, less)
    largest = float(logs.max())
    sizes = zip(found, each, strict=True)
    terms = sum(times * (2 + float(np.abs(part).max())) for part, (_, times) in sizes)
    slack = 64 * (len(each) + 2) * math.ulp(1.0) * (1 + 64 * terms)
    near = np.argwhere(logs >= largest - slack)
    best: WorstPair | None = None
    seen: set[Any] = set()
    for more, less in _distinct_pairs(each, near):
        key = tuple(ratios.at(more, less) for ratios, _ in each)
        if key in seen:
            continue
        seen.add(key)
        powers = (r**times for r, (_, times) in zip(key, each, strict=True) if r is not None)
        ratio = math.prod(powers, start=Fraction(1))
        if best is None or best.ratio is None or ratio > best.ratio:
            best = WorstPair(ratio, more, less)
    assert best is not None
    return best


def _distinct_pairs(
    each: Sequence[tuple[PairRatios, int]], near: npt.NDArray[np.intp]
) -> list[tuple[int, int]]:
    """Keep one pair of those with the same integers: symmetric mechanisms have millions of them."""
    rows, columns = near[:, 0], near[:, 1]
    parts: list[Integers] = []
    for ratios, _ in each:
        if ratios.alike is not None:
            parts.append((rows == columns).astype(np.int64))
        else:
            parts += [part[rows, columns] for part in (ratios.tops, ratios.bottoms)]
    if any(part.dtype == object for part in parts):
        return [(int(x), int(other)) for x, other in near]
    _, first = np.unique(np.stack(parts, axis=1), axis=0, return_index=True)
    return [(int(rows[i]), int(columns[i])) for i in np.sort(first)]


# --- the accountants ------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleaseRatios:
    """The ratios of every pair of inputs for several releases, equal ones once and how often."""

    inputs: Alphabet
    each: Mapping[str, tuple[PairRatios, int]]
    order: tuple[str, ...]
    """Which of them each release has."""

    @classmethod
    def of(cls, releases: Sequence[Release], remedy: str) -> ReleaseRatios:
        """Compare the inputs of every channel; refuse a release of which it is not known."""
        if fault := first_without_channel(releases):
            raise NotDefined("the ratio of every pair", fault, remedy)
        inputs = common_inputs(releases)
        order = tuple(release.fingerprint for release in releases)
        ratios = {
            release.fingerprint: pair_ratios(release.channel, inputs)
            for release in releases
            if release.channel is not None
        }
        times = Counter(order)
        return cls(inputs, {name: (each, times[name]) for name, each in ratios.items()}, order)

    def at(self, x: int, other: int) -> Ratio:
        """Return the product of the ratios of one pair."""
        return multiply_ratios((each.at(x, other), times) for each, times in self.each.values())

    def worst(self) -> Measurement:
        """Measure the LDP of all releases together: the largest product of a pair's ratios."""
        found = worst_pair(list(self.each.values()))
        outputs = [self.each[name][0].output(found.more, found.less) for name in self.order]
        labels = self.inputs.labels
        witness = Witness(labels[found.more], joint_label(outputs), labels[found.less])
        return Measurement.of_ratio("ldp", found.ratio, witness)


def measure_ldp(releases: Sequence[Release]) -> Measurement:
    """Measure the LDP of all releases together.

    Refused if a channel is not known, or if there are too many pairs.
    """
    return ReleaseRatios.of(releases, "the sum of the levels of LDP is used").worst()


class PairsAccountant(Accountant):
    """Measure the LDP of all releases together without their product: ratios of a pair multiply.

    Exact, except for a secret behind the data, which it bounds.

    Source: 000 section III.B, Def 1.
    """

    name = "pairs"
    formula = "max over pairs of inputs of the product of their largest ratios"
    source = "000 Def 1, section III.B"

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Measure the worst pair: it says all."""
        measurement = measure_ldp(releases)
        size = len(releases[0].inputs)
        # Hashing may have no report that tells a pair apart: then its ratio is a bound.
        channels = [release.channel for release in releases]
        attained = all(isinstance(c, Channel) or (c is not None and c.every_set) for c in channels)
        exact = attained and not isinstance(context, Joint)
        return self.loss(
            {"ldp": measurement}, exact=exact, needs=f"{size * size:,} pairs of inputs"
        )


class PairwiseAccountant(Accountant):
    """Bound by the ratios of every pair of inputs, each weighted with its probability.

        lift(x, y) <= 1 / sum_x' P(x') / R(x, x'),    1 / lift(x, y) <= sum_x' P(x') R(x', x)

    with R(x, x') the product over all releases of max_y q(y | x) / q(y | x'). It is never worse
    than the sum of the levels of LDP. For a secret the bounds of the data behind it are averaged.

    Source: math composition (pairwise ratios).

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> found = PairwiseAccountant().bound([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(found["eps_lower"].ratio)
    '5'
    """

    name = "pairwise"
    formula = "lift <= 1 / sum_x' P(x') / R(x, x') and its mirror"
    source = "math composition (pairwise ratios)"

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Multiply the ratios of every pair, and weight them with the context's probabilities."""
        known = require_lifts(releases, context)
        inputs = common_inputs(releases)
        size = len(inputs)
        if size * size > MOST_PAIRS:
            raise NotDefined(
                "the sum over pairs", f"{size:,} inputs", f"it is for at most {MOST_PAIRS:,} pairs"
            )
        ratios = ReleaseRatios.of(releases, "the other bounds are used")
        table = [[ratios.at(x, other) for other in range(size)] for x in range(size)]
        lower, upper = _weighted_bounds(table, known.reordered(inputs))
        return self.loss(sides(lower, upper), needs=f"{size * size:,} pairs of inputs")


def _weighted_bounds(table: list[list[Ratio]], aligned: LiftContext) -> tuple[Ratio, Ratio]:
    """Return the largest sum_x' P(x') R(x', x), and of 1 / sum_x' P(x') / R(x, x')."""
    size = len(table)
    if isinstance(aligned, PriorSet):
        rows = [int(x) for x in np.flatnonzero(aligned.possible)]
        lower = largest_ratio(
            _set_sum(aligned, [table[o][x] for o in range(size)], rows) for x in rows
        )
        upper = largest_ratio(_set_inverse(aligned, table[x], rows) for x in rows)
        return lower, upper
    masses = (aligned if isinstance(aligned, Prior) else aligned.prior).fractions
    rows = [x for x, mass in enumerate(masses) if mass]
    down = {x: _mean([(masses[o], table[o][x]) for o in rows]) for x in rows}
    up = {x: _inverse_mean([(masses[o], table[x][o]) for o in rows]) for x in rows}
    if not isinstance(aligned, Joint):
        return largest_ratio(down.values()), largest_ratio(up.values())
    # lift(s, y) is the mean of lift(x, y) over the data of s.
    lowers, uppers = [], []
    for row in aligned.counts:
        total = sum(row)
        if not total:
            continue
        shares = [(Fraction(row[x], total), x) for x in rows if row[x]]
        least = sum_fractions(
            share / bound for share, x in shares if (bound := down[x]) is not None
        )
        lowers.append(1 / least if least else None)
        uppers.append(_mean([(share, up[x]) for share, x in shares]))
    return largest_ratio(lowers), largest_ratio(uppers)


def _mean(parts: list[tuple[Fraction, Ratio]]) -> Ratio:
    if any(ratio is None for _, ratio in parts):
        return None
    return sum_fractions(mass * ratio for mass, ratio in parts if ratio is not None)


def _inverse_mean(parts: list[tuple[Fraction, Ratio]]) -> Ratio:
    least = sum_fractions(mass / ratio for mass, ratio in parts if ratio is not None)
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
