"""`liftlock profiles audit`: the exact loss of every edge, with witnesses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from liftlock.cli.asked import check_output, read_claims
from liftlock.cli.console import Notes, make_console, working
from liftlock.cli.options import FILE
from liftlock.cli.profiles.options import (
    ProfileChannel,
    audit_impossible_option,
    channel_of_profiles,
    graph_files,
    graph_options,
    inputs_of,
)
from liftlock.cli.verdicts import Verdicts
from liftlock.errors import InputError
from liftlock.files import GraphFiles
from liftlock.notions.audit import audit
from liftlock.notions.base import Notion
from liftlock.progress import Step
from liftlock.report.pictures import check_picture
from liftlock.report.profile_graph import draw_graph
from liftlock.report.profiles import profile_audit_report, unprotected_text


@click.command("audit", short_help="Measure the loss of every edge, exactly.")
@click.argument("channel", type=FILE)
@graph_options
@audit_impossible_option
@click.option(
    "--check",
    "claims",
    multiple=True,
    metavar="NOTION=VALUE",
    help="Exit 1 when it does not hold, e.g. profile=1. Repeatable.",
)
@click.option(
    "--plot",
    type=FILE,
    metavar="PICTURE",
    help="Draw the graph with the loss of every edge (.png, .svg or .pdf).",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every edge.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what fails.")
def profile_audit_command(
    channel: Path,
    claims: tuple[str, ...],
    impossible: Any,
    plot: Path | None,
    as_json: bool,
    quiet: bool,
    **graph: Any,
) -> int:
    """Measure by how much each edge of a graph of profiles can be told apart, exactly.

    CHANNEL is a mechanism file, which brings its own graph, or a CSV matrix: the first column
    holds values, or the first two profile and value; the header outputs.

    \b
    liftlock profiles audit safe.json --check profile=1
    liftlock profiles audit matrix.csv --profiles profiles.csv --edges edges.csv
    """
    guarantees = read_claims(claims)
    files = graph_files(**graph)
    note = Notes()
    _check_plot(plot, channel, files)
    read = channel_of_profiles(channel, files, note)
    return audit_edges(read, guarantees, impossible, plot, note, as_json=as_json, quiet=quiet)


def _check_plot(plot: Path | None, channel: Path, files: GraphFiles) -> None:
    if plot is not None:
        check_picture(plot)
        check_output(plot, {"CHANNEL": channel} | inputs_of(files), "--plot")


def audit_edges(
    read: ProfileChannel,
    guarantees: Sequence[Notion],
    impossible: Any,
    plot: Path | None,
    note: Notes,
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Audit a channel under a graph of profiles, and print what was found."""
    table, graph, listed = read
    for guarantee in guarantees:
        if guarantee.profile_budget is None:
            raise InputError(
                f"--check {guarantee.name} is not defined for a graph of profiles",
                value=str(guarantee),
                remedy="only profile=BUDGET is",
            )
    if impossible is None:
        impossible = "ignore" if listed else "refuse"
        if listed and guarantees:
            said = f"{unprotected_text(listed)}, as the certificate of the mechanism says"
            note(f"{said}; --impossible refuse refuses them")
    with working("auditing") as progress:
        verdicts = Verdicts.of(table, graph, guarantees, impossible)
        progress(Step("edges"))
        result = audit(table, graph)
        if plot is not None:
            progress(Step("drawing"))
            draw_graph(result, plot, budget=_budget(guarantees))
            note(f"picture written to {plot}")
    report = profile_audit_report(result, make_console().width)
    return verdicts.show(result.to_data(), report, note, as_json=as_json, quiet=quiet)


def _budget(guarantees: Sequence[Notion]) -> float | None:
    """Return the smallest budget that is checked, which colours the picture."""
    budgets = [
        float(guarantee.profile_budget)
        for guarantee in guarantees
        if guarantee.profile_budget is not None
    ]
    return min(budgets, default=None)
