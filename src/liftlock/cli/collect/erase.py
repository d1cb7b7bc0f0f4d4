"""`liftlock collect erase`: forget what was reported."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import show, show_json
from liftlock.cli._options import FILE, JSON_HELP, option_group
from liftlock.cli.collect._place import QUESTION, PlaceOptions, chosen, confirm
from liftlock.collect.survey import Survey


@click.command("erase", short_help="Forget all reports.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@QUESTION
@option_group("place", PlaceOptions)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def erase_command(
    survey: Path, questions: tuple[str, ...], place: PlaceOptions, yes: bool, as_json: bool
) -> int:
    """Erase everything that was reported to the questions of SURVEY.

    Counts, ids and mechanisms go. Copies of the store, and what was exported, are yours to delete.
    Nobody can undo this.

    \b
    liftlock collect erase health.yaml
    liftlock collect erase health.yaml --question flu --yes
    """
    names = chosen(Survey.read(survey), questions)
    with place.open(survey) as curator:
        known = curator.collections()
        there = [name for name in names if name in known]
        counted = {name: curator.counts(name).total for name in there}
        if there and not yes:
            told = ", ".join(f"{name} ({counted[name]:,} reports)" for name in there)
            confirm(f"Erase {told} for good?")
        for name in there:
            curator.erase(name)
    if as_json:
        show_json({"erased": counted})
        return 0
    for name in names:
        show(
            f"{name} is erased, with {counted[name]:,} reports"
            if name in counted
            else f"{name} is not in the store"
        )
    return 0
