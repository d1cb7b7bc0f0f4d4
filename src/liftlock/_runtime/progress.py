"""How long work tells how far it has come: one callable, told one kind of step, in every room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Step:
    """What is being done, and how far it has come: `done` of `total`, where that can be counted.

    A room that knows more of its work (a search its cost and its bound) extends the class; whoever
    only shows progress needs nothing but this.

    >>> print(Step("counting"), Step("releasing", 3), Step("designing", 3, 12), sep=" | ")
    counting | releasing: 3 | designing: 3 of 12
    """

    stage: str
    done: int | None = None
    total: int | None = None

    def __str__(self) -> str:
        if self.done is None:
            return self.stage
        counted = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        return f"{self.stage}: {counted}"


Progress: TypeAlias = Callable[[Step], None]
"""Whoever is to be told."""


def ignore_progress(_: Step) -> None:
    """Tell nobody."""
