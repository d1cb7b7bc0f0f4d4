"""From sums to an estimate: offsets are added to sums, and means are divided by the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

from liftlock.errors import InputError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.fit import Fit
from liftlock.estimate.intervals import Spread
from liftlock.estimate.options import Options
from liftlock.estimate.question import Question
from liftlock.estimate.result import About, Answer, Estimate
from liftlock.exact.integers import Floats


def check_weights(aggregate: Aggregate, question: Question, about: About) -> None:
    """Refuse weights and offsets that give the question no meaning."""
    if aggregate.weights is None:
        return
    if aggregate.weights.total_squares == 0:
        raise InputError(
            "all weights are 0, or too small to be squared",
            remedy="give those who count a weight, or measure in another unit",
        )
    if aggregate.weights.offset != 0:
        if question.of != "sum":
            raise InputError(
                f"offsets, but the question is {question.of}",
                remedy="ask for sum, or count the reports without offsets",
            )
        if about == "population":
            raise InputError(
                "offsets belong to the people who reported, not to a population",
                remedy="ask about people, or count the reports without offsets",
            )
    if question.of == "mean" and aggregate.weights.total == 0:
        raise InputError(
            "the weights add up to 0, so that they have no mean", remedy="ask for sum instead"
        )


@dataclass(frozen=True)
class Asked:
    """A question to counted reports, and how it is to be answered."""

    question: Question
    aggregate: Aggregate
    options: Options

    def answered(
        self,
        method: str,
        why: str,
        values: Floats,
        spread: Spread,
        fit: Fit | None,
        warnings: tuple[str, ...],
        alone: tuple[Answer, ...] = (),
    ) -> Estimate:
        """Return the estimate, given the sums and their spread."""
        return Estimate(
            self.question.of,
            self.answers(values, spread),
            method,
            why,
            spread.kind,
            self.options.level,
            self.options.about,
            self.aggregate.reports,
            self.aggregate.total,
            fit,
            warnings,
            spread.remarks,
            alone,
        )

    def answers(self, values: Floats, spread: Spread) -> tuple[Answer, ...]:
        """Return the answers, given the sums and their spread."""
        return answers_of(
            self.question, self.aggregate, values, spread.errors, spread.low, spread.high
        )


def answers_of(
    question: Question,
    aggregate: Aggregate,
    values: Floats,
    errors: Floats | None,
    low: Floats | None,
    high: Floats | None,
) -> tuple[Answer, ...]:
    """Return the answers, given the sums and their spread."""
    shift = aggregate.offset if question.of == "sum" else 0.0
    scale = aggregate.total if question.of == "mean" else 1.0
    if scale < 0:
        low, high = high, low

    def number(array: Floats | None, place: int, shift: float = 0.0) -> float | None:
        if array is None or not math.isfinite(array[place]):
            return None
        # Adding 0 turns -0 into 0.
        return float(array[place]) / scale + shift + 0.0

    found = []
    for place, name in enumerate(question.names):
        error = number(errors, place)
        found.append(
            Answer(
                name,
                float(values[place]) / scale + shift + 0.0,
                None if error is None else abs(error),
                number(low, place, shift),
                number(high, place, shift),
            )
        )
    return tuple(found)
