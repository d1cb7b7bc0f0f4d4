"""A graph of profiles as a picture: who is joined to whom, and the exact loss of every edge."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from liftlock.errors import InputError
from liftlock.exact.enclosure import Enclosure
from liftlock.exact.integers import Floats
from liftlock.notions.profile import EdgeLoss, ProfileAudit
from liftlock.profile_graph import ProfileGraph
from liftlock.report.labels import shown, told_apart
from liftlock.report.pictures import HIGHEST, WIDEST, check_picture, picture
from liftlock.report.profile_layout import cleared, layout, overlapping, packed, parted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

Booleans = npt.NDArray[np.bool_]
_Box = tuple[float, float, float, float]

MOST_CHARTS, MOST_NAMES, MOST_NUMBERS = 24, 60, 60
"""Up to so many profiles have a chart, or a name; up to so many edges have their number."""
MOST_PROFILES, MOST_EDGES = 5_000, 20_000
"""Beyond these a picture is a blot."""

COLOURS = ("#a9cbe6", "#4a94c9", "#1b5fa3", "#08274f")
OVER = "#d95f02"
"""Losses from none to the whole budget are blues that darken; above it they are orange, dashed."""
_INK, _FILL, _DIM, _PAPER = "#222222", "#9db4ce", "#666666", "white"
_LISTED = 8
_MOST_BARS = 20
_MOST_DIGITS = 9
_LEAST_SCALE = 0.05
"""Nats at which the colours are full, at least: losses of nearly nothing should look so."""

# Inches.
_MARGIN, _LINE, _BAR, _BOTTOM = 0.22, 0.17, 0.12, 0.62
_CHART, _NAME, _AIR = 0.42, 0.17, 0.10
_NARROWEST = 5.2
_NUMBER = np.array([0.42, 0.16])
_STRETCHED = 1.4
_CELL = 0.075
"""The width of a character of a name."""

_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.33, 0.67, 0.28, 0.72, 0.23, 0.77)


def draw_graph(audit: ProfileAudit, path: Path, *, budget: float | None = None) -> None:
    """Draw the graph with the exact loss of each edge, rounded up, and coloured by the budget.

    Up to 24 profiles are small charts: the outline is the profile's distribution, what is filled
    is what it releases. More are dots, and more than 60 edges are coloured only.
    """
    check_picture(path)
    check_drawable(audit.graph)
    sheet = _Sheet.of(audit, budget)
    with picture(path, sheet.width, sheet.height) as figure:
        # Every place is in inches, so that nothing has to be arranged.
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0.0, sheet.width)
        axes.set_ylim(0.0, sheet.height)
        axes.set_axis_off()
        _draw(figure, axes, sheet)


def check_drawable(graph: ProfileGraph) -> None:
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


def loss_text(loss: Enclosure, budget: float | None = None, *, digits: int = 3) -> str:
    """Write a loss with so many decimals, rounded up; with more if it would seem over the budget.

    >>> loss_text(Enclosure.of(Fraction(1, 3))), loss_text(Enclosure.of(0))
    ('0.334', '0')
    >>> loss_text(Enclosure.of(Fraction("0.99996")), 0.99999), loss_text(Enclosure.infinity())
    ('0.99996', '∞')
    """
    if loss.upper is None:
        return "∞"
    if loss.upper == 0:
        return "0"
    if loss.upper < Fraction(1, 10**digits):
        exponent = math.floor(math.log10(float(loss.upper) or 1e-300)) - 1
        unit = Fraction(10) ** exponent
        return f"{float(math.ceil(loss.upper / unit) * unit):.2g}"
    while True:
        rounded = Fraction(math.ceil(loss.upper * 10**digits), 10**digits)
        fits = budget is None or float(rounded) <= budget or loss.upper > budget
        if fits or digits >= _MOST_DIGITS:
            return f"{float(rounded):.{digits}f}"
        digits += 1


def over_budget(loss: Enclosure, budget: float | None) -> bool:
    """Tell whether a loss is drawn as above the budget (a float, so a hair is allowed for)."""
    if budget is None or loss.is_infinite:
        return loss.is_infinite
    return float(loss.lower) > budget * (1 + 1e-12)


@dataclass(frozen=True, eq=False)
class _Sheet:
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
    def of(cls, audit: ProfileAudit, budget: float | None) -> _Sheet:
        graph = audit.graph
        charts = len(graph) <= MOST_CHARTS
        names = tuple(told_apart(graph.profiles.labels, 14)) if len(graph) <= MOST_NAMES else None
        chart_width = min(max(0.1 * _columns(audit), 0.4), 0.75)
        longest = max((len(name) for name in names), default=0) if names else 0
        if charts:
            box = np.array([max(chart_width, _CELL * longest) + _AIR, _CHART + _NAME + _AIR])
            target = 1.5
        elif names:
            box, target = np.array([0.3, 0.46]), 1.1
        else:
            box, target = np.array([0.16, 0.16]), 0.8
        room = np.array([WIDEST - 2 * _MARGIN, HIGHEST - 2 * _MARGIN - _BOTTOM - 6 * _LINE])
        alone = [part[0] for part in graph.components if len(part) == 1]
        cell = box + (0.0 if charts else [_CELL * longest, 0.14 if names else 0.06])
        across = max(1, min(len(alone), int(room[0] / cell[0])))
        deep = math.ceil(len(alone) / across) if alone else 0
        below = deep * cell[1] + (0.3 if alone else 0.0)
        joined = _joined(graph, box, room - [0.0, below], target)
        width, high = (joined.max(axis=0) - joined.min(axis=0) + box) if len(joined) else (0.0, 0.0)
        if len(alone) > 1:
            width = max(width, min(across, len(alone)) * cell[0])
        full = min(max(width + 2 * _MARGIN, _NARROWEST), WIDEST)
        caption = _wrapped(_caption(audit, charts=charts, budget=budget), full)
        title = _wrapped(_about(audit, budget), full)
        base = _MARGIN + _LINE * len(caption) + (_BOTTOM if graph.edges else 0.0)
        places = np.zeros((len(graph), 2))
        rest = [place for part in graph.components if len(part) > 1 for place in part]
        if rest:
            corner = joined.min(axis=0) - box / 2
            places[rest] = joined - corner + [(full - width) / 2, base + below]
            spare = width - (joined.max(axis=0) - joined.min(axis=0) + box)[0]
            places[rest, 0] += spare / 2
        for number, place in enumerate(alone):
            row, column = divmod(number, across)
            start = (full - min(across, len(alone)) * cell[0]) / 2
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
    part_of = {place: number for number, part in enumerate(parts) for place in part}
    inside: list[list[tuple[int, int]]] = [[] for _ in parts]
    position = {place: k for part in parts for k, place in enumerate(part)}
    for first, second in graph.edges:
        inside[part_of[first]].append((position[first], position[second]))
    drawn = [layout(len(part), edges) for part, edges in zip(parts, inside, strict=True)]
    gap = np.maximum(box / target, 0.4) + 0.22
    places = np.concatenate(packed(drawn, (float(gap[0]), float(gap[1]))))
    dense = len(graph.edges) / (1.5 * len(places))
    extent = np.maximum(places.max(axis=0) - places.min(axis=0), 1e-9)
    fit = (room - box) / extent
    scale = np.full(2, min(target * max(1.0, math.sqrt(dense)), *fit))
    numbered = len(places) <= MOST_NAMES and len(graph.edges) <= MOST_NUMBERS
    if numbered and any(len(edges) > len(part) for part, edges in zip(parts, inside, strict=True)):
        # Entangled edges need room for their numbers, even if lengths then depend on the way.
        scale = np.minimum(_STRETCHED * scale, fit)
    found: Floats = places * scale
    if len(places) > MOST_NAMES:
        return found
    order = {place: k for k, place in enumerate(place for part in parts for place in part)}
    pairs = [(order[first], order[second]) for first, second in graph.edges]
    for spare in (_NUMBER, 0.5 * _NUMBER, 0.0 * _NUMBER):
        apart = box + spare if numbered else box
        for _ in range(3):
            if not overlapping(found, *apart):
                return _fitted(cleared(found, pairs, *box), box, room) if numbered else found
            found = _fitted(parted(found, *apart), box, room)
    return found


def _fitted(places: Floats, box: Floats, room: Floats) -> Floats:
    """Shrink places until they fit the sheet."""
    extent = np.maximum(places.max(axis=0) - places.min(axis=0), 1e-9)
    fitted: Floats = places * np.minimum(1.0, (room - box) / extent)
    return fitted


def _columns(audit: ProfileAudit) -> int:
    return len(audit.graph.inputs) if _same_values(audit) else len(audit.laws.outputs)


def _same_values(audit: ProfileAudit) -> bool:
    """Tell whether outputs are values, so that truth and release share their columns."""
    return all(label in audit.graph.inputs for label in audit.laws.outputs.labels)


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
    graph = audit.graph
    said = [graph.describe().removeprefix("a graph of ")]
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
        labels = (audit.graph.inputs if same else audit.laws.outputs).labels
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


def _draw(figure: Figure, axes: Axes, sheet: _Sheet) -> None:
    audit = sheet.audit
    losses = np.array([float(edge.nats) for edge in audit.edges])
    over = np.array([over_budget(edge.nats, sheet.budget) for edge in audit.edges], dtype=bool)
    top = sheet.height - _MARGIN - _LINE / 2
    axes.text(
        sheet.width / 2,
        top,
        "Loss of each edge in nats, exact and rounded up",
        ha="center",
        va="center",
        fontsize=11,
    )
    for number, line in enumerate(sheet.title):
        _plain(
            axes.text(
                sheet.width / 2,
                top - 0.06 - _LINE * (number + 1),
                line,
                ha="center",
                va="center",
                fontsize=8.5,
                color=_DIM,
            )
        )
    for number, line in enumerate(reversed(sheet.caption)):
        _plain(
            axes.text(
                sheet.width / 2,
                _MARGIN + _LINE * (number + 0.3),
                line,
                ha="center",
                va="center",
                fontsize=8.5,
                color=_DIM,
            )
        )
    if len(losses):
        _edges(figure, axes, sheet, losses, over)
    if sheet.isolated_from is not None:
        _separate(axes, sheet)
    boxes = _charts(axes, sheet) if sheet.charts else _dots(figure, axes, sheet)
    if 0 < len(losses) <= MOST_NUMBERS:
        _numbers(figure, axes, sheet, boxes)


def _plain(text: Text) -> Text:
    # A name may hold dollar signs, which would be read as mathematics.
    text.set_parse_math(False)
    return text


def _edges(figure: Figure, axes: Axes, sheet: _Sheet, losses: Floats, over: Booleans) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

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


def _separate(axes: Axes, sheet: _Sheet) -> None:
    """Say of the profiles at the bottom that nothing is promised about them."""
    assert sheet.isolated_from is not None
    level = sheet.isolated_from - 0.12
    axes.text(
        _MARGIN,
        level,
        "no edge, no promise:",
        fontsize=8,
        color=_DIM,
        va="center",
        fontstyle="italic",
    )
    if sheet.audit.graph.edges:
        axes.plot(
            [_MARGIN, sheet.width - _MARGIN],
            [level + 0.13] * 2,
            color="#cccccc",
            linewidth=0.7,
        )


def _charts(axes: Axes, sheet: _Sheet) -> Floats:
    """Draw each profile as a chart, and return the boxes (left, low, right, high) they fill."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    audit, width = sheet.audit, sheet.chart_width
    same = _same_values(audit)
    truth = audit.graph.laws
    released = np.zeros((len(truth), _columns(audit)))
    labels = audit.laws.outputs.labels
    columns = [audit.graph.inputs.index(y) for y in labels] if same else list(range(len(labels)))
    released[:, columns] = audit.laws.floats
    highest = max(float(released.max()), float(truth.max()) if same else 0.0)
    step = width / released.shape[1]
    # Many thin bars with outlines would be all ink: one line over all of them instead.
    few = released.shape[1] <= _MOST_BARS
    share = 0.76 if few else 1.0
    fills: list[Rectangle] = []
    outlines: list[Rectangle] = []
    papers: list[Rectangle] = []
    boxes: list[_Box] = []
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
        name = _plain(
            axes.text(
                x, low - 0.035, sheet.names[place], ha="center", va="top", fontsize=8, zorder=6
            )
        )
        name.set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.6})
        half = max(width / 2 + 0.03, _CELL * len(sheet.names[place]) / 2)
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


