"""What people may answer: values, numbers in bins, places on a grid, values of a profile."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any, Protocol

from liftlock.collect.survey.context import label_text, number_content, prior_of
from liftlock.collect.survey.fields import Fields, read_list, read_positive, read_whole
from liftlock.errors import FileError, InputError, LabelError
from liftlock.exact.numbers import exact, measured
from liftlock.files import read_edges, read_sheet
from liftlock.files import read_profiles as read_profiles_file
from liftlock.model import Prior, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.columns import ColumnEncoding, TableEncoding

MOST_VALUES = 4096
"""With more values a mechanism would be too large to be sent to everybody."""
MOST_PEOPLE = 200_000
"""A panel of more people is asked as groups."""


class Domain(Protocol):
    """Where answers come from that are not one of a list: how they become values."""

    @property
    def values(self) -> Alphabet:
        """The values, in their order."""
        ...

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it."""
        ...

    def encode(self, answer: Any) -> Label:
        """Return the value that an answer counts as."""
        ...


# --- a choice -------------------------------------------------------------------------------------


def read_values(value: Any) -> Alphabet:
    """Read the values that people may answer: text, or numbers, which can be added up.

    Values are numbers if all of them look like it, in quotes or not.

    >>> read_values(["no", "yes"]).labels, read_values([0, 1, 5]).coordinates is None
    (('no', 'yes'), False)
    """
    listed = read_list(value)
    for each in listed:
        if isinstance(each, bool) or each is None:
            raise LabelError(
                "a truth value, or nothing, among the values",
                value=each,
                remedy='put it in quotes if it is what people answer: "true"',
            )
        if not isinstance(each, str | int | float) or not str(each).strip():
            raise LabelError("a value is neither text nor a number", value=each)
    check_number(len(listed))
    labels = [each if isinstance(each, int) else str(each) for each in listed]
    seen: set[str] = set()
    for text in map(label_text, labels):
        if text in seen:
            raise LabelError("a value is listed twice", value=text, remedy="list each once")
        seen.add(text)
    numbers = all(_NUMBER.match(text) for text in seen)
    points = [exact(label, name="value") for label in labels] if numbers else None
    return Alphabet.of(labels, points)


_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?\Z")


def check_number(size: int) -> None:
    """Refuse too few values, or too many."""
    if not 2 <= size <= MOST_VALUES:
        raise LabelError(f"{size:,} value{'s' * (size != 1)}", remedy=f"give 2 to {MOST_VALUES:,}")


# --- a number -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """Numbers between two ends, in bins of equal width; those outside count as the nearer end.

    Each bin stands for its middle, whatever is known of the numbers: sums and means are those of
    the numbers as they are rounded to it, which moves each by half of the width at most.

    >>> Range(Fraction(0), Fraction(10), 4).values.labels
    ('0 to 2.5', '2.5 to 5', '5 to 7.5', '7.5 to 10')
    >>> Range(Fraction(0), Fraction(10), 4).encode(2.5)
    '2.5 to 5'
    """

    low: Fraction
    high: Fraction
    bins: int

    @property
    def width(self) -> Fraction:
        """The width of a bin."""
        return (self.high - self.low) / self.bins

    @cached_property
    def ends(self) -> tuple[Fraction, ...]:
        """The ends of the bins, exactly."""
        return tuple(self.low + place * self.width for place in range(self.bins + 1))

    @cached_property
    def values(self) -> Alphabet:
        """The bins, with the number in the middle of each."""
        pairs = list(pairwise(self.ends))
        names = [f"{_short(low)} to {_short(high)}" for low, high in pairs]
        if len(set(names)) != len(names):
            names = [f"bin {place + 1}" for place in range(self.bins)]
        return Alphabet.of(names, [(low + high) / 2 for low, high in pairs])

    def encode(self, answer: Any) -> Label:
        """Return the bin of a number; the upper end of a bin belongs to the next one."""
        return self.values.labels[find_cell(answer, self.ends)]

    def shape(self, text: str) -> Prior:
        """Return the prior that a distribution such as ``normal(50, 10)`` gives the bins.

        Chances are rounded to multiples of 2^-30, and none to 0: numbers are the same everywhere.
        """
        import numpy as np

        from liftlock.model.continuous import parse_distribution

        below = parse_distribution(text).below(np.array([float(end) for end in self.ends[1:-1]]))
        masses = np.diff(np.concatenate([[0.0], below, [1.0]]))
        counts = tuple(max(round(float(mass) * (1 << 30)), 1) for mass in masses)
        return Prior(self.values, counts)

    def encoding(self, name: str) -> TableEncoding:
        """Return the rules by which a column of numbers becomes bins."""
        edges = tuple(float(end) for end in self.ends)
        return TableEncoding((ColumnEncoding(name, edges=edges, bins=self.values.labels),))

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it."""
        return {
            "range": [number_content(self.low), number_content(self.high)],
            "bins": self.bins,
        }


