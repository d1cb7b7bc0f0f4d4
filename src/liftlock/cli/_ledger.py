"""`--ledger` of commands that release tables: recorded before the table gets its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from liftlock.accounting.ledger import Ledger, divided_error, is_unaccounted, several_error
from liftlock.accounting.ledger_entry import read_name
from liftlock.cli._console import Notes
from liftlock.cli._options import FILE, OptionGroup, option
from liftlock.errors import FileError
from liftlock.exact.decimals import round_up_text
from liftlock.files import Note
from liftlock.mechanism import Mechanism
from liftlock.model import Joint, Prior, ProfileGraph
from liftlock.model.channel import Table
from liftlock.model.person import PersonRule
from liftlock.notions.base import Notion
from liftlock.notions.ldp import LDP
from liftlock.notions.registry import parse_claim

if TYPE_CHECKING:
    from liftlock.tables.formats.base import TableFile
    from liftlock.tables.protect.spec import ColumnSpec


MOST_COMPARED = 20_000
"""Of larger tables it is not said what two releases tell together."""
INSIST_HELP = "Allow releases that add up to more than 10 nats, which protect nothing."


class Insisted(TypedDict, total=False):
    """On what the user insists: arguments of `Ledger.record`."""

    new_name: bool
    same_value: bool
    insist: bool


@dataclass(frozen=True)
class LedgerOptions(OptionGroup):
    """Where a release is recorded, whose it is, and how much all releases may tell."""

    ledger: Path | None = option(
        "--ledger",
        type=FILE,
        metavar="LEDGER",
        help="Record the release in this ledger (JSON) before the output is written.",
    )
    who: str | None = option(
        "--who", metavar="COHORT", help="With --ledger: the cohort whose data is released."
    )
    id_column: str | None = option(
        "--id", metavar="NAME", help="With --ledger: the column of person ids, instead of --who."
    )
    about: str | None = option(
        "--about",
        metavar="ITEM",
        help="With --ledger: the data item released.  [default: the column's name]",
    )
    limit: str | None = option(
        "--limit",
        metavar="NOTION=VALUE",
        help="With --ledger: refuse the release if this limit may be exceeded, e.g. lip=2.",
    )

    new_name: bool = option(
        "--new-name",
        is_flag=True,
        help="With --ledger: COHORT or ITEM is new, although it looks like a name in the ledger.",
    )

    same_value: bool = option(
        "--same-value",
        is_flag=True,
        help="With --ledger: ITEM is the same value, although it was another column before.",
    )
    insist: bool = option("--insist", is_flag=True, help=INSIST_HELP)

    def read(self) -> LedgerRecord:
        """Refuse options that do not go together."""
        if self.ledger is None:
            for name in self.given_options():
                if name != "--insist":
                    raise click.UsageError(f"{name} goes with --ledger")
            return LedgerRecord(None)
        if (self.who is None) == (self.id_column is None):
            raise click.UsageError(
                "--ledger needs to know whose data is released: give --who or --id"
            )
        item = None if self.about is None else read_name(self.about, "about")
        limit = None if self.limit is None else parse_claim(self.limit)
        return LedgerRecord(
            self.ledger,
            self.who,
            self.id_column,
            item,
            limit,
            Insisted(new_name=self.new_name, same_value=self.same_value, insist=self.insist),
        )


@dataclass(frozen=True)
class LedgerRecord:
    """What is recorded of a release, if anything."""

    path: Path | None
    who: str | None = None
    id_column: str | None = None
    about: str | None = None
    limit: Notion | None = None
    insisted: Insisted = field(default_factory=Insisted)

    def check(
        self, source: TableFile, specs: Sequence[ColumnSpec] = (), per_person: str | None = None
    ) -> None:
        """Refuse ids that are not there, and what no ledger accounts for, before any design.

        `check_outputs` looks at the ledger itself.
        """
        if self.id_column is not None:
            source.type_of(self.id_column)
        if self.path is None:
            return
        if several := [spec.column for spec in specs if spec.also]:
            raise several_error(several[0])
        if per_person == "divide":
            raise divided_error(specs[0].column)

    def note_second(self, made: Mechanism, note: Note) -> None:
        """Without a ledger nobody knows of other releases: say what a second one adds."""
        if self.path is not None or made.per_user or isinstance(made.context, ProfileGraph):
            return
        told = _what_two_tell(made)
        text = "a second release of these rows, under any name, adds to this one"
        if told:
            text += f": two tell up to {' and '.join(told)}"
        note(text if is_unaccounted(made) else f"{text}; --ledger keeps account")

    @contextmanager
    def recording(
        self, source: TableFile, released: Mapping[str, Mechanism], note: Notes
    ) -> Iterator[Callable[[], None]]:
        """Give what records the release of items; one beyond the limit is refused before.

        It is called last of all before the output appears: a release that is in the ledger may be
        missing outside, never the other way. Others cannot use the ledger meanwhile.
        """
        if self.path is None:
            yield lambda: None
            return
        if self.about is not None:
            if len(released) > 1:
                raise click.UsageError(
                    "--about takes one column; several are recorded under their names"
                )
            released = dict(zip([self.about], released.values(), strict=True))
        with Ledger.open(self.path) as book:
            fresh = book
            for about, made in released.items():
                fresh = fresh.record(
                    made,
                    who=self.who,
                    people=None if self.id_column is None else self._ids(source, made.person),
                    about=about,
                    limit=self.limit,
                    **self.insisted,
                    place=lambda row: source.where(row, self.id_column or ""),
                )
            saved: list[Path] = []

            def record() -> None:
                assert self.path is not None
                fresh.save(self.path)
                saved.append(self.path)

            try:
                yield record
            except FileError as error:
                if not saved:
                    raise
                raise FileError(
                    f"{error.what}, after the release was recorded in {self.path}",
                    where=error.where,
                    value=error.value,
                    remedy="nothing was released; remove the last entry of the ledger, then try "
                    "again",
                ) from None
        new = fresh.entries[len(book) :]
        if (
            any(isinstance(made.context, ProfileGraph) for made in released.values())
            and not self.who
        ):
            observed = sum(len(entry.people) for entry in new)
            note(f"{observed:,} observation{'s' * (observed != 1)} recorded in {self.path}")
        else:
            told = ", ".join(str(entry.number) for entry in new)
            note(
                f"release {told} recorded in {self.path}: it counts even if the output is never "
                "used"
            )
        if self.limit is not None:
            items = ", ".join(map(repr, released))
            note(f"the limit {self.limit} is kept by all releases about {items}")

    def _ids(self, source: TableFile, whose: PersonRule | None) -> Iterator[str]:
        """Give the id of each row; of people who have one report in several rows once."""
        assert self.id_column is not None
        once = whose is not None and whose.column == self.id_column
        seen: set[str] = set()
        for piece in source.batches([self.id_column]):
            for cell in piece.batch.column(0).to_pylist():
                read = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell
                text = "" if read is None else str(read).strip()
                if not once or text not in seen:
                    yield text
                if once:
                    seen.add(text)


def _what_two_tell(made: Mechanism) -> list[str]:
    """Say what two releases tell, and one: of each secret, or of all rows of a person."""
    from liftlock.accounting.account import account

    if not isinstance(made.channel, Table) or made.table.weights.size > MOST_COMPARED:
        return []
    rule = made.person
    if rule is not None and rule.mode == "divide":
        each = LDP.measure(made.channel).value.upper
        assert each is not None  # else the promise would not hold
        once, twice = (_up(times * rule.rows * each) for times in (1, 2))
        return [f"{twice} nats (ldp) of all rows of one {rule.column!r}, one {once}"]
    said = []
    for proved in made.guarantees:
        if not isinstance(proved.context, Prior | Joint):
            continue
        alone = replace(made, certificate=proved.certificate, context=proved.context, also=())
        first, both = account([alone]), account([alone, alone])
        quantity = both.headline if both.headline in both else "ldp"
        if quantity not in both:
            continue
        one, two = first[quantity].value.upper, both[quantity].value.upper
        if one is not None and two is not None:
            about = f" about {proved.subject!r}" if made.also else ""
            said.append(f"{_up(two)} nats ({quantity}){about}, one {_up(one)}")
    return said


def _up(nats: Fraction) -> str:
    return round_up_text(nats, 6)
