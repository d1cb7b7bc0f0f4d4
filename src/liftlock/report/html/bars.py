"""Bars that grow and shrink with the page: each has its name and its number beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from liftlock.report.html.elements import Content, Markup, tag


@dataclass(frozen=True)
class Bar:
    """One bar: what it shows, its length from 0 to 1, its number, and the interval around it."""

    name: str
    length: float
    value: Content
    kind: str
    """The class that colours it."""
    interval: tuple[float, float] | None = None
    limits: tuple[float, ...] = ()
    """Places that are marked with a line across."""


@dataclass(frozen=True)
class Group:
    """Bars that belong together, under a common name."""

    name: Content
    bars: tuple[Bar, ...]


def bar_chart(groups: Iterable[Group]) -> Markup:
    """Draw groups of bars from 0 to 1."""
    drawn = []
    for group in groups:
        rows = [
            tag(
                "div",
                tag("span", bar.name, class_="what"),
                _bar(bar),
                tag("span", bar.value, class_="value"),
                class_="row",
            )
            for bar in group.bars
        ]
        drawn.append(
            tag("div", tag("div", group.name, class_="of"), tag("div", rows), class_="group")
        )
    return tag("div", drawn, class_="bars")


def _bar(bar: Bar) -> Markup:
    length = min(max(bar.length, 0.0), 1.0)
    parts: list[Content] = [
        tag("rect", x="0", y="1", width="100%", height="12", class_="track"),
        tag("rect", x="0", y="1", width=_share(length), height="12", class_=bar.kind),
    ]
    if bar.interval is not None:
        low, high = (min(max(end, 0.0), 1.0) for end in bar.interval)
        parts.append(tag("line", x1=_share(low), x2=_share(high), y1="7", y2="7", class_="span"))
        # What reaches beyond the picture has no end in it.
        for end in (end for end in bar.interval if 0.0 <= end <= 1.0):
            parts.append(
                tag("line", x1=_share(end), x2=_share(end), y1="3", y2="11", class_="span")
            )
    for limit in bar.limits:
        place = _share(min(max(limit, 0.0), 1.0))
        parts.append(tag("line", x1=place, x2=place, y1="0", y2="14", class_="limit"))
    return tag("svg", parts, width="100%", height="14", aria_hidden="true", class_="bar")


def _share(part: float) -> str:
    return f"{100 * part:.2f}%"
