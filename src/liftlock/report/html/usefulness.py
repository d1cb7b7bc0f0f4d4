"""What the released column is still good for: what it keeps, and what can be estimated from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.errors import LiftlockError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.result import Answer, Estimate
from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Label
from liftlock.model.continuous.grid import GridPrior
from liftlock.report.format import amount, counted, percent
from liftlock.report.html.charts import WIDE, Bar, Cell, Group, Legend, Picture, band, heat_map
from liftlock.report.html.markup import Content, named, written
from liftlock.report.html.measures import Kept, Places, numbers_of
from liftlock.report.html.tones import STEPS, share_tone
from liftlock.report.text.numbers import for_everybody, reading_of

if TYPE_CHECKING:
    from liftlock.tables.protect.result import ProtectedColumn

_MOST_CONFUSED = 20
_MOST_MARGINAL = 24
_MOST_ESTIMATED = 128
"""Histograms of more values than this are neither estimated nor drawn here."""
_DOT = 0.005
"""Less than this is a dot in the picture."""


@dataclass(frozen=True, eq=False)
class UtilityView:
    """What the released column keeps, and what it confuses."""

    key: str
    column: ProtectedColumn
    kept: Kept

    @property
    def title(self) -> str:
        """What stands over the table."""
        one = ", under one of the priors that are possible"
        return "How much is kept" + (one if self.column.mechanism.known_prior is None else "")

    @property
    def rows(self) -> list[list[Content]]:
        """What is kept, in numbers."""
        part, whole = self.kept.information()
        right, blind = self.kept.guessed()
        true = self.kept.true_share()
        rows: list[list[Content]] = [
            [
                "Information kept about the true value",
                percent(part / whole if whole else 1.0),
                f"mutual information {amount(part, 5)} of {amount(whole, 5)} nats",
            ]
        ]
        if true is not None:
            rows.append(
                ["The released value is the true one", percent(true), "on average over people"]
            )
        rows.append(
            [
                "The true value can be guessed from the released one",
                percent(right),
                f"without seeing it: {percent(blind)}",
            ]
        )
        return [*rows, *self._errors(), *self._error_of_counts()]

    def _errors(self) -> Iterator[list[Content]]:
        """Say how far released numbers are from the truth, and how far one number for all is."""
        made, kept = self.column.mechanism, self.kept
        points = numbers_of(kept.channel.inputs)
        if points is None or numbers_of(kept.channel.outputs) is None:
            return
        reading = reading_of(made) if isinstance(made.context, GridPrior) else None
        middle = for_everybody(kept.masses, points, reading or "median")
        mean = for_everybody(kept.masses, points, reading or "mean")
        found = made.accuracy()
        for words, error, nothing in (
            (
                "A released number is off by, on average",
                found.absolute,
                made.accuracy(middle).absolute,
            ),
            (
                "Its root mean squared error",
                math.sqrt(found.squared),
                math.sqrt(made.accuracy(mean).squared),
            ),
        ):
            yield [words, amount(error, 5), f"one number for everybody: {amount(nothing, 5)}"]

    def _error_of_counts(self) -> Iterator[list[Content]]:
        made, people = self.column.mechanism, sum(self.column.counts.values())
        if not people or made.known_prior is None or len(self.kept.inputs) > _MOST_ESTIMATED:
            return
        try:
            found = made.expected_error(people, method="unbiased")
        except LiftlockError:
            return
        yield [
            "Typical error of a count estimated from the released values",
            f"{amount(math.sqrt(found.total_squared / len(found.names)), 3)} people",
            f"of {people:,}; root mean square over all values",
        ]

    @property
    def band(self) -> Picture | None:
        """Where the releases of each true number fall; None for few values, and names."""
        kept = self.kept
        points, numbers = numbers_of(kept.channel.inputs), numbers_of(kept.channel.outputs)
        if points is None or numbers is None or len(points) <= _MOST_CONFUSED:
            return None
        return Picture(
            band(points, kept.masses, kept.matrix, numbers, name=self.column.name, key=self.key)
        )

    @property
    def confusion(self) -> Picture:
        """What is released for each true value."""
        kept, name = self.kept, self.column.name
        rows = np.sort(np.argsort(-kept.masses, kind="stable")[:_MOST_CONFUSED])
        shares = kept.masses @ kept.matrix
        columns = np.sort(np.argsort(-shares, kind="stable")[:_MOST_CONFUSED])
        tones = ("m", *(f"s{step}" for step in range(1, STEPS + 1)))
        marks = tuple(
            ((step + 0.5) / len(tones), f"{100 * (step / STEPS) ** 2:.0f} %")
            for step in (0, 2, 4, 6, 8)
        )
        true = kept.true_share()
        drawing = heat_map(
            [kept.inputs[x] for x in rows],
            [kept.outputs[y] for y in columns],
            [[self._cell(int(x), int(y)) for y in columns] for x in rows],
            row_title="true value",
            column_title="released value",
            title=f"What is released for each true {name}",
            description="Rows are true values, columns released values, cells the probability in "
            "per cent. "
            + (
                ""
                if true is None
                else f"On average the true value is released with {percent(true)}."
            ),
            legend=Legend("probability, in per cent", tones, marks),
            key=self.key,
        )
        left_out = ""
        if len(rows) < len(kept.inputs) or len(columns) < len(kept.outputs):
            left_out = (
                f" Shown are the {len(rows)} most common of "
                f"{counted(len(kept.inputs), 'true value')} and the {len(columns)} most common of "
                f"{counted(len(kept.outputs), 'released value')}."
            )
        return Picture(drawing, len(columns) > WIDE, left_out)

    def _cell(self, x: int, y: int) -> Cell:
        kept, share = self.kept, float(self.kept.matrix[x, y])
        few = share < _DOT
        return Cell(
            "m" if few else share_tone(share),
            "" if share == 0 else "·" if few else f"{100 * share:.0f}",
            f"{written(kept.inputs[x])} released as {written(kept.outputs[y])}: {percent(share)}",
            kept.inputs[x] == kept.outputs[y],
        )


@dataclass(frozen=True, eq=False)
class FrequencyView:
    """How often each value occurs: in truth, as released, and as estimated from that."""

    column: ProtectedColumn
    kept: Kept
    counts: tuple[int, ...]
    outside: int

    @property
    def missing(self) -> str:
        """How many cells stayed missing; empty if none did."""
        return counted(self.outside, "cell") if self.outside else ""

    @property
    def shown(self) -> str:
        """Whether the masses are true, or only expected."""
        return "true" if as_counted(self.column) else "expected"

    @cached_property
    def points(self) -> Floats | None:
        """The numbers that the values stand for."""
        return numbers_of(self.kept.channel.inputs)

    @property
    def many_numbers(self) -> bool:
        """Whether only means are compared."""
        return self.points is not None and len(self.points) > _MOST_MARGINAL

    def _estimated(self, of: str) -> Estimate | None:
        """Estimate without leaning on the prior, which here is the truth itself."""
        if len(self.kept.inputs) > _MOST_ESTIMATED:
            return None
        aggregate = Aggregate(
            self.column.mechanism.channel.fingerprint, self.counts, sum(self.counts)
        )
        try:
            # Bars stand side by side, and are compared.
            return self.column.mechanism.estimate(aggregate, of, together=True)
        except LiftlockError:
            return None

    @cached_property
    def estimate(self) -> Estimate | None:
        """The histogram, estimated from the released values."""
        return self._estimated("histogram")

    @property
    def method(self) -> str:
        """How it was estimated; empty if it was not."""
        return "" if self.estimate is None else _method(self.estimate)

    @cached_property
    def order(self) -> Places:
        """The values that are drawn."""
        by = -self.kept.masses if self.points is None else self.points
        return np.argsort(by, kind="stable")[:_MOST_MARGINAL]

    @property
    def left_out(self) -> str:
        """What is not drawn."""
        drawn, every = len(self.order), len(self.kept.inputs)
        return f" The {drawn} most common of {every:,} values are drawn." if drawn < every else ""

    @property
    def bars(self) -> list[Group]:
        """The shares of each value."""
        kept, total, estimate = self.kept, sum(self.counts), self.estimate
        released = {
            kept.inputs[x]: self.counts[kept.channel.outputs.index(kept.inputs[x])] / total
            for x in self.order
            if kept.inputs[x] in kept.channel.outputs
        }
        answers = () if estimate is None else estimate.answers
        full = 1e-12 + max(
            float(kept.masses[self.order].max()),
            *released.values(),
            *(min(1.0, answer.value / total) for answer in answers),
        )
        groups = []
        for x in self.order:
            label, mass = kept.inputs[x], float(kept.masses[x])
            bars = [Bar(self.shown, mass / full, percent(mass), "before")]
            if label in released:
                share = released[label]
                bars.append(Bar("released", share / full, percent(share), "released"))
            if estimate is not None:
                share = estimate[label].value / total
                ends = _interval(estimate[label], lambda end: end / total / full)
                text = percent(max(share, 0.0))
                bars.append(Bar("estimated", share / full, text, "highest", ends))
            groups.append(Group(named(label, 60), tuple(bars)))
        return groups

    @property
    def others(self) -> list[Label]:
        """Released values that are no true values."""
        return [label for label in self.kept.outputs if label not in self.kept.channel.inputs]

    @property
    def means(self) -> list[list[Content]]:
        """Means compared; what is assumed is only true if it was counted in the table."""
        assert self.points is not None
        first = "Mean of the true numbers"
        if not as_counted(self.column):
            first = "Mean according to what is assumed"
        rows: list[list[Content]] = [[first, amount(float(self.kept.masses @ self.points), 6), ""]]
        numbers = numbers_of(self.kept.channel.outputs)
        if numbers is not None:
            mean = float(np.dot(self.counts, numbers) / sum(self.counts))
            rows.append(["Mean of the released numbers", amount(mean, 6), "taken as they are"])
        estimate = self._estimated("mean")
        if estimate is not None:
            ends = _interval(estimate.answer, lambda end: amount(end, 6))
            said = _method(estimate)
            if ends is not None:
                said += f": {ends[0]} to {ends[1]}"
            rows.append(["Mean estimated from them", amount(estimate.answer.value, 6), said])
        return rows


def _method(estimate: Estimate) -> str:
    return f"{estimate.method}; {estimate.promise}" if estimate.promise else estimate.method


def _interval(answer: Answer, write: Callable[[float], Any]) -> tuple[Any, Any] | None:
    if answer.low is None or answer.high is None:
        return None
    return write(answer.low), write(answer.high)


def as_counted(column: ProtectedColumn) -> bool:
    """Tell whether what is assumed is what the table says: counted there, and not smoothed."""
    return column.learned and column.in_table is None
