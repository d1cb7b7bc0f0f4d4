"""A graph of profiles: which distribution a person's data comes from is the secret.

A profile is a distribution over one alphabet that everybody knows; an edge says that two profiles
must not be told apart. What is protected is the profile, not the value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.fingerprint import fingerprint, integer_to_json
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.prior import (
    Prior,
    check_table,
    common_integers,
    count_columns,
    integers_from_json,
)

Edge = tuple[int, int]
ProfileRows = Mapping[Any, Mapping[Any, Any] | Prior]

_LISTED = 8


@dataclass(frozen=True, repr=False)
class ProfileGraph:
    """Named distributions over one alphabet, and the pairs that must not be told apart.

    As a context it means that the secret is the profile. Edges have no direction; each is a pair of
    positions, the smaller first.

    Source: 004 Def 2.

    >>> graph = ProfileGraph.chain(
    ...     {"day": {"low": 1, "high": 3}, "night": {"low": 2, "high": 2}, "idle": {"low": 4}}
    ... )
    >>> graph.distribution("idle")["high"], graph.edge_names
    (Fraction(0, 1), (('day', 'night'), ('night', 'idle')))
    """

    kind: ClassVar[Literal["profiles"]] = "profiles"
    profiles: Alphabet
    inputs: Alphabet
    counts: tuple[tuple[int, ...], ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        check_table(self.counts, self.profiles, self.inputs, ("profile", "value"))
        for name, row in zip(self.profiles.labels, self.counts, strict=True):
            if not any(row):
                raise CountError(
                    "the counts of a profile are all 0",
                    where=f"profile {name!r}",
                    remedy="give it at least one positive count, or smooth it",
                )
        size = len(self.profiles)
        kept: dict[Edge, None] = {}
        for first, second in self.edges:
            if not (0 <= first < size and 0 <= second < size):
                raise InputError(
                    "an edge has no profile", value=(first, second), remedy=f"0 to {size - 1}"
                )
            if first == second:
                raise InputError(
                    "an edge from a profile to itself",
                    value=self.profiles.labels[first],
                    remedy="leave it out",
                )
            kept[min(first, second), max(first, second)] = None
        # An edge list may name each pair in both directions: it is one promise.
        object.__setattr__(self, "edges", tuple(kept))

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def of(cls, profiles: ProfileRows, edges: Iterable[tuple[Any, Any]]) -> ProfileGraph:
        """Make a graph from name -> value -> count (or probability), and pairs of names.

        A value that a profile does not mention has probability 0 there.

        >>> ProfileGraph.of({"a": {0: "0.2", 1: "0.8"}, "b": {0: 1, 1: 1}}, [("a", "b")]).edges
        ((0, 1),)
        """
        names, inputs, counts = _rows(profiles)
        return cls(names, inputs, counts, _positions(names, edges))

    @classmethod
    def complete(cls, profiles: ProfileRows) -> ProfileGraph:
        """Join every two profiles: nobody's is to be told from anybody's."""
        names, inputs, counts = _rows(profiles)
        return cls(names, inputs, counts, tuple(combinations(range(len(names)), 2)))

    @classmethod
    def chain(cls, profiles: ProfileRows) -> ProfileGraph:
        """Join each profile to the next."""
        names, inputs, counts = _rows(profiles)
        return cls(names, inputs, counts, tuple(pairwise(range(len(names)))))

    @classmethod
    def from_groups(cls, profiles: ProfileRows, groups: Mapping[Any, Any]) -> ProfileGraph:
        """Join every two profiles of the same group; the group itself is not protected.

        >>> graph = ProfileGraph.from_groups(
        ...     {"ann": {0: 1, 1: 2}, "bob": {0: 2, 1: 1}, "cy": {0: 1, 1: 1}},
        ...     {"ann": "lab", "bob": "lab", "cy": "office"},
        ... )
        >>> graph.edge_names, graph.isolated
        ((('ann', 'bob'),), ('cy',))
        """
        names, inputs, counts = _rows(profiles)
        return cls(names, inputs, counts, _inside_groups(names, groups))

    @classmethod
    def bernoulli(
        cls,
        parameters: Mapping[Any, Any] | Iterable[Any],
        edges: Iterable[tuple[Any, Any]] | None = None,
    ) -> ProfileGraph:
        """Make profiles of one bit from the probabilities of 1; without edges they form a chain.

        >>> ProfileGraph.bernoulli(["0.2", "0.9"]).distribution("0.9").counts
        (1, 9)
        """
        given = (
            dict(parameters)
            if isinstance(parameters, Mapping)
            else {str(value): value for value in parameters}
        )
        ones = {name: exact(value, name=f"p of {name!r}") for name, value in given.items()}
        for name, one in ones.items():
            if not 0 <= one <= 1:
                raise CountError(
                    "not a probability",
                    where=f"profile {name!r}",
                    value=str(given[name]),
                    remedy="give a number from 0 to 1",
                )
        rows = {name: {0: 1 - one, 1: one} for name, one in ones.items()}
        return cls.chain(rows) if edges is None else cls.of(rows, edges)

    @classmethod
    def from_columns(
        cls,
        profiles: Iterable[Any],
        values: Iterable[Any],
        *,
        edges: Iterable[tuple[Any, Any]] | None = None,
        groups: Mapping[Any, Any] | Iterable[Any] | None = None,
        smoothing: object = 0,
        labels: Iterable[Any] | None = None,
    ) -> ProfileGraph:
        """Count a table of one row for each observation: its profile, and its value.

        `smoothing` is added to every count; `labels` declares values that may not have been seen.
        `groups` is a mapping profile -> group, or a third column. Without edges and groups, every
        two profiles are joined.

        >>> table = ["ann", "ann", "bob"], ["low", "high", "low"]
        >>> ProfileGraph.from_columns(*table, smoothing=1).distribution("bob").counts
        (1, 2)
        """
        if edges is not None and groups is not None:
            raise InputError("both edges and groups", remedy="give one of them")
        left = list(profiles)
        names, inputs, table = count_columns(left, list(values), smoothing=smoothing, labels=labels)
        counts = tuple(common_integers(row) for row in table)
        if groups is not None:
            found = groups if isinstance(groups, Mapping) else _column_groups(left, groups)
            return cls(names, inputs, counts, _inside_groups(names, found))
        if edges is not None:
            return cls(names, inputs, counts, _positions(names, edges))
        return cls(names, inputs, counts, tuple(combinations(range(len(names)), 2)))

    @classmethod
    def from_networkx(cls, graph: Any, attribute: str = "profile") -> ProfileGraph:
        """Read a networkx graph whose nodes carry their distribution as an attribute."""
        rows = {}
        for name, data in graph.nodes(data=True):
            if attribute not in data:
                raise InputError(
                    f"a node without the attribute {attribute!r}",
                    value=name,
                    remedy="give every node a mapping value -> count, or name the attribute",
                )
            rows[name] = data[attribute]
        return cls.of(rows, graph.edges())

    @classmethod
    def from_pandas(cls, profiles: Any, edges: Any) -> ProfileGraph:
        """Read two data frames: a row for each profile (its index the name), and the edges.

        The edges are the first two columns of theirs; an adjacency matrix, whose index and columns
        are the names of all profiles, is understood too.
        """
        rows = {
            name: dict(zip(profiles.columns, row, strict=True))
            for name, row in zip(profiles.index, profiles.to_numpy().tolist(), strict=True)
        }
        if len(rows) != len(profiles.index):
            raise LabelError("a profile given twice", remedy="names must be different")
        names = set(profiles.index)
        if set(edges.index) == set(edges.columns) == names and len(edges.index) == len(names):
            cells = edges.to_numpy()
            if (cells != cells).any():
                raise InputError(
                    "the adjacency matrix has missing cells", remedy="write 0 for no edge"
                )
            pairs = [
                (edges.index[i], edges.columns[j]) for i, j in np.argwhere(cells != 0).tolist()
            ]
            return cls.of(rows, pairs)
        if len(edges.columns) < 2:
            raise InputError("edges with one column", remedy="give two columns of profile names")
        columns = edges.iloc[:, :2].to_numpy().tolist()
        return cls.of(rows, [(first, second) for first, second in columns])

    def with_edges(self, edges: Iterable[tuple[Any, Any]]) -> ProfileGraph:
        """Return the same profiles with other edges, given as pairs of names."""
        return ProfileGraph(
            self.profiles, self.inputs, self.counts, _positions(self.profiles, edges)
        )

    def smoothed(self, amount: object) -> ProfileGraph:
        """Add the same amount to every count of every profile."""
        extra = exact(amount, name="smoothing")
        if extra < 0:
            raise CountError("negative smoothing", value=amount, remedy="use 0 or more")
        counts = tuple(common_integers([count + extra for count in row]) for row in self.counts)
        return ProfileGraph(self.profiles, self.inputs, counts, self.edges)

    def reordered(self, inputs: Alphabet) -> ProfileGraph:
        """Return the same graph with its values in the order of another alphabet."""
        if inputs.labels == self.inputs.labels:
            return self
        order = inputs.positions_in(self.inputs, whose="the channel", other_name="the profiles")
        counts = tuple(tuple(row[i] for i in order) for row in self.counts)
        return ProfileGraph(self.profiles, inputs, counts, self.edges)

    # --- looking at it --------------------------------------------------------------------------

    @property
    def secrets(self) -> Alphabet:
        """The secrets to be protected: the names of the profiles."""
        return self.profiles

    def __len__(self) -> int:
        return len(self.profiles)

    def distribution(self, name: Label) -> Prior:
        """Return the distribution of one profile."""
        return Prior(self.inputs, self.counts[self.profiles.index(name)])

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The sum of the counts of each profile."""
        return tuple(sum(row) for row in self.counts)

    @cached_property
    def distributions(self) -> Floats:
        """The distributions as float64, one row for each profile."""
        rows = [
            [float(Fraction(count, total)) for count in row]
            for row, total in zip(self.counts, self.totals, strict=True)
        ]
        return np.array(rows, dtype=np.float64)

    @cached_property
    def pairs(self) -> Alphabet:
        """The inputs of a mechanism that uses the profile: (profile, value), profile slowest."""
        return self.profiles.paired(self.inputs)

    def uses_profile(self, inputs: Alphabet) -> bool:
        """Tell whether the inputs of a channel are pairs (profile, value), or the values alone.

        >>> ProfileGraph.bernoulli(["0.2", "0.9"]).uses_profile(Alphabet.of([0, 1]))
        False
        """
        labels = set(inputs.labels)
        if labels == set(self.inputs.labels):
            return False
        if labels == set(self.pairs.labels):
            return True
        unknown = [label for label in inputs.labels if label not in self.pairs]
        missing = [label for label in self.inputs.labels if label not in labels]
        raise InputError(
            "the inputs of the channel are neither the values of the profiles nor all pairs "
            "(profile, value)",
            value=unknown[0] if unknown else missing[0],
            remedy=f"give one row for each of {len(self.inputs)} values, or for each of "
            f"{len(self.pairs):,} pairs",
        )

    @property
    def edge_names(self) -> tuple[tuple[Label, Label], ...]:
        """The edges as pairs of names."""
        names = self.profiles.labels
        return tuple((names[first], names[second]) for first, second in self.edges)

    @property
    def edge_array(self) -> npt.NDArray[np.intp]:
        """The edges as an array of two columns."""
        return np.array(self.edges, dtype=np.intp).reshape(-1, 2)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The connected parts of the graph, as positions; a profile without edges is one alone."""
        part = list(range(len(self.profiles)))

        def root(place: int) -> int:
            while part[place] != place:
                part[place] = part[part[place]]
                place = part[place]
            return place

        for first, second in self.edges:
            low, high = sorted((root(first), root(second)))
            part[high] = low
        found: dict[int, list[int]] = defaultdict(list)
        for place in range(len(part)):
            found[root(place)].append(place)
        return tuple(tuple(places) for places in found.values())

    @property
    def isolated(self) -> tuple[Label, ...]:
        """The profiles without an edge, about which nothing is promised."""
        return tuple(self.profiles.labels[part[0]] for part in self.components if len(part) == 1)

    def impossible(self) -> list[tuple[int, int]]:
        """Return the positions (profile, value) of probability 0."""
        return [
            (i, x) for i, row in enumerate(self.counts) for x, count in enumerate(row) if not count
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProfileGraph):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        parts = (
            (len(self.profiles), "profile"),
            (len(self.edges), "edge"),
            (len(self.inputs), "value"),
        )
        profiles, edges, values = (f"{n:,} {name}{'s' * (n != 1)}" for n, name in parts)
        return f"a graph of {profiles} and {edges} on {values}"

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<ProfileGraph: {self.describe().removeprefix('a graph of ')}>"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form; equal distributions have equal fingerprints."""
        distributions = [[str(c) for c in Prior(self.inputs, row).reduced] for row in self.counts]
        edges = [list(edge) for edge in sorted(self.edges)]
        return fingerprint(
            ["profiles", self.profiles.to_data(), self.inputs.to_data(), distributions, edges]
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "kind": "profiles",
            "secrets": self.profiles.to_data(),
            "inputs": self.inputs.to_data(),
            "counts": [[integer_to_json(count) for count in row] for row in self.counts],
            "edges": [list(edge) for edge in self.edges],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ProfileGraph:
        """Read the JSON form."""
        rows, edges = data.get("counts"), data.get("edges")
        if not isinstance(rows, list) or not isinstance(edges, list):
            raise CountError("counts or edges is not a list", value=edges)
        pairs = [integers_from_json(edge, "edges") for edge in edges]
        if any(len(pair) != 2 for pair in pairs):
            raise CountError("an edge is not a pair", value=edges[:_LISTED])
        return cls(
            Alphabet.from_data(data.get("secrets")),
            Alphabet.from_data(data.get("inputs")),
            tuple(integers_from_json(row, "counts") for row in rows),
            tuple((pair[0], pair[1]) for pair in pairs),
        )


def _rows(profiles: ProfileRows) -> tuple[Alphabet, Alphabet, tuple[tuple[int, ...], ...]]:
    """Read profiles given as name -> value -> number, or name -> prior."""
    if not isinstance(profiles, Mapping):
        raise InputError(
            "profiles are not a mapping",
            value=type(profiles).__name__,
            remedy="give name -> {value: count}",
        )
    names = Alphabet.of(profiles)
    tables: list[dict[Any, Any]] = []
    for name, row in profiles.items():
        if isinstance(row, Prior):
            tables.append(dict(zip(row.labels, row.counts, strict=True)))
        elif isinstance(row, Mapping):
            tables.append({plain_label(value): number for value, number in row.items()})
        else:
            raise InputError(
                "the profile is not a distribution",
                where=f"profile {name!r}",
                value=row,
                remedy="give {value: count}, or a Prior",
            )
    inputs = Alphabet.of(dict.fromkeys(value for table in tables for value in table))
    counts = []
    for name, table in zip(names.labels, tables, strict=True):
        numbers = []
        for value in inputs.labels:
            number = exact(table.get(value, 0), name=f"count of {value!r} in profile {name!r}")
            numbers.append(number)
        counts.append(common_integers(numbers))
    return names, inputs, tuple(counts)


def _positions(names: Alphabet, edges: Iterable[Any]) -> tuple[Edge, ...]:
    found = []
    for place, edge in enumerate(edges):
        pair = () if isinstance(edge, str) else tuple(edge)
        if len(pair) != 2:
            raise InputError(
                "an edge is not a pair of profiles", where=f"edge {place + 1}", value=edge
            )
        for name in pair:
            if name not in names:
                raise LabelError(
                    "an edge names an unknown profile",
                    where=f"edge {place + 1}",
                    value=name,
                    remedy=f"use one of {_list_labels(names.labels)}",
                )
        found.append((names.index(pair[0]), names.index(pair[1])))
    return tuple(found)


def _inside_groups(names: Alphabet, groups: Mapping[Any, Any]) -> tuple[Edge, ...]:
    members: dict[Any, list[int]] = defaultdict(list)
    for name in groups:
        if name not in names:
            raise LabelError(
                "a group names an unknown profile",
                value=name,
                remedy=f"use one of {_list_labels(names.labels)}",
            )
    for place, name in enumerate(names.labels):
        if name not in groups:
            raise LabelError(
                "a profile without a group", value=name, remedy="give every profile a group"
            )
        members[groups[name]].append(place)
    return tuple(edge for places in members.values() for edge in combinations(places, 2))


def _column_groups(profiles: Sequence[Any], groups: Iterable[Any]) -> dict[Label, Any]:
    """Read the group of each profile from a column of a table."""
    column = list(groups)
    if len(column) != len(profiles):
        raise CountError(
            f"columns of {len(profiles)} and {len(column)} rows",
            remedy="give columns of the same table",
        )
    found: dict[Label, Any] = {}
    for place, (name, group) in enumerate(zip(profiles, column, strict=True)):
        first = found.setdefault(plain_label(name), group)
        if first != group:
            raise InputError(
                f"profile {name!r} is in two groups",
                where=f"row {place + 1}",
                value=(first, group),
                remedy="every row of a profile names the same group",
            )
    return found


def _list_labels(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:_LISTED])
    return shown if len(labels) <= _LISTED else f"{shown} and {len(labels) - _LISTED} more"
