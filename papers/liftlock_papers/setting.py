"""What a computation is given: how much to compute, its seeds, the data, and a bar to move."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from liftlock import Progress, Step
from liftlock_papers.data.folder import DataFolder

T = TypeVar("T")


def _ignore(_: Step) -> None:
    """Show nothing."""


@dataclass(frozen=True)
class Setting:
    """How a figure is to be computed.

    >>> quick = Setting(quick=True)
    >>> quick.choose(full=1000, quick=50)
    50
    >>> int(quick.rng("joints").integers(100)) == int(quick.rng("joints").integers(100))
    True
    """

    quick: bool = False
    data: DataFolder = field(default_factory=DataFolder)
    report: Progress = _ignore
    notes: list[str] = field(default_factory=list)
    """What the computation says about this run and its data, to be kept with the result."""

    def choose(self, full: T, quick: T) -> T:
        """Return the size of a full or of a quick run: the same code, smaller samples."""
        return quick if self.quick else full

    def rng(self, *names: str | int) -> np.random.Generator:
        """Return the numbers that belong to a name: the same ones in every run."""
        return np.random.default_rng([zlib.crc32(str(name).encode()) for name in names])

    def each(self, items: Sequence[T], what: str) -> Iterator[T]:
        """Go through the parts of a long work, and show how far it has come."""
        for place, item in enumerate(items):
            self.report(Step(what, place, len(items)))
            yield item
        self.report(Step(what, len(items), len(items)))
