"""`liftlock profiles`: graphs of profiles, from files to releases."""

from __future__ import annotations

import click

from liftlock.cli._options import InOrder
from liftlock.cli.profiles.compose import compose_command
from liftlock.cli.profiles.example import example_command
from liftlock.cli.profiles.release import release_command


@click.group(
    "profiles",
    cls=InOrder,
    invoke_without_command=True,
    short_help="Hide which profile data comes from: examples, releases.",
)
@click.pass_context
def profiles_group(context: click.Context) -> None:
    """Hide which profile (which known distribution) a person's data comes from.

    Edges of a graph say which profiles must not be told apart. `liftlock design`, `compare`,
    `audit` and `lock` take a graph with --profiles.

    \b
    liftlock profiles example workstation -o .
    liftlock design --profiles profiles.csv --edges edges.csv \\
        --epsilon 1 -o safe.json
    liftlock profiles release safe.json table.csv --column usage \\
        --profile-column user -o safe.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (example_command, release_command, compose_command):
    profiles_group.add_command(command)
