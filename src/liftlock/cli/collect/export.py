"""`liftlock collect export`: counts by day in common files."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import Notes, show_status
from liftlock.cli._options import FILE, check_outputs, option_group
from liftlock.cli.collect._files import check_new
from liftlock.cli.collect._place import QUESTION, PlaceOptions, chosen
from liftlock.collect.store.export import FORMS, Export, write_aggregates, write_export
from liftlock.collect.survey import Survey
from liftlock.errors import FileError


@click.command("export", short_help="Write counts as CSV, JSON or Parquet.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write (.csv, .json or .parquet), with a line for each day and output.",
)
@click.option(
    "--aggregates",
    type=FILE,
    metavar="FOLDER",
    help="Write the aggregate and the mechanism of each, for liftlock estimate.",
)
@QUESTION
@option_group("place", PlaceOptions)
def export_command(
    survey: Path,
    output: Path | None,
    aggregates: Path | None,
    questions: tuple[str, ...],
    place: PlaceOptions,
) -> int:
    """Write how often each output was reported to SURVEY on each day. These are not answers.

    Exports of several servers are added up by liftlock collect estimate, aggregates by liftlock
    estimate. No id and nothing finer than a day is in them.

    \b
    liftlock collect export health.yaml -o health.parquet
    liftlock collect export health.yaml --aggregates counts
    """
    if output is None and aggregates is None:
        raise click.UsageError("nothing to write: give -o, or --aggregates")
    note = Notes()
    if output is not None:
        check_new(output)
        check_outputs({"the output": output}, {"SURVEY": survey})
        if output.suffix.lower() not in FORMS:
            raise FileError(
                "no such kind of export",
                where=str(output),
                remedy=f"end the name of the file with {', '.join(FORMS)}",
            )
    read = Survey.read(survey)
    names = chosen(read, questions)
    with place.open(survey) as curator:
        known = curator.collections()
        days = {name: curator.history(name) for name in names if name in known}
    with show_status("designing") as progress:
        collections = read.collections(progress=progress)
    exports = [Export.of_collection(collections[name], found) for name, found in days.items()]
    if output is not None:
        write_export(exports, output)
        note(f"written to {output}")
    if aggregates is not None:
        aggregates.mkdir(parents=True, exist_ok=True)
        for export in exports:
            for digest, path in write_aggregates(export, aggregates).items():
                made = aggregates / f"{export.collection}.{digest[:16]}.mechanism.json"
                made.write_bytes(collections[export.collection].mechanisms[digest].file)
                note(f"liftlock estimate {made} {path}")
    note.show()
    return 0
