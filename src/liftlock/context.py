"""What is assumed about the world: the secret, the data, and the prior knowledge linking them.

Five kinds of context exist:

- a `Prior`: the secret is the value itself (S = X);
- a `Joint`: the secret S is another attribute, correlated with the value X;
- a set of priors (`Family`, `Intervals`, `Ball`): the prior is not known exactly, and a guarantee
  must hold for every prior of the set;
- a `ProfileGraph`: the secret is which distribution the data comes from;
- `PerUserPriors`: each user has a prior, or a set of priors, of their own, and a guarantee must
  hold for each of them.

Notions dispatch on these kinds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from liftlock.alphabet import Alphabet
from liftlock.confidence import read_confidence, simultaneous_intervals
from liftlock.errors import CountError, LabelError, NotDefined
from liftlock.exact.encoding import fingerprint, integer_to_json
from liftlock.exact.integers import Integers, as_integers, multiply
from liftlock.exact.numbers import exact, exact_probability
from liftlock.line.grid import GridPrior
from liftlock.per_user import AnyUserPrior
from liftlock.prior import (
    Prior,
    common_integers,
    counted_columns,
    integers_from_json,
    refuse_too_rare,
)
from liftlock.profile_graph import ProfileGraph

Kind = Literal["prior", "joint", "family", "intervals", "ball", "profiles", "per-user"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Designs say which of these they fit; verbs dispatch on them."""


@runtime_checkable
class Context(Protocol):
    """What every context can say of itself."""

    @property
    def kind(self) -> Kind:
        """What kind of knowledge it is."""
        ...

    @property
    def inputs(self) -> Alphabet:
        """The channel inputs it speaks of."""
        ...

    @property
    def secrets(self) -> Alphabet:
        """The secrets to be protected."""
        ...

    @property
    def fingerprint(self) -> str:
        """The sha256 of its canonical form."""
        ...

    def describe(self) -> str:
        """Say in a few words what it is."""
        ...

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        ...


