"""Types: symbols that say the same of the secret are one symbol to the solver.

The type of x is its row P(. | x). Whether a lift notion, or LDP of the secret, allows an output
depends on the beliefs P(s | y) alone: they are linear in the posterior v = P(. | y), with the same
coefficients for all symbols of a type. Let the cost c be concave, symmetric in the symbols, and
blind to those of probability 0 (entropy, 1 - sum v^2, 1 - max v). Then the least cost over
mechanisms on X is the least cost over mechanisms on the types.

It is no less: adding up v within each type keeps P(s | y), and the sums, padded by zeros, majorise
v, so that the Schur-concave c does not grow. It is no more: cut an output on types into pieces that
take one symbol only from each type, in the proportions of the output. Every piece has the posterior
of the output but for names, hence the same beliefs and the same cost.

Lay the symbols of each type end to end on its interval, and its outputs too; every end of a symbol
cuts the output that it lies in. There are then no more outputs than symbols and outputs on types
together.

Source: math symbols of one type under a symmetric cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from liftlock._solver.limits import LIMITS
from liftlock.contexts import Joint
from liftlock.exact.integers import Floats
from liftlock.exact.weights import MOST_BITS


@dataclass(frozen=True)
class Types:
    """The types of a joint, and the symbols of each in the order of the alphabet.

    >>> table = {"s": {"a": 1, "b": 2, "c": 3}, "t": {"a": 2, "b": 4, "c": 3}}
    >>> Types.of(Joint.from_counts(table)).members
    ((0, 1), (2,))
    """

    joint: Joint
    members: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, joint: Joint) -> Types:
        """Compare P(. | x) exactly: columns of counts, divided by what divides all of them."""
        found: dict[tuple[int, ...], list[int]] = {}
        for x, column in enumerate(zip(*joint.counts, strict=True)):
            divisor = math.gcd(*column) or 1
            found.setdefault(tuple(count // divisor for count in column), []).append(x)
        return cls(joint, tuple(tuple(places) for places in found.values()))

    def __len__(self) -> int:
        return len(self.members)

    def smaller(self) -> Joint:
        """Return the joint of the secret and the type, named by its first symbol."""
        joint = self.joint
        counts = tuple(
            tuple(sum(row[x] for x in places) for places in self.members) for row in joint.counts
        )
        return Joint(joint.secrets, joint.inputs.subset(each[0] for each in self.members), counts)

    def expand(self, matrix: Floats) -> Floats:
        """Cut the outputs of a channel on types so that each piece speaks of one symbol of a type.

        In whole numbers, as what a piece says of the secret has to be what the output says. Pieces
        too rare to be worth an output stay with their neighbour, which keeps every limit. Returns
        P(y | x), rows symbols.

        >>> table = {"s": {"a": 1, "b": 2, "c": 3}, "t": {"a": 1, "b": 2, "c": 3}}
        >>> joint = Joint.from_counts(table)  # independent of the secret: released as it is
        >>> Types.of(joint).expand(np.ones((1, 1))).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        counts = [sum(column) for column in zip(*self.joint.counts, strict=True)]
        queues = [
            _Queue(places, [counts[x] for x in places], row.tolist())
            for places, row in zip(self.members, matrix, strict=True)
        ]
        columns: list[dict[int, float]] = []
        for y in range(matrix.shape[1]):
            parts = [part for queue in queues if (part := queue.take(y)) is not None]
            mass = sum((part.mass for part in parts), Fraction(0)) / self.joint.total
            columns += _pieces(parts, float(mass)) if mass else []
        channel = np.zeros((len(counts), len(columns)))
        for y, column in enumerate(columns):
            channel[list(column), y] = list(column.values())
        rows: Floats = channel / channel.sum(axis=1, keepdims=True)
        return rows


@dataclass(frozen=True)
class _Part:
    """What an output takes of a type: symbols, and where each stops, of a length of 1."""

    symbols: list[int]
    stops: list[Fraction]
    likelihoods: list[float]
    """What a symbol gives to a piece of length 1."""
    mass: Fraction


class _Queue:
    """The symbols of a type, end to end, and its outputs, end to end: both fill an interval."""

    def __init__(self, places: Sequence[int], counts: list[int], row: list[float]) -> None:
        self.places, self.counts = places, counts
        self.total = sum(counts)
        self.shares = [round(math.ldexp(share, MOST_BITS)) for share in row]
        self.whole = sum(self.shares)
        self.used = 0
        """Of the outputs, in units of the shares."""
        self.place = 0
        """Of the symbol that the next output begins in."""
        self.behind = 0
        """The counts of the symbols before it."""

    def take(self, y: int) -> _Part | None:
        """Return what the next output takes; None if nothing."""
        share = self.shares[y]
        if not share:
            return None
        begin, end = self.used * self.total, (self.used + share) * self.total
        width = end - begin
        symbols, stops, likelihoods = [], [], []
        while True:
            count = self.counts[self.place]
            stop = (self.behind + count) * self.whole
            symbols.append(self.places[self.place])
            likelihoods.append(float(Fraction(width, self.whole * count)))
            if stop >= end:
                stops.append(Fraction(1))
                break
            stops.append(Fraction(stop - begin, width))
            self.behind += count
            self.place += 1
        if stop == end and self.place + 1 < len(self.counts):
            self.behind += count
            self.place += 1
        self.used += share
        return _Part(symbols, stops, likelihoods, Fraction(width, self.whole))


def _pieces(parts: list[_Part], mass: float) -> list[dict[int, float]]:
    """Cut an output at the end of every symbol; return P(piece | x) of each piece."""
    least = LIMITS.rarest_piece / mass
    ends, last = [], Fraction(0)
    for cut in sorted({stop for part in parts for stop in part.stops[:-1]}):
        if float(cut - last) >= least and float(1 - cut) >= least:
            ends.append(cut)
            last = cut
    ends.append(Fraction(1))
    pieces: list[dict[int, float]] = [{} for _ in ends]
    for part in parts:
        place, start = 0, Fraction(0)
        for piece, end in zip(pieces, ends, strict=True):
            while True:
                stop = min(end, part.stops[place])
                if stop > start:
                    symbol = part.symbols[place]
                    piece[symbol] = float(stop - start) * part.likelihoods[place]
                start = stop
                if stop == end:
                    break
                place += 1
    return pieces
