"""`liftlock profiles compose`: what several releases lose together."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from liftlock.accounting.composition import WAYS, Composition, Way, compose
from liftlock.cli._console import show, show_json, show_status
from liftlock.cli._ledger import INSIST_HELP
from liftlock.cli._options import FILE
from liftlock.cli._profiles import profile_mechanism
from liftlock.errors import FileError
from liftlock.model.alphabet import Label
from liftlock.report.format import grid_of, loss_text, printable, shown

_MOST_ROWS = 20


@click.command("compose", short_help="Total privacy loss of several releases.")
@click.argument("mechanisms", nargs=-1, required=True, type=FILE, metavar="MECHANISM...")
@click.option(
    "--of",
    "of",
    type=click.Choice(WAYS),
    required=True,
    help="What each mechanism releases: independent samples of one profile, profiles that were "
    "selected independently, or the same observation (refused).",
)
@click.option("--insist", is_flag=True, help=INSIST_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every edge.")
def compose_command(mechanisms: tuple[Path, ...], of: Way, insist: bool, as_json: bool) -> int:
    """Say what releases by several MECHANISMs lose together, exactly, for every edge.

    Name a mechanism twice for two releases by it. All must be for the same graph.

    \b
    liftlock profiles compose safe.json safe.json --of samples
    """
    made = [profile_mechanism(path) for path in mechanisms]
    for path, (_, graph) in zip(mechanisms, made, strict=True):
        if graph != made[0][1]:
            raise FileError(
                f"not the graph of {mechanisms[0]}",
                where=str(path),
                value=graph.describe(),
                remedy="compose mechanisms for the same profiles and edges",
            )
    with show_status("composing"):
        found = compose([mechanism for mechanism, _ in made], of, insist=insist)
    if as_json:
        show_json(found.to_data())
        return 0
    show(f"{printable(found.describe())}.")
    show(f"The budgets alone promise {found.promised}.")
    show("")
    _show_edges(found)
    return 0


def _show_edges(found: Composition) -> None:
    grid = grid_of()
    for name in ("edge", "loss in nats", "at"):
        grid.add_column(name, justify="right" if name.startswith("loss") else "left")
    # Exact ratios decide which edge is worse; None is infinite.
    ranked = sorted(found.edges, key=lambda e: (e.ratio is not None, -(e.ratio or 0)))
    for edge in ranked[:_MOST_ROWS]:
        loss = "infinite" if edge.ratio is None else loss_text(edge.nats, digits=6)
        grid.add_row(
            Text(f"{shown(edge.more)} against {shown(edge.less)}"),
            loss,
            Text(_outputs(edge.output)),
        )
    show(grid)
    more = len(ranked) - _MOST_ROWS
    if more > 0:
        show(f"and {more:,} more edges, which lose no more; --json lists all")


def _outputs(outputs: Label | None) -> str:
    if outputs is None:
        return ""
    parts = outputs if isinstance(outputs, tuple) else (outputs,)
    listed = ", ".join(shown(part) for part in parts[:4])
    return listed if len(parts) <= 4 else f"{listed}, ..."
