"""Rows that are sorted or grouped by what is to be hidden: their order stays, and tells it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from liftlock.errors import InputError
from liftlock.protection.learning import MOST_VALUES, countable

_ENOUGH = 30
"""In fewer rows, order may be chance."""
_CHANCE = 6.0
"""So many standard errors fewer changes from row to row than in a random order are no chance."""
_MOST = 0.9
"""So large a share of steps in one direction makes numbers sorted."""


@dataclass
class RowOrder:
    """How often a column changes from one row to the next, batch after batch.

    >>> grouped, mixed = RowOrder("sex"), RowOrder("sex")
    >>> grouped.add(pa.record_batch({"sex": ["f"] * 50 + ["m"] * 50}))
    >>> mixed.add(pa.record_batch({"sex": ["f", "m", "m", "f"] * 25}))
    >>> grouped.tells(), mixed.tells()
    (True, False)
    """

    column: str
    sizes: Counter[Any] = field(default_factory=Counter)
    steps: int = 0
    changes: int = 0
    ups: int = 0
    downs: int = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Look at the rows of one batch."""
        try:
            cells = countable(batch.column(self.column), self.column)
        except InputError:
            return
        known = cells.dictionary_encode(null_encoding="encode")
        codes = known.indices.to_numpy(zero_copy_only=False)
        self.steps += max(len(codes) - 1, 0)
        self.changes += int((codes[1:] != codes[:-1]).sum())
        if len(self.sizes) <= MOST_VALUES:
            sizes = np.bincount(codes, minlength=len(known.dictionary)).tolist()
            self.sizes.update(dict(zip(known.dictionary.to_pylist(), sizes, strict=True)))
        try:
            numbers = pc.drop_null(cells).cast(pa.float64(), safe=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return  # texts, in which neighbours that are equal are enough to look for
        steps = np.diff(numbers.to_numpy(zero_copy_only=False))
        self.ups += int((steps > 0).sum())
        self.downs += int((steps < 0).sum())

    def tells(self) -> bool:
        """Tell whether equal values are next to each other, or numbers ascend or descend."""
        rows = sum(self.sizes.values())
        if rows < _ENOUGH or not self.steps:
            return False
        moves = self.ups + self.downs
        if moves >= _ENOUGH and max(self.ups, self.downs) >= _MOST * moves:
            return True
        same = sum((size / rows) ** 2 for size in self.sizes.values())
        expected = self.steps * (1 - same)
        error = math.sqrt(self.steps * same * (1 - same))
        return 2 * self.changes < expected and expected - self.changes > _CHANCE * error
