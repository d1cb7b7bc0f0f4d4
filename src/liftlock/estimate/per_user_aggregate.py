"""What the reports of users with a prior each add up to: all that an estimate needs of them.

The numbers are exact integers, and squares that were rounded user by user, so aggregates of parts
may be merged in any order, on any machine, to the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError
from liftlock.exact.accumulation import added, column_sums, exact_sum
from liftlock.exact.encoding import fraction_text, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.forms import UserChannel
from liftlock.forms.user_blocks import UserBlock
from liftlock.forms.user_channel import FINE_BITS, POSTERIOR_BITS
from liftlock.per_user import PerUserPriors
from liftlock.prior import integers_from_json
from liftlock.storage import Stored

_UNITS = {
    "posteriors": POSTERIOR_BITS,
    "squares": FINE_BITS,
    "priors": 32,
    "spreads": FINE_BITS,
    "reaches": 32,
}

_PIECE = 1 << 16
"""So many users, and another block, add up to less than 2^63 units of anything."""


@dataclass(frozen=True)
class PerUserAggregate(Stored):
    """Sums over users, for each symbol: what an estimate computes from.

    `posteriors` adds up P_i(x | report) in units of 2^-64 and `squares` their squares in units of
    2^-42, `priors` the masses P_i(x) in units of 2^-32 and `spreads` the variances that the
    posteriors have under the priors, in units of 2^-42. `reaches` is not a sum: no posterior of
    anybody can be farther from the prior, in units of 2^-32. `asked` has the sums of a question
    that these do not answer.
    """

    FORMAT: ClassVar[str] = "liftlock.local-aggregate"
    VERSION: ClassVar[int] = 1
    COMPACT: ClassVar[bool] = True

    mechanism: str
    """The fingerprint of the mechanism."""
    reports: int
    posteriors: tuple[int, ...]
    squares: tuple[int, ...]
    priors: tuple[int, ...]
    spreads: tuple[int, ...]
    reaches: tuple[int, ...]
    asked: WeightedSums | None = None

    @classmethod
    def none(cls, mechanism: str, symbols: int) -> PerUserAggregate:
        """Return the sum of no reports, to which others can be added."""
        nothing = (0,) * symbols
        return cls(mechanism, 0, nothing, nothing, nothing, nothing, nothing)

    def __add__(self, other: PerUserAggregate) -> PerUserAggregate:
        if not isinstance(other, PerUserAggregate):
            return NotImplemented
        if other.mechanism != self.mechanism or len(other.squares) != len(self.squares):
            raise InputError(
                "aggregates of reports from different mechanisms",
                value=f"{other.mechanism[:16]} and {self.mechanism[:16]}",
                remedy="estimate from each by itself; nothing was added",
            )
        if not self.reports or not other.reports:
            return self if self.reports else other
        if (self.asked is None) != (other.asked is None):
            raise InputError(
                "aggregates for different questions",
                remedy="aggregate all reports with the same question; nothing was added",
            )
        asked = None
        if self.asked is not None and other.asked is not None:
            asked = self.asked + other.asked
        return PerUserAggregate(
            self.mechanism,
            self.reports + other.reports,
            _added(self.posteriors, other.posteriors),
            _added(self.squares, other.squares),
            _added(self.priors, other.priors),
            _added(self.spreads, other.spreads),
            tuple(max(pair) for pair in zip(self.reaches, other.reaches, strict=True)),
            asked,
        )

    def __len__(self) -> int:
        return self.reports

    def floats(self, name: str) -> Floats:
        """Return posteriors, squares, priors, spreads or reaches as floats."""
        scale = 1 << _UNITS[name]
        return np.array([float(Fraction(value, scale)) for value in getattr(self, name)])

    def variances(self) -> Floats:
        """Return the sum of P_i(x | report) (1 - P_i(x | report)) for each symbol."""
        coarse = POSTERIOR_BITS - FINE_BITS
        pairs = zip(self.posteriors, self.squares, strict=True)
        exact = [Fraction(max(a - (b << coarse), 0), 1 << POSTERIOR_BITS) for a, b in pairs]
        return np.array([float(value) for value in exact])

    # --- files ----------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""
        data: dict[str, Any] = {
            "mechanism": self.mechanism,
            "reports": integer_to_json(self.reports),
        }
        for name in _UNITS:
            data[name] = [integer_to_json(value) for value in getattr(self, name)]
        if self.asked is not None:
            data["asked"] = self.asked.to_data()
        return data

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> PerUserAggregate:
        """Read the content; sums that cannot be are refused."""
        mechanism = str(data["mechanism"])
        (reports,) = integers_from_json([data["reports"]], "reports")
        sums = {name: integers_from_json(data[name], name) for name in _UNITS}
        symbols = len(sums["posteriors"])
        told = data.get("asked")
        asked = None if told is None else WeightedSums.from_data(told, symbols)
        if (
            reports < 0
            or any(len(row) != symbols or min(row, default=-1) < 0 for row in sums.values())
            or sum(sums["posteriors"]) != reports << POSTERIOR_BITS
            or sum(sums["priors"]) != reports << 32
        ):
            raise FileError("sums that cannot be", remedy="aggregate the reports again")
        return cls(mechanism, reports, **sums, asked=asked)


@dataclass(frozen=True)
class WeightedSums:
    """The exact sums of one question: `columns` has the numbers f(x) of each answer.

    A report of user i adds a_i E[f(X_i) | report] + b_i to the answer and a_i^2 Var[f(X_i) |
    report] to its squared error. Each of these is one float that depends on the user alone; their
    sums are exact. For a histogram `columns` is None, and there is an answer for each symbol.

    Source: 001 Prop. 2, eq. (14).
    """

    columns: tuple[tuple[float, ...], ...] | None
    sums: tuple[Fraction, ...]
    variances: tuple[Fraction, ...]
    weight: Fraction
    offset: Fraction
    weighted: bool

    @classmethod
    def of(
        cls,
        columns: tuple[tuple[float, ...], ...] | None,
        means: Floats,
        variances: Floats,
        weights: Floats | None,
        offsets: Floats | None,
    ) -> WeightedSums:
        """Add up means and variances, a row for each user and a column for each answer."""
        with np.errstate(over="ignore", invalid="ignore"):
            if weights is not None:
                means = means * weights[:, None]
                variances = variances * np.square(weights)[:, None]
        if not (np.isfinite(means).all() and np.isfinite(variances).all()):
            raise InputError(
                "numbers too large to be weighted and squared",
                remedy="measure in another unit; nothing was counted",
            )
        return cls(
            columns,
            column_sums(means),
            column_sums(variances),
            Fraction(len(means)) if weights is None else exact_sum(weights),
            Fraction(0) if offsets is None else exact_sum(offsets),
            weights is not None or offsets is not None,
        )

    def __add__(self, other: WeightedSums) -> WeightedSums:
        if other.columns != self.columns or other.weighted != self.weighted:
            raise InputError(
                "aggregates for different questions",
                remedy="aggregate all reports with the same question, weighted or not; nothing was "
                "added",
            )
        return WeightedSums(
            self.columns,
            added(self.sums, other.sums),
            added(self.variances, other.variances),
            self.weight + other.weight,
            self.offset + other.offset,
            self.weighted,
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "columns": None if self.columns is None else [list(row) for row in self.columns],
            "sums": [fraction_text(value) for value in self.sums],
            "variances": [fraction_text(value) for value in self.variances],
            "weight": fraction_text(self.weight),
            "offset": fraction_text(self.offset),
            "weighted": self.weighted,
        }

    @classmethod
    def from_data(cls, data: Any, symbols: int) -> WeightedSums:
        """Read the JSON form."""
        told = data["columns"]
        columns = None
        if told is not None:
            columns = tuple(tuple(float(value) for value in column) for column in told)
        sums = tuple(exact(value, name="sums") for value in data["sums"])
        variances = tuple(exact(value, name="variances") for value in data["variances"])
        weighted = data["weighted"]
        if (
            not len(sums) == len(variances) == (symbols if columns is None else len(columns))
            or any(len(column) != symbols for column in columns or ())
            or not all(math.isfinite(value) for column in columns or () for value in column)
            or min(variances, default=Fraction(0)) < 0
            or not isinstance(weighted, bool)
        ):
            raise FileError("sums that cannot be", remedy="aggregate the reports again")
        weight, offset = exact(data["weight"], name="weight"), exact(data["offset"], name="offset")
        return cls(columns, sums, variances, weight, offset, weighted)


@dataclass(frozen=True, eq=False)
class Gathering:
    """How reports are added up: through which channel, and for which question."""

    mechanism: str
    channel: UserChannel
    asking: bool
    """Whether the sums over posteriors, without weights, do not answer the question."""
    columns: Floats | None
    """A row of numbers f(x) for each answer; None for a histogram."""

    def gathered(
        self,
        priors: PerUserPriors,
        reports: npt.NDArray[Any],
        weights: Floats | None,
        offsets: Floats | None,
    ) -> PerUserAggregate:
        """Add up the reports of all users."""
        total = PerUserAggregate.none(self.mechanism, len(self.channel.inputs))
        open_pieces: dict[int, _Piece] = {}
        for block in self.channel.blocks(priors):
            piece = open_pieces.setdefault(block.level, _Piece(self, block.level))
            piece.add(block, reports, weights, offsets)
            if piece.users >= _PIECE:
                total += open_pieces.pop(block.level).done()
        for piece in open_pieces.values():
            total += piece.done()
        return total

    @cached_property
    def asked_columns(self) -> tuple[tuple[float, ...], ...] | None:
        if self.columns is None:
            return None
        return tuple(tuple(column) for column in self.columns.tolist())

    def moments(self, posteriors: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance of each answer under each user's posterior."""
        from liftlock.forms.per_user_kernels import moments

        if self.columns is None:
            return posteriors, posteriors * (1.0 - posteriors)
        means, variances = (np.empty((len(posteriors), len(self.columns))) for _ in range(2))
        moments(posteriors, self.columns, means, variances)
        return means, variances