def find_cell(answer: Any, ends: Sequence[Fraction]) -> int:
    """Return the cell of a number between ends that ascend; those outside are in the nearer one.

    A float is compared with the ends as floats, as it is in a browser or in a column.
    """
    number = read_number(answer)
    if isinstance(answer, float):
        place = bisect_right([float(end) for end in ends], answer)
    else:
        place = bisect_right(ends, number)
    return min(max(place - 1, 0), len(ends) - 2)


def read_number(answer: Any) -> Fraction:
    """Read a number that somebody answers; one that was measured counts as it is."""
    return measured(answer) if isinstance(answer, float) else exact(answer, name="answer")


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"


def read_range(fields: Fields) -> Range | None:
    """Read the two ends of numbers, and how many bins there are between them."""
    ends = fields.require("range", read_ends, None, "give the two ends: range: [0, 100]")
    bins = fields.require("bins", read_whole, 0, "say how many bins there are: bins: 16")
    if ends is None or "bins" not in fields:
        return None
    try:
        check_number(bins)
    except LabelError as error:
        fields.mistakes.note_error(fields.at("bins"), error)
        return None
    return Range(*ends, bins)


def read_ends(value: Any) -> tuple[Fraction, Fraction]:
    """Read two numbers, the smaller first."""
    if not isinstance(value, list) or len(value) != 2:
        raise InputError("not two ends", value=value, remedy="write [lowest, highest]")
    low, high = (exact(each, name="end") for each in value)
    if not low < high:
        raise InputError("the ends do not ascend", value=value, remedy="write [lowest, highest]")
    return low, high


# --- a place --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """Places in rectangles of a grid: values are pairs of a column and a row, both from 0 on.

    A place outside counts as the nearest rectangle.

    >>> town = Grid((Fraction(0), Fraction(10)), (Fraction(0), Fraction(4)), 5, 2)
    >>> town.encode([3, 3.5]), len(town.values)
    ((1, 1), 10)
    """

    x: tuple[Fraction, Fraction]
    y: tuple[Fraction, Fraction]
    columns: int
    rows: int

    @cached_property
    def values(self) -> Alphabet:
        """The rectangles, row after row."""
        return Alphabet.of((x, y) for y, x in product(range(self.rows), range(self.columns)))

    def encode(self, answer: Any) -> Label:
        """Return the rectangle of a place, given as x and y."""
        if not isinstance(answer, Sequence) or isinstance(answer, str) or len(answer) != 2:
            raise InputError("not a place", value=answer, remedy="give x and y")
        return tuple(find_cell(at, ends) for at, ends in zip(answer, self.ends, strict=True))

    @cached_property
    def ends(self) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """The ends of the columns and of the rows, exactly."""
        both = ((self.x, self.columns), (self.y, self.rows))
        x, y = (
            tuple(low + (high - low) * at / number for at in range(number + 1))
            for (low, high), number in both
        )
        return x, y

    def encoding(self) -> TableEncoding:
        """Return the rules by which columns x and y become rectangles."""
        ends = [tuple(map(float, each)) for each in self.ends]
        parts = Alphabet.of(range(self.columns)), Alphabet.of(range(self.rows))
        points = tuple(tuple((low + high) / 2 for low, high in pairwise(each)) for each in ends)
        codes = tuple(
            ColumnEncoding(name, edges=each, bins=part.labels)
            for name, each, part in zip("xy", ends, parts, strict=True)
        )
        return TableEncoding(codes, parts, points)

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it."""
        ends = {
            name: [number_content(low), number_content(high)]
            for name, (low, high) in (("x", self.x), ("y", self.y))
        }
        return {"grid": ends | {"columns": self.columns, "rows": self.rows}}


def read_grid(fields: Fields) -> Grid | None:
    """Read a grid: the ends of both coordinates, and how many rectangles there are."""
    inner = fields.fields("grid")
    if inner is None:
        fields.mistakes.note(fields.place, "no grid", None, "give x, y, columns and rows")
        return None
    ends = [inner.require(name, read_ends, None, "give x: [west, east]") for name in "xy"]
    sizes = [inner.require(name, read_positive, 0, "give numbers") for name in ("columns", "rows")]
    inner.finish()
    if ends[0] is None or ends[1] is None:
        return None
    try:
        check_number(sizes[0] * sizes[1])
    except LabelError as error:
        fields.mistakes.note_error(fields.at("grid"), error)
        return None
    return Grid(ends[0], ends[1], *sizes)


# --- profiles -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Profiles:
    """Profiles that everybody knows, and the pairs that must not be told apart."""

    graph: ProfileGraph

    @property
    def values(self) -> Alphabet:
        """The values that are observed."""
        return self.graph.inputs

    def encode(self, answer: Any) -> Label:
        """Return the value that is meant."""
        return find_label(answer, self.values)

    def content(self) -> dict[str, Any]:
        """Return what the survey file says of it."""
        graph = self.graph
        rows = {
            str(name): {label_text(x): n for x, n in zip(graph.inputs.labels, row, strict=True)}
            for name, row in zip(graph.profiles.labels, graph.counts, strict=True)
        }
        edges = [[str(one), str(other)] for one, other in graph.edge_names]
        return {"values": list(graph.inputs.labels), "profiles": rows, "edges": edges}


