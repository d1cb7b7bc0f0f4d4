"""What profiles release as the budget grows, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.designs.comparison import Comparison, Curve
from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.model import ProfileGraph
from liftlock.report.format import cut, printable, told_apart
from liftlock.report.plots.figure import (
    COLOURS,
    MARKERS,
    check_picture,
    picture,
    plain_number,
    spread,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASELINE = "randomised-response"
AT = 0.2
"""The budget at which the spread is marked, as in the paper."""

_ORDERED = ("#08274f", "#2166ac", "#5aa5c8", "#8a8f98", "#e08a3c", "#b3500a", "#6b2a05")
"""Profiles from first to last: blue to orange, which everybody tells apart."""
_MARKED = 12
"""Up to so many budgets have a mark each."""
_NAMED = 8
"""Up to so many profiles or values are named at the end of their line."""
_LINE_HEIGHT = 0.075
_ALIKE = 1e-6
_MARK = "#555555"


def usual_methods(graph: ProfileGraph) -> tuple[str, str]:
    """Return the baseline, and the paper's mechanism for so many values."""
    return BASELINE, "smooth-one-bit" if len(graph.inputs) == 2 else "smooth-categorical"


@dataclass(frozen=True, eq=False)
class _Lines:
    """The points of one method as arrays, in the order of the budgets."""

    graph: ProfileGraph
    method: str
    epsilons: Floats
    released: Floats
    """Budgets x profiles x values."""
    costs: Floats
    """Budgets x values."""

    @classmethod
    def of(cls, graph: ProfileGraph, curve: Curve) -> _Lines:
        points = sorted(curve.points, key=lambda point: point.epsilon)
        errors = [point.errors for point in points if point.errors is not None]
        return cls(
            graph,
            curve.method,
            np.array([point.epsilon for point in points]),
            np.array([found.released for found in errors]),
            np.array([found.marginal for found in errors]),
        )


def _read(found: Comparison) -> tuple[ProfileGraph, list[_Lines]]:
    if found.graph is None:
        raise InputError(
            "this picture is for graphs of profiles",
            value=found.context,
            remedy="draw_tradeoff draws any comparison",
        )
    return found.graph, [_Lines.of(found.graph, curve) for curve in found.curves]


