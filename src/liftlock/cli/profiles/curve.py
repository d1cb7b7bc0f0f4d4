"""`liftlock profiles curve`: what profiles release as the budget grows."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import click

from liftlock.cli.asked import check_different, check_output
from liftlock.cli.compare import read_epsilons, read_methods
from liftlock.cli.console import Notes, show, show_json, stepping
from liftlock.cli.options import FILE
from liftlock.cli.profiles.options import (
    given_graph,
    graph_files,
    graph_options,
    inputs_of,
    need_profiles,
    table_options,
)
from liftlock.designs.catalogue import find_design
from liftlock.report.pictures import check_picture
from liftlock.report.profile_curves import draw_sweep
from liftlock.report.profile_sweep import Sweep, sweep
from liftlock.report.text import grid_of
from liftlock.storage import write_atomically


@click.command("curve", short_help="Show what is kept as the budget grows.")
@graph_options
@table_options
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
@click.option("--csv", "csv_file", type=FILE, metavar="FILE", help="Write every point as CSV.")
@click.option("--plot", type=FILE, metavar="PICTURE", help="Draw the curves (.png, .svg or .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def curve_command(
    epsilons: str,
    methods: str | None,
    csv_file: Path | None,
    plot: Path | None,
    as_json: bool,
    **graph: Any,
) -> int:
    """Design with several methods at several budgets, and show what they corrupt.

    Every point is a certified mechanism.

    \b
    liftlock profiles curve --profiles profiles.csv --edges edges.csv \\
        --epsilons 0.1:2:8 --plot curve.png
    """
    note = Notes()
    files = graph_files(**graph)
    need_profiles(files)
    budgets = read_epsilons(epsilons)
    names = None if methods is None else read_methods(methods)
    for name in names or ():
        find_design(name, "profiles")
    if plot is not None:
        check_picture(plot)
    for option, path in (("--csv", csv_file), ("--plot", plot)):
        if path is not None:
            check_output(path, inputs_of(files), option)
    check_different(csv_file, plot, "--csv")
    found = given_graph(files, note)
    with stepping("designing") as progress:
        result = sweep(found, budgets, methods=names, watch=progress)
    # The picture takes a while: interrupted, it leaves nothing behind.
    if plot is not None:
        draw_sweep(result, plot)
        note(f"picture written to {plot}")
    if csv_file is not None:
        write_atomically(csv_file, _csv(result))
        note(f"points written to {csv_file}")
    if as_json:
        show_json(result.to_data() | {"notes": list(note.texts)})
    else:
        _show_table(result)
    note.show()
    return 0


def _show_table(result: Sweep) -> None:
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
    show(grid)


def _csv(result: Sweep) -> str:
    rows = result.rows()
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
