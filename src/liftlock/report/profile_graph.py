"""A graph of profiles as a picture: who is joined to whom, and the exact loss of every edge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from liftlock.contexts import ProfileGraph
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.notions.audit import ProfileAudit
from liftlock.notions.profile import EdgeLoss
from liftlock.report.format import told_apart
from liftlock.report.pictures import check_picture, picture
from liftlock.report.profile_room import (
    Booleans,
    Box,
    along,
    beside_edge,
    box_of,
    freest,
    measured,
    on_edge,
)
from liftlock.report.profile_sheet import (
    CELL,
    CHART,
    LINE,
    MARGIN,
    MOST_NUMBERS,
    NAME,
    Sheet,
    columns_of,
    loss_text,
    over_budget,
    same_values,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

MOST_PROFILES, MOST_EDGES = 5_000, 20_000
"""Beyond these a picture is a blot."""

COLOURS = ("#a9cbe6", "#4a94c9", "#1b5fa3", "#08274f")
OVER = "#d95f02"
"""Losses from none to the whole budget are blues that darken; above it they are orange, dashed."""
_INK, _FILL, _DIM, _PAPER = "#222222", "#9db4ce", "#666666", "white"
_MOST_BARS = 20
_BAR = 0.12
"""Inches: how high the colour bar is."""
_LEAST_SCALE = 0.05
"""Nats at which the colours are full, at least: losses of nearly nothing should look so."""


def draw_graph(audit: ProfileAudit, path: Path, *, budget: float | None = None) -> None:
    """Draw the graph with the exact loss of each edge, rounded up, and coloured by the budget.

    Up to 24 profiles are small charts: the outline is the profile's distribution, what is filled
    is what it releases. More are dots, and more than 60 edges are coloured only.
    """
    check_picture(path)
    check_drawable(audit.graph)
    sheet = Sheet.of(audit, budget)
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


def _draw(figure: Figure, axes: Axes, sheet: Sheet) -> None:
    audit = sheet.audit
    losses = np.array([float(edge.nats) for edge in audit.edges])
    over = np.array([over_budget(edge.nats, sheet.budget) for edge in audit.edges], dtype=bool)
    top = sheet.height - MARGIN - LINE / 2
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
                top - 0.06 - LINE * (number + 1),
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
                MARGIN + LINE * (number + 0.3),
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


def _edges(figure: Figure, axes: Axes, sheet: Sheet, losses: Floats, over: Booleans) -> None:
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


def _separate(axes: Axes, sheet: Sheet) -> None:
    """Say of the profiles at the bottom that nothing is promised about them."""
    assert sheet.isolated_from is not None
    level = sheet.isolated_from - 0.12
    axes.text(
        MARGIN,
        level,
        "no edge, no promise:",
        fontsize=8,
        color=_DIM,
        va="center",
        fontstyle="italic",
    )
    if sheet.audit.graph.edges:
        axes.plot(
            [MARGIN, sheet.width - MARGIN],
            [level + 0.13] * 2,
            color="#cccccc",
            linewidth=0.7,
        )


def _charts(axes: Axes, sheet: Sheet) -> Floats:
    """Draw each profile as a chart, and return the boxes (left, low, right, high) they fill."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    audit, width = sheet.audit, sheet.chart_width
    same = same_values(audit)
    truth = audit.graph.laws
    released = np.zeros((len(truth), columns_of(audit)))
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
    boxes: list[Box] = []
    assert sheet.names is not None
    for place, (x, y) in enumerate(sheet.places):
        left, low = x - width / 2, y - (CHART + NAME) / 2 + NAME
        papers.append(Rectangle((left - 0.03, low - 0.02), width + 0.06, CHART + 0.04))
        for column in range(released.shape[1]):
            corner = left + (column + (1 - share) / 2) * step, low
            wide = share * step
            fills.append(Rectangle(corner, wide, released[place, column] / highest * CHART))
            if same and few:
                outlines.append(Rectangle(corner, wide, truth[place, column] / highest * CHART))
        axes.plot([left, left + width], [low, low], color=_INK, linewidth=0.6, zorder=5)
        if same and not few:
            axes.stairs(
                low + truth[place] / highest * CHART,
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
        half = max(width / 2 + 0.03, CELL * len(sheet.names[place]) / 2)
        boxes.append((x - half, low - NAME, x + half, low + CHART + 0.03))
    layers: tuple[tuple[list[Rectangle], dict[str, Any]], ...] = (
        (papers, {"facecolor": _PAPER, "edgecolor": "#bbbbbb", "linewidth": 0.5, "zorder": 2}),
        (fills, {"facecolor": _FILL, "edgecolor": "none", "zorder": 3}),
        (outlines, {"facecolor": "none", "edgecolor": _INK, "linewidth": 0.8, "zorder": 4}),
    )
    for patches, style in layers:
        if patches:
            axes.add_collection(PatchCollection(patches, **style), autolim=False)
    return np.array(boxes)


def _dots(figure: Figure, axes: Axes, sheet: Sheet) -> Floats:
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
    boxes: list[Box] = [box_of((x, y), (2 * radius, 2 * radius)) for x, y in sheet.places.tolist()]
    if sheet.names is None:
        _ends(axes, sheet, radius)
        return np.array(boxes)
    points = along(sheet)
    for (x, y), label in zip(sheet.places, sheet.names, strict=True):
        text = _plain(axes.text(x, y, label, ha="center", va="center", fontsize=7.5, zorder=6))
        text.set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.3})
        wide, high = measured(figure, text)
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
        best = freest(tried, (wide, high), np.array(boxes), points, sheet)
        if best is None:
            best = tried[0]
        text.set_position(best)
        boxes.append(box_of(best, (wide, high)))
    return np.array(boxes)


def _ends(axes: Axes, sheet: Sheet, radius: float) -> None:
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
            min(max(x, CELL * len(name) / 2 + 0.05), sheet.width - CELL * len(name) / 2 - 0.05),
            y + (radius + 0.03) * (1 if up else -1),
            name,
            ha="center",
            va="bottom" if up else "top",
            fontsize=8,
            fontweight="bold",
            zorder=6,
        )
        _plain(text).set_bbox({"facecolor": _PAPER, "edgecolor": "none", "pad": 0.5, "alpha": 0.9})


def _numbers(figure: Figure, axes: Axes, sheet: Sheet, boxes: Floats) -> None:
    """Write the loss on each edge where there is room; the largest losses choose first."""
    audit = sheet.audit
    points = along(sheet)
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
        wide, high = measured(figure, text)
        size = wide + 0.03, high + 0.02
        first, second = sheet.places[list(audit.graph.edges[k])]
        best = freest(on_edge(first, second), size, np.array(taken), points, sheet, k)
        if best is None:
            # Beside the edge, just touching it.
            best = freest(beside_edge(first, second, size), size, np.array(taken), points, sheet, k)
        if best is None:
            text.remove()
            missing += 1
            continue
        text.set_position(best)
        taken.append(box_of(best, size))
    if missing:
        axes.text(
            sheet.width - MARGIN,
            0.06,
            f"no room for the number of {missing} edge{'s' * (missing != 1)}: coloured only",
            ha="right",
            va="bottom",
            fontsize=7,
            color=_DIM,
        )