def _dots(figure: Figure, axes: Axes, sheet: _Sheet) -> Floats:
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
    boxes: list[_Box] = [_box((x, y), (2 * radius, 2 * radius)) for x, y in sheet.places.tolist()]
    if sheet.names is None:
        _ends(axes, sheet, radius)
        return np.array(boxes)
    points = _along(sheet)
    for (x, y), label in zip(sheet.places, sheet.names, strict=True):
        text = _plain(axes.text(x, y, label, ha="center", va="center", fontsize=7.5, zorder=6))
        text.set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.3})
        wide, high = _measured(figure, text)
        away = radius + 0.02
        tried = [
            (x, y - away - high / 2),
            (x, y + away + high / 2),
            (x + away + wide / 2, y),
            (x - away - wide / 2, y),
            (x + away / 2 + wide / 2, y + away / 2 + high / 2),
            (x - away / 2 - wide / 2, y + away / 2 + high / 2),
            (x + away / 2 + wide / 2, y - away / 2 - high / 2),
            (x - away / 2 - wide / 2, y - away / 2 - high / 2),
        ]
        best = _freest(tried, (wide, high), np.array(boxes), points, sheet)
        if best is None:
            best = tried[0]
        text.set_position(best)
        boxes.append(_box(best, (wide, high)))
    return np.array(boxes)


