"""A fitted distribution as a picture: its density over the histogram of the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from liftlock.model.continuous.distribution import Mixture, Smooth
from liftlock.model.continuous.fit import Fit, round_bins
from liftlock.model.continuous.grid import share_text
from liftlock.report.plots.figure import check_picture, picture, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS, _CURVE, _PART, _END = "#c3d0e0", "#1b4f8a", "#b3500a", "#444444"
_POINTS = 1200
_MARGIN = 0.06
_TALLEST = 1.9
_FINER = 0.5
"""Bins to look at may be narrower than bins to compute with."""


def draw_fit(found: Fit, path: Path) -> None:
    """Draw the histogram, the density, the components of a mixture and the ends of the domain."""
    check_picture(path)
    counts, edges = round_bins(found.values, _FINER)
    heights = counts / (counts.sum() * np.diff(edges))
    low, high = _window(found)
    with picture(path, 7.6, 4.4) as figure:
        axes = figure.add_subplot()
        axes.stairs(heights, edges, fill=True, color=_BARS, label=_many(found))
        tallest = float(heights.max())
        if isinstance(found.distribution, Smooth):
            across = np.linspace(low, high, _POINTS)
            tallest = max(tallest, _curve(axes, found.distribution, across, heights))
            axes.plot(
                across,
                found.distribution.density(across),
                color=_CURVE,
                linewidth=2.0,
                label=found.distribution.describe(),
            )
        axes.set_ylim(0.0, 1.22 * tallest)
        axes.set_xlim(low, high)
        _ends(axes, found)
        axes.set_xlabel("number")
        axes.xaxis.set_major_formatter(plain_number)
        axes.set_ylabel("density")
        axes.set_yticks([])
        axes.set_title(_title(found), fontsize=10)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        figure.legend(loc="outside lower center", ncols=3, fontsize=9, frameon=False)


def _many(found: Fit) -> str:
    return f"{len(found.values):,} values"


def _window(found: Fit) -> tuple[float, float]:
    """Show the domain, and a margin in which clamped numbers can be seen."""
    margin = _MARGIN * (found.upper - found.lower)
    return found.lower - margin, found.upper + margin


def _curve(axes: Axes, distribution: Smooth, across: np.ndarray, heights: np.ndarray) -> float:
    """Draw the components of a mixture, faintly; return how high the curves reach."""
    density = distribution.density(across)
    if isinstance(distribution, Mixture) and len(distribution.weights) > 1:
        for place, part in enumerate(
            zip(distribution.weights, distribution.means, distribution.deviations, strict=True)
        ):
            weight, mean, deviation = part
            alone = Mixture((1.0,), (mean,), (deviation,))
            axes.plot(
                across,
                weight * alone.density(across),
                color=_PART,
                linestyle="--",
                linewidth=1.0,
                alpha=0.75,
                label="its components" if place == 0 else None,
            )
    # A density that runs off to infinity should not flatten everything else.
    return min(float(density.max()), _TALLEST * float(heights.max()))


def _ends(axes: Axes, found: Fit) -> None:
    top = axes.get_ylim()[1]
    middle = 0.5 * (found.lower + found.upper)
    for end, mass, side in (
        (found.lower, found.below, "below"),
        (found.upper, found.above, "above"),
    ):
        axes.axvline(end, color=_END, linestyle=":", linewidth=1.2)
        text = f"domain ends at {plain_number(end)}"
        if mass > 0:
            text += f"\n{share_text(mass)} {side} is clamped"
        left = end < middle
        axes.annotate(
            text,
            (end, top),
            xytext=(5 if left else -5, -3),
            textcoords="offset points",
            ha="left" if left else "right",
            va="top",
            fontsize=8,
            color=_END,
        )


def _title(found: Fit) -> str:
    words = f"{found.distribution.describe()[0].upper()}{found.distribution.describe()[1:]}"
    if len(found.scores) > 1:
        tried = [score.components for score in found.scores]
        words += f", the least BIC of {tried[0]} to {tried[-1]} components"
    return f"{words}\nlargest distance of the distribution functions {found.distance:.3g}"
