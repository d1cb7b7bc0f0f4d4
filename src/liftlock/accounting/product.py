"""The exact accountant: all outputs of all releases together, without their order.

Given the input the releases are independent, so the likelihood of a result is a product. Floats
(logarithms) find the few results that may be extreme; integers decide, and give the witness.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from liftlock.accounting.multisets import Repeated
from liftlock.accounting.pair_ratios import pair_ratios, worst_pair
from liftlock.accounting.release import Release, common_inputs
from liftlock.accounting.spent import Spent, sides
from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.context import Context, Joint, PriorSet
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats, as_integers
from liftlock.forms import AnyChannel, SupportChannel, dense
from liftlock.notions.reading import Reading, Witness
from liftlock.prior import Prior

MOST_CELLS = 4_000_000
"""Tables of all outputs together that have more cells are not looked through."""
MOST_SET_COLUMNS = 20_000
"""The same for sets of priors, which need exact arithmetic for every column."""
MOST_CANDIDATES = 100_000
"""So many results that floats cannot tell apart are compared exactly."""
MOST_AUDIT_CELLS = 200_000
"""The same for notions that need the whole table, in integers."""
MOST_RELEASES = 4096
"""More releases than this have integers too long to multiply."""

_AT_ONCE = 1 << 18
SOURCE = "math composition (product channel)"


@dataclass(frozen=True)
class Product:
    """Several releases of the same input: the distinct tables, and how often each was used."""

    inputs: Alphabet
    parts: tuple[Repeated, ...]
    order: tuple[int, ...]
    """For each release in the order given, which part it belongs to."""

    @classmethod
    def of(cls, releases: Sequence[Release], inputs: Alphabet) -> Product:
        """Group equal channels; an encoding takes part if its reports are few."""
        times = Counter(release.fingerprint for release in releases)
        channels: dict[str, AnyChannel] = {}
        for release in releases:
            if release.channel is None:
                raise NotDefined(
                    "the exact product",
                    "a release of which only the levels are known",
                    "the bounds are used; keep the mechanism to have it exact",
                )
            channels.setdefault(release.fingerprint, release.channel)
        names = list(channels)
        parts = tuple(Repeated.of(_dense(channels[n]), inputs, times[n]) for n in names)
        return cls(inputs, parts, tuple(names.index(r.fingerprint) for r in releases))

    @property
    def columns(self) -> int:
        """How many results there are."""
        return math.prod(part.number for part in self.parts)

    @property
    def cells(self) -> int:
        """How many cells their table has."""
        return len(self.inputs) * self.columns

    def needs(self) -> str:
        """Say how large the table is, and why.

        >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> Product.of([Release.of(bit)] * 3, bit.inputs).needs()
        '8 cells: 2 inputs x C(4, 3)'
        """
        terms = [f"C({len(p.outputs) + p.times - 1:,}, {p.times:,})" for p in self.parts]
        return f"{self.cells:,} cells: {len(self.inputs):,} inputs x {' x '.join(terms)}"

    def check(self, most: int) -> None:
        """Refuse a table that would be too large."""
        if self.cells > most or len(self.order) > MOST_RELEASES:
            size = self.needs() if self.cells <= 10**15 else f"about 1e{len(str(self.cells)) - 1}"
            raise NotDefined(
                "the exact product",
                f"{len(self.order):,} releases, which need {size}",
                f"it is for at most {most:,} cells and {MOST_RELEASES:,} releases",
            )

    # --- one result -----------------------------------------------------------------------------

    def places(self, index: int) -> tuple[int, ...]:
        """Return the result of each part."""
        shape = tuple(part.number for part in self.parts)
        return tuple(int(i) for i in np.unravel_index(index, shape))

    def column(self, index: int) -> list[int]:
        """Return the likelihoods of a result, in proportion."""
        found = [1] * len(self.inputs)
        for part, place in zip(self.parts, self.places(index), strict=True):
            found = [a * b for a, b in zip(found, part.column(place), strict=True)]
        return found

    def ways(self, index: int) -> int:
        """Return in how many orders a result can come."""
        places = zip(self.parts, self.places(index), strict=True)
        return math.prod(part.ways(place) for part, place in places)

    def label(self, index: int) -> Label:
        """Return the outputs of a result, one for each release; of a single one its output."""
        places = zip(self.parts, self.places(index), strict=True)
        left = [part.labels(place) for part, place in places]
        return joined([next(left[which]) for which in self.order])

    @cached_property
    def total(self) -> int:
        """What the likelihoods of a column stand over."""
        return math.prod(part.total**part.times for part in self.parts)

    # --- all results ----------------------------------------------------------------------------

    def extreme(self, value: Callable[[Floats], Floats], slack: float) -> list[int]:
        """Return the results whose value, computed from logarithms, may be the largest."""
        shape = tuple(part.number for part in self.parts)
        step = max(1, _AT_ONCE // len(self.inputs))
        best = -math.inf
        kept: list[tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]] = []
        for start in range(0, self.columns, step):
            index = np.arange(start, min(start + step, self.columns))
            places = np.unravel_index(index, shape)
            logs = np.zeros((len(self.inputs), len(index)))
            for part, place in zip(self.parts, places, strict=True):
                logs += part.result_logs(place)
            possible = np.isfinite(logs).any(axis=0)
            values = value(logs[:, possible])
            if not len(values):
                continue
            best = max(best, float(values.max()))
            near = values >= best - slack
            kept.append((values[near], index[possible][near]))
        found = [
            int(i)
            for values, index in kept
            for i in index[(values >= best - slack) | (values == best)]
        ]
        if len(found) > MOST_CANDIDATES and math.isfinite(best):
            raise NotDefined(
                "the exact product",
                f"{len(found):,} results that floats cannot tell apart",
                f"it compares at most {MOST_CANDIDATES:,} of them exactly; the bounds are used",
            )
        return found

    @cached_property
    def slack(self) -> float:
        """More than twice what the logarithm of a lift can be off by."""
        size = 1.0
        for part in self.parts:
            finite = part.logs[np.isfinite(part.logs)]
            size += part.times * (float(np.abs(finite).max(initial=0.0)) + math.log(part.total) + 1)
        return 64 * math.ulp(1.0) * (len(self.order) + len(self.inputs) + 8) * size


def joined(outputs: Sequence[Label]) -> Label:
    """Return the outputs of several releases as one label.

    >>> joined(["yes"]), joined(["yes", "no"])
    ('yes', ('yes', 'no'))
    """
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _dense(channel: AnyChannel) -> Channel:
    if isinstance(channel, SupportChannel):
        number = channel.output_number
        if not isinstance(number, int) or number * len(channel.inputs) > MOST_AUDIT_CELLS:
            raise channel.too_large()
    return dense(channel)


# --- the accountant -------------------------------------------------------------------------------


def exact_product(releases: Sequence[Release], context: Context) -> Spent:
    """Measure eps_lower, eps_upper, lip and ldp of all releases together, with witnesses.

    Refuses tables above `MOST_CELLS`, and says how many cells they would have.

    Source: 000 section III.B, Def 6, Cor 4 (sets of priors).

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> twice = exact_product([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(twice["eps_lower"].ratio), str(twice["eps_lower"].witness), str(twice["ldp"].ratio)
    ('5', 'secret 1, output (0, 0)', '9')
    """
    inputs = common_inputs(releases)
    formula = "max and min over all outputs of all releases together"
    if isinstance(context, PriorSet):
        aligned = context.reordered(inputs)
        product = Product.of(releases, inputs)
        product.check(min(MOST_CELLS, MOST_SET_COLUMNS * len(inputs)))
        readings = _of_set(product, aligned)
    elif isinstance(context, Prior):
        prior = context.reordered(inputs)
        kept = inputs.subset([i for i, count in enumerate(prior.counts) if count])
        product = Product.of(releases, kept)
        product.check(MOST_CELLS)
        counts = [count for count in prior.counts if count]
        readings = _of_secrets(product, _Secrets(kept, [[c] for c in counts], alone=True))
    elif isinstance(context, Joint):
        joint = context.reordered(inputs)
        places = [x for x in range(len(inputs)) if any(row[x] for row in joint.counts)]
        kept = inputs.subset(places)
        product = Product.of(releases, kept)
        product.check(MOST_CELLS)
        rows = [[row[x] for x in places] for row in joint.counts]
        used = [s for s, row in enumerate(rows) if any(row)]
        secrets = _Secrets(joint.secrets.subset(used), [rows[s] for s in used], alone=False)
        readings = _of_secrets(product, secrets)
    else:
        raise NotDefined(
            "the exact product", context.describe(), "give a prior, a joint or a set of priors"
        )
    if "ldp" not in readings:
        with contextlib.suppress(NotDefined):  # too many pairs of wide integers
            readings |= exact_ldp(releases)
    return Spent("exact", readings, True, formula, SOURCE, product.needs())


def exact_ldp(releases: Sequence[Release]) -> dict[str, Reading]:
    """Measure the LDP of all releases together: the largest product of ratios of a pair of inputs.

    Nothing if a channel is not known; refused if there are too many pairs.
    """
    inputs = common_inputs(releases)
    times = Counter(release.fingerprint for release in releases)
    channels = {release.fingerprint: release.channel for release in releases}
    if None in channels.values():
        return {}
    ratios = {
        name: pair_ratios(channel, inputs)
        for name, channel in channels.items()
        if channel is not None
    }
    found = worst_pair([(ratios[name], times[name]) for name in ratios])
    outputs = joined([ratios[r.fingerprint].output(found.more, found.less) for r in releases])
    witness = Witness(inputs.labels[found.more], outputs, inputs.labels[found.less])
    return {"ldp": Reading.of_ratio("ldp", found.ratio, witness)}


@dataclass(frozen=True)
class _Quotient:
    """A quotient that is only ever compared, so that it is never reduced."""

    top: int
    bottom: int

    def __lt__(self, other: _Quotient) -> bool:
        return self.top * other.bottom < other.top * self.bottom


@dataclass(frozen=True)
class _Secrets:
    """Secrets and their counts: of the inputs behind each, or of itself where it is the input."""

    labels: Alphabet
    counts: list[list[int]]
    alone: bool

    def numerators(self, column: list[int]) -> list[int]:
        """Return sum_x counts(s, x) column(x) for every secret."""
        if self.alone:
            return [row[0] * value for row, value in zip(self.counts, column, strict=True)]
        return [sum(c * v for c, v in zip(row, column, strict=True) if c) for row in self.counts]

    def log_joint(self, logs: Floats) -> Floats:
        """Return ln P(s, y) + constant from the logarithms of the likelihoods."""
        if self.alone:
            return np.asarray(logs + np.array([[math.log(row[0])] for row in self.counts]))
        rows = []
        for row in self.counts:
            used = [x for x, count in enumerate(row) if count]
            offsets = np.array([[math.log(row[x])] for x in used])
            rows.append(_log_sum(logs[used] + offsets))
        return np.array(rows)

    def log_sums(self) -> Floats:
        """Return ln P(s) + the same constant."""
        return np.array([[math.log(sum(row))] for row in self.counts])


def _log_sum(logs: Floats) -> Floats:
    top = logs.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - safe).sum(axis=0)) + safe)


def _of_secrets(product: Product, secrets: _Secrets) -> dict[str, Reading]:
    sums = [sum(row) for row in secrets.counts]
    total = sum(sums)

    def lifts(logs: Floats) -> Floats:
        joint = secrets.log_joint(logs)
        found: Floats = joint - secrets.log_sums() - _log_sum(joint) + math.log(total)
        return found

    slack = product.slack + 64 * math.ulp(1.0) * (math.log(total) + 1) * (len(sums) + 8)

    def search(value: Callable[[Floats], Floats], ratio: Callable[[list[int]], _Found]) -> _Best:
        best: tuple[_Found, int] | None = None
        for index in product.extreme(value, slack):
            # Over the sums of their counts; integers, as fractions of so many digits are slow.
            found = ratio(secrets.numerators(product.column(index)))
            if best is None or found[0] * best[0][1] > best[0][0] * found[1]:
                best = (found, index)
            if not found[1]:
                break
        assert best is not None
        (top, bottom, secret, other), index = best
        return (Fraction(top, bottom) if bottom else None), secret, other, index

    def highest(given: list[int]) -> _Found:
        place = max(range(len(given)), key=lambda s: _Quotient(given[s], sums[s]))
        return given[place] * total, sum(given) * sums[place], place, None

    def lowest(given: list[int]) -> _Found:
        place = min(range(len(given)), key=lambda s: _Quotient(given[s], sums[s]))
        return sum(given) * sums[place], given[place] * total, place, None

    up = search(lambda logs: lifts(logs).max(axis=0), highest)
    down = search(lambda logs: -lifts(logs).min(axis=0), lowest)

    def witness(found: _Best) -> Witness:
        other = None if found[2] is None else secrets.labels.labels[found[2]]
        return Witness(secrets.labels.labels[found[1]], product.label(found[3]), other)

    readings = sides(down[0], up[0], witness(down), witness(up))
    if not secrets.alone:

        def widest(given: list[int]) -> _Found:
            more = max(range(len(given)), key=lambda s: _Quotient(given[s], sums[s]))
            less = min(range(len(given)), key=lambda s: _Quotient(given[s], sums[s]))
            return given[more] * sums[less], given[less] * sums[more], more, less

        apart = search(lambda logs: np.ptp(lifts(logs), axis=0), widest)
        readings["ldp"] = Reading.of_ratio("ldp", apart[0], witness(apart))
    return readings


_Found = tuple[int, int, int, int | None]
"""Numerator, denominator (0: infinite), secret, another secret."""
_Best = tuple[Fraction | None, int, int | None, int]


def _of_set(product: Product, priors: PriorSet) -> dict[str, Reading]:
    """Look at every column exactly: P(y) is linear in the prior, so extreme priors suffice."""
    rows = np.flatnonzero(priors.possible)
    up: tuple[Fraction | None, int, int] | None = None
    down: tuple[Fraction | None, int, int] | None = None
    for index in range(product.columns):
        column = np.array(product.column(index), dtype=object)
        least, most = priors.mass_range(column)
        if most == 0:
            continue
        values = column[rows]
        high, low = int(rows[values.argmax()]), int(rows[values.argmin()])
        lift = Fraction(int(column[high])) / least if least else None
        if up is None or (up[0] is not None and (lift is None or lift > up[0])):
            up = (lift, high, index)
        fall = most / Fraction(int(column[low])) if column[low] else None
        if down is None or (down[0] is not None and (fall is None or fall > down[0])):
            down = (fall, low, index)
    assert up is not None
    assert down is not None

    def witness(found: tuple[Fraction | None, int, int], *, least: bool) -> Witness:
        column = np.array(product.column(found[2]), dtype=object)
        secret = product.inputs.labels[found[1]]
        worst = priors.extreme(column, least=least)
        return Witness(secret, product.label(found[2]), prior=worst)

    return sides(down[0], up[0], witness(down, least=False), witness(up, least=True))


def product_channel(releases: Sequence[Release]) -> Channel:
    """Return all releases together as one channel, one output for each result without its order.

    Every notion has the same value for it as for the channel to all sequences of outputs.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> both = product_channel([Release.of(bit)] * 2)
    >>> both.outputs.labels, str(both.probability(0, (0, 1)))
    (((0, 0), (0, 1), (1, 1)), '3/8')
    """
    inputs = common_inputs(releases)
    product = Product.of(releases, inputs)
    product.check(MOST_AUDIT_CELLS)
    columns = [
        [product.ways(index) * value for value in product.column(index)]
        for index in range(product.columns)
    ]
    weights = as_integers(np.array(columns, dtype=object).T)
    labels = Alphabet.of(product.label(index) for index in range(product.columns))
    return Channel(inputs, labels, weights, (product.total,) * len(inputs))
