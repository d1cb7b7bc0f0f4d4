"""`liftlock release`: a column of a table, or a list of values, through an existing mechanism."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from liftlock._runtime.storage import write_together
from liftlock.accounting.ledger import OBSERVATION
from liftlock.cli._console import Notes, show, show_json, show_table_progress, warn
from liftlock.cli._ledger import LedgerOptions
from liftlock.cli._options import (
    FILE,
    SafeTableOptions,
    TableOptions,
    check_outputs,
    check_unchanged,
    column_of,
    file_state,
    option_group,
)
from liftlock.cli._whose import WhoseOptions, notes_of_profiles, profile_release_data
from liftlock.files import read_mechanism
from liftlock.files.sheet import DIVIDED
from liftlock.mechanism import Mechanism
from liftlock.model.columns import UNSEEN
from liftlock.model.structured import StructuredChannel
from liftlock.report.format import shown as shown_label
from liftlock.report.text.release import leak_data, leak_notes, leak_text, leak_warnings

if TYPE_CHECKING:
    from liftlock.tables.releases import ColumnRelease
    from liftlock.tables.tonight import TonightsLeaks


@click.command("release")
@click.argument("mechanism", type=FILE, metavar="MECHANISM")
@click.argument("table", type=FILE, metavar="TABLE")
@click.option(
    "--column", metavar="NAME", help="Column to privatise.  [default: the mechanism's column]"
)
@click.option("--drop", multiple=True, metavar="NAME", help="Drop this column. Repeatable.")
@click.option(
    "--keep",
    multiple=True,
    metavar="NAME",
    help="Keep this column even if it reveals the secret. Repeatable.",
)
@click.option(
    "--unseen",
    type=click.Choice(UNSEEN),
    help="Values that are not inputs of the mechanism: refuse or map them.  [default: as designed]",
)
@click.option(
    "--check",
    is_flag=True,
    help="Refuse (exit code 1) a table in which the mechanism leaks more than promised.",
)
@option_group("whose", WhoseOptions)
@option_group("reading", TableOptions)
@option_group("ledger", LedgerOptions)
@option_group("safe", SafeTableOptions)
def release_command(
    mechanism: Path,
    table: Path,
    column: str | None,
    drop: tuple[str, ...],
    keep: tuple[str, ...],
    unseen: str | None,
    check: bool,
    whose: WhoseOptions,
    reading: TableOptions,
    ledger: LedgerOptions,
    safe: SafeTableOptions,
) -> int:
    """Replace a column of TABLE by what MECHANISM releases for it, whatever the table's size.

    The mechanism is proved again first. The secret that it hides is left out; order and all other
    columns are kept bit for bit. Those that tell the value or the secret are yours to --drop. What
    the mechanism leaks in TABLE is counted, and printed beside what it promises. The output appears
    under its name only once it is whole. Each run is another release of the same people: with
    --ledger it is recorded before that, and refused beyond a --limit. Of profiles each row is an
    observation, and with --ledger and --id none can be released twice.

    \b
    liftlock release safe.mechanism.json more.parquet -o more-safe.parquet
    liftlock release flu.json answers.csv --column answer -o private.csv
    liftlock release usage.json table.csv --column usage \\
        --profile-column user -o safe.csv
    """
    note = Notes()
    book = ledger.read()
    output, force = safe.output, safe.force
    made = read_mechanism(mechanism)
    if made.caution and made.encoding is not None:
        note(made.caution)
    chosen = column_of(made, column, "no column: name the one to privatise by --column")
    source = reading.open(table, note)
    from liftlock.tables.kept import choose_columns, count_names
    from liftlock.tables.people import PersonColumn
    from liftlock.tables.profiles import ProfileColumn
    from liftlock.tables.releases import ColumnRelease, make_change
    from liftlock.tables.stream import check_output, rewrite_table
    from liftlock.tables.tonight import measure_table

    inputs: dict[str, Path | None] = {"MECHANISM": mechanism, "TABLE": table}
    check_outputs({"the output": output}, inputs, force=force, ledger=book.path)
    book.check(source)
    check_output(source, output, force=force)
    replaced = output.exists()
    worker = whose.worker(made, chosen, unseen, source)
    if whose.normalise:
        note(f"the probabilities of each row were {DIVIDED}")
    work = ColumnRelease(worker, source)
    keep = whose.kept(keep)
    before = file_state(table)
    by_profile = worker if isinstance(worker, ProfileColumn) else None
    with show_table_progress("inspecting the other columns", source.unit) as shown:
        others = choose_columns(
            source,
            worker,
            drop=drop,
            keep=keep,
            keep_profiles=whose.keep_profile,
            count=partial(count_names, watch=shown),
        )
    for text in others.notes:
        note(text)
    with show_table_progress("counting what is leaked in this table", source.unit) as shown:
        tonight = measure_table(source, worker, others.secrets, shown)
    if check:
        tonight.require_kept()
    for text in leak_notes(tonight):
        note(text)
    if isinstance(worker, PersonColumn):
        with show_table_progress("counting people", source.unit) as shown:
            worker.look_at(source, shown)
    change = make_change(source, [work], others.dropped)
    about = " + ".join(work.columns) if by_profile is None else OBSERVATION
    with (
        book.recording(source, {about: made}, note) as record,
        write_together(),
        show_table_progress("releasing", source.unit) as shown,
    ):
        rows = rewrite_table(source, output, change, watch=shown, force=force, note=note)
        check_unchanged(table, before, "released")
        if by_profile is not None and not ledger.insist:
            by_profile.refuse_useless()
        record()
        if by_profile is not None:
            for text in notes_of_profiles(by_profile, rows, told=others.tells_profiles):
                note(text)
    if work.kept:
        note(
            f"{work.kept:,} missing cells were kept missing: whether a value is missing is not "
            "protected"
        )
    book.note_second(made, note)
    if replaced:
        note.note_overwritten(output)
    note(f"written to {output}")
    if not safe.as_json:
        names_of = ", ".join(shown_label(name) for name in work.columns)
        one = "release" if by_profile is None else "observation"
        show(f"{rows:,} row{'s' * (rows != 1)}, {names_of} privatised")
        show(f"guarantee for one {one}: {made.guarantee}")
        for leak in tonight.leaks:
            show(leak_text(leak))
        if said := made.describe_person():
            show(said)
    elif by_profile is None:
        show_json(_data(made, work, rows, tonight, output, note.texts))
    else:
        show_json(profile_release_data(by_profile, rows, str(output), note.texts))
    note.show()
    for text in leak_warnings(tonight):
        warn(text)
    return 0


def _data(
    made: Mechanism,
    work: ColumnRelease,
    rows: int,
    tonight: TonightsLeaks,
    output: Path,
    notes: list[str],
) -> dict[str, Any]:
    return {
        "format": "liftlock.release",
        "version": 1,
        "rows": rows,
        "columns": list(work.columns),
        "guarantee": made.guarantee,
        "channel": made.channel.fingerprint,
        "counts": (
            None
            if isinstance(made.channel, StructuredChannel)
            else [work.counts[label] for label in made.channel.outputs.labels]
        ),
        "in_table": [leak_data(leak) for leak in tonight.leaks],
        "file": str(output),
        "notes": notes,
    }
