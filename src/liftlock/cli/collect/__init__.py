"""`liftlock collect`: surveys among devices that randomise, and the server that counts."""

from __future__ import annotations

import click

from liftlock.cli._options import OrderedGroup
from liftlock.cli.collect.backup import backup_command
from liftlock.cli.collect.check import check_command
from liftlock.cli.collect.close import close_command
from liftlock.cli.collect.demo import demo_command
from liftlock.cli.collect.erase import erase_command
from liftlock.cli.collect.estimate import estimate_command
from liftlock.cli.collect.export import export_command
from liftlock.cli.collect.new import new_command
from liftlock.cli.collect.next import next_command
from liftlock.cli.collect.serve import serve_command
from liftlock.cli.collect.token import token_command
from liftlock.cli.collect.verify import verify_command


@click.group("collect", cls=OrderedGroup, invoke_without_command=True)
@click.pass_context
def collect_command(context: click.Context) -> None:
    """Run a survey whose answers are randomised before they leave a device.

    The server never sees an answer, loses no report that it acknowledged, counts each once, and
    tells estimates with their intervals.

    \b
    liftlock collect demo --open
    liftlock collect new health.yaml
    liftlock collect check health.yaml
    liftlock collect serve health.yaml
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    new_command,
    check_command,
    serve_command,
    demo_command,
    estimate_command,
    export_command,
    close_command,
    next_command,
    erase_command,
    backup_command,
    verify_command,
    token_command,
):
    collect_command.add_command(command)
