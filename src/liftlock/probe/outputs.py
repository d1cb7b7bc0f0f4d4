"""Outputs of a black box, numbered in the order in which they are first seen."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError

UNKNOWN = -1
"""The code of an output that was not met while learning."""

MISSING = "not a number"
"""How an output that is the float NaN is called: NaN differs even from itself."""

_WIDEST_TABLE = 1 << 22


class OutputCodes:
    """A growing list of distinct outputs and their codes 0, 1, 2, ...

    >>> codes = OutputCodes(most=100)
    >>> codes.encode(["b", "a", "b"], learn=True).tolist(), codes.labels
    ([0, 1, 0], ('b', 'a'))
    >>> codes.encode(np.array(["a", "c"]), learn=False).tolist()
    [1, -1]

    Rows of a two-dimensional array are outputs as well (the bits of a unary encoding, say):

    >>> OutputCodes(most=4).encode(np.array([[0, 1], [1, 1], [0, 1]]), learn=True).tolist()
    [0, 1, 0]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._index: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._index)

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The outputs in the order of their codes."""
        return tuple(self._index)

    def encode(self, outputs: Any, *, learn: bool) -> npt.NDArray[np.int64]:
        """Return the code of every output; new ones get a code only while learning."""
        if isinstance(outputs, list | tuple):
            return self._encode_items(outputs, learn)
        array = np.asarray(outputs)
        if array.ndim == 2:
            return self._encode_items(list(map(tuple, array.tolist())), learn)
        if array.ndim != 1:
            raise InputError(
                "outputs are not a list",
                value=array.shape,
                remedy="return one output for each input",
            )
        if array.dtype.kind in "iu" and array.size:
            low, high = int(array.min()), int(array.max())
            if high - low < _WIDEST_TABLE:
                return self._encode_integers(array, low, high, learn)
        if array.dtype.char in "efd" and array.size:
            return self._encode_floats(array, learn)
        return self._encode_items(array.tolist(), learn)

    def _encode_integers(
        self, array: npt.NDArray[Any], low: int, high: int, learn: bool
    ) -> npt.NDArray[np.int64]:
        # A table lookup is some twenty times faster than hashing, and most mechanisms return codes.
        offsets = array - array.dtype.type(low)
        present = np.flatnonzero(np.bincount(offsets.astype(np.int64), minlength=high - low + 1))
        table = np.full(high - low + 1, UNKNOWN, dtype=np.int64)
        table[present] = self._encode_items((present + low).tolist(), learn)
        codes: npt.NDArray[np.int64] = table[offsets]
        return codes

    def _encode_floats(self, array: npt.NDArray[Any], learn: bool) -> npt.NDArray[np.int64]:
        # Numbers are often released many times each: sorting them is faster than hashing, too.
        distinct = np.unique(array)
        places = np.searchsorted(distinct, array)
        first = np.empty(len(distinct), dtype=np.int64)
        first[places[::-1]] = np.arange(len(array))[::-1]  # the last one written stays
        seen = np.argsort(first, kind="stable")
        table = np.empty(len(distinct), dtype=np.int64)
        table[seen] = self._encode_items(array[first[seen]].tolist(), learn)
        codes: npt.NDArray[np.int64] = table[places]
        return codes

    def _encode_items(self, items: Sequence[Any], learn: bool) -> npt.NDArray[np.int64]:
        items = [MISSING if isinstance(item, float) and item != item else item for item in items]
        try:
            if learn:
                for item in dict.fromkeys(items):
                    self._index.setdefault(item, len(self._index))
        except TypeError:
            raise InputError(
                "an output that cannot be compared",
                value=items[0],
                remedy="return numbers, text or tuples",
            ) from None
        if len(self._index) > self._most:
            raise InputError(
                f"more than {self._most} distinct outputs",
                remedy="group the outputs into fewer classes first (round or bin them)",
            )
        return np.fromiter(map(self._index.get, items, repeat(UNKNOWN)), np.int64, len(items))

    def refuse_continuous(self, draws: int) -> None:
        """Refuse outputs that hardly ever repeat: no event could be counted on them."""
        if len(self) > 1000 and 2 * len(self) > draws:
            raise InputError(
                f"{len(self)} distinct outputs in {draws} draws: they look continuous",
                remedy="group the outputs into fewer classes first (round or bin them)",
            )
