"""The `liftlock` command, or `python -m liftlock`: Ctrl-C is answered while it is imported, too."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Import the command line and run it."""
    try:
        from liftlock.cli import main as run

        return run()
    except KeyboardInterrupt:
        sys.stderr.write("liftlock: interrupted; nothing more is written\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
