"""What an estimate says: numbers with intervals, how they were found, and what to beware of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from liftlock.errors import NotDefined
from liftlock.estimate.question import About, Of
from liftlock.model.alphabet import Label, label_to_json

if TYPE_CHECKING:
    from liftlock.estimate.likely_priors import Round
    from liftlock.model import Intervals

FORMAT = "liftlock.estimate"
VERSION = 1


@dataclass(frozen=True)
class Answer:
    """One number: its estimate, its standard error, and the interval around it.

    `error`, `low` and `high` are None where no valid interval is known; a remark then says why.
    """

    name: Label
    value: float
    error: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.name}: {self.value:.6g}"
        return f"{self.name}: {self.value:.6g} ({self.low:.6g} to {self.high:.6g})"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": label_to_json(self.name),
            "value": self.value,
            "error": self.error,
            "low": self.low,
            "high": self.high,
        }


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
        shares = f"{100 * self.found:.3g} % instead of {100 * self.expected:.3g} %"
        return f"{way} {self.name!r} ({shares})"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": label_to_json(self.name),
            "expected": self.expected,
            "found": self.found,
            "score": self.score,
        }


@dataclass(frozen=True)
class GoodnessOfFit:
    """The test of reports against prior and channel: the p-value, and which symbols stand out.

    `statistic` is compared with a chi-square distribution of `freedom` degrees, or, where reports
    are few, with simulated ones (`freedom` is then None). `drifts` begins with the largest misfit,
    and `note` says how the p-value was found.
    """

    p_value: float
    statistic: float
    freedom: int | None
    drifts: tuple[Drift, ...]
    note: str = ""
    shift: float | None = None
    """Of a question with one answer: how many standard errors the reports are above the prior."""
    users: bool = False
    """Whether it tests the priors of users who have one each."""

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form; a statistic that is infinite is null there."""
        return {
            "p_value": self.p_value,
            "statistic": self.statistic if math.isfinite(self.statistic) else None,
            "freedom": self.freedom,
            "drifts": [drift.to_data() for drift in self.drifts],
            "note": self.note,
            "shift": self.shift,
        }


@dataclass(frozen=True)
class Estimate:
    """Answers to one question, with the way they were found and what they rely on.

    `method` and `interval` are keys, `why` says why that method was taken, `warnings` what is wrong
    and `remarks` what is worth knowing. `total` is the number of people, or the sum of weights.
    """

    of: Of
    answers: tuple[Answer, ...]
    method: str
    why: str
    interval: str
    level: float
    about: About
    reports: int
    total: float
    fit: GoodnessOfFit | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    alone: tuple[Answer, ...] = ()
    """Beside a Bayes estimate, what the reports say without the prior: the unbiased answers."""
    assumes: str = ""
    """What is taken for true of the profiles, of a mechanism for them."""
    rounds: tuple[Round, ...] = field(default=(), repr=False, compare=False)
    """The reports behind it, as far as they speak of a population."""

    def likely_priors(self, confidence: object = "0.99") -> Intervals:
        """Return the priors that the reports allow: see `Prior.from_estimate`."""
        from liftlock.estimate.likely_priors import likely_priors

        if not self.rounds:
            raise NotDefined(
                "a set of priors",
                "this estimate: its reports are weighted, read through profiles, or of users with "
                "a prior each",
                "estimate from reports of one mechanism without weights",
            )
        return likely_priors(self.rounds, confidence)

    def __getitem__(self, name: Label) -> Answer:
        for answer in self.answers:
            if answer.name == name:
                return answer
        raise KeyError(name)

    @property
    def answer(self) -> Answer:
        """The answer to a question that has one: a survey, a sum, a mean."""
        if len(self.answers) != 1:
            raise KeyError(f"{len(self.answers)} answers; choose one by its name")
        return self.answers[0]

    @property
    def value(self) -> float:
        """The estimate of a question that has one answer."""
        return self.answer.value

    def __str__(self) -> str:
        number = f"{self.reports:,} report{'s' * (self.reports != 1)}"
        kind = "no" if self.interval == "none" else self.interval
        how = f"{kind} intervals" + f" of {100 * self.level:g} %" * (self.interval != "none")
        lines = [f"{self.of} of {number}, by {self.method}, {how}: {self.why}"]
        lines += [f"  {self._line(place)}" for place in range(len(self.answers[:_SHOWN]))]
        more = len(self.answers) - _SHOWN
        lines += [f"  and {more} more"] if more > 0 else []
        lines += [f"(assumed: {self.assumes})"] if self.assumes else []
        lines += [f"({remark})" for remark in self.remarks]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _line(self, place: int) -> str:
        if not self.alone:
            return str(self.answers[place])
        without = str(self.alone[place]).partition(": ")[2]
        return f"{self.answers[place]}; without the prior {without}"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "of": self.of,
            "method": self.method,
            "why": self.why,
            "interval": self.interval,
            "level": self.level,
            "about": self.about,
            "reports": self.reports,
            "total": self.total,
            "answers": [answer.to_data() for answer in self.answers],
            "alone": [answer.to_data() for answer in self.alone],
            "fit": None if self.fit is None else self.fit.to_data(),
            "warnings": list(self.warnings),
            "remarks": list(self.remarks),
        }
        return data | ({"assumes": self.assumes} if self.assumes else {})


_SHOWN = 40
