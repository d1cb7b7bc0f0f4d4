"""`liftlock audit`: every notion of a channel, exact, with witnesses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from liftlock.cli.asked import check_different, check_output, read_claims
from liftlock.cli.console import Notes, make_console, working
from liftlock.cli.options import FILE, agreed_context, context_options
from liftlock.cli.profiles.audit import audit_edges
from liftlock.cli.profiles.options import (
    ProfileChannel,
    graph_files,
    graph_options,
    inputs_of,
    read_either,
)
from liftlock.cli.verdicts import Verdicts
from liftlock.exact.budget import Budget
from liftlock.notions.audit import audit
from liftlock.notions.base import read_order
from liftlock.progress import Step
from liftlock.report.curve import check_curve, draw_curve
from liftlock.report.heatmap import check_drawable, draw_lifts
from liftlock.report.pictures import check_picture
from liftlock.report.text import audit_report


@click.command("audit", short_help="Measure every privacy notion of a channel, exactly.")
@click.argument("channel", type=FILE)
@context_options
@graph_options
@click.option(
    "--impossible",
    type=click.Choice(["refuse", "ignore"]),
    help="Inputs that the channel accepts and the prior calls impossible.  [default: refuse; for "
    "profiles, what a mechanism file lists is listed]",
)
@click.option("--alpha", metavar="A", help="Also the measures of order A (a number, or inf).")
@click.option("--at-epsilon", metavar="E", help="Also the deltas of (E, delta)-LIP and -LDP.")
@click.option(
    "--check",
    "claims",
    multiple=True,
    metavar="NOTION=VALUE",
    help="Exit 1 when it does not hold, e.g. lip=1 or alip=1.3,0.7. Repeatable.",
)
@click.option(
    "--plot",
    type=FILE,
    metavar="PICTURE",
    help="Draw the lifts as a heat map, or the graph of profiles (.png, .svg or .pdf).",
)
@click.option(
    "--plot-curve",
    type=FILE,
    metavar="PICTURE",
    help="Draw delta against epsilon (.png, .svg or .pdf).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what fails.")
def audit_command(
    channel: Path,
    alpha: str | None,
    at_epsilon: str | None,
    claims: tuple[str, ...],
    impossible: Any,
    plot: Path | None,
    plot_curve: Path | None,
    as_json: bool,
    quiet: bool,
    profiles: Path | None,
    edges: Path | None,
    groups: Path | None,
    graph: Any,
    **context_paths: Any,
) -> int:
    """Measure every privacy notion of CHANNEL, exactly, with witnesses.

    CHANNEL is a mechanism file (JSON) or a CSV matrix of probabilities: first column inputs,
    header outputs. The context is a prior (the secret is the value itself), a joint of a secret
    and the value, or a set of priors; a mechanism file brings its own. For a graph of profiles
    (--profiles) the loss of every edge is measured.

    \b
    liftlock audit channel.csv --prior prior.csv
    liftlock audit channel.csv --joint joint.csv --check alip=1.3,0.7
    liftlock audit channel.csv --prior prior.csv --json --alpha 2
    liftlock audit channel.csv --profiles profiles.csv --edges edges.csv

    `liftlock notions` lists what --check understands. Exit code 1: a check failed; 2: bad input.
    """
    if alpha is not None:
        read_order(alpha)
    if at_epsilon is not None:
        Budget.of(at_epsilon, name="--at-epsilon")
    guarantees = read_claims(claims, alpha=alpha, at_epsilon=at_epsilon)
    files = graph_files(profiles, edges, groups, graph)
    inputs = {"CHANNEL": channel, **context_paths, **inputs_of(files)}
    for option, picture in (("--plot", plot), ("--plot-curve", plot_curve)):
        if picture is not None:
            check_picture(picture)
            check_output(picture, inputs, option)
    check_different(plot, plot_curve, "--plot", "--plot-curve")
    note = Notes()
    read = read_either(channel, files, context_paths, note)
    if isinstance(read, ProfileChannel):
        for option, given in (
            ("--alpha", alpha),
            ("--at-epsilon", at_epsilon),
            ("--plot-curve", plot_curve),
        ):
            if given is not None:
                raise click.UsageError(f"{option} does not go with a graph of profiles")
        return audit_edges(read, guarantees, impossible, plot, note, as_json=as_json, quiet=quiet)
    impossible = impossible or "refuse"
    context = agreed_context(read, channel, context_paths, note, impossible)
    if plot is not None:
        check_drawable(context)
    if plot_curve is not None:
        check_curve(context)
    with working("auditing") as progress:
        verdicts = Verdicts.of(read.channel, context, guarantees, impossible)
        result = audit(
            read.channel,
            context,
            alpha=alpha,
            at_epsilon=at_epsilon,
            impossible=impossible,
            progress=progress,
        )
        if plot is not None:
            progress(Step("heat map"))
            draw_lifts(result, plot)
            note(f"heat map written to {plot}")
        if plot_curve is not None:
            draw_curve(result, plot_curve, progress)
            note(f"curve written to {plot_curve}")
    report = audit_report(result, make_console().width)
    return verdicts.show(result.to_data(), report, note, as_json=as_json, quiet=quiet)
