"""Sets of priors: the prior is not known exactly, and a guarantee must hold for all of the set."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError
from liftlock.exact.fingerprint import fingerprint
from liftlock.exact.integers import Integers, as_integers, multiply
from liftlock.exact.numbers import exact, exact_probability
from liftlock.model.alphabet import Alphabet
from liftlock.model.confidence import read_confidence, simultaneous_intervals
from liftlock.model.context import Context
from liftlock.model.prior import Prior, common_integers

SymbolRanges: TypeAlias = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
"""The least and the most probability of each symbol."""


class PriorSet(Context, ABC):
    """A convex set of priors, known through the least and the most mass it can give an output."""

    kind: ClassVar[Literal["family", "intervals", "ball"]]
    middle: ClassVar[str]
    """Which prior of the set `representative` returns, in a few words."""

    @property
    @abstractmethod
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""

    @abstractmethod
    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return a prior of the set that attains an end of `mass_range`."""

    def mass_range(self, column: Integers) -> tuple[Fraction, Fraction]:
        """Return the least and the most of sum_x P(x) column[x] over the set, exactly."""
        ends = []
        for least in (True, False):
            prior = self.extreme(column, least=least)
            pairs = zip(prior.counts, column, strict=True)
            ends.append(Fraction(sum(count * int(w) for count, w in pairs if count), prior.total))
        return ends[0], ends[1]

    @property
    @abstractmethod
    def symbol_ranges(self) -> SymbolRanges:
        """The least and the most probability of each symbol under any prior of the set."""

    @property
    def smallest(self) -> Fraction:
        """The least probability of a symbol that may occur, under any prior of the set."""
        return min(low for low, high in zip(*self.symbol_ranges, strict=True) if high)

    @abstractmethod
    def representative(self) -> Prior:
        """Return one prior inside the set, which gives every possible input a chance."""

    @abstractmethod
    def reordered(self, inputs: Alphabet) -> PriorSet:
        """Return the same set in the order of another alphabet."""


@dataclass(frozen=True)
class Family(PriorSet):
    """The convex hull of finitely many priors; a guarantee must hold for each mixture of them.

    Source: 000 Def 6, Lemma 2.

    >>> pair = Family.of([Prior.from_counts({"a": 1, "b": 1}), Prior.from_counts({"a": 1, "b": 3})])
    >>> pair.mass_range(np.array([0, 1]))
    (Fraction(1, 2), Fraction(3, 4))
    """

    kind: ClassVar[Literal["family"]] = "family"
    middle: ClassVar[str] = "the even mixture of the priors"
    priors: tuple[Prior, ...]

    @classmethod
    def of(cls, priors: Iterable[Prior]) -> Family:
        """Make a family; all priors need the same labels (in any order)."""
        given = tuple(priors)
        if not given:
            raise CountError("a family without priors", remedy="give at least one prior")
        return cls(tuple(prior.reordered(given[0].alphabet) for prior in given))

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs."""
        return self.priors[0].alphabet

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([any(p.counts[i] for p in self.priors) for i in range(len(self.inputs))])

    @cached_property
    def symbol_ranges(self) -> SymbolRanges:
        """The least and the most probability of each symbol."""
        columns = list(zip(*(prior.fractions for prior in self.priors), strict=True))
        return tuple(map(min, columns)), tuple(map(max, columns))

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return the prior of the family with the least (most) mass."""
        values = column.reshape(-1, 1)
        masses = [
            Fraction(multiply(as_integers(p.counts).reshape(1, -1), values).item(0, 0), p.total)
            for p in self.priors
        ]
        return self.priors[masses.index(min(masses) if least else max(masses))]

    def representative(self) -> Prior:
        """Return the even mixture."""
        count = len(self.priors)
        return Prior.mixture(self.priors, [Fraction(1, count)] * count)

    def reordered(self, inputs: Alphabet) -> Family:
        """Return the same family in the order of another alphabet."""
        return Family(tuple(prior.reordered(inputs) for prior in self.priors))

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return f"every mixture of {len(self.priors)} priors on {len(self.inputs)} symbols"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        return fingerprint(["family", [prior.fingerprint for prior in self.priors]])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"kind": "family", "priors": [prior.to_data() for prior in self.priors]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Family:
        """Read the JSON form."""
        members = data.get("priors")
        if not isinstance(members, list):
            raise CountError("priors is not a list", value=members)
        return cls.of(Prior.from_json(member) for member in members)


