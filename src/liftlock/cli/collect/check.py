"""`liftlock collect check`: everything that can be known before anybody is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from liftlock.cli._console import show_json, show_status
from liftlock.cli._options import FILE, JSON_HELP
from liftlock.cli.collect._text import show_indented
from liftlock.collect.survey import Survey


@click.command("check", short_help="Prove a survey, and say what it costs and gives.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.option(
    "--people",
    type=click.IntRange(1),
    metavar="N",
    help="Margins for so many people.  [default: as the survey says]",
)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def check_command(survey: Path, people: int | None, as_json: bool) -> int:
    """Design and prove every mechanism of SURVEY; nothing is written, nobody is asked.

    Printed are the margins of the answers, what all answers of one person tell together, and the
    text that people agree to. A survey that must not be carried out is refused (exit code 1), with
    what would help.

    \b
    liftlock collect check health.yaml
    liftlock collect check health.yaml --people 50000
    """
    read = Survey.read(survey)
    if people is not None:
        read = replace(read, people=people)
    with show_status("designing") as progress:
        found = read.check(progress=progress)
    if as_json:
        show_json(found.content())
    else:
        show_indented(str(found))
    return 0 if found.passed else 1
