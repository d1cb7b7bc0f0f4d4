"""Privacy against utility as a picture: one curve for each method, named where it ends."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.designs.comparison import Comparison, Curve
from liftlock.notions.registry import NOTIONS, TITLES
from liftlock.report.format import title_of
from liftlock.report.plots.figure import (
    COLOURS,
    MARKERS,
    check_picture,
    picture,
    plain_number,
    tidy,
    write_names,
)
from liftlock.report.text.design import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ENDS = "#777777"
_LONGEST = 48
"""Characters of a name that fit along an axis."""


def draw_tradeoff(found: Comparison, path: Path) -> None:
    """Draw the utility against what each mechanism truly leaks."""
    check_picture(path)
    with picture(path, 8.0, 5.0) as figure:
        axes = figure.add_subplot()
        names: list[tuple[float, float, str, str]] = []
        for place, curve in enumerate(found.curves):
            colour = COLOURS[place % len(COLOURS)]
            end = _draw(axes, curve, colour, MARKERS[place % len(MARKERS)])
            if end is not None:
                names.append((*end, heading(curve), colour))
        ends = [(found.truth, "no noise"), (found.nothing, "no release")]
        if math.isinf(found.nothing):
            # Errors without a bound: those of small budgets would hide all others.
            axes.set_yscale("log")
            axes.yaxis.set_minor_formatter("")
            ends = [(level, text) for level, text in ends if 0 < level < math.inf]
        for level, text in ends:
            axes.axhline(level, color=_ENDS, linestyle=":", linewidth=1.1, zorder=1)
            names.append((math.nan, level, text, _ENDS))
        axes.set_xlim(left=0.0)
        axes.margins(y=0.06)
        axes.set_xlabel(f"what is truly leaked: {_leakage(found.leaked)}")
        axes.set_ylabel(textwrap.fill(title_of(found.utility, found.title), _LONGEST))
        axes.yaxis.set_major_formatter(plain_number)
        better = "higher is better" if found.larger_is_better else "lower is better"
        axes.set_title(f"Utility against privacy, {found.context}\n({better})", fontsize=11)
        tidy(axes)
        write_names(axes, names)
        if not all(curve.keeps for curve in found.curves):
            note = "* published formula, which may exceed the budget it is given"
            if any(math.isinf(point.needed) for curve in found.curves for point in curve.points):
                note += "; points that no budget covers are left out"
            figure.supxlabel(note, fontsize=8, x=0.01, ha="left", color="#444444")


def _leakage(key: str) -> str:
    """Name a notion, with its unit."""
    for notion in NOTIONS.values():
        if key in {kind.key for kind in notion.kinds()} and notion.unit:
            return f"{TITLES[key]}, {notion.unit}"
    return TITLES.get(key, key)


def _draw(axes: Axes, curve: Curve, colour: str, marker: str) -> tuple[float, float] | None:
    points = [(point.needed, point.objective) for point in curve.points]
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