@dataclass(frozen=True)
class Joint:
    """The joint distribution of a secret S (rows) and the data X (columns), as exact counts.

    >>> joint = Joint.from_counts({"yes": {"a": 3, "b": 1}, "no": {"a": 2, "b": 4}})
    >>> joint.prior["a"], joint.secret_prior["yes"]
    (Fraction(1, 2), Fraction(2, 5))
    """

    kind: ClassVar[Literal["joint"]] = "joint"
    secrets: Alphabet
    inputs: Alphabet
    counts: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.secrets):
            raise CountError(f"{len(self.counts)} rows for {len(self.secrets)} secrets")
        for secret, row in zip(self.secrets.labels, self.counts, strict=True):
            if len(row) != len(self.inputs):
                raise CountError(
                    f"{len(row)} counts for {len(self.inputs)} inputs", where=f"secret {secret!r}"
                )
            for label, count in zip(self.inputs.labels, row, strict=True):
                if count < 0:
                    raise CountError(
                        "negative count",
                        where=f"secret {secret!r}, input {label!r}",
                        value=count,
                        remedy="counts are 0 or more",
                    )
        if self.total == 0:
            raise CountError("all counts are 0", remedy="give at least one positive count")

    @classmethod
    def from_counts(cls, table: Mapping[Any, Mapping[Any, Any]]) -> Joint:
        """Make a joint from a table secret -> input -> count (or probability)."""
        secrets = Alphabet.of(table)
        first = next(iter(table.values()))
        inputs = Alphabet.of(first)
        rows = []
        for secret, row in table.items():
            if set(row) != set(first):
                raise LabelError(
                    "rows have different inputs",
                    where=f"secret {secret!r}",
                    remedy="give every secret the same inputs",
                )
            rows.append([exact(row[label], name="count") for label in first])
        return cls.from_rows(secrets, inputs, rows)

    @classmethod
    def from_rows(cls, secrets: Alphabet, inputs: Alphabet, rows: Sequence[Sequence[Any]]) -> Joint:
        """Make a joint from rows of exact numbers, one row per secret."""
        numbers = [[exact(value, name="count") for value in row] for row in rows]
        width = len(inputs)
        for place, row in enumerate(numbers):
            if len(row) != width:
                raise CountError(f"{len(row)} counts for {width} inputs", where=f"row {place + 1}")
        flat = common_integers([value for row in numbers for value in row] or [Fraction(0)])
        counts = tuple(flat[i * width : (i + 1) * width] for i in range(len(numbers)))
        return cls(secrets, inputs, counts).checked()

    @classmethod
    def from_columns(
        cls, secrets: Iterable[Any], values: Iterable[Any], *, smoothing: object = 0
    ) -> Joint:
        """Count two columns of the same length; `smoothing` is added to every cell.

        >>> Joint.from_columns(["f", "m", "f"], [1, 2, 1]).counts
        ((2, 0), (0, 1))
        """
        rows, columns, table = counted_columns(list(secrets), list(values), smoothing=smoothing)
        return cls.from_rows(rows, columns, table)

    @classmethod
    def from_profiles(cls, graph: ProfileGraph, weights: Prior | None = None) -> Joint:
        """Take the profile for the secret, with a prior over profiles (by default all alike).

        >>> Joint.from_profiles(ProfileGraph.bernoulli(["0.2", "0.9"])).prior[1]
        Fraction(11, 20)
        """
        chances = Prior.uniform(graph.profiles.labels) if weights is None else weights
        aligned = chances.reordered(graph.profiles).fractions
        rows = [
            [chance * value for value in graph.law(name).fractions]
            for name, chance in zip(graph.profiles.labels, aligned, strict=True)
        ]
        return cls.from_rows(graph.profiles, graph.inputs, rows)

    def checked(self) -> Joint:
        """Return itself, unless a probability is too small to be worked with."""

        def where(place: int) -> str:
            row, column = divmod(place, len(self.inputs))
            return f"secret {self.secrets.labels[row]!r}, input {self.inputs.labels[column]!r}"

        refuse_too_rare([count for row in self.counts for count in row], where)
        return self

    @cached_property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(sum(row) for row in self.counts)

    @cached_property
    def prior(self) -> Prior:
        """The marginal of the data X."""
        return Prior(self.inputs, tuple(sum(column) for column in zip(*self.counts, strict=True)))

    @cached_property
    def secret_prior(self) -> Prior:
        """The marginal of the secret S."""
        return Prior(self.secrets, tuple(sum(row) for row in self.counts))

    def reordered(self, inputs: Alphabet) -> Joint:
        """Return the same joint with the inputs in another order."""
        if inputs.labels == self.inputs.labels:
            return self
        order = inputs.order_of(self.inputs, whose="the channel", other_name="the joint")
        rows = tuple(tuple(row[i] for i in order) for row in self.counts)
        return Joint(self.secrets, inputs, rows)

    def restricted(self, inputs: Iterable[Any]) -> Joint:
        """Condition on the data lying in a subset of the inputs."""
        keep = [self.inputs.index(label) for label in inputs]
        rows = tuple(tuple(row[i] for i in keep) for row in self.counts)
        return Joint(self.secrets, self.inputs.subset(keep), rows)

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return f"a joint of {len(self.secrets)} secrets and {len(self.inputs)} inputs"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        divisor = math.gcd(*(count for row in self.counts for count in row))
        rows = [[str(count // divisor) for count in row] for row in self.counts]
        return fingerprint(["joint", self.secrets.to_data(), self.inputs.to_data(), rows])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "joint",
            "secrets": self.secrets.to_data(),
            "inputs": self.inputs.to_data(),
            "counts": [[integer_to_json(count) for count in row] for row in self.counts],
        }


@runtime_checkable
class PriorSet(Context, Protocol):
    """A convex set of priors, known through the least and the most mass it can give an output."""

    @property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        ...

    def mass_range(self, column: Integers) -> tuple[Fraction, Fraction]:
        """Return the least and the most of sum_x P(x) column[x] over the set, exactly."""
        ...

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return a prior of the set that attains an end of `mass_range`."""
        ...

    def reordered(self, inputs: Alphabet) -> PriorSet:
        """Return the same set in the order of another alphabet."""
        ...


@dataclass(frozen=True)
class Family:
    """The convex hull of finitely many priors; a guarantee must hold for each mixture of them.

    Source: 000 Def 6, Lemma 2.

    >>> pair = Family.of([Prior.from_counts({"a": 1, "b": 1}), Prior.from_counts({"a": 1, "b": 3})])
    >>> pair.mass_range(np.array([0, 1]))
    (Fraction(1, 2), Fraction(3, 4))
    """

    kind: ClassVar[Literal["family"]] = "family"
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

    @property
    def secrets(self) -> Alphabet:
        """The secrets: the inputs themselves."""
        return self.inputs

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([any(p.counts[i] for p in self.priors) for i in range(len(self.inputs))])

    def mass_range(self, column: Integers) -> tuple[Fraction, Fraction]:
        """Return the least and the most of sum_x P(x) column[x] over the set."""
        masses = self._masses(column)
        return min(masses), max(masses)

    def _masses(self, column: Integers) -> list[Fraction]:
        values = column.reshape(-1, 1)
        return [
            Fraction(multiply(as_integers(p.counts).reshape(1, -1), values).item(0, 0), p.total)
            for p in self.priors
        ]

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return a prior of the set that attains an end of `mass_range`."""
        masses = self._masses(column)
        return self.priors[masses.index(min(masses) if least else max(masses))]

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


@dataclass(frozen=True)
class Intervals:
    """All priors whose probabilities lie in given intervals, symbol by symbol.

    Source: 000 Def 6.

    >>> box = Intervals.of({"a": ("0.1", "0.2"), "b": (0, 1)})
    >>> box.mass_range(np.array([1, 0]))
    (Fraction(1, 10), Fraction(1, 5))
    """

    kind: ClassVar[Literal["intervals"]] = "intervals"
    inputs: Alphabet
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]

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
                    remedy="a confidence needs how often each label was seen, not probabilities",
                )
            whole.append(int(number))
        return cls(alphabet, *simultaneous_intervals(whole, beta))

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
    def secrets(self) -> Alphabet:
        """The secrets: the inputs themselves."""
        return self.inputs

    @cached_property
    def tight(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The intervals shrunk to what some prior of the set attains."""
        low_sum, high_sum = sum(self.lower), sum(self.upper)
        pairs = list(zip(self.lower, self.upper, strict=True))
        lower = tuple(max(low, 1 - (high_sum - high)) for low, high in pairs)
        upper = tuple(min(high, 1 - (low_sum - low)) for low, high in pairs)
        return lower, upper

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([value > 0 for value in self.tight[1]])

    @cached_property
    def _scaled(self) -> tuple[int, list[int], list[int]]:
        scale = math.lcm(*(v.denominator for v in (*self.lower, *self.upper)))
        return scale, [int(v * scale) for v in self.lower], [int(v * scale) for v in self.upper]

    def _fill(self, column: Integers, *, least: bool) -> tuple[int, list[int]]:
        """Return (scale, masses): the free mass goes to the lightest (heaviest) entries first."""
        scale, lower, upper = self._scaled
        masses = list(lower)
        free = scale - sum(lower)
        for index in np.argsort(column if least else -column, kind="stable"):
            if free == 0:
                break
            step = min(free, upper[index] - lower[index])
            masses[index] += step
            free -= step
        return scale, masses

    def mass_range(self, column: Integers) -> tuple[Fraction, Fraction]:
        """Return the least and the most of sum_x P(x) column[x] over the set."""
        ends = []
        for least in (True, False):
            scale, masses = self._fill(column, least=least)
            total = sum(m * int(w) for m, w in zip(masses, column, strict=True) if m)
            ends.append(Fraction(total, scale))
        return ends[0], ends[1]

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return a prior of the set that attains an end of `mass_range`."""
        _, masses = self._fill(column, least=least)
        return Prior(self.inputs, tuple(masses))

    def reordered(self, inputs: Alphabet) -> Intervals:
        """Return the same set in the order of another alphabet."""
        order = inputs.order_of(self.inputs, whose="the channel", other_name="the intervals")
        return Intervals(
            inputs, tuple(self.lower[i] for i in order), tuple(self.upper[i] for i in order)
        )

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        return f"every prior within intervals on {len(self.inputs)} symbols"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        ends = [[str(low), str(high)] for low, high in zip(self.lower, self.upper, strict=True)]
        return fingerprint(["intervals", self.inputs.to_data(), ends])

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "intervals",
            "labels": self.inputs.to_data(),
            "lower": [str(value) for value in self.lower],
            "upper": [str(value) for value in self.upper],
        }


