"""Reports added up: small exact counts that can be merged in any order, saved, and estimated from.

An aggregate is all that an estimate needs of the reports. Its numbers are integers (and, with
weights, sums of floats without rounding), so a billion reports can be counted in parts, on many
machines, and merging the parts in any order gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.channel import Channel
from liftlock.contexts.prior import integers_from_json
from liftlock.errors import FileError, InputError, LabelError
from liftlock.exact.accumulation import added, exact_sum, exact_sums
from liftlock.exact.encoding import fraction_text, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.forms import AnyChannel, SupportChannel, dense
from liftlock.storage import Stored

_WHOLE = ("total", "total_squares", "offset", "least")
"""The parts of weights that are one number, as files name them."""

_ROWS = 1 << 16
"""Packed reports are unpacked so many at a time."""


@dataclass(frozen=True)
class Weights:
    """What weighted reports add up to: a_i and a_i^2 by output, all a_i, and the offsets b_i.

    The squares are floats that were rounded one by one; all sums are exact. `least` is the smallest
    a_i: where none is negative, every sum of weights is at least 0.
    """

    sums: tuple[Fraction, ...]
    squares: tuple[Fraction, ...]
    total: Fraction
    total_squares: Fraction
    offset: Fraction
    least: Fraction

    def __add__(self, other: Weights) -> Weights:
        return Weights(
            added(self.sums, other.sums),
            added(self.squares, other.squares),
            self.total + other.total,
            self.total_squares + other.total_squares,
            self.offset + other.offset,
            min(self.least, other.least),
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "sums": [fraction_text(value) for value in self.sums],
            "squares": [fraction_text(value) for value in self.squares],
            "total": fraction_text(self.total),
            "total_squares": fraction_text(self.total_squares),
            "offset": fraction_text(self.offset),
            "least": fraction_text(self.least),
        }

    @classmethod
    def from_data(cls, data: Any) -> Weights:
        """Read the JSON form."""
        sums = tuple(exact(value, name="sums") for value in data["sums"])
        squares = tuple(exact(value, name="squares") for value in data["squares"])
        rest = (exact(data[key], name=key) for key in _WHOLE)
        if len(squares) != len(sums) or min(squares, default=0) < 0:
            raise FileError("the squares of weights do not fit their sums")
        return cls(sums, squares, *rest)


@dataclass(frozen=True)
class Aggregate(Stored):
    """How often each output of a channel was reported; for encodings, how often supported.

    `channel` is the fingerprint of the channel that made the reports: reports of another one are
    never mixed in. Aggregates of the same channel are merged with ``+``.

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
    def none(cls, channel: AnyChannel) -> Aggregate:
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
            packed = channel.checked(np.asarray(reports))
            return cls._of_packed(channel, packed, weights, offsets)
        table = dense(channel)
        try:
            codes = table.outputs.encode(column_of(reports))
        except LabelError as error:
            raise LabelError(
                "a report that is no output of the channel",
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
        refuse_empty(len(codes))
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
                "a report that the channel can never give",
                where=f"report {int(np.argmax(codes == output)) + 1}",
                value=channel.outputs.labels[output],
                remedy="is it the report of another mechanism? nothing was counted",
            )
        numbers = numbers_each(weights, len(codes), "weight")
        shifts = numbers_each(offsets, len(codes), "offset")
        weighed = None
        if numbers is not None or shifts is not None:
            ones = np.ones(len(codes)) if numbers is None else numbers
            places = codes.astype(np.intp)
            sums = exact_sums(ones, places, size)
            squares = exact_sums(_squared(ones), places, size)
            weighed = Weights(
                sums,
                squares,
                sum(sums, Fraction(0)),
                sum(squares, Fraction(0)),
                Fraction(0) if shifts is None else exact_sum(shifts),
                Fraction(float(ones.min())),
            )
        return cls(channel.fingerprint, tuple(counted.tolist()), len(codes), weighed)

    @classmethod
    def _of_packed(
        cls,
        channel: SupportChannel,
        packed: npt.NDArray[np.uint8],
        weights: npt.ArrayLike | None,
        offsets: npt.ArrayLike | None,
    ) -> Aggregate:
        refuse_empty(len(packed))
        numbers = numbers_each(weights, len(packed), "weight")
        shifts = numbers_each(offsets, len(packed), "offset")
        counts = tuple(int(count) for count in channel.support(packed))
        weighed = None
        if numbers is not None or shifts is not None:
            ones = np.ones(len(packed)) if numbers is None else numbers
            squared = _squared(ones)
            nothing = (Fraction(0),) * len(counts)
            sums, squares = nothing, nothing
            for start in range(0, len(packed), _ROWS):
                some = slice(start, start + _ROWS)
                owners, symbols = np.nonzero(channel.supported(packed[some]))
                sums = added(sums, exact_sums(ones[some][owners], symbols, len(counts)))
                squares = added(squares, exact_sums(squared[some][owners], symbols, len(counts)))
            weighed = Weights(
                sums,
                squares,
                exact_sum(ones),
                exact_sum(squared),
                Fraction(0) if shifts is None else exact_sum(shifts),
                Fraction(float(ones.min())),
            )
        return cls(channel.fingerprint, counts, len(packed), weighed)

    @classmethod
    def gathered(cls, channel: AnyChannel, batches: Iterable[Any]) -> Aggregate:
        """Count batch after batch, so that all reports are never in memory at once.

        >>> coin = Channel.from_rows({0: {0: "3/4", 1: "1/4"}, 1: {0: "1/4", 1: "3/4"}})
        >>> Aggregate.gathered(coin, ([0, 1] for _ in range(1000))).counts
        (1000, 1000)
        """
        total = cls.none(channel)
        for batch in batches:
            total += cls.of(channel, batch)
        return total

    def __add__(self, other: Aggregate) -> Aggregate:
        if not isinstance(other, Aggregate):
            return NotImplemented
        if other.channel != self.channel:
            raise InputError(
                "aggregates of reports from different mechanisms",
                value=f"{other.channel[:16]} and {self.channel[:16]}",
                remedy="estimate from each by itself; nothing was added",
            )
        if len(other.counts) != len(self.counts):
            raise InputError(
                f"aggregates of {len(self.counts)} and {len(other.counts)} outputs",
                remedy="one of them is damaged; nothing was added",
            )
        if self.reports == 0:
            return other
        if other.reports == 0:
            return self
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

    def __radd__(self, other: object) -> Aggregate:
        # Where sum() begins.
        return self if other == 0 and isinstance(other, int) else NotImplemented

    # --- looking at it --------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.reports

    def checked(self, channel: AnyChannel) -> Aggregate:
        """Refuse an aggregate that is empty, or of reports from another channel."""
        if self.channel != channel.fingerprint:
            raise InputError(
                "the reports come from another mechanism",
                value=f"{self.channel[:16]} instead of {channel.fingerprint[:16]}",
                remedy="use the mechanism that released them",
            )
        refuse_empty(self.reports)
        one_each = isinstance(channel, Channel)
        if len(self.counts) != _width(channel) or (one_each and sum(self.counts) != self.reports):
            raise InputError(
                "counts that do not fit the outputs of the mechanism",
                value=f"{len(self.counts)} counts of {self.reports} reports",
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
            raise FileError("counts that cannot be", remedy="count the reports again")
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


def column_of(reports: Iterable[Any] | npt.NDArray[Any]) -> Sequence[Any] | npt.NDArray[Any]:
    """Return reports as a column, or refuse what is none."""
    if isinstance(reports, str | bytes):
        raise InputError(
            "one text instead of a column of reports", value=reports, remedy="put it in a list"
        )
    if not isinstance(reports, Iterable):
        raise InputError(
            "not a column of reports", value=type(reports).__name__, remedy="give a list of them"
        )
    return reports if isinstance(reports, np.ndarray | Sequence) else list(reports)


def refuse_empty(number: int) -> None:
    """Refuse to count no reports."""
    if number == 0:
        raise InputError("no reports", remedy="give at least one; nothing was counted")


def _squared(numbers: Floats) -> Floats:
    with np.errstate(over="ignore"):
        squared: Floats = np.square(numbers)
    if not np.isfinite(squared).all():
        place = int(np.argmax(~np.isfinite(squared)))
        raise InputError(
            "a weight is too large to be squared",
            where=f"report {place + 1}",
            value=float(numbers[place]),
            remedy="measure in another unit; nothing was counted",
        )
    return squared


def numbers_each(
    given: npt.ArrayLike | None, number: int, name: str, of: str = "report"
) -> Floats | None:
    """Return one finite float for each report, or refuse with the place of what is not one.

    >>> numbers_each([1, "2"], 2, "weight").tolist()
    [1.0, 2.0]
    """
    if given is None:
        return None
    try:
        array = np.asarray(given)
        if array.dtype.kind in "bc":
            raise TypeError
        numbers = array.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}s are not numbers", remedy=f"give one {name} for each {of}"
        ) from None
    if numbers.ndim == 0:
        numbers = np.full(number, float(numbers))
    if numbers.shape != (number,):
        raise InputError(
            f"{name}s of shape {numbers.shape} for {number} {of}s",
            remedy=f"give one {name} for each {of}; nothing was counted",
        )
    if not np.isfinite(numbers).all():
        place = int(np.argmax(~np.isfinite(numbers)))
        raise InputError(
            f"{name} is not a finite number",
            where=f"{of} {place + 1}",
            value=float(numbers[place]),
            remedy="correct it; nothing was counted",
        )
    return numbers
