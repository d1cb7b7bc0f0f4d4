"""Counts of a panel: people with a table each, of whom many may share one, read as sums over users.

Where priors are known person by person, and a table was designed for each distinct prior, the
reports of a table are counted by output. Every count then adds what that many users with this table
and this report add to `PerUserAggregate`, so that the sums, their classes and their intervals are
those of `liftlock.estimate.user_scores`: right for every truth, whatever the priors are worth.

With H the inverse of a table, a row for each output, the score of a report y for numbers f is
h_f(y) = sum_x H[y, x] f(x), and h_f^2 - h_(f^2) is the unbiased summand of its variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from liftlock.errors import InputError
from liftlock.estimate.aggregate import require_reports
from liftlock.estimate.api import EstimateOptions, answer
from liftlock.estimate.models.inverse import Inverse
from liftlock.estimate.models.per_user import read_users
from liftlock.estimate.per_user_aggregate import (
    UNITS,
    PerUserAggregate,
    WeightedSums,
    answer_columns,
)
from liftlock.estimate.question import Question, ask
from liftlock.estimate.result import Estimate
from liftlock.estimate.user_scores import UNREAD, ScoreClass, centre_of
from liftlock.exact.accumulation import column_sums
from liftlock.exact.integers import Floats
from liftlock.model import Prior
from liftlock.model.channel import Channel

_SUMS = ("sums", "variances", "products", "squares")


@dataclass(frozen=True, eq=False)
class PanelTable:
    """A table and the prior of the people who have it, with what a report of theirs says."""

    rows: Floats
    masses: Floats

    @classmethod
    def of(cls, channel: Channel, prior: Prior) -> PanelTable:
        """Read a table and its prior."""
        return cls(channel.floats(), prior.reordered(channel.inputs).floats())

    @cached_property
    def chances(self) -> Floats:
        """P(y) under the prior."""
        found: Floats = self.masses @ self.rows
        return found

    @cached_property
    def posteriors(self) -> Floats:
        """P(x | y), a row for each output."""
        found: Floats = (self.rows * self.masses[:, None] / self.chances).T
        return found

    @cached_property
    def inverse(self) -> Inverse:
        """The unbiased scores of least variance under the prior."""
        return Inverse.of(self.rows, self.chances)

    @cached_property
    def spread(self) -> Floats:
        """The variance that the posterior of each value has under the prior."""
        return np.maximum(self.chances @ self.posteriors**2 - self.masses**2, 0.0)

    @cached_property
    def farthest(self) -> Floats:
        """How far the posterior of each value can be from its prior."""
        found: Floats = np.abs(self.posteriors - self.masses).max(axis=0)
        return found

    @cached_property
    def reach(self) -> int:
        """The class of its users: no score of theirs is above 2^reach."""
        if not self.inverse.full or not np.isfinite(self.inverse.matrix).all():
            return UNREAD
        _, power = np.frexp(np.abs(self.inverse.matrix).max())
        return int(np.clip(power, 0, UNREAD))


@dataclass
class _Tally:
    """The users of one class: rows of what each output adds, and how often it was reported."""

    users: int = 0
    rows: dict[str, list[Floats]] = field(default_factory=lambda: {name: [] for name in _SUMS})
    expected: list[Floats] = field(default_factory=list)

    def to_class(self, reach: int) -> ScoreClass:
        """Return the exact sums of the floats that were added."""
        sums = {name: column_sums(np.concatenate(rows)) for name, rows in self.rows.items()}
        users = Fraction(self.users)
        expected = column_sums(np.array(self.expected))
        return ScoreClass(reach, self.users, users, users, Fraction(1), **sums, expected=expected)


def estimate_panel(
    tables: Iterable[tuple[PanelTable, Sequence[int]]],
    channel: Channel,
    of: str = "histogram",
    *,
    value: Any = None,
    **options: Any,
) -> Estimate:
    """Estimate from the counts of people with a table each, one of their own or shared.

    The values are those of `channel`, in its order. `options` are those of
    `liftlock.estimate.estimate`.

    >>> from liftlock import LIP, design
    >>> priors = [Prior.from_counts({"a": 3, "b": 1}), Prior.from_counts({"a": 1, "b": 2})]
    >>> made = [design(prior, LIP("1"), utility="frequencies") for prior in priors]
    >>> panel = [(PanelTable.of(each.table, p), (30, 70)) for each, p in zip(made, priors)]
    >>> found = estimate_panel(panel, made[0].table, "survey", value="a")
    >>> found.reports, found.method, found.promise
    (200, 'unbiased', 'the interval holds at 95 % whatever the truth')
    """
    question, chosen = ask(channel.inputs, of, value), EstimateOptions.of(**options)
    counted = count_panel(tables, question)
    require_reports(counted.reports)
    own, beside = read_users(counted, question)
    if beside is not None and chosen.method == "bayes":
        own, beside = beside, own
    return answer(*own, question, chosen, beside)


def count_panel(
    tables: Iterable[tuple[PanelTable, Sequence[int]]], question: Question
) -> PerUserAggregate:
    """Add up what the counts of every table say about a question."""
    single = question.is_single
    centre = centre_of(question)
    columns = None if question.of == "histogram" or single else question.values - centre
    size, people = len(question.inputs), 0
    totals = {name: np.zeros(size) for name in UNITS}
    means: list[Floats] = []
    spreads: list[Floats] = []
    tallies: dict[int, _Tally] = {}
    for table, counts in tables:
        reports = np.array([float(count) for count in counts])
        number = sum(int(count) for count in counts)
        if len(reports) != table.rows.shape[1] or reports.min() < 0:
            raise InputError("the counts do not fit the outputs", value=list(counts)[:8])
        if not number:
            continue
        people += number
        _add_posteriors(totals, table, reports, number)
        if not single:
            mean = table.posteriors @ question.values
            means.append(reports @ mean)
            rest = table.posteriors @ question.values**2 - mean**2
            spreads.append(reports @ np.maximum(rest, 0.0))
        _add_scores(tallies.setdefault(table.reach, _Tally()), table, reports, number, columns)
    sums = {
        name: tuple(round(float(each) * 2.0**bits) for each in totals[name])
        for name, bits in UNITS.items()
    }
    asked = None
    if not single and people:
        values, variances = column_sums(np.array(means)), column_sums(np.array(spreads))
        whole, nothing = Fraction(people), Fraction(0)
        asked = WeightedSums(
            answer_columns(question), values, variances, whole, nothing, weighted=False
        )
    scores = tuple(tallies[reach].to_class(reach) for reach in sorted(tallies))
    return PerUserAggregate("panel", people, **sums, asked=asked, scores=scores)


def _add_posteriors(
    totals: dict[str, Floats], table: PanelTable, reports: Floats, number: int
) -> None:
    """Add what the reports say if the priors are true."""
    posteriors, masses = table.posteriors, table.masses
    totals["posteriors"] += reports @ posteriors
    totals["squares"] += reports @ posteriors**2
    totals["priors"] += number * masses
    totals["spreads"] += number * table.spread
    totals["reaches"] = np.maximum(totals["reaches"], table.farthest)


def _add_scores(
    tally: _Tally, table: PanelTable, reports: Floats, number: int, columns: Floats | None
) -> None:
    """Add what the reports say whatever the priors are worth."""
    tally.users += number
    matrix = table.inverse.matrix
    if columns is None:
        values, variances, own = matrix, matrix**2 - matrix, table.masses
    else:
        values = matrix @ columns
        variances = values**2 - matrix @ columns**2
        own = table.masses @ columns**2
    if table.reach == UNREAD:
        values = variances = np.zeros_like(values)
    squares = values**2
    adds = (values, variances, values * variances, squares)
    for name, rows in zip(_SUMS, adds, strict=True):
        tally.rows[name].append(rows * reports[:, None])
    expected = np.maximum(table.chances @ squares - own, 0.0)
    tally.expected.append(number * (expected if table.reach != UNREAD else np.zeros_like(own)))
