"""What the reports of users with a prior each add up to: all that an estimate needs of them.

The numbers are exact integers, and squares that were rounded user by user, so aggregates of parts
may be merged in any order, on any machine, to the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock._runtime.storage import StoredObject
from liftlock.errors import FileError, InputError
from liftlock.estimate.aggregate import BaseAggregate, require_reports
from liftlock.estimate.question import Question
from liftlock.estimate.user_scores import (
    ScoreClass,
    ScoreTally,
    merge_classes,
    read_classes,
)
from liftlock.estimate.weights import column_of, numbers_each
from liftlock.exact.accumulation import add_exact, column_sums, exact_sum
from liftlock.exact.fingerprint import fingerprint, fraction_text, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model import PerUserPriors
from liftlock.model.prior import integers_from_json
from liftlock.model.structured import UserChannel
from liftlock.model.structured.user_blocks import UserBlock
from liftlock.model.structured.user_channel import FINE_BITS, POSTERIOR_BITS

UNITS = {
    "posteriors": POSTERIOR_BITS,
    "squares": FINE_BITS,
    "priors": 32,
    "spreads": FINE_BITS,
    "reaches": 32,
}
"""Which sums there are for each symbol, and in units of which power of 1/2."""

_PIECE = 1 << 16
"""So many users, and another block, add up to less than 2^63 units of anything."""


@dataclass(frozen=True)
class PerUserAggregate(BaseAggregate, StoredObject):
    """Sums over users, for each symbol: what an estimate computes from.

    `posteriors` adds up P_i(x | report) in units of 2^-64 and `squares` their squares in units of
    2^-42, `priors` the masses P_i(x) in units of 2^-32 and `spreads` the variances that the
    posteriors have under the priors, in units of 2^-42. `reaches` is not a sum: no posterior of
    anybody can be farther from the prior, in units of 2^-32. `asked` has the sums of a question
    that these do not answer. `scores` has the sums that lean on no prior, by class of users; None
    if an earlier version of the library wrote the file, or there are too many symbols.
    """

    FORMAT: ClassVar[str] = "liftlock.local-aggregate"
    VERSION: ClassVar[int] = 1
    COMPACT: ClassVar[bool] = True

    channel: str
    reports: int
    posteriors: tuple[int, ...]
    squares: tuple[int, ...]
    priors: tuple[int, ...]
    spreads: tuple[int, ...]
    reaches: tuple[int, ...]
    asked: WeightedSums | None = None
    scores: tuple[ScoreClass, ...] | None = None

    @classmethod
    def empty(cls, mechanism: str, symbols: int) -> PerUserAggregate:
        """Return the sum of no reports, to which others can be added."""
        return cls(mechanism, 0, **dict.fromkeys(UNITS, (0,) * symbols), asked=None, scores=())

    @classmethod
    def of(
        cls,
        channel: UserChannel,
        mechanism: str,
        question: Question,
        reports: Iterable[Any] | npt.NDArray[Any],
        priors: PerUserPriors,
        *,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
        coded: bool = False,
    ) -> PerUserAggregate:
        """Add up what reports say, user by user, under each user's own distribution and prior.

        `weights` and `offsets` are the a_i and b_i of the weighted sum of a_i f(X_i) + b_i. Priors
        and numbers are in the order of the reports.
        """
        column = column_of(reports)
        require_reports(len(column))
        named = channel.reports_labels and not coded
        codes = channel.inputs.encode(column) if named else np.asarray(column)
        checked = channel.check_reports(codes, priors.users)
        numbers = {
            f"{name}s": found
            for name, given in (("weight", weights), ("offset", offsets))
            if (found := numbers_each(given, len(column), name, of="user")) is not None
        }
        asked = None if question.is_single and not numbers else question
        total = cls.empty(mechanism, len(channel.inputs))
        pieces: dict[int, _PartialSums] = {}
        for block in channel.blocks(priors):
            piece = pieces.setdefault(block.level, _PartialSums(channel, block.level, asked))
            piece.add(block, checked, numbers)
            if piece.users >= _PIECE:
                total += pieces.pop(block.level).to_aggregate(mechanism, numbers)
        for piece in pieces.values():
            total += piece.to_aggregate(mechanism, numbers)
        return total

    @property
    def width(self) -> int:
        """How many symbols there are."""
        return len(self.squares)

    def _merge(self, other: PerUserAggregate) -> PerUserAggregate:
        if (self.asked is None) != (other.asked is None):
            raise InputError(
                "aggregates for different questions",
                remedy="aggregate all reports with the same question; nothing was added",
            )
        asked = None
        if self.asked is not None and other.asked is not None:
            asked = self.asked + other.asked
        sums = {
            name: tuple(
                max(pair) if name == "reaches" else sum(pair)
                for pair in zip(getattr(self, name), getattr(other, name), strict=True)
            )
            for name in UNITS
        }
        reports = self.reports + other.reports
        scores = None
        if self.scores is not None and other.scores is not None:
            scores = merge_classes([*self.scores, *other.scores])
        return PerUserAggregate(self.channel, reports, **sums, asked=asked, scores=scores)

    def floats(self, name: str) -> Floats:
        """Return posteriors, squares, priors, spreads or reaches as floats."""
        scale = 1 << UNITS[name]
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
            "mechanism": self.channel,
            "reports": integer_to_json(self.reports),
        }
        for name in UNITS:
            data[name] = [integer_to_json(value) for value in getattr(self, name)]
        if self.asked is not None:
            data["asked"] = self.asked.to_data()
        if self.scores is not None:
            data["scores"] = [each.to_data() for each in self.scores]
        return data

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> PerUserAggregate:
        """Read the content; impossible sums are refused."""
        mechanism = str(data["mechanism"])
        (reports,) = integers_from_json([data["reports"]], "reports")
        sums = {name: integers_from_json(data[name], name) for name in UNITS}
        symbols = len(sums["posteriors"])
        told = data.get("asked")
        asked = None if told is None else WeightedSums.from_data(told, symbols)
        scores = read_classes(data.get("scores"), symbols if asked is None else len(asked.sums))
        if (
            reports < 0
            or (scores is not None and sum(each.users for each in scores) != reports)
            or any(len(row) != symbols or min(row, default=-1) < 0 for row in sums.values())
            or sum(sums["posteriors"]) != reports << POSTERIOR_BITS
            or sum(sums["priors"]) != reports << 32
        ):
            raise FileError("impossible sums", remedy="aggregate the reports again")
        return cls(mechanism, reports, **sums, asked=asked, scores=scores)


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
        weights: Floats | None = None,
        offsets: Floats | None = None,
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
            add_exact(self.sums, other.sums),
            add_exact(self.variances, other.variances),
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
            raise FileError("impossible sums", remedy="aggregate the reports again")
        weight, offset = exact(data["weight"], name="weight"), exact(data["offset"], name="offset")
        return cls(columns, sums, variances, weight, offset, weighted)


@dataclass(eq=False)
class _PartialSums:
    """Users who share a distribution, as many as fit into sums of 64 bits."""

    channel: UserChannel
    level: int
    question: Question | None = None
    users: int = 0
    rows: list[list[Floats]] = field(default_factory=list)
    """What each block adds for a question: means, variances, and their weights and offsets."""

    def __post_init__(self) -> None:
        self.totals = np.zeros((self.channel.rows, len(self.channel.inputs)), dtype=np.int64)
        few = len(self.channel.inputs) <= self.channel.most_scored
        self.scores = ScoreTally.of(self.channel, self.question) if few else None

    def add(
        self, block: UserBlock, reports: npt.NDArray[Any], numbers: Mapping[str, Floats]
    ) -> None:
        """Add up the reports of a block, and the moments that a question needs."""
        posteriors, own = np.empty(block.counts.shape), reports[block.places]
        self.channel.add(block, own, posteriors, self.totals)
        self.users += len(block)
        given = {name: column[block.places] for name, column in numbers.items()}
        if self.question is not None:
            self.rows.append([*_moments(posteriors, self.question), *given.values()])
        if self.scores is not None:
            single = self.question is None
            weights = given.get("weights")
            self.scores.add(block, own, posteriors, weights, rounded=single)

    def to_aggregate(self, mechanism: str, named: Iterable[str]) -> PerUserAggregate:
        """Return the sums as an aggregate; `named` says what the numbers are."""
        asked = None
        if self.question is not None:
            means, variances, *numbers = map(np.concatenate, zip(*self.rows, strict=True))
            given = dict(zip(named, numbers, strict=True))
            asked = WeightedSums.of(answer_columns(self.question), means, variances, **given)
        found = self.channel.sums(self.level, self.totals)
        sums = {name: tuple(each) for name, each in zip(UNITS, found, strict=True)}
        scores = None if self.scores is None else self.scores.to_classes()
        return PerUserAggregate(mechanism, self.users, **sums, asked=asked, scores=scores)


def _moments(posteriors: Floats, question: Question) -> tuple[Floats, Floats]:
    """Return mean and variance of each answer under each user's posterior."""
    from liftlock.model.structured.per_user_kernels import moments

    if question.of == "histogram":
        return posteriors, posteriors * (1.0 - posteriors)
    columns = np.ascontiguousarray(question.values.T)
    means, variances = (np.empty((len(posteriors), len(columns))) for _ in range(2))
    moments(posteriors, columns, means, variances)
    return means, variances


def answer_columns(question: Question) -> tuple[tuple[float, ...], ...] | None:
    """Return the numbers f(x) of each answer; None for a histogram."""
    if question.of == "histogram":
        return None
    return tuple(tuple(column) for column in question.values.T.tolist())


def per_user_fingerprint(channel: UserChannel, guarantee: str) -> str:
    """Return the sha256 by which aggregates know the mechanism that their reports come from."""
    parts: list[Any] = ["local-mechanism", channel.inputs.to_data(), guarantee, channel.form]
    for level, limits in enumerate(channel.limits):
        if level:
            parts.append([str(budget) for budget in limits])
        parts += [[name, str(value)] for name, value in channel.integers_of(level).items()]
    return fingerprint(parts)
