"""`liftlock profiles design`: a certified mechanism for a graph of profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from liftlock._solver.problem import Step as SolverStep
from liftlock._solver.strategies import explained
from liftlock.alphabet import Alphabet, label_to_json
from liftlock.cli.asked import (
    check_different,
    check_explained,
    check_output,
    chosen_options,
    refuse_infinite,
)
from liftlock.cli.console import Notes, show, show_json, working
from liftlock.cli.options import (
    FILE,
    bits_option,
    mechanism_option,
    method_option,
)
from liftlock.cli.profiles.options import (
    given_graph,
    graph_files,
    graph_options,
    inputs_of,
    need_profiles,
    table_options,
)
from liftlock.contexts import Prior
from liftlock.designs.api import design
from liftlock.designs.catalogue import designs_for, find_design
from liftlock.designs.yardstick import ProfileYardstick, profile_yardsticks
from liftlock.errors import FileError, InputError, NotCertified
from liftlock.exact.budget import Budget
from liftlock.exact.integers import Floats
from liftlock.exact.weights import DEFAULT_BITS
from liftlock.files import GraphFiles, read_loss, read_weights
from liftlock.mechanism import Mechanism
from liftlock.notions.audit import ProfileAudit, audit
from liftlock.notions.profile import ProfilePrivacy
from liftlock.progress import Step
from liftlock.report.design import explanation
from liftlock.report.pictures import check_picture
from liftlock.report.profile_graph import draw_graph
from liftlock.report.profiles import profile_report, unprotected_text
from liftlock.utility.mean import points_of
from liftlock.utility.profile_utility import AIMS, profile_errors

_METHODS = designs_for("profiles")
_USUAL = next(iter(_METHODS))


@click.command("design", short_help="Design a certified mechanism for a graph of profiles.")
@graph_options
@table_options
@click.option("--epsilon", metavar="E", help="The budget of every edge, in nats.")
@click.option(
    "--method",
    metavar="METHOD",
    help=f"How to make it; `liftlock designs` lists all.  [default: {_USUAL}]",
)
@click.option(
    "--utility",
    type=click.Choice(AIMS),
    metavar="UTILITY",
    help=f"{', '.join(AIMS)}.  [default: minimax; distortion with --loss]",
)
@click.option(
    "--loss", type=FILE, metavar="LOSS", help="CSV for distortion: rows values, columns outputs."
)
@click.option(
    "--weights",
    type=FILE,
    metavar="WEIGHTS",
    help="CSV profile,weight: how much each profile counts.  [default: all alike]",
)
@click.option(
    "--seconds", metavar="T", help="Stop each search after T seconds with the best so far."
)
@method_option
@mechanism_option
@bits_option
@click.option(
    "--plot",
    type=FILE,
    metavar="PICTURE",
    help="Draw the graph with the loss of every edge (.png, .svg or .pdf).",
)
@click.option(
    "--explain", is_flag=True, help="Say how it was solved: which strategy was taken, and why."
)
@click.option("--no-comparison", is_flag=True, help="Make no other designs to compare with.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def profile_design_command(
    epsilon: str | None,
    method: str | None,
    utility: str | None,
    loss: Path | None,
    weights: Path | None,
    seconds: str | None,
    of_the_method: tuple[str, ...],
    output: Path | None,
    bits: int,
    plot: Path | None,
    explain: bool,
    no_comparison: bool,
    as_json: bool,
    **graph: Any,
) -> int:
    """Design a mechanism that keeps joined profiles from being told apart, and prove it.

    The profiles are given (--profiles), or counted in a table of observations (--table). What joins
    them is --edges, --groups, --graph, or --group-column of the table.

    \b
    liftlock profiles design --profiles profiles.csv --edges edges.csv \\
        --epsilon 1 -o safe.json
    liftlock profiles design --table use.csv --profile-column user \\
        --column usage --group-column role --smooth 1 --epsilon 0.5
    """
    return design_graph(
        graph_files(**graph),
        epsilon=epsilon,
        method=method,
        utility=utility,
        loss=loss,
        weights=weights,
        seconds=seconds,
        of_the_method=of_the_method,
        output=output,
        bits=bits,
        plot=plot,
        compared=not no_comparison,
        explain=explain,
        as_json=as_json,
    )


def design_graph(
    files: GraphFiles,
    *,
    epsilon: str | None,
    method: str | None,
    utility: str | None,
    loss: Path | None,
    weights: Path | None,
    seconds: str | None,
    of_the_method: tuple[str, ...],
    output: Path | None,
    bits: int,
    plot: Path | None,
    compared: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Design for the graph that files name, compare, and print what was made."""
    note = Notes()
    need_profiles(files)
    if epsilon is None:
        raise click.UsageError("how much may leak? give --epsilon")
    refuse_infinite("--epsilon", epsilon)
    notion = ProfilePrivacy(Budget.of(epsilon, name="--epsilon"))
    if utility == "distortion" and loss is None:
        raise click.UsageError("--utility distortion needs --loss: a CSV of losses")
    if loss is not None and utility not in (None, "distortion"):
        raise click.UsageError("--loss goes with --utility distortion")
    entry = find_design(method or _USUAL, "profiles")
    options = chosen_options(entry, None, seconds, of_the_method)
    steps: list[SolverStep] = []
    if explain:
        check_explained(entry)
        options["explain"] = steps.append
    _check_outputs(output, plot, inputs_of(files) | {"loss": loss, "weights": weights})
    found = given_graph(files, note)
    if utility in ("absolute", "squared"):
        _check_numbers(utility, found.inputs)
    losses = None if loss is None else square_loss(loss, found.inputs)
    shares = None if weights is None else read_weights(weights, found.profiles)
    goal: dict[str, Any] = {"utility": utility, "loss": losses, "weights": shares}
    with note.shown_if_interrupted(), working("designing") as progress:
        if entry.accepts("watch"):
            options["watch"] = progress
        try:
            made = design(found, notion, method=entry.key, bits=bits, **goal, **options)
        except NotCertified as refusal:
            if bits < DEFAULT_BITS:
                refusal.args = (f"{refusal}, or use more bits: --bits is {bits}",)
            raise
        if made.certificate.unprotected:
            note(_uncovered(made, files))
        if output is not None:
            made.save(output)
            note(f"written to {output}")
        if plot is not None:
            progress(Step("drawing"))
            draw_graph(audit(made.channel, found), plot, budget=float(notion.bound()))
            note(f"picture written to {plot}")
        rows: tuple[ProfileYardstick, ...] = ()
        if compared:
            rows = profile_yardsticks(
                found,
                notion,
                **goal,
                seconds=options.get("seconds"),
                progress=lambda step: progress(Step(f"comparing with {step.stage}")),
            )
    if as_json:
        data = design_data(made, shares, rows, output, note.texts)
        if explain:
            data["explanation"] = [asdict(step) for step in explained(steps)]
        show_json(data)
    else:
        show(profile_report(made, rows))
        if explain:
            show(explanation(explained(steps)))
    note.show()
    return 0


