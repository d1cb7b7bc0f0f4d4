"""`liftlock collect estimate`: what all people together have answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.cli._console import Notes, show, show_json, show_status
from liftlock.cli._options import FILE, JSON_HELP, option_group
from liftlock.cli.collect._counts import read_counts
from liftlock.cli.collect._place import QUESTION, PlaceOptions, chosen
from liftlock.collect.survey import Estimated, Survey
from liftlock.report.text.estimate import estimate_report


@click.command("estimate", short_help="Estimate what people answered.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.argument("counts", nargs=-1, type=FILE, metavar="[COUNTS...]")
@QUESTION
@click.option(
    "--level",
    default="0.95",
    show_default=True,
    metavar="L",
    help="Confidence level of the intervals.",
)
@click.option("--together", is_flag=True, help="Intervals of all answers hold at once.")
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def estimate_command(
    survey: Path,
    counts: tuple[Path, ...],
    questions: tuple[str, ...],
    level: str,
    together: bool,
    place: PlaceOptions,
    as_json: bool,
) -> int:
    """Estimate from the reports to SURVEY, with intervals that lean on no prior.

    COUNTS are exports in JSON, from this server or others: they are added up, in the place of the
    store.

    \b
    liftlock collect estimate health.yaml
    liftlock collect estimate health.yaml \\
        --server http://127.0.0.1:8124 --token TOKEN
    liftlock collect estimate health.yaml north.json south.json
    """
    note = Notes()
    read = Survey.read(survey)
    found = read_counts(read, survey, counts, place, questions)
    with show_status("estimating") as progress:
        collections = read.collections(progress=progress)
        options: dict[str, Any] = {"level": level, "together": together}
        answers: list[Estimated] = []
        for name in chosen(read, questions):
            numbers = found.counts.get(name, {})
            reports = sum(map(sum, numbers.values()))
            if reports < max(read.least, 1):
                least = f", and {read.least:,} are the least" if read.least else ""
                note(f"{name}: {reports:,} report{'s' * (reports != 1)}{least}; nothing is shown")
                continue
            answers.append(collections[name].estimate(numbers, **options))
    if as_json:
        show_json({each.collection: each.content() for each in answers} | {"notes": note.texts})
    else:
        show(Group(*_paragraphs(answers)))
    note.show()
    return 0


def _paragraphs(answers: list[Estimated]) -> list[RenderableType]:
    """Return a paragraph for each answer."""
    parts: list[RenderableType] = []
    for each in answers:
        parts += [Text(each.collection, style="bold"), estimate_report(each.estimate), Text()]
    return parts[:-1]
