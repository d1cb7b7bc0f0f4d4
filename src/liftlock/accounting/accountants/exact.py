"""The exact accountant: all outputs of all releases together, without their order.

Given the input the releases are independent, so the likelihood of a result is a product. Lifts
depend only on how often each output came: r releases through one table of k outputs have
C(k+r-1, r) different results, not k^r; and outputs whose columns are proportional say the same, so
they count once. Floats (logarithms) find the few results that may be extreme; integers decide, and
give the witness.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, cmp_to_key
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.accounting.accountants.base import (
    Accountant,
    PrivacyLoss,
    first_without_channel,
    joint_label,
    require_lifts,
    sides,
)
from liftlock.accounting.accountants.pairwise import measure_ldp
from liftlock.accounting.release import Ratio, Release, common_inputs
from liftlock.errors import NotDefined
from liftlock.exact.integers import Floats, Integers, as_integers
from liftlock.model import Context, Joint, Prior, PriorSet, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense
from liftlock.notions.lift import column_range
from liftlock.notions.measurement import Measurement, Witness
from liftlock.notions.profile import OutputDistributions, edge_losses, worst_edge

MOST_CELLS = 4_000_000
"""Tables of all outputs together that have more cells are not looked through."""
MOST_SET_COLUMNS = 20_000
"""The same for sets of priors, which need exact arithmetic for every column."""
MOST_CANDIDATES = 100_000
"""The most results that are compared exactly because floats cannot tell them apart."""
MOST_AUDIT_CELLS = 200_000
"""The same for notions that need the whole table, in integers."""
MOST_RELEASES = 4096
"""More releases than this have integers too long to multiply."""

_AT_ONCE = 1 << 18
_MOST_OBJECT_CELLS = 400_000
"""Larger tables of wide integers are not searched for proportional columns."""


@dataclass(frozen=True)
class RepeatedChannel:
    """One table, used `times` times: weights over a common total, one row for each input kept.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> twice = RepeatedChannel.of(bit, bit.inputs, 2)
    >>> twice.number, [twice.counts(place) for place in range(3)]
    (3, [((0, 2),), ((0, 1), (1, 1)), ((1, 2),)])
    """

    weights: Integers
    total: int
    outputs: tuple[Label, ...]
    times: int

    @classmethod
    def of(cls, channel: Channel, inputs: Alphabet, times: int) -> RepeatedChannel:
        """Keep some inputs of a channel; outputs that say the same become one."""
        rows = [channel.inputs.index(label) for label in inputs.labels]
        factors = channel.row_factors
        weights: Integers = channel.weights[rows]
        if any(factors[row] != 1 for row in rows):
            scale = np.array([factors[row] for row in rows], dtype=object)[:, None]
            weights = as_integers(weights.astype(object) * scale)
        first, merged = _merge_columns(weights)
        labels = tuple(channel.outputs.labels[y] for y in first)
        return cls(merged, channel.common_total, labels, times)

    @property
    def number(self) -> int:
        """How many results there are."""
        return math.comb(len(self.outputs) + self.times - 1, self.times)

    @cached_property
    def _by_output(self) -> bool:
        """Whether a result is stored as a count for each output, else as a list of outputs."""
        return len(self.outputs) <= self.times

    @cached_property
    def _results(self) -> npt.NDArray[np.int64]:
        size, times = len(self.outputs), self.times
        if not self._by_output:
            lists = itertools.combinations_with_replacement(range(size), times)
            return _array(itertools.chain.from_iterable(lists), self.number, times)
        if size == 1:
            return np.full((1, 1), times, dtype=np.int64)
        # Stars and bars: the places of size - 1 bars among times stars.
        bars = itertools.combinations(range(times + size - 1), size - 1)
        places = _array(itertools.chain.from_iterable(bars), self.number, size - 1)
        last = np.full((len(places), 1), times + size - 1, dtype=np.int64)
        edges = np.concatenate([np.full_like(last, -1), places, last], axis=1)
        # The bars come in order of few of the first output; the first result repeats it.
        return np.ascontiguousarray((np.diff(edges, axis=1) - 1)[::-1])

    def counts(self, place: int) -> tuple[tuple[int, int], ...]:
        """Return one result: each output that came, and how often."""
        row = self._results[place].tolist()
        if self._by_output:
            return tuple((y, count) for y, count in enumerate(row) if count)
        return tuple(sorted(Counter(row).items()))

    @cached_property
    def logs(self) -> Floats:
        """The logarithm of every weight over the total; minus infinity for 0."""
        with np.errstate(divide="ignore"):
            if self.weights.dtype == object:
                flat = [math.log(w) if w else -math.inf for w in self.weights.flat]
                return np.array(flat).reshape(self.weights.shape) - math.log(self.total)
            return np.asarray(np.log(self.weights) - math.log(self.total))

    def result_logs(self, places: npt.NDArray[np.intp]) -> Floats:
        """Return the logarithms of the likelihoods of some results, one row for each input."""
        chosen = self._results[places]
        total = np.zeros((len(self.weights), len(places)))
        for column in range(chosen.shape[1]):
            if not self._by_output:
                total += self.logs[:, chosen[:, column]]
                continue
            times = chosen[:, column]
            with np.errstate(invalid="ignore"):
                part = self.logs[:, column, None] * times[None, :]
            total += np.where(times[None, :] > 0, part, 0.0)
        return total

    def column(self, place: int) -> list[int]:
        """Return the likelihoods of one result for every input, as integers over total^times."""
        found = [1] * len(self.weights)
        for y, count in self.counts(place):
            found = [v * int(w) ** count for v, w in zip(found, self.weights[:, y], strict=True)]
        return found

    def ways(self, place: int) -> int:
        """Return in how many orders a result can come."""
        counts = [count for _, count in self.counts(place)]
        return math.factorial(self.times) // math.prod(math.factorial(c) for c in counts)

    def labels(self, place: int) -> Iterator[Label]:
        """Return the outputs of one result, the first ones first."""
        for y, count in self.counts(place):
            yield from itertools.repeat(self.outputs[y], count)


def _array(values: Iterator[int], rows: int, columns: int) -> npt.NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64, count=rows * columns).reshape(rows, columns)


def _merge_columns(weights: Integers) -> tuple[list[int], Integers]:
    """Add up columns of the same direction; return the first of each, and the sums."""
    groups: dict[object, list[int]] = {}
    if weights.dtype != object:
        divisors = np.gcd.reduce(weights, axis=0)
        used = np.flatnonzero(divisors)
        reduced = weights[:, used] // divisors[used]
        for y, column in zip(used.tolist(), np.ascontiguousarray(reduced.T), strict=True):
            groups.setdefault(column.tobytes(), []).append(y)
    else:
        alone = weights.size > _MOST_OBJECT_CELLS
        for y in range(weights.shape[1]):
            column = [int(w) for w in weights[:, y]]
            divisor = math.gcd(*column)
            if divisor:
                key = y if alone else tuple(w // divisor for w in column)
                groups.setdefault(key, []).append(y)
    first = [places[0] for places in groups.values()]
    if len(first) == weights.shape[1]:
        return first, weights
    # Python integers: two columns that fit int64 may have a sum that does not.
    sums = [weights[:, places].astype(object).sum(axis=1) for places in groups.values()]
    return first, as_integers(np.stack(sums, axis=1))


@dataclass(frozen=True)
class ReleaseProduct:
    """Several releases of the same input: the distinct tables, and how often each was used."""

    inputs: Alphabet
    parts: tuple[RepeatedChannel, ...]
    order: tuple[int, ...]
    """For each release in the order given, which part it belongs to."""

    @classmethod
    def of(cls, releases: Sequence[Release], inputs: Alphabet) -> ReleaseProduct:
        """Group equal channels; an encoding takes part if its reports are few."""
        times = Counter(release.fingerprint for release in releases)
        channels: dict[str, AnyChannel] = {}
        for release, channel in zip(releases, _require_channels(releases), strict=True):
            channels.setdefault(release.fingerprint, channel)
        names = list(channels)
        parts = tuple(RepeatedChannel.of(_to_dense(channels[n]), inputs, times[n]) for n in names)
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
        >>> ReleaseProduct.of([Release.of(bit)] * 3, bit.inputs).needs()
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
        return joint_label([next(left[which]) for which in self.order])

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


def _require_channels(releases: Sequence[Release]) -> list[AnyChannel]:
    """Return the channels of releases; refuse one of which only the levels are known."""
    if fault := first_without_channel(releases):
        remedy = "the bounds are used; keep the mechanism to have it exact"
        raise NotDefined("the exact product", fault, remedy)
    return [release.channel for release in releases if release.channel is not None]


def _to_dense(channel: AnyChannel) -> Channel:
    if isinstance(channel, SupportChannel):
        number = channel.output_number
        if not isinstance(number, int) or number * len(channel.inputs) > MOST_AUDIT_CELLS:
            raise channel.too_large_error()
    return to_dense(channel)


# --- the accountant -------------------------------------------------------------------------------


class ExactAccountant(Accountant):
    """Measure all releases together, with witnesses: the lifts, or the loss of every edge; and LDP.

    Refuses tables above `MOST_CELLS`, and says how many cells they would have.

    Source: 000 section III.B, Def 6, Cor 4 (sets of priors); 004 Obs 13.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> twice = ExactAccountant().bound([Release.of(bit)] * 2, Prior.uniform([0, 1]))
    >>> str(twice["eps_lower"].ratio), str(twice["eps_lower"].witness), str(twice["ldp"].ratio)
    ('5', 'secret 1, output (0, 0)', '9')
    """

    name = "exact"
    formula = "max and min over all outputs of all releases together"
    source = "math composition (product channel)"

    def bound(self, releases: Sequence[Release], context: Context | None) -> PrivacyLoss:
        """Find the extremes over the outputs of all releases together, if they are few enough."""
        if isinstance(context, ProfileGraph):
            measurements, needs = _of_graph(releases, context)
        elif isinstance(known := require_lifts(releases, context), PriorSet):
            measurements, needs = _of_set(releases, known)
        else:
            measurements, needs = _of_secrets(releases, known)
        if "ldp" not in measurements:
            with contextlib.suppress(NotDefined):  # too many pairs of wide integers
                measurements["ldp"] = measure_ldp(releases)
        return self.loss(measurements, exact=True, needs=needs)


_Found: TypeAlias = tuple[dict[str, Measurement], str]
"""What was measured, and how many cells were looked at."""


# --- lifts of inputs, or of secrets behind them ---------------------------------------------------


@dataclass(frozen=True)
class _Quotient:
    """What is attained at a result: top / bottom, infinite if bottom is 0, and by which secrets."""

    top: int
    bottom: int
    secret: int
    other: int | None = None

    def __gt__(self, other: _Quotient) -> bool:
        # Never reduced: greatest common divisors of numbers of thousands of digits are slow.
        return self.top * other.bottom > other.top * self.bottom


@dataclass(frozen=True)
class _Secrets:
    """Secrets and their counts: of the inputs behind each, or of itself where it is the input."""

    labels: Alphabet
    counts: list[list[int]]
    alone: bool

    @classmethod
    def behind(cls, context: Prior | Joint, inputs: Alphabet) -> tuple[_Secrets, Alphabet]:
        """Return the secrets that can occur, and the inputs that can."""
        if isinstance(context, Prior):
            prior = context.reordered(inputs)
            kept = inputs.subset([i for i, count in enumerate(prior.counts) if count])
            return cls(kept, [[c] for c in prior.counts if c], alone=True), kept
        joint = context.reordered(inputs)
        places = [x for x in range(len(inputs)) if any(row[x] for row in joint.counts)]
        rows = [[row[x] for x in places] for row in joint.counts]
        used = [s for s, row in enumerate(rows) if any(row)]
        secrets = cls(joint.secrets.subset(used), [rows[s] for s in used], alone=False)
        return secrets, inputs.subset(places)

    @cached_property
    def sums(self) -> list[int]:
        """The counts of each secret, added up."""
        return [sum(row) for row in self.counts]

    def numerators(self, column: list[int]) -> list[int]:
        """Return sum_x counts(s, x) column(x) for every secret: P(y | s) over its sum."""
        if self.alone:
            return [row[0] * value for row, value in zip(self.counts, column, strict=True)]
        return [sum(c * v for c, v in zip(row, column, strict=True) if c) for row in self.counts]

    def log_lifts(self, logs: Floats) -> Floats:
        """Return the logarithms of the lifts from those of the likelihoods of the inputs."""
        own = np.array([[math.log(total)] for total in self.sums])
        if self.alone:
            joint: Floats = logs + own
        else:
            rows = []
            for row in self.counts:
                used = [x for x, count in enumerate(row) if count]
                offsets = np.array([[math.log(row[x])] for x in used])
                rows.append(_log_sum(logs[used] + offsets))
            joint = np.array(rows)
        found: Floats = joint - own - _log_sum(joint) + math.log(sum(self.sums))
        return found

    def _order(self, given: list[int]) -> Callable[[int], Any]:
        """Compare secrets by their likelihoods, of which the numerators are given."""
        sums = self.sums
        return cmp_to_key(lambda one, other: given[one] * sums[other] - given[other] * sums[one])

    def highest(self, given: list[int]) -> _Quotient:
        """Return the largest lift at a result."""
        s = max(range(len(given)), key=self._order(given))
        return _Quotient(given[s] * sum(self.sums), sum(given) * self.sums[s], s)

    def lowest(self, given: list[int]) -> _Quotient:
        """Return 1 / the smallest lift at a result."""
        s = min(range(len(given)), key=self._order(given))
        return _Quotient(sum(given) * self.sums[s], given[s] * sum(self.sums), s)

    def widest(self, given: list[int]) -> _Quotient:
        """Return the largest ratio of the likelihoods of two secrets at a result."""
        more, less = (end(range(len(given)), key=self._order(given)) for end in (max, min))
        return _Quotient(given[more] * self.sums[less], given[less] * self.sums[more], more, less)


def _log_sum(logs: Floats) -> Floats:
    top = logs.max(axis=0)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(logs - safe).sum(axis=0)) + safe)


def _of_secrets(releases: Sequence[Release], context: Prior | Joint) -> _Found:
    secrets, kept = _Secrets.behind(context, common_inputs(releases))
    product = ReleaseProduct.of(releases, kept)
    product.check(MOST_CELLS)
    size = math.log(sum(secrets.sums)) + 1
    slack = product.slack + 64 * math.ulp(1.0) * size * (len(secrets.sums) + 8)

    def search(
        screen: Callable[[Floats], Floats], attained: Callable[[list[int]], _Quotient]
    ) -> tuple[Ratio, Witness]:
        """Return the largest quotient of any result; log-lifts screen the results."""
        best: tuple[_Quotient, int] | None = None
        for index in product.extreme(lambda logs: screen(secrets.log_lifts(logs)), slack):
            found = attained(secrets.numerators(product.column(index)))
            if best is None or found > best[0]:
                best = found, index
            if not found.bottom:
                break
        assert best is not None
        most, index = best
        labels = secrets.labels.labels
        other = None if most.other is None else labels[most.other]
        witness = Witness(labels[most.secret], product.label(index), other)
        return Fraction(most.top, most.bottom) if most.bottom else None, witness

    upper, above = search(lambda lifts: lifts.max(axis=0), secrets.highest)
    lower, below = search(lambda lifts: -lifts.min(axis=0), secrets.lowest)
    measurements = sides(lower, upper, below, above)
    if not secrets.alone:
        ratio, apart = search(lambda lifts: np.ptp(lifts, axis=0), secrets.widest)
        measurements["ldp"] = Measurement.of_ratio("ldp", ratio, apart)
    return measurements, product.needs()


# --- other contexts -------------------------------------------------------------------------------


def _of_set(releases: Sequence[Release], priors: PriorSet) -> _Found:
    """Look at every result exactly: P(y) is linear in the prior, so extreme priors suffice."""
    inputs = common_inputs(releases)
    aligned = priors.reordered(inputs)
    product = ReleaseProduct.of(releases, inputs)
    product.check(min(MOST_CELLS, MOST_SET_COLUMNS * len(inputs)))
    columns = (np.array(product.column(i), dtype=object) for i in range(product.columns))
    found = column_range(columns, aligned, product.label)
    lowest, highest = found.smallest, found.largest
    lower = 1 / lowest.lift if lowest.lift else None
    return sides(lower, highest.lift, lowest.witness, highest.witness), product.needs()


def _of_graph(releases: Sequence[Release], graph: ProfileGraph) -> _Found:
    common_inputs(releases)
    distributions = observation_distributions(_require_channels(releases), graph)
    worst = worst_edge(edge_losses(distributions))
    ratio, witness = (Fraction(1), None) if worst is None else (worst.ratio, worst.witness)
    needs = (
        f"{distributions.rows.size:,} cells: {len(distributions.outputs):,} outputs of all together"
    )
    return {"profile": Measurement.of_ratio("profile", ratio, witness)}, needs


def observation_distributions(
    channels: Sequence[AnyChannel], graph: ProfileGraph
) -> OutputDistributions:
    """Return what each profile releases if all channels are given the same observation.

    The outputs together have P(y1, ..., yk | profile i) = sum_x P_i(x) A1(y1 | x) ... Ak(yk | x),
    each row that of profile i if the channel uses it.

    Source: 004 Obs 13.
    """
    outputs = math.prod(len(_to_dense(channel).outputs) for channel in channels)
    if len(graph) * len(graph.inputs) * outputs > MOST_CELLS:
        raise NotDefined(
            "the exact loss of several releases of one observation",
            f"{outputs:,} outputs together",
            f"it is for tables of at most {MOST_CELLS:,} cells",
        )
    each = [OutputDistributions.of(channel, graph) for channel in channels]
    if len(each) == 1:
        return each[0]
    blocks = max(len(distributions.rows) for distributions in each)
    rows: Integers = np.ones((blocks, len(graph.inputs), 1), dtype=object)
    for distributions in each:
        rows = (rows[:, :, :, None] * distributions.rows[:, :, None, :]).reshape(
            *rows.shape[:2], -1
        )
    labels = Alphabet.of(
        itertools.product(*(distributions.outputs.labels for distributions in each))
    )
    return OutputDistributions.of_rows(
        graph, labels, rows, math.prod(distributions.row_total for distributions in each)
    )


def product_channel(releases: Sequence[Release]) -> Channel:
    """Return all releases together as one channel, one output for each result without its order.

    Every notion has the same value for it as for the channel to all sequences of outputs.

    >>> bit = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> both = product_channel([Release.of(bit)] * 2)
    >>> both.outputs.labels, str(both.probability(0, (0, 1)))
    (((0, 0), (0, 1), (1, 1)), '3/8')
    """
    inputs = common_inputs(releases)
    product = ReleaseProduct.of(releases, inputs)
    product.check(MOST_AUDIT_CELLS)
    columns = [
        [product.ways(index) * value for value in product.column(index)]
        for index in range(product.columns)
    ]
    weights = as_integers(np.array(columns, dtype=object).T)
    labels = Alphabet.of(product.label(index) for index in range(product.columns))
    return Channel(inputs, labels, weights, (product.total,) * len(inputs))
