"""Reports added up: small exact counts that can be merged in any order, saved, and estimated from.

An aggregate is all that an estimate needs of the reports. Its numbers are integers (and, with
weights, sums of floats without rounding), so a billion reports can be counted in parts, on many
machines, and merging the parts in any order gives the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from liftlock._runtime.storage import StoredObject
from liftlock.errors import FileError, InputError, LabelError
from liftlock.estimate.weights import Sums, Weights, column_of
from liftlock.exact.accumulation import add_exact, exact_sum, exact_sums
from liftlock.exact.fingerprint import integer_to_json
from liftlock.exact.integers import Floats
from liftlock.model.channel import Channel
from liftlock.model.prior import integers_from_json
from liftlock.model.structured import AnyChannel, SupportChannel, to_dense

_ROWS = 1 << 16
"""Packed reports are unpacked so many at a time."""


class BaseAggregate(ABC):
    """What reports add up to: merged with ``+``, in any order, to the same bits."""

    channel: str
    """The fingerprint of what made the reports: those of another one are never mixed in."""
    reports: int

    @property
    @abstractmethod
    def width(self) -> int:
        """How many outputs, or symbols, there are sums for."""

    @abstractmethod
    def _merge(self, other: Self) -> Self:
        """Return the sum with another one, neither of them empty."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        if other.channel != self.channel:
            raise InputError(
                "aggregates of reports from different mechanisms",
                value=f"{other.channel[:16]} and {self.channel[:16]}",
                remedy="estimate from each by itself; nothing was added",
            )
        if other.width != self.width:
            raise InputError(
                f"aggregates of {self.width} and {other.width} outputs",
                remedy="one of them is damaged; nothing was added",
            )
        if not self.reports or not other.reports:
            return self if self.reports else other
        return self._merge(other)

    def __radd__(self, other: object) -> Self:
        # Where sum() begins.
        return self if other == 0 and isinstance(other, int) else NotImplemented

    def __len__(self) -> int:
        return self.reports

    def require_channel(self, fingerprint: str) -> None:
        """Refuse an aggregate of reports that something else made."""
        if self.channel != fingerprint:
            raise InputError(
                "the reports come from another mechanism",
                value=f"{self.channel[:16]} instead of {fingerprint[:16]}",
                remedy="use the mechanism that released them",
            )


