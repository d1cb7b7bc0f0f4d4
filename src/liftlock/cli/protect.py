"""`liftlock protect`: privatise columns of a table, with a report."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from liftlock._runtime.progress import Step
from liftlock._runtime.storage import FileSet, check_writable, write_atomically, write_together
from liftlock.cli._columns import ColumnOptions
from liftlock.cli._console import (
    Notes,
    interruptible,
    show,
    show_json,
    show_table_progress,
    warn,
)
from liftlock.cli._ledger import LedgerOptions
from liftlock.cli._options import (
    FILE,
    REQUIRE_GAP,
    OptionGroup,
    SafeTableOptions,
    TableOptions,
    check_outputs,
    check_unchanged,
    file_state,
    option,
    option_group,
    read_gap,
    read_seconds,
)
from liftlock.errors import InputError, NotProved
from liftlock.report.format import printable

if TYPE_CHECKING:
    from liftlock.tables.protect.result import Protection, ReportHead


@dataclass(frozen=True)
class PageOptions(OptionGroup):
    """The report, and what its head says."""

    report: Path | None = option(
        "--report", type=FILE, metavar="REPORT", help="Report to write (.html)."
    )
    purpose: str | None = option(
        "--purpose", metavar="TEXT", help="With --report: what the data is released for."
    )
    responsible: str | None = option(
        "--responsible", metavar="TEXT", help="With --report: who answers for the release."
    )
    data_date: str | None = option(
        "--data-date", metavar="TEXT", help="With --report: the date or period of the data."
    )
    edition: str | None = option(
        "--edition", metavar="TEXT", help="With --report: the version of the report, e.g. 2."
    )

    def head(self) -> ReportHead:
        """Check that there is a report to head; return what its head says."""
        for name in self.given_options():
            if self.report is None:
                raise click.UsageError(f"{name} goes with --report")
        from liftlock.tables.protect.result import ReportHead

        return ReportHead(
            self.purpose or "", self.responsible or "", self.data_date or "", self.edition or ""
        )


class _QuotedCommand(click.Command):
    """A command that can be said again: its words are in `meta` of its context."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember the words before they are parsed."""
        ctx.meta[_WORDS] = (str(self.name), *args)
        return super().parse_args(ctx, args)


_WORDS = "liftlock.words"


