"""`liftlock profiles curve`: what profiles release as the budget grows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from liftlock.cli._console import Notes, stepping
from liftlock.cli._options import OutputOptions, option_group, output_options, write_records
from liftlock.cli._profiles import GraphOptions
from liftlock.cli.compare import read_epsilons, read_methods
from liftlock.designs.catalogue import find_design
from liftlock.report.profile_curves import draw_sweep
from liftlock.report.profile_sweep import Sweep, sweep
from liftlock.report.text import grid_of

if TYPE_CHECKING:
    from rich.table import Table


@click.command("curve", short_help="Show what is kept as the budget grows.")
@option_group("graph", GraphOptions)
@click.option(
    "--epsilons",
    metavar="LIST",
    default="0.1,0.2,0.5,1,2",
    show_default=True,
    help="Budgets, or FIRST:LAST:COUNT.",
)
@click.option(
    "--methods",
    metavar="LIST",
    help="Separated by commas.  [default: randomised response and the smooth mechanism]",
)
@output_options(csv="Write every point as CSV.", plot="Draw the curves")
def curve_command(
    graph: GraphOptions, epsilons: str, methods: str | None, output: OutputOptions
) -> int:
    """Design with several methods at several budgets, and show what they corrupt.

    Every point is a certified mechanism.

    \b
    liftlock profiles curve --profiles profiles.csv --edges edges.csv \\
        --epsilons 0.1:2:8 --plot curve.png
    """
    note = Notes()
    graph.check()
    budgets = read_epsilons(epsilons)
    names = None if methods is None else read_methods(methods)
    for name in names or ():
        find_design(name, "profiles")
    output.check(graph.inputs())
    found = graph.read(note)
    with stepping("designing") as progress:
        result = sweep(found, budgets, methods=names, watch=progress)
    # The picture takes a while: interrupted, it leaves nothing behind.
    if output.plot is not None:
        draw_sweep(result, output.plot)
        note(f"picture written to {output.plot}")
    if output.csv is not None:
        write_records(output.csv, result.rows())
        note(f"points written to {output.csv}")
    output.show(note, result.to_data, lambda: _sweep_table(result))
    return 0


def _sweep_table(result: Sweep) -> Table:
    grid = grid_of(f"{result.graph.describe()}: how often a value is turned into a wrong one")
    grid.add_column("method", no_wrap=True)
    for name in ("epsilon", "largest chance of one wrong value", "mean chance", "loss in nats"):
        grid.add_column(name, justify="right")
    for curve in result.curves:
        for place, point in enumerate(curve.points):
            grid.add_row(
                curve.method if place == 0 else "",
                f"{point.epsilon:g}",
                f"{point.largest:.4f}",
                f"{point.mean_wrong:.4f}",
                f"{math.ceil(point.loss * 1e6) / 1e6:.6f}",  # never below the truth
            )
    return grid
