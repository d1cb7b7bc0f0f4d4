"""The `liftlock` command: what all subcommands share."""

from __future__ import annotations

import sys

import click

from liftlock import __version__
from liftlock.cli.audit import audit_command
from liftlock.cli.demo import demo_command
from liftlock.cli.lock import lock_command
from liftlock.cli.relations import notions_command, relations_command
from liftlock.errors import LiftlockError, NotCertified

BAD_INPUT = 2
REFUSED = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="liftlock")
def group() -> None:
    """Context-aware local privacy that can be checked."""


for command in (audit_command, demo_command, lock_command, notions_command, relations_command):
    group.add_command(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; errors are one line on standard error, never a traceback.

    Exit codes: 0 fine, 1 a guarantee was refused, 2 bad input or usage, 130 interrupted.
    """
    try:
        result = group.main(args=arguments, prog_name="liftlock", standalone_mode=False)
        code = int(result) if isinstance(result, int) else 0
    except NotCertified as error:
        click.echo(f"liftlock: refused: {error}", err=True)
        code = REFUSED
    except LiftlockError as error:
        click.echo(f"liftlock: {error}", err=True)
        code = BAD_INPUT
    except click.exceptions.Abort:
        click.echo("liftlock: interrupted; nothing was written", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = BAD_INPUT
    except BrokenPipeError:
        # The reader (head, less) went away: that is not an error of ours.
        sys.stderr.close()
        code = 0
    if arguments is None:
        sys.exit(code)
    return code
