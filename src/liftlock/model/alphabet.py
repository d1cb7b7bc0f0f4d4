"""A finite set of symbols in a fixed order, with names and, if they are numbers, coordinates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError, LabelError
from liftlock.exact.numbers import exact

Label: TypeAlias = Hashable
"""A symbol's name: text, an integer, a truth value, or a tuple of those (a pair of outputs)."""


@dataclass(frozen=True)
class Alphabet:
    """Labels and their indices, in order.

    >>> colours = Alphabet.of(["red", "green"])
    >>> colours.index("green"), len(colours), colours.labels
    (1, 2, ('red', 'green'))
    >>> colours.encode(["green", "red"]).tolist()
    [1, 0]
    """

    labels: tuple[Label, ...]
    coordinates: tuple[Fraction, ...] | None = None

    @classmethod
    def of(cls, labels: Iterable[Any], coordinates: Iterable[Any] | None = None) -> Alphabet:
        """Make an alphabet from labels, and optionally the number each label stands for."""
        names = tuple(plain_label(label) for label in labels)
        if not names:
            raise LabelError("the alphabet has no symbols", remedy="give at least one label")
        seen: set[tuple[type, Label]] = set()
        for position, name in enumerate(names):
            key = (type(name), name)
            if key in seen:
                raise LabelError(
                    "label given twice",
                    where=f"position {position + 1}",
                    value=name,
                    remedy="labels must be different from one another",
                )
            seen.add(key)
        if len(set(names)) != len(names):
            raise LabelError("labels such as 1 and True are equal", value=names[:8])
        points = None
        if coordinates is not None:
            points = tuple(exact(value, name="coordinate") for value in coordinates)
            if len(points) != len(names):
                raise LabelError(
                    f"{len(points)} coordinates for {len(names)} labels",
                    remedy="give one coordinate per label",
                )
        return cls(names, points)

    @classmethod
    def numbers(cls, values: Iterable[Any]) -> Alphabet:
        """Make an alphabet whose labels are numbers that are their own coordinates."""
        given = list(values)
        return cls.of(given, given)

    def __len__(self) -> int:
        return len(self.labels)

    def subset(self, places: Iterable[int]) -> Alphabet:
        """Return the symbols at some positions, with their coordinates.

        >>> Alphabet.of("abc", [1, 2, 5]).subset([0, 2]).coordinates
        (Fraction(1, 1), Fraction(5, 1))
        """
        kept = list(places)
        points = None if self.coordinates is None else tuple(self.coordinates[i] for i in kept)
        return Alphabet(tuple(self.labels[i] for i in kept), points)

    @cached_property
    def _index(self) -> dict[Label, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def __contains__(self, label: object) -> bool:
        try:
            return label in self._index
        except TypeError:  # a list, say, cannot be a label
            return False

    def index(self, label: Label) -> int:
        """Return the position of a label."""
        try:
            return self._index[plain_label(label)]
        except (KeyError, TypeError, LabelError):
            raise self._unknown(label, "") from None

    def encode(self, values: Iterable[Any] | npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Turn labels into indices; an unknown label is refused with its place."""
        if isinstance(values, np.ndarray) and values.dtype != object:
            if values.ndim != 1:
                raise InputError("values are not a column", value=values.shape)
            unique, inverse = np.unique(values, return_inverse=True)
            codes = np.empty(len(unique), dtype=np.intp)
            for position, value in enumerate(unique.tolist()):
                index = self._index.get(value)
                if index is None:
                    place = int(np.flatnonzero(inverse == position)[0])
                    raise self._unknown(value, f"value {place + 1}")
                codes[position] = index
            return codes[inverse]
        lookup = self._index
        given = values if isinstance(values, Sequence) else list(values)
        try:
            return np.fromiter((lookup[v] for v in given), dtype=np.intp, count=len(given))
        except (KeyError, TypeError):
            return np.array(
                [self._find(value, place) for place, value in enumerate(given)], dtype=np.intp
            )

    def _find(self, value: Any, place: int) -> int:
        try:
            return self._index[plain_label(value)]
        except (KeyError, TypeError, LabelError):
            raise self._unknown(value, f"value {place + 1}") from None

    def decode(self, codes: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
        """Turn indices back into labels, as an array."""
        labels: npt.NDArray[Any] = self._array[codes]
        return labels

    @cached_property
    def _array(self) -> npt.NDArray[Any]:
        kinds = {type(label) for label in self.labels}
        if kinds in ({str}, {int}, {bool}):
            natural = np.array(self.labels)
            if natural.dtype != object:
                return natural
        array = np.empty(len(self.labels), dtype=object)
        array[:] = self.labels
        return array

    def positions_in(self, other: Alphabet, *, whose: str, other_name: str) -> npt.NDArray[np.intp]:
        """Return where each of our labels stands in `other`; both must have the same labels."""
        if self.labels == other.labels:
            return np.arange(len(self.labels))
        missing = [label for label in self.labels if label not in other]
        if missing:
            raise LabelError(
                f"{whose} has a label that {other_name} lacks",
                value=missing[0],
                remedy=f"{other_name} has {_list_labels(other.labels)}",
            )
        extra = [label for label in other.labels if label not in self]
        if extra:
            raise LabelError(
                f"{other_name} has a label that {whose} lacks",
                value=extra[0],
                remedy=f"{whose} has {_list_labels(self.labels)}",
            )
        return np.array([other._index[label] for label in self.labels], dtype=np.intp)

    def paired(self, other: Alphabet) -> Alphabet:
        """Return all pairs (ours, theirs), ours changing slowest."""
        return Alphabet.of((a, b) for a in self.labels for b in other.labels)

    def _unknown(self, label: object, where: str) -> LabelError:
        return LabelError(
            "unknown label",
            where=where,
            value=label,
            remedy=f"known labels are {_list_labels(self.labels)}",
        )

    def to_data(self) -> Any:
        """Return the JSON form."""
        labels = [label_to_json(label) for label in self.labels]
        if self.coordinates is None:
            return labels
        return {"labels": labels, "coordinates": [str(point) for point in self.coordinates]}

    @classmethod
    def from_data(cls, data: Any) -> Alphabet:
        """Read the JSON form."""
        if isinstance(data, dict):
            labels, points = data.get("labels"), data.get("coordinates")
        else:
            labels, points = data, None
        if not isinstance(labels, list):
            raise LabelError("labels are not a list", value=labels)
        return cls.of([_label_from_json(label) for label in labels], points)


def label_to_json(label: Label) -> Any:
    """Return a label as a JSON value (a tuple becomes a list)."""
    return [label_to_json(part) for part in label] if isinstance(label, tuple) else label


def _label_from_json(data: Any) -> Label:
    if isinstance(data, list):
        return tuple(_label_from_json(part) for part in data)
    return plain_label(data)


def plain_label(label: Any) -> Label:
    """Return a plain Python label; numpy scalars are unwrapped, other types refused."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):
        return tuple(plain_label(part) for part in label)
    if isinstance(label, Fraction):
        return str(label)
    if isinstance(label, float):
        if label != label or label in (float("inf"), float("-inf")):
            raise LabelError("label is not a finite number", value=label)
        return label
    if isinstance(label, str | int):
        return label
    raise LabelError(
        f"label of type {type(label).__name__}",
        value=label,
        remedy="use text, numbers, booleans or tuples of those",
    )


def _list_labels(labels: Sequence[Label]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return shown if len(labels) <= 8 else f"{shown} and {len(labels) - 8} more"
