"""A graph of profiles as a picture: who is joined to whom, and the exact loss of every edge."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import ProfileGraph
from liftlock.notions.audit import ProfileAudit
from liftlock.report.format import loss_text, over_budget, shown, told_apart
from liftlock.report.plots.figure import HIGHEST, WIDEST, check_picture, picture
from liftlock.report.plots.graph_layout import (
    along,
    cleared,
    layout,
    overlapping,
    packed,
    parted,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Point = tuple[float, float]

MOST_PROFILES, MOST_EDGES = 5_000, 20_000
"""Beyond these a picture is a blot."""
MOST_CHARTS, MOST_NAMES, MOST_NUMBERS = 24, 60, 60
"""Up to so many profiles have a chart, or a name; up to so many edges have their number."""

COLOURS = ("#a9cbe6", "#4a94c9", "#1b5fa3", "#08274f")
OVER = "#d95f02"
"""Losses from none to the whole budget are blues that darken; above it they are orange, dashed."""
_INK, _FILL, _DIM, _PAPER = "#222222", "#9db4ce", "#666666", "white"
_MOST_BARS = 20
_LEAST_SCALE = 0.05
"""Nats at which the colours are full, at least: losses of nearly nothing should look so."""

# Inches.
_MARGIN, _LINE = 0.22, 0.17
_CHART, _NAME = 0.42, 0.17
_CELL = 0.075
"""The width of a character of a name."""
_BAR = 0.12
"""How high the colour bar is."""
_BOTTOM, _AIR = 0.62, 0.10
_NARROWEST = 5.2
_NUMBER = np.array([0.42, 0.16])
_STRETCHED = 1.4
"""Entangled edges are so much longer, to have room for their numbers."""
_LISTED = 8
_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.33, 0.67, 0.28, 0.72, 0.23, 0.77)


def draw_graph(audit: ProfileAudit, path: Path, *, budget: float | None = None) -> None:
    """Draw the graph with the exact loss of each edge, rounded up, and coloured by the budget.

    Up to 24 profiles are small charts: the outline is the profile's distribution, what is filled
    is what it releases. More are dots, and more than 60 edges are coloured only.
    """
    check_picture(path, "networkx")
    _check_drawable(audit.graph)
    sheet = Sheet.of(audit, budget)
    with picture(path, sheet.width, sheet.height) as figure:
        # Every place is in inches, so that nothing has to be arranged.
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, sheet.width)
        axes.set_ylim(0.0, sheet.height)
        axes.set_axis_off()
        _draw(figure, axes, sheet)


def _check_drawable(graph: ProfileGraph) -> None:
    """Refuse a graph that would be a blot."""
    for count, most, what in (
        (len(graph), MOST_PROFILES, "profiles"),
        (len(graph.edges), MOST_EDGES, "edges"),
    ):
        if count > most:
            raise InputError(
                f"too many {what} for a picture",
                value=f"{count:,}",
                remedy=f"draw a part of the graph with at most {most:,}, or read the audit itself",
            )


# --- what goes where ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sheet:
    """What is drawn where, in inches."""

    audit: ProfileAudit
    budget: float | None
    places: Floats
    charts: bool
    names: tuple[str, ...] | None
    chart_width: float
    title: tuple[str, ...]
    caption: tuple[str, ...]
    isolated_from: float | None
    """The height of the line under which profiles without an edge are."""
    width: float
    height: float
    base: float
    """Where the drawing begins, above the colour bar and the captions."""

    @classmethod
    def of(cls, audit: ProfileAudit, budget: float | None) -> Sheet:
        """Find a place for everything."""
        graph = audit.graph
        charts = len(graph) <= MOST_CHARTS
        names = tuple(told_apart(graph.profiles.labels, 14)) if len(graph) <= MOST_NAMES else None
        chart_width = min(max(0.1 * _bars(audit), 0.4), 0.75)
        longest = max((len(name) for name in names), default=0) if names else 0
        if charts:
            box = np.array([max(chart_width, _CELL * longest) + _AIR, _CHART + _NAME + _AIR])
            target = 1.5
        elif names:
            box, target = np.array([0.3, 0.46]), 1.1
        else:
            box, target = np.array([0.16, 0.16]), 1.0
        room = np.array([WIDEST - 2 * _MARGIN, HIGHEST - 2 * _MARGIN - _BOTTOM - 6 * _LINE])
        alone = [part[0] for part in graph.components if len(part) == 1]
        cell = box + (0.0 if charts else [_CELL * longest, 0.14 if names else 0.06])
        across = max(1, min(len(alone), int(room[0] / cell[0])))
        deep = math.ceil(len(alone) / across)
        below = deep * cell[1] + (0.3 if alone else 0.0)
        rest = [place for part in graph.components if len(part) > 1 for place in part]
        joined = _joined(graph, box, room - [0.0, below], target)
        wide, high = (np.ptp(joined, axis=0) + box) if rest else (0.0, 0.0)
        needed = max(wide, across * cell[0] if len(alone) > 1 else 0.0)
        full = min(max(needed + 2 * _MARGIN, _NARROWEST), WIDEST)
        caption = _wrapped(_caption(audit, charts=charts, budget=budget), full)
        title = _wrapped(_about(audit, budget), full)
        base = _MARGIN + _LINE * len(caption) + (_BOTTOM if graph.edges else 0.0)
        places = np.zeros((len(graph), 2))
        if rest:
            corner = joined.min(axis=0) - box / 2
            places[rest] = joined - corner + [(full - wide) / 2, base + below]
        for number, place in enumerate(alone):
            row, column = divmod(number, across)
            start = (full - across * cell[0]) / 2
            places[place] = start + (column + 0.5) * cell[0], base + (deep - row - 0.5) * cell[1]
        return cls(
            audit,
            budget,
            places,
            charts,
            names,
            chart_width,
            title,
            caption,
            base + below - 0.06 if alone else None,
            full,
            base + below + high + _LINE * (1 + len(title)) + 0.12 + _MARGIN,
            base,
        )


def _joined(graph: ProfileGraph, box: Floats, room: Floats, target: float) -> Floats:
    """Return the places of all profiles with an edge, part after part, in inches."""
    parts = [part for part in graph.components if len(part) > 1]
    if not parts:
        return np.zeros((0, 2))
    inside: list[list[tuple[int, int]]] = [[] for _ in parts]
    home = {place: (number, k) for number, part in enumerate(parts) for k, place in enumerate(part)}
    for first, second in graph.edges:
        inside[home[first][0]].append((home[first][1], home[second][1]))
    drawn = [layout(len(part), edges) for part, edges in zip(parts, inside, strict=True)]
    gap = np.maximum(box / target, 0.4) + 0.22
    places = np.concatenate(packed(drawn, (float(gap[0]), float(gap[1]))))
    numbered = len(places) <= MOST_NAMES and len(graph.edges) <= MOST_NUMBERS
    wanted = target * max(1.0, math.sqrt(len(graph.edges) / (1.5 * len(places))))
    if numbered and any(len(edges) > len(part) for part, edges in zip(parts, inside, strict=True)):
        wanted *= _STRETCHED
    fit = (room - box) / np.maximum(np.ptp(places, axis=0), 1e-9)
    found: Floats = places * np.minimum(wanted, fit)
    if len(places) > MOST_NAMES:
        return found
    order = {place: k for k, place in enumerate(place for part in parts for place in part)}
    pairs = [(order[first], order[second]) for first, second in graph.edges]
    for spare in (1.0, 0.5, 0.0):
        apart = box + (spare * _NUMBER if numbered else 0.0)
        for _ in range(3):
            if not overlapping(found, *apart):
                return _fitted(cleared(found, pairs, *box), box, room) if numbered else found
            found = _fitted(parted(found, *apart), box, room)
    return found


def _fitted(places: Floats, box: Floats, room: Floats) -> Floats:
    """Shrink places until they fit the sheet."""
    extent = np.maximum(np.ptp(places, axis=0), 1e-9)
    # Rounded, so that no digit depends on the CPU.
    fitted: Floats = np.round(places * np.minimum(1.0, (room - box) / extent), 4)
    return fitted


def _bars(audit: ProfileAudit) -> int:
    """Return how many bars the chart of a profile has."""
    return len(audit.graph.inputs) if _same_values(audit) else len(audit.distributions.outputs)


def _same_values(audit: ProfileAudit) -> bool:
    """Tell whether outputs are values, so that truth and release share their columns."""
    return all(label in audit.graph.inputs for label in audit.distributions.outputs.labels)


# --- what is said ---------------------------------------------------------------------------------


def _wrapped(texts: list[str], width: float) -> tuple[str, ...]:
    """Join remarks into lines that fit; one that is too long by itself is broken."""
    letters = int((width - 2 * _MARGIN) / 0.066)
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) + 2 <= letters:
            lines[-1] += f"; {text}"
        else:
            lines += textwrap.wrap(text, letters)
    return tuple(lines)


def _about(audit: ProfileAudit, budget: float | None) -> list[str]:
    said = [audit.graph.describe().removeprefix("a graph of ")]
    worst = audit.worst
    if worst is not None:
        largest = f"largest loss {loss_text(worst.nats, budget)}"
        largest += "" if worst.ratio is None else " nats"
        if worst.output is not None:
            largest += f", between {shown(worst.more, 14)} and {shown(worst.less, 14)}"
        said.append(largest)
    return said if budget is None else [*said, f"budget {budget:.6g}"]


def _caption(audit: ProfileAudit, *, charts: bool, budget: float | None) -> list[str]:
    said = []
    if charts:
        same = _same_values(audit)
        labels = (audit.graph.inputs if same else audit.distributions.outputs).labels
        names = ", ".join(told_apart(labels[:_LISTED], 12))
        more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
        drawn = "outlined: the profile; filled: what it releases" if same else "what it releases"
        said += [drawn, f"{'values' if same else 'outputs'} from the left: {names}{more}"]
    elif len(audit.graph) > MOST_NAMES:
        said.append(f"each dot is one of {len(audit.graph):,} profiles")
        if audit.worst is not None and audit.worst.output is not None:
            said.append("named: the two with the largest loss")
    if any(over_budget(edge.nats, budget) for edge in audit.edges):
        over = "above the budget" if budget is not None else "infinite"
        said.append(f"dashed, orange: the loss is {over}")
    return said


# --- ink ------------------------------------------------------------------------------------------


def _draw(figure: Figure, axes: Axes, sheet: Sheet) -> None:
    losses = np.array([float(edge.nats) for edge in sheet.audit.edges])
    middle, top = sheet.width / 2, sheet.height - _MARGIN - _LINE / 2
    _write(axes, (middle, top), "Loss of each edge in nats, exact and rounded up", fontsize=11)
    small: dict[str, Any] = {"fontsize": 8.5, "color": _DIM}
    for number, line in enumerate(sheet.title):
        _write(axes, (middle, top - 0.06 - _LINE * (number + 1)), line, **small)
    for number, line in enumerate(reversed(sheet.caption)):
        _write(axes, (middle, _MARGIN + _LINE * (number + 0.3)), line, **small)
    if len(losses):
        _edges(figure, axes, sheet, losses)
    if sheet.isolated_from is not None:
        # Nothing is promised about the profiles at the bottom.
        level = sheet.isolated_from - 0.12
        style: dict[str, Any] = {"fontsize": 8, "color": _DIM, "fontstyle": "italic", "ha": "left"}
        _write(axes, (_MARGIN, level), "no edge, no promise:", **style)
        if len(losses):
            ends = [_MARGIN, sheet.width - _MARGIN]
            axes.plot(ends, [level + 0.13] * 2, color="#cccccc", linewidth=0.7)
    boxes = _charts(axes, sheet) if sheet.charts else _dots(axes, sheet)
    if 0 < len(losses) <= MOST_NUMBERS:
        _numbers(axes, sheet, boxes)


def _write(axes: Axes, at: Point, text: str, pad: float | None = None, **style: Any) -> Text:
    """Write a text, on paper of its own if there is a pad."""
    written = axes.text(*at, text, **({"ha": "center", "va": "center"} | style))
    # A name may hold dollar signs, which would be read as mathematics.
    written.set_parse_math(False)
    if pad is not None:
        written.set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": pad})
    return written


def _edges(figure: Figure, axes: Axes, sheet: Sheet, losses: Floats) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    over = np.array([over_budget(e.nats, sheet.budget) for e in sheet.audit.edges], dtype=bool)
    finite = losses[np.isfinite(losses)]
    full = sheet.budget or max(float(finite.max()) if len(finite) else 0.0, _LEAST_SCALE)
    plain = LinearSegmentedColormap.from_list("loss", COLOURS)
    scale = ScalarMappable(Normalize(0.0, full), plain.with_extremes(over=OVER))
    colours = scale.to_rgba(np.minimum(losses, full))
    segments = sheet.places[sheet.audit.graph.edge_array]
    thick = 2.0 if len(losses) <= MOST_NUMBERS else 1.2 if len(losses) <= 400 else 0.8
    # The worst are drawn last, so that no other lies over them.
    order = np.argsort(losses, kind="stable")
    for chosen, style in ((order[~over[order]], "solid"), (order[over[order]], (0, (3, 1.4)))):
        if len(chosen):
            lines = LineCollection(
                list(segments[chosen]),
                colors=OVER if style != "solid" else colours[chosen],
                linewidths=thick,
                linestyles=[style],
                zorder=1 if style == "solid" else 1.5,
                capstyle="butt",
            )
            axes.add_collection(lines, autolim=False)
    wide = min(3.6, sheet.width - 2.4)
    frame = (
        (sheet.width - wide) / 2 / sheet.width,
        (sheet.base - 0.26) / sheet.height,
        wide / sheet.width,
        _BAR / sheet.height,
    )
    bar = figure.colorbar(
        scale,
        cax=figure.add_axes(frame),
        orientation="horizontal",
        extend="max" if over.any() else "neither",
    )
    said = "loss in nats, up to the budget" if sheet.budget else "loss in nats"
    bar.set_label(said, fontsize=8, labelpad=1)
    bar.ax.tick_params(labelsize=7.5, length=2, pad=1.5)
    bar.outline.set_linewidth(0.5)


def _charts(axes: Axes, sheet: Sheet) -> Floats:
    """Draw each profile as a chart, and return the boxes (left, low, right, high) they fill."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    audit, width = sheet.audit, sheet.chart_width
    same = _same_values(audit)
    truth = audit.graph.distributions
    released = np.zeros((len(truth), _bars(audit)))
    labels = audit.distributions.outputs.labels
    columns = [audit.graph.inputs.index(y) for y in labels] if same else list(range(len(labels)))
    released[:, columns] = audit.distributions.floats
    highest = max(float(released.max()), float(truth.max()) if same else 0.0)
    step = width / released.shape[1]
    # Many thin bars with outlines would be all ink: one line over all of them instead.
    few = released.shape[1] <= _MOST_BARS
    share = 0.76 if few else 1.0
    fills: list[Rectangle] = []
    outlines: list[Rectangle] = []
    papers: list[Rectangle] = []
    boxes: list[tuple[float, ...]] = []
    assert sheet.names is not None
    for place, (x, y) in enumerate(sheet.places):
        left, low = x - width / 2, y - (_CHART + _NAME) / 2 + _NAME
        papers.append(Rectangle((left - 0.03, low - 0.02), width + 0.06, _CHART + 0.04))
        for column in range(released.shape[1]):
            corner = left + (column + (1 - share) / 2) * step, low
            wide = share * step
            fills.append(Rectangle(corner, wide, released[place, column] / highest * _CHART))
            if same and few:
                outlines.append(Rectangle(corner, wide, truth[place, column] / highest * _CHART))
        axes.plot([left, left + width], [low, low], color=_INK, linewidth=0.6, zorder=5)
        if same and not few:
            axes.stairs(
                low + truth[place] / highest * _CHART,
                left + step * np.arange(len(truth[place]) + 1),
                baseline=low,
                color=_INK,
                linewidth=0.5,
                zorder=4,
            )
        name = sheet.names[place]
        _write(axes, (x, low - 0.035), name, 0.6, va="top", fontsize=8, zorder=6)
        half = max(width / 2 + 0.03, _CELL * len(name) / 2)
        boxes.append((x - half, low - _NAME, x + half, low + _CHART + 0.03))
    layers: tuple[tuple[list[Rectangle], dict[str, Any]], ...] = (
        (papers, {"facecolor": _PAPER, "edgecolor": "#bbbbbb", "linewidth": 0.5, "zorder": 2}),
        (fills, {"facecolor": _FILL, "edgecolor": "none", "zorder": 3}),
        (outlines, {"facecolor": "none", "edgecolor": _INK, "linewidth": 0.8, "zorder": 4}),
    )
    for patches, style in layers:
        if patches:
            axes.add_collection(PatchCollection(patches, **style), autolim=False)
    return np.array(boxes)


