"""What the reports of users with priors of their own add up to: all that an estimate needs of them.

The numbers are exact integers, and squares that were rounded user by user, so aggregates of parts
may be merged in any order, on any machine, to the same bits.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.channel import check_format
from liftlock.errors import FileError, InputError
from liftlock.exact.encoding import integer_to_json
from liftlock.exact.integers import Floats
from liftlock.local.asked import Asked
from liftlock.local.methods import FINE_BITS, POSTERIOR_BITS, Method
from liftlock.prior import integers_from_json
from liftlock.sampling.own_priors import counted_blocks
from liftlock.storage import located, read_json, shaped, write_atomically

FORMAT = "liftlock.local-aggregate"
VERSION = 1

_UNITS = {
    "posteriors": POSTERIOR_BITS,
    "squares": FINE_BITS,
    "priors": 32,
    "spreads": FINE_BITS,
    "reaches": 32,
}


@dataclass(frozen=True)
class LocalAggregate:
    """Sums over users, for each symbol: what `LocalMechanism.estimate` computes from.

    `posteriors` adds up P_i(x | report) in units of 2^-64 and `squares` their squares in units of
    2^-42, `priors` the masses P_i(x) in units of 2^-32 and `spreads` the variances that the
    posteriors have under the priors, in units of 2^-42. `reaches` is not a sum: no posterior of
    anybody can be farther from the prior, in units of 2^-32. `asked` has the sums of a question
    that these do not answer.
    """

    mechanism: str
    """The fingerprint of the mechanism."""
    reports: int
    posteriors: tuple[int, ...]
    squares: tuple[int, ...]
    priors: tuple[int, ...]
    spreads: tuple[int, ...]
    reaches: tuple[int, ...]
    asked: Asked | None = None

    @classmethod
    def none(cls, mechanism: str, symbols: int) -> LocalAggregate:
        """Return the sum of no reports, to which others can be added."""
        nothing = (0,) * symbols
        return cls(mechanism, 0, nothing, nothing, nothing, nothing, nothing)

    def __add__(self, other: LocalAggregate) -> LocalAggregate:
        if not isinstance(other, LocalAggregate):
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
        return LocalAggregate(
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

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "mechanism": self.mechanism,
            "reports": integer_to_json(self.reports),
        }
        for name in _UNITS:
            data[name] = [integer_to_json(value) for value in getattr(self, name)]
        if self.asked is not None:
            data["asked"] = self.asked.to_data()
        return data

    @classmethod
    def from_data(cls, data: Any) -> LocalAggregate:
        """Read the JSON form; sums that cannot be are refused."""
        check_format(data, FORMAT, VERSION)
        with shaped():
            mechanism = str(data["mechanism"])
            (reports,) = integers_from_json([data["reports"]], "reports")
            sums = {name: integers_from_json(data[name], name) for name in _UNITS}
            symbols = len(sums["posteriors"])
            told = data.get("asked")
            asked = None if told is None else Asked.from_data(told, symbols)
        if (
            reports < 0
            or any(len(row) != symbols or min(row, default=-1) < 0 for row in sums.values())
            or sum(sums["posteriors"]) != reports << POSTERIOR_BITS
            or sum(sums["priors"]) != reports << 32
        ):
            raise FileError("sums that cannot be", remedy="aggregate the reports again")
        return cls(mechanism, reports, **sums, asked=asked)

    def to_json(self) -> str:
        """Return the JSON text; equal aggregates have equal texts."""
        return json.dumps(self.to_data(), separators=(",", ":"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the aggregate as JSON; an interrupted write leaves the old file whole."""
        write_atomically(Path(path), self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LocalAggregate:
        """Read an aggregate from a JSON file."""
        place = Path(path)
        data = read_json(place)
        with located(place):
            return cls.from_data(data)


@dataclass(frozen=True, eq=False)
class Gathering:
    """How reports are added up: by which method, and for which question beyond the histogram."""

    mechanism: str
    method: Method
    symbols: int
    asking: bool
    """Whether the sums over posteriors, without weights, do not answer the question."""
    columns: Floats | None
    """A row of numbers f(x) for each answer; None for a histogram."""

    def gathered(
        self,
        blocks: Iterator[tuple[int, npt.NDArray[Any]]],
        reports: npt.NDArray[Any],
        weights: Floats | None,
        offsets: Floats | None,
    ) -> LocalAggregate:
        """Add up the reports of all users, whose rows come in blocks."""
        total = LocalAggregate.none(self.mechanism, self.symbols)
        for first, rows in blocks:
            some = slice(first, first + len(rows))
            total += self._piece(
                first,
                rows,
                reports[some],
                None if weights is None else weights[some],
                None if offsets is None else offsets[some],
            )
        return total

    def _piece(
        self,
        first: int,
        rows: npt.NDArray[Any],
        reports: npt.NDArray[Any],
        weights: Floats | None,
        offsets: Floats | None,
    ) -> LocalAggregate:
        totals = np.zeros((self.method.rows, self.symbols), dtype=np.int64)
        answers = self.symbols if self.columns is None else len(self.columns)
        shape = (len(rows), answers if self.asking else 0)
        means, variances = np.empty(shape), np.empty(shape)
        for start, counts in counted_blocks(rows, first):
            some = slice(start - first, start - first + len(counts))
            self.method.add(start, counts, reports[some], totals)
            if self.asking:
                found = np.empty(counts.shape)
                self.method.posteriors(start, counts, reports[some], found)
                self._moments(found, means[some], variances[some])
        asked = None
        if self.asking:
            told = None if self.columns is None else self.columns.tolist()
            columns = None if told is None else tuple(tuple(column) for column in told)
            asked = Asked.of(columns, means, variances, weights, offsets)
        sums = self.method.sums(totals)
        posteriors, squares, priors, spreads, reaches = map(tuple, sums)
        return LocalAggregate(
            self.mechanism, len(rows), posteriors, squares, priors, spreads, reaches, asked
        )

    def _moments(self, posteriors: Floats, means: Floats, variances: Floats) -> None:
        from liftlock.local.kernels import moments

        if self.columns is None:
            means[:] = posteriors
            variances[:] = posteriors * (1.0 - posteriors)
        else:
            moments(posteriors, self.columns, means, variances)


def _added(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(left, right, strict=True))
