"""Columns that stay beside a released one: which are left out, and which must not stay unsaid."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from liftlock._runtime.progress import Progress
from liftlock.errors import FileError, InputError, listed
from liftlock.mechanism import Mechanism
from liftlock.model import Conditional, Joint
from liftlock.model.alphabet import Alphabet, Label
from liftlock.model.columns import MISSING_LABEL
from liftlock.notions.base import Notion
from liftlock.notions.guarantee import Guarantee
from liftlock.report.format import moved_by
from liftlock.tables.formats.base import TableSource, value_type
from liftlock.tables.per_user import PerUserRandomiser
from liftlock.tables.profiles import ProfileColumn
from liftlock.tables.protect.count import to_countable
from liftlock.tables.protect.inspect import inspect_other_columns, parse_number, quote_name
from liftlock.tables.protect.result import KeptColumn
from liftlock.tables.randomiser import ColumnRandomiser

Worker = ColumnRandomiser | PerUserRandomiser
"""What releases columns."""

_ALIKE = (
    (r"^\+?(-?)0*([0-9]+(?:\.[0-9]+)?)$", r"\1\2"),
    (r"^(-?[0-9]+)\.0+$", r"\1"),
    (r"^(-?[0-9]+\.[0-9]*[1-9])0+$", r"\1"),
    (r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[ t]00:00:00(?:\.0+)?$", r"\1"),
    (r"^true$", "1"),
    (r"^false$", "0"),
)
"""What tells a reader the same, in lower case: numbers, days and truth values written otherwise."""

_FORM: Final = "NFC"

_PERCENT_NAMED = 90
"""A column names labels if at least so many of its cells do, empty ones aside."""

_LISTED = 4


# --- columns that name what is hidden -----------------------------------------------------------


CountNames = Callable[[TableSource, "NameCounter"], None]


class NamedLabels(NamedTuple):
    """How many cells of a column name one of some labels, and how many are not empty."""

    column: str
    named: int
    filled: int

    @property
    def part(self) -> str:
        """Say how many cells it is, unless it is all of them."""
        return "" if self.named == self.filled else f" (in {self.named:,} of {self.filled:,} cells)"

    @property
    def nearly_all(self) -> bool:
        """Whether so many are named that the column tells which label each row has."""
        return self.named > 0 and 100 * self.named >= _PERCENT_NAMED * self.filled


@dataclass
class NameCounter:
    """How many cells of some columns name a label of some alphabets, batch after batch.

    Upper and lower case and blanks around tell a reader the same, and so do numbers, days and truth
    values that are written otherwise.

    >>> tally = NameCounter(("who", "age"), (Alphabet.of(["Ann", "Bob", 2]),))
    >>> tally.add(pa.record_batch({"who": [" ann", "BOB", None], "age": [2.0, 31.0, 47.0]}))
    >>> tally.found("who"), tally.found("age")
    (NamedLabels(column='who', named=2, filled=2), NamedLabels(column='age', named=1, filled=3))
    """

    columns: tuple[str, ...]
    alphabets: tuple[Alphabet, ...]
    named: dict[tuple[str, int], int] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    rows: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the cells of one batch."""
        self.rows += batch.num_rows
        for column in self.columns:
            cells = batch.column(column)
            if _is_number(value_type(cells.type)) and not self._numbers:
                # No label is a number, and to write numbers takes its time.
                filled = len(pc.drop_null(to_countable(cells, column)))
                self.filled[column] = self.filled.get(column, 0) + filled
                continue
            texts, numbers = _comparable(cells, column)
            self.filled[column] = self.filled.get(column, 0) + (pc.sum(numbers).as_py() or 0)
            for place, known in enumerate(self._names):
                hits = pc.sum(numbers.filter(pc.is_in(texts, value_set=known))).as_py() or 0
                self.named[column, place] = self.named.get((column, place), 0) + hits

    @cached_property
    def _names(self) -> list[pa.Array]:
        return [_spellings(alphabet) for alphabet in self.alphabets]

    @cached_property
    def _numbers(self) -> bool:
        """Whether a label is written like a number."""
        return any(
            parse_number(name) is not None for names in self._names for name in names.to_pylist()
        )

    def found(self, column: str, place: int = 0) -> NamedLabels:
        """Return how many cells of a column name a label of one of the alphabets."""
        return NamedLabels(column, self.named.get((column, place), 0), self.filled.get(column, 0))

    def merge(
        self, rows: int, named: Mapping[tuple[str, int], int], filled: Mapping[str, int]
    ) -> None:
        """Add what was counted elsewhere."""
        self.rows += rows
        for key, number in named.items():
            self.named[key] = self.named.get(key, 0) + number
        for column, number in filled.items():
            self.filled[column] = self.filled.get(column, 0) + number