@dataclass(frozen=True)
class Aggregate(BaseAggregate, StoredObject):
    """How often each output of a channel was reported; for encodings, how often supported.

    >>> answers = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
    >>> monday = Aggregate.of(answers, [0, 1, 1])
    >>> (monday + Aggregate.of(answers, [0])).counts
    (2, 2)
    """

    FORMAT: ClassVar[str] = "liftlock.aggregate"
    VERSION: ClassVar[int] = 1
    COMPACT: ClassVar[bool] = True

    channel: str
    counts: tuple[int, ...]
    reports: int
    weights: Weights | None = None

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def empty(cls, channel: AnyChannel) -> Aggregate:
        """Return the aggregate of no reports: where adding up in parts begins."""
        return cls(channel.fingerprint, (0,) * _width(channel), 0)

    @classmethod
    def of(
        cls,
        channel: AnyChannel,
        reports: Iterable[Any] | npt.NDArray[Any],
        *,
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
    ) -> Aggregate:
        """Count reports: outputs by name, or the packed rows of an encoding.

        `weights` and `offsets` give each report its a_i and b_i, or one number for all of them.
        Everything is checked before anything is counted.
        """
        _width(channel)
        if isinstance(channel, SupportChannel):
            packed = channel.check_reports(np.asarray(reports))
            return cls._of_packed(channel, packed, weights, offsets)
        table = to_dense(channel)
        try:
            codes = table.outputs.encode(column_of(reports))
        except LabelError as error:
            raise LabelError(
                "the report is not an output of the channel",
                where=error.where.replace("value", "report"),
                value=error.value,
                remedy=f"{error.remedy}; nothing was counted".replace("known labels", "outputs"),
            ) from None
        return cls.of_codes(table, codes, weights, offsets)

    @classmethod
    def of_codes(
        cls,
        channel: Channel,
        codes: npt.NDArray[np.integer[Any]],
        weights: npt.ArrayLike | None = None,
        offsets: npt.ArrayLike | None = None,
    ) -> Aggregate:
        """Count reports that are given as positions in the output alphabet."""
        if codes.ndim != 1 or codes.dtype.kind not in "iu":
            raise InputError(
                "codes are not a column of whole numbers",
                value=f"{codes.ndim} dimensions of {codes.dtype}",
                remedy="give positions in the output alphabet",
            )
        require_reports(len(codes))
        size = len(channel.outputs)
        wrong = (codes < 0) | (codes >= size)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise InputError(
                "report outside the output alphabet",
                where=f"report {place + 1}",
                value=int(codes[place]),
                remedy=f"codes are 0 to {size - 1}; nothing was counted",
            )
        never = ~(channel.weights > 0).any(axis=0)
        counted = np.bincount(codes, minlength=size)
        if (counted[never] > 0).any():
            output = int(np.flatnonzero(never & (counted > 0))[0])
            raise InputError(
                "the report has probability 0 under the channel",
                where=f"report {int(np.argmax(codes == output)) + 1}",
                value=channel.outputs.labels[output],
                remedy="check that the report is from this mechanism; nothing was counted",
            )

        def add(*columns: Floats) -> tuple[Sums, Sums]:
            places = codes.astype(np.intp)
            one, other = (exact_sums(column, places, size) for column in columns)
            return (*one, sum(one, Fraction(0))), (*other, sum(other, Fraction(0)))

        plain = weights is None and offsets is None
        weighed = None if plain else Weights.of(len(codes), weights, offsets, add)
        return cls(channel.fingerprint, tuple(counted.tolist()), len(codes), weighed)

    @classmethod
    def _of_packed(
        cls,
        channel: SupportChannel,
        packed: npt.NDArray[np.uint8],
        weights: npt.ArrayLike | None,
        offsets: npt.ArrayLike | None,
    ) -> Aggregate:
        require_reports(len(packed))
        size = len(channel.inputs)

        def add(*columns: Floats) -> tuple[Sums, Sums]:
            one, other = ((Fraction(0),) * size for _ in columns)
            for start in range(0, len(packed), _ROWS):
                some = slice(start, start + _ROWS)
                owners, symbols = np.nonzero(channel.support_matrix(packed[some]))
                first, second = (column[some][owners] for column in columns)
                one = add_exact(one, exact_sums(first, symbols, size))
                other = add_exact(other, exact_sums(second, symbols, size))
            whole, rest = map(exact_sum, columns)
            return (*one, whole), (*other, rest)

        plain = weights is None and offsets is None
        weighed = None if plain else Weights.of(len(packed), weights, offsets, add)
        counts = tuple(int(count) for count in channel.count_support(packed))
        return cls(channel.fingerprint, counts, len(packed), weighed)

    @classmethod
    def from_batches(cls, channel: AnyChannel, batches: Iterable[Any]) -> Aggregate:
        """Count batch after batch, so that all reports are never in memory at once.

        >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> Aggregate.from_batches(coin, ([0, 1] for _ in range(1000))).counts
        (1000, 1000)
        """
        total = cls.empty(channel)
        for batch in batches:
            total += cls.of(channel, batch)
        return total

    @property
    def width(self) -> int:
        """How many counts there are."""
        return len(self.counts)

    def _merge(self, other: Aggregate) -> Aggregate:
        if (self.weights is None) != (other.weights is None):
            raise InputError(
                "one aggregate has weights and the other has none",
                remedy="give weights to all reports (1 for those without), or to none",
            )
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        weighed = self.weights
        if weighed is not None and other.weights is not None:
            weighed = weighed + other.weights
        return Aggregate(self.channel, counts, self.reports + other.reports, weighed)

    # --- looking at it --------------------------------------------------------------------------

    def check_channel(self, channel: AnyChannel) -> Aggregate:
        """Refuse an aggregate that is empty, or of reports from another channel."""
        self.require_channel(channel.fingerprint)
        require_reports(self.reports)
        one_each = isinstance(channel, Channel)
        if self.width != _width(channel) or (one_each and sum(self.counts) != self.reports):
            raise InputError(
                "the counts do not fit the outputs of the mechanism",
                value=f"{self.width} counts of {self.reports} reports",
                remedy="the aggregate is damaged: count the reports again",
            )
        return self

    def floats(self) -> Floats:
        """Return the counts as float64."""
        return np.array([float(count) for count in self.counts])

    def amounts(self) -> Floats:
        """Return the sum of weights of each output: the counts, if there are no weights."""
        if self.weights is None:
            return self.floats()
        return np.array([float(value) for value in self.weights.sums])

    def squares(self) -> Floats:
        """Return the sum of squared weights of each output: the counts, without weights."""
        if self.weights is None:
            return self.floats()
        return np.array([float(value) for value in self.weights.squares])

    @property
    def total(self) -> float:
        """The sum of all weights: the number of reports, without weights."""
        return float(self.reports if self.weights is None else self.weights.total)

    @property
    def weighted(self) -> bool:
        """Whether reports have weights."""
        return self.weights is not None

    @property
    def signed(self) -> bool:
        """Whether some weight is negative."""
        return self.weights is not None and self.weights.least < 0

    @property
    def total_squares(self) -> float:
        """The sum of all squared weights."""
        return float(self.reports if self.weights is None else self.weights.total_squares)

    @property
    def offset(self) -> float:
        """The sum of all offsets."""
        return 0.0 if self.weights is None else float(self.weights.offset)

    # --- files ----------------------------------------------------------------------------------

    def content(self) -> dict[str, Any]:
        """Return the JSON form without format and version."""
        data: dict[str, Any] = {
            "channel": self.channel,
            "reports": integer_to_json(self.reports),
            "counts": [integer_to_json(count) for count in self.counts],
        }
        if self.weights is not None:
            data["weights"] = self.weights.to_data()
        return data

    @classmethod
    def from_content(cls, data: dict[str, Any]) -> Aggregate:
        """Read the content."""
        counts = integers_from_json(data["counts"], "counts")
        (reports,) = integers_from_json([data["reports"]], "reports")
        channel = str(data["channel"])
        told = data.get("weights")
        weights = None if told is None else Weights.from_data(told)
        if min(counts, default=0) < 0 or reports < max(counts, default=0):
            raise FileError("impossible counts", remedy="count the reports again")
        if weights is not None and len(weights.sums) != len(counts):
            raise FileError("weights for other outputs", remedy="count the reports again")
        return cls(channel, counts, reports, weights)


def _width(channel: AnyChannel) -> int:
    if not isinstance(channel, Channel | SupportChannel):
        raise InputError(
            "not a channel",
            value=type(channel).__name__,
            remedy="give a mechanism's channel, or use its methods aggregate and gathered",
        )
    return len(channel.inputs if isinstance(channel, SupportChannel) else channel.outputs)


def require_reports(number: int) -> None:
    """Refuse to count no reports."""
    if number == 0:
        raise InputError("no reports", remedy="give at least one; nothing was counted")
