"""The `liftlock` command: what all subcommands share."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import click

from liftlock import __version__
from liftlock.cli._console import silence
from liftlock.cli._options import InOrder
from liftlock.cli.account import account_command
from liftlock.cli.audit import audit_command
from liftlock.cli.compare import compare_command
from liftlock.cli.demo import demo_command
from liftlock.cli.design import design_command
from liftlock.cli.designs import designs_command
from liftlock.cli.estimate import estimate_command
from liftlock.cli.fit import fit_command
from liftlock.cli.lock import lock_command
from liftlock.cli.notions import notions_command
from liftlock.cli.papers import papers_group
from liftlock.cli.plan import plan_command
from liftlock.cli.probe import probe_command
from liftlock.cli.profiles import profiles_group
from liftlock.cli.protect import protect_command
from liftlock.cli.relations import relations_command
from liftlock.cli.release import release_command
from liftlock.errors import LiftlockError, NotCertified, NotComposable, NotProved
from liftlock.report.format import printable

BAD_INPUT = 2
REFUSED = 1
INTERRUPTED = 130

TRACEBACK = "LIFTLOCK_TRACEBACK"
"""The environment variable that shows where an unforeseen error came from, if it is set."""


class Interrupted(Exception):
    """Somebody pressed Ctrl-C."""


class Commands(InOrder):
    """The subcommands, in the order a newcomer meets them."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; click itself would answer Ctrl-C with an empty line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="liftlock")
@click.pass_context
def group(context: click.Context) -> None:
    """Context-aware local privacy that can be checked.

    Start with `liftlock demo`, a one-minute tour on synthetic data. Then protect a table, design a
    mechanism, or audit an existing one:

    \b
    liftlock protect people.csv --column job --secret religion --epsilon 0.5 -o safe.csv
    liftlock design --prior prior.csv --epsilon 1 -o mechanism.json
    liftlock audit channel.csv --prior prior.csv
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    demo_command,
    protect_command,
    design_command,
    designs_command,
    fit_command,
    compare_command,
    plan_command,
    release_command,
    estimate_command,
    account_command,
    audit_command,
    lock_command,
    profiles_group,
    probe_command,
    relations_command,
    notions_command,
    papers_group,
):
    group.add_command(command)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; errors are one line on standard error, never a traceback.

    Exit codes: 0 fine, 1 a guarantee or a gap was refused, 2 bad input or usage, or a mistake in
    liftlock itself, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal's encoding lacks is written as an escape, not an error.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        result = group.main(args=arguments, prog_name="liftlock", standalone_mode=False)
        code = result if isinstance(result, int) else 0
    except (NotCertified, NotComposable, NotProved) as error:
        code = _fail(f"refused: {error}", REFUSED)
    except LiftlockError as error:
        code = _fail(str(error), BAD_INPUT)
    except (Interrupted, KeyboardInterrupt, click.exceptions.Abort):
        if sys.stderr.isatty():
            click.echo(err=True)
        code = _fail("interrupted; nothing more is written", INTERRUPTED)
    except click.UsageError as error:
        path = "liftlock" if error.ctx is None else error.ctx.command_path
        code = _fail(f"{error.format_message().rstrip('.')}; see {path} --help", BAD_INPUT)
    except click.ClickException as error:
        code = _fail(error.format_message(), BAD_INPUT)
    except BrokenPipeError:
        silence()
        code = 0
    except Exception as error:
        code = _fail(_unforeseen(error), BAD_INPUT)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence()
    if arguments is None:
        sys.exit(code)
    return code


def _unforeseen(error: Exception) -> str:
    """Say what nobody thought of; every foreseen refusal is a LiftlockError."""
    kind = type(error).__name__
    if os.environ.get(TRACEBACK):
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    if isinstance(error, MemoryError):
        return (
            f"out of memory ({kind}): {_brief(error)}; merge rare values, use fewer bins, or use "
            "a machine with more memory"
        )
    return (
        f"internal error, {kind}: {_brief(error)}; please report it with the command and its "
        f"files ({TRACEBACK}=1 shows where it happened)"
    )


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split()) or "no details"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _fail(text: str, code: int) -> int:
    click.echo(f"liftlock: {printable(' '.join(text.split()))}", err=True)
    return code
