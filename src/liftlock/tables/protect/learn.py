"""From what is wanted of columns to what their mechanisms are to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from liftlock._runtime.progress import Progress
from liftlock.errors import InputError
from liftlock.exact.numbers import exact
from liftlock.model import Joint, Prior
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.columns import (
    MISSING_LABEL,
    OTHER_LABEL,
    ColumnEncoding,
    TableEncoding,
    spellings_of,
)
from liftlock.model.continuous.grid import GridPrior, round_numbers
from liftlock.model.prior import common_integers, sort_labels
from liftlock.tables.cells import CellEncoder
from liftlock.tables.formats.base import TableSource, cell_errors_in
from liftlock.tables.protect.context import (
    LearnedColumn,
    add_labels,
    add_numbers,
    learn_labels,
    learn_numbers,
)
from liftlock.tables.protect.count import (
    Counts,
    NumberCollector,
    count_columns,
    count_tuples,
    secret_label,
)
from liftlock.tables.protect.leakage import MOST_TUPLES
from liftlock.tables.protect.spec import ColumnSpec, is_numeric


def learn_columns(
    source: TableSource, specs: Sequence[ColumnSpec], watch: Progress | None = None
) -> tuple[list[LearnedColumn | None], int]:
    """Read the table once, and make of it what each mechanism is to know."""
    numeric = [is_numeric(spec, source.type_of(spec.column)) for spec in specs]
    pairs: list[tuple[str | None, str]] = []
    numbers: list[NumberCollector] = []
    for spec, of_numbers in zip(specs, numeric, strict=True):
        if spec.local or spec.context is not None:
            if spec.secret is not None and spec.secret in source.columns:
                pairs.append((None, spec.secret))
            continue
        if of_numbers:
            numbers.append(NumberCollector(spec.column, spec.secrets, spec.policy.spelled))
        else:
            pairs += dict.fromkeys((each, spec.column) for each, _ in spec.hidden)
    counts, rows = count_columns(source, pairs, numbers, watch)
    by_pair: dict[tuple[str | None, str], Counts] = dict(zip(pairs, counts, strict=True))
    by_column = {each.column: each for each in numbers}
    found: list[LearnedColumn | None] = []
    for spec, of_numbers in zip(specs, numeric, strict=True):
        if spec.local:
            found.append(None)
        elif spec.context is not None:
            if spec.secret is not None and spec.secret in source.columns:
                _check_secrets(spec, by_pair[None, spec.secret])
            found.append(_public_column(spec))
        elif of_numbers:
            each = by_column[spec.column]
            made = learn_numbers(
                spec.column,
                each.numbers(),
                each.secrets(spec.secret),
                spec.policy,
                secret=spec.secret,
                bins=spec.bins,
                domain=spec.domain,
            )
            decimals = 0 if spec.decimals is None and each.whole else spec.decimals
            also = [
                _without_secret(made)
                if secret is None
                else add_numbers(made, each.numbers(), each.secrets(secret), spec.policy, secret)
                for secret, _ in spec.also
            ]
            found.append(replace(made, decimals=decimals, also=tuple(also)))
        else:
            pair = by_pair[spec.secret, spec.column]
            made = learn_labels(spec.column, pair, spec.policy, secret=spec.secret)
            also = [
                _without_secret(made)
                if secret is None
                else add_labels(made, by_pair[secret, spec.column], spec.policy, secret)
                for secret, _ in spec.also
            ]
            found.append(replace(made, also=tuple(also)))
    return found, rows


def _without_secret(learned: LearnedColumn) -> Prior:
    """Return what is known of the values alone."""
    context = learned.context
    return context if isinstance(context, Prior) else context.prior


def _check_secrets(spec: ColumnSpec, counts: Counts) -> None:
    """Refuse secrets that a public joint does not know: nothing is proved about them."""
    assert isinstance(spec.context, Joint)
    joint = spec.context
    known = {
        str(label)
        for label, row in zip(joint.secrets.labels, joint.counts, strict=True)
        if any(row)
    }
    for _, told in counts:
        label = secret_label(told)
        if label != MISSING_LABEL and known.isdisjoint(spellings_of(label)):
            raise InputError(
                f"a value of the secret {spec.secret!r} is not in the joint",
                value=label,
                remedy=f"add it to the joint, which has {', '.join(sorted(known)[:6])}",
            )


def _public_column(spec: ColumnSpec) -> LearnedColumn:
    """Take a public joint or prior as it is, with what it says about missing and other values."""
    context = spec.context
    assert context is not None
    policy = spec.policy
    labels = context.inputs.labels
    masses = (context.prior if isinstance(context, Joint) else context).floats()
    # What cannot occur is no input of the mechanism.
    known = {label for label, mass in zip(labels, masses, strict=True) if mass}
    keeps = policy.missing == "keep"
    if keeps and spec.secret is None and MISSING_LABEL in known:
        raise InputError(
            f"the prior of {spec.column!r} knows {MISSING_LABEL}, and missing cells are kept",
            remedy="remove it from the prior, or make it a category (--missing category)",
        )
    asks = MISSING_LABEL in known and policy.missing != "refuse"
    notes: list[str] = []
    other: Label | None = OTHER_LABEL if OTHER_LABEL in known else None
    if other is None and policy.unseen == "map":
        other = labels[int(np.argmax(masses))]
        notes.append(f"unseen values of {spec.column!r} are mapped to {other!r}, the most likely")
    code = ColumnEncoding(
        spec.column,
        missing=MISSING_LABEL if asks else None,
        keeps_missing=keeps and spec.secret is None,
        spelled=policy.spelled,
        secret=spec.secret,
        other=other,
        unseen=policy.unseen,
    )
    return LearnedColumn(
        context, TableEncoding((code,)), MISSING_LABEL if asks and keeps else None, tuple(notes)
    )


def learn_group(
    source: TableSource,
    specs: Sequence[ColumnSpec],
    learned: Sequence[LearnedColumn],
    watch: Progress | None = None,
) -> LearnedColumn:
    """Count combinations of what the cells of each column become."""
    codes: list[ColumnEncoding] = []
    parts: list[Alphabet] = []
    points: list[tuple[float, ...]] = []
    for each in learned:
        (code,), numbers = each.encoding.columns, each.points
        if isinstance(each.context, GridPrior):
            grid = each.context
            code = replace(code, edges=grid.grid.edges, bins=grid.labels)
            numbers = tuple(grid.points.tolist())
        if each.decimals is not None and code.bins:
            numbers = tuple(
                round_numbers(numbers, each.decimals, (code.edges[0], code.edges[-1])) or numbers
            )
        codes.append(code)
        parts.append(Alphabet.of(each.context.inputs.labels))
        points.append(numbers)
    group = TableEncoding(tuple(codes), tuple(parts), tuple(points) if any(points) else ())
    readers = [CellEncoder(code, part) for code, part in zip(codes, parts, strict=True)]
    secrets = [each for each, _ in specs[0].hidden]
    tallies: list[Counter[tuple[Any, ...]]] = [Counter() for _ in secrets]
    wanted = {spec.column for spec in specs} | {*specs[0].secrets}
    for piece in source.batches([name for name in source.columns if name in wanted], watch):
        with cell_errors_in(source, piece):
            cells = [
                reader.codes(piece.batch.column(spec.column))
                for reader, spec in zip(readers, specs, strict=True)
            ]
        count_tuples(piece, cells, secrets, tallies)
        most = max(map(len, tallies))
        if most > MOST_TUPLES * 2:
            raise _too_many_error(specs, most)
    rows = sum(tallies[0].values())
    # What is rare does not depend on the secret.
    merges = [_merge_rare(tally, specs[0].policy.rare) for tally in tallies]
    merged = merges[0][1]
    keys = sorted({key[1:] for key in merges[0][0]})
    if len(keys) > MOST_TUPLES or 2 * len(keys) > rows:
        raise _too_many_error(specs, len(keys), rows)

    def named(key: tuple[int, ...]) -> tuple[Label, ...]:
        return tuple(part.labels[place] for part, place in zip(parts, key, strict=True))

    inputs = Alphabet.of(named(key) for key in keys)
    pairs = tuple((named(rare), named(kept)) for rare, kept in merged.items())
    group = replace(group, merged=pairs)
    more = exact(specs[0].policy.smooth, name="smooth")

    def known(secret: str | None, tally: Counter[tuple[Any, ...]]) -> Prior | Joint:
        if secret is None:
            return Prior(inputs, common_integers([tally[None, *key] + more for key in keys]))
        told = sort_labels({key[0] for key in tally})
        return Joint.from_rows(
            Alphabet.of(told),
            inputs,
            [[tally.get((label, *key), 0) + more for key in keys] for label in told],
        )

    context, *also = (
        known(secret, tally) for secret, (tally, _) in zip(secrets, merges, strict=True)
    )
    notes = [note for each in learned for note in each.notes]
    if merged:
        notes.append(
            f"{len(merged)} combinations in fewer than {specs[0].policy.rare} rows were merged "
            "with the most similar frequent ones"
        )
    return LearnedColumn(context, group, None, tuple(notes), also=tuple(also))


def _merge_rare(
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
            remedy="lower --rare",
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


def _too_many_error(
    specs: Sequence[ColumnSpec], tuples: int, rows: int | None = None
) -> InputError:
    shown = ", ".join(spec.column for spec in specs)
    found = f"{tuples:,} combinations of values" + ("" if rows is None else f" in {rows:,} rows")
    return InputError(
        f"{found}: too many to learn their frequencies",
        value=shown,
        remedy="merge rare values (--rare), use fewer bins for numbers (--bins), or fewer columns",
    )
