"""Final grades, released by each student on their own: how far the reports are from the truth.

Errors are those of the students of B, exactly: each student's row of the mechanism, with no
sampling of reports. A mechanism that is presented as private is locked, student by student.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from liftlock import (
    LDP,
    LIP,
    Context,
    Family,
    Mechanism,
    Prior,
    design,
    design_as_published,
    lock,
)
from liftlock.designs import k_rr, optimal, oue
from liftlock.utility import make_utility
from liftlock_papers.data.student_performance import read_students
from liftlock_papers.paper_000.student_priors import Knowledge, Whole, knowledge, split
from liftlock_papers.paper_000.unary_readings import at_random, median_distribution
from liftlock_papers.points import Floats, Point
from liftlock_papers.setting import Setting

SIZES = (2, 5, 10, 21)
EPSILONS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
FEW = (0.0, 1.0, 4.0)
RELEASED, SPLITS, STEPS = 50, 5, 300
_SLACK = 1e-7
"""What is locked at epsilon is designed for so much less: rounding then breaks nothing."""


@dataclass
class _Curve:
    """The errors of the splits, and the largest leakage of all students."""

    errors: list[float] = field(default_factory=list)
    leakage: float = 0.0
    budget: float = 0.0

    def add(self, error: float, leakage: float, budget: float) -> None:
        """Add what one split gave."""
        self.errors.append(error)
        self.leakage, self.budget = max(self.leakage, leakage), budget


def student_points(setting: Setting) -> Iterator[Point]:
    """Compute 000 Fig. 11."""
    students = read_students(setting.data)
    splits = range(setting.choose(SPLITS, 1))
    released = setting.choose(RELEASED, 4)
    epsilons = setting.choose(EPSILONS, FEW)
    steps = setting.choose(STEPS, 25)
    parts = [split(students.grades, released, setting.rng("students", place)) for place in splits]
    jobs = [(size, place) for size in SIZES for place in splits]
    found: dict[tuple[int, str, float], _Curve] = {}
    for size, place in setting.each(jobs, "class sizes and splits"):
        known = knowledge(students, size, *parts[place], steps)
        for epsilon in epsilons:
            for name, error, leakage, budget in released_at(known, epsilon):
                found.setdefault((size, name, epsilon), _Curve()).add(error, leakage, budget)
    for (size, name, epsilon), curve in found.items():
        mean, half = _interval(curve.errors)
        yield Point(f"{size}", name, epsilon, mean, half, curve.leakage, curve.budget)


def released_at(known: Knowledge, epsilon: float) -> Iterator[tuple[str, float, float, float]]:
    """Return name, error, leakage and budget of all mechanisms at one budget."""
    truth, everybody = known.truth, known.everybody
    size = len(everybody.labels)
    rarest = min(known.local, key=lambda prior: prior.smallest)

    def published(prior: Prior) -> Mechanism:
        return design_as_published(prior, LIP(_text(epsilon)), method="response")

    # The rarest class decides what the published response leaks, so one student has the worst.
    local = [
        response_error(prior.floats(), epsilon)[x]
        for prior, x in zip(known.local, truth, strict=True)
    ]
    yield "local priors, as published", _mean(local), leakage(published(rarest)), epsilon
    shared = response_error(everybody.floats(), epsilon)[truth]
    yield "global prior, as published", _mean(shared), leakage(published(everybody)), epsilon
    yield "local priors, certified", *_each(known.local, truth, LIP, epsilon)
    yield "global prior, certified", *_each([everybody], truth, LIP, epsilon)
    yield "bounded prior, certified", *_each(known.bounded, truth, LIP, epsilon)
    yield "LDP optimum, local priors", *_each(known.local, truth, LDP, epsilon)
    for name, budget in (("k-RR, ε-LDP", epsilon), ("k-RR, 2ε-LDP", 2 * epsilon)):
        notion = LDP(_text(budget))
        made = lock(k_rr(everybody, notion), notion, everybody)
        yield name, _mean(errors(made)[truth]), leakage(made), budget
        if budget == epsilon:
            read = errors(made, made.readings("median"))[truth]
            yield "k-RR, read by its median", _mean(read), leakage(made), budget
    notion = LDP(_text(epsilon))
    bits = lock(oue(everybody, notion), notion, everybody)
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    for name, distribution in (
        ("OUE, one of its bits", at_random(size, epsilon)),
        ("OUE, read by its median", median_distribution(everybody.floats(), epsilon)),
    ):
        yield name, _mean((distribution * apart).sum(axis=1)[truth]), leakage(bits), epsilon


def response_error(masses: Floats, epsilon: float) -> Floats:
    """Return E |Y - x| of the published response, for each x: e^-epsilon E |X - x|.

    Source: 000 eq. (19).

    >>> response_error(np.array([0.5, 0.5]), math.log(2)).tolist()
    [0.25, 0.25]
    """
    places = np.arange(len(masses))
    apart: Floats = np.abs(places[:, None] - places) @ masses
    return math.exp(-epsilon) * apart


def certified(context: Prior | Family, notion: type[LIP] | type[LDP], epsilon: float) -> Mechanism:
    """Return the mechanism with the least expected absolute error that a notion allows."""
    if epsilon == 0.0:
        return design(context, notion("0"), utility="absolute")
    utility = make_utility("absolute", context.inputs)
    draft = optimal(context, notion(_text(epsilon - _SLACK)), utility=utility)
    return lock(draft, notion(_text(epsilon)), context)


def errors(made: Mechanism, numbers: Floats | None = None) -> Floats:
    """Return E |Y - x| for each x, the outputs taken at their word or read as `numbers`."""
    if numbers is None:
        labels = made.table.outputs.labels
        middle = median_of(made.context)
        # An output that says nothing is read as the median of the prior.
        numbers = np.array([x if isinstance(x, int) else middle for x in labels], dtype=np.float64)
    places = np.arange(len(made.table.inputs))
    apart = np.abs(places[:, None] - numbers)
    expected: Floats = (made.table.floats() * apart).sum(axis=1)
    return expected


def median_of(context: Context) -> int:
    """Return the median of a prior, or of the even mixture of several."""
    priors = context.priors if isinstance(context, Family) else [context]
    masses = np.mean([prior.floats() for prior in priors if isinstance(prior, Prior)], axis=0)
    return int(np.searchsorted(masses.cumsum(), 0.5))


def leakage(made: Mechanism) -> float:
    """Return the exact leakage of a mechanism in the unit of its budget."""
    return max(float(value) for value in made.certificate.nats.values())


def _each(
    contexts: Sequence[Prior] | Sequence[Family],
    truth: Whole,
    notion: type[LIP] | type[LDP],
    epsilon: float,
) -> tuple[float, float, float]:
    """Return error, leakage and budget when each student has a mechanism, or all have the same."""
    made = [certified(context, notion, epsilon) for context in contexts]
    tables = [errors(each) for each in made]
    if len(made) == 1:
        tables = tables * len(truth)
    apart = [table[x] for table, x in zip(tables, truth, strict=True)]
    return _mean(apart), max(leakage(each) for each in made), epsilon


def _text(epsilon: float) -> str:
    """Write a budget exactly, as it is meant."""
    return f"{epsilon:.7f}".rstrip("0").rstrip(".")


def _mean(values: Sequence[float] | Floats) -> float:
    return float(np.mean(values))


def _interval(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean over the splits, and half the width of its 95 % interval (Student)."""
    if len(values) < 2:
        return _mean(values), None
    from scipy.stats import t

    deviation = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return _mean(values), float(t.ppf(0.975, len(values) - 1)) * deviation
