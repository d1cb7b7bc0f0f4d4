"""The `liftlock` command, or `python -m liftlock`; signals are answered from its first line on."""

from __future__ import annotations

import signal
import sys
from types import FrameType

INTERRUPTED = 130
TERMINATED = 143


class Terminated(BaseException):
    """The system asked us to end (SIGTERM): unlike Ctrl-C, nobody waits for a result."""


def main() -> int:
    """Import the command line and run it."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from liftlock.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("liftlock: interrupted; nothing more is written\n")
        return INTERRUPTED
    except Terminated:
        sys.stderr.write("liftlock: terminated; nothing more is written\n")
        return TERMINATED


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise Terminated


if __name__ == "__main__":
    sys.exit(main())
