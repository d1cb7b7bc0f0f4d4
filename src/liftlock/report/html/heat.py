"""A heat map as inline SVG: coloured cells, each with its number where there is room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from liftlock.alphabet import Label
from liftlock.report.html.elements import Content, Markup, markup, tag
from liftlock.report.html.lettering import fitted, fitted_apart, width_of
from liftlock.report.html.tones import STEPS

NUMBERED = 20
"""Up to so many columns have room for a number in each cell."""
WIDE = 10
"""From so many columns on a heat map takes more room than text."""
_WIDE, _NARROW, _HIGH = 44.0, 15.0, 26.0
_SMALL = 11.0
_NAMES = 150.0
_SLANT = math.radians(50)
_PAD = 8.0


@dataclass(frozen=True)
class Cell:
    """One cell: its tone, the number in it, what is said when it is pointed at, and a frame."""

    tone: str
    text: str
    hint: str
    framed: bool = False


@dataclass(frozen=True)
class Legend:
    """The scale under a heat map: tones with the number that some of them stand for."""

    title: str
    tones: tuple[str, ...]
    marks: tuple[tuple[float, str], ...]
    """Where along the scale, from 0 to 1, which text stands."""


def heat_map(
    rows: Sequence[Label],
    columns: Sequence[Label],
    cells: Sequence[Sequence[Cell]],
    *,
    row_title: str,
    column_title: str,
    title: str,
    description: str,
    legend: Legend,
    key: str,
) -> Markup:
    """Draw cells in rows and columns, named at the left and on top; `key` names it in the page."""
    numbered = len(columns) <= NUMBERED
    wide = _WIDE if numbered else _NARROW
    row_names = fitted_apart(rows, _SMALL, _NAMES)
    column_names = fitted_apart(columns, _SMALL, _NAMES)
    left = max(max(width_of(name, _SMALL) for name in row_names), 64.0) + 2 * _PAD
    longest = max(width_of(name, _SMALL) for name in column_names)
    level = longest <= wide - 4
    rise = 16.0 if level else longest * math.sin(_SLANT) + 14.0
    over = 0.0 if level else longest * math.cos(_SLANT)
    top = rise + 20.0
    width = left + wide * len(columns)
    # Slanted names lean over the last column.
    full = max(width + max(0.0, over - wide / 2), left + width_of(column_title, _SMALL)) + _PAD
    height = top + _HIGH * len(rows)
    parts: list[Content] = [
        tag("text", column_title, x=left, y=12.0, class_="axis"),
        tag(
            "text",
            fitted(row_title, _SMALL, left - _PAD),
            x=left - _PAD,
            y=top - 6.0,
            class_="axis end",
        ),
    ]
    for place, name in enumerate(row_names):
        y = top + _HIGH * (place + 0.5) + 4.0
        parts.append(tag("text", name, x=left - _PAD, y=y, class_="end"))
    for place, name in enumerate(column_names):
        x = left + wide * (place + 0.5)
        if level:
            parts.append(tag("text", name, x=x, y=top - 6.0, class_="middle"))
        else:
            turned = f"rotate(-50 {x:.1f} {top - 6:.1f})"
            parts.append(tag("text", name, x=x, y=top - 6.0, transform=turned))
    frames: list[Content] = []
    for r, row in enumerate(cells):
        for c, cell in enumerate(row):
            x, y = left + wide * c, top + _HIGH * r
            body: list[Content] = [
                tag("title", cell.hint),
                tag("rect", x=x, y=y, width=wide, height=_HIGH),
            ]
            if numbered and cell.text:
                body.append(tag("text", cell.text, x=x + wide / 2, y=y + _HIGH / 2 + 4))
            parts.append(tag("g", body, class_=f"cell {cell.tone}"))
            if cell.framed:
                for kind, inset in (("halo", 1.0), ("frame", 1.0)):
                    frames.append(
                        tag(
                            "rect",
                            x=x + inset,
                            y=y + inset,
                            width=wide - 2 * inset,
                            height=_HIGH - 2 * inset,
                            class_=kind,
                        )
                    )
    parts += frames
    scale, scale_height, scale_width = _scale(legend, left, height + 16.0)
    parts.append(scale)
    return svg(
        markup(*parts),
        max(full, scale_width),
        height + 16.0 + scale_height,
        title=title,
        description=description,
        key=key,
        least=0.82,
    )


def _scale(legend: Legend, left: float, top: float) -> tuple[Markup, float, float]:
    """Draw the legend; return it with its height and where it ends at the right."""
    wide = 24.0
    parts: list[Content] = [tag("text", legend.title, x=left, y=top + 10.0, class_="axis")]
    for place, tone in enumerate(legend.tones):
        shape = tag("rect", x=left + wide * place, y=top + 18.0, width=wide, height=12.0)
        parts.append(tag("g", shape, class_=f"cell {tone}"))
    span = wide * len(legend.tones)
    end = left + width_of(legend.title, _SMALL)
    for share, text in legend.marks:
        x = left + span * share
        parts.append(tag("line", x1=x, x2=x, y1=top + 30.0, y2=top + 35.0, class_="rule"))
        parts.append(tag("text", text, x=x, y=top + 46.0, class_="middle"))
        end = max(end, x + width_of(text, _SMALL) / 2)
    return markup(*parts), 52.0, max(end, left + span) + _PAD


def diverging(title: str, marks: Sequence[tuple[float, str]]) -> Legend:
    """Return the scale of lifts, from what lowers to what raises."""
    tones = [f"d{step}" for step in range(STEPS, 0, -1)]
    tones += ["m", *(f"u{step}" for step in range(1, STEPS + 1))]
    return Legend(title, tuple(tones), tuple(marks))


def svg(
    content: Content,
    width: float,
    height: float,
    *,
    title: str,
    description: str,
    key: str,
    least: float,
    kind: str | None = None,
) -> Markup:
    """Wrap a drawing: it shrinks to `least` of its size with the page, then its box scrolls."""
    drawing = tag(
        "svg",
        tag("title", title, id=f"{key}-title"),
        tag("desc", description, id=f"{key}-desc"),
        content,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
        role="img",
        class_=kind,
        aria_labelledby=f"{key}-title {key}-desc",
        style=f"min-width:{width * least:.0f}px",
    )
    return tag("div", drawing, class_="scroll", tabindex="0", role="group", aria_label=title)