@click.command("protect", cls=_QuotedCommand)
@click.argument("table", type=FILE, metavar="TABLE")
@option_group("columns", ColumnOptions)
@click.option(
    "--seconds", metavar="T", default="60", show_default=True, help="Time limit of the search."
)
@click.option("--require-gap", "required", **REQUIRE_GAP)
@click.option("--drop", multiple=True, metavar="NAME", help="Drop this column. Repeatable.")
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="Keep this column even if it reveals the secret. Repeatable.",
)
@option_group("reading", TableOptions)
@click.option(
    "--strict",
    is_flag=True,
    help="Write nothing and exit with 1 unless every row that goes out keeps the promise: neither "
    "what the table shows nor what could not be measured may be against it.",
)
@option_group("ledger", LedgerOptions)
@option_group("page", PageOptions)
@click.option(
    "--mechanism",
    "mechanisms",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Mechanism file to write; repeat for several columns, in their order.  [default: beside "
    "the output]",
)
@option_group("safe", SafeTableOptions)
def protect_command(
    table: Path,
    columns: ColumnOptions,
    seconds: str,
    required: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    reading: TableOptions,
    strict: bool,
    ledger: LedgerOptions,
    page: PageOptions,
    mechanisms: tuple[Path, ...],
    safe: SafeTableOptions,
) -> int:
    """Privatise columns of TABLE, certify the leakage, and write a report.

    The joint distribution of column and secret is counted in the table, or given. The best
    mechanism that can be certified replaces each value at random. The secret is dropped; all other
    columns stay the same, bit for bit and in the same order.

    \b
    liftlock protect people.csv --column job --secret religion --epsilon 0.5 \\
        -o safe.csv --report report.html
    liftlock protect people.parquet --column pay --domain 0:200000 --epsilon 1 \\
        -o safe.parquet
    """
    note = Notes()
    book = ledger.read()
    report, head = page.report, page.head()
    words = click.get_current_context().meta[_WORDS]
    output, force = safe.output, safe.force
    time = read_seconds(seconds)
    most = None if required is None else read_gap(required, "--require-gap")
    check_writable(output)
    parts = (" + ".join(columns.columns),) if columns.together else columns.columns
    files = _mechanism_files(mechanisms, parts, output)
    outputs: dict[str, Path | None] = {"the output": output, "the report": report}
    outputs |= {f"the mechanism of {name!r}": path for name, path in files.items()}
    replaced = output.exists()
    source = reading.open(table, note)
    from liftlock.tables.protect.plan import prepare
    from liftlock.tables.releases import TableRelease
    from liftlock.tables.stream import check_output, rewrite_table

    specs = columns.read(source, note)
    total, weights = columns.read_total()
    before = file_state(table)
    inputs = {"TABLE": table} | columns.inputs()
    check_outputs(outputs, inputs, force=force, ledger=book.path)
    book.check(source, specs, columns.per_person)
    check_output(source, output, force=force)
    _check_report(report)
    with interruptible() as pressed, show_table_progress("reading", source.unit) as shown:

        def tell(step: Step) -> None:
            # A search that Ctrl-C ends has a result all the same; here it means: release nothing.
            if pressed():
                raise KeyboardInterrupt
            shown(step)

        protection = prepare(
            source,
            specs,
            name=table.name,
            drop=drop,
            keep=keep,
            seconds=time,
            curve=report is not None,
            together=columns.together,
            total=total,
            weights=weights,
            person=columns.person,
            per_person=columns.per_person,
            watch=tell,
        )
        if most is not None:
            _require_gap(protection, most)
        protection = replace(protection, head=head, command=words)
        if strict and not protection.verdict.proved:
            return _refuse(protection, note, as_json=safe.as_json)
        release = TableRelease(protection, source, specs)
        tell(Step("releasing"))
        made = {column.name: column.mechanism for column in protection.columns}
        with book.recording(source, made, note) as record, write_together() as written:
            rewrite_table(source, output, release.change(), watch=shown, force=force, note=note)
            shown(Step("writing"))
            done = _describe(release.counted_protection(), files, output, written)
            _write_description(done, files, report, table)
            check_unchanged(table, before, "protected")
            record()
    if replaced:
        note.note_overwritten(output)
    _note_columns(done, note)
    note(f"written to {output}, {', '.join(str(path) for path in files.values())}")
    if report is not None:
        note(f"report written to {report}")
    _show(done, note, as_json=safe.as_json)
    return 0


def _note_columns(protection: Protection, note: Notes) -> None:
    """Say what was done with cells, and what was seen of other columns."""
    for column in protection.columns:
        for text in column.notes:
            note(text)
    for text in protection.notes:
        note(text)


def _show(protection: Protection, note: Notes, *, as_json: bool) -> None:
    """Print what was done, and the verdict last of all."""
    from liftlock.report.text.protect import protection_data, protection_report, verdict_report

    if as_json:
        show_json(protection_data(protection) | {"notes": note.texts})
    else:
        show(protection_report(protection))
    note.show()
    for column in protection.columns:
        origin = getattr(column.mechanism, "origin", None)
        if origin is not None and origin.warning:
            warn(f"{column.name}: {origin.warning}")
    if not as_json:
        show(verdict_report(protection.verdict))
        command = protection.verdict.command_for()
        if command and not protection.verdict.proved:
            show("run instead:")
            show(f"  {printable(command)}", wrap=False)


def _refuse(protection: Protection, note: Notes, *, as_json: bool) -> int:
    """Say why nothing is written."""
    _note_columns(protection, note)
    note("nothing was written (--strict)")
    _show(protection, note, as_json=as_json)
    return 1


def _require_gap(protection: Protection, most: float) -> None:
    """Refuse to release columns whose mechanism is not proved to be near the optimum."""
    for column in protection.columns:
        origin = getattr(column.mechanism, "origin", None)
        try:
            if origin is None:
                raise NotProved("a mechanism for per-user priors has no proved gap", None)
            origin.require_gap(most)
        except NotProved as refusal:
            raise NotProved(f"{column.name}: {refusal}", refusal.gap) from None


def _describe(
    protection: Protection, files: dict[str, Path], output: Path, written: FileSet
) -> Protection:
    """Return the protection with the files that it came to."""
    columns = tuple(replace(column, file=files[column.name].name) for column in protection.columns)
    return replace(
        protection,
        columns=columns,
        output=output.name,
        sha256=written.digest(output),
        day=datetime.date.today().isoformat(),
    )


def _write_description(
    protection: Protection, files: dict[str, Path], report: Path | None, table: Path
) -> None:
    """Write the mechanisms and the report.

    They hold counts of the table, so nobody may read them who may not read the table.
    """
    if report is not None:
        from liftlock.report.html import html_report

        write_atomically(report, html_report(protection), private_like=table)
    for column in protection.columns:
        text = column.mechanism.to_json() + "\n"
        write_atomically(files[column.name], text, private_like=table)


def _mechanism_files(
    given: Sequence[Path], columns: Sequence[str], output: Path
) -> dict[str, Path]:
    if given and len(given) != len(columns):
        raise click.UsageError(
            f"--mechanism is given {len(given)} times for {len(columns)} columns: give one per "
            "column"
        )
    if given:
        return dict(zip(columns, given, strict=True))
    if len(columns) == 1:
        return {columns[0]: sibling_path(output, ".mechanism.json")}
    return {
        column: sibling_path(
            output,
            f".{''.join(c if c.isalnum() or c in '-_' else '_' for c in column)}.mechanism.json",
        )
        for column in columns
    }


def sibling_path(output: Path, ending: str) -> Path:
    """Return the name of a file that belongs to an output.

    >>> str(sibling_path(Path("safe.csv.gz"), ".mechanism.json"))
    'safe.mechanism.json'
    """
    from liftlock.tables.formats import stem

    return output.with_name(stem(output) + ending)


def _check_report(report: Path | None) -> None:
    if report is not None and report.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            "a report must be an HTML file",
            value=report.name,
            remedy="give it a name that ends in .html",
        )
    if report is not None:
        import liftlock.report.html  # noqa: F401 - what it needs is there before the work begins
