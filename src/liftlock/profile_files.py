"""Reading graphs of profiles from CSV and JSON, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Literal, get_args

from liftlock.alphabet import Alphabet, Label
from liftlock.context import context_from_data
from liftlock.errors import FileError, InputError
from liftlock.files import (
    MARKS,
    MOST_PAIRS,
    NEAR_ONE,
    Note,
    Sheet,
    cell_number,
    first_line,
    is_json,
    mark_of,
    parse_sheet,
    read_channel,
    row_integers,
    row_labels,
    sheet_lines,
    shown_sum,
    silent,
)
from liftlock.mechanism import Mechanism
from liftlock.prior import Prior
from liftlock.profile_graph import Edge, ProfileGraph
from liftlock.storage import located, parse_json, read_text, shaped

_FEW = 20
"""Fewer different entries of a column are not suspicious."""


Shape = Literal["complete", "chain"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

_LISTED = 8


# --- profiles -----------------------------------------------------------------------------------


def read_profiles(path: str | Path, note: Note = silent) -> ProfileGraph:
    """Read profiles: a CSV (first column names, header values, cells numbers), or JSON.

    Rows of whole numbers are counts. Other rows are probabilities, which sum to 1; those within
    1e-9 of it are divided by their sum, and `note` is told. A CSV has no edges; a stored graph or a
    mechanism file (JSON) brings its own.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        return _graph_from_json(place, text)
    sheet = parse_sheet(place, text, mark_of(text))
    names = row_labels(sheet)
    rows: list[tuple[int, ...]] = []
    gaps: dict[int, Fraction] = {}
    for position, (line, cells) in enumerate(sheet.rows):
        integers, scale = row_integers(sheet, line, cells[1:], name="number")
        if not any(integers):
            raise FileError(
                "a profile whose numbers are all 0",
                where=f"{sheet.where(line)}, profile {cells[0]!r}",
                remedy="give it at least one positive count",
            )
        if all(integer % scale == 0 for integer in integers):
            rows.append(tuple(integer // scale for integer in integers))
            continue
        gap = Fraction(sum(integers), scale) - 1
        if abs(gap) > NEAR_ONE:
            raise _wrong_sum(sheet, position, gap + 1)
        if gap:
            gaps[position] = abs(gap)
        rows.append(tuple(integers))
    if gaps:
        worst = max(gaps, key=lambda position: gaps[position])
        note(
            f"{len(gaps)} of {len(rows)} profiles of {place} did not sum to 1 exactly and were "
            f"divided by their sum (largest gap {float(gaps[worst]):.2g}, profile "
            f"{names.labels[worst]!r})"
        )
    with located(place):
        return ProfileGraph(names, Alphabet.of(sheet.header[1:]), tuple(rows), ())


def _graph_from_json(place: Path, text: str) -> ProfileGraph:
    data = parse_json(text, place)
    if isinstance(data, dict) and data.get("format") == Mechanism.FORMAT:
        context = read_channel(place).context
    else:
        with located(place), shaped():
            context = context_from_data(data)
    if not isinstance(context, ProfileGraph):
        raise FileError(
            "not a graph of profiles",
            where=str(place),
            value=None if context is None else context.describe(),
            remedy="give a CSV with a row for each profile, or a stored graph",
        )
    return context


def _wrong_sum(sheet: Sheet, position: int, total: Fraction) -> FileError:
    line, cells = sheet.rows[position]
    remedy = "correct the probabilities (within 1e-9 they are normalised), or give counts"
    if abs(total - 100) <= 100 * NEAR_ONE:
        remedy = "write percentages with their sign, like 70%"
    return FileError(
        "the numbers of a profile are neither whole nor sum to 1",
        where=f"{sheet.where(line)}, profile {cells[0]!r}",
        value=shown_sum(total),
        remedy=remedy,
    )


# --- edges and groups ---------------------------------------------------------------------------


def read_edges(path: str | Path, names: Alphabet) -> list[tuple[Label, Label]]:
    """Read pairs of profiles: a CSV with a header and two columns."""
    sheet, texts = _two_columns(path, names, "an edge is a pair of profiles, without a weight")
    if all(cell in texts for cell in sheet.header):
        raise FileError(
            "the first line names two profiles, and is read as a header",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy="begin the file with a header such as from,to",
        )
    found = []
    for line, cells in sheet.rows:
        first, second = (known_profile(sheet, line, column, cells, texts) for column in (0, 1))
        if first == second:
            raise FileError(
                "an edge from a profile to itself",
                where=sheet.where(line),
                value=",".join(cells),
                remedy="leave it out: nothing can tell a profile from itself",
            )
        found.append((first, second))
    return found


def read_groups(path: str | Path, names: Alphabet) -> dict[Label, str]:
    """Read the group of every profile: a CSV ``profile,group``."""
    sheet, texts = _two_columns(path, names, "give one group for each profile: profile,group")
    found = _by_profile(sheet, names, texts, "group")
    for line, cells in sheet.rows:
        if not cells[1]:
            raise FileError(
                "a profile without a group",
                where=sheet.where(line, 1),
                value=cells[0],
                remedy="give every profile a group",
            )
    return {name: cells[1] for name, (_, cells) in found.items()}


def read_weights(path: str | Path, names: Alphabet) -> Prior:
    """Read how much every profile counts: a CSV ``profile,weight``, numbers of 0 or more."""
    sheet, texts = _two_columns(path, names, "give one number for each profile: profile,weight")
    found = _by_profile(sheet, names, texts, "weight")
    with located(sheet.path):
        return Prior.from_counts(
            (name, cell_number(sheet, line, 1, cells[1], "weight"))
            for name, (line, cells) in found.items()
        )


def _two_columns(path: str | Path, names: Alphabet, remedy: str) -> tuple[Sheet, dict[str, Label]]:
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        raise FileError(
            "JSON instead of a table", where=str(place), remedy="give a CSV with a header"
        )
    sheet = parse_sheet(place, text, mark_of(text))
    if len(sheet.header) != 2:
        raise FileError(
            f"{len(sheet.header)} columns instead of 2",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy=remedy,
        )
    return sheet, {str(label): label for label in names.labels}


def known_profile(
    sheet: Sheet, line: int, column: int, cells: Sequence[str], texts: Mapping[str, Label]
) -> Label:
    """Return the profile that a cell names."""
    if cells[column] in texts:
        return texts[cells[column]]
    raise FileError(
        "unknown profile" if cells[column] else "no profile",
        where=sheet.where(line, column),
        value=cells[column],
        remedy=f"known are {listed(list(texts.values()))}",
    )


def _by_profile(
    sheet: Sheet, names: Alphabet, texts: Mapping[str, Label], what: str
) -> dict[Label, tuple[int, list[str]]]:
    """Return the row of each profile; every profile must have one."""
    row_labels(sheet)
    found = {
        known_profile(sheet, line, 0, cells, texts): (line, cells) for line, cells in sheet.rows
    }
    missing = [name for name in names.labels if name not in found]
    if missing:
        raise FileError(
            f"no {what} for a profile",
            where=str(sheet.path),
            value=missing[0],
            remedy=f"give every profile a {what}, one on each line",
        )
    return {name: found[name] for name in names.labels}


# --- one row for each observation -----------------------------------------------------------------


@dataclass(frozen=True)
class Observations:
    """Columns of a table with one row for each observation."""

    profiles: list[str]
    values: list[str]
    groups: dict[str, str] | None = None
    """The group of each profile, if a column names it."""


def read_observations(
    path: str | Path,
    profile_column: str,
    column: str,
    group_column: str | None = None,
    note: Note = silent,
) -> Observations:
    """Read the profile and the value of each observation, and the group of each profile.

    Cells may be separated by semicolons or tabs throughout; `note` is told. No cell may be empty.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        raise FileError(
            "JSON is not a table with columns", where=str(place), remedy="give a CSV with a header"
        )
    mark = mark_of(text)
    lines = sheet_lines(place, text, records=True, mark=mark)
    line, header = first_line(place, lines)
    if mark != ",":
        note(f"the cells of {place} are separated by {dict(MARKS)[mark]}, and were read so")
    wanted = [profile_column, column] + ([] if group_column is None else [group_column])
    places = [column_place(place, line, header, name) for name in wanted]
    if len(set(wanted)) < len(wanted):
        raise FileError(
            "one column for two things",
            where=f"{place}, line {line}",
            value=next(name for name in wanted if wanted.count(name) > 1),
            remedy="profiles, values and groups are columns of their own",
        )
    kept: dict[str, str] = {}
    found = Observations([], [], None if group_column is None else {})
    for line, cells in lines:
        if len(found.values) >= MOST_PAIRS:
            raise FileError(
                f"more than {MOST_PAIRS:,} rows",
                where=f"{place}, line {line}",
                remedy="take a random part of them",
            )
        for at in places:
            if not cells[at]:
                raise FileError(
                    "an empty cell",
                    where=f"{place}, line {line}, column {at + 1} ({header[at]!r})",
                    value=mark.join(cells),
                    remedy="drop the line, or give the missing value a name",
                )
        # One copy of every label: millions of rows have few different ones.
        name, value = (kept.setdefault(cells[at], cells[at]) for at in places[:2])
        found.profiles.append(name)
        found.values.append(value)
        if found.groups is not None:
            group = cells[places[2]]
            first = found.groups.setdefault(name, group)
            if first != group:
                raise FileError(
                    f"profile {name!r} is in two groups",
                    where=f"{place}, line {line}, column {places[2] + 1} ({header[places[2]]!r})",
                    value=f"{first} and {group}",
                    remedy="every row of a profile names the same group",
                )
    if not found.values:
        raise FileError(
            "no rows below the header",
            where=f"{place}, line {line}",
            value=mark.join(header),
            remedy="the first line names the columns, the others hold one observation each",
        )
    return found


def column_place(place: Path, line: int, header: Sequence[str], name: str) -> int:
    """Return which column has a name."""
    if name not in header:
        raise FileError(
            "no such column",
            where=f"{place}, line {line}",
            value=name,
            remedy=f"it has {', '.join(header)}",
        )
    return list(header).index(name)


# --- graphs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GraphFiles:
    """Where a graph of profiles comes from: profiles or a table, and what joins them.

    `edges` and `groups` are files, `shape` is ``complete`` or ``chain``; at most one of the three,
    and none if the profiles bring their edges or the table has a `group_column`.
    """

    profiles: Path | None = None
    edges: Path | None = None
    groups: Path | None = None
    shape: Shape | None = None
    table: Path | None = None
    profile_column: str | None = None
    column: str | None = None
    group_column: str | None = None
    smoothing: object = None

    def joined_by(self) -> list[str]:
        """Name what says which profiles are joined."""
        named = {
            "edges": self.edges,
            "graph": self.shape,
            "groups": self.groups,
            "group_column": self.group_column,
        }
        return [name for name, given in named.items() if given is not None]


def read_graph(files: GraphFiles, note: Note = silent) -> ProfileGraph:
    """Read a graph of profiles, from profiles or from a table of observations."""
    if (files.profiles is None) == (files.table is None):
        raise InputError(
            "profiles and a table at once" if files.table else "no profiles",
            remedy="give either profiles or a table of observations",
        )
    if len(files.joined_by()) > 1:
        raise InputError(
            f"{' and '.join(files.joined_by())} at once", remedy="one of them joins the profiles"
        )
    if files.profiles is not None:
        if files.smoothing is not None:
            raise InputError(
                "smoothing of profiles that are given",
                value=str(files.smoothing),
                remedy="it is added to the counts of a table of observations",
            )
        return joined(read_profiles(files.profiles, note), files)
    return _counted(files, note)


def joined(graph: ProfileGraph, files: GraphFiles) -> ProfileGraph:
    """Return a graph with the edges that files give; with those it has if they give none."""
    places: Sequence[Edge] | Iterator[Edge]
    if files.edges is not None:
        return graph.with_edges(read_edges(files.edges, graph.profiles))
    if files.groups is not None:
        members: dict[str, list[int]] = {}
        for place, group in enumerate(read_groups(files.groups, graph.profiles).values()):
            members.setdefault(group, []).append(place)
        places = (edge for group in members.values() for edge in combinations(group, 2))
    elif files.shape is not None:
        every = range(len(graph))
        places = combinations(every, 2) if files.shape == "complete" else pairwise(every)
    elif graph.edges:
        return graph
    else:
        column = "" if files.table is None else "--group-column NAME, "
        raise FileError(
            "which profiles must not be told apart?",
            where=str(files.table or files.profiles),
            remedy=f"give {column}--edges FILE, --groups FILE or --graph complete",
        )
    return ProfileGraph(graph.profiles, graph.inputs, graph.counts, tuple(places))


def _counted(files: GraphFiles, note: Note) -> ProfileGraph:
    """Count a table of observations."""
    assert files.table is not None
    if files.profile_column is None or files.column is None:
        raise InputError(
            "which columns of the table?", remedy="name the column of profiles and that of values"
        )
    seen = read_observations(
        files.table, files.profile_column, files.column, files.group_column, note
    )
    with located(files.table):
        graph = ProfileGraph.from_columns(
            seen.profiles,
            seen.values,
            groups=seen.groups,
            edges=() if seen.groups is None else None,
            smoothing=0 if files.smoothing is None else files.smoothing,
        )
    _doubt(graph, seen, files, note)
    if seen.groups is not None:
        return graph
    if files.shape == "chain":
        note(f"the chain follows the order {listed(graph.profiles.labels)}")
    return joined(graph, files)


def _doubt(graph: ProfileGraph, seen: Observations, files: GraphFiles, note: Note) -> None:
    """Say what makes it doubtful that the counts are the profiles."""
    rows, values = len(seen.values), len(graph.inputs)
    for name, number in ((files.column, values), (files.profile_column, len(graph))):
        if number > max(_FEW, rows // 2):
            note(f"{number:,} different entries of {name!r} in {rows:,} rows: is it the right one?")
    counts = Counter(seen.profiles)
    rarest, fewest = min(counts.items(), key=lambda item: item[1])
    thin = sum(number < values for number in counts.values())
    if thin:
        note(
            f"{thin:,} of {len(graph):,} profiles have fewer rows than there are values (fewest: "
            f"{rarest!r}, {fewest:,}): a guarantee for a wrong profile is none; smooth them "
            "(--smooth 1), or use coarser profiles"
        )
    never = len(graph.impossible())
    if never:
        note(
            f"{never:,} of {len(graph.pairs):,} pairs of profile and value were never seen, and "
            "count as impossible; if they can occur, smooth the counts (--smooth 1)"
        )


def listed(labels: Sequence[Label]) -> str:
    """Name the first few labels, and how many more there are."""
    shown = ", ".join(repr(label) for label in labels[:_LISTED])
    return shown if len(labels) <= _LISTED else f"{shown} and {len(labels) - _LISTED} more"