def _dots(axes: Axes, sheet: Sheet) -> Floats:
    """Draw each profile as a dot, named if they are few, and return the boxes that are taken."""
    size = len(sheet.places)
    radius = 0.06 if sheet.names else 0.035 if size <= 500 else 0.018
    axes.scatter(
        sheet.places[:, 0],
        sheet.places[:, 1],
        s=(2 * 72 * radius) ** 2,
        color=_INK,
        edgecolors=_PAPER,
        zorder=3,
        linewidths=0.6 if sheet.names else 0.2,
    )
    boxes = np.concatenate([sheet.places - radius, sheet.places + radius], axis=1)
    if sheet.names is None:
        _name_worst(axes, sheet, radius)
        return boxes
    points = along(sheet.places, sheet.audit.graph.edges)
    away = radius + 0.02
    for (x, y), label in zip(sheet.places.tolist(), sheet.names, strict=True):
        text = _write(axes, (x, y), label, 0.3, fontsize=7.5, zorder=6)
        wide, high = _measured(axes, text)
        tried = [
            (x + across * (away + wide / 2), y + up * (away + high / 2))
            for across, up in ((0, -1), (0, 1), (1, 0), (-1, 0))
        ]
        tried += [
            (x + across * (away + wide) / 2, y + up * (away + high) / 2)
            for across, up in ((1, 1), (-1, 1), (1, -1), (-1, -1))
        ]
        best = _freest(tried, (wide, high), boxes, points, sheet) or tried[0]
        text.set_position(best)
        boxes = np.vstack([boxes, _box(best, (wide, high))])
    return boxes


