"""From counted cells to what a mechanism knows: labels, missing and rare values, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from liftlock.errors import InputError, LabelError
from liftlock.exact.integers import Floats
from liftlock.exact.numbers import exact
from liftlock.model import Conditional, Joint, Prior
from liftlock.model.alphabet import Alphabet, Label, plain_label
from liftlock.model.columns import (
    MISSING_LABEL,
    OTHER_LABEL,
    CellReader,
    ColumnEncoding,
    TableEncoding,
)
from liftlock.model.continuous import from_data
from liftlock.model.prior import common_integers, sort_labels
from liftlock.report.format import counted
from liftlock.tables.protect.count import Counts, label_of, secret_label
from liftlock.tables.protect.spec import BINS_WITH_SECRET, Policy, reserved_label_error

MOST_LABELS = 2_000
"""More categories than this take too long to design for, once rare ones are merged."""


_LISTED = 4


@dataclass(frozen=True)
class LearnedColumn:
    """A column as its mechanism will know it."""

    context: Prior | Joint | Conditional
    encoding: TableEncoding
    """The rules of the column, or of several that are one value."""
    fixed: Label | None = None
    """The input of missing cells that must come out as it is."""
    notes: tuple[str, ...] = ()
    points: tuple[float, ...] = ()
    """The mean of each cell of numbers, beside a secret."""
    decimals: int | None = None
    """So many decimals have the numbers that are released; None leaves them as they are."""
    also: tuple[Prior | Joint | Conditional, ...] = ()
    """What is known of further secrets of the same inputs, or of the inputs alone."""

    @property
    def alone(self) -> ColumnEncoding | None:
        """The rules of the only column; None if several are one value."""
        return self.encoding.alone


def learn_labels(
    name: str, counts: Counts, policy: Policy | None = None, *, secret: str | None = None
) -> LearnedColumn:
    """Make a joint of a secret and a column, or a prior, from how often their cells occur.

    >>> learned = learn_labels("job", {(None, "nurse"): 7, (None, "cook"): 2, (None, None): 1})
    >>> learned.context.labels, learned.alone.missing
    (('cook', 'nurse', '(missing)'), '(missing)')
    """
    policy = Policy() if policy is None else policy
    by_value = _parse_integers(_unwrap_labels(counts, policy, secret is not None))
    values = Counter[Label]()
    missing = 0
    for (_, value), count in by_value.items():
        if value is None:
            missing += count
        else:
            values[value] += count
    rows = missing + sum(values.values())
    _check_types(name, values)
    _check_missing(name, missing, rows, policy)
    notes: list[str] = []
    rare = sort_labels(label for label in values if values[label] < policy.rare)
    if len(rare) == 1 and OTHER_LABEL not in values:
        notes.append(f"{rare[0]!r} is the only rare value and was renamed {OTHER_LABEL}")
    if not values:
        raise InputError(f"all values of {name!r} are missing", remedy="choose another column")
    if len(rare) == len(values):
        raise InputError(
            f"every value of {name!r} is rarer than {policy.rare} rows",
            value=max(values.values()),
            remedy="lower --rare",
        )
    kept = sort_labels(label for label in values if values[label] >= policy.rare)
    _check_values(
        f"the column {name!r}",
        len(kept) + bool(rare),
        rows - missing,
        "merge rare values (--rare), discretise numbers (--numbers), or give a public joint "
        "(--joint)",
    )
    for taken in (MISSING_LABEL, OTHER_LABEL):
        if taken in values:
            raise reserved_label_error(f"a value of {name!r}", taken)
    labels: list[Label] = [*kept]
    other: Label | None = None
    if rare:
        other = OTHER_LABEL
        labels.append(other)
        merged = sum(values[label] for label in rare)
        notes.append(
            f"{len(rare)} value{'s' * (len(rare) != 1)} in fewer than {policy.rare} rows "
            f"{'were' if len(rare) != 1 else 'was'} merged into {other} "
            f"({merged:,} rows): {_several(rare)}"
        )
        if merged < policy.rare:
            notes.append(f"{other} is still in only {merged:,} rows")
    elif policy.unseen == "map":
        other = max(kept, key=lambda label: values[label])
        notes.append(f"unseen values are mapped to {other!r}, the most frequent value")
    asks = missing and (policy.missing == "category" or (policy.missing == "keep" and secret))
    if asks:
        labels.append(MISSING_LABEL)
    notes += [*_missing_notes(name, missing, policy, secret), *_smooth_notes(name, policy)]
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"column {name!r} has {len(labels):,} distinct values; at most {MOST_LABELS:,} can be "
            "treated as categories",
            remedy="merge rare values (--rare), or treat the column as numeric (--numbers)",
        )
    if len(labels) < 2:
        raise InputError(
            f"all rows have the same value of {name!r}",
            value=labels[0],
            remedy="leave the column as it is: a constant reveals nothing",
        )
    code = ColumnEncoding(
        name,
        missing=MISSING_LABEL if asks else None,
        keeps_missing=policy.missing == "keep" and secret is None,
        spelled=policy.spelled,
        secret=secret,
        other=other,
        merged=tuple(rare),
        unseen=policy.unseen,
    )
    reader = CellReader(code, Alphabet.of(labels))
    table = Counter[tuple[Label, int]]()
    for (told, value), count in by_value.items():
        if value is not None or asks:
            table[told, reader.index(value)] += count
    inputs = Alphabet.of(labels, _coordinates(labels))
    context = _make_context(name, table, inputs, policy, secret)
    fixed = MISSING_LABEL if asks and policy.missing == "keep" else None
    return LearnedColumn(context, TableEncoding((code,)), fixed, tuple(notes))


def add_labels(learned: LearnedColumn, counts: Counts, policy: Policy, secret: str) -> Joint:
    """Count a further secret by the inputs that were made of a column.

    >>> jobs = {("f", "cook"): 2, ("m", "cook"): 4, ("f", "nurse"): 3}
    >>> learned = learn_labels("job", jobs, secret="sex")
    >>> by_home = {("a", "cook"): 5, ("b", "cook"): 1, ("b", "nurse"): 3}
    >>> add_labels(learned, by_home, Policy(), "home").counts
    ((5, 0), (1, 3))
    """
    code, inputs = learned.encoding.columns[0], learned.context.inputs
    reader = CellReader(code, inputs)
    table = Counter[tuple[Label, int]]()
    for (told, value), count in _parse_integers(_unwrap_labels(counts, policy, True)).items():
        table[told, reader.index(value)] += count
    made = _make_context(code.name, table, inputs, policy, secret)
    assert isinstance(made, Joint)
    return made


def learn_numbers(
    name: str,
    numbers: Floats,
    secrets: Sequence[Any] | pa.ChunkedArray | None = None,
    policy: Policy | None = None,
    *,
    secret: str | None = None,
    bins: int | None = None,
    domain: Any = None,
) -> LearnedColumn:
    """Make a prior of cells from numbers, or a joint of a secret and cells; NaN is missing.

    >>> learn_numbers("pay", np.arange(100.0), bins=4, domain=(0, 100)).context.labels
    ('[0, 25)', '[25, 50)', '[50, 75)', '[75, 100]')
    """
    policy = Policy() if policy is None else policy
    empty = np.isnan(numbers)
    missing, rows = int(empty.sum()), len(numbers)
    _check_missing(name, missing, rows, policy)
    if policy.rare:
        raise InputError(
            "rare numbers are not merged: a bin holds many",
            value=policy.rare,
            remedy="leave out --rare, or use fewer bins (--bins)",
        )
    if missing == rows:
        raise InputError(f"all values of {name!r} are missing", remedy="choose another column")
    notes: list[str] = []
    distribution = from_data(numbers[~empty], domain=domain)
    if domain is None:
        notes.append(
            f"no --domain: [{distribution.lower:g}, {distribution.upper:g}] was taken from the "
            "data, which reveals their minimum and maximum"
        )
    if secret is None:
        if missing and policy.missing == "category":
            raise InputError(
                f"{missing:,} missing values among the numbers of {name!r}",
                remedy="fill them in, or keep them missing (--missing keep): numbers have no "
                "category for them",
            )
        if exact(policy.smooth, name="smooth"):
            raise InputError(
                f"the numbers of {name!r} are not smoothed: their bins hold about equal counts",
                value=policy.smooth,
                remedy="leave out --smooth",
            )
        grid = distribution.discretise() if bins is None else distribution.discretise(bins)
        notes += _missing_notes(name, missing, policy, secret)
        code = ColumnEncoding(name, keeps_missing=policy.missing == "keep", spelled=policy.spelled)
        return LearnedColumn(grid, TableEncoding((code,)), None, tuple(notes))
    assert secrets is not None
    grid = distribution.discretise(BINS_WITH_SECRET if bins is None else bins)
    labels: list[Label] = list(grid.labels)
    points = list(grid.inputs.coordinates or ())
    if missing:
        labels.append(MISSING_LABEL)
    notes += [*_missing_notes(name, missing, policy, secret), *_smooth_notes(name, policy)]
    places = np.where(empty, len(grid.labels), grid.grid.encode(np.where(empty, 0.0, numbers)))
    table = _count_pairs(secrets, places, len(labels))
    code = ColumnEncoding(
        name,
        missing=MISSING_LABEL if missing else None,
        spelled=policy.spelled,
        secret=secret,
        edges=grid.grid.edges,
        bins=tuple(grid.labels),
    )
    # A missing value has no place on the line, so there is no mean error with it.
    inputs = Alphabet.of(labels, None if missing else points)
    context = _make_context(name, table, inputs, policy, secret)
    fixed = MISSING_LABEL if missing and policy.missing == "keep" else None
    means = tuple(float(point) for point in points)
    return LearnedColumn(context, TableEncoding((code,)), fixed, tuple(notes), means)


def add_numbers(
    learned: LearnedColumn,
    numbers: Floats,
    secrets: pa.ChunkedArray,
    policy: Policy,
    secret: str,
) -> Joint:
    """Count a further secret by the cells that were made of numbers."""
    code, inputs = learned.encoding.columns[0], learned.context.inputs
    empty = np.isnan(numbers)
    cells = np.searchsorted(np.array(code.edges[1:-1]), np.where(empty, 0.0, numbers), side="right")
    table = _count_pairs(secrets, np.where(empty, len(code.bins), cells), len(inputs))
    made = _make_context(code.name, table, inputs, policy, secret)
    assert isinstance(made, Joint)
    return made


def _count_pairs(
    secrets: Sequence[Any] | pa.ChunkedArray, places: npt.NDArray[np.intp], bins: int
) -> Counter[tuple[Label, int]]:
    """Count pairs of a secret and a cell, without an object for each row."""
    column = secrets if isinstance(secrets, pa.ChunkedArray) else pa.chunked_array([secrets])
    whole = column.combine_chunks()
    known = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    if pa.types.is_dictionary(known.type):
        known = known.dictionary_decode()
    known = known.dictionary_encode(null_encoding="encode")
    told = [secret_label(value) for value in known.dictionary.to_pylist()]
    codes = known.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    numbers = np.bincount(codes * bins + places, minlength=len(told) * bins)
    table = Counter[tuple[Label, int]]()
    for at in np.flatnonzero(numbers).tolist():
        table[told[at // bins], at % bins] += int(numbers[at])
    return table


def _make_context(
    name: str,
    table: Mapping[tuple[Label, int], int],
    inputs: Alphabet,
    policy: Policy,
    secret: str | None,
) -> Prior | Joint:
    more = exact(policy.smooth, name="smooth")
    if secret is None:
        masses = [table.get((None, place), 0) + more for place in range(len(inputs))]
        return Prior(inputs, common_integers(masses))
    told = sort_labels({label for label, _ in table})
    if MISSING_LABEL in told:
        told.remove(MISSING_LABEL)
        told.append(MISSING_LABEL)
    if len(told) < 2:
        raise InputError(
            f"the secret {secret!r} has the same value in all rows",
            value=told[0] if told else None,
            remedy="leave out --secret to protect the column itself",
        )
    rows = [[table.get((label, place), 0) for place in range(len(inputs))] for label in told]
    _check_values(
        f"the secret {secret!r}",
        len(told),
        sum(table.values()),
        "choose a secret with fewer values, or give a public joint (--joint)",
    )
    _check_different(name, secret, rows)
    smoothed = [[count + more for count in row] for row in rows]
    return Joint.from_rows(Alphabet.of(told), inputs, smoothed)


def _check_different(name: str, secret: str, rows: list[list[int]]) -> None:
    """Refuse a column that is the secret itself under other names."""
    if len(rows) != len(rows[0]):
        return
    one = all(sum(value > 0 for value in line) == 1 for line in (*rows, *zip(*rows, strict=True)))
    if one:
        raise InputError(
            f"the column {name!r} is the secret {secret!r} itself: each value of one is always "
            "with the same value of the other",
            remedy="leave out --secret to protect the values of the column themselves",
        )


def _unwrap_labels(
    counts: Counts, policy: Policy, has_secret: bool
) -> Counter[tuple[Label, Label | None]]:
    """Unwrap labels, and call all missing cells None."""
    # No text is an input yet, so every text that means missing does.
    reader = CellReader(ColumnEncoding(spelled=policy.spelled), Alphabet.of([0]))
    found = Counter[tuple[Label, Label | None]]()
    for (told, value), count in counts.items():
        key = None if reader.is_missing(value) else plain_label(label_of(value))
        found[secret_label(told) if has_secret else None, key] += count
    return found


def _parse_integers(
    counts: Counter[tuple[Label, Label | None]],
) -> Counter[tuple[Label, Label | None]]:
    """Make numbers of texts where every text is a whole number."""
    labels = {value for _, value in counts if value is not None}
    if not labels or not all(isinstance(label, str) and _is_whole(label) for label in labels):
        return counts
    found = Counter[tuple[Label, Label | None]]()
    for (told, value), count in counts.items():
        found[told, None if value is None else int(str(value))] += count
    return found


def _check_types(name: str, labels: Iterable[Label]) -> None:
    by_type = {type(label): label for label in labels}
    if len(by_type) > 1 and not set(by_type) <= {int, float}:
        shown = " and ".join(map(repr, list(by_type.values())[:2]))
        raise LabelError(
            f"values of different types in {name!r}",
            value=shown,
            remedy="make them all text, or all numbers",
        )


def _is_whole(text: str) -> bool:
    try:
        return str(int(text)) == text
    except ValueError:
        return False


def _coordinates(labels: Sequence[Label]) -> Sequence[Label] | None:
    numbers = all(
        isinstance(label, int | float) and not isinstance(label, bool) for label in labels
    )
    return labels if numbers else None


def _check_missing(name: str, missing: int, rows: int, policy: Policy) -> None:
    if missing and policy.missing == "refuse":
        raise InputError(
            f"{missing:,} of {rows:,} values of {name!r} are missing",
            remedy="fill them in, or give --missing category or keep",
        )


def _check_values(what: str, values: int, rows: int, remedy: str) -> None:
    if 2 * values > rows:
        raise InputError(
            f"{what} has {counted(values, 'distinct value')} in {counted(rows, 'row')}: too many "
            "to learn their frequencies",
            remedy=remedy,
        )


def _missing_notes(name: str, missing: int, policy: Policy, secret: str | None) -> Iterable[str]:
    if not missing:
        return
    how = f"{missing:,} missing values of {name!r}"
    if policy.missing == "category":
        yield f"{how} are a separate category, {MISSING_LABEL}, protected like the others"
    elif secret is None:
        yield f"{how} were kept missing: whether a value is missing is not protected"
    else:
        yield f"{how} were kept missing: what that tells about {secret!r} is in the guarantee"


def _smooth_notes(name: str, policy: Policy) -> Iterable[str]:
    if exact(policy.smooth, name="smooth"):
        yield (
            f"{policy.smooth} was added to every count of {name!r}: the guarantee is for these "
            "smoothed counts"
        )


def _several(labels: Sequence[Label]) -> str:
    shown = ", ".join(map(repr, labels[:_LISTED]))
    more = len(labels) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown
