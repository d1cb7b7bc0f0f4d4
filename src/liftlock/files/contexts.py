"""Reading priors, joints, sets of priors, graphs of profiles and losses, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from liftlock._runtime.storage import errors_at, malformed_data_errors, parse_json, read_text
from liftlock.errors import FileError, InputError, listed
from liftlock.exact.numbers import exact
from liftlock.files.channels import read_mechanism
from liftlock.files.sheet import (
    DIVIDED,
    NEAR_ONE,
    NORMALISE,
    Note,
    Observations,
    Row,
    Sheet,
    ignore_note,
    is_json,
    read_observations,
    read_sheet,
    sum_text,
    wrong_sum_error,
)
from liftlock.mechanism import Mechanism
from liftlock.model import (
    Context,
    Family,
    Intervals,
    Joint,
    Prior,
    PriorSet,
    ProfileGraph,
    context_from_data,
)
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.profiles import Edge
from liftlock.utility.distortion import Distortion

MOST_LOSS = 1e12
"""Larger losses would drown the differences between the smaller ones."""

Shape = Literal["complete", "chain"]
SHAPES: tuple[Shape, ...] = get_args(Shape)

_FEW = 20
"""Fewer different entries of a column are not suspicious."""
_LISTED = 8
_PRIOR_COLUMNS = {
    "count": "count",
    "counts": "count",
    "probability": "probability",
    "probabilities": "probability",
}


# --- stored contexts ----------------------------------------------------------------------------

_OPTIONS = {
    "prior": "--prior",
    "joint": "--joint",
    "profiles": "--profiles",
    "given": "a Conditional in Python, or within a mechanism",
    **dict.fromkeys(("family", "intervals", "ball"), "--family"),
}


def _wrong_kind_error(context: Context, what: str, place: Path) -> FileError:
    """Refuse a context of another kind, and say which option takes it."""
    remedy = f"give it as {_OPTIONS.get(context.kind, 'per-user priors')}"
    return FileError(f"not {what}", where=str(place), value=context.kind, remedy=remedy)


def _read_stored_context(place: Path, data: Any) -> Context:
    with errors_at(place), malformed_data_errors():
        return context_from_data(data)


# --- priors -------------------------------------------------------------------------------------


def read_prior(path: str | Path, note: Note = ignore_note, *, normalise: bool = False) -> Prior:
    """Read a prior: CSV ``label,count`` or ``label,probability``, or JSON.

    With several columns before the last, ``x,y,count``, a label is a tuple: a point, say. JSON is
    ``{"counts": {label: n}}``, ``{"probabilities": {label: p}}``, ``{label: number}``,
    ``{"labels": [...], "counts": [...]}`` or a stored prior. Probabilities sum to 1; with
    `normalise` any other sum is divided out, and `note` is told.
    """
    place = Path(path)
    text = read_text(place)
    data = parse_json(text, place) if is_json(place, text) else None
    if isinstance(data, dict) and "kind" in data:
        context = _read_stored_context(place, data)
        if isinstance(context, Prior):
            return context
        raise _wrong_kind_error(context, "a prior", place)
    found = _parse_prior(place, text, data)
    if found is None:
        raise FileError(
            "JSON does not hold a prior",
            where=str(place),
            remedy='write {"counts": {"label": 7}} or {"probabilities": {"label": 0.7}}',
        )
    kind, pairs = found
    if kind == "number":
        # A bare table of labels: whole numbers are counts, anything else probabilities.
        kind = "count" if all(value.denominator == 1 for _, value in pairs) else "probability"
    if kind == "count":
        with errors_at(place):
            return Prior.from_counts(pairs)
    return _from_probabilities(place, pairs, note, normalise=normalise)


def read_counts(path: str | Path) -> list[tuple[Any, Fraction]]:
    """Read how often each label was seen: CSV ``label,count``, or JSON ``{"counts": {label: n}}``.

    Probabilities are refused, and so is a stored prior, which does not say whom it was counted on.
    """
    place = Path(path)
    text = read_text(place)
    data = parse_json(text, place) if is_json(place, text) else None
    stored = isinstance(data, dict) and "kind" in data
    found = None if stored else _parse_prior(place, text, data)
    if found is None or found[0] == "probability":
        raise FileError(
            "JSON does not hold counts"
            if found is None
            else "probabilities do not say how many observations they rest on",
            where=str(place),
            remedy="give how often each label was seen, as label,count",
        )
    return found[1]


def _parse_prior(
    place: Path, text: str, data: Any
) -> tuple[str, list[tuple[Any, Fraction]]] | None:
    """Return what the numbers of a prior are, and the pairs of label and number."""
    if not is_json(place, text):
        return _prior_sheet(read_sheet(place, text))
    found = _prior_object(data)
    if found is None:
        return None
    kind, items = found
    with errors_at(place):
        return kind, [(label, exact(value, name=f"{kind} of {label!r}")) for label, value in items]


def _prior_sheet(sheet: Sheet) -> tuple[str, list[tuple[Any, Fraction]]]:
    *names, last = (name.lower() for name in sheet.header)
    name, width = _PRIOR_COLUMNS.get(last), len(names)
    if name is None or not _PRIOR_COLUMNS.keys().isdisjoint(names):
        raise FileError(
            "header is not label,count or label,probability",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy="write one of these on the first line (x,y,count for points), then one label on "
            "each line; for a table of people name the numeric column (--column, read_column in "
            "Python)",
        )
    labels, numbers = sheet.row_labels(width).labels, sheet.numbers(name, width)
    return name, [(x, row[0]) for x, row in zip(labels, numbers, strict=True)]


def read_label_columns(path: str | Path) -> tuple[str, ...]:
    """Return the names of the columns whose cells are a label of a prior; none for JSON."""
    place = Path(path)
    text = read_text(place)
    return () if is_json(place, text) else tuple(read_sheet(place, text).header[:-1])


def _prior_object(data: Any) -> tuple[str, list[tuple[Any, Any]]] | None:
    if not isinstance(data, dict):
        return None
    for kind, key in (("count", "counts"), ("probability", "probabilities")):
        values, labels = data.get(key), data.get("labels")
        if isinstance(values, dict):
            return kind, list(values.items())
        if isinstance(values, list) and isinstance(labels, list) and len(values) == len(labels):
            return kind, [(_label(x), value) for x, value in zip(labels, values, strict=True)]
    if data and all(isinstance(v, int | str) and not isinstance(v, bool) for v in data.values()):
        return "number", list(data.items())
    return None


def _label(data: Any) -> Any:
    """Return a label of JSON, which writes tuples as lists."""
    return tuple(map(_label, data)) if isinstance(data, list) else data


def _from_probabilities(
    place: Path,
    pairs: Sequence[tuple[Any, Fraction]],
    note: Note,
    what: str = "probabilities",
    *,
    normalise: bool,
) -> Prior:
    total = sum((value for _, value in pairs), Fraction(0))
    if abs(total - 1) > NEAR_ONE and not (normalise and total > 0):
        remedy = f"correct them (within 1e-9 they are normalised), give counts, or {NORMALISE}"
        raise wrong_sum_error(f"{what} do not sum to 1", str(place), total, remedy)
    if total != 1:
        note(f"{what} in {place} summed to {sum_text(total)} and were {DIVIDED}")
    with errors_at(place):
        return Prior.from_probabilities(pairs, normalise=True)


def read_joint(path: str | Path, note: Note = ignore_note) -> Joint:
    """Read a joint: a CSV contingency table (rows secrets, columns inputs), or JSON.

    Its numbers are counts of any kind; `note` is told if they are fractions of another sum than 1.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        context = _read_stored_context(place, parse_json(text, place))
        if isinstance(context, Joint):
            return context
        raise _wrong_kind_error(context, "a joint", place)
    sheet = read_sheet(place, text)
    if len(sheet.header) < 3:
        raise FileError(
            "a joint with only one input",
            where=str(place),
            value=",".join(sheet.header),
            remedy="give a prior as --prior; the columns of a joint are inputs, its rows secrets",
        )
    secrets, inputs = sheet.row_labels(), Alphabet.of(sheet.header[1:])
    numbers = sheet.numbers("count")
    total = sum((value for row in numbers for value in row), Fraction(0))
    if total not in (0, 1) and any(value.denominator != 1 for row in numbers for value in row):
        note(f"the numbers in {place} summed to {sum_text(total)} and were {DIVIDED}")
    with errors_at(place):
        return Joint.from_rows(secrets, inputs, numbers)


