"""What the released column is still good for: what it keeps, and what it confuses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from liftlock.alphabet import Label
from liftlock.channel import Table
from liftlock.designs.lock import representative
from liftlock.errors import LiftlockError
from liftlock.estimate.aggregate import Aggregate
from liftlock.estimate.result import Estimate
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.protection.result import ProtectedColumn
from liftlock.report.amounts import amount
from liftlock.report.html.bars import Bar, Group, bar_chart
from liftlock.report.html.curves import band
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
from liftlock.report.html.figures import counted, percent
from liftlock.report.html.heat import WIDE, Cell, Legend, heat_map
from liftlock.report.html.leak import numbers_of
from liftlock.report.html.tones import STEPS, share_tone
from liftlock.report.released import Released
from liftlock.utility.mutual_information import entropy

_MOST_CONFUSED = 20
_DOT = 0.005
"""Less than this is a dot in the picture."""
_MOST_MARGINAL = 24
_MOST_ESTIMATED = 128
"""Histograms of more values than this are neither estimated nor drawn here."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The channel and the masses of its inputs, in float64."""

    channel: Table
    masses: Floats
    matrix: Floats

    @classmethod
    def of(cls, made: Mechanism) -> Kept | None:
        """Take them from a mechanism; None if it has no table."""
        if not isinstance(made.channel, Table):
            return None
        prior = representative(made.context).reordered(made.channel.inputs)
        return cls(made.channel, prior.floats(), made.channel.floats())

    @property
    def inputs(self) -> tuple[Label, ...]:
        """The true values."""
        return self.channel.inputs.labels

    @property
    def outputs(self) -> tuple[Label, ...]:
        """The values that may be released."""
        return self.channel.outputs.labels

    def information(self) -> tuple[float, float]:
        """Return I(X; Y) and H(X), in nats."""
        joint = self.masses[:, None] * self.matrix
        shares = joint.sum(axis=0)
        whole = float(entropy(self.masses))
        kept = whole + float(entropy(shares)) - float(entropy(joint.ravel()))
        return min(max(kept, 0.0), whole), whole

    def true_share(self) -> float | None:
        """Return the probability that the true value is released; None if outputs are others."""
        places = [
            (x, label) for x, label in enumerate(self.inputs) if label in self.channel.outputs
        ]
        if not places:
            return None
        found = self.channel.outputs
        return math.fsum(self.masses[x] * self.matrix[x, found.index(label)] for x, label in places)

    def guessed(self) -> tuple[float, float]:
        """Return how often the best guess of X is right, having seen the output and without."""
        joint = self.masses[:, None] * self.matrix
        return float(joint.max(axis=0).sum()), float(self.masses.max())


def utility_section(column: ProtectedColumn, made: Mechanism, key: str) -> Markup:
    """Say what is kept of a column."""
    kept = Kept.of(made)
    parts: list[Content] = [tag("h3", "What the released column is still good for")]
    if kept is None:
        parts.append(
            tag(
                "p",
                "Reports are encodings, not values. They are read with ",
                tag("code", "liftlock estimate"),
                ".",
            )
        )
        return markup(*parts)
    parts.append(_facts(kept, made, column))
    parts.append(_picture(kept, column, key))
    parts.append(_marginal(kept, made, column))
    return markup(*parts)


def headline(made: Mechanism) -> str:
    """Say in a few words what is kept; empty if it is not known."""
    kept = Kept.of(made)
    if kept is None:
        return ""
    part, whole = kept.information()
    words = f"{percent(part / whole if whole else 1.0)} of the information is kept"
    true = kept.true_share()
    if true is not None and numbers_of(kept.channel.outputs) is None:
        words += f"; {percent(true)} of the released values are the true ones"
    return words


def _facts(kept: Kept, made: Mechanism, column: ProtectedColumn) -> Markup:
    part, whole = kept.information()
    share = part / whole if whole else 1.0
    right, blind = kept.guessed()
    rows: list[list[Content]] = [
        [
            "Information kept about the true value",
            percent(share),
            f"mutual information {amount(part, 5)} of {amount(whole, 5)} nats",
        ]
    ]
    true = kept.true_share()
    if true is not None:
        rows.append(["The released value is the true one", percent(true), "on average over people"])
    rows.append(
        [
            "The true value can be guessed from the released one",
            percent(right),
            f"without seeing it: {percent(blind)}",
        ]
    )
    rows += _errors(made, column)
    caption = "How much is kept"
    if made.known_prior is None:
        caption += ", under one of the priors that are possible"
    return table(caption, ["What", "Value", "Compared with"], rows, numbers=(1,))


def _errors(made: Mechanism, column: ProtectedColumn) -> list[list[Content]]:
    rows: list[list[Content]] = []
    released = Released.of(made)
    if released is not None:
        rows.append(
            [
                "A released number is off by, on average",
                amount(released.absolute, 5),
                f"one number for everybody: {amount(released.nothing_absolute, 5)}",
            ]
        )
        rows.append(
            [
                "Its root mean squared error",
                amount(math.sqrt(released.squared), 5),
                f"one number for everybody: {amount(math.sqrt(released.nothing_squared), 5)}",
            ]
        )
    people = sum(column.counts.values())
    if people and made.known_prior is not None and len(made.channel.inputs) <= _MOST_ESTIMATED:
        try:
            found = made.expected_error(people, method="unbiased")
        except LiftlockError:
            return rows
        rows.append(
            [
                "Typical error of a count estimated from the released values",
                f"{amount(math.sqrt(found.total_squared / len(found.names)), 3)} people",
                f"of {people:,}; root mean square over all values",
            ]
        )
    return rows


# --- what is released for what --------------------------------------------------------------------