def _name_worst(axes: Axes, sheet: Sheet, radius: float) -> None:
    """Name the two profiles with the largest loss, where there is no room to name all."""
    worst = sheet.audit.worst
    if worst is None or worst.output is None:
        return
    names = told_apart((worst.more, worst.less), 14)
    places = sheet.places[[sheet.audit.graph.profiles.index(k) for k in (worst.more, worst.less)]]
    # The upper one is named above itself, the lower one below, so that neither hides the edge.
    upper = int(places[1, 1] > places[0, 1])
    for k, name in enumerate(names):
        x, y = places[k]
        half = _CELL * len(name) / 2 + 0.05
        at = min(max(x, half), sheet.width - half), y + (radius + 0.03) * (1 if k == upper else -1)
        va = "bottom" if k == upper else "top"
        _write(axes, at, name, 0.5, va=va, fontsize=8, fontweight="bold", zorder=6)


def _numbers(axes: Axes, sheet: Sheet, boxes: Floats) -> None:
    """Write the loss on each edge where there is room; the largest losses choose first."""
    audit = sheet.audit
    points = along(sheet.places, audit.graph.edges)
    missing = 0
    for k in sorted(range(len(audit.edges)), key=lambda k: (-float(audit.edges[k].nats), k)):
        nats = audit.edges[k].nats
        over = over_budget(nats, sheet.budget)
        style: dict[str, Any] = {"color": "#9a3d00", "fontweight": "bold"} if over else {}
        said = loss_text(nats, sheet.budget)
        text = _write(axes, (0.0, 0.0), said, 0.8, fontsize=7.5, zorder=7, **style)
        wide, high = _measured(axes, text)
        size = wide + 0.03, high + 0.02
        first, second = sheet.places[list(audit.graph.edges[k])]
        on_edge = [(float(x), float(y)) for x, y in (first * (1 - t) + second * t for t in _ALONG)]
        # Beside the edge, just touching it, if there is no room on it.
        across = np.array([first[1] - second[1], second[0] - first[0]])
        across /= max(float(np.hypot(*across)), 1e-9)
        away = across * (0.5 * float(np.abs(across) @ size) + 0.01)
        beside = [(x + s * away[0], y + s * away[1]) for x, y in on_edge for s in (1.0, -1.0)]
        best = _freest(on_edge, size, boxes, points, sheet, k) or _freest(
            beside, size, boxes, points, sheet, k
        )
        if best is None:
            text.remove()
            missing += 1
            continue
        text.set_position(best)
        boxes = np.vstack([boxes, _box(best, size)])
    if missing:
        said = f"no room for the number of {missing} edge{'s' * (missing != 1)}: coloured only"
        style = {"ha": "right", "va": "bottom", "fontsize": 7, "color": _DIM}
        _write(axes, (sheet.width - _MARGIN, 0.06), said, **style)


