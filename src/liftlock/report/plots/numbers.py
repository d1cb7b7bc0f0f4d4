"""A mechanism for numbers as a picture: what is released for what, and how far that is off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from liftlock.errors import InputError
from liftlock.exact.integers import Floats
from liftlock.mechanism import Mechanism
from liftlock.model.continuous.grid import GridPrior
from liftlock.model.structured import SupportChannel
from liftlock.report.plots.figure import check_picture, picture, plain_number
from liftlock.report.plots.lifts import COLOURS, LEAST_REACH, RULED_OUT, lift_text
from liftlock.report.text.numbers import for_everybody, reading_of
from liftlock.utility.mean import points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ERROR, _BIAS, _NOTHING, _DENSITY = "#1b4f8a", "#b3500a", "#555555", "#8fa7c4"
_COLOURED = 0.995
_NEAR = 2.0
"""Colours reach to the extremes, unless these are so many times as far as nearly all lifts."""
_MARGIN = 0.04
_SHOWN = 1e-3
_BINS = 80
_MARKED = 40
"""Up to so many released numbers have a mark each, at the right of the heat map."""


def draw_numbers(made: Mechanism, path: Path) -> None:
    """Draw the lifts on the scale of numbers, the error at every true number, and the prior."""
    check_picture(path)
    prior = made.context
    if not isinstance(prior, GridPrior) or isinstance(made.channel, SupportChannel):
        raise InputError(
            "this picture is for mechanisms that release numbers",
            value=prior.describe(),
            remedy="draw the lifts instead: liftlock audit --plot",
        )
    scene = _Scene.of(made, prior)
    with picture(path, 7.6, 8.0) as figure:
        heat, error, density = figure.subplots(
            3, 1, sharex=True, gridspec_kw={"height_ratios": [5.0, 2.6, 1.0]}
        )
        _heat(figure, heat, scene)
        _errors(error, scene)
        _density(density, scene, prior)
        low, high = scene.window
        density.set_xlim(low, high)
        density.set_xlabel("true number")
        for axis in (heat.yaxis, error.yaxis, density.xaxis):
            axis.set_major_formatter(plain_number)
        figure.suptitle(
            f"{made.notion}, made by {_method(made)}\n{prior.grid.describe().partition(' (')[0]}",
            fontsize=10,
        )
        figure.align_ylabels([heat, error, density])


def _method(made: Mechanism) -> str:
    return "hand" if made.origin is None else made.origin.method


@dataclass(frozen=True, eq=False)
class _Scene:
    """What is drawn, in float64: rows are bins, columns outputs in ascending order."""

    edges: Floats
    points: Floats
    masses: Floats
    numbers: Floats
    matrix: Floats
    reading: Literal["mean", "median"]

    @classmethod
    def of(cls, made: Mechanism, prior: GridPrior) -> _Scene:
        rows = made.table.inputs.positions_in(
            prior.inputs, whose="the channel", other_name="the prior"
        )
        matrix = made.table.floats()
        matrix = (
            matrix
            if (rows == np.arange(len(rows))).all()
            else matrix[np.argsort(rows, kind="stable")]
        )
        numbers = points_of(made.table.outputs, "a picture")
        order = np.argsort(numbers, kind="stable")
        return cls(
            np.array(prior.grid.edges),
            prior.points,
            prior.floats(),
            numbers[order],
            matrix[:, order],
            reading_of(made),
        )

    @property
    def window(self) -> tuple[float, float]:
        """The part of the domain that is drawn: all but what nobody has."""
        rising = np.cumsum(self.masses)
        first = int(np.searchsorted(rising, _SHOWN))
        last = int(np.searchsorted(rising, 1.0 - _SHOWN))
        low = min(self.points[first], self.numbers[0])
        high = max(self.points[min(last, len(self.points) - 1)], self.numbers[-1])
        margin = _MARGIN * (high - low)
        return max(self.edges[0], low - margin), min(self.edges[-1], high + margin)

    @property
    def bands(self) -> Floats:
        """The edges between released numbers: half-way, and at most the ends of the domain."""
        if len(self.numbers) == 1:
            return np.array(self.window)
        between = 0.5 * (self.numbers[1:] + self.numbers[:-1])
        first = max(2 * self.numbers[0] - between[0], min(self.edges[0], self.numbers[0]))
        last = min(2 * self.numbers[-1] - between[-1], max(self.edges[-1], self.numbers[-1]))
        return np.concatenate([[first], between, [last]])


def _heat(figure: Figure, axes: Axes, scene: _Scene) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(scene.matrix / (scene.masses @ scene.matrix))
    finite = np.isfinite(logs)
    reach, beyond = scale_of(logs[finite])
    plain = LinearSegmentedColormap.from_list("lift", COLOURS)
    colours = plain.with_extremes(bad=RULED_OUT)
    # Numbers that are released twice have a band of no height, which cannot be drawn.
    bands = np.maximum.accumulate(scene.bands)
    axes.pcolormesh(
        scene.edges,
        bands,
        np.ma.masked_invalid(logs).T,
        cmap=colours,
        norm=Normalize(-reach, reach),
        shading="flat",
        rasterized=True,
    )
    for colour, width in (("#222222", 2.2), ("white", 1.1)):  # seen on every colour
        axes.plot(scene.window, scene.window, color=colour, linewidth=width, linestyle=(0, (4, 4)))
    axes.set_ylim(bands[0], bands[-1])
    axes.set_ylabel("released number")
    if len(scene.numbers) <= _MARKED:
        for number in scene.numbers:
            axes.plot(
                [1.0, 1.012],
                [number, number],
                transform=axes.get_yaxis_transform(),
                color="#222222",
                linewidth=1.0,
                clip_on=False,
            )
    bar = figure.colorbar(
        ScalarMappable(Normalize(-reach, reach), colours),
        ax=axes,
        pad=0.025,
        aspect=28,
        extend=beyond,
    )
    ticks = np.linspace(-reach, reach, 5)
    bar.set_ticks(ticks.tolist(), labels=[lift_text(float(np.exp(tick))) for tick in ticks])
    bar.ax.tick_params(labelsize=8)
    said = "lift (above 1 raises the belief)"
    if beyond != "neither":
        extremes = (lift_text(float(np.exp(end(logs[finite])))) for end in (np.min, np.max))
        said += f"\nin all from {' to '.join(extremes)}"
    bar.set_label(said, fontsize=9)


def scale_of(logs: Floats) -> tuple[float, Literal["neither", "min", "max", "both"]]:
    """Return the log-lift of full colour, and on which sides there are larger ones.

    A few extreme lifts, as the tails of noise have, would leave all others white.
    """
    largest = float(np.abs(logs).max())
    usual = max(float(np.quantile(np.abs(logs), _COLOURED)), LEAST_REACH)
    if largest <= _NEAR * usual:
        return max(largest, LEAST_REACH), "neither"
    below, above = bool(logs.min() < -usual), bool(logs.max() > usual)
    return usual, "both" if below and above else "min" if below else "max"


def _errors(axes: Axes, scene: _Scene) -> None:
    apart = scene.numbers - scene.points[:, None]
    absolute = (scene.matrix * np.abs(apart)).sum(axis=1)
    bias = (scene.matrix * apart).sum(axis=1)
    nothing = np.abs(scene.points - for_everybody(scene.masses, scene.points, scene.reading))
    axes.axhline(0.0, color="#bbbbbb", linewidth=0.8)
    axes.plot(
        scene.points,
        nothing,
        color=_NOTHING,
        linestyle=":",
        linewidth=1.2,
        label=f"error of no release (the {scene.reading} for everybody)",
    )
    axes.plot(scene.points, bias, color=_BIAS, linestyle="--", linewidth=1.6, label="bias")
    axes.plot(scene.points, absolute, color=_ERROR, linewidth=1.8, label="mean absolute error")
    low, high = scene.window
    inside = (scene.points >= low) & (scene.points <= high)
    drawn = np.concatenate([absolute[inside], bias[inside], nothing[inside]])
    room = 0.06 * (drawn.max() - min(drawn.min(), 0.0))
    axes.set_ylim(min(drawn.min(), 0.0) - room, drawn.max() + room)
    axes.set_ylabel("error")
    axes.grid(visible=True, color="#e3e3e3", linewidth=0.7)
    _bare(axes)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=3, fontsize=8, frameon=False)


def _density(axes: Axes, scene: _Scene, prior: GridPrior) -> None:
    masses = scene.masses.copy()
    # The ends of the domain hold what was clamped: mass, but no density.
    masses[0] -= min(prior.grid.below, masses[0])
    masses[-1] -= min(prior.grid.above, masses[-1])
    # A cell of one value that many share is as narrow as can be; bins of one width can be read.
    bins = np.linspace(*scene.window, _BINS + 1)
    rising = np.concatenate([[0.0], np.cumsum(masses)])
    heights = np.diff(np.interp(bins, scene.edges, rising))
    axes.stairs(heights, bins, fill=True, color=_DENSITY)
    axes.set_ylabel("prior")
    axes.set_yticks([])
    axes.set_ylim(0.0, 1.1 * float(heights.max()) or 1.0)
    clamped = prior.grid.describe_clamping()
    if clamped:
        axes.set_title(clamped, fontsize=8, color="#444444", pad=3)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
