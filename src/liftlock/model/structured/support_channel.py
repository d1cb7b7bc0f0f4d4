"""Channels whose reports support a set of symbols: one likelihood inside the set, one outside.

A report y of a unary encoding, of local hashing and of their kin *supports* some symbols. Its
likelihood, as a function of the input, takes two values only, in the same proportion for all y:

    P(y | x) is proportional to  a  if y supports x,  and to  b <= a  otherwise.

That is all it takes to prove a guarantee exactly, however many reports there are: with A the set of
symbols that y supports,

    lift(x, y) = (a or b) / (b + (a - b) P(A)).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import FileError, InputError, NotDefined, RowError
from liftlock.exact.fingerprint import integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.rounding import DEFAULT_BITS, MOST_BITS
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.per_user import read_alphabet
from liftlock.model.structured.structured_channel import StructuredChannel

Reports: TypeAlias = npt.NDArray[np.uint8]
"""Packed reports, one row of bytes for each person."""

Counts: TypeAlias = npt.NDArray[np.int64]


class SupportChannel(StructuredChannel):
    """A channel whose reports are packed bytes that support a set of symbols each.

    Subclasses are frozen dataclasses with an alphabet `inputs`, a width `bits` of their weights,
    and the integers that make up their distribution.
    """

    bits: int
    integers: ClassVar[tuple[str, ...]]
    """The names of the integers of the distribution, besides `bits`."""

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= MOST_BITS:
            raise RowError(
                "bits out of range", value=self.bits, remedy=f"use 1 to {MOST_BITS} bits"
            )

    @classmethod
    def of(
        cls, inputs: Iterable[Any] | Alphabet, *, bits: int = DEFAULT_BITS, **distribution: int
    ) -> Self:
        """Make a channel of this form from the integers of its distribution."""
        return cls(read_alphabet(inputs), bits=bits, **distribution)  # type: ignore[call-arg]

    # --- the distribution -----------------------------------------------------------------------

    @property
    @abstractmethod
    def levels(self) -> tuple[int, int]:
        """Integers in the proportion of the two likelihoods, the larger first."""

    @property
    @abstractmethod
    def hit(self) -> Fraction:
        """The probability that a report supports the true symbol."""

    @property
    @abstractmethod
    def miss(self) -> Fraction:
        """The probability that a report supports a symbol that is not the true one."""

    @property
    @abstractmethod
    def report_bytes(self) -> int:
        """How many bytes a report takes."""

    @property
    def report_size(self) -> str:
        """How large a report is, in words: ``1 byte``, ``1,250 bytes``."""
        return "1 byte" if self.report_bytes == 1 else f"{self.report_bytes:,} bytes"

    @abstractmethod
    def soften(self, blend: Fraction) -> SupportChannel:
        """Return the same form with likelihoods nearer to each other by a weight in [0, 1].

        The integers are rounded towards less leakage.
        """

    @abstractmethod
    def with_bits(self, bits: int) -> SupportChannel:
        """Return the same form with weights over 2^bits, rounded towards less leakage."""

    def too_large_error(self) -> NotDefined:
        """Return the refusal of whatever needs all reports in one table."""
        return NotDefined(
            "a table of all reports",
            f"{self.form} encoding of {len(self.inputs)} symbols ({self.outputs_text})",
            "ask for ldp, lip, alip, eps_upper or eps_lower, which need no table",
        )

    # --- reports --------------------------------------------------------------------------------

    @abstractmethod
    def count_support(self, reports: Reports) -> Counts:
        """Count for each symbol how many reports support it."""

    @abstractmethod
    def support_matrix(self, reports: Reports) -> npt.NDArray[np.bool_]:
        """Return for each report and each symbol whether it is supported."""

    def frequencies(self, support: Counts, reports: int) -> Floats:
        """Return unbiased estimates of the share of each symbol among the people who reported.

            (support / reports - miss) / (hit - miss)

        They may be below 0 or above 1, and need not sum to 1.
        """
        if reports < 1:
            raise InputError("no reports", value=reports, remedy="collect some first")
        if self.hit == self.miss:
            raise InputError(
                "the reports carry no information about the values",
                remedy="a budget of 0 leaves nothing to estimate",
            )
        shares = np.asarray(support, dtype=np.float64) / reports
        return np.asarray((shares - float(self.miss)) / float(self.hit - self.miss))

    def check_reports(self, reports: Reports) -> Reports:
        """Refuse anything but rows of so many bytes."""
        array = np.asarray(reports)
        if array.ndim != 2 or array.dtype != np.uint8 or array.shape[1] != self.report_bytes:
            raise InputError(
                "the reports are not packed reports of this channel",
                value=f"shape {array.shape} of {array.dtype}",
                remedy=f"give rows of {self.report_size} (uint8)",
            )
        return np.ascontiguousarray(array)

    # --- words and files ------------------------------------------------------------------------

    def report_text(self, places: Sequence[int]) -> str:
        """Say which report supports exactly the symbols at these places."""
        labels = self.inputs.labels
        inside = set(places)
        start = "a report" if self.every_set else "at worst a report"
        if len(places) == len(labels):
            return f"{start} that supports every symbol"
        if not places:
            return f"{start} that supports no symbol"
        if 2 * len(places) > len(labels):
            rest = [labels[i] for i in range(len(labels)) if i not in inside]
            return f"{start} that supports all but {_list_labels(rest)}"
        return f"{start} that supports only {_list_labels([labels[i] for i in sorted(inside)])}"

    def parameters(self) -> dict[str, int]:
        """Return the integers of the distribution by name, as files hold them."""
        return {name: getattr(self, name) for name in ("bits", *self.integers)}

    def distribution_data(self) -> dict[str, Any]:
        """Return the integers of the distribution as JSON."""
        return {name: integer_to_json(value) for name, value in self.parameters().items()}

    @classmethod
    def from_data(cls, data: Any) -> Self:
        """Read the JSON form."""
        distribution = {name: whole_number(data, name) for name in ("bits", *cls.integers)}
        return cls.of(Alphabet.from_data(data.get("inputs")), **distribution)

    def __str__(self) -> str:
        return f"{self.form} encoding of {len(self.inputs)} symbols, {self.report_size} a report"


def whole_number(data: Any, name: str) -> int:
    """Read one integer of the distribution of a form."""
    value = data.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise FileError(f"{name} is not a whole number", value=value)
    return value


def _list_labels(labels: Sequence[Label]) -> str:
    shown = ", ".join(str(label) for label in labels[:3])
    return shown if len(labels) <= 3 else f"{shown} and {len(labels) - 3} more"
