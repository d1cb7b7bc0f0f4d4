"""Reading channels and mechanisms from CSV and JSON, exactly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from liftlock._runtime.storage import OURS, errors_at, malformed_data_errors, parse_json, read_text
from liftlock.errors import FileError, NotCertified, UnprotectedInput, listed
from liftlock.exact.integers import as_integers, sum_fractions
from liftlock.files.sheet import (
    DIVIDED,
    NEAR_ONE,
    NORMALISE,
    Note,
    Sheet,
    ignore_note,
    is_json,
    label_location,
    read_sheet,
    wrong_sum_error,
)
from liftlock.mechanism import Mechanism
from liftlock.model import Context, ProfileGraph
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.channel import Channel
from liftlock.model.structured import AnyChannel, any_channel_from_data
from liftlock.notions.guarantee import Guarantee

_KEPT_DIGITS = 36
_SHORT_BITS = 4096
_OURS_OR_CSV = re.compile(OURS.pattern + rb"|\A(?:\xef\xbb\xbf)?\s*[^\s{\[\xef]")
"""What a large file of a channel begins with, which may be a CSV."""


@dataclass(frozen=True)
class LoadedChannel:
    """A channel from a file, with the context stored beside it, if there is one.

    `corner` is the first cell of a CSV, which names the inputs (and is a label if the header is
    missing); `unprotected` is what the certificate of a mechanism lists as not protected, `also`
    are its further guarantees, proved again.
    """

    channel: AnyChannel
    context: Context | None
    corner: str = ""
    unprotected: tuple[Label, ...] = ()
    also: tuple[Guarantee, ...] = ()


def read_channel(
    path: str | Path, note: Note = ignore_note, *, normalise: bool = False
) -> LoadedChannel:
    """Read a mechanism or channel file (JSON) or a matrix of probabilities (CSV).

    In a CSV the first column holds the inputs, the header the outputs; decimals are read exactly.
    Rows within 1e-9 of 1, and with `normalise` all rows, are divided by their sum, and `note` is
    told.
    """
    place = Path(path)
    text = read_text(place, begins=_OURS_OR_CSV)
    if not is_json(place, text):
        return channel_from_sheet(read_sheet(place, text), note, normalise=normalise)
    data = parse_json(text, place)
    with errors_at(place), malformed_data_errors():
        if isinstance(data, dict) and data.get("format") == Mechanism.FORMAT:
            mechanism = _mechanism_from_data(data)
            listed = mechanism.certificate.unprotected
            return LoadedChannel(
                mechanism.channel, mechanism.context, unprotected=listed, also=mechanism.also
            )
        return LoadedChannel(any_channel_from_data(data), None)


def read_mechanism(path: str | Path) -> Mechanism:
    """Read a mechanism file, and prove its guarantee again."""
    place = Path(path)
    text = read_text(place, begins=OURS)
    if not is_json(place, text):
        raise FileError(
            "not a mechanism file",
            where=str(place),
            remedy="give the JSON that liftlock design or lock has written",
        )
    data = parse_json(text, place)
    with errors_at(place), malformed_data_errors():
        return _mechanism_from_data(data)


def _mechanism_from_data(data: Any) -> Mechanism:
    try:
        return Mechanism.from_data(data)
    except (NotCertified, UnprotectedInput) as refusal:
        raise FileError(
            "mechanism without the guarantee it claims",
            value=str(refusal),
            remedy="the file was changed; make it again with lock",
        ) from None


def channel_from_sheet(
    sheet: Sheet,
    note: Note,
    inputs: Alphabet | None = None,
    start: int = 1,
    *,
    normalise: bool = False,
) -> LoadedChannel:
    """Read a matrix of probabilities, which begins in the column `start`, exactly.

    Without `inputs` the first column names them.
    """
    inputs = sheet.row_labels() if inputs is None else inputs
    outputs = Alphabet.of(sheet.header[start:])
    rows: list[list[int]] = []
    scales: list[int] = []
    for line, cells in sheet.rows:
        integers, scale = sheet.integers(line, cells, start)
        rows.append(integers)
        scales.append(scale)
    shares = [Fraction(sum(row), scale) for row, scale in zip(rows, scales, strict=True)]
    for position, share in enumerate(shares):
        if abs(share - 1) > NEAR_ONE and not (normalise and share > 0):
            raise _row_sum_error(sheet, position, inputs.labels[position], share, rows, scales)
    off = [position for position, share in enumerate(shares) if share != 1]
    totals = [sum(row) for row in rows]
    if off:
        worst = max(off, key=lambda position: abs(shares[position] - 1))
        how = f"were {DIVIDED}"
        if math.lcm(*totals).bit_length() > _SHORT_BITS:
            rows, totals = _to_common_total(rows, scales)
            how += f", to {_KEPT_DIGITS} digits"
        note(
            f"{len(off)} of {len(rows)} rows of {sheet.path} did not sum to 1 exactly and {how} "
            f"(largest gap {float(abs(shares[worst] - 1)):.2g}, input {inputs.labels[worst]!r})"
        )
    weights = as_integers(np.array(rows, dtype=object))
    return LoadedChannel(
        Channel(inputs, outputs, weights, tuple(totals)), None, corner=sheet.header[0]
    )


def _to_common_total(rows: list[list[int]], scales: list[int]) -> tuple[list[list[int]], list[int]]:
    """Normalise rows over one common total, every probability to 36 digits or more.

    Exact quotients would give every row a denominator of its own, whose common multiple grows with
    the number of rows until the audit no longer ends; the digits left out here lie below those
    that a computed matrix has. No probability becomes zero.
    """
    scale = math.lcm(*scales)
    scaled = [
        [weight * (scale // own) for weight in row] for row, own in zip(rows, scales, strict=True)
    ]
    least = min(weight for row in scaled for weight in row if weight)
    grid = scale * 10 ** max(0, _KEPT_DIGITS + 1 - len(str(least)))
    for row in scaled:
        total = sum(row)
        row[:] = [weight * grid // total for weight in row]
        row[row.index(max(row))] += grid - sum(row)
    return scaled, [grid] * len(scaled)


def _row_sum_error(
    sheet: Sheet,
    position: int,
    label: Label,
    share: Fraction,
    rows: list[list[int]],
    scales: list[int],
) -> FileError:
    """Say that a row does not sum to 1, and guess why."""
    remedy = f"correct the probabilities (within 1e-9 they are normalised), or {NORMALISE}"
    columns = [
        sum_fractions(Fraction(row[column], scale) for row, scale in zip(rows, scales, strict=True))
        for column in range(len(rows[0]))
        if len(rows) * len(rows[0]) <= 10_000
    ]
    if columns and all(abs(total - 1) <= NEAR_ONE for total in columns):
        remedy = "transpose the table: its columns sum to 1, and each input needs one row"
    elif share > 1 and scales[position] == 1:
        remedy = f"these look like counts: {NORMALISE}"
    where = f"{sheet.where(sheet.rows[position][0])}, input {label!r}"
    return wrong_sum_error("row does not sum to 1", where, share, remedy)


# --- for the values of profiles ------------------------------------------------------------------


def read_profile_channel(
    path: str | Path, graph: ProfileGraph, note: Note = ignore_note, *, normalise: bool = False
) -> tuple[AnyChannel, ProfileGraph]:
    """Read a channel for the values of a graph, and the graph with the channel's own labels.

    A mechanism or channel file (JSON); or a CSV whose first column names the values, for a channel
    that ignores the profile; or a CSV whose first two columns name profile and value.
    """
    place = Path(path)
    text = read_text(place)
    if not is_json(place, text):
        sheet = read_sheet(place, text)
        if _names_pairs(sheet, graph):
            return _pair_channel(sheet, graph, note, normalise), graph
    read = read_channel(place, note, normalise=normalise)
    return read.channel, relabel_graph(read, graph, place)


def relabel_graph(read: LoadedChannel, graph: ProfileGraph, place: Path) -> ProfileGraph:
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
        _relabel(graph.profiles, names), _relabel(graph.inputs, values), graph.counts, graph.edges
    )
    if not names:
        extra = [label for label in inputs if label not in found.inputs]
        missing = [label for label in found.inputs.labels if label not in read.channel.inputs]
        if extra or missing:
            raise FileError(
                "an input is not a value of the profiles" if extra else "no row for a value",
                where=label_location(place, extra[0]) if extra else str(place),
                value=(extra or missing)[0],
                remedy=f"give one row for each value ({listed(found.inputs.labels, 8)}), or one "
                "for each profile and value",
            )
    with errors_at(place):
        found.uses_profile(read.channel.inputs)
    return found


def _relabel(labels: Alphabet, texts: Mapping[str, Label]) -> Alphabet:
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


def _pair_channel(sheet: Sheet, graph: ProfileGraph, note: Note, normalise: bool) -> Channel:
    names = {str(label): label for label in graph.profiles.labels}
    values = {str(label): label for label in graph.inputs.labels}
    found: dict[tuple[Label, Label], int] = {}
    for line, cells in sheet.rows:
        name = sheet.find_label(line, 0, cells, names)
        pair = (name, sheet.find_label(line, 1, cells, values, "value"))
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
    read = channel_from_sheet(sheet, note, Alphabet.of(found), start=2, normalise=normalise)
    assert isinstance(read.channel, Channel)
    return read.channel
