"""The `liftlock` command: what all subcommands share."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from liftlock import __version__
from liftlock._runtime.naming import surviving_kills
from liftlock._runtime.registry import PluginWarning
from liftlock.errors import InputError, LiftlockError, NotCertified, NotComposable, NotProved

BAD_INPUT = 2
REFUSED = 1
INTERRUPTED = 130

TRACEBACK = "LIFTLOCK_TRACEBACK"
"""The environment variable that shows where an unforeseen error came from, if it is set."""


class Interrupted(Exception):
    """Somebody pressed Ctrl-C."""


COMMANDS = {
    "demo": "Guided tour: a survey, salaries and a table, on synthetic data.",
    "protect": "Privatise columns of a table and write a report.",
    "design": "Design a certified mechanism for a prior and a budget.",
    "designs": "List the methods that design mechanisms.",
    "fit": "Fit a distribution to a column of numbers.",
    "compare": "Privacy-utility trade-off curves of several methods.",
    "plan": "Sample size for a target margin of error.",
    "release": "Privatise a column of a table with an existing mechanism.",
    "publish": "Publish one count of a table, as a trusted curator.",
    "estimate": "Estimate from private reports, with confidence intervals.",
    "collect": "Run a survey: devices randomise, a server counts.",
    "account": "Total leakage of several releases.",
    "audit": "Measure a channel exactly under every privacy notion.",
    "lock": "Certify a matrix as a mechanism.",
    "profiles": "Graphs of profiles: examples and composition.",
    "probe": "Test a claim on recorded pairs of inputs and outputs.",
    "relations": "Bounds that a guarantee implies in the other notions.",
    "notions": "List the privacy notions and their syntax.",
}
"""What each command does, in the order a newcomer meets them; its module has its name."""

PLUG_INS = "liftlock.commands"
"""The entry points of other distributions that add a command."""

APART = {"papers": "liftlock-papers"}
"""Commands that come with a distribution of their own."""


class Commands(MutableMapping[str, click.Command]):
    """The commands by name: each is imported when it is asked for, and no other."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = _load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**COMMANDS, **plug_ins(), **self._loaded})

    def __len__(self) -> int:
        return len(list(iter(self)))


def plug_ins() -> dict[str, EntryPoint]:
    """Return the commands that other distributions add, by name."""
    found = {entry.name: entry for entry in entry_points(group=PLUG_INS)}
    return {name: found[name] for name in sorted(found.keys() - COMMANDS.keys())}


def _load(name: str) -> click.Command:
    if name in COMMANDS:
        command: click.Command = getattr(import_module(f"liftlock.cli.{name}"), f"{name}_command")
        return command
    if name in (added := plug_ins()):
        return _load_plug_in(added[name])
    if name in APART:
        raise InputError(
            f"liftlock {name} is a distribution of its own", remedy=f"pip install {APART[name]}"
        )
    raise KeyError(name)


def _load_plug_in(entry: EntryPoint) -> click.Command:
    """Import a command of somebody else, in whose code anything may be wrong."""
    try:
        loaded = entry.load()
        if not isinstance(loaded, click.Command):
            raise TypeError(f"{entry.value} is no command of click")
    except LiftlockError:
        raise
    except Exception as error:
        raise InputError(
            f"the command {entry.name!r} of {_distribution(entry)} cannot be loaded",
            value=f"{type(error).__name__}: {_brief(error)}",
            remedy="upgrade it, or uninstall it",
        ) from error
    return loaded


def _distribution(entry: EntryPoint) -> str:
    return "another distribution" if entry.dist is None else entry.dist.name


class Root(click.Group):
    """The command itself, which imports a subcommand only to run it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands = Commands()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Keep their order."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them; a plug-in is what its distribution says."""
        lines = COMMANDS | {
            name: (entry.dist.metadata["Summary"] if entry.dist else "") or ""
            for name, entry in plug_ins().items()
        }
        with formatter.section("Commands"):
            formatter.write_dl(list(lines.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; click itself would answer Ctrl-C with an empty line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


@click.group(
    cls=Root,
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; errors are one line on standard error, never a traceback.

    Exit codes: 0 fine, 1 a guarantee or a gap was refused, 2 bad input or usage, or a mistake in
    liftlock itself, 130 interrupted; `liftlock.__main__` adds 143, terminated.
    """
    for stream in (sys.stdout, sys.stderr):
        # A label that the terminal's encoding lacks is written as an escape, not an error.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    warnings.showwarning = _warn
    try:
        with surviving_kills():
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
        _silence()
        code = 0
    except Exception as error:
        code = _fail(_internal_error_text(error), BAD_INPUT)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _silence()
    if arguments is None:
        sys.exit(code)
    return code


_show_warning = warnings.showwarning


def _warn(message: Any, category: type[Warning], *rest: Any, **more: Any) -> None:
    """Say in one line that a plug-in is left out; other warnings are Python's business."""
    if issubclass(category, PluginWarning):
        _fail(str(message), 0)
    else:
        _show_warning(message, category, *rest, **more)


def _internal_error_text(error: Exception) -> str:
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


# What is needed only when something went wrong is imported then.


def _silence() -> None:
    from liftlock.cli._console import silence

    silence()


def _fail(text: str, code: int) -> int:
    from liftlock.report.format import printable

    click.echo(f"liftlock: {printable(' '.join(text.split()))}", err=True)
    return code
