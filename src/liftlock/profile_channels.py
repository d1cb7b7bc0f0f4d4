"""Reading channels for the values of profiles, which may use the profile, from CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Channel
from liftlock.errors import FileError
from liftlock.files import (
    Note,
    ReadChannel,
    Sheet,
    channel_from_sheet,
    is_json,
    label_place,
    parse_sheet,
    read_channel,
    silent,
)
from liftlock.forms import AnyChannel
from liftlock.profile_files import known_profile, listed
from liftlock.profile_graph import ProfileGraph
from liftlock.storage import located, read_text


def read_profile_channel(
    path: str | Path, graph: ProfileGraph, note: Note = silent
) -> tuple[AnyChannel, ProfileGraph]:
    """Read a channel for the values of a graph, and the graph with the channel's own labels.

    A mechanism or channel file (JSON); or a CSV whose first column names the values, for a channel
    that ignores the profile; or a CSV whose first two columns name profile and value.
    """
    place = Path(path)
    text = read_text(place)
    if not is_json(place, text):
        sheet = parse_sheet(place, text)
        if _names_pairs(sheet, graph):
            return _pair_channel(sheet, graph, note), graph
    read = read_channel(place, note)
    return read.channel, fitted_graph(read, graph, place)


def fitted_graph(read: ReadChannel, graph: ProfileGraph, place: Path) -> ProfileGraph:
    """Return the graph with the labels of a channel, or refuse a channel of other inputs.

    A CSV knows only text, so its "1" is taken for the number 1 of a mechanism file.
    """
    inputs = read.channel.inputs.labels
    pairs = all(isinstance(label, tuple) and len(label) == 2 for label in inputs)
    values = {str(label): label for label in inputs}
    names: dict[str, Label] = {}
    if pairs and not set(values) >= {str(value) for value in graph.inputs.labels}:
        parts = [label for label in inputs if isinstance(label, tuple)]
        names = {str(label[0]): label[0] for label in parts}
        values = {str(label[1]): label[1] for label in parts}
    found = ProfileGraph(
        _renamed(graph.profiles, names), _renamed(graph.inputs, values), graph.counts, graph.edges
    )
    if not names:
        extra = [label for label in inputs if label not in found.inputs]
        missing = [label for label in found.inputs.labels if label not in read.channel.inputs]
        if extra or missing:
            raise FileError(
                "an input that is no value of the profiles" if extra else "no row for a value",
                where=label_place(place, extra[0]) if extra else str(place),
                value=(extra or missing)[0],
                remedy=f"give one row for each value ({listed(found.inputs.labels)}), or one for "
                "each profile and value",
            )
    with located(place):
        found.uses_profile(read.channel.inputs)
    return found


def _renamed(labels: Alphabet, texts: Mapping[str, Label]) -> Alphabet:
    if all(label in set(texts.values()) for label in labels.labels):
        return labels
    return Alphabet.of(
        (texts.get(str(label), label) for label in labels.labels), labels.coordinates
    )


def _names_pairs(sheet: Sheet, graph: ProfileGraph) -> bool:
    """Tell whether the first two columns are meant as profile and value."""
    if len(sheet.header) < 3:
        return False
    firsts = [cells[0] for _, cells in sheet.rows]
    values = {str(value) for value in graph.inputs.labels}
    if len(set(firsts)) == len(firsts) and values >= set(firsts):
        return False
    names = {str(name) for name in graph.profiles.labels}
    return bool(names & set(firsts)) or all(cells[1] in values for _, cells in sheet.rows)


def _pair_channel(sheet: Sheet, graph: ProfileGraph, note: Note) -> Channel:
    names = {str(label): label for label in graph.profiles.labels}
    values = {str(label): label for label in graph.inputs.labels}
    found: dict[tuple[Label, Label], int] = {}
    for line, cells in sheet.rows:
        name = known_profile(sheet, line, 0, cells, names)
        if cells[1] not in values:
            raise FileError(
                "unknown value",
                where=sheet.where(line, 1),
                value=cells[1],
                remedy=f"known are {listed(graph.inputs.labels)}",
            )
        pair = (name, values[cells[1]])
        if pair in found:
            raise FileError(
                "two rows for the same profile and value",
                where=f"{sheet.path}, lines {found[pair]} and {line}",
                value=",".join(cells[:2]),
                remedy="give one row for each profile and value",
            )
        found[pair] = line
    missing = [pair for pair in graph.pairs.labels if pair not in found]
    if missing:
        raise FileError(
            "no row for a profile and value",
            where=str(sheet.path),
            value=missing[0],
            remedy="give one row for each profile and value, also for those that never occur",
        )
    read = channel_from_sheet(sheet, note, Alphabet.of(found), start=2)
    assert isinstance(read.channel, Channel)
    return read.channel
