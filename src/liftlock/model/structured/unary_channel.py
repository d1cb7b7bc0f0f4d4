"""Unary encodings: one noisy bit for each symbol, without a table of 2^d outputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, RowError
from liftlock.exact.budget import Budget
from liftlock.exact.integers import as_integers
from liftlock.exact.rounding import DEFAULT_BITS
from liftlock.model.alphabet import Alphabet
from liftlock.model.channel import Channel
from liftlock.model.structured.support_channel import Counts, Reports, SupportChannel

MOST_EXPANDED = 10
"""With more symbols than this, the 2^d reports are not written out as a table."""


@dataclass(frozen=True, eq=False)
class UnaryChannel(SupportChannel):
    """One independent bit for each symbol: 1 with probability p for the true one, q for others.

        p = own / 2^bits,        q = other / 2^bits,        q <= p

    The likelihoods stand in the proportion p (1 - q) : q (1 - p), which is the exact LDP ratio.
    Bit j of a report is bit j mod 8 of byte j div 8; unused bits are 0.

    Source: 000 section V for the optimal parameters p = 1/2, q = 1 / (E + 1).

    >>> channel = UnaryChannel.optimal(range(1024), Budget.of("ln 3"))
    >>> channel.hit, channel.miss, channel.report_bytes
    (Fraction(1, 2), Fraction(1, 4), 128)
    >>> channel.levels[0] / channel.levels[1]
    3.0
    """

    form: ClassVar[str] = "unary"
    integers = ("own", "other")
    every_set: ClassVar[bool] = True

    inputs: Alphabet
    own: int
    other: int
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.other <= self.own < 1 << self.bits:
            raise RowError(
                "bit probabilities out of range",
                value=f"own {self.own}, other {self.other} of {1 << self.bits}",
                remedy="use 0 < other <= own < 2^bits; a bit that is certain reveals the value",
            )

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def optimal(
        cls, inputs: Iterable[Any] | Alphabet, budget: Budget, *, bits: int = DEFAULT_BITS
    ) -> UnaryChannel:
        """Return optimal unary encoding: p = 1/2 and q = 1 / (E + 1), rounded up."""
        total = 1 << bits
        other = math.ceil(total / (1 + budget.exp().lower))
        return cls.of(inputs, own=total // 2, other=min(other, total // 2), bits=bits)

    @classmethod
    def symmetric(
        cls, inputs: Iterable[Any] | Alphabet, budget: Budget, *, bits: int = DEFAULT_BITS
    ) -> UnaryChannel:
        """Return symmetric unary encoding: p = 1 - q and (p / q)^2 = E, q rounded up."""
        total = 1 << bits
        low, high = 0, total // 2  # the smallest allowed weight lies in (low, high]
        while high - low > 1:
            middle = (low + high) // 2
            if budget.allows(Fraction(total - middle, middle) ** 2):
                high = middle
            else:
                low = middle
        return cls.of(inputs, own=total - high, other=high, bits=bits)

    # --- the distribution -----------------------------------------------------------------------

    @property
    def levels(self) -> tuple[int, int]:
        """The products p (1 - q) and q (1 - p), over 2^(2 bits)."""
        total = 1 << self.bits
        return self.own * (total - self.other), self.other * (total - self.own)

    @property
    def hit(self) -> Fraction:
        """The probability p that the bit of the true symbol is 1."""
        return Fraction(self.own, 1 << self.bits)

    @property
    def miss(self) -> Fraction:
        """The probability q that the bit of another symbol is 1."""
        return Fraction(self.other, 1 << self.bits)

    @property
    def report_bytes(self) -> int:
        """A byte for each eight symbols."""
        return -(-len(self.inputs) // 8)

    @property
    def output_number(self) -> int | str:
        """One report for each set of symbols."""
        size = len(self.inputs)
        return 1 << size if size <= DEFAULT_BITS else f"2^{size}"

    def soften(self, blend: Fraction) -> UnaryChannel:
        """Move q towards p."""
        return replace(self, other=self.other + math.ceil(blend * (self.own - self.other)))

    def with_bits(self, bits: int) -> UnaryChannel:
        """Round p down and q up."""
        scale = Fraction(1 << bits, 1 << self.bits)
        own, other = math.floor(self.own * scale), math.ceil(self.other * scale)
        return UnaryChannel(self.inputs, max(own, other), other, bits)

    def to_dense(self) -> Channel:
        """Return the channel to all 2^d reports, named by their bits."""
        size = len(self.inputs)
        if size > MOST_EXPANDED:
            raise self.too_large_error()
        total = 1 << self.bits
        patterns = list(itertools.product((0, 1), repeat=size))
        rows = []
        for place in range(size):
            ones = [self.own if j == place else self.other for j in range(size)]
            rows.append(
                [
                    math.prod(w if bit else total - w for w, bit in zip(ones, y, strict=True))
                    for y in patterns
                ]
            )
        names = Alphabet.of("".join(map(str, y)) for y in patterns)
        weights = as_integers(np.array(rows, dtype=object))
        return Channel(self.inputs, names, weights, (total**size,) * size)

    # --- reports --------------------------------------------------------------------------------

    def count_support(self, reports: Reports) -> Counts:
        """Count the ones of each bit.

        >>> channel = UnaryChannel.of("abc", own=2, other=1, bits=2)
        >>> channel.count_support(np.array([[0b101], [0b001]], dtype=np.uint8)).tolist()
        [2, 0, 1]
        """
        from liftlock.model.structured.kernels import count_bits

        packed = self.check_reports(reports)
        counts = np.zeros(packed.shape[1] * 8, dtype=np.int64)
        count_bits(packed, counts)
        if counts[len(self.inputs) :].any():
            raise InputError(
                "a report has bits beyond the last symbol",
                remedy=f"there are {len(self.inputs)} symbols; check that the report is from this "
                "channel",
            )
        return counts[: len(self.inputs)]

    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Unpack the bits."""
        packed = self.check_reports(reports)
        bits = np.unpackbits(packed, axis=1, count=len(self.inputs), bitorder="little")
        return bits.astype(np.bool_)
