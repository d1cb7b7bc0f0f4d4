"""How commands speak: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console, RenderableType

from liftlock._runtime.progress import Progress, Step, ignore_progress

NOT_A_TERMINAL = 110
"""The width of output that goes into a file or a pipe: enough not to break lines."""


def make_console(*, error: bool = False) -> Console:
    """Return a console that does not cut numbers when the output is not a terminal."""
    console = Console(stderr=error, highlight=False, soft_wrap=False)
    if not console.is_terminal:
        return Console(stderr=error, highlight=False, width=max(console.width, NOT_A_TERMINAL))
    return console


def show(renderable: RenderableType | str, *, wrap: bool = True) -> None:
    """Print something on standard output; a command to be copied must not be wrapped by us."""
    console = make_console()
    with console.capture() as captured:
        console.print(renderable, markup=False, soft_wrap=not wrap)
    text = captured.get()
    if not console.is_terminal:
        text = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    _write(text)


def show_json(data: Any) -> None:
    """Print one JSON value on standard output, and nothing else."""
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    plain = encoding.lower().replace("-", "") != "utf8"
    _write(json.dumps(data, ensure_ascii=plain, indent=1) + "\n")


def _write(text: str) -> None:
    try:
        click.echo(text, nl=False)
    except BrokenPipeError:
        silence()


def silence() -> None:
    """Send what is still to be printed nowhere: the reader (head, less) has gone.

    The command goes on, because its exit code is still a verdict.
    """
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def warn(text: str) -> None:
    """Say on standard error what makes a result worth less than was asked for."""
    click.echo(f"WARNING: {text}", err=True)


class Notes:
    """Things worth saying that are neither result nor error; said once the result is certain.

    An error must be the only line on standard error, so notes wait until nothing can fail.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> None:
        self.texts.append(text)

    def note_overwritten(self, output: Path) -> None:
        """Note that a released table took the place of an older one."""
        self(
            f"{output} was overwritten: if the old file was shared, both releases count together; "
            "record them with liftlock account"
        )

    def show(self) -> None:
        """Print the notes on standard error."""
        for text in self.texts:
            click.echo(f"note: {text}", err=True)
        self.texts = []

    @contextmanager
    def show_if_interrupted(self) -> Iterator[None]:
        """Say what was written already when Ctrl-C ends a command."""
        try:
            yield
        except KeyboardInterrupt:
            self.show()
            raise


@contextmanager
def show_status(text: str) -> Iterator[Progress]:
    """Show what is being worked on, when somebody is looking."""
    console = make_console(error=True)
    if not console.is_terminal:
        yield ignore_progress
        return
    with console.status(text) as status:
        yield lambda step: status.update(f"{text}: {step}")


@contextmanager
def show_steps(text: str) -> Iterator[Progress]:
    """Show a bar of how far a long work has come, when somebody is looking."""
    console = make_console(error=True)
    if not console.is_terminal:
        yield ignore_progress
        return
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(text, total=None)
        yield lambda step: bar.update(
            task, description=f"{text}: {step.stage}", completed=step.done, total=step.total
        )


class ProgressBar:
    """Shows what is being done, and how far a pass over a table has come, how fast, how long yet.

    A step without a count begins something else; one with a count belongs to what was begun.

    >>> quiet = ProgressBar(None, "rows")
    >>> quiet(Step("counting"))
    >>> quiet(Step("reading", 5, 10))
    """

    def __init__(self, bar: Any, unit: str) -> None:
        self._bar = bar
        self.unit = unit
        self._task: Any = None
        self._text = ""

    def __call__(self, step: Step) -> None:
        if self._bar is None:
            return
        if step.done is None:
            self._begin(step.stage)
        else:
            self._count(step.done, step.total)

    def _begin(self, text: str) -> None:
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._text = text
        self._task = self._bar.add_task(text, total=None, rate="")

    def _count(self, done: int, total: int | None) -> None:
        if self._task is None:
            self._begin(self._text)
        task = self._bar.tasks[-1]
        if done < task.completed:  # another pass over the same table
            self._bar.reset(self._task, total=total)
        speed = task.speed or 0.0
        rate = f"{speed / 1e6:,.1f} MB/s" if self.unit == "bytes" else f"{speed:,.0f} rows/s"
        self._bar.update(self._task, completed=done, total=total, rate=rate if speed else "")


@contextmanager
def show_table_progress(text: str, unit: str = "rows") -> Iterator[ProgressBar]:
    """Show passes over a table with a bar, the rate and the time left, when somebody is looking."""
    console = make_console(error=True)
    if not console.is_terminal:
        yield ProgressBar(None, unit)
        return
    from rich import progress

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TextColumn("{task.fields[rate]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bar:
        shown = ProgressBar(bar, unit)
        shown(Step(text))
        yield shown


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Tell whether Ctrl-C was pressed: a search that it stops ends as if nothing had happened."""
    pressed = threading.Event()
    # Another thread may not handle signals, and does not get any.
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return

    def press(_number: int, _frame: FrameType | None) -> None:
        pressed.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
