"""`liftlock plan`: how many people it takes, before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli.asked import budget_options, check_output, read_notion, read_seconds
from liftlock.cli.console import Notes, show, show_json, working
from liftlock.cli.estimate import labels_of
from liftlock.cli.options import FILE
from liftlock.designs.plans import SECONDS, plan
from liftlock.errors import InputError
from liftlock.estimate.question import QUESTIONS
from liftlock.exact.numbers import exact
from liftlock.files import read_prior
from liftlock.report.pictures import check_picture
from liftlock.report.plan import draw_plan, plan_report


@click.command("plan", short_help="Say how many people a precise answer takes.")
@click.option(
    "--prior",
    type=FILE,
    required=True,
    metavar="PRIOR",
    help="CSV label,count or label,probability, or JSON.",
)
@click.option("--n", "people", required=True, metavar="N", help="How many people will be asked.")
@budget_options
@click.option(
    "--of",
    "of",
    type=click.Choice([name for name in QUESTIONS if name not in ("sum", "profiles")]),
    help="What is to be estimated.  [default: survey with --value, else histogram]",
)
@click.option(
    "--value", "values", multiple=True, metavar="LABEL", help="The value to count. Repeatable."
)
@click.option(
    "--margin", default="2%", show_default=True, metavar="M", help="How precise it should be."
)
@click.option(
    "--level", default="0.95", show_default=True, metavar="L", help="The level of the intervals."
)
@click.option("--seconds", metavar="T", help="Stop each search for an optimum after T seconds.")
@click.option("--plot", type=FILE, metavar="PICTURE", help="Draw it (.png, .svg or .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan_command(
    prior: Path,
    people: str,
    notion: str | None,
    epsilon: str | None,
    epsilon_lower: str | None,
    epsilon_upper: str | None,
    of: str | None,
    values: tuple[str, ...],
    margin: str,
    level: str,
    seconds: str | None,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Say how precise answers from N people will be, and how many people a margin takes.

    The best mechanism for the budget is compared with local differential privacy at the same
    budget, with no privacy, and with asking nobody. The margin is half the width of the interval:
    of a share (2% or 0.02), or in the units of a mean.

    \b
    liftlock plan --prior prior.csv --n 10000 --epsilon 1
    liftlock plan --prior prior.csv --n 10000 --epsilon 1 --value flu
    """
    note = Notes()
    guarantee = read_notion(notion, epsilon, epsilon_lower, epsilon_upper, None)
    number = exact(people, name="--n")
    if number.denominator != 1 or number < 1:
        raise InputError("--n is not a number of people", value=people, remedy="give 1 or more")
    limit = read_seconds(seconds)
    if plot is not None:
        check_picture(plot)
        check_output(plot, {"prior": prior}, "--plot")
    known = read_prior(prior, note)
    asked = ("survey" if values else "histogram") if of is None else of
    with working("planning") as progress:
        found = plan(
            known,
            guarantee,
            int(number),
            of=asked,
            value=labels_of(known.labels, values) if values else None,
            margin=margin,
            level=level,
            seconds=SECONDS if limit is None else limit,
            watch=progress,
        )
        if plot is not None:
            draw_plan(found, plot)
            note(f"picture written to {plot}")
    if as_json:
        show_json(found.to_data() | {"notes": note.texts})
    else:
        show(plan_report(found))
    note.show()
    return 0
