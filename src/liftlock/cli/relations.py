"""`liftlock relations` and `liftlock notions`: what a guarantee implies, and what there is."""

from __future__ import annotations

import json
from typing import Any

import click

from liftlock.cli.options import context_options, make_console, noting, read_context
from liftlock.notions.registry import REGISTRY, parse_claim
from liftlock.notions.relations import implied
from liftlock.report.text import notions_table, relations_table


@click.command("relations")
@click.argument("guarantee")
@context_options
@click.option("--alpha", metavar="A", help="Also the measures of order A.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def relations_command(
    guarantee: str, alpha: str | None, as_json: bool, **context_paths: Any
) -> int:
    """Say what GUARANTEE (such as lip=1) proves in every other notion.

    With a prior the bounds are sharper; without one they hold for every prior. Directions that
    do not exist are listed with the reason.
    """
    context = read_context(**context_paths, note=noting(make_console(error=True)))
    notion = parse_claim(guarantee, alpha=alpha)
    rows = implied(notion, context, alpha=alpha)
    if as_json:
        click.echo(json.dumps([row.to_data() for row in rows], ensure_ascii=False, indent=1))
    else:
        make_console().print(relations_table(str(notion), context, rows))
    return 0


@click.command("notions")
def notions_command() -> int:
    """List every privacy notion and how to write it in --check."""
    make_console().print(notions_table(REGISTRY))
    return 0