@dataclass(frozen=True)
class Ball:
    """All priors within a total-variation distance of a centre, on the centre's labels.

    Source: 000 Def 6, Def 7.

    >>> near = Ball.of(Prior.from_counts({"a": 1, "b": 1}), "0.1")
    >>> near.mass_range(np.array([0, 1]))
    (Fraction(2, 5), Fraction(3, 5))
    """

    kind: ClassVar[Literal["ball"]] = "ball"
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

    @property
    def secrets(self) -> Alphabet:
        """The secrets: the inputs themselves."""
        return self.inputs

    @cached_property
    def possible(self) -> npt.NDArray[np.bool_]:
        """Which symbols have positive probability under some prior of the set."""
        return np.array([bool(count) or self.radius > 0 for count in self.centre.counts])

    @cached_property
    def _scaled(self) -> tuple[int, list[int], int]:
        scale = math.lcm(self.centre.total, self.radius.denominator)
        factor = scale // self.centre.total
        return scale, [count * factor for count in self.centre.counts], int(self.radius * scale)

    def _moved(self, column: Integers, *, least: bool) -> tuple[int, list[int]]:
        """Return (scale, masses): mass moves off the heaviest (lightest) entries to the others."""
        scale, centre, left = self._scaled
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
        return scale, masses

    def mass_range(self, column: Integers) -> tuple[Fraction, Fraction]:
        """Return the least and the most of sum_x P(x) column[x] over the set."""
        ends = []
        for least in (True, False):
            scale, masses = self._moved(column, least=least)
            total = sum(m * int(w) for m, w in zip(masses, column, strict=True) if m)
            ends.append(Fraction(total, scale))
        return ends[0], ends[1]

    def extreme(self, column: Integers, *, least: bool) -> Prior:
        """Return a prior of the set that attains an end of `mass_range`."""
        _, masses = self._moved(column, least=least)
        return Prior(self.inputs, tuple(masses))

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


