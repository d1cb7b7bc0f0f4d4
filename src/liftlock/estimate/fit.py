"""Whether the reports look as the prior says they should: a goodness-of-fit test with direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liftlock.alphabet import Label, label_to_json


@dataclass(frozen=True)
class Drift:
    """One symbol that the reports see more or less often than the prior says.

    `expected` is its share by the prior, `found` the share that the reports speak for (None if they
    do not determine it), and `score` how many standard errors they are apart, with the sign.
    """

    name: Label
    expected: float
    found: float | None
    score: float

    def __str__(self) -> str:
        way = "more" if self.score > 0 else "less"
        if self.found is None:
            return f"{way} {self.name!r} than {100 * self.expected:.3g} %"
        return (
            f"{way} {self.name!r}: {100 * self.found:.3g} % instead of {100 * self.expected:.3g} %"
        )

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": label_to_json(self.name),
            "expected": self.expected,
            "found": self.found,
            "score": self.score,
        }


@dataclass(frozen=True)
class Fit:
    """The test of reports against prior and channel: the p-value, and which symbols stand out.

    `statistic` is compared with a chi-square law of `freedom` degrees, or, where reports are few,
    with simulated ones (`freedom` is then None). `drifts` begins with the largest misfit.
    """

    p_value: float
    statistic: float
    freedom: int | None
    drifts: tuple[Drift, ...]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "p_value": self.p_value,
            "statistic": self.statistic,
            "freedom": self.freedom,
            "drifts": [drift.to_data() for drift in self.drifts],
        }
