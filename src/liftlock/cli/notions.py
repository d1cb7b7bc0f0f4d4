"""`liftlock notions`: the privacy notions and their syntax."""

from __future__ import annotations

import click

from liftlock.cli._console import show
from liftlock.notions.registry import REGISTRY
from liftlock.report.text.audit import notions_table


@click.command("notions")
def notions_command() -> int:
    """List the privacy notions and their syntax in --check."""
    show(notions_table(REGISTRY))
    return 0
