"""Local hashing: a hash function of one's own, and randomised response on its few buckets.

The hash functions (the specification; `bucket` below is the same in Python)::

    symbols are numbered from 0 and at most 2^16 many
    a, b    = two uniform numbers of 16 bits: the seed
    v       = a * x + b  in the field of 2^16 elements, polynomial x^16 + x^5 + x^3 + x + 1
              (multiplication without carries, reduced by 0x1002B; addition is exclusive or)
    bucket  = (v * g) >> 16

For two different symbols, the pair of their values v is uniform on all 2^32 pairs, exactly. So two
symbols share a bucket with a probability that is known as a rational number, and frequencies
estimated with it are unbiased, not nearly unbiased.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, RowError
from liftlock.exact.budget import Budget
from liftlock.exact.rounding import DEFAULT_BITS
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.per_user import read_alphabet
from liftlock.model.structured.support_channel import Counts, Reports, SupportChannel

FIELD_BITS = 16
POLYNOMIAL = 0x1002B
MOST_SYMBOLS = 1 << FIELD_BITS

_CELLS_AT_ONCE = 1 << 20


def multiply(a: int, x: int) -> int:
    """Multiply in the field of 2^16 elements.

    >>> multiply(0x8000, 2) == POLYNOMIAL ^ 0x10000
    True
    """
    product = 0
    while x:
        if x & 1:
            product ^= a
        a <<= 1
        if a >> FIELD_BITS:
            a ^= POLYNOMIAL
        x >>= 1
    return product


def bucket(a: int, b: int, x: int, buckets: int) -> int:
    """Return the bucket of symbol number x under the seed (a, b): the specification of hashing.

    >>> [bucket(1, 0, x << 14, 4) for x in range(4)]
    [0, 1, 2, 3]
    """
    return ((multiply(a, x) ^ b) * buckets) >> FIELD_BITS


@dataclass(frozen=True, eq=False)
class HashingChannel(SupportChannel):
    """A uniform hash to g buckets, then randomised response on the bucket.

        P(own bucket) = own / 2^bits,    P(each other bucket) = other / 2^bits,
        own = 2^bits - (g - 1) other

    The likelihoods stand in the proportion own : other, which is the exact LDP ratio. A report is
    the seed, two times two bytes, little end first, then the bucket in one byte, or two if there
    are more than 256. Lifts are proved for the worst hash function there could be, one that
    isolates the rarest symbol; one that puts it among others leaks less.

    >>> channel = HashingChannel.optimal(range(1024), Budget.of("ln 3"))
    >>> channel.buckets, round(float(channel.hit), 6), channel.report_bytes
    (4, 0.5, 5)
    """

    form: ClassVar[str] = "hashing"
    integers = ("buckets", "other")
    every_set: ClassVar[bool] = False

    inputs: Alphabet
    buckets: int
    other: int
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.buckets <= MOST_SYMBOLS:
            raise RowError(
                "number of buckets out of range",
                value=self.buckets,
                remedy=f"use 2 to {MOST_SYMBOLS} buckets",
            )
        if len(self.inputs) > MOST_SYMBOLS:
            raise InputError(
                f"{len(self.inputs):,} symbols are too many to hash",
                remedy=f"merge rare symbols into at most {MOST_SYMBOLS:,}",
            )
        if not 0 < self.other <= self.own:
            raise RowError(
                "bucket probabilities out of range",
                value=f"own {self.own}, other {self.other} of {1 << self.bits}",
                remedy="each other bucket needs a weight from 1 to 2^bits / buckets",
            )

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def optimal(
        cls,
        inputs: Iterable[Any] | Alphabet,
        budget: Budget,
        *,
        buckets: int | None = None,
        bits: int = DEFAULT_BITS,
    ) -> HashingChannel:
        """Return optimal local hashing: about E + 1 buckets, and own : other at most E : 1.

        Of the two neighbours of E + 1, the one with the smaller variance of rare frequencies.
        """
        labels = read_alphabet(inputs)
        ratio = budget.exp().lower
        most = min(MOST_SYMBOLS, 1 << bits)

        def made(number: int) -> HashingChannel:
            other = math.ceil((1 << bits) / (ratio + number - 1))
            # Rounding up must not make the other buckets likelier than one's own.
            return cls(labels, number, min(other, (1 << bits) // number), bits)

        if buckets is not None:
            return made(buckets)
        ideal = min(ratio + 1, Fraction(most))
        choices = {min(max(2, n), most) for n in (math.floor(ideal), math.ceil(ideal))}
        return min((made(n) for n in sorted(choices)), key=_variance)

    # --- the distribution -----------------------------------------------------------------------

    @property
    def own(self) -> int:
        """The weight of one's own bucket."""
        return (1 << self.bits) - (self.buckets - 1) * self.other

    @property
    def levels(self) -> tuple[int, int]:
        """The weights of one's own bucket and of each other one."""
        return self.own, self.other

    @property
    def hit(self) -> Fraction:
        """The probability to report one's own bucket."""
        return Fraction(self.own, 1 << self.bits)

    @cached_property
    def collision(self) -> Fraction:
        """The probability that two different symbols share a bucket: sum of (size / 2^16)^2."""
        small, larger = divmod(MOST_SYMBOLS, self.buckets)
        sizes = larger * (small + 1) ** 2 + (self.buckets - larger) * small**2
        return Fraction(sizes, MOST_SYMBOLS**2)

    @property
    def miss(self) -> Fraction:
        """The probability to report the bucket of a symbol that is not one's own."""
        other = Fraction(self.other, 1 << self.bits)
        return self.collision * self.hit + (1 - self.collision) * other

    @property
    def report_bytes(self) -> int:
        """Four bytes of seed and the bucket."""
        return 5 if self.buckets <= 256 else 6

    @property
    def output_number(self) -> int:
        """A report for each seed and bucket."""
        return self.buckets << (2 * FIELD_BITS)

    def soften(self, blend: Fraction) -> HashingChannel:
        """Move the weight of other buckets towards 2^bits / g."""
        most = (1 << self.bits) // self.buckets
        return replace(self, other=self.other + math.ceil(blend * (most - self.other)))

    def with_bits(self, bits: int) -> HashingChannel:
        """Round the weight of other buckets up."""
        other = math.ceil(Fraction(self.other << bits, 1 << self.bits))
        return replace(self, other=min(other, (1 << bits) // self.buckets), bits=bits)

    def to_dense(self) -> Channel:
        """Refuse: there are always too many seeds."""
        raise self.too_large_error()

    # --- reports --------------------------------------------------------------------------------

    def bucket_range(self, number: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
        """Return the first value v of each bucket, and of the one after: ceil(z 2^16 / g)."""
        z = number.astype(np.int64)
        return -((-z << FIELD_BITS) // self.buckets)

    def parts(self, reports: Reports) -> tuple[Counts, Counts, Counts]:
        """Return the seeds a and b, and the buckets, of packed reports."""
        packed = self.check_reports(reports).astype(np.int64)
        number = packed[:, 4] if self.report_bytes == 5 else packed[:, 4] | packed[:, 5] << 8
        if len(number) and number.max() >= self.buckets:
            place = int(np.argmax(number >= self.buckets))
            raise InputError(
                "no such bucket",
                where=f"report {place + 1}",
                value=int(number[place]),
                remedy=f"buckets are 0 to {self.buckets - 1}; check that the report is from this "
                "channel",
            )
        return packed[:, 0] | packed[:, 1] << 8, packed[:, 2] | packed[:, 3] << 8, number

    def pack(self, a: Counts, b: Counts, number: Counts) -> Reports:
        """Pack seeds and buckets into reports."""
        columns = [a & 255, a >> 8, b & 255, b >> 8, number & 255]
        if self.report_bytes == 6:
            columns.append(number >> 8)
        return np.stack(columns, axis=1).astype(np.uint8)

    def count_support(self, reports: Reports) -> Counts:
        """Count for each symbol how many reports name its bucket.

        >>> channel = HashingChannel.of("abc", buckets=2, other=1, bits=2)
        >>> everything = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 0, 1]], dtype=np.uint8)
        >>> channel.count_support(everything).tolist()  # a = b = 0 hashes all to bucket 0
        [1, 1, 1]
        """
        from liftlock.model.structured.kernels import count_hashes

        a, b, number = self.parts(reports)
        first = self.bucket_range(number)
        width = self.bucket_range(number + 1) - first
        counts = np.zeros(len(self.inputs), dtype=np.int64)
        count_hashes(a, b, first, width, counts)
        return counts

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Hash every symbol with the seed of every report."""
        a, b, number = self.parts(reports)
        found = np.empty((len(a), len(self.inputs)), dtype=np.bool_)
        step = max(1, _CELLS_AT_ONCE // len(self.inputs))
        for start in range(0, len(a), step):
            rows = slice(start, start + step)
            hashed = (_products(a[rows], len(self.inputs)) ^ b[rows, None]) * self.buckets
            found[rows] = hashed >> FIELD_BITS == number[rows, None]
        return found


def _products(a: Counts, symbols: int) -> Counts:
    """Return a * x in the field, for each a and each symbol number x.

    Multiplication is linear over bits: the product with x is that with x without its top bit, and
    one shifted copy of a.
    """
    products = np.zeros((len(a), symbols), dtype=np.int64)
    shifted = a.copy()
    size = 1
    while size < symbols:
        stop = min(2 * size, symbols)
        products[:, size:stop] = products[:, : stop - size] ^ shifted[:, None]
        shifted <<= 1
        shifted ^= (shifted >> FIELD_BITS) * POLYNOMIAL
        size *= 2
    return products


def _variance(channel: HashingChannel) -> float:
    hit, miss = float(channel.hit), float(channel.miss)
    return miss * (1 - miss) / (hit - miss) ** 2 if hit > miss else math.inf