def _ends(axes: Axes, sheet: _Sheet, radius: float) -> None:
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
        up = k == upper
        text = axes.text(
            min(max(x, _CELL * len(name) / 2 + 0.05), sheet.width - _CELL * len(name) / 2 - 0.05),
            y + (radius + 0.03) * (1 if up else -1),
            name,
            ha="center",
            va="bottom" if up else "top",
            fontsize=8,
            fontweight="bold",
            zorder=6,
        )
        _plain(text).set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.9})


def _along(sheet: _Sheet) -> Floats:
    """Return points along every edge, of shape (edges, points, 2)."""
    ends = sheet.places[sheet.audit.graph.edge_array]
    shares = np.linspace(0.0, 1.0, 60)[None, :, None]
    points: Floats = ends[:, :1] * (1.0 - shares) + ends[:, 1:] * shares
    return points


def _measured(figure: Figure, text: Text) -> tuple[float, float]:
    """Return the width and height of a text in inches."""
    canvas: Any = figure.canvas
    extent = text.get_window_extent(canvas.get_renderer())
    return extent.width / figure.dpi, extent.height / figure.dpi


def _box(centre: tuple[float, float], size: tuple[float, float]) -> _Box:
    (x, y), (wide, high) = centre, size
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _freest(
    tried: list[tuple[float, float]],
    size: tuple[float, float],
    boxes: Floats,
    points: Floats,
    sheet: _Sheet,
    own: int | None = None,
) -> tuple[float, float] | None:
    """Return the first of the places that covers nothing, and as few edges as possible."""
    found: tuple[float, float] | None = None
    least = math.inf
    for centre in tried:
        left, low, right, high = _box(centre, size)
        if left < 0.05 or right > sheet.width - 0.05:
            continue
        covers = (
            (boxes[:, 0] < right)
            & (boxes[:, 2] > left)
            & (boxes[:, 1] < high)
            & (boxes[:, 3] > low)
        )
        if covers.any():
            continue
        inside: Booleans = (
            (points[..., 0] > left)
            & (points[..., 0] < right)
            & (points[..., 1] > low)
            & (points[..., 1] < high)
        )
        within = np.flatnonzero(inside.any(axis=1))
        crossed = int((within != -1 if own is None else within != own).sum())
        if crossed < least:
            found, least = centre, crossed
        if not crossed:
            break
    return found


