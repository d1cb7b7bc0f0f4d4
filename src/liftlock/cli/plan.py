"""`liftlock plan`: how many people it takes, before anybody is asked."""

from __future__ import annotations

from pathlib import Path

import click

from liftlock.cli._console import Notes, show_status
from liftlock.cli._options import (
    FILE,
    NORMALISE,
    GuaranteeOptions,
    OutputOptions,
    option_group,
    output_options,
    read_seconds,
)
from liftlock.cli.estimate import parse_labels
from liftlock.designs.plan import SECONDS, plan
from liftlock.errors import InputError
from liftlock.estimate.question import QUESTIONS
from liftlock.exact.numbers import exact
from liftlock.files import read_prior
from liftlock.report.plots.plan import draw_plan
from liftlock.report.text.plan import plan_report


@click.command("plan")
@click.option(
    "--prior",
    type=FILE,
    required=True,
    metavar="PRIOR",
    help="CSV label,count or label,probability, or JSON.",
)
@click.option("--n", "people", required=True, metavar="N", help="Number of respondents.")
@option_group("guarantee", GuaranteeOptions, without=("delta", "form", "alpha"))
@click.option(
    "--of",
    "of",
    type=click.Choice([name for name in QUESTIONS if name not in ("sum", "profiles")]),
    help="Quantity to estimate.  [default: survey with --value, else histogram]",
)
@click.option(
    "--value", "values", multiple=True, metavar="LABEL", help="Value to count. Repeatable."
)
@click.option(
    "--margin", default="2%", show_default=True, metavar="M", help="Target margin of error."
)
@click.option(
    "--level",
    default="0.95",
    show_default=True,
    metavar="L",
    help="Confidence level of the intervals.",
)
@click.option("--seconds", metavar="T", help="Time limit of each search for an optimum.")
@click.option("--normalise", **NORMALISE)
@output_options(plot="Draw the margins of error")
def plan_command(
    prior: Path,
    people: str,
    guarantee: GuaranteeOptions,
    of: str | None,
    values: tuple[str, ...],
    margin: str,
    level: str,
    seconds: str | None,
    normalise: bool,
    output: OutputOptions,
) -> int:
    """Margin of error with N respondents, and sample size for a target margin of error.

    The best mechanism for the budget is compared with local differential privacy at the same
    budget, with no privacy, and with no survey at all. The margin is half the width of the
    interval: of a share (2% or 0.02), or in the units of a mean.

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
    known = read_prior(prior, note, normalise=normalise)
    asked = ("survey" if values else "histogram") if of is None else of
    with show_status("planning") as progress:
        found = plan(
            known,
            notion,
            int(number),
            of=asked,
            value=parse_labels(known.labels, values) if values else None,
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
