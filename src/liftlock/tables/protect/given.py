"""Columns that stay beside what is released, and that its mechanism uses: counted and coded."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError, LabelError
from liftlock.model import Conditional
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.columns import (
    MISSING_LABEL,
    OTHER_LABEL,
    CellReader,
    ColumnEncoding,
    GivenEncoding,
)
from liftlock.model.continuous.discretisation import shortest_between
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.prior import sort_labels
from liftlock.tables.cells import CellEncoder
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.protect.context import LearnedColumn
from liftlock.tables.protect.count import count_columns, count_tuples, label_of
from liftlock.tables.protect.inspect import band_edges, number_text, parse_number
from liftlock.tables.protect.spec import ColumnSpec, reserved_label_error

MOST_TUPLES = 500_000
"""More combinations of given values, secrets and values than this are too many to count."""

MOST_TABLES = 2_000
"""More given values than this, each with rows enough for a table of its own, take too long."""

_LISTED = 4
_NOTHING = Alphabet.of([0])


def learn_given(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    learned: LearnedColumn,
    watch: Progress | None = None,
) -> LearnedColumn:
    """Count what was learned of a column, or of several as one value, given other columns.

    Numbers of many values are given in bands. Given values in few rows share one table, which must
    keep its guarantee whatever the joint there.
    """
    spec = specs[0]
    if isinstance(learned.context, GridPrior):
        raise InputError(
            "numbers that are their own secret have no tables for given columns",
            value=spec.column,
            remedy="name a secret (--secret), or leave out --given",
        )
    if learned.fixed is not None:
        raise InputError(
            "missing cells that stay missing beside given columns",
            value=spec.column,
            remedy="make them a category (--missing category), or leave out --given",
        )
    counted, _ = count_columns(source, [(None, name) for name in spec.given], watch=watch)
    rules = [
        _column_rules(name, {cell: n for (_, cell), n in cells.items()}, spec.policy.spelled)
        for name, cells in zip(spec.given, counted, strict=True)
    ]
    given = GivenEncoding(
        tuple(rule.code for rule in rules),
        tuple(rule.part for rule in rules),
        unseen=spec.policy.unseen,
    )
    every = _count(source, specs, learned, given, watch)
    counts = every[0]
    sizes = {k: sum(cells.values()) for k, cells in counts.items()}
    often = [k for k, rows in sizes.items() if rows >= spec.given_rows]
    rare = sort_labels(k for k in sizes if k not in set(often))
    if len(often) > MOST_TABLES:
        raise InputError(
            f"{len(often):,} given values with a table each",
            value=", ".join(spec.given),
            remedy=f"at most {MOST_TABLES:,}: name fewer columns, or ask for more rows of each "
            "(--given-rows)",
        )
    values = Alphabet.of(learned.context.inputs.labels, learned.context.inputs.coordinates)
    context, *also = (
        Conditional.from_counts(
            each,
            values,
            fewest=spec.given_rows,
            smoothing=spec.policy.smooth,
            rest=spec.policy.unseen == "map",
            share=len(every) == 1,
        )
        for each in every
    )
    notes = [note for rule in rules for note in rule.notes]
    if rare:
        shared = sum(sizes[k] for k in rare)
        rows = sum(sizes.values())
        notes.append(
            f"{len(rare):,} of {len(sizes):,} values of {_named(spec.given)}, each in fewer than "
            f"{spec.given_rows:,} rows ({_several(rare)}), share one table, which keeps the "
            f"guarantee whatever the joint there: {shared:,} rows, {100 * shared / rows:.3g} %"
        )
    return replace(
        learned,
        context=context,
        also=tuple(also),
        encoding=replace(learned.encoding, given=replace(given, merged=tuple(rare))),
        notes=(*learned.notes, *notes),
    )


# --- the rules of a given column ----------------------------------------------------------------


@dataclass(frozen=True)
class _Rules:
    code: ColumnEncoding
    part: Alphabet
    notes: tuple[str, ...] = ()


def _column_rules(name: str, cells: Mapping[Any, int], spelled: tuple[str, ...]) -> _Rules:
    """Return how the cells of a given column are read: as they are, or numbers by their band."""
    reader = CellReader(ColumnEncoding(spelled=spelled), _NOTHING)
    filled = Counter[Any]()
    for cell, rows in cells.items():
        if not reader.is_missing(cell):
            filled[cell] += rows
    numbers = {cell: number for cell in filled if (number := parse_number(cell)) is not None}
    if len(numbers) == len(filled) and band_edges(filled) is not None:
        return _bands(name, numbers, filled, spelled)
    labels = sort_labels({_plain(name, cell) for cell in filled})
    for taken in (MISSING_LABEL, OTHER_LABEL):
        if taken in labels:
            raise reserved_label_error(f"a value of {name!r}", taken)
    return _Rules(_code(name, spelled), Alphabet.of([*labels, MISSING_LABEL, OTHER_LABEL]))


def _code(name: str, spelled: tuple[str, ...], **more: Any) -> ColumnEncoding:
    return ColumnEncoding(name, missing=MISSING_LABEL, other=OTHER_LABEL, spelled=spelled, **more)


def _plain(name: str, cell: Any) -> Label:
    try:
        return plain_label(label_of(cell))
    except LabelError as error:
        raise InputError(
            f"a cell of the given column {name!r} is no label",
            value=error.value,
            remedy="leave it out of --given, or make it text",
        ) from None


def _bands(
    name: str, numbers: Mapping[Any, float], rows: Mapping[Any, int], spelled: tuple[str, ...]
) -> _Rules:
    """Cut numbers into bands of about as many rows each, at the shortest numbers between them."""
    lasts = band_edges(rows)
    assert lasts is not None
    ordered = sorted(set(numbers.values()))
    # The same bands as those in which a kept column is measured.
    inner = [shortest_between(last, ordered[bisect_right(ordered, last)]) for last in lasts[:-1]]
    texts = list(map(number_text, inner))
    labels = [
        f"below {texts[0]}",
        *(f"{low} to {high}" for low, high in pairwise(texts)),
        f"{texts[-1]} or more",
    ]
    # The outermost ends are of no use: what is beyond them is in the first or the last band.
    edges = (math.nextafter(inner[0], -math.inf), *inner, math.nextafter(inner[-1], math.inf))
    code = _code(name, spelled, edges=edges, bins=tuple(labels))
    note = (
        f"{name!r} is given in {len(labels)} bands (cut at {', '.join(texts[:_LISTED])}"
        f"{', ...' if len(texts) > _LISTED else ''}): the guarantee is for whoever knows the "
        "band, not for whoever knows the number"
    )
    return _Rules(code, Alphabet.of([*labels, MISSING_LABEL, OTHER_LABEL]), (note,))


# --- counting -----------------------------------------------------------------------------------


ByGiven = dict[Label, dict[tuple[Label, Label], int]]
"""Given value -> (secret, value) -> rows; the secret None is the value itself."""


def _count(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    learned: LearnedColumn,
    given: GivenEncoding,
    watch: Progress | None,
) -> list[ByGiven]:
    """Count each secret that is wanted; a value that is kept missing is nobody's."""
    secrets = [secret for secret, _ in specs[0].hidden]
    alone = learned.alone is not None
    encoding = learned.encoding
    parts = (learned.context.inputs,) if alone else encoding.parts
    readers = [CellEncoder(code, part) for code, part in zip(encoding.columns, parts, strict=True)]
    beside = [
        CellEncoder(code, part) for code, part in zip(given.columns, given.parts, strict=True)
    ]
    columns = [*encoding.names, *given.names]
    wanted = {*columns, *(secret for secret in secrets if secret is not None)}
    tallies: list[Counter[tuple[Any, ...]]] = [Counter() for _ in secrets]
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with cell_errors_in(source, piece):
            codes = [
                reader.codes(piece.batch.column(name))
                for reader, name in zip((*readers, *beside), columns, strict=True)
            ]
        count_tuples(piece, codes, secrets, tallies)
        if max(map(len, tallies)) > MOST_TUPLES:
            raise InputError(
                f"more than {MOST_TUPLES:,} combinations of given values",
                value=", ".join(given.names),
                remedy="name fewer columns by --given",
            )
    merged = dict(encoding.merged)
    found: list[ByGiven] = []
    for tally in tallies:
        counts: ByGiven = {}
        for (told, *places), rows in tally.items():
            own = places[: len(readers)]
            if min(own) < 0:
                continue
            cells = tuple(part.labels[at] for part, at in zip(parts, own, strict=True))
            x = cells[0] if alone else merged.get(cells, cells)
            k = tuple(
                part.labels[at]
                for part, at in zip(given.parts, places[len(readers) :], strict=True)
            )
            of = counts.setdefault(k if len(k) > 1 else k[0], {})
            of[told, x] = of.get((told, x), 0) + rows
        found.append(counts)
    return found


def _named(columns: Sequence[str]) -> str:
    return " and ".join(map(repr, columns))


def _several(labels: Iterable[Label]) -> str:
    listed = list(labels)
    shown = ", ".join(map(repr, listed[:_LISTED]))
    more = len(listed) - _LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


def is_hidden(spec: ColumnSpec, dropped: Sequence[str], replaced: Sequence[str]) -> bool:
    """Tell whether the given columns do not go out; refuse it if only some of them do."""
    gone = [name for name in spec.given if name in dropped or name in replaced]
    if gone and len(gone) < len(spec.given):
        stay = [name for name in spec.given if name not in gone]
        raise InputError(
            "some given columns stay in the output and others do not",
            value=", ".join(gone),
            remedy=f"a guarantee is for those who see all of them, or none: keep them too, drop "
            f"{', '.join(stay)} as well, or leave out --given for them",
        )
    return bool(gone)
