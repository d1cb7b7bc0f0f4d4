"""`liftlock estimate`: from private reports to answers with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Group
from rich.text import Text

from liftlock._runtime.storage import write_together
from liftlock.cli._collections import CollectionOptions, refuse_profiles
from liftlock.cli._console import Notes, show_status, show_table_progress
from liftlock.cli._options import (
    FILE,
    LazyChoice,
    OutputOptions,
    check_outputs,
    option_group,
    output_options,
)
from liftlock.cli._reports import ReportOptions
from liftlock.errors import InputError, NotDefined
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.api import methods
from liftlock.estimate.combination import combine
from liftlock.estimate.intervals import KINDS
from liftlock.estimate.per_user_aggregate import PerUserAggregate
from liftlock.estimate.question import ABOUT, QUESTIONS
from liftlock.estimate.result import Estimate
from liftlock.files import read_mechanism, read_prior
from liftlock.mechanism import Mechanism
from liftlock.model import ProfileGraph
from liftlock.report.plots.estimate import draw_estimates
from liftlock.report.text.estimate import estimate_report


@click.command("estimate")
@click.argument("mechanism", type=FILE, metavar="MECHANISM")
@click.argument("reports", nargs=-1, required=True, type=FILE, metavar="REPORTS...")
@option_group("source", ReportOptions)
@option_group("collections", CollectionOptions)
@click.option(
    "--of",
    "of",
    type=click.Choice(QUESTIONS),
    help="Quantity to estimate.  [default: survey with --value, else histogram, and profiles if "
    "known]",
)
@click.option(
    "--value", "values", multiple=True, metavar="LABEL", help="Value to count. Repeatable."
)
@click.option(
    "--method",
    type=LazyChoice(methods),
    default="auto",
    show_default=True,
    help="Estimator.",
)
@click.option(
    "--interval",
    type=click.Choice(KINDS),
    default="auto",
    show_default=True,
    help="Kind of interval.",
)
@click.option(
    "--level",
    default="0.95",
    show_default=True,
    metavar="L",
    help="Confidence level of the intervals.",
)
@click.option("--together", is_flag=True, help="Intervals of all answers hold at once.")
@click.option(
    "--strength",
    metavar="K",
    help="People that the prior counts as, for what it makes of the reports.  [default: the prior "
    "is true]",
)
@click.option(
    "--about",
    type=click.Choice(ABOUT),
    help="Estimate for the respondents, or for the population they are a random sample of.  "
    "[default: people; with --rounds population]",
)
@click.option(
    "--prior",
    type=FILE,
    metavar="PRIOR",
    help="Prior to use instead of the mechanism's; for profiles, their shares.",
)
@click.option(
    "--trust-profiles/--no-trust-profiles",
    default=None,
    help="Estimate values through the profiles' distributions.  [default: only if nothing else "
    "identifies them]",
)
@click.option("--seed", metavar="S", help="Random seed of simulated intervals.")
@output_options(file=("COUNTS", "Write the aggregated counts (JSON)."), plot="Draw the estimates")
def estimate_command(
    mechanism: Path,
    reports: tuple[Path, ...],
    source: ReportOptions,
    collections: CollectionOptions,
    of: str | None,
    values: tuple[str, ...],
    method: str,
    interval: str,
    level: str,
    together: bool,
    strength: str | None,
    about: str | None,
    prior: Path | None,
    trust_profiles: bool | None,
    seed: str | None,
    output: OutputOptions,
) -> int:
    """Estimate counts, means and distributions from REPORTS released by MECHANISM.

    REPORTS are tables (CSV, Parquet, Arrow; of any size) with one row per report, or counts written
    earlier with -o; several are added up. Value and interval lean on no prior. What holds if the
    prior is true stands beside them, with a warning if the reports contradict that prior. A
    mechanism for profiles yields the shares of the profiles and the distribution of the values,
    with their assumptions. One for per-user priors needs these priors, in the rows of the reports.

    --with adds collections of other mechanisms for the same values: groups, whose answers add up,
    or with --rounds samples of one population. --next-prior writes the priors that the reports
    allow, for the design of another round among other people.

    \b
    liftlock estimate safe.json reports.csv --column answer
    liftlock estimate safe.json reports.csv --column answer --value flu
    liftlock estimate safe.json monday.json tuesday.json --plot estimate.png
    liftlock estimate north.json north.csv --with south.json south.csv
    liftlock estimate first.json first.csv --next-prior next.json
    """
    note = Notes()
    inputs = {"MECHANISM": mechanism, "--prior": prior, "--priors-from": source.priors_from}
    inputs |= {f"REPORTS {place + 1}": path for place, path in enumerate(reports)}
    inputs |= collections.inputs()
    output.check(inputs)
    files = {"the output": output.file, "--plot": output.plot}
    check_outputs(files | {"--next-prior": collections.next_prior}, inputs)
    collections.check(
        source, reports, prior=prior, trust_profiles=trust_profiles, output=output.file
    )
    number = None if seed is None else _read_seed(seed)
    made = read_mechanism(mechanism)
    graph = made.context if isinstance(made.context, ProfileGraph) else None
    asked = [("survey" if values else "histogram") if of is None else of]
    if graph is not None and of is None and not values:
        asked.append("profiles")
    another = None if prior is None else read_prior(prior, note, normalise=source.normalise)
    value = parse_labels(_known_labels(made, asked[0]), values) if values else None
    source.check(made, reports)
    if graph is None and trust_profiles is not None:
        option = "--trust-profiles" if trust_profiles else "--no-trust-profiles"
        raise click.UsageError(f"the mechanism is not for profiles: leave out {option}")
    if collections.others:
        refuse_profiles(made)
    with show_table_progress("counting") as shown:
        counted = source.read(made, reports, (asked[0], value), note, shown)
        added = collections.read(source, (asked[0], value), note, shown)
    with show_status("estimating"):
        options: dict[str, Any] = {
            "value": value,
            "prior": another,
            "method": method,
            "interval": interval,
            "level": level,
            "together": together,
            "strength": strength,
            "seed": number,
        }
        if about is not None:
            options["about"] = about
        if trust_profiles is not None:
            options["trust_profiles"] = trust_profiles
        if added:
            del options["prior"]

        def answers(notes: Notes, **more: Any) -> list[Estimate]:
            if not added:
                return _estimates(made, counted, asked, options | more, notes)
            pairs = [(made, counted), *added]
            return [combine(pairs, asked[0], rounds=collections.rounds, **options | more)]

        found = answers(note)
        with write_together():
            collections.write(found, note)
            if output.file is not None:
                counted.save(output.file)
                note(f"counts written to {output.file}")
            if output.plot is not None:
                # Bars stand side by side, so their intervals hold at once.
                drawn = found if together else answers(Notes(), together=True)
                known = made.known_prior if another is None else another
                if any(other.known_prior != known for other, _ in added):
                    known = None
                draw_estimates(drawn, output.plot, known)
                note(f"picture written to {output.plot}")
    first, *others = found
    output.show(
        note,
        lambda: first.to_data() | {each.of: each.to_data() for each in others},
        lambda: Group(
            estimate_report(first), *(Group(Text(), estimate_report(each)) for each in others)
        ),
    )
    return 0


def _estimates(
    made: Mechanism,
    counted: Aggregate | PerUserAggregate,
    asked: Sequence[str],
    options: dict[str, Any],
    note: Notes,
) -> list[Estimate]:
    """Answer each question; of several, those that the reports do not determine are told."""
    found: list[Estimate] = []
    refused: list[NotDefined] = []
    for of in asked:
        given = options
        if of == "profiles" and len(asked) > 1:
            given = {name: value for name, value in options.items() if name != "trust_profiles"}
        try:
            found.append(made.estimate(counted, of, **given))
        except NotDefined as error:
            refused.append(error)
            if len(asked) > 1:
                note(f"no estimate of the {of}: {error}")
    if not found:
        raise refused[0]
    return found


def _known_labels(made: Mechanism, of: str) -> Sequence[Any]:
    """Return the labels that a value to count may be."""
    if isinstance(made.context, ProfileGraph):
        return (made.context.profiles if of == "profiles" else made.context.inputs).labels
    return made.channel.inputs.labels


def parse_labels(known: Sequence[Any], values: Sequence[str]) -> list[Any]:
    """Return the labels that texts stand for: a label may be a number.

    >>> parse_labels([1, "two"], ["1", "two", "three"])
    [1, 'two', 'three']
    """
    by_text = {str(label): label for label in known}
    return [by_text.get(value, value) for value in values]


def _read_seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise InputError("--seed is not a whole number", value=text, remedy="give 0 or more")
    return int(text)
