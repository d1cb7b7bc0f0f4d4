"""`liftlock account`: what has been spent, by whom, and what one more release would cost."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from liftlock.accounting.ledger import Ledger
from liftlock.accounting.ledger_account import LedgerAccount
from liftlock.accounting.ledger_entry import LedgerEntry, read_name
from liftlock.cli._console import Notes, show, show_status
from liftlock.cli._context import ContextOptions, match_labels
from liftlock.cli._ledger import INSIST_HELP, Insisted
from liftlock.cli._options import (
    FILE,
    NORMALISE,
    OptionGroup,
    OutputOptions,
    option,
    option_group,
    output_options,
)
from liftlock.errors import FileError, InputError, NotComposable, NotDefined, listed
from liftlock.files import read_mechanism, read_records
from liftlock.mechanism import Mechanism
from liftlock.model import Context
from liftlock.model.alphabet import Alphabet
from liftlock.notions.base import Notion
from liftlock.notions.registry import parse_claim
from liftlock.report.format import printable
from liftlock.report.plots.account import draw_spent, drawable
from liftlock.report.text.account import account_report


@dataclass(frozen=True)
class DataOptions(OptionGroup):
    """Whose data, and which item of it."""

    who: str | None = option(
        "--who",
        metavar="COHORT",
        help="Account for this cohort only; with --record, the cohort whose data was released.",
    )
    person: str | None = option(
        "--person",
        metavar="ID",
        help="Account for this person only; with --record, the person whose data was released.",
    )
    people: Path | None = option(
        "--people", type=FILE, metavar="TABLE", help="The same for every person listed in a CSV."
    )
    column: str | None = option(
        "--column", metavar="NAME", help="With --people: the column of ids."
    )
    about: str | None = option(
        "--about",
        metavar="ITEM",
        help="Account for this data item only; with --record, the item that was released.",
    )

    new_name: bool = option(
        "--new-name",
        is_flag=True,
        help="With --record: COHORT or ITEM is new, although it looks like a name in the ledger.",
    )
    same_value: bool = option(
        "--same-value",
        is_flag=True,
        help="With --record: ITEM is the same value, although it was another column before.",
    )

    def read(self, note: Notes) -> _LedgerSelection:
        """Read the name of the item, and the ids of people."""
        about = None if self.about is None else read_name(self.about, "about")
        if self.person is not None:
            return _LedgerSelection(people=[self.person], about=about)
        if self.people is None or self.column is None:
            return _LedgerSelection(self.who, about=about)
        table = read_records(self.people, note, each="person")
        at = table.column(self.column)
        ids = [cells[at] for _, cells in table.rows]
        return _LedgerSelection(people=ids, place=lambda row: table.where_in(row, at), about=about)


@click.command("account")
@click.argument("ledger", type=FILE)
@click.option(
    "--record",
    type=FILE,
    metavar="MECHANISM",
    help="Record a release by this mechanism first; creates the ledger if needed.",
)
@option_group("data", DataOptions)
@click.option("--note", "remark", metavar="TEXT", help="With --record: a remark to store.")
@click.option(
    "--limit",
    metavar="NOTION=VALUE",
    help="Exit 1, recording nothing, if this limit may be exceeded, e.g. lip=2.",
)
@click.option(
    "--one-more",
    "one_more",
    type=FILE,
    multiple=True,
    metavar="MECHANISM",
    help="Mechanism whose next release to price. Repeatable.  [default: all in the ledger]",
)
@click.option("--prior", type=FILE, metavar="PRIOR", help="Account under this prior instead.")
@click.option("--joint", type=FILE, metavar="JOINT", help="Account under this joint instead.")
@click.option(
    "--family", type=FILE, metavar="PRIORS", help="Account under this set of priors instead."
)
@click.option(
    "--independent",
    is_flag=True,
    help="Read different items as independent values; otherwise they may have anything in common.",
)
@click.option("--insist", is_flag=True, help=INSIST_HELP)
@click.option("--normalise", **NORMALISE)
@output_options(plot="Draw the leakage after 1, 2, 3, ... releases")
def account_command(
    ledger: Path,
    record: Path | None,
    data: DataOptions,
    remark: str | None,
    limit: str | None,
    one_more: tuple[Path, ...],
    prior: Path | None,
    joint: Path | None,
    family: Path | None,
    independent: bool,
    insist: bool,
    normalise: bool,
    output: OutputOptions,
) -> int:
    """Total leakage of the releases in LEDGER, by cohort and data item.

    LIP budgets do not add up. The exact leakage is computed if the releases have few enough joint
    outputs, otherwise the smallest of several proved bounds. Releases about the same item of the
    same person are releases of the same value; different items are different values. Releases that
    add up to more than 10 nats protect nothing: exit 1, unless --insist or a --limit is given.

    \b
    liftlock account ledger.json --record flu.json --who staff --about health
    liftlock account ledger.json
    liftlock account ledger.json --who staff --limit lip=2
    liftlock account ledger.json --one-more other.json --plot spent.png
    """
    note = Notes()
    _check_usage(record, data, remark, output)
    allowed = None if limit is None else parse_claim(limit)
    other = ContextOptions(prior=prior, joint=joint, family=family, normalise=normalise)
    output.check({"LEDGER": ledger, "--people": data.people} | other.inputs())
    source = prior or joint or family or ledger
    context = other.read(note)
    asked = {str(path): read_mechanism(path) for path in one_more}
    seen = data.read(note)
    judged = allowed
    if record is None:
        book = Ledger.load(ledger)
        shown = seen.entries(book, ledger)
        contexts = [book.contexts[entry.context] for entry in shown if entry.context]
        _check_one_more(asked, [context.inputs for context in contexts], ledger)
    else:
        made = read_mechanism(record)
        _check_one_more(asked, [made.context.inputs], record)
        if context is not None:
            context = match_labels(context, made.channel.inputs, record, source)
        insisted = Insisted(new_name=data.new_name, same_value=data.same_value, insist=insist)
        book = seen.record(ledger, made, remark or "", allowed, context, insisted)
        note(
            f"release {len(book)} recorded in {ledger}: it counts even if the output is never used"
        )
        if allowed is not None:
            note(f"the limit {allowed} is kept by all releases about {seen.about!r}")
        # The limit was for this release; shown are all releases about the item.
        allowed = None
        seen = _LedgerSelection(about=seen.about)
        shown = seen.entries(book, ledger)
    if context is not None:
        context = _for_items(book, shown, context, ledger, source)
    with note.show_if_interrupted(), show_status("accounting"):
        found = seen.account(book, context, asked or None, independent=independent)
        broken = _limits(found, allowed)
        if judged is None and not insist:
            broken += _useless(found)
        report = account_report(found, allowed)
        if output.plot is not None:
            draw_spent(drawable(found), output.plot)
            note(f"picture written to {output.plot}")
    told = None if judged is None else {"limit": str(judged), "kept": not broken}
    if not output.as_json:
        number = f"{len(book):,} release{'s' * (len(book) != 1)}"
        show(f"{number} in {printable(str(ledger))}, head {book.head[:16]}")
    output.show(note, lambda: found.to_data() | {"limit": told}, lambda: report)
    for line in broken:
        click.echo(f"liftlock: {printable(line)}", err=True)
    return 1 if broken else 0


@dataclass(frozen=True)
class _LedgerSelection:
    """Whose data is looked at, and which item of it."""

    who: str | None = None
    people: list[str] | None = None
    place: Callable[[int], str] | None = None
    """Where the id of each person was read."""
    about: str | None = None

    def account(
        self,
        book: Ledger,
        under: Context | None = None,
        one_more: dict[str, Mechanism] | None = None,
        *,
        independent: bool = False,
    ) -> LedgerAccount:
        """Account for the entries."""
        return LedgerAccount(
            book,
            under,
            one_more,
            self.about,
            who=self.who,
            people=self.people,
            place=self.place,
            independent=independent,
        )

    def entries(self, book: Ledger, ledger: Path) -> tuple[LedgerEntry, ...]:
        """Return the entries; refuse names that the ledger does not have."""
        try:
            return self.account(book).entries
        except InputError as error:
            where = error.where or str(ledger)
            raise FileError(
                error.what, where=where, value=error.value, remedy=error.remedy
            ) from None

    def record(
        self,
        ledger: Path,
        made: Mechanism,
        remark: str,
        limit: Notion | None,
        under: Context | None,
        insisted: Insisted,
    ) -> Ledger:
        """Add a release to the ledger on the disk."""
        with Ledger.open(ledger) as book, show_status("recording"):
            fresh = book.record(
                made,
                who=self.who,
                people=self.people,
                about=str(self.about),
                note=remark,
                limit=limit,
                under=under,
                place=self.place,
                **insisted,
            )
            fresh.save(ledger)
        return fresh


def _check_usage(
    record: Path | None, data: DataOptions, remark: str | None, output: OutputOptions
) -> None:
    if record is not None and output.plot is not None:
        raise click.UsageError("--plot does not go with --record: run it again with --plot")
    named = sum(name in ("--who", "--person", "--people") for name in data.given_options())
    if record is None:
        if remark is not None:
            raise click.UsageError("--note goes with --record")
        for name in ("--new-name", "--same-value"):
            if name in data.given_options():
                raise click.UsageError(f"{name} goes with --record")
        if named > 1:
            raise click.UsageError("give only one of --who, --person and --people")
    else:
        if named != 1:
            raise click.UsageError("--record needs one of --who, --person and --people")
        if data.about is None:
            raise click.UsageError("--record needs --about: which data item was released")
    if (data.people is None) != (data.column is None):
        raise click.UsageError("--people and --column go together")


def _for_items(
    book: Ledger, entries: Sequence[LedgerEntry], context: Context, ledger: Path, source: Path
) -> Context:
    """Return the context with the labels of the items that it is to be used for."""
    fits: list[str] = []
    failed: FileError | None = None
    for about, entry in {entry.about: entry for entry in entries if entry.context}.items():
        try:
            context = match_labels(context, book.contexts[entry.context].inputs, ledger, source)
            fits.append(about)
        except FileError as error:
            failed = failed or error
    if failed is None:
        return context
    if not fits:
        raise failed
    other = "an item" if len(fits) == 1 else "one of the items"
    raise FileError(
        f"{failed.what}, in other items than {listed(fits)}",
        remedy=f"account for {other} that it fits: --about {shlex.quote(fits[0])}",
    )


def _check_one_more(asked: dict[str, Mechanism], inputs: list[Alphabet], place: Path) -> None:
    """Refuse a mechanism of which no next release is possible."""
    for path, mechanism in asked.items():
        labels = set(mechanism.context.inputs.labels)
        if not any(labels == set(alphabet.labels) for alphabet in inputs):
            raise FileError(
                f"the mechanism's values are not those in {place}",
                where=path,
                value=sorted(map(str, labels))[:4],
                remedy="one more release is a release of the same data",
            )


def _useless(found: LedgerAccount) -> list[str]:
    """Return a line for every item whose releases protect nothing together."""
    return [
        f"{group.history.name}, about {item.about!r}: {item.account.useless}; --insist accepts it"
        for group in found.groups
        for item in group.items
        if item.account.useless
    ]


def _limits(found: LedgerAccount, limit: Notion | None) -> list[str]:
    """Return a line for every limit that is not certainly kept; fail if none can be judged."""
    if limit is None:
        return []
    lines: list[str] = []
    unknown: list[NotDefined] = []
    items = [(group, item) for group in found.groups for item in group.items]
    for group, item in items:
        what = f"{group.history.name}, about {item.about!r},"
        item.account.refuse_newly_unprotected(limit)
        try:
            item.account.refuse_beyond(limit, what)
        except NotComposable as error:
            lines.append(str(error))
        except NotDefined as error:
            unknown.append(error)
            lines.append(f"{what} may exceed {limit}: {error}")
    if unknown and len(unknown) == len(items):
        raise unknown[0]
    return lines
