"""`liftlock collect backup`: a copy of the store, also while it is used."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import show, show_status
from liftlock.cli._options import FILE, option_group
from liftlock.cli.collect._files import check_new
from liftlock.cli.collect._place import PlaceOptions


@click.command("backup", short_help="Copy the store, also while it is used.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="COPY",
    help="New file to write.  [default: of a server, one in its folder of backups]",
)
@option_group("place", PlaceOptions)
def backup_command(survey: Path, output: Path | None, place: PlaceOptions) -> int:
    """Write a copy of the store of SURVEY: every report that was acknowledged is in it.

    A server writes it into its own folder of backups, and goes on taking reports. To go back to a
    copy, stop the server and put the copy in the place of the store.

    \b
    liftlock collect backup health.yaml -o health-monday.sqlite
    liftlock collect backup health.yaml --server http://127.0.0.1:8124
    """
    if place.server is None:
        if output is None:
            raise click.UsageError("no file: name the copy by -o")
        check_new(output)
    elif output is not None:
        raise click.UsageError("a server names the copy itself: leave out -o")
    with place.open(survey) as curator, show_status("copying"):
        written = curator.backup(output)
    show(f"copy written to {written}", wrap=False)
    return 0
