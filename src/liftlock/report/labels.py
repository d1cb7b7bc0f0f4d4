"""Labels as people see them: no control characters, and not longer than there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from liftlock.alphabet import Label

_JOINERS = "\u200c\u200d"
"""Invisible, but part of how Persian words and many emoji are written."""


def printable(text: str) -> str:
    r"""Write control characters (which could move the cursor or hide text) as escapes.

    >>> print(printable("two\nlines, a \x1b[31mred herring, naïve"))
    two\nlines, a \x1b[31mred herring, naïve
    """
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() or mark in _JOINERS else repr(mark)[1:-1] for mark in text
    )


def cut(text: str, cells: int) -> str:
    """Shorten a text to so many terminal cells (a Chinese character takes two).

    >>> cut("craft and repair", 9), cut("漢字漢字", 6), cut("short", 9)
    ('craft an…', '漢字…', 'short')
    """
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…"


def shown(label: Label, cells: int = 24) -> str:
    """Write a label, text in quotation marks, shortened to so many cells.

    >>> shown("flu"), shown(3), shown(("a", 1))
    ('"flu"', '3', "('a', 1)")
    """
    if isinstance(label, str):
        return f'"{cut(printable(label), cells)}"'
    return cut(printable(str(label)), cells)


def shown_pair(pair: Label, cells: int = 24) -> str:
    """Write a pair (profile, value) in words.

    >>> shown_pair(("ann", "idle")), shown_pair(("bob", 9))
    ('"ann" with value "idle"', '"bob" with value 9')
    """
    if not isinstance(pair, tuple) or len(pair) != 2:
        return shown(pair, cells)
    return f"{shown(pair[0], cells)} with value {shown(pair[1], cells)}"


def told_apart(labels: Sequence[Label], cells: int = 24) -> list[str]:
    """Shorten many labels; those that would look the same get their position.

    >>> told_apart(["red", "rather long, one", "rather long, two"], 12)
    ['red', 'rather… (2)', 'rather… (3)']
    """
    texts = [cut(printable(str(label)), cells) for label in labels]
    seen = Counter(texts)
    for position, (text, label) in enumerate(zip(texts, labels, strict=True)):
        if seen[text] > 1:
            number = f" ({position + 1})"
            texts[position] = cut(printable(str(label)), cells - len(number)) + number
    return texts
