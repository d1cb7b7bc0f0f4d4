"""Cutting the line into bins: the finite prior of a number, and how a number finds its bin.

Cutting is done before anything is randomised. The report depends on X only through its bin, so the
lift of a value is the lift of its bin (linkage): what is proved of the bins holds for X itself.
What lies outside the declared domain is moved to its nearer end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from liftlock.errors import CountError, InputError
from liftlock.exact.fingerprint import fingerprint
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.exact.reproducible import dot
from liftlock.model import STORED, Prior
from liftlock.model.alphabet import Alphabet
from liftlock.model.continuous.discretisation import (
    count_bins,
    masses_between,
    merge_empty_bins,
    moments,
    quantile_edges,
)
from liftlock.model.continuous.distribution import Distribution, Sample, read_numbers
from liftlock.model.prior import integers_from_json

if TYPE_CHECKING:
    import numpy.typing as npt

Spacing = Literal["mass", "width"]
SPACINGS: tuple[Spacing, ...] = get_args(Spacing)
DEFAULT_BINS = 512
MOST_BINS = 4096
"""Beyond this a table has more cells than a machine should be asked to prove things of."""

_TOTAL = 1 << 40
"""Masses are rounded to multiples of 1/2^40; a bin below that joins its neighbour."""
_LEAST_INSIDE = 0.5
_CENTRAL = 0.0005
_LARGEST = 1e150
"""Beyond this, or below its inverse, the squares of numbers leave the range of floats."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Bins of the real line, [e_0, e_1), [e_1, e_2), ...; the last one holds its upper end as well.

    >>> Grid((0.0, 10.0, 30.0), "mass", "a table", 0.0, 0.0, (8.0, 30.0)).encode([9.9, 10, 99])
    array([0, 1, 1])
    """

    edges: tuple[float, ...]
    spacing: Spacing
    source: str
    """What the masses were taken from."""
    below: float
    """The prior mass under the domain, which is counted, and released, as its lower end."""
    above: float
    variances: tuple[float, ...]
    """The variance of X inside each bin: what the grid itself takes away."""
    joined: int = 0
    """How many bins there are fewer than asked for: those without mass of their own."""
    doubt: str = ""
    """Why the prior may be wrong, to be said of every mechanism under it; empty if nothing is."""

    def __post_init__(self) -> None:
        ends = np.array(self.edges)
        if len(ends) < 3 or not np.isfinite(ends).all() or not (np.diff(ends) > 0).all():
            raise InputError("the bin edges do not ascend", remedy="make it again")
        if len(self.variances) != len(ends) - 1:
            raise InputError(
                f"{len(self.variances)} variances for {len(ends) - 1} bins", remedy="make it again"
            )

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def lower(self) -> float:
        """The lower end of the domain."""
        return self.edges[0]

    @property
    def upper(self) -> float:
        """The upper end of the domain."""
        return self.edges[-1]

    @cached_property
    def widths(self) -> Floats:
        """The widths of the bins."""
        return np.diff(np.array(self.edges))

    def encode(self, values: Any) -> npt.NDArray[np.intp]:
        """Return the bin of each number; numbers outside the domain count as its ends."""
        if hasattr(values, "__len__") and not len(values):
            return np.zeros(0, dtype=np.intp)
        return np.searchsorted(np.array(self.edges[1:-1]), read_numbers(values), side="right")

    def outside(self, values: Any) -> int:
        """Count the numbers that lie outside the domain."""
        numbers = read_numbers(values)
        return int(((numbers < self.lower) | (numbers > self.upper)).sum())

    def describe(self) -> str:
        """Say the resolution in one line."""
        what = {"mass": "equal probability", "width": "equal width"}[self.spacing]
        text = (
            f"{len(self)} bins of {what} on [{_plain(self.lower, 12)}, {_plain(self.upper, 12)}], "
            f"{_short(self.widths.min())} to {_short(self.widths.max())} wide"
        )
        if self.joined:
            why = "equal values share a bin" if self.spacing == "mass" else "the others are empty"
            text += f" ({self.joined} fewer than {len(self) + self.joined}: {why})"
        return text

    def describe_clamping(self) -> str:
        """Say what is moved to the ends of the domain; empty if nothing is."""
        parts = [
            f"{share_text(mass)} {side}"
            for mass, side in ((self.below, "below"), (self.above, "above"))
            if mass > 0
        ]
        if not parts:
            return ""
        return f"of the prior, {' and '.join(parts)} the domain is clamped to its ends"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "edges": list(self.edges),
            "spacing": self.spacing,
            "source": self.source,
            "below": self.below,
            "above": self.above,
            "variances": list(self.variances),
            "joined": self.joined,
            "doubt": self.doubt,
        }

    @classmethod
    def from_data(cls, data: Any) -> Grid:
        """Read the JSON form."""
        if not isinstance(data, Mapping):
            raise CountError("a grid is not an object", value=data)
        spacing = data.get("spacing")
        if spacing not in SPACINGS:
            raise CountError("unknown spacing of a grid", value=spacing)
        columns = []
        for name in ("edges", "variances"):
            column = data.get(name)
            if not isinstance(column, list):
                raise CountError(f"{name} of a grid are not a list", value=column)
            columns.append(tuple(_read_number(number, name) for number in column))
        return cls(
            columns[0],
            spacing,
            str(data.get("source", "")),
            _read_number(data.get("below", 0), "below"),
            _read_number(data.get("above", 0), "above"),
            columns[1],
            int(exact(data.get("joined", 0), name="joined")),
            str(data.get("doubt", "")),
        )


@dataclass(frozen=True, eq=False)
class GridPrior(Prior):
    """A prior whose symbols are bins of the real line; each stands for the mean of X inside it.

    As a context it means that the number itself is the secret (S = X).
    """

    grid: Grid

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.grid) != len(self.alphabet) or self.alphabet.coordinates is None:
            raise CountError(
                f"{len(self.alphabet)} symbols for {len(self.grid)} bins",
                remedy="give one symbol with a coordinate per bin",
            )
        if min(self.counts) == 0:
            raise CountError("a bin has probability 0", remedy="merge it with its neighbour")

    @cached_property
    def points(self) -> Floats:
        """The number that each bin stands for."""
        assert self.alphabet.coordinates is not None
        return np.array([float(point) for point in self.alphabet.coordinates])

    @property
    def variance_within_bins(self) -> float:
        """The mean variance of X inside its bin, which no reading of a report can undo."""
        return float(dot(self.floats(), np.array(self.grid.variances)))

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return (
            f"a prior on {len(self.alphabet)} cells of [{_plain(self.grid.lower, 12)}, "
            f"{_plain(self.grid.upper, 12)}]"
        )

    def resolution(self) -> list[str]:
        """Say how finely the line was cut, what that costs, what lies outside, what is in doubt."""
        masses = self.floats()
        # Squares of numbers far from 0, such as times in seconds, would cancel each other.
        away = self.points - dot(masses, self.points)
        whole = float(dot(masses, away**2)) + self.variance_within_bins
        cost = (
            f"discretising adds {self.variance_within_bins:.3g} to the squared error, "
            f"{100 * self.variance_within_bins / whole:.2g} % of the variance of X"
        )
        said = (self.grid.describe(), cost, self.grid.describe_clamping(), self.grid.doubt)
        return [text for text in said if text]

    def __str__(self) -> str:
        text = f"{self.grid.source}: {self.grid.describe()}"
        clamped = self.grid.describe_clamping()
        return f"{text}\n({clamped})" if clamped else text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GridPrior):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form: masses and edges, not where they came from."""
        return fingerprint(
            [
                "grid",
                self.alphabet.to_data(),
                [str(count) for count in self.reduced],
                [repr(edge) for edge in self.grid.edges],
            ]
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return super().to_data() | {"kind": "grid", "grid": self.grid.to_data()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GridPrior:
        """Read the JSON form."""
        if not isinstance(data, Mapping):
            raise CountError("a prior is not an object", value=data)
        alphabet = Alphabet.from_data(data.get("labels"))
        counts = integers_from_json(data.get("counts"), "counts")
        return cls(alphabet, counts, Grid.from_data(data.get("grid"))).check_masses()


STORED["grid"] = GridPrior.from_json


@dataclass(frozen=True, eq=False)
class ContinuousPrior:
    """A distribution of a number on a declared domain; `discretise` makes it a context.

    >>> from liftlock.model.continuous.distribution import normal
    >>> wages = ContinuousPrior.of(normal(50, 10), domain=(20, 80))
    >>> print(wages.discretise(8))
    normal(50, 10): 8 bins of equal probability on [20, 80], 3.19 to 18.5 wide
    (of the prior, 0.135 % below and 0.135 % above the domain is clamped to its ends)
    """

    distribution: Distribution
    lower: float
    upper: float

    @classmethod
    def of(cls, distribution: Distribution, domain: Any = None) -> ContinuousPrior:
        """Declare the domain of a distribution; by default its support, or its central 99.9 %."""
        if domain is None:
            support = distribution.support
            tails = distribution.quantile(np.array([_CENTRAL, 1.0 - _CENTRAL]))
            ends = [
                float(end) if np.isfinite(end) else float(tail)
                for end, tail in zip(support, tails, strict=True)
            ]
        else:
            ends = list(read_domain(domain))
        _check_range(*ends)
        found = cls(distribution, *ends)
        inside = 1.0 - found.below - found.above
        if inside < _LEAST_INSIDE:
            raise InputError(
                f"the domain holds only {100 * inside:.3g} % of {distribution.describe()}",
                value=f"{found.lower:g} to {found.upper:g}",
                remedy="widen it: numbers outside would be clamped to its ends",
            )
        return found

    @property
    def doubt(self) -> str:
        """Why the distribution may be wrong; empty for one that was declared."""
        return ""

    @property
    def below(self) -> float:
        """The mass under the domain."""
        return float(self.distribution.below(self.lower))

    @property
    def above(self) -> float:
        """The mass over the domain."""
        return float(self.distribution.above(np.nextafter(self.upper, np.inf)))

    def discretise(self, bins: int = DEFAULT_BINS, spacing: str = "mass") -> GridPrior:
        """Discretise the domain into bins of equal probability or width, with integer masses."""
        number = check_bins(bins)
        if spacing not in SPACINGS:
            raise InputError(
                "unknown spacing", value=spacing, remedy=f"use {' or '.join(SPACINGS)}"
            )
        if spacing == "mass":
            edges = self._equal_mass_edges(number)
        else:
            edges = np.linspace(self.lower, self.upper, number + 1)
            if not (np.diff(edges) > 0).all():
                raise InputError(
                    f"the edges of {number} bins are too close for floats",
                    value=f"{self.lower!r} to {self.upper!r}",
                    remedy="use fewer bins, or subtract a common offset from all numbers",
                )
        counts, means, variances, edges = self._fill_bins(edges, spacing)
        if len(counts) < 2:
            raise InputError(
                "the whole prior falls into one bin",
                value=f"{self.lower:g} to {self.upper:g}",
                remedy="narrow the domain, or use more bins",
            )
        labels = _interval_labels(edges)
        points = [
            _round_point(float(mean), math.sqrt(variance), float(low), float(high))
            for mean, variance, (low, high) in zip(means, variances, pairwise(edges), strict=True)
        ]
        grid = Grid(
            tuple(float(edge) for edge in edges),
            "mass" if spacing == "mass" else "width",
            self.distribution.describe(),
            self.below,
            self.above,
            tuple(float(variance) for variance in variances),
            number - len(counts),
            self.doubt,
        )
        return GridPrior(Alphabet.of(labels, points), counts, grid)

    def masses_on(self, prior: GridPrior) -> Prior:
        """Return the masses of this distribution in the bins of another prior.

        It answers what a mechanism leaks if not the prior it was made for is true, but this one. A
        bin may have no mass at all here, so the result is a plain prior on the same symbols.

        >>> from liftlock.model.continuous.distribution import normal
        >>> made_for = ContinuousPrior.of(normal(50, 10), (20, 80)).discretise(4)
        >>> ContinuousPrior.of(normal(60, 10), (20, 80)).masses_on(made_for).floats().round(
        ...     3
        ... ).tolist()
        [0.047, 0.112, 0.214, 0.628]
        """
        edges = np.array(prior.grid.edges)
        if isinstance(self.distribution, Sample):
            codes = prior.grid.encode(self.distribution.values)
            counts = np.bincount(codes, minlength=len(prior.grid))
        else:
            masses = masses_between(self.distribution, edges)
            masses[0] += float(self.distribution.below(edges[0]))
            masses[-1] += float(self.distribution.above(edges[-1]))
            counts = np.ceil(masses * _TOTAL).astype(np.int64)
        return Prior(prior.alphabet, tuple(int(count) for count in counts))

    def _equal_mass_edges(self, bins: int) -> Floats:
        if isinstance(self.distribution, Sample):
            inner = quantile_edges(self.distribution.values, self.lower, self.upper, bins)
        else:
            inner = self.distribution.quantile(np.arange(1, bins) / bins)
        inside = inner[(inner > self.lower) & (inner < self.upper)]
        return np.unique(np.concatenate([[self.lower], inside, [self.upper]]))

    def _fill_bins(
        self, edges: Floats, spacing: str
    ) -> tuple[tuple[int, ...], Floats, Floats, Floats]:
        """Return the counts, means and variances of the bins, empty ones joined with others."""
        if isinstance(self.distribution, Sample):
            return count_bins(self.distribution.values, edges)
        masses = masses_between(self.distribution, edges)
        masses[0] += self.below
        masses[-1] += float(self.distribution.above(self.upper))
        counts = np.round(masses * _TOTAL).astype(np.int64)
        if (counts == 0).any():
            return self._fill_bins(merge_empty_bins(counts, edges)[0], spacing)
        if spacing == "mass" and np.ptp(masses) < 1e-9 / len(masses):
            counts = np.ones(len(masses), dtype=np.int64)
        means, variances = moments(self.distribution, edges, masses)
        return tuple(int(count) for count in counts), means, variances, edges


def _read_number(number: object, name: str) -> float:
    """Read a number of a file: a float is what it is, text is exact."""
    return number if isinstance(number, float) else float(exact(number, name=name))


def check_bins(bins: object) -> int:
    """Read the number of bins of a grid."""
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer):
        raise InputError(
            "the number of bins is not a whole number",
            value=bins,
            remedy="give a number such as 512",
        )
    if not 2 <= bins <= MOST_BINS:
        raise InputError(
            f"number of bins out of range: {bins}",
            remedy=f"give 2 to {MOST_BINS} bins; {DEFAULT_BINS} is plenty",
        )
    return int(bins)


def read_domain(domain: Any) -> tuple[float, float]:
    """Read the two ends of a domain, from a pair or from text such as ``0:300000``.

    >>> read_domain("0:300000"), read_domain((-1, 1))
    ((0.0, 300000.0), (-1.0, 1.0))
    """
    if isinstance(domain, str):
        parts = domain.split(":")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise InputError("not a domain", value=domain, remedy="write it like 0:300000")
        domain = parts
    if not isinstance(domain, Iterable):
        raise InputError("not a domain", value=domain, remedy="give its two ends")
    given = list(domain)
    if len(given) != 2:
        raise InputError(
            f"a domain of {len(given)} numbers", value=given, remedy="give its two ends"
        )
    try:
        ends = read_numbers(given)
    except InputError:
        raise InputError(
            "the ends of a domain are not two finite numbers",
            value=given,
            remedy="give its two ends, such as 0:300000",
        ) from None
    if not ends[0] < ends[1]:
        raise InputError(
            "the upper end of the domain is not above the lower",
            value=ends.tolist(),
            remedy="give the lower end first",
        )
    return float(ends[0]), float(ends[1])


def _check_range(lower: float, upper: float) -> None:
    """Refuse a domain in which squared errors would overflow, or vanish."""
    if max(abs(lower), abs(upper)) > _LARGEST or upper - lower < 1.0 / _LARGEST:
        raise InputError(
            "the numbers are too large, or too near each other, for squared errors",
            value=f"{lower:g} to {upper:g}",
            remedy="measure them in another unit",
        )


def _interval_labels(edges: Floats) -> list[str]:
    """Write the bins as intervals, with as many digits as it takes to tell the edges apart."""
    for digits in range(4, 18):
        texts = [_plain(edge, digits) for edge in edges]
        if len(set(texts)) == len(texts):
            break
    labels = [f"[{low}, {high})" for low, high in pairwise(texts)]
    return [*labels[:-1], labels[-1][:-1] + "]"]


def _plain(number: float, digits: int) -> str:
    text = f"{number:.{digits}g}"
    if "e" in text:
        text = format(Decimal(text), "f") if -7 < Decimal(text).adjusted() < 16 else text
    return "0" if float(text) == 0 else text


def _round_point(number: float, deviation: float, low: float, high: float) -> Fraction:
    """Round a number to a thousandth of the deviation in its bin, to write it in a few digits.

    It stays inside the bin, also where rounding would take it out.
    """
    found = Decimal(f"{number:.15g}")
    if deviation > 0:
        step = Decimal(1).scaleb(math.floor(math.log10(deviation)) - 3)
        if step.adjusted() > found.adjusted() - 15:
            found = found.quantize(step)
    return min(max(Fraction(found), Fraction(repr(low))), Fraction(repr(high)))


def _short(number: float) -> str:
    return _plain(number, 3)


def share_text(mass: float) -> str:
    """Write a probability in per cent.

    >>> share_text(0.00135), share_text(1e-30)
    ('0.135 %', 'less than 0.0001 %')
    """
    return f"{100 * mass:.3g} %" if mass >= 1e-6 else "less than 0.0001 %"


def round_numbers(
    numbers: Sequence[float], decimals: int, ends: tuple[float, float]
) -> list[float] | None:
    """Round ascending numbers, each to one of its own, as near as there is one between the ends.

    None if there are fewer numbers of so many decimals there. Without decimals they are integers.

    >>> round_numbers([17.2, 28.51217, 28.6, 90], 0, (17, 90))
    [17, 28, 29, 90]
    >>> round_numbers([0.2, 0.5, 0.8], 0, (0, 1)) is None
    True
    """
    unit = 10**decimals
    low = math.ceil(Fraction(repr(float(ends[0]))) * unit)
    high = math.floor(Fraction(repr(float(ends[1]))) * unit)
    last = len(numbers) - 1
    if high - low < last:
        return None
    # What is nearest and still ascends, if the i-th may not be less than i above the first: where
    # neighbours clash they move together (pool adjacent violators).
    pools: list[tuple[Fraction, int]] = []
    for place, number in enumerate(numbers):
        pools.append((Fraction(repr(float(number))) * unit - place, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            (total, size), (before, more) = pools.pop(), pools.pop()
            pools.append((total + before, size + more))
    shifts = [round(total / size) for total, size in pools for _ in range(size)]
    found = [
        min(max(shift + place, low + place), high - last + place)
        for place, shift in enumerate(shifts)
    ]
    if not decimals:
        return list(found)
    labels = [float(Fraction(number, unit)) for number in found]
    return labels if len(set(labels)) == len(labels) else None


def number_labels(numbers: Sequence[float], step: float) -> tuple[list[float], list[Fraction]]:
    """Round numbers to a thousandth of a step; return them as labels and as exact coordinates.

    Numbers that would become equal are told apart by more digits.
    """
    scale = math.floor(math.log10(step)) - 3 if step > 0 else -6
    largest = max(abs(number) for number in numbers) or 1.0
    # Beyond the digits of a float there is nothing left to round.
    while scale > math.floor(math.log10(largest)) - 20:
        unit = Decimal(1).scaleb(scale)
        exact = [Decimal(repr(float(number))).quantize(unit) for number in numbers]
        labels = [float(number) for number in exact]
        if len(set(labels)) == len({float(number) for number in numbers}):
            return labels, [Fraction(number) for number in exact]
        scale -= 1
    return [float(number) for number in numbers], [Fraction(repr(float(n))) for n in numbers]
