"""A plan as text and as a picture: how precise answers will be, and how many people they take."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from liftlock.designs.plans import Option, Plan
from liftlock.estimate.expected import ExpectedError
from liftlock.report.format import amount, printable, shown
from liftlock.report.pictures import check_picture, picture
from liftlock.report.text import grid_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_COLOURS = ("#1b4f8a", "#b3500a", "#8a2f6b", "#3d7a35", "#0f7f86", "#6a3fa0")
_PLAIN = "#5b5b5b"
_REACH = 30.0
"""The picture shows so many times fewer and more people than were asked about."""


def plan_report(found: Plan) -> RenderableType:
    """Return the table of a plan, and what its two columns mean."""
    grid = grid_of()
    grid.add_column("way of asking", overflow="fold")
    grid.add_column("without the prior", justify="right", no_wrap=True)
    grid.add_column("with the prior", justify="right", no_wrap=True)
    if found.margin is not None:
        wanted = f"people for {_precision(found, float(found.margin))}"
        grid.add_column(wanted, justify="right", no_wrap=True)
        grid.add_column("with the prior", justify="right", no_wrap=True)
    for option in found.options:
        cells = [_margin(found, option.free), _margin(found, option.leaning)]
        if found.margin is not None:
            leaning, free = option.needed(found.margin)
            cells += [_people(option.free, free), _people(option.leaning, leaning)]
        grid.add_row(Text(printable(option.name)), *cells)
    who = "1 person" if found.people == 1 else f"{found.people:,} people"
    head = f"{_asked(found)} from {who}, {100 * found.level:g} % intervals"
    words = [
        Text(
            "without the prior: unbiased estimates of the population that the people are drawn "
            "from, whatever the prior was"
        ),
        Text("with the prior: Bayes estimates for the people who report, if the prior is right"),
    ]
    words += [Text(printable(remark), style="dim") for remark in found.remarks]
    words += [
        Text(f"{printable(option.name)}: {printable(option.why)}", style="dim")
        for option in found.options
        if option.why
    ]
    hints = _hints(found)
    if hints:
        words += [Text(), Text("To make them, with the --prior and the budget of this plan:")]
        words += [Text(hint) for hint in hints]
    return Group(Text(head, style="bold"), Text(), grid, Text(), *words)


def _hints(found: Plan) -> list[str]:
    """Return how to design the mechanisms that are not made by default."""
    if found.of == "survey":
        return []
    utility = "histogram" if found.of == "histogram" else "mean"
    hints = []
    for option in found.options:
        if option.mechanism is None:
            continue
        own = "".join(f" --option {name}={value}" for name, value in option.options.items())
        notion = "" if option.mechanism.notion.ratio_limit is None else " --notion ldp"
        hints.append(f"  liftlock design{notion} --utility {utility} --method {option.method}{own}")
    return list(dict.fromkeys(hints))


def _asked(found: Plan) -> str:
    return {
        "histogram": "the shares of all values (the worst of them)",
        "survey": f"the share of {shown(found.what)}",
        "mean": "the mean number",
    }[found.of]


def _precision(found: Plan, margin: float) -> str:
    if _is_share(found):
        return f"±{amount(100 * margin)} %"
    return f"±{amount(margin)}"


def _margin(found: Plan, error: ExpectedError | None) -> str:
    if error is None:
        return "-"
    if error.margin == 0:
        return "exact"
    return (
        "infinite" if math.isinf(error.margin) else _precision(found, float(f"{error.margin:.3g}"))
    )


def _people(error: ExpectedError | None, needed: int | None) -> str:
    if error is None:
        return "-"
    return "hopeless" if needed is None else f"{needed:,}"


def draw_plan(found: Plan, path: Path) -> None:
    """Draw the margin against the number of people, without the prior and with it."""
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
        unit = "per cent of people" if _is_share(found) else "units of the number"
        axes.set_ylabel(f"half width of the {100 * found.level:g} % interval\n({unit})")
        figure.suptitle(f"How precise {_asked(found)} will be", fontsize=12)
        figure.legend(
            list(drawn.values()),
            list(drawn),
            loc="outside lower center",
            ncols=3,
            frameon=False,
            fontsize=9,
        )


_TITLES = (
    "without the prior: unbiased,\nabout the population",
    "with the prior: Bayes,\nabout the people who report",
)


def _look(option: Option, place: int) -> tuple[str, str]:
    """Return the colour and the style of an option; what is no mechanism is grey."""
    if option.mechanism is not None:
        return _COLOURS[place % len(_COLOURS)], "-"
    return _PLAIN, "--" if option.free is None else "-."


def _is_share(found: Plan) -> bool:
    return found.of in ("histogram", "survey")


def _scale(found: Plan) -> float:
    return 100.0 if _is_share(found) else 1.0


def _dress(axes: Axes, found: Plan, title: str) -> None:
    """Draw what both sides share: the margin that is wanted, the people, and logarithmic scales."""
    if found.margin is not None:
        level = _scale(found) * float(found.margin)
        axes.axhline(level, color="#222222", linewidth=1.0, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            f"wanted: {_precision(found, float(found.margin))}",
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
    axes.grid(visible=True, which="major", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.set_xlabel("people who are asked")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:.10g}")
    axes.set_title(title, fontsize=10)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
