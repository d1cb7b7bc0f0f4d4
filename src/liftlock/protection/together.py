"""Several columns protected as one value, so that the guarantee is for all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from liftlock.alphabet import Alphabet, Label
from liftlock.channel import Table
from liftlock.column_code import ColumnCode, GroupCode
from liftlock.contexts import Joint, Prior
from liftlock.contexts.prior import common_integers, sorted_labels
from liftlock.errors import InputError
from liftlock.exact.numbers import exact
from liftlock.frames.arrow_cells import CellCodes
from liftlock.line.grid import GridPrior
from liftlock.mechanism import Mechanism
from liftlock.progress import Progress
from liftlock.protection.combined import MOST_TUPLES, count_tuples
from liftlock.protection.learning import Source, placed
from liftlock.protection.rules import Learned
from liftlock.protection.wish import Wish

CELLS = 12
"""So many cells of numbers, unless told otherwise: combinations become many."""


@dataclass(frozen=True)
class LearnedGroup:
    """Columns as one mechanism will know them."""

    context: Prior | Joint
    group: GroupCode
    notes: tuple[str, ...]


def check_together(wishes: Sequence[Wish]) -> None:
    """Refuse what columns that are one value cannot have each for themselves."""
    first = wishes[0]
    if len(wishes) < 2:
        raise InputError(
            "one column is not several", value=first.column, remedy="leave out --together"
        )
    for wish in wishes:
        for what, same in (
            ("secret", wish.secret == first.secret),
            ("guarantee", str(wish.notion) == str(first.notion)),
            ("utility", wish.utility == first.utility),
        ):
            if not same:
                raise InputError(
                    f"columns that are protected as one value have one {what}",
                    value=wish.column,
                    remedy="leave out --together, or give them the same",
                )
        if wish.local or wish.context is not None:
            raise InputError(
                "columns that are protected as one value are counted in the table",
                value=wish.column,
                remedy="leave out --together, or what is said of the prior",
            )
        if wish.policy.missing == "keep":
            raise InputError(
                "columns that are protected as one value keep no cell missing",
                value=wish.column,
                remedy="make missing values a category (--missing category)",
            )


def learn_together(
    source: Source,
    wishes: Sequence[Wish],
    learned: Sequence[Learned],
    watch: Progress | None = None,
) -> LearnedGroup:
    """Count combinations of what the cells of each column become."""
    codes: list[ColumnCode] = []
    parts: list[Alphabet] = []
    points: list[tuple[float, ...]] = []
    for each in learned:
        code, numbers = each.code, each.points
        if isinstance(each.context, GridPrior):
            grid = each.context
            code = replace(code, edges=grid.grid.edges, cells=grid.labels)
            numbers = tuple(grid.points.tolist())
        codes.append(code)
        parts.append(Alphabet.of(each.context.inputs.labels))
        points.append(numbers)
    group = GroupCode(tuple(codes), tuple(parts), tuple(points) if any(points) else ())
    readers = [CellCodes(code, part) for code, part in zip(codes, parts, strict=True)]
    secret = wishes[0].secret
    tally: Counter[tuple[Any, ...]] = Counter()
    wanted = {wish.column for wish in wishes} | ({secret} - {None})
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with placed(source, piece):
            cells = [
                reader.codes(piece.batch.column(wish.column))
                for reader, wish in zip(readers, wishes, strict=True)
            ]
        count_tuples(piece, cells, [secret], [tally])
        if len(tally) > MOST_TUPLES * 2:
            raise _too_many(wishes, len(tally))
    rows = sum(tally.values())
    tally, merged = _merged(tally, wishes[0].policy.rare)
    keys = sorted({key[1:] for key in tally})
    if len(keys) > MOST_TUPLES or 2 * len(keys) > rows:
        raise _too_many(wishes, len(keys), rows)

    def named(key: tuple[int, ...]) -> tuple[Label, ...]:
        return tuple(part.labels[place] for part, place in zip(parts, key, strict=True))

    inputs = Alphabet.of(named(key) for key in keys)
    pairs = tuple((named(rare), named(kept)) for rare, kept in merged.items())
    group = replace(group, merged=pairs)
    more = exact(wishes[0].policy.smooth, name="smooth")
    context: Prior | Joint
    if secret is None:
        context = Prior(inputs, common_integers([tally[None, *key] + more for key in keys]))
    else:
        told = sorted_labels({key[0] for key in tally})
        context = Joint.from_rows(
            Alphabet.of(told),
            inputs,
            [[tally.get((label, *key), 0) + more for key in keys] for label in told],
        )
    notes = [note for each in learned for note in each.notes]
    if merged:
        notes.append(
            f"{len(merged)} combinations in fewer than {wishes[0].policy.rare} rows were merged "
            "with the most similar ones that are more frequent"
        )
    return LearnedGroup(context, group, tuple(notes))


def _merged(
    tally: Counter[tuple[Any, ...]], rare: int
) -> tuple[Counter[tuple[Any, ...]], dict[tuple[int, ...], tuple[int, ...]]]:
    """Count rare combinations with the most similar frequent ones.

    Most similar is who shares the most columns, the first ones before others, then whose other
    parts are nearest in their order, then who is most frequent.
    """
    sizes: Counter[tuple[int, ...]] = Counter()
    for key, number in tally.items():
        sizes[key[1:]] += number
    frequent = [key for key, number in sizes.items() if number >= rare]
    if not frequent:
        raise InputError(
            f"every combination of values is rarer than {rare} rows",
            value=max(sizes.values()),
            remedy="merge less: lower --rare",
        )

    def likeness(rarely: tuple[int, ...], other: tuple[int, ...]) -> tuple[Any, ...]:
        same = [one == two for one, two in zip(rarely, other, strict=True)]
        apart = sum(abs(one - two) for one, two in zip(rarely, other, strict=True))
        return sum(same), same, -apart, sizes[other], other

    target = {
        key: max(frequent, key=partial(likeness, key))
        for key, number in sizes.items()
        if number < rare
    }
    found: Counter[tuple[Any, ...]] = Counter()
    for (told, *rest), number in tally.items():
        key = tuple(rest)
        found[told, *target.get(key, key)] += number
    return found, target


def with_tuples(made: Mechanism, group: GroupCode) -> Mechanism:
    """Name each output by a combination of cells, and add the rules of the columns.

    An output that has no combination for a name gets the likeliest one that leads to it, and a
    number to tell it from others.
    """
    table = made.table
    known = set(table.inputs.labels)
    if not known.issuperset(table.outputs.labels):
        prior = made.known_prior
        assert prior is not None
        joint = table.floats() * prior.reordered(table.inputs).floats()[:, None]
        names: list[Label] = []
        for place, label in enumerate(table.outputs.labels):
            likeliest = table.inputs.labels[int(np.argmax(joint[:, place]))]
            assert isinstance(likeliest, tuple)
            names.append(label if label in known else (*likeliest, place + 1))
        table = Table.of(table.inputs, Alphabet.of(names), table.weights, bits=table.bits)
        made = Mechanism.proved(table, made.notion, made.context, made.origin)
    return replace(made, group=group)


def _too_many(wishes: Sequence[Wish], tuples: int, rows: int | None = None) -> InputError:
    shown = ", ".join(wish.column for wish in wishes)
    found = f"{tuples:,} combinations of values" + ("" if rows is None else f" in {rows:,} rows")
    return InputError(
        f"{found}: too many to learn how often each occurs",
        value=shown,
        remedy="merge rare values (--rare), use fewer cells of numbers (--cells), or fewer columns",
    )
