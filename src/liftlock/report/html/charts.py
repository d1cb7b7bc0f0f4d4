"""Charts as inline SVG: bars, heat maps, the trade-off around a budget, and bands of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from liftlock.exact.integers import Floats
from liftlock.model.alphabet import Label
from liftlock.report.format import amount, fitted, fitted_apart, plain, width_of
from liftlock.report.html.markup import Content, Markup, markup, tag, written
from liftlock.report.html.tones import STEPS

if TYPE_CHECKING:
    from liftlock.tables.protect.result import Curve


@dataclass(frozen=True)
class Picture:
    """A drawing, whether it takes more room than text, and what its caption says."""

    drawing: Markup
    wide: bool = False
    left_out: str = ""
    """What had no room; empty if all is shown."""


# --- bars -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its length from 0 to 1, its number, and the interval around it."""

    name: str
    length: float
    value: str
    kind: str
    """The class that colours it."""
    interval: tuple[float, float] | None = None
    limits: tuple[float, ...] = ()
    """Places that are marked with a line across."""


@dataclass(frozen=True)
class Group:
    """Bars that belong together, under a common name."""

    name: Markup
    bars: tuple[Bar, ...]


def place(part: float) -> str:
    """Write how far along a bar something is; what lies outside is moved to its end.

    >>> place(0.25), place(1.3)
    ('25.00%', '100.00%')
    """
    return f"{100 * min(max(part, 0.0), 1.0):.2f}%"


# --- heat maps ------------------------------------------------------------------------------------

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
    row_names = fitted_apart([written(label) for label in rows], _SMALL, _NAMES)
    column_names = fitted_apart([written(label) for label in columns], _SMALL, _NAMES)
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
                frames += [
                    tag("rect", x=x + 1, y=y + 1, width=wide - 2, height=_HIGH - 2, class_=kind)
                    for kind in ("halo", "frame")
                ]
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


# --- lines ----------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 460.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 14.0, 28.0, 50.0
_SIZE = 12.5
_ROOM = 16.0
"""From one line of text to the next."""


@dataclass(frozen=True)
class Scale:
    """A straight scale from numbers to places in the picture."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return self.first + (self.last - self.first) * share


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers between two ends.

    >>> ticks(0, 2.43), ticks(20_000, 90_000, 4)
    ([0.0, 0.5, 1.0, 1.5, 2.0], [20000.0, 40000.0, 60000.0, 80000.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(step * place, 12) + 0.0 for place in range(first, last + 1)]


def tick_text(value: float) -> str:
    """Write a number of an axis, where there is little room.

    >>> [tick_text(value) for value in (0.0, 0.25, 80_000, 2.5e8, 3e12, 2e-7)]
    ['0', '0.25', '80,000', '250 M', '3e+12', '2e-07']
    """
    if 1e6 <= abs(value) < 1e10:
        return f"{value / 1e6:,.6g} M"
    return f"{value:.4g}" if abs(value) >= 1e10 else amount(value, 4)


def scale_text(scale: float) -> str:
    """Write what a budget was multiplied by.

    >>> [scale_text(scale) for scale in (0.25, 0.5, 1.0, 1.5, 4.0)]
    ['× ¼', '× ½', '× 1', '× 1.5', '× 4']
    """
    return {0.25: "× ¼", 0.5: "× ½", 0.75: "× ¾"}.get(scale, f"× {scale:g}")


def trade_off(curve: Curve, chosen: str, key: str) -> Markup:
    """Draw what each budget is worth, between releasing nothing and releasing the truth."""
    points = sorted(curve.points, key=lambda point: point.scale)
    values = [point.utility for point in points]
    low, high = min(*values, curve.nothing, curve.truth), max(*values, curve.nothing, curve.truth)
    margin = 0.1 * ((high - low) or 1.0)
    x = Scale(
        math.log(points[0].scale), math.log(points[-1].scale), _LEFT + 20, _WIDTH - _RIGHT - 24
    )
    y = Scale(low - margin, high + margin, _HEIGHT - _BOTTOM, _TOP)
    parts: list[Content] = [*_grid_y(y, low, high), _upwards(curve.title)]
    for name, value, above in (
        ("releasing nothing", curve.nothing, curve.nothing > curve.truth),
        ("releasing the truth", curve.truth, curve.nothing <= curve.truth),
    ):
        parts.append(
            tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y(value), y2=y(value), class_="end-line")
        )
        # Outside of the two lines, where the curve does not come.
        place = y(value) - 5 if above else y(value) + 14
        parts.append(tag("text", name, x=_WIDTH - _RIGHT - 2, y=place, class_="end quiet"))
    spots = [(x(math.log(point.scale)), y(point.utility)) for point in points]
    parts.append(tag("polyline", points=_path(spots), class_="curve"))
    taken = -math.inf
    for point, (px, py) in zip(points, spots, strict=True):
        own = point.scale == 1
        hint = f"{scale_text(point.scale)}: {point.guarantee}, {amount(point.utility, 5)}"
        body = [tag("title", hint)]
        if own:
            shape = f"{px:.1f},{py - 8:.1f} {px + 8:.1f},{py:.1f} {px:.1f},{py + 8:.1f} "
            body.append(tag("polygon", points=shape + f"{px - 8:.1f},{py:.1f}", class_="chosen"))
        else:
            body.append(tag("circle", cx=px, cy=py, r=4.0, class_="dot"))
        parts.append(tag("g", body))
        text = scale_text(point.scale)
        half = width_of(text, _SIZE) / 2
        if own or px - half > taken + 4:
            kind = "middle strong" if own else "middle"
            parts.append(tag("text", text, x=px, y=_HEIGHT - _BOTTOM + 18, class_=kind))
            taken = px + half
    own_spot = next((spot for p, spot in zip(points, spots, strict=True) if p.scale == 1), None)
    if own_spot is not None:
        # Beside the curve, on the side that it bends away from.
        rising = curve.truth >= curve.nothing
        first = own_spot[1] + 24 if rising else own_spot[1] - 30
        start = min(own_spot[0] + 8, _WIDTH - _RIGHT - width_of(chosen, _SIZE))
        for line, text in enumerate(("chosen", chosen)):
            parts.append(tag("text", text, x=start, y=first + _ROOM * line, class_="strong"))
    parts.append(
        tag(
            "text",
            "budget, in multiples of the chosen one (right: looser)",
            x=(_LEFT + _WIDTH - _RIGHT) / 2,
            y=_HEIGHT - 8,
            class_="middle axis",
        )
    )
    return svg(
        markup(*parts),
        _WIDTH,
        _HEIGHT,
        title=f"{curve.title} at stricter and looser budgets",
        description="; ".join(
            f"{scale_text(point.scale)} the budget: {amount(point.utility, 4)}" for point in points
        ),
        key=key,
        least=0.68,
        kind="chart",
    )


def _grid_y(y: Scale, low: float, high: float) -> list[Content]:
    """Draw lines across, with their numbers at the left."""
    parts: list[Content] = []
    for value in ticks(low, high):
        place = y(value)
        parts.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=place, y2=place, class_="grid"))
        parts.append(tag("text", tick_text(value), x=_LEFT - 6, y=place + 4, class_="end"))
    return parts


def _upwards(title: str) -> Markup:
    """Say what is shown upwards, over the picture."""
    return tag("text", fitted(plain(title), _SIZE, _WIDTH - 8), x=2.0, y=13.0, class_="axis")


def _path(spots: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{px:.1f},{py:.1f}" for px, py in spots)


_TAIL = 0.01
"""So much of the people, at either end, is not drawn in a band."""
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The parts of the releases below the lines of a band."""


