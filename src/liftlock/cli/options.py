"""Options that several commands share: which context, and what it must agree with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from liftlock.cli.matching import matched, refuse_unprotected
from liftlock.cli.numbers import Numbers, number_options, refuse_whole_grid
from liftlock.confidence import read_confidence
from liftlock.contexts import Ball, Context, Intervals, Joint
from liftlock.errors import InputError
from liftlock.exact.numbers import exact, exact_probability
from liftlock.files import ReadChannel, read_counts, read_joint, read_prior, read_priors
from liftlock.line.grid import GridPrior
from liftlock.storage import located

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path, readable=False)


class InOrder(click.Group):
    """Subcommands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Keep the order of registration."""
        return list(self.commands)


def context_options(command: F) -> F:
    """Add the options that name a context."""
    command = number_options(command)
    for option in reversed(
        (
            click.option(
                "--prior",
                type=FILE,
                metavar="PRIOR",
                help="CSV label,count or label,probability, or JSON; with --column any CSV.",
            ),
            click.option(
                "--joint",
                type=FILE,
                metavar="JOINT",
                help="CSV contingency table: rows secrets, columns inputs.",
            ),
            click.option(
                "--family",
                type=FILE,
                metavar="PRIORS",
                help="CSV with one column for each prior, or label,lower,upper.",
            ),
            click.option(
                "--radius",
                metavar="R",
                help="With --prior: every prior within total variation R of it.",
            ),
            click.option(
                "--smooth",
                metavar="A",
                help="With --prior: add A to every count.",
            ),
            click.option(
                "--confidence",
                metavar="C",
                help="With --prior of counts: every prior they may come from, with confidence C.",
            ),
        )
    ):
        command = option(command)
    return command


def method_option(command: F) -> F:
    """Add the option that hands a value to the method itself."""
    return click.option(
        "--option",
        "of_the_method",
        multiple=True,
        metavar="NAME=VALUE",
        help="An option of the method itself. Repeatable.",
    )(command)


def require_gap_option(command: F) -> F:
    """Add the option that refuses a result which is not proved to be near the optimum."""
    return click.option(
        "--require-gap",
        "required",
        metavar="G",
        help="Refuse (exit code 1) what is not proved within this gap of the optimum.",
    )(command)


def mechanism_option(command: F) -> F:
    """Add the option that names the mechanism file to write."""
    return click.option(
        "-o", "--output", type=FILE, metavar="MECHANISM", help="The mechanism file to write (JSON)."
    )(command)


def bits_option(command: F) -> F:
    """Add the option that says how finely rows are rounded."""
    return click.option(
        "--bits",
        type=click.IntRange(1, 62),
        default=52,
        show_default=True,
        help="Rows become integers that sum to 2^BITS.",
    )(command)


def impossible_choice(said: str, *, default: str | None = "refuse") -> Callable[[F], F]:
    """Return the option --impossible: what to do with what has probability 0."""
    return click.option(
        "--impossible",
        type=click.Choice(["refuse", "ignore"]),
        default=default,
        show_default=default is not None,
        help=said,
    )


def impossible_option(command: F) -> F:
    """Add the option that says what to do with inputs of prior probability 0."""
    return impossible_choice("Inputs that the channel accepts and the prior calls impossible.")(
        command
    )


def read_context(
    prior: Path | None,
    joint: Path | None,
    family: Path | None,
    radius: str | None,
    smooth: str | None,
    note: Callable[[str], None],
    cells: GridPrior | None = None,
    confidence: str | None = None,
    **numeric: Any,
) -> Context | None:
    """Read the one context that was named, or None.

    `cells` are those that a mechanism brings, into which numbers are then counted.
    """
    named = {"--prior": prior, "--joint": joint, "--family": family}
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise click.UsageError(f"give only one of {' and '.join(given)}")
    ways = {"--radius": radius, "--smooth": smooth, "--confidence": confidence}
    numbers = Numbers(**numeric)
    numbers.check(prior, {"--joint": joint, "--family": family})
    for name, value in ways.items():
        if value is not None and prior is None:
            raise click.UsageError(f"{name} goes with --prior")
        if value is not None and numbers.asked:
            raise click.UsageError(f"{name} is for priors of labels, not of numbers")
    if confidence is not None:
        for name, value in (("--radius", radius), ("--smooth", smooth)):
            if value is not None:
                raise click.UsageError(f"give --confidence or {name}, not both")
    # Before any file is read: a slip of the pen should not cost a minute.
    if radius is not None:
        exact_probability(radius, name="--radius")
    if smooth is not None and exact(smooth, name="--smooth") < 0:
        raise InputError("--smooth is negative", value=smooth, remedy="give 0 or more")
    if confidence is not None:
        read_confidence(confidence)
    if numbers.asked:
        return numbers.cut(prior, note) if cells is None else numbers.on(cells, prior, note)
    if joint is not None:
        return read_joint(joint)
    if family is not None:
        return read_priors(family, note)
    if prior is None:
        return None
    if confidence is not None:
        return _likely_priors(prior, confidence, note)
    found = read_prior(prior, note)
    refuse_whole_grid(found, prior, ways)
    if smooth is not None:
        found = found.smoothed(smooth)
    return Ball.of(found, radius) if radius is not None else found


def _likely_priors(prior: Path, confidence: str, note: Callable[[str], None]) -> Intervals:
    """Read counts as the set of priors that they may have been drawn from."""
    counts = read_counts(prior)
    with located(prior):
        found = Intervals.from_counts(counts, confidence=confidence)
    note(
        f"the intervals hold the true prior with probability {confidence} at least, if the "
        f"{sum(count for _, count in counts)} observations of {prior} were drawn from it "
        "independently"
    )
    return found


def agreed_context(
    read: ReadChannel,
    channel: Path,
    paths: dict[str, Any],
    note: Callable[[str], None],
    impossible: str,
) -> Context:
    """Read the context, and make sure that it speaks of the inputs of the channel."""
    brought = read.context if isinstance(read.context, GridPrior) else None
    found = read_context(**paths, note=note, cells=brought)
    source = next((paths[key] for key in ("prior", "joint", "family") if paths[key]), channel)
    context = found if found is not None else read.context
    if context is None:
        raise InputError(
            "no context",
            where=str(channel),
            remedy="say what is known of its inputs: --prior, --joint or --family",
        )
    context = matched(read, context, channel, source)
    if impossible == "refuse":
        refuse_unprotected(read.channel, context, channel, source)
    if isinstance(context, Joint):
        never = [
            label
            for label, count in zip(
                context.secrets.labels, context.secret_prior.counts, strict=True
            )
            if not count
        ]
        if never:
            listed = ", ".join(repr(label) for label in never[:5])
            note(f"left out, because they never occur in {source}: secrets {listed}")
    return context
