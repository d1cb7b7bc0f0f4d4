"""A plan as a picture: margins against people, without the prior and if it is exactly right."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.designs.plan import Plan, PlanOption
from liftlock.report.format import printable
from liftlock.report.plots.figure import check_picture, picture, tidy
from liftlock.report.text.plan import asked_text, is_share, precision_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_COLOURS = ("#1b4f8a", "#b3500a", "#8a2f6b", "#3d7a35", "#0f7f86", "#6a3fa0")
_PLAIN = "#5b5b5b"
_REACH = 30.0
"""The picture shows so many times fewer and more people than were asked about."""


def draw_plan(found: Plan, path: Path) -> None:
    """Draw the margin against the number of people, without the prior and if it is right."""
    check_picture(path)
    with picture(path, 10.4, 5.2) as figure:
        sides = figure.subplots(1, 2, sharex=True, sharey=True)
        people = np.geomspace(max(1.0, found.people / _REACH), found.people * _REACH, 40)
        drawn: dict[str, Line2D] = {}
        for place, option in enumerate(found.options):
            colour, style = _look(option, place)
            for axes, error in zip(sides, (option.free, option.leaning), strict=True):
                if error is None or not 0 < error.margin < math.inf:
                    continue
                margins = _scale(found) * error.margin * np.sqrt(error.people / people)
                (line,) = axes.plot(
                    people, margins, color=colour, linestyle=style, linewidth=1.8, zorder=3
                )
                drawn[printable(option.name)] = line
        for axes, title in zip(sides, _TITLES, strict=True):
            _dress(axes, found, title)
        axes = sides[0]
        axes.set_xlim(people[0], people[-1])
        unit = "per cent of people" if is_share(found) else "units of the number"
        axes.set_ylabel(f"half width of the {100 * found.level:g} % interval\n({unit})")
        figure.suptitle(f"How precise {asked_text(found)} will be", fontsize=12)
        figure.legend(
            list(drawn.values()),
            list(drawn),
            loc="outside lower center",
            ncols=3,
            frameon=False,
            fontsize=9,
        )


_TITLES = (
    "without the prior: unbiased,\nabout the population; plan by this",
    "if the prior is exactly right: Bayes,\nabout the people who report",
)


def _look(option: PlanOption, place: int) -> tuple[str, str]:
    """Return the colour and the style of an option; what is no mechanism is grey."""
    if option.mechanism is not None:
        return _COLOURS[place % len(_COLOURS)], "-"
    return _PLAIN, "--" if option.free is None else "-."


def _scale(found: Plan) -> float:
    return 100.0 if is_share(found) else 1.0


def _dress(axes: Axes, found: Plan, title: str) -> None:
    """Draw what both sides share: the margin that is wanted, the people, and logarithmic scales."""
    if found.margin is not None:
        level = _scale(found) * float(found.margin)
        axes.axhline(level, color="#222222", linewidth=1.0, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            f"wanted: {precision_text(found, float(found.margin))}",
            xy=(0.015, level),
            xycoords=("axes fraction", "data"),
            xytext=(0, -3),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=8.5,
            zorder=4,
        )
    axes.axvline(found.people, color="#bbbbbb", linewidth=1.0, zorder=1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("people who are asked")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.10g}")
    axes.set_title(title, fontsize=10)
    tidy(axes)
