"""Long lines of text on a terminal."""

from __future__ import annotations

import textwrap

from liftlock.cli._console import make_console, show


def show_indented(text: str) -> None:
    """Print lines, broken between words: what follows stands under the beginning of its line."""
    width = make_console().width
    show("\n".join(wrap(line, width) for line in text.splitlines()), wrap=False)


def wrap(line: str, width: int) -> str:
    """Break a line that is too long.

    >>> print(wrap("  one two three four", 12))
      one two
      three four
    """
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
