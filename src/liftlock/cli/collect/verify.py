"""`liftlock collect verify`: is the store sound?"""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import show, show_json, show_status
from liftlock.cli._options import FILE, JSON_HELP, option_group
from liftlock.cli.collect._place import PlaceOptions


@click.command("verify", short_help="Check the store.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def verify_command(survey: Path, place: PlaceOptions, as_json: bool) -> int:
    """Check the store of SURVEY: its pages, counts against ids, mechanisms against their digests.

    Exit code 1 says that something is wrong: go back to the last backup.

    \b
    liftlock collect verify health.yaml
    liftlock collect verify health.yaml --store health-monday.sqlite
    """
    with place.open(survey) as curator, show_status("checking"):
        wrong = list(curator.verify())
    if as_json:
        show_json({"wrong": wrong})
    elif not wrong:
        show("the store is sound")
    for text in () if as_json else wrong:
        show(text)
    return 1 if wrong else 0
