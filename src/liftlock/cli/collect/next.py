"""`liftlock collect next`: the survey of the next round."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from liftlock._runtime.storage import write_atomically
from liftlock.cli._console import Notes, show_json, show_status
from liftlock.cli._options import FILE, JSON_HELP, check_outputs, option_group
from liftlock.cli.collect._counts import read_counts
from liftlock.cli.collect._files import check_new, survey_text
from liftlock.cli.collect._place import PlaceOptions
from liftlock.cli.collect._text import show_indented
from liftlock.collect.survey import Survey
from liftlock.errors import NotDefined

DAY = click.DateTime(["%Y-%m-%d"])


@click.command("next", short_help="Make the survey of the next round.")
@click.argument("survey", type=FILE, metavar="SURVEY")
@click.argument("counts", nargs=-1, type=FILE, metavar="[COUNTS...]")
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="NEXT", help="Survey file to write."
)
@click.option(
    "--confidence",
    default="0.99",
    show_default=True,
    metavar="C",
    help="Confidence of the sets of priors, each.",
)
@click.option(
    "--drift",
    default="0",
    show_default=True,
    metavar="D",
    help="Widen them: shares may change e^D-fold until then.",
)
@click.option("--name", metavar="NAME", help="Name of the survey.  [default: the old one, counted]")
@click.option("--opens", type=DAY, metavar="DAY", help="First day.")
@click.option("--closes", type=DAY, metavar="DAY", help="Last day.")
@click.option(
    "--while-open", is_flag=True, help="Use the reports of questions that are not closed."
)
@option_group("place", PlaceOptions)
@click.option("--json", "as_json", is_flag=True, help=JSON_HELP)
def next_command(
    survey: Path,
    counts: tuple[Path, ...],
    output: Path,
    confidence: str,
    drift: str,
    name: str | None,
    opens: datetime | None,
    closes: datetime | None,
    while_open: bool,
    place: PlaceOptions,
    as_json: bool,
) -> int:
    """Write NEXT: SURVEY again, with what its reports say as what is known.

    The reports allow a set of priors, and the next mechanisms keep the guarantee for all of them,
    with the stated confidence; LDP holds whatever is true. An estimate is never taken for the prior
    itself. COUNTS are exports in JSON, in the place of the store.

    \b
    liftlock collect close health.yaml
    liftlock collect next health.yaml -o health-2.yaml
    """
    note = Notes()
    check_new(output)
    check_outputs({"the output": output}, {"SURVEY": survey})
    survey_text({}, output)
    read = Survey.read(survey)
    found = read_counts(read, survey, counts, place)
    if not while_open and found.open:
        raise NotDefined(
            "the next round",
            f"questions that are still open ({', '.join(found.open)})",
            "close them first, liftlock collect close, or say --while-open",
        )
    from liftlock.collect.survey.rounds import plan_next_round

    with show_status("reading the reports"):
        planned = plan_next_round(
            read,
            found.counts,
            confidence,
            drift=drift,
            name=name,
            opens=None if opens is None else opens.date(),
            closes=None if closes is None else closes.date(),
        )
    write_atomically(output, survey_text(planned.survey.content(), output))
    note(f"written to {output}")
    if as_json:
        show_json(planned.content() | {"notes": note.texts})
    else:
        show_indented(str(planned))
    note.show()
    return 0
