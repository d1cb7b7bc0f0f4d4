"""Privacy against utility as a picture: one curve for each method, named where it ends."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.designs.comparison import Comparison, Curve
from liftlock.report.design import heading
from liftlock.report.format import title_of
from liftlock.report.pictures import check_picture, picture, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#1b4f8a", "#b3500a", "#3d7a35", "#8a2f6b", "#5b5b5b", "#0f7f86", "#9a7d0a", "#6a3fa0")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_ENDS = "#777777"
_LONGEST = 48
"""Characters of a name that fit along an axis."""
_LINE_HEIGHT = 0.052
"""The least distance of two names, as a share of the height of the axes."""


def draw_tradeoff(found: Comparison, path: Path) -> None:
    """Draw the utility against the budget; published methods against the budget they truly need."""
    check_picture(path)
    with picture(path, 8.0, 5.0) as figure:
        axes = figure.add_subplot()
        names: list[tuple[float, float, str, str]] = []
        for place, curve in enumerate(found.curves):
            colour = _COLOURS[place % len(_COLOURS)]
            end = _draw(axes, curve, colour, _MARKERS[place % len(_MARKERS)])
            if end is not None:
                names.append((*end, heading(curve), colour))
        for level, text in ((found.truth, "no noise"), (found.nothing, "no release")):
            axes.axhline(level, color=_ENDS, linestyle=":", linewidth=1.1, zorder=1)
            names.append((math.nan, level, text, _ENDS))
        axes.grid(visible=True, color="#e3e3e3", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.set_xlim(left=0.0)
        axes.margins(y=0.06)
        axes.set_xlabel(f"budget epsilon (nats), 1 means {found.notion}")
        axes.set_ylabel(textwrap.fill(title_of(found.utility, found.title), _LONGEST))
        axes.yaxis.set_major_formatter(plain_number)
        better = "higher is better" if found.larger_is_better else "lower is better"
        axes.set_title(f"Utility against privacy, {found.context}\n({better})", fontsize=11)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        write_names(axes, names)
        if not all(curve.keeps for curve in found.curves):
            note = "* published formula, drawn at the budget that it truly needs"
            if any(math.isinf(point.needed) for curve in found.curves for point in curve.points):
                note += "; points that no budget covers are left out"
            figure.supxlabel(note, fontsize=8, x=0.01, ha="left", color="#444444")


def _draw(axes: Axes, curve: Curve, colour: str, marker: str) -> tuple[float, float] | None:
    points = [
        (point.epsilon if curve.keeps else point.needed, point.objective) for point in curve.points
    ]
    shown = sorted((x, y) for x, y in points if math.isfinite(x))
    if not shown:
        return None
    across, up = np.array(shown).T
    axes.plot(
        across,
        up,
        color=colour,
        linestyle="-" if curve.keeps else ":",
        linewidth=1.7 if curve.keeps else 1.0,
        marker=marker,
        markersize=4.5,
        markerfacecolor=colour if curve.keeps else "white",
        zorder=3,
    )
    return float(across[-1]), float(up[-1])


def write_names(axes: Axes, names: list[tuple[float, float, str, str]]) -> None:
    """Write each name to the right of the axes, as near to the end of its curve as possible."""
    low, high = axes.get_ylim()
    right = axes.get_xlim()[1]
    wanted = [(level - low) / (high - low) for _, level, _, _ in names]
    for place, height in enumerate(spread(wanted, _LINE_HEIGHT)):
        across, level, text, colour = names[place]
        start = right if math.isnan(across) else across
        axes.annotate(
            text,
            xy=(start, level),
            xytext=(1.025, height),
            textcoords="axes fraction",
            color=colour,
            fontsize=9,
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "alpha": 0.55},
        )


def spread(wanted: list[float], least: float) -> list[float]:
    """Move heights apart until any two differ by at least so much, and stay between 0 and 1.

    >>> [round(height, 2) for height in spread([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    # Neighbours that are too close form a block around their mean, as in isotonic regression.
    blocks: list[list[float]] = []
    for position, k in enumerate(order):
        blocks.append([wanted[k] - least * position, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, size = blocks.pop()
            before, count = blocks[-1]
            blocks[-1] = [(before * count + mean * size) / (count + size), count + size]
    bases = [mean for mean, size in blocks for _ in range(int(size))]
    top = 1.0 - least * (len(wanted) - 1)
    heights = [0.0] * len(wanted)
    for position, k in enumerate(order):
        heights[k] = min(max(bases[position], 0.0), max(top, 0.0)) + least * position
    return heights
