"""Follow a journey through the code: which modules and functions it visits, in which order.

A journey is easy to read if it visits few modules, seldom changes between them, and seldom comes
back. All of this is counted among the first visits to each function, in the main thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import liftlock

SOURCE = Path(liftlock.__file__).parent


@dataclass
class Trace:
    """The functions that were visited, in the order of their first visits."""

    visits: dict[CodeType, str] = field(default_factory=dict)

    def _event(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        # Bodies of modules and classes run when something is imported, wherever that happens.
        if event == "call" and code not in self.visits and "<module>" not in code.co_qualname:
            self.visits[code] = code.co_filename

    @property
    def functions(self) -> list[tuple[str, str]]:
        """Return the module and the name of each function of the library, by first visit."""
        root = str(SOURCE) + "/"
        return [
            (place.removeprefix(root).removesuffix(".py"), code.co_qualname)
            for code, place in self.visits.items()
            if place.startswith(root) and not code.co_name.startswith("<")
        ]

    @property
    def path(self) -> list[str]:
        """Return the modules by first visits to functions, each run of one module once."""
        modules = [module for module, _ in self.functions]
        return modules[:1] + [after for before, after in pairwise(modules) if before != after]

    @property
    def modules(self) -> list[str]:
        """Return the modules that were visited, sorted."""
        return sorted(set(self.path))

    @property
    def switches(self) -> int:
        """Return how often first visits change the module."""
        return len(self.path) - 1

    @property
    def room_switches(self) -> int:
        """Return how often first visits change the room of the house."""
        return sum(room(a) != room(b) for a, b in pairwise(self.path))

    @property
    def back(self) -> int:
        """Return how often first visits go from one module to another and straight back."""
        path = self.path
        return sum(a == c for a, c in zip(path, path[2:], strict=False))


def room(module: str) -> str:
    """Return the room of a module: the package or module at the top that holds it."""
    return module.split("/", 1)[0]


@contextmanager
def traced() -> Iterator[Trace]:
    """Record what runs inside the block."""
    trace = Trace()
    before = sys.getprofile()
    sys.setprofile(trace._event)
    try:
        yield trace
    finally:
        sys.setprofile(before)


def trace(journey: Callable[[], Any]) -> Trace:
    """Run a journey twice, and record the second time: the first imports, compiles and caches."""
    journey()
    with traced() as found:
        journey()
    return found
