"""`liftlock notions`: every privacy notion, and how to write it."""

from __future__ import annotations

import click

from liftlock.cli._console import show
from liftlock.notions.registry import REGISTRY
from liftlock.report.text.audit import notions_table


@click.command("notions", short_help="List every privacy notion and how to write it.")
def notions_command() -> int:
    """List every privacy notion and how to write it in --check."""
    show(notions_table(REGISTRY))
    return 0
