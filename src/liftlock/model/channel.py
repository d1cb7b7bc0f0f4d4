"""Channels: for each input, a row of exact probabilities of the outputs.

`Channel` holds any rational rows (a matrix read from a file, a product of two releases); `Table` is
the kind that is released: rows of integers that sum to 2^bits, so that the sampler's distribution
is the stored distribution bit for bit.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liftlock._runtime.storage import JAVASCRIPT_SAFE, check_format
from liftlock.errors import FileError, InputError, LabelError, RowError
from liftlock.exact.alias import AliasTable
from liftlock.exact.fingerprint import canonical_bytes, integer_to_json
from liftlock.exact.integers import Floats, Integers, as_integers, multiply
from liftlock.exact.numbers import exact
from liftlock.exact.rounding import DEFAULT_BITS, MOST_BITS
from liftlock.model import Joint, Prior
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.prior import integers_from_json

FORMAT = "liftlock.channel"
VERSION = 1


@dataclass(frozen=True, eq=False)
class Channel:
    """An exact channel: P(y | x) = weights[x, y] / totals[x].

    >>> bit = Channel.from_rows(
    ...     {"no": {"no": "0.75", "yes": "0.25"}, "yes": {"no": "0.25", "yes": "0.75"}}
    ... )
    >>> bit.probability("no", "yes")
    Fraction(1, 4)
    >>> bit.output(Prior.from_counts({"no": 1, "yes": 1}))["yes"]
    Fraction(1, 2)
    """

    inputs: Alphabet
    outputs: Alphabet
    weights: Integers
    totals: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.inputs), len(self.outputs)):
            raise RowError(
                f"weights of shape {self.weights.shape} for {len(self.inputs)} inputs and "
                f"{len(self.outputs)} outputs"
            )
        if len(self.totals) != len(self.inputs):
            raise RowError(f"{len(self.totals)} totals for {len(self.inputs)} inputs")
        sums = self.weights.sum(axis=1) if self.weights.dtype == object else _row_sums(self.weights)
        for row, (total, expected) in enumerate(zip(sums, self.totals, strict=True)):
            if total != expected or expected <= 0:
                raise RowError(
                    "weights do not sum to the total of the row",
                    where=f"input {self.inputs.labels[row]!r}",
                    value=f"{total} instead of {expected}",
                )
        if self.weights.size and self.weights.min() < 0:
            row, column = (int(i) for i in np.argwhere(self.weights < 0)[0])
            raise RowError(
                "negative weight",
                where=f"input {self.inputs.labels[row]!r}, output {self.outputs.labels[column]!r}",
                value=int(self.weights[row, column]),
            )
        self.weights.setflags(write=False)

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def from_rows(
        cls, rows: Mapping[Any, Mapping[Any, Any]], *, normalise: bool = False
    ) -> Channel:
        """Make a channel from a table input -> output -> probability; rows sum to 1 exactly.

        With ``normalise=True`` any positive sum is accepted and divided out.
        """
        inputs = Alphabet.of(rows)
        first = next(iter(rows.values()))
        outputs = Alphabet.of(first)
        numbers = []
        for label, row in rows.items():
            if set(row) != set(first):
                raise LabelError("rows have different outputs", where=f"input {label!r}")
            numbers.append(
                [exact(row[y], name=f"probability of {y!r} given {label!r}") for y in row]
                if list(row) == list(first)
                else [exact(row[y]) for y in first]
            )
        return cls.from_fractions(inputs, outputs, numbers, normalise=normalise)

    @classmethod
    def from_fractions(
        cls,
        inputs: Alphabet,
        outputs: Alphabet,
        rows: Sequence[Sequence[Fraction]],
        *,
        normalise: bool = False,
    ) -> Channel:
        """Make a channel from rows of fractions that sum to 1 (or, normalised, to anything > 0)."""
        if len(rows) != len(inputs):
            raise RowError(f"{len(rows)} rows for {len(inputs)} inputs")
        weights, totals = [], []
        for label, row in zip(inputs.labels, rows, strict=True):
            if len(row) != len(outputs):
                raise RowError(
                    f"{len(row)} probabilities for {len(outputs)} outputs",
                    where=f"input {label!r}",
                )
            total = sum(row, Fraction(0))
            for output, value in zip(outputs.labels, row, strict=True):
                if value < 0:
                    raise RowError(
                        "negative probability",
                        where=f"input {label!r}, output {output!r}",
                        value=str(value),
                    )
            if total != 1 and not (normalise and total > 0):
                raise RowError(
                    "row does not sum to 1",
                    where=f"input {label!r}",
                    value=f"{float(total):.15g}",
                    remedy="correct the probabilities, or give normalise=True",
                )
            scale = math.lcm(*(value.denominator for value in row))
            integers = [int(value * scale) for value in row]
            weights.append(integers)
            totals.append(sum(integers))
        # Rows over one common total keep every later product narrow; do it while it stays small.
        common = math.lcm(*totals)
        if common.bit_length() <= MOST_BITS:
            weights = [
                [w * (common // total) for w in row]
                for row, total in zip(weights, totals, strict=True)
            ]
            totals = [common] * len(totals)
        return cls(inputs, outputs, as_integers(np.array(weights, dtype=object)), tuple(totals))

    @classmethod
    def identity(cls, labels: Iterable[Any]) -> Channel:
        """Return the channel that reveals everything."""
        alphabet = Alphabet.of(labels)
        eye = np.eye(len(alphabet), dtype=np.int64)
        return cls(alphabet, alphabet, eye, (1,) * len(alphabet))

    # --- looking at it --------------------------------------------------------------------------

    def probability(self, given: Label, output: Label) -> Fraction:
        """Return P(output | given), exactly."""
        row, column = self.inputs.index(given), self.outputs.index(output)
        return Fraction(int(self.weights[row, column]), self.totals[row])

    @property
    def output_number(self) -> int:
        """How many outputs there are."""
        return len(self.outputs)

    @property
    def outputs_text(self) -> str:
        """How many outputs there are, in words."""
        return f"{len(self.outputs):,} output{'s' * (len(self.outputs) != 1)}"

    def floats(self) -> Floats:
        """Return the matrix as float64, for display and estimation."""
        if self.weights.dtype == object:
            rows = [
                [float(Fraction(int(w), total)) for w in row]
                for row, total in zip(self.weights, self.totals, strict=True)
            ]
            return np.array(rows, dtype=np.float64)
        totals = np.array([float(total) for total in self.totals])
        return np.asarray(self.weights / totals[:, None], dtype=np.float64)

    @cached_property
    def common_total(self) -> int:
        """The least common multiple of the row totals."""
        return math.lcm(*set(self.totals))

    @property
    def row_factors(self) -> list[int]:
        """By what each row must be multiplied to stand over `common_total`."""
        return [self.common_total // total for total in self.totals]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Channel):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form: labels, then rows in lowest terms.

        Two channels with the same labels and the same probabilities have the same fingerprint,
        whatever integers they were written with. The bytes are the canonical JSON of
        ``["channel", inputs, outputs]``, then for each row its total and its weights in lowest
        terms: ``i`` and 64-bit little-endian integers, or, if the total does not fit, ``t`` and
        decimals joined by commas.
        """
        digest = hashlib.sha256(
            canonical_bytes(["channel", self.inputs.to_data(), self.outputs.to_data()])
        )
        divisors = _row_divisors(self.weights) if self.weights.dtype != object else None
        for x, total in enumerate(self.totals):
            row = self.weights[x]
            if divisors is not None:
                divisor = int(divisors[x])
                reduced = row if divisor == 1 else row // divisor
            else:
                divisor = math.gcd(*row.tolist())
                reduced = row // divisor
            if (total // divisor).bit_length() < 64:
                head = np.array([total // divisor], dtype="<i8").tobytes()
                digest.update(b"i" + head + reduced.astype("<i8", copy=False).tobytes())
            else:
                text = ",".join(str(w) for w in (total // divisor, *reduced.tolist()))
                digest.update(b"t" + text.encode())
        return digest.hexdigest()

    def __str__(self) -> str:
        return f"channel from {len(self.inputs)} inputs to {len(self.outputs)} outputs"

    # --- using it -------------------------------------------------------------------------------

    def output_counts(self, prior: Prior) -> list[int]:
        """Return the output masses as integers over ``prior.total * self.common_total``."""
        counts = prior.reordered(self.inputs).counts
        scaled = as_integers([c * f for c, f in zip(counts, self.row_factors, strict=True)])
        return multiply(scaled.reshape(1, -1), self.weights).row(0)

    def output(self, prior: Prior) -> Prior:
        """Apply the channel to a prior: the exact distribution of the output."""
        return Prior(self.outputs, tuple(self.output_counts(prior)))

    def joint(self, context: Prior | Joint) -> Joint:
        """Return the exact joint of the secret (rows) and the output (columns)."""
        factors = self.row_factors
        if isinstance(context, Prior):
            counts = context.reordered(self.inputs).counts
            rows = tuple(
                tuple(c * f * int(w) for w in row)
                for c, f, row in zip(counts, factors, self.weights, strict=True)
            )
            return Joint(self.inputs, self.outputs, rows)
        aligned = context.reordered(self.inputs)
        left = as_integers(
            np.array(
                [[c * f for c, f in zip(row, factors, strict=True)] for row in aligned.counts],
                dtype=object,
            )
        )
        cells = multiply(left, self.weights).objects()
        return Joint(aligned.secrets, self.outputs, tuple(tuple(row) for row in cells.tolist()))

    def posterior(self, context: Prior | Joint, output: Label) -> Prior:
        """Return what an adversary believes of the secret after seeing one output."""
        joint = self.joint(context)
        column = joint.inputs.index(output)
        counts = tuple(row[column] for row in joint.counts)
        if not any(counts):
            raise InputError(
                "output has probability 0", value=output, remedy="it can never be seen"
            )
        return Prior(joint.secrets, counts)

    def then(self, following: Channel) -> Channel:
        """Post-process: feed our output into another channel.

        Source: 000 Lemma 1.4.
        """
        order = self.outputs.positions_in(
            following.inputs, whose="the first channel's output", other_name="the second's input"
        )
        factors = [following.row_factors[i] for i in order]
        second = following.weights[order].astype(object) * np.array(factors, dtype=object)[:, None]
        weights = multiply(self.weights, as_integers(second)).objects()
        totals = tuple(total * following.common_total for total in self.totals)
        return Channel(self.inputs, following.outputs, as_integers(weights), totals)

    def product(self, other: Channel) -> Channel:
        """Return the channel of two independent releases of the same input: outputs are pairs.

        Source: 000 section III.B.
        """
        order = self.inputs.positions_in(
            other.inputs, whose="the first channel", other_name="the second channel"
        )
        left = self.weights.astype(object)[:, :, None]
        right = other.weights[order].astype(object)[:, None, :]
        cells = (left * right).reshape(len(self.inputs), -1)
        totals = tuple(total * other.totals[i] for total, i in zip(self.totals, order, strict=True))
        return Channel(self.inputs, self.outputs.paired(other.outputs), as_integers(cells), totals)

    def relabelled(self, names: Mapping[Any, Any]) -> Channel:
        """Rename outputs; two outputs given the same name are merged into one.

        >>> three = Channel.identity(["a", "b", "c"]).relabelled({"b": "other", "c": "other"})
        >>> three.outputs.labels
        ('a', 'other')
        """
        new = list(self.outputs.labels)
        for old, name in names.items():
            new[self.outputs.index(old)] = plain_label(name)
        outputs = Alphabet.of(dict.fromkeys(new))
        # Python integers: two columns that fit int64 may have a sum that does not.
        weights = np.zeros((len(self.inputs), len(outputs)), dtype=object)
        for column, label in enumerate(new):
            weights[:, outputs.index(label)] += self.weights[:, column].astype(object)
        return self._like(self.inputs, outputs, as_integers(weights), self.totals)

    def restrict(self, inputs: Iterable[Any]) -> Channel:
        """Keep only some inputs; outputs that none of them can give are dropped."""
        rows = [self.inputs.index(label) for label in inputs]
        weights = self.weights[rows]
        keep = np.flatnonzero((weights > 0).any(axis=0))
        return self._like(
            Alphabet.of(self.inputs.labels[i] for i in rows),
            Alphabet.of(self.outputs.labels[int(j)] for j in keep),
            weights[:, keep].copy(),
            tuple(self.totals[i] for i in rows),
        )

    def precompose(self, inputs: Alphabet, part: Callable[[Any], Label]) -> Channel:
        """Take other inputs, of each of which this channel reads a part.

        >>> pairs = Alphabet.of([("ann", 0), ("ann", 1)])
        >>> wide = Channel.identity([0, 1]).precompose(pairs, lambda pair: pair[1])
        >>> str(wide.probability(("ann", 1), 1))
        '1'
        """
        rows = [self.inputs.index(part(label)) for label in inputs.labels]
        totals = tuple(self.totals[row] for row in rows)
        return Channel(inputs, self.outputs, self.weights[rows].copy(), totals)

    def _like(
        self, inputs: Alphabet, outputs: Alphabet, weights: Integers, totals: tuple[int, ...]
    ) -> Channel:
        return Channel(inputs, outputs, weights, totals)

    def table(self) -> Table:
        """Return this channel as a `Table`, if its rows already stand over one power of two."""
        common = max(self.common_total, 2)  # a table has at least one bit
        bits = common.bit_length() - 1
        if common != 1 << bits or bits > MOST_BITS:
            raise RowError(
                "the row totals are not a power of two up to 2^62",
                value=common,
                remedy="use lock(...) to round them and certify the result",
            )
        factors = np.array([common // total for total in self.totals], dtype=object)[:, None]
        weights = as_integers(self.weights.astype(object) * factors)
        return Table.of(self.inputs, self.outputs, weights, bits)

    # --- files ----------------------------------------------------------------------------------

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        rows = self.weights.tolist()
        if self.weights.dtype == object or self.weights.max() > JAVASCRIPT_SAFE:
            rows = [[integer_to_json(w) for w in row] for row in rows]
        return {
            "format": FORMAT,
            "version": VERSION,
            "inputs": self.inputs.to_data(),
            "outputs": self.outputs.to_data(),
            "totals": [integer_to_json(total) for total in self.totals],
            "weights": rows,
        }


@dataclass(frozen=True, eq=False)
class Table(Channel):
    """A channel whose rows are integers that sum to 2^bits: what is sampled is what is stored.

    >>> coin = Table.of(Alphabet.of(["x"]), Alphabet.of(["h", "t"]), np.array([[1, 3]]), bits=2)
    >>> coin.probability("x", "t"), coin.bits
    (Fraction(3, 4), 2)
    """

    @classmethod
    def of(
        cls, inputs: Alphabet, outputs: Alphabet, weights: Any, bits: int = DEFAULT_BITS
    ) -> Table:
        """Make a table from integer rows that sum to 2^bits, bits from 1 to 62."""
        if not 1 <= bits <= MOST_BITS:
            raise RowError("bits out of range", value=bits, remedy=f"use 1 to {MOST_BITS} bits")
        array = np.array(weights)
        whole = array.dtype.kind in "iu" or (
            array.dtype == object and all(isinstance(w, int | np.integer) for w in array.flat)
        )
        if not whole:
            raise RowError(
                "weights are not integers", value=str(array.dtype), remedy="use lock(...) on floats"
            )
        return cls(inputs, outputs, as_integers(array), (1 << bits,) * len(inputs))

    def __post_init__(self) -> None:
        super().__post_init__()
        total = self.totals[0]
        if any(t != total for t in self.totals) or total & (total - 1):
            raise RowError(
                "all rows of a table need the same power of two as total",
                value=list(self.totals[:3]),
            )

    @property
    def bits(self) -> int:
        """The width of a row: weights sum to 2^bits."""
        return self.totals[0].bit_length() - 1

    @cached_property
    def alias(self) -> AliasTable:
        """The exact alias table the sampler reads."""
        return AliasTable.build(self.weights, self.bits)

    def _like(
        self, inputs: Alphabet, outputs: Alphabet, weights: Integers, totals: tuple[int, ...]
    ) -> Table:
        return Table(inputs, outputs, weights, totals)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data = super().to_data()
        del data["totals"]
        data["bits"] = self.bits
        return data


def channel_from_data(data: Any) -> Channel:
    """Read the JSON form of a table; unknown formats and versions are refused."""
    check_format(data, FORMAT, VERSION)
    if "form" in data:
        raise FileError(
            "a channel without a table",
            value=data["form"],
            remedy="read it with liftlock.model.structured.any_channel_from_data",
        )
    inputs = Alphabet.from_data(data.get("inputs"))
    outputs = Alphabet.from_data(data.get("outputs"))
    rows = data.get("weights")
    if not isinstance(rows, list) or len(rows) != len(inputs):
        raise FileError("weights do not have one row for each input")
    integers = []
    for label, row in zip(inputs.labels, rows, strict=True):
        weights = integers_from_json(row, f"weights of input {label!r}")
        if len(weights) != len(outputs):
            raise FileError(
                f"{len(weights)} weights for {len(outputs)} outputs", where=f"input {label!r}"
            )
        integers.append(weights)
    array = as_integers(np.array(integers, dtype=object))
    if "bits" in data:
        bits = data["bits"]
        if not isinstance(bits, int) or isinstance(bits, bool):
            raise FileError("bits is not a whole number", value=bits)
        return Table.of(inputs, outputs, array, bits)
    return Channel(inputs, outputs, array, integers_from_json(data.get("totals"), "totals"))


def _row_divisors(weights: Integers) -> Integers:
    """Return the greatest common divisor of each row; a few entries settle most rows."""
    divisors: Integers = np.gcd.reduce(weights[:, :16], axis=1)
    rest = np.flatnonzero(divisors != 1)
    divisors[rest] = np.gcd.reduce(weights[rest], axis=1)
    return divisors


def _row_sums(weights: Integers) -> list[int]:
    """Add rows of int64 without overflow: if need be, high and low halves apart."""
    if (
        weights.size
        and int(weights.max()).bit_length() + weights.shape[1].bit_length() <= MOST_BITS
    ):
        return [int(total) for total in weights.sum(axis=1)]
    high = (weights >> 31).sum(axis=1)
    low = (weights & ((1 << 31) - 1)).sum(axis=1)
    return [(int(h) << 31) + int(part) for h, part in zip(high, low, strict=True)]
