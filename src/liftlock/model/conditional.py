"""Joints given another value: what is known of the secret and of X for each value k of others.

A mechanism may then depend on k, W(y | x, k), and a guarantee is asked for every k by itself: of
P(s | y, k) against P(s | k). Its inputs are pairs (group, value): values of k whose people are
alike may share a group, which has one table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from liftlock.errors import CountError, InputError, LabelError
from liftlock.exact.fingerprint import fingerprint, integer_to_json
from liftlock.exact.numbers import exact
from liftlock.model.alphabet import Alphabet, Label, label_to_json, plain_label
from liftlock.model.context import Context
from liftlock.model.joint import Joint
from liftlock.model.prior import (
    Prior,
    check_table,
    common_integers,
    integers_from_json,
    sort_labels,
)
from liftlock.model.prior_sets import Intervals

if TYPE_CHECKING:
    from liftlock.model.channel import Channel

REST: Label = "(other)"
"""What all other values of k are called together, those that were never seen among them."""

FEWEST = 100
"""In fewer rows a share has a standard error of more than 5 points at worst: too few to design for.

A value of k in fewer rows belongs to the rest, unless told otherwise.
"""

_LISTED = 6

Cells = tuple[tuple[int, ...], ...]
"""Counts, a row for each secret and a column for each value."""


class Part(NamedTuple):
    """What is known of one value of k, and the part of a channel that its people use."""

    label: Label
    channel: Channel
    context: Prior | Joint
    open: bool
    """Whether it is the rest: nothing is taken for known of any of its members."""


@dataclass(frozen=True, repr=False)
class Conditional(Context):
    """For each value k of what is given: a joint of a secret and X, or a prior of X, and its mass.

    As a context it means that a guarantee holds for every k by itself, for whoever knows k. `rest`
    stands for all values of k that are not listed, seen or not: what holds for it must hold under
    every joint, since nothing is known of its members.

    Source: math kept columns.

    >>> yes, no = {"u": 9, "v": 1}, {"u": 1, "v": 9}
    >>> sites = Conditional.of(
    ...     {
    ...         "north": Joint.from_counts({"hiv": yes, "well": no}),
    ...         "south": Joint.from_counts({"hiv": no, "well": yes}),
    ...     }
    ... )
    >>> sites.masses["north"], sites.pairs.labels[:2]
    (Fraction(1, 2), (('north', 'u'), ('north', 'v')))
    >>> sites.context_of("south").counts, sites.whole.prior.total
    (((1, 9), (9, 1)), 40)
    """

    kind: ClassVar[Literal["given"]] = "given"
    given: Alphabet
    """The values of k: of several columns tuples."""
    values: Alphabet
    """The values of X."""
    hidden: Alphabet | None
    """The secrets; None if the value itself is the secret."""
    counts: tuple[Cells, ...]
    """For each k how often each secret and value occur; of the value itself one row."""
    groups: tuple[int, ...]
    """For each k the position of the one whose table it uses."""
    rest: bool = False
    """Whether the last k stands for all that are not listed."""

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.given) or len(self.groups) != len(self.given):
            raise CountError(f"{len(self.counts)} joints for {len(self.given)} given values")
        rows = self.hidden or Alphabet.of(["X"])
        for label, cells in zip(self.given.labels, self.counts, strict=True):
            check_table(cells, rows, self.values, ("secret", "input"))
            if not any(map(any, cells)) and not (self.rest and label == self.given.labels[-1]):
                raise CountError(
                    "the counts of a given value are all 0",
                    where=f"given {label!r}",
                    remedy="leave it out, or give it at least one positive count",
                )
        for place, group in enumerate(self.groups):
            if not 0 <= group <= place or self.groups[group] != group:
                raise InputError(
                    "a group is not named after its first member", value=self.given.labels[place]
                )
        if self.rest and list(self.groups).count(len(self.given) - 1) != 1:
            raise InputError("the rest shares no table with others")

    # --- making one -----------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        contexts: Mapping[Any, Joint | Prior],
        masses: Mapping[Any, Any] | Prior | None = None,
        *,
        rest: Joint | Prior | None = None,
        groups: Mapping[Any, Any] | None = None,
    ) -> Conditional:
        """Make one from k -> joint (or prior), with the mass of each k.

        Without masses the counts say how many people have each k. `rest` is what is known of all
        other values of k together (its mass is under "(other)"). Values of k whose distributions
        are equal share a table; `groups` (k -> any name) says otherwise.

        >>> fair, loaded = Prior.from_counts({0: 1, 1: 1}), Prior.from_counts({0: 1, 1: 3})
        >>> both = Conditional.of({"a": fair, "b": loaded, "c": fair}, {"a": 1, "b": 1, "c": 2})
        >>> both.masses["c"], both.groups
        (Fraction(1, 2), (0, 1, 0))
        """
        given_contexts: Any = contexts
        if not isinstance(given_contexts, Mapping) or not given_contexts:
            raise InputError(
                "no joints by given value",
                value=type(contexts).__name__,
                remedy="give a mapping k -> Joint, or k -> Prior",
            )
        every: dict[Label, Joint | Prior] = {plain_label(k): each for k, each in contexts.items()}
        if rest is not None:
            if REST in every:
                raise LabelError("the rest is given twice", value=REST, remedy="leave one out")
            every[REST] = rest
        own = {_is_prior(label, each) for label, each in every.items()}
        if len(own) > 1:
            raise InputError("joints and priors together", remedy="give one of them for every k")
        values = Alphabet.of(
            dict.fromkeys(x for each in every.values() for x in each.inputs.labels),
            _shared_coordinates(every.values()),
        )
        hidden = None
        if own == {False}:
            hidden = Alphabet.of(
                dict.fromkeys(s for each in every.values() for s in each.secrets.labels)
            )
        tables = [_cells(each, hidden, values) for each in every.values()]
        if masses is not None:
            tables = _with_masses(tables, list(every), masses)
        given = Alphabet.of(every)
        return cls._of_tables(given, values, hidden, tables, groups, rest=rest is not None)

    @classmethod
    def _of_tables(
        cls,
        given: Alphabet,
        values: Alphabet,
        hidden: Alphabet | None,
        tables: Sequence[Sequence[Sequence[Fraction]]],
        groups: Mapping[Any, Any] | None = None,
        *,
        rest: bool,
    ) -> Conditional:
        """Make one from a table of exact numbers for each k."""
        numbers = iter(common_integers([n for cells in tables for row in cells for n in row]))
        counts = tuple(
            tuple(tuple(next(numbers) for _ in row) for row in cells) for cells in tables
        )
        shared = _groups(given, counts, groups, rest)
        return cls(given, values, hidden, counts, shared, rest)

    @classmethod
    def from_columns(
        cls,
        given: Iterable[Any],
        secrets: Iterable[Any] | None,
        values: Iterable[Any],
        *,
        fewest: int = FEWEST,
        smoothing: object = 0,
    ) -> Conditional:
        """Count columns of the same length; without secrets the value itself is the secret.

        Values of k in fewer than `fewest` rows are the rest together. `smoothing` is added to every
        cell of every k.

        >>> k = ["n"] * 6 + ["s"] * 4 + ["e"]
        >>> found = Conditional.from_columns(k, list("yyynnnyynny"), list("aababbababa"), fewest=2)
        >>> found.given.labels, found.rest, found.masses["s"]
        (('n', 's', '(other)'), True, Fraction(4, 11))
        """
        left, right = [plain_label(k) for k in given], [plain_label(x) for x in values]
        told = None if secrets is None else [plain_label(s) for s in secrets]
        if len({len(left), len(right), len(left if told is None else told)}) > 1 or not left:
            raise CountError(
                f"columns of {len(left)} and {len(right)} rows",
                remedy="give columns of the same table, with at least one row",
            )
        counts: dict[Label, dict[tuple[Label, Label], int]] = {}
        for place, (k, x) in enumerate(zip(left, right, strict=True)):
            cells = counts.setdefault(k, {})
            key = (None if told is None else told[place], x)
            cells[key] = cells.get(key, 0) + 1
        return cls.from_counts(counts, fewest=fewest, smoothing=smoothing)

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[Label, Mapping[tuple[Label, Label], int]],
        values: Alphabet | None = None,
        *,
        fewest: int = FEWEST,
        smoothing: object = 0,
        rest: bool = False,
        share: bool = True,
    ) -> Conditional:
        """Make one from k -> (secret, value) -> rows; the secret None is the value itself.

        With `rest` there is a rest even if every k has enough rows: nobody is in it yet. Values of
        k that are alike `share` a table.
        """
        more = exact(smoothing, name="smoothing")
        if more < 0:
            raise CountError("negative smoothing", value=smoothing, remedy="use 0 or more")
        seen = {pair for cells in counts.values() for pair in cells}
        if values is None:
            values = Alphabet.of(sort_labels({x for _, x in seen}))
        own = {s is None for s, _ in seen} == {True}
        hidden = None if own else Alphabet.of(sort_labels({s for s, _ in seen}))
        told: Sequence[Label] = (None,) if hidden is None else hidden.labels

        def table(
            cells: Mapping[tuple[Label, Label], int], extra: Fraction
        ) -> list[list[Fraction]]:
            return [[Fraction(cells.get((s, x), 0)) + extra for x in values.labels] for s in told]

        often = sort_labels(k for k, cells in counts.items() if sum(cells.values()) >= fewest)
        rare = [k for k in counts if k not in set(often)]
        tables = [table(counts[k], more) for k in often]
        if rare or rest:
            joined: dict[tuple[Label, Label], int] = {}
            for k in rare:
                for pair, number in counts[k].items():
                    joined[pair] = joined.get(pair, 0) + number
            tables.append(table(joined, more if rare else Fraction(0)))
            often = [*often, REST]
        given = Alphabet.of(often)
        groups = None if share else {k: (k,) for k in often}
        return cls._of_tables(given, values, hidden, tables, groups, rest=bool(rare) or rest)

    # --- looking at it --------------------------------------------------------------------------

    @property
    def inputs(self) -> Alphabet:
        """The values of X, whatever k is."""
        return self.values

    @property
    def secrets(self) -> Alphabet:
        """The secrets: the values themselves, unless something else is."""
        return self.values if self.hidden is None else self.hidden

    def __len__(self) -> int:
        return len(self.given)

    def context_of(self, label: Label) -> Prior | Joint:
        """Return what is known given one value of k, on all values of X.

        Of a rest that nobody is in yet: what is known of all together.
        """
        return self._context(self.counts[self.given.index(label)])

    def _context(self, cells: Cells) -> Prior | Joint:
        if not any(map(any, cells)):
            return self.pooled
        if self.hidden is None:
            return Prior(self.values, cells[0])
        return Joint(self.hidden, self.values, cells)

    def shared_by(self, name: Label) -> Prior | Joint:
        """Return what is known of all members of a group together, on values that can occur."""
        place = self.given.index(name)
        found = self._context(self._shared[self.groups[place]])
        inputs = [x for group, x in self.pair_list if group == name]
        return found.restrict(inputs)

    def restricted(self, labels: Iterable[Label]) -> Conditional:
        """Condition on k being one of some values, on the values of X that can occur there."""
        keep = [self.given.index(label) for label in labels]
        inside = [
            at
            for at in range(len(self.values))
            if any(row[at] for place in keep for row in self.counts[place])
        ]
        counts = tuple(
            tuple(tuple(row[at] for at in inside) for row in self.counts[place]) for place in keep
        )
        first = {place: at for at, place in reversed(list(enumerate(keep)))}
        groups: dict[int, int] = {}
        for place in keep:
            groups.setdefault(self.groups[place], first[place])
        return Conditional(
            self.given.subset(keep),
            self.values.subset(inside),
            self.hidden,
            counts,
            tuple(groups[self.groups[place]] for place in keep),
            self.rest and len(self.given) - 1 in keep,
        )

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """The sum of the counts of each k."""
        return tuple(sum(map(sum, cells)) for cells in self.counts)

    def known_of(self, label: Label) -> Prior | Joint | Intervals:
        """Return what a guarantee rests on given one value: of the rest every prior may be true."""
        cells = self.counts[self.given.index(label)]
        if self._is_rest(self.given.index(label)):
            return Intervals.all_priors(self.values.labels)
        inside = [at for at in range(len(self.values)) if any(row[at] for row in cells)]
        return _restricted(self._context(cells), self.values.subset(inside))

    @cached_property
    def masses(self) -> Prior:
        """How likely each k is."""
        return Prior(self.given, self.totals)

    @property
    def names(self) -> tuple[Label, ...]:
        """The names of the groups: each that of its first k."""
        return tuple(self.given.labels[g] for g in dict.fromkeys(self.groups))

    def group_of(self, label: Label) -> Label:
        """Return the group of a value of k; of one that is not listed the rest."""
        if label in self.given:
            return self.given.labels[self.groups[self.given.index(label)]]
        if self.rest:
            return REST
        raise LabelError(
            "nothing is known given this value",
            value=label,
            remedy=f"known are {', '.join(map(repr, self.given.labels[:_LISTED]))}"
            f"{' ...' if len(self.given) > _LISTED else ''}; design it with a rest",
        )

    @cached_property
    def _shared(self) -> dict[int, Cells]:
        """The counts of each group together."""
        found: dict[int, Cells] = {}
        for group, cells in zip(self.groups, self.counts, strict=True):
            before = found.get(group)
            found[group] = (
                cells
                if before is None
                else tuple(
                    tuple(a + b for a, b in zip(one, other, strict=True))
                    for one, other in zip(before, cells, strict=True)
                )
            )
        return found

    @cached_property
    def pair_list(self) -> tuple[tuple[Label, Label], ...]:
        """The pairs (group, value) that can occur; of the rest every value can."""
        return tuple(
            (self.given.labels[group], x)
            for group, cells in self._shared.items()
            for at, x in enumerate(self.values.labels)
            if self._is_rest(group) or any(row[at] for row in cells)
        )

    @cached_property
    def pairs(self) -> Alphabet:
        """The inputs of a mechanism that uses k: (group, value)."""
        return Alphabet.of(self.pair_list)

    def _is_rest(self, place: int) -> bool:
        return self.rest and place == len(self.given) - 1

    def uses_given(self, inputs: Alphabet) -> bool:
        """Tell whether the inputs of a channel are pairs (group, value), or the values alone.

        >>> Conditional.of({"a": Prior.uniform([0, 1])}).uses_given(Alphabet.of([0, 1]))
        False
        """
        labels = set(inputs.labels)
        if labels == set(self.values.labels):
            return False
        if labels == set(self.pairs.labels):
            return True
        unknown = [label for label in inputs.labels if label not in self.pairs]
        missing = [label for label in self.pairs.labels if label not in labels]
        raise InputError(
            "the inputs of the channel are neither the values nor all pairs (group, value)",
            value=unknown[0] if unknown else missing[0],
            remedy=f"give one row for each of {len(self.values)} values, or for each of "
            f"{len(self.pairs):,} pairs",
        )

    @cached_property
    def whole(self) -> Joint:
        """The joint of the secret and the pairs (group, value), for observers who do not see k."""
        rows: list[list[int]] = [[] for _ in self.secrets.labels]
        for group, x in self.pair_list:
            cells, place = self._shared[self.given.index(group)], self.values.index(x)
            for at, row in enumerate(rows):
                if self.hidden is None:
                    row.append(cells[0][place] if at == place else 0)
                else:
                    row.append(cells[at][place])
        counts = tuple(map(tuple, rows))
        return Joint(self.secrets, self.pairs, counts, "for whoever does not see the given value")

    @cached_property
    def pooled(self) -> Prior | Joint:
        """What is known if k is not looked at at all."""
        cells: Cells = tuple(
            tuple(sum(column) for column in zip(*rows, strict=True))
            for rows in zip(*self.counts, strict=True)
        )
        return self._context(cells)

    @property
    def prior(self) -> Prior:
        """The distribution of the data X, whatever k is."""
        return self.pooled.prior

    @property
    def secret_prior(self) -> Prior:
        """The distribution of the secret, whatever k is."""
        return self.pooled.secret_prior

    def parts(self, channel: Channel, *, every: bool = False) -> Iterator[Part]:
        """Give each k with its part of a channel, on the values that can occur given k.

        With `every` on all values that the channel accepts, as for the rest.
        """
        uses = self.uses_given(channel.inputs)
        for place, (label, cells) in enumerate(zip(self.given.labels, self.counts, strict=True)):
            rest, group = self._is_rest(place), self.given.labels[self.groups[place]]
            wanted = [
                at
                for at, x in enumerate(self.values.labels)
                if any(row[at] for row in cells)
                or ((every or rest) and (not uses or (group, x) in self.pairs))
            ]
            inputs = self.values.subset(wanted)
            labels = [(group, x) for x in inputs.labels] if uses else list(inputs.labels)
            part = replace(channel.restrict(labels), inputs=inputs)
            yield Part(label, part, _restricted(self._context(cells), inputs), rest)

    def unprotected(self, channel: Channel) -> tuple[Label, ...]:
        """Return the pairs (k, value) that a channel accepts although they cannot occur."""
        uses = self.uses_given(channel.inputs)
        return tuple(
            (label, x)
            for place, (label, cells) in enumerate(zip(self.given.labels, self.counts, strict=True))
            for at, x in enumerate(self.values.labels)
            if not self._is_rest(place)
            and not any(row[at] for row in cells)
            and (not uses or (self.given.labels[self.groups[place]], x) in self.pairs)
        )

    # --- words and files ------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Conditional):
            return NotImplemented
        return self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def describe(self) -> str:
        """Say in a few words what kind of context this is."""
        listed = len(self.given) - self.rest
        what = self.pooled.describe()
        rest = " and given any other" if self.rest else ""
        if not listed:
            return f"{what} given any value"
        return f"{what} given each of {listed:,} value{'s' * (listed != 1)}{rest}"

    @property
    def scope(self) -> str:
        """For whom a guarantee holds."""
        said = "for whoever sees the given value, of what the report adds to it"
        return f"{said}; given any other value, whatever the joint there" if self.rest else said

    def __str__(self) -> str:
        return self.describe()

    def __repr__(self) -> str:
        return f"<Conditional: {self.describe()}>"

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the canonical form."""
        divisor = math.gcd(*(n for cells in self.counts for row in cells for n in row))
        counts = [[[str(n // divisor) for n in row] for row in cells] for cells in self.counts]
        hidden = None if self.hidden is None else self.hidden.to_data()
        return fingerprint(
            [
                "given",
                self.given.to_data(),
                self.values.to_data(),
                hidden,
                counts,
                list(self.groups),
                self.rest,
            ]
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data: dict[str, Any] = {
            "kind": "given",
            "given": [label_to_json(label) for label in self.given.labels],
            "inputs": self.values.to_data(),
        }
        if self.hidden is not None:
            data["secrets"] = self.hidden.to_data()
        data["counts"] = [
            [[integer_to_json(n) for n in row] for row in cells] for cells in self.counts
        ]
        data["groups"] = list(self.groups)
        data["rest"] = self.rest
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Conditional:
        """Read the JSON form."""
        tables, groups, rest = data.get("counts"), data.get("groups"), data.get("rest", False)
        whole = isinstance(tables, list) and all(isinstance(cells, list) for cells in tables)
        if not whole or not isinstance(groups, list) or not isinstance(rest, bool):
            raise CountError("counts, groups or rest of given values are damaged", value=groups)
        assert isinstance(tables, list)
        hidden = data.get("secrets")
        return cls(
            Alphabet.from_data(data.get("given")),
            Alphabet.from_data(data.get("inputs")),
            None if hidden is None else Alphabet.from_data(hidden),
            tuple(tuple(integers_from_json(row, "counts") for row in cells) for cells in tables),
            integers_from_json(groups, "groups"),
            rest,
        )


def _is_prior(label: Label, context: object) -> bool:
    if not isinstance(context, Prior | Joint):
        raise InputError(
            "not a joint or a prior",
            where=f"given {label!r}",
            value=type(context).__name__,
            remedy="give a Joint of the secret and X for every k, or a Prior of X",
        )
    return isinstance(context, Prior)


def _shared_coordinates(contexts: Iterable[Joint | Prior]) -> list[Fraction] | None:
    """Return the numbers that the labels stand for, if all contexts give them."""
    found: dict[Label, Fraction] = {}
    for each in contexts:
        points = each.inputs.coordinates
        if points is None:
            return None
        found |= dict(zip(each.inputs.labels, points, strict=True))
    return list(found.values())


def _cells(
    context: Joint | Prior, hidden: Alphabet | None, values: Alphabet
) -> list[list[Fraction]]:
    """Return the counts of a context on all secrets and all values."""
    if isinstance(context, Prior):
        own = dict(zip(context.labels, context.counts, strict=True))
        return [[Fraction(own.get(x, 0)) for x in values.labels]]
    assert hidden is not None
    rows = {
        s: dict(zip(context.inputs.labels, row, strict=True))
        for s, row in zip(context.secrets.labels, context.counts, strict=True)
    }
    return [[Fraction(rows.get(s, {}).get(x, 0)) for x in values.labels] for s in hidden.labels]


def _with_masses(
    tables: Sequence[list[list[Fraction]]],
    labels: Sequence[Label],
    masses: Mapping[Any, Any] | Prior,
) -> list[list[list[Fraction]]]:
    """Scale the counts of each k to its mass."""
    pairs = (
        zip(masses.labels, masses.fractions, strict=True)
        if isinstance(masses, Prior)
        else masses.items()
    )
    told = {plain_label(k): exact(mass, name=f"mass of {k!r}") for k, mass in pairs}
    for label in (*labels, *told):
        if label not in told or label not in labels or told[label] <= 0:
            raise LabelError(
                "a given value without a positive mass, or a mass without a joint",
                value=label,
                remedy="give one mass above 0 for each given value",
            )
    found = []
    for label, cells in zip(labels, tables, strict=True):
        size = sum(map(sum, cells))
        found.append([[n * told[label] / size for n in row] for row in cells])
    return found


def _groups(
    given: Alphabet, counts: Sequence[Cells], told: Mapping[Any, Any] | None, rest: bool
) -> tuple[int, ...]:
    """Return the first k of each one's group: of those that are alike, or as it is told."""
    if told is not None and {plain_label(k) for k in told} != set(given.labels):
        raise LabelError(
            "groups do not name every given value once", remedy="give every k its group"
        )
    first: dict[Any, int] = {}
    found = []
    for place, (label, cells) in enumerate(zip(given.labels, counts, strict=True)):
        divisor = math.gcd(*(n for row in cells for n in row)) or 1
        key: Any = tuple(tuple(n // divisor for n in row) for row in cells)
        if told is not None:
            key = told[label]
        if rest and place == len(given) - 1:
            key = (REST, None)
        found.append(first.setdefault(key, place))
    return tuple(found)


def _restricted(context: Prior | Joint, inputs: Alphabet) -> Prior | Joint:
    if isinstance(context, Prior):
        places = [context.alphabet.index(x) for x in inputs.labels]
        return Prior(inputs, tuple(context.counts[at] for at in places))
    return context.restrict(inputs.labels)
