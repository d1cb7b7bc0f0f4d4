"""A command that something happens to at the k-th file event: a kill, a signal, or a full disk.

Events are what Python tells its audit hooks (files opened for writing, linked, renamed, removed,
locked, given rights; processes forked), and the calls of the system wrapped below. They are
numbered in memory that the processes of a command share, so that each number comes once.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FILE_EVENTS = ("os.link", "os.rename", "os.remove", "os.chmod", "os.fork", "fcntl.flock")
WRAPPED = ("fsync", "setsid", "waitpid", "dup")
HAPPENINGS = ("kill", "full", "full from then on", "interrupt", "terminate")


class Events:
    """Counts the file events of this process and its children, and lets one thing happen."""

    def __init__(self, at: int = 0, what: str = "kill") -> None:
        assert what in HAPPENINGS
        self.at, self.what = at, what
        self.main = os.getpid()
        self.shared = mmap.mmap(-1, 8)

    @property
    def count(self) -> int:
        """How many there were."""
        return int(struct.unpack("q", self.shared[:])[0])

    def install(self) -> None:
        """Count from now on; a hook cannot be removed, so this is for a process of its own."""
        sys.addaudithook(self._hear)
        for name in WRAPPED:
            setattr(os, name, self._wrap(name, getattr(os, name)))

    def _wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any) -> Any:
            self._happen(f"os.{name}")
            return call(*arguments)

        return wrapped

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        flags = arguments[2] if event == "open" else 0
        if event in FILE_EVENTS or (isinstance(flags, int) and flags & WRITING):
            self._happen(event)

    def _happen(self, event: str) -> None:
        number = self.count + 1
        self.shared[:] = struct.pack("q", number)
        if self.what == "full from then on":
            if 0 < self.at <= number and event in ("open", "os.link", "os.fsync"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        elif number != self.at:
            return
        elif self.what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # a kill of one's own may take a moment
        elif self.what == "full":
            if event in ("open", "os.link", "os.rename", "os.fsync", "os.fork", "fcntl.flock"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        else:
            ending = signal.SIGINT if self.what == "interrupt" else signal.SIGTERM
            os.kill(self.main, ending)


def run(folder: Path, command: Sequence[str]) -> int:
    """Run a command of liftlock in a folder, as a shell would."""
    os.chdir(folder)
    sys.argv = ["liftlock", *command]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from liftlock.__main__ import main

    try:
        return main()
    except SystemExit as end:
        return int(end.code or 0)


def run_forked(
    folder: Path, command: Sequence[str], at: int = 0, what: str = "kill"
) -> tuple[int, int, str]:
    """Run a command in a copy of this process; return its code, its events and its errors."""
    events, errors = Events(at, what), os.memfd_create("errors")
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(errors, 2)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - as at the beginning
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            events.main = os.getpid()
            events.install()
            code = run(folder, command)
            sys.stderr.flush()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said = os.pread(errors, 1 << 16, 0).decode()
    os.close(errors)
    return code, events.count, said


def main() -> None:
    """Run a command in this process, which was just started (`python -m tests.faults.victim`)."""
    at, what, folder, command = json.loads(sys.argv[1])
    Events(at, what).install()
    os._exit(run(Path(folder), command))


if __name__ == "__main__":
    main()
