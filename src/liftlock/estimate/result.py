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
VERSION = 2

NOT_KEPT = "the level is not kept"
"""What a remark says of intervals that are too rough for their promise."""

ALWAYS = "whatever the truth"
IF_TRUE = "if the prior is true"
"""The two promises of intervals: for every truth, or on average over people of the prior."""


@dataclass(frozen=True)
class Answer:
    """One number: its estimate, its standard error, and the interval around it.

    `error`, `low` and `high` are None where no valid interval is known; a remark then says why. An
    unbiased estimate can be beyond what is possible: `value` is then moved into the interval, and
    `raw` is as it was. Sums over several collections are made of raw ones.
    """

    name: Label
    value: float
    error: float | None = None
    low: float | None = None
    high: float | None = None
    raw: float | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.numbers}"

    @property
    def numbers(self) -> str:
        """The estimate and its interval, without the name."""
        if self.low is None or self.high is None:
            return f"{self.value:.6g}"
        return f"{self.value:.6g} ({self.low:.6g} to {self.high:.6g})"

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": label_to_json(self.name),
            "value": self.value,
            "error": self.error,
            "low": self.low,
            "high": self.high,
            "raw": self.raw,
        }


@dataclass(frozen=True)
class Reading:
    """Answers to the same question under the other promise: what holds if the prior is true.

    Beside a Bayes estimate, what holds whatever the truth.
    """

    holds: str
    method: str
    interval: str
    answers: tuple[Answer, ...]

    def to_data(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "holds": self.holds,
            "method": self.method,
            "interval": self.interval,
            "answers": [answer.to_data() for answer in self.answers],
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
    holds: str = ALWAYS
    """When the intervals hold at their level."""
    together: bool = False
    """Whether all intervals hold at once, instead of each by itself."""
    fit: GoodnessOfFit | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    beside: Reading | None = None
    """The answers under the other promise, if there is one."""
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

    @property
    def promise(self) -> str:
        """What the intervals promise, in a sentence; empty if there are none."""
        if self.interval == "none":
            return ""
        level, number = f"{100 * self.level:g} %", len(self.answers)
        if any(NOT_KEPT in remark for remark in self.remarks):
            return f"meant to hold at {level} {self.holds}, but {NOT_KEPT}: see the remarks"
        if number == 1:
            return f"the interval holds at {level} {self.holds}"
        every = "both" if number == 2 else f"all {number}"
        if self.together:
            return f"{every} intervals hold together at {level} {self.holds}"
        least = 100 - number * 100 * (1 - self.level)
        rest = f"; {every} together at {least:g} % or more" if least > 0 else ""
        return f"each interval holds by itself at {level} {self.holds}{rest}"

    @property
    def prior_test(self) -> str:
        """What the test of the prior says, which decides nothing; empty if there is none."""
        if self.fit is None:
            return ""
        of, it = ("priors of the users", "them") if self.fit.users else ("prior", "it")
        return (
            f"test of the {of}: p = {p_text(self.fit.p_value)} (a small p speaks against {it}, a "
            "large one proves nothing)"
        )

    def __str__(self) -> str:
        number = f"{self.reports:,} report{'s' * (self.reports != 1)}"
        kind = "no intervals" if self.interval == "none" else f"{self.interval} intervals"
        lines = [f"{self.of} of {number}, by {self.method}, {kind}: {self.why}"]
        lines += [f"  {self._line(place)}" for place in range(len(self.answers[:_SHOWN]))]
        more = len(self.answers) - _SHOWN
        lines += [f"  and {more} more"] if more > 0 else []
        lines += [f"({self.promise})"] if self.promise else []
        lines += [f"(assumed: {self.assumes})"] if self.assumes else []
        lines += [f"({self.prior_test})"] if self.prior_test else []
        lines += [f"({remark})" for remark in self.remarks]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)

    def _line(self, place: int) -> str:
        own = str(self.answers[place])
        if self.beside is None:
            return own
        return f"{own}; {self.beside.holds}: {self.beside.answers[place].numbers}"

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
            "holds": self.holds,
            "together": self.together,
            "about": self.about,
            "reports": self.reports,
            "total": self.total,
            "answers": [answer.to_data() for answer in self.answers],
            "beside": None if self.beside is None else self.beside.to_data(),
            "fit": None if self.fit is None else self.fit.to_data(),
            "warnings": list(self.warnings),
            "remarks": list(self.remarks),
        }
        return data | ({"assumes": self.assumes} if self.assumes else {})


def p_text(p_value: float) -> str:
    """Write a p-value.

    >>> p_text(0.031234), p_text(1e-9), p_text(0.0)
    ('0.031', '1e-09', '0')
    """
    return f"{p_value:.2g}"


_SHOWN = 40