def quantiles_of(matrix: Floats, numbers: Floats) -> Floats:
    """Return for each row of a channel the numbers that shares of its releases do not exceed."""
    order = np.argsort(numbers, kind="stable")
    rising = np.cumsum(matrix[:, order], axis=1)
    places = np.array([[int((row < level - 1e-12).sum()) for level in LEVELS] for row in rising])
    found: Floats = numbers[order][np.minimum(places, len(numbers) - 1)]
    return found


def band(
    points: Floats, masses: Floats, matrix: Floats, numbers: Floats, *, name: str, key: str
) -> Markup:
    """Draw where the releases of each true number fall: half of them, and nine in ten."""
    order = np.argsort(points, kind="stable")
    points, masses, rows = points[order], masses[order], matrix[order]
    rising = np.cumsum(masses)
    first = int(np.searchsorted(rising, _TAIL))
    last = min(int(np.searchsorted(rising, 1.0 - _TAIL)), len(points) - 1)
    window = slice(first, last + 1)
    points, rows = points[window], rows[window]
    found = quantiles_of(rows, numbers)
    low = float(min(points[0], found.min()))
    high = float(max(points[-1], found.max()))
    x = Scale(float(points[0]), float(points[-1]), _LEFT, _WIDTH - _RIGHT)
    y = Scale(low, high, _HEIGHT - _BOTTOM, _TOP)
    parts: list[Content] = [*_grid_y(y, low, high), _upwards(f"released {name}")]
    for value in ticks(float(points[0]), float(points[-1]), 4):
        place = x(value)
        parts.append(tag("line", x1=place, x2=place, y1=_TOP, y2=_HEIGHT - _BOTTOM, class_="grid"))
        parts.append(
            tag("text", tick_text(value), x=place, y=_HEIGHT - _BOTTOM + 16, class_="middle")
        )
    across = [x(float(point)) for point in points]
    for under, over, kind in ((0, 4, "band outer"), (1, 3, "band inner")):
        top = [(px, y(float(value))) for px, value in zip(across, found[:, over], strict=True)]
        bottom = [(px, y(float(value))) for px, value in zip(across, found[:, under], strict=True)]
        parts.append(tag("polygon", points=_path([*top, *bottom[::-1]]), class_=kind))
    middle = [(px, y(float(value))) for px, value in zip(across, found[:, 2], strict=True)]
    parts.append(tag("polyline", points=_path(middle), class_="curve"))
    diagonal = [(x(float(point)), y(float(point))) for point in (points[0], points[-1])]
    parts.append(tag("polyline", points=_path(diagonal), class_="end-line"))
    parts.append(
        tag(
            "text",
            fitted(plain(f"true {name}"), _SIZE, _WIDTH - 8),
            x=_WIDTH / 2,
            y=_HEIGHT - 8,
            class_="middle axis",
        )
    )
    return svg(
        markup(*parts),
        _WIDTH,
        _HEIGHT,
        title=f"What is released for each true {name}",
        description="Lines across: for each true number the middle of what is released, with the "
        "bands that hold half and nine tenths of the releases.",
        key=key,
        least=0.68,
        kind="chart",
    )


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
