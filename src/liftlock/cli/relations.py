"""`liftlock relations`: the bounds that a guarantee implies in the other notions."""

from __future__ import annotations

import click

from liftlock.cli._console import Notes, show, show_json
from liftlock.cli._context import ContextOptions
from liftlock.cli._options import option_group
from liftlock.notions.registry import parse_claim
from liftlock.notions.relations import implications
from liftlock.report.text.audit import relations_table


@click.command("relations")
@click.argument("guarantee")
@option_group("context", ContextOptions)
@click.option("--alpha", metavar="A", help="Also measure the notions of order A.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def relations_command(
    guarantee: str, context: ContextOptions, alpha: str | None, as_json: bool
) -> int:
    """Bounds that GUARANTEE (e.g. lip=1) implies in the other notions.

    With a prior the bounds are sharper; without one they hold for every prior. Notions without a
    bound are listed with the reason.

    \b
    liftlock relations lip=1
    liftlock relations alip=1.3,0.7 --prior prior.csv
    """
    note = Notes()
    notion = parse_claim(guarantee, alpha=alpha)
    known = context.read(note)
    rows = implications(notion, known, alpha=alpha)
    if as_json:
        show_json([row.to_data() for row in rows])
    else:
        show(relations_table(str(notion), known, rows))
    note.show()
    return 0