def read_profiles(fields: Fields) -> Profiles | None:
    """Read profiles, and which pairs of them must not be told apart: all, unless it is said."""
    values = fields.take("values", read_values, None)
    folder = fields.mistakes.source.folder
    told = fields.require("profiles", lambda value: value, None, "give profiles by name")
    if told is None:
        return None
    try:
        graph = _read_graph(told, values, folder)
    except InputError as error:
        fields.mistakes.note_error(fields.at("profiles"), error)
        return None
    return fields.take("edges", lambda value: _joined(graph, value, folder), _complete(graph))


def _read_graph(told: Any, values: Alphabet | None, folder: Path) -> ProfileGraph:
    if isinstance(told, str):
        return read_profiles_file(folder / told)
    if not isinstance(told, Mapping) or len(told) < 2:
        raise InputError(
            "not two or more profiles", value=told, remedy="write {name: {value: number}, ...}"
        )
    if values is None:
        names: dict[str, None] = {}
        for row in told.values():
            names |= dict.fromkeys(map(str, row if isinstance(row, Mapping) else ()))
        values = read_values(list(names))
    labels = {label_text(label): label for label in values.labels}
    rows = {}
    for name, row in told.items():
        if not isinstance(row, Mapping):
            raise InputError("a profile without numbers", value=name, remedy="{value: number}")
        lost = [str(key) for key in row if str(key) not in labels]
        if lost:
            raise LabelError("a profile has a value that is not listed", value=lost[0])
        given = {labels[str(key)]: exact(number) for key, number in row.items()}
        rows[str(name)] = {label: given.get(label, Fraction(0)) for label in values.labels}
    return ProfileGraph.of(rows, [])


def _complete(graph: ProfileGraph) -> Profiles:
    return Profiles(_with_edges(graph, combinations(graph.profiles.labels, 2)))


def _with_edges(graph: ProfileGraph, edges: Any) -> ProfileGraph:
    return graph.with_edges(edges)


def _joined(graph: ProfileGraph, value: Any, folder: Path) -> Profiles:
    names = graph.profiles.labels
    if value == "complete":
        return _complete(graph)
    if value == "chain":
        return Profiles(_with_edges(graph, pairwise(names)))
    if isinstance(value, str):
        return Profiles(_with_edges(graph, read_edges(folder / value, graph.profiles)))
    pairs = []
    for each in read_list(value):
        if not isinstance(each, list) or len(each) != 2:
            raise InputError("not a pair of profiles", value=each, remedy="write [one, other]")
        pairs.append(tuple(find_label(name, graph.profiles, "profile") for name in each))
    return Profiles(_with_edges(graph, pairs))


def find_label(value: Any, values: Alphabet, noun: str = "value") -> Label:
    """Find the value that is meant by its text."""
    for label in values.labels:
        if label_text(label) == str(value) or label == value:
            return label
    raise LabelError(
        f"not one of the {noun}s",
        value=value,
        remedy=f"the {noun}s are {', '.join(map(label_text, values.labels[:8]))}",
    )


# --- a panel --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Panel:
    """Known people, each with a prior of their own: a code for each, and the distinct priors."""

    file: str
    people: Mapping[str, int]
    """Which of the priors each person has."""
    priors: tuple[Prior, ...]


def read_panel(name: str, values: Alphabet, folder: Path) -> Panel:
    """Read a panel: a CSV with a column of codes, and a column of numbers for each value.

    Rows of whole numbers are counts, others are probabilities and sum to 1.
    """
    sheet = read_sheet(folder / name)
    texts = [label_text(label) for label in values.labels]
    if sorted(sheet.header[1:]) != sorted(texts):
        raise FileError(
            "the columns of a panel are not a code and the values",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy=f"write person,{','.join(texts[:8])}",
        )
    if len(sheet.rows) > MOST_PEOPLE:
        raise FileError(
            f"a panel of more than {MOST_PEOPLE:,} people",
            where=str(sheet.path),
            remedy="ask them as groups of people of whom the same is known",
        )
    order = [sheet.header.index(text, 1) - 1 for text in texts]
    people: dict[str, int] = {}
    priors: dict[tuple[int, ...], int] = {}
    rows = zip(sheet.row_labels().labels, sheet.rows, sheet.numbers(), strict=True)
    for code, (line, _), numbers in rows:
        prior = _prior_of_person([numbers[place] for place in order], values, sheet.where(line))
        people[str(code)] = priors.setdefault(prior.reduced, len(priors))
    return Panel(name, people, tuple(Prior(values, counts) for counts in priors))


def _prior_of_person(numbers: list[Fraction], values: Alphabet, where: str) -> Prior:
    if min(numbers) <= 0:
        raise FileError(
            "a prior of 0, which protects nobody who has the value after all",
            where=where,
            value=values.labels[numbers.index(min(numbers))],
            remedy="give each value a small count",
        )
    try:
        return prior_of(numbers, values)
    except InputError as error:
        raise FileError(error.what, where=where, value=error.value, remedy=error.remedy) from None