@dataclass(eq=False)
class _Piece:
    """Users who share a law, as many as fit into sums of 64 bits."""

    gathering: Gathering
    level: int
    users: int = 0
    totals: npt.NDArray[np.int64] = field(init=False)
    means: list[Floats] = field(default_factory=list)
    variances: list[Floats] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    offsets: list[Floats] = field(default_factory=list)

    def __post_init__(self) -> None:
        channel = self.gathering.channel
        self.totals = np.zeros((channel.rows, len(channel.inputs)), dtype=np.int64)

    def add(
        self,
        block: UserBlock,
        reports: npt.NDArray[Any],
        weights: Floats | None,
        offsets: Floats | None,
    ) -> None:
        """Add up the reports of a block."""
        channel = self.gathering.channel
        said = reports[block.places]
        channel.add(block, said, self.totals)
        self.users += len(block)
        if not self.gathering.asking:
            return
        found = np.empty(block.counts.shape)
        channel.posteriors(block, said, found)
        means, variances = self.gathering.moments(found)
        self.means.append(means)
        self.variances.append(variances)
        if weights is not None:
            self.weights.append(weights[block.places])
        if offsets is not None:
            self.offsets.append(offsets[block.places])

    def done(self) -> PerUserAggregate:
        """Return the sums as an aggregate."""
        asked = None
        if self.gathering.asking:
            asked = WeightedSums.of(
                self.gathering.asked_columns,
                np.concatenate(self.means),
                np.concatenate(self.variances),
                np.concatenate(self.weights) if self.weights else None,
                np.concatenate(self.offsets) if self.offsets else None,
            )
        sums = self.gathering.channel.sums(self.level, self.totals)
        posteriors, squares, priors, spreads, reaches = map(tuple, sums)
        return PerUserAggregate(
            self.gathering.mechanism,
            self.users,
            posteriors,
            squares,
            priors,
            spreads,
            reaches,
            asked,
        )


def _added(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
