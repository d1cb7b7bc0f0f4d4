"""`liftlock profiles`: what only graphs of profiles have; every other command takes them too."""

from __future__ import annotations

import click

from liftlock.cli._options import OrderedGroup
from liftlock.cli.profiles.compose import compose_command
from liftlock.cli.profiles.example import example_command


@click.group(
    "profiles",
    cls=OrderedGroup,
    invoke_without_command=True,
)
@click.pass_context
def profiles_command(context: click.Context) -> None:
    """Hide which profile (which known distribution) a person's data comes from.

    Edges of a graph say which profiles must not be told apart. `liftlock design`, `compare`,
    `audit` and `lock` take a graph with --profiles, and `liftlock release` what they make.

    \b
    liftlock profiles example workstation -o .
    liftlock design --profiles profiles.csv --edges edges.csv \\
        --epsilon 1 -o safe.json
    liftlock release safe.json table.csv --column usage \\
        --profile-column user -o safe.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (example_command, compose_command):
    profiles_command.add_command(command)
