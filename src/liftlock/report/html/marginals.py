"""How often each value occurs: in truth, among the released values, and as estimated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liftlock.alphabet import Label
from liftlock.errors import LiftlockError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.result import Estimate
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.amounts import amount, counted
from liftlock.report.html.bars import Bar, Group, bar_chart
from liftlock.report.html.elements import (
    Content,
    Markup,
    figure,
    listed,
    markup,
    named,
    table,
    tag,
)
from liftlock.report.html.figures import percent
from liftlock.report.html.guarantee import as_counted
from liftlock.report.html.keeping import Kept
from liftlock.report.html.leak import numbers_of
from liftlock.report.html.usefulness import MOST_ESTIMATED

_MOST_MARGINAL = 24


def output_counts(made: Mechanism, counts: Mapping[Any, int]) -> tuple[tuple[int, ...], int]:
    """Return how often each output was released, and how many cells stayed outside.

    A missing cell is written for the output that stands for one.
    """
    outputs = made.table.outputs
    texts = {str(label): place for place, label in enumerate(outputs.labels)}
    missing = None if made.column is None else made.column.missing
    found = [0] * len(outputs)
    outside = 0
    for label, number in counts.items():
        if label is not None and label in outputs:
            found[outputs.index(label)] += number
        elif label is None and missing is not None and missing in outputs:
            found[outputs.index(missing)] += number
        elif label is not None and str(label) in texts:
            found[texts[str(label)]] += number
        else:
            outside += number
    return tuple(found), outside


def marginal_section(column: ProtectedColumn, made: Mechanism) -> Markup | None:
    """Show how often each value occurs: in truth, as released, and as estimated from that."""
    kept = Kept.of(made)
    if kept is None or not column.counts:
        return None
    counts, outside = output_counts(made, column.counts)
    total = sum(counts)
    if not total:
        return None
    aggregate = Aggregate(made.channel.fingerprint, counts, total)
    parts: list[Content] = [tag("h3", "How often each value occurs")]
    if outside:
        parts.append(
            tag("p", f"{counted(outside, 'cell')} stayed missing and are not counted here.")
        )
    points = numbers_of(kept.channel.inputs)
    if points is not None and len(points) > _MOST_MARGINAL:
        parts.append(_mean(kept, made, aggregate, points, true=as_counted(column)))
        return markup(*parts)
    estimate = _estimated(made, aggregate) if len(kept.inputs) <= MOST_ESTIMATED else None
    order = np.argsort(-kept.masses if points is None else points, kind="stable")
    order = order[:_MOST_MARGINAL]
    full = 1e-12 + max(
        float(kept.masses[order].max()),
        *(counts[kept.channel.outputs.index(label)] / total for label in _common(kept, order)),
        *(min(1.0, answer.value / total) for answer in (estimate.answers if estimate else ())),
    )
    counted_here = as_counted(column)
    shown = "true" if counted_here else "expected"
    groups = []
    for x in order:
        label = kept.inputs[x]
        bars = [Bar(shown, kept.masses[x] / full, percent(float(kept.masses[x])), "before")]
        if label in kept.channel.outputs:
            share = counts[kept.channel.outputs.index(label)] / total
            bars.append(Bar("released", share / full, percent(share), "released"))
        if estimate is not None:
            answer = estimate[label]
            ends = (
                None
                if answer.low is None or answer.high is None
                else (answer.low / total / full, answer.high / total / full)
            )
            share = answer.value / total
            bars.append(Bar("estimated", share / full, percent(max(share, 0.0)), "highest", ends))
        groups.append(Group(named(label, 60), tuple(bars)))
    caption: list[Content] = [
        "How common each value is ",
        "in the table" if counted_here else "according to what is assumed",
        f" ({shown}), and among the released values.",
    ]
    if len(order) < len(kept.inputs):
        caption.append(f" The {len(order)} most common of {len(kept.inputs):,} values are drawn.")
    if estimate is not None:
        leaning = ", which leans on what is assumed" if estimate.method == "bayes" else ""
        caption.append(
            f" Estimated from the released values with the mechanism file: {estimate.method}"
            f"{leaning}. The thin lines are intervals of 95 %."
        )
        caption += [f" Attention: {warning}." for warning in estimate.warnings]
    parts.append(figure(bar_chart(groups), caption))
    others = [label for label in kept.outputs if label not in kept.channel.inputs]
    if others:
        parts.append(tag("p", "Released values that are no true values: ", listed(others), "."))
    return markup(*parts)


def _common(kept: Kept, order: Any) -> list[Label]:
    return [kept.inputs[x] for x in order if kept.inputs[x] in kept.channel.outputs]


def _estimated(made: Mechanism, aggregate: Aggregate, of: str = "histogram") -> Estimate | None:
    """Estimate without leaning on the prior, which here is the truth itself."""
    for method in ("unbiased", "bayes"):
        try:
            return made.estimate(aggregate, of, method=method)
        except LiftlockError:
            continue
    return None


def _mean(
    kept: Kept, made: Mechanism, aggregate: Aggregate, points: Floats, *, true: bool
) -> Markup:
    """Compare means; what is assumed is only `true` if it was counted in the table."""
    first = "Mean of the true numbers" if true else "Mean according to what is assumed"
    rows: list[list[Content]] = [[first, amount(float(kept.masses @ points), 6), ""]]
    numbers = numbers_of(kept.channel.outputs)
    if numbers is not None:
        mean = float(np.dot(aggregate.counts, numbers) / aggregate.reports)
        rows.append(["Mean of the released numbers", amount(mean, 6), "taken as they are"])
    estimate = None
    if len(points) <= MOST_ESTIMATED:
        estimate = _estimated(made, aggregate, "mean")
    if estimate is not None:
        answer = estimate.answer
        interval = (
            ""
            if answer.low is None or answer.high is None
            else f"95 % interval {amount(answer.low, 6)} to {amount(answer.high, 6)}"
        )
        leaning = ", which leans on what is assumed" if estimate.method == "bayes" else ""
        said = "; ".join(part for part in (f"{estimate.method}{leaning}", interval) if part)
        rows.append(["Mean estimated from them", amount(answer.value, 6), said])
    return table("The mean", ["What", "Value", "How"], rows, numbers=(1,))