def draw_released(found: Comparison, path: Path) -> None:
    """Draw what is released as the budget grows, a panel for each method.

    Two values: the probability of the second one, a line for each profile. More: the largest error
    of the frequency of each value, a line for each value.

    Source: 004 Fig. 3 and Fig. 2b-c.
    """
    check_picture(path)
    graph, curves = _read(found)
    if len(graph.inputs) == 2:
        draw_chains([found], path)
        return
    panels = len(curves)
    with picture(path, min(1.6 + 3.6 * panels, 11.0), 3.9) as figure:
        row = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        highest = max(float(curve.costs.max()) for curve in curves)
        for axes, curve in zip(row, curves, strict=True):
            _costs(axes, curve)
            axes.set_ylim(-0.02 * highest, 1.06 * highest or 1.0)
        row[0].set_ylabel("largest error of a value's frequency\nover the profiles")
        handles, names = row[0].get_legend_handles_labels()
        legend = figure.legend(
            handles,
            names,
            loc="outside lower center",
            ncols=min(len(names), 6),
            fontsize=8.5,
            frameon=False,
            title="value",
            title_fontsize=8.5,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        figure.suptitle(f"{_about(graph)}\n(lower is better)", fontsize=11)


def draw_chains(sweeps: Sequence[Comparison], path: Path) -> None:
    """Draw P(second value) of every profile by the budget: a column for each graph of one bit.

    The rows are the methods, the baseline on top. Lines further apart mean less noise.

    Source: 004 Fig. 3.
    """
    check_picture(path)
    if not sweeps:
        raise InputError("nothing to draw", remedy="give at least one comparison")
    methods = [curve.method for curve in sweeps[0].curves]
    read = [_read(found) for found in sweeps]
    for graph, curves in read:
        if len(graph.inputs) != 2:
            raise InputError(
                "this picture is for profiles of two values",
                value=graph.describe(),
                remedy="draw_released draws the errors of more",
            )
        if [curve.method for curve in curves] != methods:
            raise InputError(
                "comparisons of different methods in one picture", remedy="compare the same methods"
            )
    columns, rows = len(read), len(methods)
    with picture(path, min(1.8 + 3.9 * columns, 11.5), min(1.0 + 2.7 * rows, 8.2)) as figure:
        panels = figure.subplots(rows, columns, sharex="col", sharey=True, squeeze=False)
        for column, (graph, curves) in enumerate(read):
            for row, curve in enumerate(curves):
                axes = panels[row, column]
                _fan(axes, curve)
                if not row:
                    axes.set_title(_about(graph), fontsize=10, pad=20)
            panels[-1, column].set_xlabel("budget epsilon (nats)")
        for row in range(rows):
            second = cut(printable(str(read[0][0].inputs.labels[1])), 16)
            label = panels[row, 0].set_ylabel(f"P(output is {second})")
            label.set_parse_math(False)
        said = "further apart is less noise"
        figure.supxlabel(said, fontsize=8, x=0.01, ha="left", color="#444444")


def _about(graph: ProfileGraph) -> str:
    return graph.describe().removeprefix("a graph of ")


def _title(method: str) -> str:
    return method.replace("-", " ")


def _dress(axes: Axes, curve: _Lines) -> None:
    tidy(axes)
    axes.xaxis.set_major_formatter(plain_number)
    axes.yaxis.set_major_formatter(plain_number)
    first, last = float(curve.epsilons[0]), float(curve.epsilons[-1])
    if first == last:  # a single budget is in the middle, and the only one on the axis
        axes.set_xlim(0.0 if last > 0 else -1.0, 2 * last if last > 0 else 1.0)
        axes.set_xticks([last])
    else:
        axes.set_xlim(min(first, 0.0), last)


def _fan(axes: Axes, curve: _Lines) -> None:
    """Draw one line for each profile, and how far they spread at the marked budget."""
    from matplotlib.colors import LinearSegmentedColormap

    _dress(axes, curve)
    title = _title(curve.method)
    chances = curve.released[:, :, 1]
    size = chances.shape[1]
    # Colours follow the truth, so that neighbours on paper are neighbours in the legend.
    ranks = np.argsort(np.argsort(curve.graph.distributions[:, 1], kind="stable"), kind="stable")
    ordered = LinearSegmentedColormap.from_list("profiles", _ORDERED)
    shades = ordered(ranks / max(size - 1, 1))
    marker = "o" if len(curve.epsilons) <= _MARKED else None
    for place in range(size):
        axes.plot(
            curve.epsilons,
            chances[:, place],
            color=shades[place],
            linewidth=1.5 if size <= 30 else 0.8,
            marker=marker,
            markersize=3,
            clip_on=False,
        )
    axes.set_ylim(-0.03, 1.03)
    at = np.flatnonzero(np.isclose(curve.epsilons, AT, rtol=1e-9, atol=0.0))
    if len(at):  # only what was computed, nothing in between
        low, high = float(chances[at[0]].min()), float(chances[at[0]].max())
        axes.axvline(AT, color=_MARK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(
            "",
            xy=(AT, low),
            xytext=(AT, high),
            arrowprops={
                "arrowstyle": "<->",
                "color": _MARK,
                "linewidth": 1.2,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        # Above the panel, where it covers no line.
        title += f"; spread at {AT:g}: {high - low:.3f}"
    axes.text(
        0.5,
        1.02,
        title,
        transform=axes.transAxes,
        fontsize=9,
        ha="center",
        va="bottom",
        color=_MARK,
    )
    _name_ends(axes, curve, chances[-1], shades)


def _name_ends(axes: Axes, curve: _Lines, ends: np.ndarray, shades: np.ndarray) -> None:
    """Name the profiles to the right of their lines; of many only some."""
    names = told_apart(curve.graph.profiles.labels, 12)
    size = len(names)
    chosen = list(range(size))
    if size > _NAMED:
        order = np.argsort(curve.graph.distributions[:, 1], kind="stable")
        chosen = [int(order[round(k * (size - 1) / 4)]) for k in range(5)]
    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    end = (float(curve.epsilons[-1]) - left) / (right - left)
    wanted = [(float(ends[place]) - low) / (high - low) for place in chosen]
    for place, height in zip(chosen, spread(wanted, _LINE_HEIGHT), strict=True):
        text = axes.annotate(
            names[place],
            xy=(end, (float(ends[place]) - low) / (high - low)),
            xycoords="axes fraction",
            xytext=(end + 0.04, height),
            textcoords="axes fraction",
            color=shades[place],
            fontsize=8,
            va="center",
            ha="left",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": shades[place], "linewidth": 0.6},
        )
        text.set_parse_math(False)


def _costs(axes: Axes, curve: _Lines) -> None:
    """Draw one line for each value: the largest error of its frequency over the profiles."""
    _dress(axes, curve)
    names = told_apart(curve.graph.inputs.labels, 14)
    marked = len(curve.epsilons) <= _MARKED
    for value, name in enumerate(names):
        axes.plot(
            curve.epsilons,
            curve.costs[:, value],
            color=COLOURS[value % len(COLOURS)],
            linestyle=("-", "-", "-", "-", "--", "-.", ":")[value % 7],
            # Values that cost the same are drawn inside each other, so that each is seen.
            linewidth=max(3.4 - 0.6 * value, 1.4),
            marker=MARKERS[value % len(MARKERS)],
            markevery=1 if marked else max(1, len(curve.epsilons) // 8),
            markersize=max(8.0 - 1.4 * value, 3.5),
            label=name,
            clip_on=False,
        )
    alike = bool((np.ptp(curve.costs, axis=1) < _ALIKE).all())
    said = f"{_title(curve.method)}: all values alike" if alike else _title(curve.method)
    axes.set_title(said, fontsize=10)
    axes.set_xlabel("budget epsilon (nats)")
