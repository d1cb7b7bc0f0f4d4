"""Options that several commands share: which context, how to speak."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from liftlock.context import Ball, Context
from liftlock.files import read_joint, read_prior, read_priors
from liftlock.prior import Prior

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def context_options(command: F) -> F:
    """Add the options that name a context."""
    for option in reversed(
        (
            click.option(
                "--prior",
                type=FILE,
                metavar="PRIOR",
                help="CSV label,count or label,probability, or JSON.",
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
                help="With --prior: add A to every count (unseen symbols get A).",
            ),
        )
    ):
        command = option(command)
    return command


def read_context(
    prior: Path | None,
    joint: Path | None,
    family: Path | None,
    radius: str | None,
    smooth: str | None,
    note: Callable[[str], None],
) -> Context | None:
    """Read the one context that was named, or None."""
    given = [
        name
        for name, value in (("--prior", prior), ("--joint", joint), ("--family", family))
        if value is not None
    ]
    if len(given) > 1:
        raise click.UsageError(f"give only one of {' and '.join(given)}")
    if (radius or smooth) and prior is None:
        raise click.UsageError("--radius and --smooth go with --prior")
    if joint is not None:
        return read_joint(joint)
    if family is not None:
        return read_priors(family, note)
    if prior is None:
        return None
    found: Prior = read_prior(prior, note)
    if smooth is not None:
        found = found.smoothed(smooth)
    return Ball.of(found, radius) if radius is not None else found


def make_console(*, error: bool = False) -> Console:
    """Return a console that does not cut numbers when the output is not a terminal."""
    console = Console(stderr=error, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        return Console(stderr=error, highlight=False, width=max(console.width, 110))
    return console


def noting(console: Console) -> Callable[[str], None]:
    """Return a function that prints a note."""
    return lambda text: console.print(f"note: {text}", style="yellow", markup=False)
