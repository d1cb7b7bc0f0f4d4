"""Pictures of the dashboard, drawn on the server: reports by day, estimates, and beliefs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property

import numpy as np

from liftlock.collect.survey.consent import percent_down, percent_up
from liftlock.collect.survey.least import shown_parts
from liftlock.collect.survey.values import Grid
from liftlock.mechanism import Mechanism
from liftlock.model.channel import Table
from liftlock.notions.ldp import LDP
from liftlock.report.format import counted, percent
from liftlock.report.html.beliefs import axis_end
from liftlock.report.html.charts import (
    Bar,
    Cell,
    Group,
    Legend,
    Scale,
    heat_map,
    tick_text,
    ticks,
)
from liftlock.report.html.markup import Content, Markup, markup, named, tag
from liftlock.report.html.measures import Leak
from liftlock.report.html.tones import STEPS, share_tone

MOST_BARS = 12
_MOST_DAYS = 62
"""More days than this are drawn as weeks."""

# --- reports by day -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Span:
    """Some days, and how many reports came in them."""

    first: date
    last: date
    reports: int

    def __str__(self) -> str:
        first, last = self.first.isoformat(), self.last.isoformat()
        return first if first == last else f"{first} to {last}"


def days_of(days: Mapping[str, int], least: int) -> tuple[list[Span], int]:
    """Return the days that are shown, and how many other days had any reports.

    >>> spans, left_out = days_of({"2026-11-01": 3, "2026-11-02": 9, "2026-11-04": 2}, 5)
    >>> [(str(span), span.reports) for span in spans], left_out
    ([('2026-11-02', 9)], 2)
    """
    every = [(date.fromisoformat(day), number) for day, number in sorted(days.items()) if number]
    kept = shown_parts(dict(every), least)
    spans = [Span(day, day, number) for day, number in every if day in kept]
    return spans, len(every) - len(spans)


def weeks_of(spans: Sequence[Span]) -> list[Span]:
    """Join days to weeks, where there are too many to be drawn.

    >>> days = [Span(day, day, 2) for day in (date(2026, 1, 5), date(2026, 1, 7), date(2026, 6, 1))]
    >>> [(str(week), week.reports) for week in weeks_of(days)]
    [('2026-01-05 to 2026-01-11', 4), ('2026-06-01 to 2026-06-07', 2)]
    """
    if not spans or (spans[-1].last - spans[0].first).days < _MOST_DAYS:
        return list(spans)
    weeks: dict[date, int] = {}
    for span in spans:
        monday = span.first - timedelta(days=span.first.weekday())
        weeks[monday] = weeks.get(monday, 0) + span.reports
    return [Span(monday, monday + timedelta(days=6), each) for monday, each in weeks.items()]


_WIDTH, _HEIGHT = 460.0, 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 10.0, 14.0, 26.0
_WIDEST = 44.0


def days_chart(spans: Sequence[Span], key: str) -> Markup:
    """Draw how many reports came in each span, over time."""
    start, end = spans[0].first, spans[-1].last
    x = Scale(0.0, (end - start).days + 1.0, _LEFT, _WIDTH - _RIGHT)
    y = Scale(0.0, max(span.reports for span in spans), _HEIGHT - _BOTTOM, _TOP)
    parts: list[Content] = []
    for value in ticks(0.0, y.high):
        if value == int(value):
            at = y(value)
            parts.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=at, y2=at, class_="grid"))
            parts.append(tag("text", tick_text(value), x=_LEFT - 6, y=at + 4, class_="end"))
    for span in spans:
        left, right = x((span.first - start).days), x((span.last - start).days + 1)
        wide = min(0.8 * (right - left), _WIDEST)
        shape = tag(
            "rect",
            x=(left + right - wide) / 2,
            y=y(span.reports),
            width=wide,
            height=y(0.0) - y(span.reports),
        )
        parts.append(tag("g", tag("title", f"{span}: {counted(span.reports, 'report')}"), shape))
    for day, kind, at in _dates(start, end, x):
        parts.append(tag("text", day.isoformat(), x=at, y=_HEIGHT - 8, class_=f"axis {kind}"))
    total = sum(span.reports for span in spans)
    title = f"{counted(total, 'report')} from {start.isoformat()} to {end.isoformat()}"
    drawing = tag(
        "svg",
        tag("title", title, id=f"{key}-title"),
        parts,
        viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
        width=round(_WIDTH),
        height=round(_HEIGHT),
        role="img",
        class_="chart days",
        aria_labelledby=f"{key}-title",
    )
    return tag("div", drawing, class_="scroll", tabindex="0", role="group", aria_label=title)


def _dates(start: date, end: date, x: Scale) -> list[tuple[date, str, float]]:
    """Return the days that are named under the picture."""
    if start == end:
        return [(start, "middle", (x(0.0) + x(1.0)) / 2)]
    named_days = [(start, "start", x(0.0)), (end, "end", x((end - start).days + 1.0))]
    if (end - start).days >= 3:
        middle = start + (end - start) // 2
        named_days.insert(1, (middle, "middle", x((middle - start).days + 0.5)))
    return named_days


# --- beliefs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beliefs:
    """What may be believed of a person before a report, at most after it, and at least."""

    names: tuple[Markup, ...]
    before: tuple[float, ...]
    highest: tuple[float, ...]
    lowest: tuple[float, ...]
    caption: str
    left_out: int = 0

    @cached_property
    def groups(self) -> list[Group]:
        """Bars for each name."""
        full = axis_end(max(self.highest))
        return [
            Group(
                name,
                (
                    Bar("before", before / full, percent(before), "before"),
                    Bar("at most", high / full, percent_up(_shorter(high)), "highest"),
                    Bar("at least", low / full, percent_down(_shorter(low)), "lowest"),
                ),
            )
            for name, before, high, low in self._lines
        ]

    @property
    def rows(self) -> list[list[Content]]:
        """The same in numbers."""
        return [
            [name, percent(before), percent_up(_shorter(high)), percent_down(_shorter(low))]
            for name, before, high, low in self._lines
        ]

    @property
    def _lines(self) -> list[tuple[Markup, float, float, float]]:
        return list(zip(self.names, self.before, self.highest, self.lowest, strict=True))


def _shorter(share: float) -> Fraction:
    """Return a share without the last digits of a float, which would be rounded up, too."""
    return Fraction(repr(round(share, 14)))


def beliefs_of(made: Mechanism) -> Beliefs | None:
    """Return how far one report moves beliefs: from the prior, or from any, where none is known."""
    leak = Leak.of(made)
    if leak is None:
        return _whatever_before(made)
    high = leak.prior * leak.lifts.max(axis=1)
    low = leak.prior * leak.lifts.min(axis=1)
    in_order = leak.banded or made.table.inputs.coordinates is not None
    order = np.arange(len(high)) if in_order else np.argsort(-high, kind="stable")
    shown = [int(place) for place in (order if in_order else order[:MOST_BARS])]
    full = percent(axis_end(float(high[shown].max())))
    left_out = len(order) - len(shown)
    caption = (
        "The probability that a person has each answer, for whoever knows only how common the "
        "answers are: before the report, and after the report that raises or lowers it most. A "
        f"full bar is {full}."
    )
    if left_out:
        caption += f" The {len(shown)} most probable of {len(order):,} answers are drawn."
    return Beliefs(
        tuple(named(leak.secrets[place]) for place in shown),
        tuple(float(leak.prior[place]) for place in shown),
        tuple(min(float(high[place]), 1.0) for place in shown),
        tuple(float(low[place]) for place in shown),
        caption,
        left_out,
    )


_BEFORE = (0.01, 0.1, 0.5, 0.9)


def _whatever_before(made: Mechanism) -> Beliefs | None:
    """Return what any belief can become: reports are so much likelier for one than another."""
    profiles = made.certificate.notion == "profile"
    odds = _profile_ratio(made) if profiles else _largest_ratio(made)
    if odds is None:
        return None
    about = "a profile, against one that is joined to it" if profiles else "any answer"
    return Beliefs(
        tuple(markup(f"believed with {percent(part)}") for part in _BEFORE),
        _BEFORE,
        tuple(part * odds / (1 - part + part * odds) for part in _BEFORE),
        tuple(part / (part + (1 - part) * odds) for part in _BEFORE),
        f"How far one report can move a belief in {about}, whatever was believed before. A full "
        "bar is 100 %.",
    )


def _largest_ratio(made: Mechanism) -> float | None:
    if not isinstance(made.channel, Table):
        return None
    ratio = LDP.measure(made.channel).ratio
    return None if ratio is None else float(ratio)


def _profile_ratio(made: Mechanism) -> float | None:
    most = made.certificate.nats["profile"].upper
    return None if most is None else math.exp(float(most))


# --- places ---------------------------------------------------------------------------------------

_MOST_PLACES = 30
_STYLE = re.compile(r' style="[^"]*"')


def places_map(grid: Grid, shares: Mapping[tuple[int, int], float], key: str) -> Markup | None:
    """Draw the share of people in each place of a grid; None if there is no room for it."""
    if max(grid.columns, grid.rows) > _MOST_PLACES:
        return None
    largest = max(shares.values(), default=0.0) or 1.0
    tones = ("m", *(f"s{step}" for step in range(1, STEPS + 1)))
    marks = [
        ((step + 0.5) / len(tones), percent(largest * (step / STEPS) ** 2)) for step in (0, 4, 8)
    ]
    upwards = range(grid.rows - 1, -1, -1)
    drawing = heat_map(
        [f"{y}" for y in upwards],
        [f"{x}" for x in range(grid.columns)],
        [
            [
                Cell(
                    share_tone(shares.get((x, y), 0.0) / largest),
                    f"{100 * shares.get((x, y), 0.0):.1f}",
                    f"column {x}, row {y}: {percent(shares.get((x, y), 0.0))}",
                )
                for x in range(grid.columns)
            ]
            for y in upwards
        ],
        row_title="row",
        column_title="column",
        title="The estimated share of people in each place",
        description=f"{grid.columns} columns, {grid.rows} rows, row 0 at the bottom; in percent.",
        legend=Legend("share of people", tones, tuple(marks)),
        key=key,
    )
    # Pages of the service allow no style but that of their file.
    return Markup(_STYLE.sub("", drawing))
