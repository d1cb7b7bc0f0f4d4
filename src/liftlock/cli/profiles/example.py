"""`liftlock profiles example`: graphs that are ready to be used, as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from liftlock._runtime.storage import write_atomically, write_together
from liftlock.cli._console import Notes, show
from liftlock.cli._options import FILE, check_outputs, csv_text
from liftlock.errors import FileError
from liftlock.model import ProfileGraph
from liftlock.model.profile_examples import EXAMPLES, example, find_example
from liftlock.report.format import grid_of


@click.command("example", short_help="Write an example graph of profiles.")
@click.argument("name", required=False)
@click.option("-o", "--output", type=FILE, metavar="FOLDER", help="Folder to write to.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
def example_command(name: str | None, output: Path | None, force: bool) -> int:
    """Write profiles.csv and edges.csv of the example NAME, or list the examples.

    `commute` and `workstation` have made-up observations too, in table.csv.

    \b
    liftlock profiles example
    liftlock profiles example workstation -o .
    """
    if name is None:
        if output is not None:
            raise click.UsageError(f"no example: name one of {', '.join(EXAMPLES)}")
        grid = grid_of(header=False)
        for entry in EXAMPLES.values():
            grid.add_row(entry.name, entry.says)
        show(grid)
        return 0
    graph = example(name)
    if output is None:
        raise click.UsageError("no folder: give -o FOLDER")
    files = {
        "profiles.csv": csv_text(["profile", *graph.inputs.labels], _profile_rows(graph)),
        "edges.csv": csv_text(["from", "to"], graph.edge_names),
    }
    make_table = find_example(name).table
    if make_table is not None:
        table = make_table()
        rows = ((number, *row) for number, row in enumerate(table.rows, start=1))
        files["table.csv"] = csv_text(table.header, rows)
    _make_folder(output)
    check_outputs({file: output / file for file in files}, {}, force=force)
    note = Notes()
    with write_together():
        for file, text in files.items():
            write_atomically(output / file, text)
            note(f"written to {output / file}")
    show(graph.describe())
    note.show()
    return 0


def _profile_rows(graph: ProfileGraph) -> Iterable[Iterable[object]]:
    for label, counts in zip(graph.profiles.labels, graph.counts, strict=True):
        yield [label, *counts]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise FileError(
            "cannot make the folder",
            where=str(folder),
            value=getattr(error, "strerror", None) or str(error),
            remedy="choose another name",
        ) from None
