"""`liftlock profiles release`: replace a column of a table by what a mechanism releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from liftlock.accounting.composition import edge_budget
from liftlock.accounting.ledger import OBSERVATION, Ledger
from liftlock.alphabet import Alphabet, Label
from liftlock.cli._console import Notes, show, show_json, working
from liftlock.cli._options import FILE, check_outputs
from liftlock.cli._profiles import profile_mechanism
from liftlock.cli.profiles.rewriting import RawTable
from liftlock.contexts import ProfileGraph
from liftlock.errors import FileError
from liftlock.mechanism import Mechanism
from liftlock.notions.lift import Impossible
from liftlock.progress import Step
from liftlock.report.format import several, shown, shown_pair
from liftlock.storage import written_atomically

_LISTED = 3
_MOST_KNOWN = 8
_PERCENT_NAMED = 90
"""A column tells the profiles if at least so many of its cells name one, empty ones aside."""

_ADD_UP = (
    "the guarantee is for one observation, and the rows of a profile add up if they are "
    "independent observations"
)
_MORE = "rows that depend on one another can lose more, and no rule bounds it"


@click.command("release", short_help="Replace a column of a table by what may be seen of it.")
@click.argument("mechanism", type=FILE)
@click.argument("data", type=FILE)
@click.option("--column", required=True, metavar="NAME", help="The column to replace.")
@click.option(
    "--profile-column",
    metavar="NAME",
    help="Whose value it is; left out of the output. Needed if the mechanism uses the profile.",
)
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="SAFE", help="The table to write (CSV)."
)
@click.option("--keep-profile", is_flag=True, help="Keep columns of profiles, which tell all.")
@click.option(
    "--ledger",
    type=FILE,
    metavar="LEDGER",
    help="Record what was released (JSON), and refuse to release it again.",
)
@click.option("--id", "id_column", metavar="NAME", help="With --ledger: the observation's id.")
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="Values of probability 0 that would give their profile away.",
)
@click.option("--force", is_flag=True, help="Replace the output if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def release_command(
    mechanism: Path,
    data: Path,
    column: str,
    profile_column: str | None,
    output: Path,
    keep_profile: bool,
    ledger: Path | None,
    id_column: str | None,
    impossible: Impossible,
    force: bool,
    as_json: bool,
) -> int:
    """Replace a column of DATA, a CSV with one row for each observation, by a release of it.

    All other columns and the order of the rows are kept as they are, except for the column of
    profiles, which is left out: it is what is to be hidden. With --ledger no observation can be
    released twice.

    \b
    liftlock profiles release safe.json table.csv --column usage \\
        --profile-column user -o safe.csv
    """
    note = Notes()
    if (ledger is None) != (id_column is None):
        missing = "--ledger" if ledger is None else "--id"
        raise click.UsageError(f"--ledger goes with --id: {missing} is missing")
    needed = {"MECHANISM": mechanism, "DATA": data}
    check_outputs({"the output": output}, needed, force=force, ledger=ledger)
    made, graph = profile_mechanism(mechanism)
    table = RawTable.read(data, note)
    rows = _Rows.read(table, made, graph, column, profile_column)
    rows.check_protected(made, impossible)
    rows.check_copies()
    if not keep_profile:
        rows.check_profiles_hidden(graph)
    opened = nullcontext() if ledger is None else Ledger.opened(ledger)
    with opened as book, working("releasing") as progress:
        fresh_book = None
        if book is not None and id_column is not None:
            at = table.column(id_column)
            ids = (cells[at] for _, cells in table.rows)
            fresh_book = book
            if table.rows:
                fresh_book = book.record(
                    made, people=ids, about=OBSERVATION, place=lambda row: table.where_in(row, at)
                )
        released = made.release(rows.values, rows.profiles, impossible=impossible)
        progress(Step("writing"))
        dropped = rows.profile_place if not keep_profile else None
        content = table.written(rows.place, [str(label) for label in released], dropped)
        _write(output, content, ledger, fresh_book)
    _say(note, rows, made, graph, profile_column, keep_profile=keep_profile)
    if fresh_book is not None:
        note(f"{len(table.rows):,} observations recorded in {ledger}")
    note(f"written to {output}")
    if as_json:
        show_json(_data(rows, made, output, note.texts))
    else:
        count = f"{len(table.rows):,} row{'s' * (len(table.rows) != 1)}"
        show(f"{count}, {shown(column)} replaced by what was released")
        show(f"guarantee for one observation: {made.certificate.guarantee}")
    note.show()
    return 0


@dataclass(frozen=True)
class _Rows:
    """The values of a table and whose they are, as the mechanism names them."""

    table: RawTable
    place: int
    values: list[Label]
    profile_place: int | None
    profiles: list[Label] | None

    @classmethod
    def read(
        cls,
        table: RawTable,
        made: Mechanism,
        graph: ProfileGraph,
        column: str,
        profile_column: str | None,
    ) -> _Rows:
        place = table.column(column)
        values = _labels(table, place, graph.inputs, "value")
        if profile_column is None:
            if graph.uses_profile(made.channel.inputs):
                raise click.UsageError(
                    "the mechanism uses the profile of each value: give --profile-column"
                )
            return cls(table, place, values, None, None)
        if profile_column == column:
            raise click.UsageError("--column and --profile-column are the same column")
        at = table.column(profile_column)
        return cls(table, place, values, at, _labels(table, at, graph.profiles, "profile"))

    def check_protected(self, made: Mechanism, impossible: str) -> None:
        """Refuse values that the mechanism does not protect, with their line."""
        bare = set(made.certificate.unprotected)
        if not bare or impossible == "ignore":
            return
        if self.profiles is None:
            raise FileError(
                "values that some profiles call impossible, and that would give them away",
                where=str(self.table.path),
                value=", ".join(map(shown_pair, made.certificate.unprotected[:_LISTED])),
                remedy="give --profile-column to have it checked that none occurs, or say that "
                "none does (--impossible ignore)",
            )
        for row, pair in enumerate(zip(self.profiles, self.values, strict=True)):
            if pair in bare:
                raise FileError(
                    "a value that its profile calls impossible, which has no guarantee",
                    where=self.table.where_in(row, self.place),
                    value=shown_pair(pair),
                    remedy="design with smoothed profiles, drop the row, or release it without a "
                    "guarantee (--impossible ignore)",
                )

    def bare(self, made: Mechanism) -> int:
        """Return how many rows have a value that its profile calls impossible, unprotected."""
        pairs = set(made.certificate.unprotected)
        if not pairs or self.profiles is None:
            return 0
        return sum(pair in pairs for pair in zip(self.profiles, self.values, strict=True))

    def check_copies(self) -> None:
        """Refuse to keep a copy of the column that is replaced."""
        for place in self._kept():
            copied = all(
                cells[place] == cells[self.place]
                or _alike(cells[place]) == _alike(cells[self.place])
                for _, cells in self.table.rows
            )
            if copied:
                raise FileError(
                    f"a copy of {self.table.header[self.place]!r} would be kept, with every true "
                    "value beside its release",
                    where=f"{self.table.path}, line {self.table.header_line}",
                    value=self.table.header[place],
                    remedy="drop the column first",
                )

    def check_profiles_hidden(self, graph: ProfileGraph) -> None:
        """Refuse to keep another column that names the profiles, of nearly all its cells."""
        names = {_alike(str(label)) for label in graph.profiles.labels}
        for place in self._kept():
            named, filled = self._named(place, names)
            if not named or 100 * named < _PERCENT_NAMED * filled:
                continue
            part = "" if named == filled else f" (in {named:,} of {filled:,} cells)"
            raise FileError(
                f"a column of profiles{part} would be kept, and tell what is to be hidden",
                where=f"{self.table.path}, line {self.table.header_line}",
                value=self.table.header[place],
                remedy="name it with --profile-column to have it left out; if it says something "
                "else, or is to stay, say so (--keep-profile)",
            )

    def _kept(self) -> list[int]:
        """Return the columns that are neither replaced nor known to be of profiles."""
        known = (self.place, self.profile_place)
        return [place for place in range(len(self.table.header)) if place not in known]

    def _named(self, place: int, names: set[str]) -> tuple[int, int]:
        """Return how many cells of a column name a profile, and how many are not empty.

        Stops when too many name none, with none counted: most columns of a long table do so early.
        """
        most_others = len(self.values) * (100 - _PERCENT_NAMED) // 100
        named = others = 0
        for _, cells in self.table.rows:
            if not cells[place]:
                continue
            if _alike(cells[place]) in names:
                named += 1
                continue
            others += 1
            if others > most_others:
                return 0, others
        return named, named + others

    def counts(self) -> list[tuple[Label, int]]:
        """Return how many rows each profile has, most first."""
        return Counter(self.profiles or ()).most_common()


def _alike(cell: str) -> str:
    """Return what a cell is compared by: upper and lower case tell a reader the same."""
    return cell.strip().casefold()


def _labels(table: RawTable, place: int, alphabet: Alphabet, what: str) -> list[Label]:
    texts = {str(label): label for label in alphabet.labels}
    for row, (_, cells) in enumerate(table.rows):
        if cells[place] not in texts:
            raise FileError(
                f"unknown {what}" if cells[place] else f"no {what}",
                where=table.where_in(row, place),
                value=cells[place],
                remedy=f"the mechanism knows {several(alphabet.labels, _MOST_KNOWN)}",
            )
    return [texts[cells[place]] for _, cells in table.rows]


def _write(output: Path, content: bytes, ledger: Path | None, book: Ledger | None) -> None:
    """Write the output; what is in the ledger may be missing outside, never the other way."""
    recorded = False
    try:
        with written_atomically(output) as fresh:
            fresh.write_bytes(content)
            if book is not None and ledger is not None:
                # Last thing before the output appears: no release can be missing in the ledger.
                book.save(ledger)
                recorded = True
    except FileError as error:
        if not recorded:
            raise
        raise FileError(
            f"{error.what}, after the observations were recorded in {ledger}",
            where=error.where,
            value=error.value,
            remedy="nothing was released; remove the last entry of the ledger to try again",
        ) from None


def _say(
    note: Notes,
    rows: _Rows,
    made: Mechanism,
    graph: ProfileGraph,
    column: str | None,
    *,
    keep_profile: bool,
) -> None:
    """Say what the guarantee does not cover."""
    budget = edge_budget(made)
    alone = set(graph.isolated)
    counts = [(name, number) for name, number in rows.counts() if name not in alone]
    uncovered = rows.bare(made)
    if uncovered:
        note(
            f"NO guarantee for {uncovered:,} of {len(rows.values):,} rows, whose value their "
            "profile calls impossible"
        )
    if counts:
        most = counts[0][1]
        listed = ", ".join(f"{shown(name)} has {number:,}" for name, number in counts[:_LISTED])
        more = len(counts) - _LISTED
        listed += f", {more:,} other{'s have' if more > 1 else ' has'} no more" * (more > 0)
        note(
            f"{_ADD_UP}: {listed}; together they then lose up to "
            f"{most:,} x {budget} = {budget.scaled(most)} nats; {_MORE}"
        )
    elif rows.profiles is None:
        note(f"{_ADD_UP}: n rows of the same profile then lose up to n x {budget} nats; {_MORE}")
    bare = [(name, number) for name, number in rows.counts() if name in alone]
    if bare:
        listed = ", ".join(f"{shown(name)} ({number:,})" for name, number in bare[:_LISTED])
        listed += f" and {len(bare) - _LISTED:,} more" * (len(bare) > _LISTED)
        note(f"no edge, so no promise, for the rows of {listed}")
    if keep_profile:
        note("columns of profiles were kept: they say whose each value is, and nothing is hidden")
    elif column is not None:
        note(f"the column {column!r} was left out: it is what is to be hidden (--keep-profile)")
    note("the other columns and the order of the rows were kept: see that they do not tell it")


def _data(rows: _Rows, made: Mechanism, output: Path, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "format": "liftlock.profile-release",
        "version": 1,
        "rows": len(rows.values),
        "certificate": made.certificate.to_data(),
        "profiles": [{"profile": name, "rows": number} for name, number in rows.counts()],
        "file": str(output),
        "notes": list(notes),
    }