@dataclass(frozen=True)
class Intervals(PriorSet):
    """All priors whose probabilities lie in given intervals, symbol by symbol.

    Source: 000 Def 6.

    >>> box = Intervals.of({"a": ("0.1", "0.2"), "b": (0, 1)})
    >>> box.mass_range(np.array([1, 0]))
    (Fraction(1, 10), Fraction(1, 5))
    """

    kind: ClassVar[Literal["intervals"]] = "intervals"
    middle: ClassVar[str] = "one prior in the middle of the intervals"
    alphabet: Alphabet
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    confidence: Fraction | None = None
    """With which the set was made to hold the true prior; None if it is taken for certain."""
    evidence: str = ""
    """What the confidence rests on, in a few words."""

    @classmethod
    def of(cls, intervals: Mapping[Any, tuple[Any, Any]]) -> Intervals:
        """Make the set from a mapping label -> (lowest, highest) probability."""
        inputs = Alphabet.of(intervals)
        lower = tuple(exact_probability(low) for low, _ in intervals.values())
        upper = tuple(exact_probability(high) for _, high in intervals.values())
        return cls(inputs, lower, upper)

    @classmethod
    def from_counts(
        cls, counts: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, confidence: object
    ) -> Intervals:
        """Return a set that contains the prior that counts were drawn from, with a confidence.

        The counts are those of independent draws, over every label that exists (0 if not seen).
        A label that was never seen may have any probability from 0 to a few times 1 / n.

        Source: math exact intervals for every symbol at once.

        >>> near = Intervals.from_counts({"none": 700, "cold": 200, "flu": 100}, confidence="0.99")
        >>> [f"{float(low):.4f} to {float(high):.4f}" for low, high in zip(near.lower, near.upper)]
        ['0.6558 to 0.7417', '0.1643 to 0.2394', '0.0741 to 0.1308']
        """
        pairs = list(counts.items() if isinstance(counts, Mapping) else counts)
        beta = read_confidence(confidence)
        alphabet = Alphabet.of(label for label, _ in pairs)
        whole = []
        for label, value in pairs:
            number = exact(value, name=f"count of {label!r}")
            if number < 0 or number.denominator != 1:
                raise CountError(
                    "not a number of observations",
                    where=f"label {label!r}",
                    value=str(value),
                    remedy="give counts: a confidence needs observations, not probabilities",
                )
            whole.append(int(number))
        told = f"{sum(whole):,} observations"
        return cls(alphabet, *simultaneous_intervals(whole, beta), 1 - beta, told)

    @classmethod
    def all_priors(cls, labels: Iterable[Any]) -> Intervals:
        """Return the set of all priors on the labels (worst-case LIP, which is LDP)."""
        return cls.of(dict.fromkeys(labels, (0, 1)))

    def __post_init__(self) -> None:
        for label, low, high in zip(self.inputs.labels, self.lower, self.upper, strict=True):
            if low > high:
                raise CountError(
                    "empty interval",
                    where=f"label {label!r}",
                    value=f"{low} to {high}",
                    remedy="give lowest, then highest",
                )
        if sum(self.lower) > 1 or sum(self.upper) < 1:
            raise CountError(
                "no prior fits the intervals",
                value=f"lower ends sum to {float(sum(self.lower)):.6g}, "
                f"upper ends to {float(sum(self.upper)):.6g}",
                remedy="lower ends must sum to at most 1, upper ends to at least 1",
            )

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs."""
        return self.alphabet

    @cached_property
    def symbol_ranges(self) -> SymbolRanges:
        """The intervals shrunk to what some prior of the set attains."""
        low_sum, high_sum = sum(self.lower), sum(self.upper)
        pairs = list(zip(self.lower, self.upper, strict=True))
        lower = tuple(max(low, 1 - (high_sum - high)) for low, high in pairs)
        upper = tuple(min(high, 1 - (low_sum - low)) for low, high in pairs)
        return lower, upper

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([value > 0 for value in self.symbol_ranges[1]])

    @cached_property
    def _scaled_integers(self) -> tuple[int, list[int], list[int]]:
        scale = math.lcm(*(v.denominator for v in (*self.lower, *self.upper)))
        return scale, [int(v * scale) for v in self.lower], [int(v * scale) for v in self.upper]

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Give the free mass to the lightest (heaviest) entries first."""
        scale, lower, upper = self._scaled_integers
        masses = list(lower)
        free = scale - sum(lower)
        for index in np.argsort(column if least else -column, kind="stable"):
            if free == 0:
                break
            step = min(free, upper[index] - lower[index])
            masses[index] += step
            free -= step
        return Prior(self.inputs, tuple(masses))

    def representative(self) -> Prior:
        """Return the prior that is as far into each interval as into the others."""
        lower, upper = self.lower, self.symbol_ranges[1]
        floor = sum(lower, Fraction(0))
        room = sum(upper, Fraction(0)) - floor
        share = (1 - floor) / room if room else Fraction(0)
        values = [low + share * (high - low) for low, high in zip(lower, upper, strict=True)]
        return Prior(self.inputs, common_integers(values)).check_masses()

    def reordered(self, inputs: Alphabet) -> Intervals:
        """Return the same set in the order of another alphabet."""
        order = inputs.positions_in(self.inputs, whose="the channel", other_name="the intervals")
        return self.selected(inputs, order.tolist())

    def selected(self, inputs: Alphabet, places: Sequence[int]) -> Intervals:
        """Return the intervals of some symbols, by their places, under these labels."""
        ends = (tuple(side[place] for place in places) for side in (self.lower, self.upper))
        lower, upper = ends
        return replace(self, alphabet=inputs, lower=lower, upper=upper)

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        found = f"every prior within intervals on {len(self.inputs)} symbols"
        if self.confidence is None:
            return found
        sure = f"{100 * float(self.confidence):.6g} %"
        return f"{found}, which hold the true one with confidence {sure} ({self.evidence})"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        ends = [[str(low), str(high)] for low, high in zip(self.lower, self.upper, strict=True)]
        sure = [] if self.confidence is None else [str(self.confidence), self.evidence]
        return fingerprint(["intervals", self.inputs.to_data(), ends, *sure])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "intervals",
            "labels": self.inputs.to_data(),
            "lower": [str(value) for value in self.lower],
            "upper": [str(value) for value in self.upper],
        } | (
            {}
            if self.confidence is None
            else {"confidence": str(self.confidence), "evidence": self.evidence}
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Intervals:
        """Read the JSON form."""
        inputs = Alphabet.from_data(data.get("labels"))
        ends = []
        for name in ("lower", "upper"):
            values = data.get(name)
            if not isinstance(values, list) or len(values) != len(inputs):
                raise CountError(f"{name} is not a list of one number for each label", value=values)
            ends.append(tuple(exact_probability(value, name=name) for value in values))
        lower, upper = ends
        told = data.get("confidence")
        if told is None:
            return cls(inputs, lower, upper)
        sure = 1 - read_confidence(told)
        return cls(inputs, lower, upper, sure, str(data.get("evidence", "")))


@dataclass(frozen=True)
class Ball(PriorSet):
    """All priors within a total-variation distance of a centre, on the centre's labels.

    Source: 000 Def 6, Def 7.

    >>> near = Ball.of(Prior.from_counts({"a": 1, "b": 1}), "0.1")
    >>> near.mass_range(np.array([0, 1]))
    (Fraction(2, 5), Fraction(3, 5))
    """

    kind: ClassVar[Literal["ball"]] = "ball"
    middle: ClassVar[str] = "the centre of the ball"
    centre: Prior
    radius: Fraction

    @classmethod
    def of(cls, centre: Prior, radius: object) -> Ball:
        """Make the ball of a radius between 0 and 1."""
        return cls(centre, exact_probability(radius, name="radius"))

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs."""
        return self.centre.alphabet

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([bool(count) or self.radius > 0 for count in self.centre.counts])

    @cached_property
    def symbol_ranges(self) -> SymbolRanges:
        """The least and the most probability of each symbol; one that is alone keeps all of it."""
        masses, radius = self.centre.fractions, self.radius if len(self.inputs) > 1 else Fraction(0)
        low = tuple(max(p - radius, Fraction(0)) for p in masses)
        return low, tuple(min(p + radius, Fraction(1)) for p in masses)

    @cached_property
    def _scaled_integers(self) -> tuple[list[int], int]:
        scale = math.lcm(self.centre.total, self.radius.denominator)
        factor = scale // self.centre.total
        return [count * factor for count in self.centre.counts], int(self.radius * scale)

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Move mass off the heaviest (lightest) entries to the others."""
        centre, left = self._scaled_integers
        masses = list(centre)
        order = [int(i) for i in np.argsort(-column if least else column, kind="stable")]
        target = order[-1]
        for index in order[:-1]:
            if left == 0:
                break
            step = min(left, masses[index])
            masses[index] -= step
            masses[target] += step
            left -= step
        return Prior(self.inputs, tuple(masses))

    def representative(self) -> Prior:
        """Return the centre, or a prior near it if some possible input has no chance there."""
        zeros = tuple(int(not count) for count in self.centre.counts)
        if not any(zeros) or not self.radius:
            return self.centre
        share = self.radius / 2  # its distance from the centre in total variation
        return Prior.mixture([self.centre, Prior(self.inputs, zeros)], [1 - share, share])

    def reordered(self, inputs: Alphabet) -> Ball:
        """Return the same ball in the order of another alphabet."""
        return Ball(self.centre.reordered(inputs), self.radius)

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return (
            f"every prior within total variation {float(self.radius):g} "
            f"of a prior on {len(self.inputs)} symbols"
        )

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        return fingerprint(["ball", self.centre.fingerprint, str(self.radius)])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"kind": "ball", "centre": self.centre.to_data(), "radius": str(self.radius)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ball:
        """Read the JSON form."""
        return cls.of(Prior.from_json(data.get("centre")), data.get("radius"))