def _check_numbers(utility: str, values: Alphabet) -> None:
    """Refuse a distance between values that are words."""
    try:
        points_of(values, utility)
    except InputError as error:
        raise InputError(
            f"--utility {utility} needs values that are numbers",
            value=error.value,
            remedy="use minimax or hamming, or give a --loss",
        ) from None


def _uncovered(made: Mechanism, files: GraphFiles) -> str:
    """Say what is not protected, and how it would be."""
    smooth = "--smooth 1" if files.table is not None else "profiles without zeros"
    covered = f"{smooth}, or --method {_USUAL}, would cover them"
    return f"{unprotected_text(made.certificate.unprotected)}; {covered}"


def _check_outputs(output: Path | None, plot: Path | None, inputs: dict[str, Any]) -> None:
    if output is not None:
        check_output(output, inputs)
    if plot is not None:
        check_picture(plot)
        check_output(plot, inputs, "--plot")
    check_different(output, plot)


def square_loss(path: Path, values: Alphabet) -> Floats:
    """Read a loss of values and outputs, which are values too."""
    found = read_loss(path, values)
    if set(found.reproductions.labels) != set(values.labels):
        raise FileError(
            "columns that are not the values",
            where=str(path),
            value=list(found.reproductions.labels)[:5],
            remedy="give the loss one column for each value, as it has rows",
        )
    places = [found.reproductions.index(label) for label in values.labels]
    return np.array(found.loss[:, places])


def design_data(
    made: Mechanism,
    weights: Prior | None,
    rows: Sequence[ProfileYardstick],
    output: Path | None,
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the JSON form of what was designed, without the table itself."""
    found = made.audit()
    assert isinstance(found, ProfileAudit)
    origin = made.origin
    assert origin is not None
    value = profile_errors(made.table, found.graph, weights)
    return {
        "format": "liftlock.profile-design",
        "version": 1,
        **origin.to_data(),
        "certificate": made.certificate.to_data(),
        "audit": found.to_data(),
        "largest": value.largest,
        "mean_wrong": value.mean_wrong,
        "information": value.information,
        "wrong": [
            {"profile": label_to_json(name), "wrong": float(wrong)}
            for name, wrong in zip(value.names, value.wrong, strict=True)
        ],
        "comparison": [row.to_data() for row in rows],
        "file": None if output is None else str(output),
        "notes": list(notes),
    }