def context_from_data(data: Any) -> Context:
    """Read the JSON form of any context."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind == "prior":
        return Prior.from_json(data)
    if kind == "grid":
        return GridPrior.from_json(data)
    if kind == "joint":
        rows = data.get("counts")
        if not isinstance(rows, list):
            raise CountError("counts is not a list", value=rows)
        return Joint(
            Alphabet.from_data(data.get("secrets")),
            Alphabet.from_data(data.get("inputs")),
            tuple(integers_from_json(row, "counts") for row in rows),
        ).checked()
    if kind == "profiles":
        return ProfileGraph.from_json(data)
    if kind == "per-user":
        return AnyUserPrior(Alphabet.from_data(data.get("labels")))
    if kind == "family":
        members = data.get("priors")
        if not isinstance(members, list):
            raise CountError("priors is not a list", value=members)
        return Family.of(Prior.from_json(member) for member in members)
    if kind == "intervals":
        inputs = Alphabet.from_data(data.get("labels"))
        return Intervals(inputs, _ends(data, "lower", inputs), _ends(data, "upper", inputs))
    if kind == "ball":
        return Ball.of(Prior.from_json(data.get("centre")), data.get("radius"))
    raise CountError(
        "unknown kind of context",
        value=kind,
        remedy="known kinds are prior, grid, joint, family, intervals, ball, profiles and per-user",
    )


def _ends(data: Mapping[str, Any], name: str, inputs: Alphabet) -> tuple[Fraction, ...]:
    values = data.get(name)
    if not isinstance(values, list) or len(values) != len(inputs):
        raise CountError(f"{name} is not a list of one number for each label", value=values)
    return tuple(exact_probability(value, name=name) for value in values)


def representative(context: Context) -> Prior:
    """Return one prior of the context: the data's own, or one inside the set of priors."""
    if isinstance(context, Prior):
        return context
    if isinstance(context, Joint):
        return context.prior
    if isinstance(context, Ball):
        return _inside(context)
    if isinstance(context, Family):
        count = len(context.priors)
        return Prior.mixture(context.priors, [Fraction(1, count)] * count)
    if isinstance(context, Intervals):
        lower, upper = context.lower, context.tight[1]
        floor = sum(lower, Fraction(0))
        room = sum(upper, Fraction(0)) - floor
        share = (1 - floor) / room if room else Fraction(0)
        values = [low + share * (high - low) for low, high in zip(lower, upper, strict=True)]
        return Prior(context.inputs, common_integers(values)).checked()
    raise NotDefined(
        "one prior of X", context.describe(), "give a prior, a joint or a set of priors"
    )


def _inside(ball: Ball) -> Prior:
    """Return the centre of a ball, or one near it that gives every possible input a chance."""
    centre = ball.centre
    zeros = [int(not count) for count in centre.counts]
    if not any(zeros) or not ball.radius:
        return centre
    share = ball.radius / 2  # its distance from the centre in total variation
    return Prior.mixture([centre, Prior(centre.alphabet, tuple(zeros))], [1 - share, share])
