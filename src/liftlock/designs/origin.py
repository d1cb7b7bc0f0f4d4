"""How a mechanism was designed, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liftlock.designs.draft import gap_text
from liftlock.errors import FileError

_CLOSEST = 1e-12


@dataclass(frozen=True)
class Origin:
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

    def __str__(self) -> str:
        text = f"{self.title or self.utility}: {self.objective:.6g}"
        if self.closeness():
            text += f", {self.closeness()}"
        if self.nothing is not None and self.truth is not None:
            text += f"; no release {self.nothing:.6g}, no noise {self.truth:.6g}"
        return "\n".join([f"made by {self.method}", text, *(f"({said})" for said in self.remarks)])

    def closeness(self) -> str:
        """Say how close to the optimum the mechanism was proved to be; empty if nothing was."""
        if self.gap is None or self.bound is None:
            return ""
        # Bounds are floats: less than this is not worth a claim.
        best = f"the best {self.kind}" if self.kind else "the optimum"
        return f"proved within {gap_text(max(self.gap, _CLOSEST))} of {best}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "method": self.method,
            "utility": self.utility,
            "title": self.title,
            "objective": self.objective,
            "bound": self.bound,
            "gap": self.gap,
            "nothing": self.nothing,
            "truth": self.truth,
            "kind": self.kind,
            "remarks": list(self.remarks),
        }

    @classmethod
    def from_data(cls, data: Any) -> Origin:
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
        )
