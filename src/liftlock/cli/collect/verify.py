"""`liftlock collect verify`: is the store sound, and is it apart from others?"""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import show, show_json, show_status
from liftlock.cli._options import FILE, JSON_HELP, option_group
from liftlock.cli.collect._place import PlaceOptions, chosen
from liftlock.collect.store.export import Overlap, shared_ids
from liftlock.collect.survey import Survey
from liftlock.errors import InputError


@click.command("verify", short_help="Check the store.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "--apart-from",
    "others",
    multiple=True,
    type=FILE,
    metavar="COPY",
    help="Look for reports that this backup of another server counted too. Repeatable.",
)
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def verify_command(
    survey: Path, others: tuple[Path, ...], place: PlaceOptions, as_json: bool
) -> int:
    """Check the store of SURVEY: its pages, counts against ids, mechanisms against their digests.

    Exit code 1 says that something is wrong: go back to the last backup. With --apart-from the
    store must be a file; reports that two servers counted are counted twice in the sum of both.

    \b
    liftlock collect verify health.yaml
    liftlock collect verify health.yaml --store north.sqlite \\
        --apart-from south.sqlite
    """
    with place.open(survey) as curator, show_status("checking"):
        wrong = list(curator.verify())
    twice = _twice(survey, others, place) if others else []
    if as_json:
        shared = [{"collection": n, "copy": each.other, "ids": each.ids} for n, each in twice]
        show_json({"wrong": wrong, "shared": shared})
    else:
        for text in wrong or ["the store is sound"]:
            show(text)
        for name, each in twice:
            show(f"{name}: {each.ids:,} reports are also counted in {each.other}")
    return 1 if wrong or any(each.ids for _, each in twice) else 0


def _twice(
    survey: Path, others: tuple[Path, ...], place: PlaceOptions
) -> list[tuple[str, Overlap]]:
    """Count what two servers have both counted."""
    settings = place.read(survey)
    if place.server is not None or settings.shared:
        raise InputError(
            "only backups can be compared",
            value=place.server,
            remedy="make one by liftlock collect backup, and name it by --store",
        )
    own = Path(settings.place)
    return [
        (name, each)
        for name in chosen(Survey.read(survey), ())
        for other in others
        for each in shared_ids([own, other], name)
    ]
