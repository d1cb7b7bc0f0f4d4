"""`liftlock collect close`: take no more reports."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import show, show_json
from liftlock.cli._options import FILE, JSON_HELP, option_group
from liftlock.cli.collect._place import QUESTION, PlaceOptions, chosen, confirm
from liftlock.collect.survey import Survey


@click.command("close", short_help="Take no more reports.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@QUESTION
@option_group("place", PlaceOptions)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def close_command(
    survey: Path, questions: tuple[str, ...], place: PlaceOptions, yes: bool, as_json: bool
) -> int:
    """Close the questions of SURVEY for good: no report is taken any more.

    What was reported stays, and can be estimated. The estimate of a closed question is what the
    prior of the next round is made from.

    \b
    liftlock collect close health.yaml
    liftlock collect close health.yaml --question flu --yes
    """
    names = chosen(Survey.read(survey), questions)
    with place.open(survey) as curator:
        if not yes:
            confirm(f"Close {', '.join(names)} for good?")
        for name in names:
            curator.close(name)
        counted = {name: curator.counts(name).total for name in names}
    if as_json:
        show_json({"closed": counted})
    for name in () if as_json else names:
        show(f"{name} is closed with {counted[name]:,} report{'s' * (counted[name] != 1)}")
    return 0
