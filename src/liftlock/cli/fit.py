"""`liftlock fit`: a distribution for a column of numbers, its goodness of fit, and the prior."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from liftlock._runtime.storage import errors_at, write_atomically, write_together
from liftlock.cli._console import Notes, show_status
from liftlock.cli._context import DOMAIN_HELP, GRID_HELP, fit_column
from liftlock.cli._options import FILE, OutputOptions, output_options
from liftlock.errors import InputError
from liftlock.files import MISSING
from liftlock.model.continuous.fit import FITS, Fit
from liftlock.model.continuous.grid import (
    DEFAULT_BINS,
    SPACINGS,
    GridPrior,
    check_bins,
    read_domain,
)
from liftlock.report.plots.fit import draw_fit
from liftlock.report.text.fit import fit_report


@click.command("fit")
@click.argument("table", type=FILE)
@click.option("--column", required=True, metavar="NAME", help="The column of numbers.")
@click.option("--domain", metavar="L:U", help=DOMAIN_HELP)
@click.option(
    "--distribution",
    "distribution",
    type=click.Choice(FITS),
    default="mixture",
    show_default=True,
    metavar="DISTRIBUTION",
    help=f"Distribution to fit: {', '.join(FITS)}.",
)
@click.option(
    "--components",
    type=int,
    metavar="K",
    help="Components of the mixture.  [default: 1 to 8, by lowest BIC]",
)
@click.option("--bins", "grid", type=int, metavar="N", help=GRID_HELP)
@click.option(
    "--spacing",
    type=click.Choice(SPACINGS),
    default="mass",
    show_default=True,
    help="Bins of equal probability or equal width.",
)
@click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="refuse",
    show_default=True,
    help="How to treat empty cells of the table.",
)
@output_options(file=("PRIOR", "Write the prior (JSON)."), plot="Draw the fit over the data")
def fit_command(
    table: Path,
    column: str,
    domain: str | None,
    distribution: str,
    components: int | None,
    grid: int | None,
    spacing: str,
    missing: str,
    output: OutputOptions,
) -> int:
    """Fit a distribution to a column of TABLE, a CSV with a header and one row per person.

    Check the goodness of fit: a release under a wrong prior can leak more than its budget. Other
    commands read the file written by -o as their --prior.

    \b
    liftlock fit staff.csv --column salary --domain 0:300000 -o prior.json
    liftlock fit staff.csv --column salary --distribution lognormal --plot fit.svg
    """
    note = Notes()
    bins = DEFAULT_BINS if grid is None else check_bins(grid)
    if domain is not None:
        read_domain(domain)
    if components is not None and distribution != "mixture":
        raise InputError(
            "only a mixture has components", value=distribution, remedy="leave out --components"
        )
    output.check({"TABLE": table})
    found = fit_column(table, column, distribution, domain, missing, note, components)
    if output.as_json and found.is_far:  # the report says it by itself
        note(found.doubt)
    with show_status("discretising"), write_together():
        with errors_at(table):
            prior = found.discretise(bins, spacing)
        if output.file is not None:
            text = json.dumps(prior.to_data(), ensure_ascii=False, indent=1)
            write_atomically(output.file, text + "\n")
            note(f"prior written to {output.file}")
        if output.plot is not None:
            draw_fit(found, output.plot)
            note(f"picture written to {output.plot}")
    output.show(note, lambda: fit_data(found, prior, output.file), lambda: fit_report(found, prior))
    return 0


def fit_data(found: Fit, prior: GridPrior, output: Path | None) -> dict[str, Any]:
    """Return the JSON form of a fit."""
    return {
        "format": "liftlock.fit",
        "version": 1,
        "law": found.choice,
        "described": found.distribution.describe(),
        "parameters": found.parameters(),
        "values": len(found.values),
        "domain": [found.lower, found.upper],
        "outside": found.outside,
        "below": found.below,
        "above": found.above,
        "distance": found.distance,
        "scores": [score.to_data() for score in found.scores],
        "cells": len(prior.grid),
        "spacing": prior.grid.spacing,
        "narrowest": float(prior.grid.widths.min()),
        "widest": float(prior.grid.widths.max()),
        "file": None if output is None else str(output),
    }