def _measured(axes: Axes, text: Text) -> Point:
    """Return the width and height of a text in inches."""
    figure: Any = axes.figure
    extent = text.get_window_extent(figure.canvas.get_renderer())
    return extent.width / figure.dpi, extent.height / figure.dpi


def _box(centre: Point, size: Point) -> tuple[float, float, float, float]:
    """Return left, low, right and high of the box of a size about a centre."""
    (x, y), (wide, high) = centre, size
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _freest(
    tried: Iterable[Point],
    size: Point,
    boxes: Floats,
    points: Floats,
    sheet: Sheet,
    own: int | None = None,
) -> Point | None:
    """Return the first of the places that covers nothing, and as few edges as possible."""
    found: Point | None = None
    least = math.inf
    for centre in tried:
        left, low, right, high = _box(centre, size)
        if left < 0.05 or right > sheet.width - 0.05:
            continue
        covers = (boxes[:, :2] < [right, high]) & (boxes[:, 2:] > [left, low])
        if covers.all(axis=1).any():
            continue
        within: npt.NDArray[np.bool_] = (points > [left, low]) & (points < [right, high])
        inside: npt.NDArray[np.bool_] = np.any(within.all(axis=2), axis=1)
        crossed = int(inside.sum()) - (own is not None and bool(inside[own]))
        if crossed < least:
            found, least = centre, crossed
        if not crossed:
            break
    return found