def count_names(source: TableSource, tally: NameCounter, watch: Progress | None = None) -> None:
    """Look at all rows of a table."""
    wanted = [column for column in source.columns if column in tally.columns]
    for piece in source.batches(wanted or source.columns[:1], watch):
        tally.add(piece.batch)


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _comparable(column: pa.Array, name: str) -> tuple[pa.Array, pa.Array]:
    """Return the cells that are not empty as they are compared, and how often each occurs.

    Of lists and structures there are none.
    """
    try:
        counted = pc.value_counts(pc.drop_null(to_countable(column, name)))
        # A byte that is no text is compared to none.
        texts = pc.utf8_trim_whitespace(pc.cast(counted.field("values"), pa.large_string()))
    except (InputError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([], pa.large_string()), pa.array([], pa.int64())
    texts = pc.utf8_lower(pc.utf8_normalize(texts, form=_FORM))
    for pattern, same in _ALIKE:
        texts = pc.replace_substring_regex(texts, pattern, same)
    filled = pc.not_equal(texts, "")
    return texts.filter(filled), counted.field("counts").filter(filled)


def _spellings(alphabet: Alphabet) -> pa.Array:
    """Return the labels as cells are compared."""
    return pa.array(sorted(labels_by_spelling(alphabet)), pa.large_string())


def labels_by_spelling(alphabet: Alphabet) -> dict[str, Label]:
    """Return labels by their own text, then as cells are compared.

    Capitals of one letter may have several small ones.

    >>> labels_by_spelling(Alphabet.of(["Straße", 2]))
    {'Straße': 'Straße', '2': 2, 'straße': 'Straße', 'strasse': 'Straße'}
    """
    found: dict[str, Label] = {}
    for label in alphabet.labels:
        found.setdefault(str(label).strip(), label)
    for label in alphabet.labels:
        text = unicodedata.normalize(_FORM, str(label).strip())
        for spelling in (text.lower(), text.casefold(), text.upper().lower()):
            found.setdefault(_reduce(spelling), label)
    return found


def label_of_cell(cell: Any, known: Mapping[str, Label]) -> tuple[Label, bool]:
    """Return the label of a cell, and whether it is a known one.

    >>> known = labels_by_spelling(Alphabet.of(["Ann", 2, "(missing)"]))
    >>> [label_of_cell(cell, known) for cell in (" ANN", 2.0, None, "Bob")]
    [('Ann', True), (2, True), ('(missing)', True), ('Bob', False)]
    """
    text = "" if cell is None else str(cell).strip()
    label = known.get(text or MISSING_LABEL)
    if label is None:
        label = known.get(_reduce(unicodedata.normalize(_FORM, text).lower()))
    return (text or MISSING_LABEL, False) if label is None else (label, True)


def _reduce(text: str) -> str:
    for pattern, same in _ALIKE:
        text = re.sub(pattern, same, text)
    return text


# --- what goes, and what may stay ----------------------------------------------------------------


class Hidden(NamedTuple):
    """What must not be inferred: its labels, and the name of its column, if it is known."""

    labels: Alphabet
    column: str | None
    notion: Notion


def hidden_of(mechanism: Mechanism) -> tuple[Hidden, ...]:
    """Return the secrets of a mechanism that are not the released value itself."""
    return tuple(
        Hidden(each.context.secrets, each.about, each.notion)
        for each in mechanism.guarantees
        if hides_another(mechanism, each)
    )


def hides_another(mechanism: Mechanism, promised: Guarantee) -> bool:
    """Tell whether a guarantee is about something else than the released value itself."""
    known, context = promised.context, mechanism.context
    if isinstance(known, Conditional):
        return known.hidden is not None
    if not isinstance(known, Joint):
        return False
    # What is proved for those who do not see the given value speaks of pairs, not of values.
    own = isinstance(context, Conditional) and mechanism.uses_given and promised.about is None
    return not (own and isinstance(context, Conditional) and known.secrets == context.values)


def refuse_hidden_given(worker: Worker, dropped: Collection[str]) -> None:
    """Refuse to leave out what is given, unless the guarantee is for those who do not see it too.

    Whoever sees only some of the given columns is neither who sees all of them nor who sees none.
    """
    given = worker.given if isinstance(worker, ColumnRandomiser) else None
    gone = [] if given is None else [name for name in given.names if name in dropped]
    if given is None or not gone:
        return
    if len(gone) < len(given.names):
        raise InputError(
            "some given columns are left out and others are not",
            value=", ".join(gone),
            remedy="the guarantee is for those who see all of them: keep them, or drop all",
        )
    if not worker.mechanism.holds_without_given:
        raise InputError(
            "a given column is left out, and the guarantee is for those who see it",
            value=", ".join(gone),
            remedy="keep it, or make the mechanism with it left out (--drop), so that it is proved "
            "for those who do not",
        )


@dataclass(frozen=True)
class KeptColumns:
    """What becomes of the columns that are not released."""

    dropped: tuple[str, ...]
    notes: tuple[str, ...] = ()
    secrets: tuple[str | None, ...] = ()
    """For each secret of the mechanism, the column of this table that holds it."""
    tells_profiles: bool = False
    """Whether a column stays that names profiles."""


def choose_columns(
    source: TableSource,
    worker: Worker,
    *,
    drop: Sequence[str] = (),
    keep: Collection[str] = (),
    keep_profiles: bool = False,
    count: CountNames = count_names,
) -> KeptColumns:
    """Say which columns are left out beside those released; refuse some that nobody spoke of.

    Left out are the secrets, and what was left out when the mechanism was made. Refused are copies
    of a released column or of a secret, and columns whose values are the secrets of the joint, or
    profiles: for a secret that is in the table under its name, copies are enough. What is in `drop`
    goes, and what is in `keep` stays, whatever it tells. `count` looks at the rows.
    """
    replaced, needs = tuple(map(str, worker.names)), tuple(map(str, worker.needs))
    for name in (*needs, *drop, *keep):
        source.type_of(name)
    both = [name for name in drop if name in keep]
    if both:
        raise InputError("a column is both kept and dropped", value=both[0], remedy="choose one")
    rules = worker.mechanism.encoding
    leaving = [*map(str, worker.hides), *(() if rules is None else rules.dropped)]
    gone = {name for name in leaving if name in source.columns}.difference(keep, replaced)
    look = _Look(source, count, replaced, {*drop, *keep, *needs}, gone)
    if isinstance(worker, ProfileColumn):
        out = {*replaced, *needs, *gone, *drop}
        named = look.refuse_profiles(worker.graph.profiles, out, keep, allowed=keep_profiles)
        told = named or keep_profiles or str(worker.profiles) in keep
        secrets: tuple[str | None, ...] = ()
        copied = [str(name) for name in worker.hides if str(name) in gone]
    else:
        secrets, told = look.secret_columns(hidden_of(worker.mechanism), drop, keep), False
        copied = [name for name in dict.fromkeys(secrets) if name is not None and name not in keep]
    dropped = tuple(dict.fromkeys((*drop, *(name for name in source.columns if name in gone))))
    refuse_hidden_given(worker, dropped)
    kept = [name for name in source.columns if name not in dropped and name not in keep]
    notes = [] if isinstance(worker, ProfileColumn) else [*_notes(worker, dropped, drop)]
    notes += _kept_secrets(hidden_of(worker.mechanism), secrets, dropped)
    if set(kept) - set(replaced):
        others = inspect_other_columns(source, kept, copied, replaced)
        notes += _leaking(others.leaks, worker, secrets)
    nested = [name for name in kept if pa.types.is_nested(value_type(source.type_of(name)))]
    if nested and hidden_of(worker.mechanism):
        notes.append(
            f"{', '.join(map(repr, nested))}: lists or structures, which are not looked at: make "
            "sure that none holds the secret"
        )
    return KeptColumns(dropped, tuple(notes), secrets, told)


@dataclass
class _Look:
    """A table whose columns are looked at for labels that should not be told."""

    source: TableSource
    count: CountNames
    replaced: tuple[str, ...]
    said: set[str]
    """Columns that somebody named."""
    gone: set[str]
    """Columns that are left out without being named."""

    def secret_columns(
        self, hidden: Sequence[Hidden], drop: Collection[str], keep: Collection[str]
    ) -> tuple[str | None, ...]:
        """Return the column of each secret; refuse those that name secrets without being known."""
        known = [each.column for each in hidden if self._is_there(each.column)]
        tally = self._tally(list(dict.fromkeys(filter(None, known))), hidden)
        found: list[str | None] = []
        for place, each in enumerate(hidden):
            column = each.column if self._is_there(each.column) else None
            if column is not None:
                seen = tally.found(column, place)
                if tally.rows and not seen.nearly_all:
                    if seen.filled and column not in self.said:
                        raise _wrong_secret_error(self.source, seen, each.labels)
                    column = None
            found.append(column)
        unknown = [at for at, column in enumerate(found) if column is None]
        if not unknown:
            return tuple(found)
        others = [name for name in self.source.columns if name not in self.replaced]
        tally = self._tally(others, [hidden[at] for at in unknown])
        for place, at in enumerate(unknown):
            named = [seen for name in others if (seen := tally.found(name, place)).nearly_all]
            columns = [cells.column for cells in named]
            telling = [cells for cells in named if cells.column not in {*self.said, *self.gone}]
            if telling:
                raise _secrets_error(self.source, telling, hidden[at].labels)
            # What goes was said to hold the secret, and what stays not to, if anything goes.
            going = [name for name in columns if name in {*drop, *self.gone}]
            mine = going or [name for name in columns if name in keep]
            if len(mine) == 1:
                found[at] = mine[0]
        return tuple(found)

    def refuse_profiles(
        self, profiles: Alphabet, out: Collection[str], keep: Collection[str], *, allowed: bool
    ) -> bool:
        """Refuse columns that name profiles; tell whether any is kept on purpose."""
        others = [name for name in self.source.columns if name not in out]
        tally = NameCounter(tuple(others), (profiles,))
        self.count(self.source, tally)
        if not tally.rows:
            raise FileError("no rows", where=_where(self.source), remedy="is it the right file?")
        named = [found for name in others if (found := tally.found(name)).nearly_all]
        for each in named:
            if each.column not in keep and not allowed:
                raise FileError(
                    f"a column of profiles{each.part} would be kept, and tell what is to be hidden",
                    where=_where(self.source),
                    value=each.column,
                    remedy="leave it out (--drop), or name it with --profile-column; if it says "
                    "something else, or is to stay, say so (--keep, --keep-profile)",
                )
        return bool(named)

    def _is_there(self, column: str | None) -> bool:
        return column in self.source.columns and column not in self.replaced

    def _tally(self, columns: Sequence[str], hidden: Sequence[Hidden]) -> NameCounter:
        tally = NameCounter(tuple(columns), tuple(each.labels for each in hidden))
        if columns:
            self.count(self.source, tally)
        return tally


def _notes(worker: Worker, dropped: Sequence[str], drop: Collection[str]) -> Iterator[str]:
    """Say which columns are left out that nobody asked to leave out, and why."""
    hides = [name for name in map(str, worker.hides) if name in dropped and name not in drop]
    if hides and worker.mechanism.per_user:
        yield (
            f"{', '.join(map(repr, hides))}: left out, since what a model believes of a person "
            "tells of that person (--keep would keep it); estimates need them"
        )
    elif hides:
        for name in hides:
            yield f"{name!r} is left out: it is the secret (--keep would keep it)"
    before = [name for name in dropped if name not in hides and name not in drop]
    if before:
        yield (
            f"{', '.join(map(repr, before))}: left out, as when the mechanism was made (--keep "
            "would keep it)"
        )


def _kept_secrets(
    hidden: Sequence[Hidden], secrets: Sequence[str | None], dropped: Collection[str]
) -> Iterator[str]:
    """Say of secrets that are kept on purpose that the rows tell them."""
    for name in dict.fromkeys(secrets):
        if name is None or name in dropped:
            continue
        if any(each.column == name for each in hidden):
            yield (
                f"the secret {name!r} itself is in the output, kept on purpose (--keep): whoever "
                "sees a row knows it, whatever is guaranteed"
            )
        else:
            yield (
                f"{name!r} is in the output, kept on purpose (--keep), and has the values of the "
                "secret: if it holds the secret, whoever sees a row knows it, whatever is "
                "guaranteed"
            )


def _leaking(
    leaks: Sequence[KeptColumn], worker: Worker, secrets: Sequence[str | None]
) -> Iterator[str]:
    """Name kept columns that alone tell more about a secret than the released one may.

    What a given column tells was accepted when the mechanism was made.
    """
    columns = zip(hidden_of(worker.mechanism), secrets, strict=False)
    notions = {column: each.notion for each, column in columns if column is not None}
    for leak in leaks:
        if leak.name in map(str, worker.needs):
            continue
        if leak.secret in notions and leak.exceeds(notions[leak.secret]):
            yield (
                f"{leak.name!r} stays, and alone tells more about {leak.secret!r} than is promised "
                f"of what is released: beliefs fall {moved_by(leak.eps_lower)} and rise "
                f"{moved_by(leak.eps_upper)} (--drop {quote_name(leak.name)})"
            )


def _wrong_secret_error(source: TableSource, seen: NamedLabels, labels: Alphabet) -> InputError:
    name = quote_name(seen.column)
    return InputError(
        f"the mechanism calls {seen.column!r} its secret, but only {seen.named:,} of its "
        f"{seen.filled:,} cells are a secret of its joint ({listed(labels.labels, _LISTED)})",
        where=_where(source),
        remedy=f"find the column that holds the secret, and drop it; say also what becomes of this "
        f"one (--drop {name} or --keep {name})",
    )


def _secrets_error(
    source: TableSource, named: Sequence[NamedLabels], labels: Alphabet
) -> InputError:
    several = len(named) > 1
    columns = ", ".join(f"{each.column!r}{each.part}" for each in named)
    names = [quote_name(each.column) for each in named]
    # Of many each is named once.
    names = names if len(names) <= _LISTED else ["NAME"]
    dropped, kept = (" ".join(f"{option} {name}" for name in names) for option in _OPTIONS)
    return InputError(
        f"the kept column{'s' * several} {columns} {'have' if several else 'has'} the values of "
        f"the secret ({listed(labels.labels, _LISTED)})",
        where=_where(source),
        remedy=f"drop what holds the secret ({dropped}), and keep on purpose what does not "
        f"({kept}); drop= and keep= in Python",
    )


_OPTIONS = ("--drop", "--keep")


def _where(source: TableSource) -> str:
    return str(getattr(source, "path", ""))