def _on(first: Floats, second: Floats) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (first * (1 - t) + second * t for t in _ALONG)]


def _beside(first: Floats, second: Floats, size: tuple[float, float]) -> list[tuple[float, float]]:
    way = second - first
    across = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-9)
    away = 0.5 * (abs(across[0]) * size[0] + abs(across[1]) * size[1]) + 0.01
    return [
        (x + side * float(across[0]), y + side * float(across[1]))
        for x, y in _on(first, second)
        for side in (away, -away)
    ]


def _numbers(figure: Figure, axes: Axes, sheet: _Sheet, boxes: Floats) -> None:
    """Write the loss on each edge where there is room; the largest losses choose first."""
    audit = sheet.audit
    points = _along(sheet)
    taken = [tuple(box) for box in boxes]
    missing = 0
    for k in sorted(range(len(audit.edges)), key=lambda k: (-float(audit.edges[k].nats), k)):
        edge: EdgeLoss = audit.edges[k]
        over = over_budget(edge.nats, sheet.budget)
        text = axes.text(
            0.0,
            0.0,
            loss_text(edge.nats, sheet.budget),
            ha="center",
            va="center",
            fontsize=7.5,
            color="#9a3d00" if over else _INK,
            fontweight="bold" if over else "normal",
            zorder=7,
        )
        text.set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.8})
        wide, high = _measured(figure, text)
        size = wide + 0.03, high + 0.02
        first, second = sheet.places[list(audit.graph.edges[k])]
        best = _freest(_on(first, second), size, np.array(taken), points, sheet, k)
        if best is None:
            # Beside the edge, just touching it.
            best = _freest(_beside(first, second, size), size, np.array(taken), points, sheet, k)
        if best is None:
            text.remove()
            missing += 1
            continue
        text.set_position(best)
        taken.append(_box(best, size))
    if missing:
        axes.text(
            sheet.width - _MARGIN,
            0.06,
            f"no room for the number of {missing} edge{'s' * (missing != 1)}: coloured only",
            ha="right",
            va="bottom",
            fontsize=7,
            color=_DIM,
        )
