"""Estimates as a picture: bars with their intervals, and what the prior said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.estimate.question import COUNTS
from liftlock.estimate.result import Estimate
from liftlock.model import Prior
from liftlock.report.format import counted, told_apart
from liftlock.report.plots.figure import check_picture, picture, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 60
_BAR = "#7aa6d1"
_LINE = "#173f6b"
_EXPECTED = "#b3500a"
_BESIDE = "#777777"


def draw_estimate(found: Estimate, path: Path, prior: Prior | None = None) -> None:
    """Draw each answer as a bar with its interval, and what the prior said beside it."""
    draw_estimates([found], path, prior)


def draw_estimates(several: Sequence[Estimate], path: Path, prior: Prior | None = None) -> None:
    """Draw one panel below the other, in the heights that their answers need."""
    check_picture(path)
    sizes = [1.3 + 0.38 * len(found.answers[:_MOST_BARS]) for found in several]
    with picture(path, 7.6, min(max(3.0, sum(sizes)), 24.0)) as figure:
        panels = figure.subplots(len(several), 1, squeeze=False, height_ratios=sizes)[:, 0]
        told = [_panel(axes, found, prior) for axes, found in zip(panels, several, strict=True)]
        if any(told):
            figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)


def _panel(axes: Axes, found: Estimate, prior: Prior | None) -> bool:
    """Draw the answers of one estimate, and tell whether the legend has something to say."""
    answers = found.answers[:_MOST_BARS]
    names = told_apart([answer.name for answer in answers], 18)
    places = np.arange(len(answers))[::-1]
    values = np.array([answer.value for answer in answers])
    axes.barh(places, values, height=0.62, color=_BAR, zorder=2)
    for place, answer in zip(places, answers, strict=True):
        if answer.low is not None and answer.high is not None:
            axes.plot(
                [answer.low, answer.high], [place, place], color=_LINE, linewidth=2.0, zorder=4
            )
            for end in (answer.low, answer.high):
                axes.plot([end, end], [place - 0.14, place + 0.14], color=_LINE, zorder=4)
    beside = found.beside
    for place, answer in zip(places, beside.answers if beside else (), strict=False):
        if answer.low is not None and answer.high is not None:
            axes.plot(
                [answer.low, answer.high],
                [place - 0.4, place - 0.4],
                color=_BESIDE,
                linewidth=1.4,
                zorder=4,
                label=beside.holds if beside and place == places[0] else None,
            )
    expected = _expected(found, prior)
    if expected is not None:
        # Above the bar, where neither the bar nor its interval is covered.
        axes.scatter(
            expected[: len(answers)],
            places + 0.42,
            marker="v",
            s=34,
            color=_EXPECTED,
            zorder=5,
            label="what the prior says",
        )
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(answers) - 0.3)
    axes.axvline(0.0, color="#777777", linewidth=0.8)
    axes.grid(visible=True, axis="x", color="#e3e3e3", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(plain_number)
    axes.set_xlabel(_unit(found))
    title = f"Estimated from {counted(found.reports, 'report')}"
    if found.promise:
        title += f"\n{found.promise}"
    more = len(found.answers) - len(answers)
    axes.set_title(title + (f"\n(the first {len(answers)})" if more else ""), fontsize=11)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return expected is not None or beside is not None


def _unit(found: Estimate) -> str:
    if found.of == "profiles":
        return "people with each profile"
    return "people" if found.of in COUNTS else found.of


def _expected(found: Estimate, prior: Prior | None) -> np.ndarray | None:
    """Return what the prior says of each answer of a histogram."""
    if prior is None or found.of not in ("histogram", "profiles"):
        return None
    if not all(answer.name in prior.alphabet for answer in found.answers):
        return None
    shares = dict(zip(prior.labels, prior.floats().tolist(), strict=True))
    numbers = [found.total * shares.get(answer.name, math.nan) for answer in found.answers]
    return np.array(numbers)
