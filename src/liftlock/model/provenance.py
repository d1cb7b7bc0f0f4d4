"""Provenance: how a mechanism was designed, and how good it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from liftlock.errors import FileError, NotProved

_CLOSEST = 1e-12
_ROUNDED = 1.1
"""Integers are a little worse than the floats that a search ended with."""


@dataclass(frozen=True)
class Provenance:
    """How a mechanism was designed, and how good it is; information, not part of the proof.

    `objective` is the utility of the locked channel as people read it, `bound` the best that any
    mechanism of the notion could reach, and `gap` their certified relative distance; both are None
    where the method proves nothing. `nothing` and `truth` are the utility of releasing nothing and
    of releasing the value itself: what the objective is to be compared with.
    """

    method: str
    utility: str
    objective: float
    bound: float | None = None
    gap: float | None = None
    remarks: tuple[str, ...] = ()
    title: str = ""
    """What the number is called when people read it."""
    nothing: float | None = None
    truth: float | None = None
    kind: str = ""
    """The mechanisms that `bound` speaks of, if these are not all that keep the notion."""
    warning: str = ""
    """What was asked of the search and not reached: how close to the optimum it proves to be."""

    def __str__(self) -> str:
        text = f"{self.title or self.utility}: {self.objective:.6g}"
        if self.describe_gap():
            text += f", {self.describe_gap()}"
        if self.nothing is not None and self.truth is not None:
            text += f"; no release {self.nothing:.6g}, no noise {self.truth:.6g}"
        warned = [f"WARNING: {self.warning}"] if self.warning else []
        remarks = [f"({said})" for said in self.remarks]
        return "\n".join([f"method: {self.method}", text, *warned, *remarks])

    def describe_gap(self) -> str:
        """Say how close to the optimum the mechanism was proved to be; empty if nothing was."""
        if self.gap is None or self.bound is None:
            return ""
        # Bounds are floats: less than this is not worth a claim.
        best = f"the best {self.kind}" if self.kind else "the optimum"
        return f"proved within {gap_text(max(self.gap, _CLOSEST))} of {best}"

    def gap_warning(self, asked: float) -> str:
        """Say that the proved gap is wider than was asked for; nothing if it is not.

        >>> Provenance("optimal", "guess", 0.5, 0.4, 0.2).gap_warning(1e-6)
        'not proved optimal: the proved gap is 0.2, asked for was 1e-06; more seconds may narrow it'
        """
        if self.gap is None or self.gap <= asked * _ROUNDED + _CLOSEST:
            return ""
        return (
            f"not proved optimal: the proved gap is {gap_text(self.gap)}, asked for was "
            f"{asked:.2g}; more seconds may narrow it"
        )

    def require_gap(self, most: float) -> None:
        """Refuse a mechanism that is not proved to be this near to the optimum."""
        if self.gap is None:
            remedy = "require none" if self.method == "optimal" else "use the method optimal"
            raise NotProved(
                f"the method {self.method} proves no gap to the optimum here, and one of at most "
                f"{most:.2g} is required; {remedy}",
                None,
            )
        if not self.gap <= most:
            raise NotProved(
                f"the proved gap to the optimum is {gap_text(self.gap)}, and at most {most:.2g} is "
                "required; give it more seconds, ask for a smaller --gap, or require less",
                self.gap,
            )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        said = {"warning": self.warning} if self.warning else {}
        return said | {
            "method": self.method,
            "utility": self.utility,
            "title": self.title,
            "objective": value_to_json(self.objective),
            "bound": value_to_json(self.bound),
            "gap": self.gap,
            "nothing": value_to_json(self.nothing),
            "truth": self.truth,
            "kind": self.kind,
            "remarks": list(self.remarks),
        }

    @classmethod
    def from_data(cls, data: Any) -> Provenance:
        """Read the JSON form."""

        def number(key: str) -> float | None:
            return None if data.get(key) is None else float(data[key])

        objective = number("objective")
        if objective is None:
            raise FileError("the origin has no objective", remedy="remove it, or make it again")
        return cls(
            str(data["method"]),
            str(data["utility"]),
            objective,
            number("bound"),
            number("gap"),
            tuple(str(remark) for remark in data.get("remarks", ())),
            str(data.get("title", "")),
            number("nothing"),
            number("truth"),
            str(data.get("kind", "")),
            str(data.get("warning", "")),
        )


def value_to_json(number: float | None) -> float | str | None:
    """Return a number as JSON has it, which knows no infinity.

    >>> value_to_json(0.5), value_to_json(math.inf)
    (0.5, 'inf')
    """
    return "inf" if number is not None and math.isinf(number) else number


def gap_text(gap: float) -> str:
    """Write a gap with two digits, rounded up: what is printed was proved.

    >>> gap_text(0.46498), gap_text(5e-7), gap_text(0.0)
    ('0.47', '5e-07', '0')
    """
    short = f"{gap:.2g}"
    if float(short) < gap:
        unit = 10.0 ** (math.floor(math.log10(gap)) - 1)
        short = f"{gap + unit / 2:.2g}"
    return short
