"""The paper's experiments as pictures: what profiles release, and what it costs, by the budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.report.format import cut, printable, told_apart
from liftlock.report.pictures import check_picture, picture, plain_number
from liftlock.report.profile_sweep import BASELINE, Sweep, SweepCurve
from liftlock.report.tradeoff import spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

AT = 0.2
"""The budget at which the spread is marked, as in the paper."""

_ORDERED = ("#08274f", "#2166ac", "#5aa5c8", "#8a8f98", "#e08a3c", "#b3500a", "#6b2a05")
"""Profiles from first to last: blue to orange, which everybody tells apart."""
_COLOURS = ("#1b4f8a", "#b3500a", "#3d7a35", "#8a2f6b", "#5b5b5b", "#0f7f86", "#9a7d0a", "#6a3fa0")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_MARKED = 12
"""Up to so many budgets have a mark each."""
_NAMED = 8
"""Up to so many profiles or values are named at the end of their line."""
_LINE_HEIGHT = 0.075
_ALIKE = 1e-6
_MARK, _GRID = "#555555", "#e3e3e3"


class Couplet(Protocol):
    """How often a bit is flipped for two profiles, by how far apart their parameters are."""

    @property
    def epsilon(self) -> float:
        """The budget."""
        ...

    @property
    def method(self) -> str:
        """The key of the design."""
        ...

    @property
    def gaps(self) -> Floats:
        """The differences of the parameters."""
        ...

    @property
    def flips(self) -> Floats:
        """The larger flipping probability of the two, for each difference."""
        ...

    @property
    def warner(self) -> float:
        """The flipping probability of randomised response."""
        ...


def draw_sweep(found: Sweep, path: Path) -> None:
    """Draw what is released as the budget grows, a panel for each method.

    Two values: the probability of the second one, a line for each profile. More: the largest error
    of the frequency of each value, a line for each value.

    Source: 004 Fig. 3 and Fig. 2b-c.
    """
    check_picture(path)
    if len(found.graph.inputs) == 2:
        draw_chains([found], path)
        return
    panels = len(found.curves)
    with picture(path, min(1.6 + 3.6 * panels, 11.0), 3.9) as figure:
        row = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
        highest = max(float(curve.costs.max()) for curve in found.curves)
        for axes, curve in zip(row, found.curves, strict=True):
            _costs(axes, found, curve)
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
        _plain_legend(legend.get_texts())
        figure.suptitle(f"{_about(found)}\n(lower is better)", fontsize=11)


def draw_chains(sweeps: Sequence[Sweep], path: Path) -> None:
    """Draw P(second value) of every profile by the budget: a column for each graph of one bit.

    The rows are the methods, the baseline on top. Lines further apart mean less noise.

    Source: 004 Fig. 3.
    """
    check_picture(path)
    if not sweeps:
        raise InputError("nothing to draw", remedy="give at least one sweep")
    methods = [curve.method for curve in sweeps[0].curves]
    for found in sweeps:
        if len(found.graph.inputs) != 2:
            raise InputError(
                "this picture is for profiles of two values",
                value=found.graph.describe(),
                remedy="draw_sweep draws the errors of more",
            )
        if [curve.method for curve in found.curves] != methods:
            raise InputError(
                "sweeps of different methods in one picture", remedy="sweep the same methods"
            )
    columns, rows = len(sweeps), len(methods)
    with picture(path, min(1.8 + 3.9 * columns, 11.5), min(1.0 + 2.7 * rows, 8.2)) as figure:
        panels = figure.subplots(rows, columns, sharex="col", sharey=True, squeeze=False)
        for column, found in enumerate(sweeps):
            for row, curve in enumerate(found.curves):
                axes = panels[row, column]
                _fan(axes, found, curve)
                if not row:
                    axes.set_title(_about(found), fontsize=10, pad=20)
            panels[-1, column].set_xlabel("budget epsilon (nats)")
        for row in range(rows):
            second = cut(printable(str(sweeps[0].graph.inputs.labels[1])), 16)
            label = panels[row, 0].set_ylabel(f"P(output is {second})")
            label.set_parse_math(False)
        _note(figure, "further apart is less noise")


def _about(found: Sweep) -> str:
    return found.graph.describe().removeprefix("a graph of ")


def _title(method: str) -> str:
    return method.replace("-", " ")


def _note(figure: Figure, text: str) -> None:
    figure.supxlabel(text, fontsize=8, x=0.01, ha="left", color="#444444")


def _plain_legend(texts: Sequence[object]) -> None:
    for text in texts:
        text.set_parse_math(False)  # type: ignore[attr-defined]


def _dress(axes: Axes, curve: SweepCurve) -> None:
    axes.grid(visible=True, color=_GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.xaxis.set_major_formatter(plain_number)
    axes.yaxis.set_major_formatter(plain_number)
    first, last = float(curve.epsilons[0]), float(curve.epsilons[-1])
    if first == last:  # a single budget is in the middle, and the only one on the axis
        axes.set_xlim(0.0 if last > 0 else -1.0, 2 * last if last > 0 else 1.0)
        axes.set_xticks([last])
    else:
        axes.set_xlim(min(first, 0.0), last)


def _ordered() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("profiles", _ORDERED)


def _fan(axes: Axes, found: Sweep, curve: SweepCurve) -> None:
    """Draw one line for each profile, and how far they spread at the marked budget."""
    _dress(axes, curve)
    title = _title(curve.method)
    chances = curve.released[:, :, 1]
    size = chances.shape[1]
    # Colours follow the truth, so that neighbours on paper are neighbours in the legend.
    ranks = np.argsort(np.argsort(found.graph.laws[:, 1], kind="stable"), kind="stable")
    shades = _ordered()(ranks / max(size - 1, 1))
    marker = "o" if len(curve.points) <= _MARKED else None
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
    _name_ends(axes, found, chances[-1], shades)


def _name_ends(axes: Axes, found: Sweep, ends: np.ndarray, shades: np.ndarray) -> None:
    """Name the profiles to the right of their lines; of many only some."""
    names = told_apart(found.graph.profiles.labels, 12)
    size = len(names)
    chosen = list(range(size))
    if size > _NAMED:
        order = np.argsort(found.graph.laws[:, 1], kind="stable")
        chosen = [int(order[round(k * (size - 1) / 4)]) for k in range(5)]
    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    end = (float(found.curves[0].epsilons[-1]) - left) / (right - left)
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


def _costs(axes: Axes, found: Sweep, curve: SweepCurve) -> None:
    """Draw one line for each value: the largest error of its frequency over the profiles."""
    _dress(axes, curve)
    names = told_apart(found.graph.inputs.labels, 14)
    marked = len(curve.points) <= _MARKED
    for value, name in enumerate(names):
        axes.plot(
            curve.epsilons,
            curve.costs[:, value],
            color=_COLOURS[value % len(_COLOURS)],
            linestyle=("-", "-", "-", "-", "--", "-.", ":")[value % 7],
            # Values that cost the same are drawn inside each other, so that each is seen.
            linewidth=max(3.4 - 0.6 * value, 1.4),
            marker=_MARKERS[value % len(_MARKERS)],
            markevery=1 if marked else max(1, len(curve.points) // 8),
            markersize=max(8.0 - 1.4 * value, 3.5),
            label=name,
            clip_on=False,
        )
    alike = bool((np.ptp(curve.costs, axis=1) < _ALIKE).all())
    said = f"{_title(curve.method)}: all values alike" if alike else _title(curve.method)
    axes.set_title(said, fontsize=10)
    axes.set_xlabel("budget epsilon (nats)")


def draw_couplet(given: Sequence[Couplet], path: Path) -> None:
    """Draw how often a bit is flipped by how far apart two profiles are, and Warner's line.

    Source: 004 Fig. 2a.
    """
    check_picture(path)
    if not given:
        raise InputError("nothing to draw", remedy="give at least one curve")
    with picture(path, 6.4, 4.2) as figure:
        axes = figure.add_subplot()
        ends: list[tuple[float, str, str]] = []
        for place, curve in enumerate(given):
            colour = _COLOURS[place % len(_COLOURS)]
            alone = len(given) == 1
            axes.axhline(
                curve.warner, color="black" if alone else colour, linestyle="--", linewidth=1.2
            )
            axes.plot(
                curve.gaps,
                curve.flips,
                color=colour,
                linewidth=1.8,
                marker=_MARKERS[place % len(_MARKERS)],
                markersize=4,
                markevery=max(1, len(curve.gaps) // 10),
                label=f"{_title(curve.method)}, epsilon {curve.epsilon:g}",
                clip_on=False,
            )
            ends.append((curve.warner, f"{curve.epsilon:g}", "black" if alone else colour))
        highest = max(max(curve.warner, float(curve.flips.max())) for curve in given)
        axes.plot(
            [],
            [],
            color="black",
            linestyle="--",
            linewidth=1.2,
            label=f"{_title(BASELINE)}, same epsilon",
        )
        axes.set_ylim(-0.015 * highest, 1.08 * highest)
        axes.set_xlim(0.0, max(float(curve.gaps.max()) for curve in given))
        axes.grid(visible=True, color=_GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.xaxis.set_major_formatter(plain_number)
        axes.yaxis.set_major_formatter(plain_number)
        axes.set_xlabel("difference of the two parameters")
        axes.set_ylabel("probability that the bit is flipped")
        axes.set_title("Two joined profiles of one bit\n(lower is better)", fontsize=11)
        figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)
