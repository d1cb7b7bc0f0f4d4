"""What a notion says of a channel: a value that is certainly enclosed, and who attains it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact import enclosure
from liftlock.exact.enclosure import BITS, Enclosure, nearest_float
from liftlock.exact.fingerprint import fraction_text
from liftlock.model import Prior
from liftlock.model.alphabet import Label, label_to_json


@dataclass(frozen=True)
class Witness:
    """Where a value is attained: a secret, a second secret to compare it with, an output.

    ``outputs`` is used instead of ``output`` when it takes a set of outputs, ``secrets`` when it
    takes a set of secrets, ``prior`` when a set of priors has a worst member, ``given`` the value
    that observers see too, where a guarantee is for each of them.
    """

    secret: Label | None = None
    output: Label | None = None
    other: Label | None = None
    secrets: tuple[Label, ...] | None = None
    outputs: tuple[Label, ...] | None = None
    prior: Prior | None = None
    given: Label | None = None

    def __str__(self) -> str:
        parts = []
        if self.given is not None:
            parts.append(f"given {quote_label(self.given)}")
        if self.secret is not None:
            parts.append(f"secret {quote_label(self.secret)}")
        if self.other is not None:
            parts.append(f"against {quote_label(self.other)}")
        if self.secrets is not None:
            parts.append(f"secrets {_several(self.secrets)}")
        if self.output is not None:
            parts.append(f"output {quote_label(self.output)}")
        if self.outputs is not None:
            parts.append(f"outputs {_several(self.outputs)}" if self.outputs else "no outputs")
        if self.prior is not None:
            parts.append(str(self.prior))
        return ", ".join(parts)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data: dict[str, Any] = {}
        for name in ("given", "secret", "other", "output"):
            value = getattr(self, name)
            if value is not None:
                data[name] = label_to_json(value)
        for name in ("secrets", "outputs"):
            values = getattr(self, name)
            if values is not None:
                data[name] = [label_to_json(value) for value in values]
        if self.prior is not None:
            data["prior"] = self.prior.to_data()
        return data


@dataclass(frozen=True)
class Measurement:
    """A measured leakage: its enclosure, the exact ratio if it is a logarithm, a witness.

    `unit` is ``"nats"`` for logarithms and ``""`` for plain numbers.
    """

    notion: str
    value: Enclosure
    unit: str
    ratio: Fraction | None = None
    witness: Witness | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.value, Enclosure):
            raise InputError(
                "a measurement is an enclosure of exact numbers",
                value=type(self.value).__name__,
                remedy="give Enclosure.of(Fraction(...)), or one whose ends are on both sides",
            )

    @classmethod
    def of_ratio(
        cls, notion: str, ratio: Fraction | None, witness: Witness | None, bits: int = BITS
    ) -> Measurement:
        """Make the measurement ln(ratio); None is an infinite ratio."""
        value = Enclosure.infinity() if ratio is None else enclosure.log(ratio, bits)
        return cls(notion, value, "nats", ratio, witness)

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        place = f" ({self.witness})" if self.witness is not None and str(self.witness) else ""
        return f"{self.notion} {self.value}{unit}{place}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data: dict[str, Any] = {"value": number_to_json(self.value), "unit": self.unit}
        if not self.value.is_infinite:
            data["enclosure"] = ends_to_json(self.value)
        if self.ratio is not None:
            data["ratio"] = fraction_text(self.ratio)
        if self.witness is not None:
            data["witness"] = self.witness.to_data()
        return data


def number_to_json(value: Enclosure) -> float | str:
    """Return a float, or the text "inf" (also for numbers beyond the largest float)."""
    number = float(value)
    return "inf" if math.isinf(number) else number


def ends_to_json(value: Enclosure) -> list[str]:
    """Return both ends of a finite enclosure as exact text."""
    assert value.upper is not None
    return [fraction_text(value.lower), fraction_text(value.upper)]


T = TypeVar("T", bound=Fraction | Enclosure)


def exact_maximum(
    estimates: npt.NDArray[np.float64], error: float, evaluate: Callable[[int], T]
) -> tuple[T, int]:
    """Find the true maximum of many values: floats screen, exact values decide.

    `estimates` are within `error` of the true values, none of them NaN; only those that could still
    be the maximum are evaluated exactly, best first. An infinite `error` evaluates all. Of values
    that are enclosed, the enclosure of the maximum is returned, which need not be the enclosure of
    any one of them.
    """
    order = np.argsort(-estimates, kind="stable")
    best: T | None = None
    best_index = -1
    for index in order:
        if best is not None and estimates[index] + error < nearest_float(_lower(best)) - error:
            break
        value = evaluate(int(index))
        if best is None:
            best, best_index = value, int(index)
            continue
        if _lower(value) > _lower(best):
            best_index = int(index)
        best = cast("T", _larger(best, value))
    assert best is not None
    return best, best_index


def _larger(first: Fraction | Enclosure, second: Fraction | Enclosure) -> Fraction | Enclosure:
    """Return the larger number, or the enclosure of the larger of two enclosed numbers."""
    if isinstance(first, Enclosure) and isinstance(second, Enclosure):
        return first.maximum(second)
    return max(_lower(first), _lower(second))


def _lower(value: Fraction | Enclosure) -> Fraction:
    return value.lower if isinstance(value, Enclosure) else value


def quote_label(label: Label | None) -> str:
    """Write a label for people: text in quotes."""
    return f'"{label}"' if isinstance(label, str) else str(label)


def _several(labels: tuple[Label, ...]) -> str:
    shown = ", ".join(quote_label(label) for label in labels[:4])
    return shown if len(labels) <= 4 else f"{shown} and {len(labels) - 4} more"


def screening_error(terms: int) -> float:
    """Bound the relative error of a float64 sum of `terms` products of nonnegative numbers."""
    return 8 * (terms + 16) * math.ulp(1.0)
