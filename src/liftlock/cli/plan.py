"""`liftlock plan`: how many people it takes, before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import Notes, working
from liftlock.cli._options import (
    FILE,
    GuaranteeOptions,
    OutputOptions,
    option_group,
    output_options,
    read_seconds,
)
from liftlock.cli.estimate import labels_of
from liftlock.designs.plans import SECONDS, plan
from liftlock.errors import InputError
from liftlock.estimate.question import QUESTIONS
from liftlock.exact.numbers import exact
from liftlock.files import read_prior
from liftlock.report.plots.plan import draw_plan
from liftlock.report.text.plan import plan_report


@click.command("plan", short_help="Say how many people a precise answer takes.")
@click.option(
    "--prior",
    type=FILE,
    required=True,
    metavar="PRIOR",
    help="CSV label,count or label,probability, or JSON.",
)
@click.option("--n", "people", required=True, metavar="N", help="How many people will be asked.")
@option_group("guarantee", GuaranteeOptions, without=("delta", "form", "alpha"))
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
@output_options(plot="Draw it")
def plan_command(
    prior: Path,
    people: str,
    guarantee: GuaranteeOptions,
    of: str | None,
    values: tuple[str, ...],
    margin: str,
    level: str,
    seconds: str | None,
    output: OutputOptions,
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
    notion = guarantee.read()
    number = exact(people, name="--n")
    if number.denominator != 1 or number < 1:
        raise InputError("--n is not a number of people", value=people, remedy="give 1 or more")
    limit = SECONDS if seconds is None else read_seconds(seconds)
    output.check({"--prior": prior})
    known = read_prior(prior, note)
    asked = ("survey" if values else "histogram") if of is None else of
    with working("planning") as progress:
        found = plan(
            known,
            notion,
            int(number),
            of=asked,
            value=labels_of(known.labels, values) if values else None,
            margin=margin,
            level=level,
            seconds=limit,
            watch=progress,
        )
        if output.plot is not None:
            draw_plan(found, output.plot)
            note(f"picture written to {output.plot}")
    output.show(note, found.to_data, lambda: plan_report(found))
    return 0
