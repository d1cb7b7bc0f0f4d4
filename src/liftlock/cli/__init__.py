"""The command line: one file for each command."""

from liftlock.cli.main import main

__all__ = ["main"]