def read_priors(path: str | Path, note: Note = ignore_note, *, normalise: bool = False) -> PriorSet:
    """Read a set of priors; with `normalise`, columns of any sum.

    CSV: ``label`` and one column for each prior (counts, or probabilities), or
    ``label,lower,upper`` for intervals. JSON: a stored family, intervals or ball.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        context = _read_stored_context(place, parse_json(text, place))
        if isinstance(context, Prior):
            return Family.of([context])
        if isinstance(context, PriorSet):
            return context
        raise _wrong_kind_error(context, "a set of priors", place)
    sheet = read_sheet(place, text)
    labels = sheet.row_labels().labels
    columns = list(zip(*sheet.numbers(), strict=True))
    if [name.lower() for name in sheet.header[1:]] == ["lower", "upper"]:
        with errors_at(place):
            return Intervals.of(dict(zip(labels, zip(*columns, strict=True), strict=True)))
    priors = []
    for name, column in zip(sheet.header[1:], columns, strict=True):
        pairs = list(zip(labels, column, strict=True))
        if all(value.denominator == 1 for value in column):
            with errors_at(f"{place}, column {name!r}"):
                priors.append(Prior.from_counts(pairs))
        else:
            what = f"probabilities of {name!r}"
            priors.append(_from_probabilities(place, pairs, note, what, normalise=normalise))
    return Family.of(priors)


def read_loss(path: str | Path, inputs: Alphabet) -> Distortion:
    """Read a loss: a CSV whose rows are the inputs and whose columns are reproductions of them."""
    sheet = read_sheet(Path(path))
    rows = dict(zip(sheet.row_labels().labels, sheet.numbers("loss"), strict=True))
    for (line, cells), losses in zip(sheet.rows, rows.values(), strict=True):
        for column, loss in enumerate(losses, start=1):
            if loss > MOST_LOSS:
                raise FileError(
                    f"loss above {MOST_LOSS:g}",
                    where=sheet.where(line, column),
                    value=cells[column],
                    remedy="measure it in a larger unit",
                )
    # A CSV knows only text: a name is the input that it is the text of.
    known = {str(label): label for label in inputs.labels}
    missing = [label for text, label in known.items() if text not in rows]
    extra = sorted(str(name) for name in rows if name not in known)
    if missing or extra:
        raise FileError(
            "rows that are not the inputs" if extra else "no row for an input",
            where=str(sheet.path),
            value=extra[:5] or missing[:5],
            remedy="give the loss one row for each input",
        )
    names = Alphabet.of(known.get(name, name) for name in sheet.header[1:])
    return Distortion.of([[float(loss) for loss in rows[text]] for text in known], names)


# --- graphs of profiles -------------------------------------------------------------------------


def read_profiles(
    path: str | Path, note: Note = ignore_note, *, normalise: bool = False
) -> ProfileGraph:
    """Read profiles: a CSV (first column names, header values, cells numbers), or JSON.

    Rows of whole numbers are counts. Other rows are probabilities, which sum to 1; those within
    1e-9 of it, and with `normalise` all others, are divided by their sum, and `note` is told. A CSV
    has no edges; a stored graph or a mechanism file (JSON) brings its own.
    """
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        data = parse_json(text, place)
        made = isinstance(data, dict) and data.get("format") == Mechanism.FORMAT
        context = read_mechanism(place).context if made else _read_stored_context(place, data)
        if isinstance(context, ProfileGraph):
            return context
        raise _wrong_kind_error(context, "a graph of profiles", place)
    sheet = read_sheet(place, text, any_mark=True)
    names = sheet.row_labels()
    rows: list[tuple[int, ...]] = []
    gaps: dict[Label, Fraction] = {}
    for name, (line, cells) in zip(names.labels, sheet.rows, strict=True):
        where = f"{sheet.where(line)}, profile {name!r}"
        integers, scale = sheet.integers(line, cells, name="number")
        if not any(integers):
            raise FileError(
                "a profile whose numbers are all 0",
                where=where,
                remedy="give it at least one positive count",
            )
        whole = all(integer % scale == 0 for integer in integers)
        total = Fraction(sum(integers), scale)
        if not whole and abs(total - 1) > NEAR_ONE and not normalise:
            what = "the numbers of a profile are neither whole nor sum to 1"
            remedy = f"correct the probabilities, give counts, or {NORMALISE}"
            raise wrong_sum_error(what, where, total, remedy)
        if not whole and total != 1:
            gaps[name] = abs(total - 1)
        rows.append(tuple(integer // scale if whole else integer for integer in integers))
    if gaps:
        worst = max(gaps, key=lambda name: gaps[name])
        note(
            f"{len(gaps)} of {len(rows)} profiles of {place} did not sum to 1 exactly and were "
            f"{DIVIDED} (largest gap {float(gaps[worst]):.2g}, profile {worst!r})"
        )
    with errors_at(place):
        return ProfileGraph(names, Alphabet.of(sheet.header[1:]), tuple(rows), ())


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
        first, second = (sheet.find_label(line, column, cells, texts) for column in (0, 1))
        if first == second:
            raise FileError(
                "an edge from a profile to itself",
                where=sheet.where(line),
                value=",".join(cells),
                remedy="leave it out",
            )
        found.append((first, second))
    return found


def read_groups(path: str | Path, names: Alphabet) -> dict[Label, str]:
    """Read the group of every profile: a CSV ``profile,group``."""
    remedy = "give one group for each profile: profile,group"
    sheet, rows = _by_profile(path, names, "group", remedy)
    for name, (line, cells) in rows.items():
        if not cells[1]:
            raise FileError(
                "a profile without a group",
                where=sheet.where(line, 1),
                value=name,
                remedy="give every profile a group",
            )
    return {name: cells[1] for name, (_, cells) in rows.items()}


def read_weights(path: str | Path, names: Alphabet) -> Prior:
    """Read how much every profile counts: a CSV ``profile,weight``, numbers of 0 or more."""
    remedy = "give one number for each profile: profile,weight"
    sheet, rows = _by_profile(path, names, "weight", remedy)
    with errors_at(sheet.path):
        return Prior.from_counts(
            (name, sheet.number(line, 1, cells[1], "weight"))
            for name, (line, cells) in rows.items()
        )


def _two_columns(path: str | Path, names: Alphabet, remedy: str) -> tuple[Sheet, dict[str, Label]]:
    place = Path(path)
    text = read_text(place)
    if is_json(place, text):
        raise FileError(
            "JSON instead of a table", where=str(place), remedy="give a CSV with a header"
        )
    sheet = read_sheet(place, text, any_mark=True)
    if len(sheet.header) != 2:
        raise FileError(
            f"{len(sheet.header)} columns instead of 2",
            where=sheet.where(sheet.header_line),
            value=",".join(sheet.header),
            remedy=remedy,
        )
    return sheet, {str(label): label for label in names.labels}


def _by_profile(
    path: str | Path, names: Alphabet, what: str, remedy: str
) -> tuple[Sheet, dict[Label, Row]]:
    """Read a table with a row for each profile."""
    sheet, texts = _two_columns(path, names, remedy)
    sheet.row_labels()
    found = {sheet.find_label(line, 0, cells, texts): (line, cells) for line, cells in sheet.rows}
    missing = [name for name in names.labels if name not in found]
    if missing:
        raise FileError(
            f"no {what} for a profile",
            where=str(sheet.path),
            value=missing[0],
            remedy=f"give every profile a {what}, one on each line",
        )
    return sheet, {name: found[name] for name in names.labels}


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
    normalise: bool = False

    def edge_sources(self) -> list[str]:
        """Name what says which profiles are joined."""
        named = {
            "edges": self.edges,
            "graph": self.shape,
            "groups": self.groups,
            "group_column": self.group_column,
        }
        return [name for name, given in named.items() if given is not None]


def read_graph(files: GraphFiles, note: Note = ignore_note) -> ProfileGraph:
    """Read a graph of profiles, from profiles or from a table of observations."""
    if (files.profiles is None) == (files.table is None):
        raise InputError(
            "profiles and a table at once" if files.table else "no profiles",
            remedy="give either profiles or a table of observations",
        )
    if len(files.edge_sources()) > 1:
        raise InputError(
            f"{' and '.join(files.edge_sources())} at once", remedy="give only one of them"
        )
    if files.profiles is not None:
        if files.smoothing is not None:
            raise InputError(
                "smoothing applies only to a table of observations",
                value=str(files.smoothing),
                remedy="leave it out, or give a table of observations",
            )
        return join_profiles(read_profiles(files.profiles, note, normalise=files.normalise), files)
    return _count_observations(files, note)


def join_profiles(graph: ProfileGraph, files: GraphFiles) -> ProfileGraph:
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
            "no edges between the profiles",
            where=str(files.table or files.profiles),
            remedy=f"give {column}--edges FILE, --groups FILE or --graph complete",
        )
    return ProfileGraph(graph.profiles, graph.inputs, graph.counts, tuple(places))


def _count_observations(files: GraphFiles, note: Note) -> ProfileGraph:
    """Count a table of observations."""
    assert files.table is not None
    if files.profile_column is None or files.column is None:
        raise InputError(
            "the columns of profiles and values are not named", remedy="name both columns"
        )
    seen = read_observations(
        files.table, files.profile_column, files.column, files.group_column, note
    )
    with errors_at(files.table):
        graph = ProfileGraph.from_columns(
            seen.profiles,
            seen.values,
            groups=seen.groups,
            edges=() if seen.groups is None else None,
            smoothing=0 if files.smoothing is None else files.smoothing,
        )
    _note_doubts(graph, seen, files, note)
    if seen.groups is not None:
        return graph
    if files.shape == "chain":
        note(f"the chain follows the order {listed(graph.profiles.labels, _LISTED)}")
    return join_profiles(graph, files)


def _note_doubts(graph: ProfileGraph, seen: Observations, files: GraphFiles, note: Note) -> None:
    """Say what makes it doubtful that the counts are the profiles."""
    rows, values = len(seen.values), len(graph.inputs)
    for name, number in ((files.column, values), (files.profile_column, len(graph))):
        if number > max(_FEW, rows // 2):
            note(
                f"{number:,} distinct values of {name!r} in {rows:,} rows: check that it is the "
                "right column"
            )
    counts = Counter(seen.profiles)
    rarest, fewest = min(counts.items(), key=lambda item: item[1])
    thin = sum(number < values for number in counts.values())
    if thin:
        note(
            f"{thin:,} of {len(graph):,} profiles have fewer rows than there are values (fewest: "
            f"{rarest!r}, {fewest:,}): a wrong profile has no guarantee; smooth them (--smooth "
            "1), or use coarser profiles"
        )
    never = len(graph.impossible())
    if never:
        note(
            f"{never:,} of {len(graph.pairs):,} pairs of profile and value were never observed "
            "and are treated as impossible; if they can occur, smooth the counts (--smooth 1)"
        )
