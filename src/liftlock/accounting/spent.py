"""What an accountant says: how much was spent at most, by which rule, and what it needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from liftlock.exact.budget import decimal_text
from liftlock.exact.enclosure import Enclosure
from liftlock.notions.reading import Reading, Witness

QUANTITIES = ("lip", "eps_lower", "eps_upper", "ldp")
"""What every accountant of pure notions may bound."""


@dataclass(frozen=True)
class Spent:
    """An upper bound of each leakage that an accountant knows, or its exact value.

    `exact` says that every reading is attained, by its witness. `valid` is False for what is shown
    for comparison only. `needs` says how large the computation was.
    """

    accountant: str
    readings: Mapping[str, Reading]
    exact: bool
    formula: str
    source: str
    needs: str = ""
    valid: bool = True

    def __getitem__(self, quantity: str) -> Reading:
        return self.readings[quantity]

    def __str__(self) -> str:
        kind = "=" if self.exact else "<="
        parts = [
            f"{name} {kind} {self.text(name)}{' ' * bool(reading.unit)}{reading.unit}"
            for name, reading in self.readings.items()
        ]
        return f"{self.accountant}: {', '.join(parts)}  [{self.formula}; {self.source}]"

    def text(self, quantity: str) -> str:
        """Write a number for people: the nearest if it is exact, else one that is not too small."""
        value = self.readings[quantity].value
        return str(value) if self.exact else rounded_up_text(value)

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "accountant": self.accountant,
            "exact": self.exact,
            "valid": self.valid,
            "formula": self.formula,
            "source": self.source,
            "needs": self.needs,
            "readings": {name: reading.to_data() for name, reading in self.readings.items()},
        }


def sides(
    lower: Fraction | None,
    upper: Fraction | None,
    lower_witness: Witness | None = None,
    upper_witness: Witness | None = None,
    *,
    nats: Mapping[str, Enclosure] | None = None,
) -> dict[str, Reading]:
    """Turn the ratios of both sides (None: infinite) into eps_lower, eps_upper and lip.

    `nats` are the same levels as sums of budgets, where they are: the less of both counts.

    >>> found = sides(Fraction(2), Fraction(3))
    >>> found["lip"].ratio, round(float(found["eps_lower"]), 6)
    (Fraction(3, 1), 0.693147)
    """
    told = nats or {}
    down = less_of(Reading.of_ratio("eps_lower", lower, lower_witness), told.get("eps_lower"))
    up = less_of(Reading.of_ratio("eps_upper", upper, upper_witness), told.get("eps_upper"))
    larger = down if lower is None or (upper is not None and lower >= upper) else up
    both = Reading("lip", down.value.maximum(up.value), "nats", larger.ratio, larger.witness)
    return {"lip": both, "eps_lower": down, "eps_upper": up}


def less_of(reading: Reading, told: Enclosure | None) -> Reading:
    """Take what budgets add up to, if the ratio is above it by the hair that e^budget needs."""
    ours = reading.value.upper
    if told is None or told.upper is None or (ours is not None and ours < told.upper):
        return reading
    return replace(reading, value=told)


def rounded_up_text(value: Enclosure) -> str:
    """Write a bound with six significant digits, rounded up.

    >>> rounded_up_text(Enclosure.of(Fraction(2, 3))), rounded_up_text(Enclosure.of(12345678))
    ('0.666667', '12345700')
    """
    if value.upper is None:
        return "inf"
    if value.upper == 0:
        return "0"
    step = Fraction(1)
    while value.upper / step >= 10**6:
        step *= 10
    while value.upper / step < 10**5:
        step /= 10
    return decimal_text(-(-value.upper // step) * step)
