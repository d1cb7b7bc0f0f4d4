"""A joint: the secret is another attribute, correlated with the value that is released."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

from liftlock.errors import CountError, LabelError
from liftlock.exact.fingerprint import fingerprint, integer_to_json
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet
from liftlock.model.prior import (
    Prior,
    check_table,
    common_integers,
    count_columns,
    integers_from_json,
    refuse_too_rare,
)
from liftlock.model.profiles import ProfileGraph


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
    scope: str = field(default="", compare=False)
    """For whom what is proved under it holds, if that is not plain."""

    def __post_init__(self) -> None:
        check_table(self.counts, self.secrets, self.inputs, ("secret", "input"))
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
        return cls(secrets, inputs, counts).check_masses()

    @classmethod
    def from_columns(
        cls, secrets: Iterable[Any], values: Iterable[Any], *, smoothing: object = 0
    ) -> Joint:
        """Count two columns of the same length; `smoothing` is added to every cell.

        >>> Joint.from_columns(["f", "m", "f"], [1, 2, 1]).counts
        ((2, 0), (0, 1))
        """
        rows, columns, table = count_columns(list(secrets), list(values), smoothing=smoothing)
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
            [chance * value for value in graph.distribution(name).fractions]
            for name, chance in zip(graph.profiles.labels, aligned, strict=True)
        ]
        return cls.from_rows(graph.profiles, graph.inputs, rows)

    def check_masses(self) -> Joint:
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

    @property
    def smallest(self) -> Fraction:
        """The smallest positive probability of a secret."""
        return self.secret_prior.smallest

    def reordered(self, inputs: Alphabet) -> Joint:
        """Return the same joint with the inputs in another order."""
        if inputs.labels == self.inputs.labels:
            return self
        order = inputs.positions_in(self.inputs, whose="the channel", other_name="the joint")
        rows = tuple(tuple(row[i] for i in order) for row in self.counts)
        return Joint(self.secrets, inputs, rows)

    def restrict(self, inputs: Iterable[Any]) -> Joint:
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
        } | ({"scope": self.scope} if self.scope else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Joint:
        """Read the JSON form."""
        rows = data.get("counts")
        if not isinstance(rows, list):
            raise CountError("counts is not a list", value=rows)
        return cls(
            Alphabet.from_data(data.get("secrets")),
            Alphabet.from_data(data.get("inputs")),
            tuple(integers_from_json(row, "counts") for row in rows),
            str(data.get("scope", "")),
        ).check_masses()