def _picture(kept: Kept, column: ProtectedColumn, key: str) -> Markup:
    points = numbers_of(kept.channel.inputs)
    numbers = numbers_of(kept.channel.outputs)
    if points is not None and numbers is not None and len(points) > _MOST_CONFUSED:
        drawing = band(points, kept.masses, kept.matrix, numbers, name=column.name, key=key)
        caption = markup(
            "For each true ",
            named(column.name),
            " (across), what is released (upwards): the line is the middle, the dark band holds "
            "half of the releases and the light band nine in ten. The dashed line would be the "
            "truth. Noise pulls rare values towards the common ones. The lowest and the highest "
            "per cent of people are left out of the picture.",
        )
        return figure(drawing, caption)
    return _confusion(kept, column, key)


def _confusion(kept: Kept, column: ProtectedColumn, key: str) -> Markup:
    shares = kept.masses @ kept.matrix
    rows = np.sort(np.argsort(-kept.masses, kind="stable")[:_MOST_CONFUSED])
    columns = np.sort(np.argsort(-shares, kind="stable")[:_MOST_CONFUSED])
    cells = []
    for x in rows:
        drawn = []
        for y in columns:
            share = float(kept.matrix[x, y])
            hint = f"{kept.inputs[x]} is released as {kept.outputs[y]}: {percent(share)}"
            text = "" if share == 0 else "·" if share < _DOT else f"{100 * share:.0f}"
            drawn.append(
                Cell(
                    "m" if share < _DOT else share_tone(share),
                    text,
                    hint,
                    kept.inputs[x] == kept.outputs[y],
                )
            )
        cells.append(drawn)
    tones = ("m", *(f"s{step}" for step in range(1, STEPS + 1)))
    marks = tuple(
        ((step + 0.5) / len(tones), f"{100 * (step / STEPS) ** 2:.0f} %")
        for step in (0, 2, 4, 6, 8)
    )
    picture = heat_map(
        [kept.inputs[x] for x in rows],
        [kept.outputs[y] for y in columns],
        cells,
        row_title="true value",
        column_title="released value",
        title=f"What is released for each true {column.name}",
        description="Rows are true values, columns released values, cells the probability in per "
        "cent. "
        + (
            ""
            if kept.true_share() is None
            else f"On average the true value is released with {percent(kept.true_share() or 0.0)}."
        ),
        legend=Legend("probability, in per cent", tones, marks),
        key=key,
    )
    caption: list[Content] = [
        "Of people with the true ",
        named(column.name),
        (
            " of a row, so many in a hundred are released as each column. A dot is less than half "
            "a per cent, an empty cell never happens. Frames mark values that stay as they are."
        ),
    ]
    if len(rows) < len(kept.inputs) or len(columns) < len(kept.outputs):
        caption.append(
            f" Shown are the {len(rows)} most common of {counted(len(kept.inputs), 'true value')} "
            f"and the {len(columns)} most common of "
            f"{counted(len(kept.outputs), 'released value')}."
        )
    return figure(picture, caption, kind="wide" if len(columns) > WIDE else "")


# --- how often each value occurs ------------------------------------------------------------------


def output_counts(made: Mechanism, counts: Mapping[Any, int]) -> tuple[tuple[int, ...], int]:
    """Return how often each output was released, and how many cells stayed outside.

    A missing cell is written for the output that stands for one.
    """
    outputs = made.table.outputs
    written = {str(label): place for place, label in enumerate(outputs.labels)}
    missing = None if made.column is None else made.column.missing
    found = [0] * len(outputs)
    outside = 0
    for label, number in counts.items():
        if label is not None and label in outputs:
            found[outputs.index(label)] += number
        elif label is None and missing is not None and missing in outputs:
            found[outputs.index(missing)] += number
        elif label is not None and str(label) in written:
            found[written[str(label)]] += number
        else:
            outside += number
    return tuple(found), outside


def _marginal(kept: Kept, made: Mechanism, column: ProtectedColumn) -> Markup | None:
    """Show how often each value occurs: in truth, as released, and as estimated from that."""
    if not column.counts:
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
        parts.append(_mean(kept, made, aggregate, points))
        return markup(*parts)
    estimate = _estimated(made, aggregate) if len(kept.inputs) <= _MOST_ESTIMATED else None
    order = np.argsort(-kept.masses, kind="stable")[:_MOST_MARGINAL]
    full = 1e-12 + max(
        float(kept.masses[order].max()),
        *(counts[kept.channel.outputs.index(label)] / total for label in _common(kept, order)),
        *(min(1.0, answer.value / total) for answer in (estimate.answers if estimate else ())),
    )
    shown = "true" if column.learned else "expected"
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
        "in the table" if column.learned else "according to what is assumed",
        (
            f" ({shown}), among the released values, and as estimated from the released values "
            "with the mechanism file. The thin lines are intervals of 95 %."
        ),
    ]
    if len(order) < len(kept.inputs):
        caption.append(f" The {len(order)} most common of {len(kept.inputs):,} values are drawn.")
    if estimate is not None:
        leaning = ", which leans on what is assumed" if estimate.method == "bayes" else ""
        caption += [f" Estimate: {estimate.method}{leaning}."]
        caption += [f" {warning}." for warning in estimate.warnings]
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


def _mean(kept: Kept, made: Mechanism, aggregate: Aggregate, points: Floats) -> Markup:
    true = float(kept.masses @ points)
    rows: list[list[Content]] = [["Mean of the true numbers", amount(true, 6), ""]]
    numbers = numbers_of(kept.channel.outputs)
    if numbers is not None:
        mean = float(np.dot(aggregate.counts, numbers) / aggregate.reports)
        rows.append(["Mean of the released numbers", amount(mean, 6), "taken as they are"])
    estimate = None
    if len(points) <= _MOST_ESTIMATED:
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
